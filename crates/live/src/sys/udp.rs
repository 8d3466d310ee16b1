//! Options of the kernel's UDP, and of TCP for the same purpose.

use super::{checked, options};
use goodqueue_base::units::Duration;
use std::io;
use std::mem::zeroed;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, BorrowedFd};

/// From now on one call may send several datagrams of `size` bytes of payload, the last of which
/// may be shorter; the kernel hands them to the network card joined, as most QUIC programs do.
///
/// # Errors
/// When the kernel knows no such option.
pub fn send_joined(socket: BorrowedFd<'_>, size: u16) -> io::Result<()> {
    options::set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, &libc::c_int::from(size))
}

/// From now on the socket tells for each datagram to which address it was sent, and may answer for
/// any address, also one that is not this machine's.
///
/// # Errors
/// When the kernel refuses, most often for want of `CAP_NET_ADMIN`.
pub fn answer_for_all(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_ip(socket, libc::IP_TRANSPARENT)?;
    set_ip(socket, libc::IP_PKTINFO)
}

/// Allows connections that a listening socket accepts to answer for any address, as
/// [`answer_for_all`] does for datagrams.
///
/// # Errors
/// As those of [`answer_for_all`].
pub fn accept_for_all(listener: BorrowedFd<'_>) -> io::Result<()> {
    set_ip(listener, libc::IP_TRANSPARENT)
}

fn set_ip(socket: BorrowedFd<'_>, option: libc::c_int) -> io::Result<()> {
    options::set(socket, libc::IPPROTO_IP, option, &1)
}

/// Time since the kernel had the datagram that was received last: however late a thread wakes up,
/// it can tell when that was. The first call only turns the stamps on.
///
/// # Errors
/// Where the datagram has no stamp.
pub fn age_of_last(socket: BorrowedFd<'_>) -> io::Result<Duration> {
    /// As of `asm/sockios.h`, which has the same number everywhere but on three architectures.
    const SIOCGSTAMPNS: libc::c_ulong = 0x8907;
    // SAFETY: the time is plain old data for which zeros are valid, and the call writes one.
    let at = unsafe {
        let mut at: libc::timespec = zeroed();
        checked(libc::ioctl(socket.as_raw_fd(), SIOCGSTAMPNS as _, &raw mut at))?;
        at
    };
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let nanos = (now.tv_sec - at.tv_sec) * 1_000_000_000 + (now.tv_nsec - at.tv_nsec);
    Ok(Duration::ns(u64::try_from(nanos).unwrap_or_default()))
}

/// A datagram's ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ends {
    /// Address and port of the sender.
    pub from: SocketAddrV4,
    /// To which address.
    pub to: Ipv4Addr,
}

/// Room for the control message that tells an address, aligned as such messages are.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Waits for a datagram of a socket for which [`answer_for_all`] was called.
///
/// # Errors
/// When none comes within the socket's timeout, or the kernel reports an error.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Ends)> {
    let mut control = Control([0; 64]);
    let mut bytes = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: headers and addresses are plain old data for which zeros are valid; every pointer in
    // the header is to memory of its length that outlives the call; the macros stay within what the
    // kernel has filled.
    let (got, told, from) = unsafe {
        let mut from: libc::sockaddr_in = zeroed();
        let mut header: libc::msghdr = zeroed();
        header.msg_name = (&raw mut from).cast();
        header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        header.msg_iov = &raw mut bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        let got = checked(libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0) as libc::c_int)?;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let is_there = !first.is_null() && ((*first).cmsg_level, (*first).cmsg_type) == (libc::IPPROTO_IP, libc::IP_PKTINFO);
        (got as usize, is_there.then(|| libc::CMSG_DATA(first).cast::<libc::in_pktinfo>().read_unaligned()), from)
    };
    let told = told.ok_or_else(|| io::Error::other("a datagram without its destination"))?;
    let address = |inner: libc::in_addr| Ipv4Addr::from(inner.s_addr.to_ne_bytes());
    let from = SocketAddrV4::new(address(from.sin_addr), u16::from_be(from.sin_port));
    Ok((got, Ends { from, to: address(told.ipi_addr) }))
}

/// Answers a datagram: from the address that it was sent to, to its sender.
///
/// # Errors
/// When the kernel refuses.
pub fn answer(socket: BorrowedFd<'_>, ends: Ends, payload: &[u8]) -> io::Result<()> {
    let inner = |address: &Ipv4Addr| libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) };
    let mut to = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: ends.from.port().to_be(),
        sin_addr: inner(ends.from.ip()),
        sin_zero: [0; 8],
    };
    let source = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: inner(&ends.to), ipi_addr: inner(&Ipv4Addr::UNSPECIFIED) };
    let mut control = Control([0; 64]);
    let mut bytes = libc::iovec { iov_base: payload.as_ptr().cast_mut().cast(), iov_len: payload.len() };
    let size = size_of::<libc::in_pktinfo>() as libc::c_uint;
    // SAFETY: a message header is plain old data for which zeros are valid; every pointer in it is
    // to memory of its length that outlives the call and is only read; the macros stay within
    // `control`, which is longer than CMSG_SPACE of the address and aligned.
    let sent = unsafe {
        let mut header: libc::msghdr = zeroed();
        header.msg_name = (&raw mut to).cast();
        header.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        header.msg_iov = &raw mut bytes;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = libc::CMSG_SPACE(size) as _;
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        ((*first).cmsg_level, (*first).cmsg_type) = (libc::IPPROTO_IP, libc::IP_PKTINFO);
        (*first).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(first).cast::<libc::in_pktinfo>().write_unaligned(source);
        libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
    };
    checked(sent as libc::c_int).map(|_| ())
}
