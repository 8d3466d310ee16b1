//! Packet sockets.

use super::{checked, interface_name, options};
use crate::frame;
use crate::segments::MAX_PARTS;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Every protocol, in network order.
const ALL_PROTOCOLS: u16 = (libc::ETH_P_ALL as u16).to_be();

/// A packet socket on one interface.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    index: libc::c_int,
    offloads: bool,
}

/// An interface as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Index of the interface.
    pub index: libc::c_int,
    /// Largest packet without link header.
    pub mtu: u32,
    /// True if it is up.
    pub up: bool,
    /// True for an Ethernet interface.
    pub ethernet: bool,
    /// Its address, of an Ethernet interface.
    pub address: [u8; 6],
}

/// Bytes that up to two VLAN tags add to a frame beyond MTU and link header.
const TAGS: u32 = 8;

impl Interface {
    /// The longest single frame, tags included.
    #[must_use]
    pub const fn longest_frame(&self) -> u32 {
        self.mtu + frame::ETHERNET as u32 + TAGS
    }
}

/// A request about an interface.
pub(super) fn interface_request(fd: BorrowedFd<'_>, request: libc::c_ulong, ifreq: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: `ifreq` is a valid, exclusively borrowed request for the whole call, and every
    // request used here reads and writes within it, or within the structure that its data pointer
    // names, which the caller keeps alive.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, std::ptr::from_mut(ifreq)) }).map(|_| ())
}

/// An empty request about `name`.
pub(super) fn request_for(name: &str) -> io::Result<libc::ifreq> {
    let field = interface_name(name).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "is no interface name"))?;
    // SAFETY: a request is plain old data for which all zeros are valid.
    let mut ifreq: libc::ifreq = unsafe { zeroed() };
    ifreq.ifr_name = field;
    Ok(ifreq)
}

/// A socket for requests about interfaces of this network namespace.
///
/// # Errors
/// When there are no more descriptors.
pub fn control_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?)
}

/// Reads the kernel's description of the interface `name`.
///
/// # Errors
/// When there is no such interface.
pub fn interface(name: &str) -> io::Result<Interface> {
    let control = control_socket()?;
    let request = |kind| {
        let mut ifreq = request_for(name)?;
        interface_request(control.as_fd(), kind, &mut ifreq)?;
        Ok::<_, io::Error>(ifreq.ifr_ifru)
    };
    let (index, mtu, flags, address) =
        (request(libc::SIOCGIFINDEX)?, request(libc::SIOCGIFMTU)?, request(libc::SIOCGIFFLAGS)?, request(libc::SIOCGIFHWADDR)?);
    // SAFETY: each request just filled the member of the union that is read.
    unsafe {
        let hardware = address.ifru_hwaddr;
        Ok(Interface {
            index: index.ifru_ifindex,
            mtu: mtu.ifru_mtu.max(0) as u32,
            up: libc::c_int::from(flags.ifru_flags) & libc::IFF_UP != 0,
            ethernet: hardware.sa_family == libc::ARPHRD_ETHER,
            address: std::array::from_fn(|place| hardware.sa_data[place] as u8),
        })
    }
}

/// Reads the description of an interface as [`interface`] does, of an Ethernet interface only.
///
/// # Errors
/// When there is no such interface, or it is of another kind.
pub fn ethernet(name: &str) -> io::Result<Interface> {
    let found = interface(name)?;
    if !found.ethernet {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "is no Ethernet interface"));
    }
    Ok(found)
}

impl PacketSocket {
    /// A socket that sees and sends whole frames; not yet bound, so that its ring can be set up
    /// before anything arrives.
    ///
    /// # Errors
    /// When the kernel refuses, most often for want of `CAP_NET_RAW`.
    pub fn new(index: libc::c_int) -> io::Result<Self> {
        Self::of_kind(index, SocketFlags::NONBLOCK)
    }

    /// Opens a socket like [`PacketSocket::new`], for callers that wait within their calls.
    pub(super) fn waiting(index: libc::c_int) -> io::Result<Self> {
        Self::of_kind(index, SocketFlags::empty())
    }

    fn of_kind(index: libc::c_int, flags: SocketFlags) -> io::Result<Self> {
        let fd = socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::CLOEXEC | flags, None)?;
        Ok(Self { fd, index, offloads: false })
    }

    /// The socket alone.
    pub(super) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// From now on every frame, in and out, has an [`Offload`](crate::segments::Offload) before it.
    /// To be asked for before the ring is made.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn tell_offloads(&mut self) -> io::Result<()> {
        self.set(libc::PACKET_VNET_HDR, 1)?;
        self.offloads = true;
        Ok(())
    }

    /// True if the socket was opened to report offloads.
    #[must_use]
    pub const fn tells_offloads(&self) -> bool {
        self.offloads
    }

    /// Sets an integer option of packet sockets.
    pub(super) fn set(&self, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        options::set(self.as_fd(), libc::SOL_PACKET, option, &value)
    }

    /// Frames of the interface come in from now on, also those for other stations, but not those
    /// that this host sends.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn open(&self) -> io::Result<()> {
        self.set(libc::PACKET_IGNORE_OUTGOING, 1)?;
        self.set(libc::PACKET_QDISC_BYPASS, 1)?;
        self.bind(ALL_PROTOCOLS)
    }

    /// The interface takes frames for other stations from now on, and an error says when it went
    /// down, but no frames come in here: those of the protocol that is asked for are never sent.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn open_deaf(&self) -> io::Result<()> {
        // The kernel reports only interfaces from which a socket has requested something.
        self.bind((libc::ETH_P_LOOP as u16).to_be())
    }

    /// Frames of this protocol come in.
    pub(super) fn bind(&self, protocol: u16) -> io::Result<()> {
        // SAFETY: an address is plain old data for which all zeros are valid.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = self.index;
        let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: pointer and length describe `address`, which outlives the call; the kernel only
        // reads it.
        checked(unsafe { libc::bind(self.fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), len) })?;
        // The membership ends with the socket, so the interface is left as it was.
        let member =
            libc::packet_mreq { mr_ifindex: self.index, mr_type: libc::PACKET_MR_PROMISC as u16, mr_alen: 0, mr_address: [0; 8] };
        options::set(self.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &member)
    }

    /// Returns the number of frames dropped since the last call because the ring was full.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn drops(&self) -> io::Result<u32> {
        let statistics: libc::tpacket_stats = options::get(self.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
        Ok(statistics.tp_drops)
    }

    /// The error that the kernel holds for this socket, for instance that the interface went down;
    /// reading it clears it.
    #[must_use]
    pub fn take_error(&self) -> Option<io::Error> {
        sockopt::socket_error(&self.fd).ok()?.err().map(io::Error::from)
    }

    /// True if the interface still exists. The kernel unbinds sockets from one that is removed,
    /// wherever their owners are.
    #[must_use]
    pub fn exists(&self) -> bool {
        // SAFETY: an address is plain old data for which all zeros are valid.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        let mut len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: pointer and length describe `address`, exclusively borrowed for the call.
        let result = unsafe { libc::getsockname(self.fd.as_raw_fd(), std::ptr::from_mut(&mut address).cast(), &raw mut len) };
        result == 0 && address.sll_ifindex == self.index
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Largest number of pieces of a frame to send: the work left to a network card, its headers, the
/// parts of its payload.
pub const PIECES: usize = 2 + MAX_PARTS;

/// Preallocated arguments of a system call that sends many frames.
#[derive(Debug)]
pub struct SendBatch {
    messages: Vec<libc::mmsghdr>,
    pieces: Vec<[libc::iovec; PIECES]>,
}

// SAFETY: the pointers within are written right before each call and are not used between calls, so
// the batch can move to another thread.
unsafe impl Send for SendBatch {}

impl SendBatch {
    /// Room for `count` frames.
    #[must_use]
    pub fn new(count: usize) -> Self {
        // SAFETY: a message header is plain old data for which all zeros (no address, no pieces)
        // are valid.
        let message: libc::mmsghdr = unsafe { zeroed() };
        let piece = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        Self { messages: vec![message; count], pieces: vec![[piece; PIECES]; count] }
    }

    /// Sends `frames`, each in at most [`PIECES`] pieces without the empty ones, up to the room
    /// there is, in one call. Returns how many the kernel took.
    ///
    /// # Errors
    /// When it took none.
    pub fn send<'a, F: IntoIterator<Item = &'a [u8]>>(
        &mut self,
        socket: &PacketSocket,
        frames: impl Iterator<Item = F>,
    ) -> io::Result<usize> {
        let mut count = 0;
        for ((message, pieces), frame) in self.messages.iter_mut().zip(&mut self.pieces).zip(frames) {
            let mut used = 0;
            for (piece, bytes) in pieces.iter_mut().zip(frame.into_iter().filter(|bytes| !bytes.is_empty())) {
                *piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
                used += 1;
            }
            message.msg_hdr.msg_iov = pieces.as_mut_ptr();
            message.msg_hdr.msg_iovlen = used as _;
            count += 1;
        }
        // SAFETY: the first `count` headers point to pieces of this batch, which point to frames
        // that the caller lends for the call; the kernel reads the frames and writes the lengths
        // within the headers.
        let sent = unsafe {
            libc::sendmmsg(socket.fd.as_raw_fd(), self.messages.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT as _)
        };
        checked(sent).map(|sent| sent as usize)
    }
}
