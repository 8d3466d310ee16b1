//! Packets that open something: the first of a TCP connection, and every UDP datagram.

use super::options;
use super::socket::{PacketSocket, ethernet};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// IPv4, in network order.
const IPV4: u16 = (libc::ETH_P_IP as u16).to_be();

const fn step(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Filter that passes IPv4 frames that are UDP, or TCP with SYN and without ACK; no fragments of
/// TCP.
const FILTER: [libc::sock_filter; 13] = [
    // The protocol behind the link header.
    step(0x28, 0, 0, 12),
    step(0x15, 0, 10, 0x0800),
    // The protocol behind the IP header.
    step(0x30, 0, 0, 23),
    step(0x15, 7, 0, 17),
    step(0x15, 0, 7, 6),
    // The fragment's offset.
    step(0x28, 0, 0, 20),
    step(0x45, 5, 0, 0x1FFF),
    // The flags, behind an IP header of any length.
    step(0xB1, 0, 0, 14),
    step(0x50, 0, 0, 27),
    step(0x54, 0, 0, 0x12),
    step(0x15, 0, 1, 0x02),
    step(0x06, 0, 0, 0x4_0000),
    step(0x06, 0, 0, 0),
];

/// Opens a file that reads such frames that arrive at the interface `name`, one with each read.
///
/// # Errors
/// When there is no such Ethernet interface, or the kernel refuses.
pub fn watch(name: &str) -> io::Result<File> {
    let socket = PacketSocket::waiting(ethernet(name)?.index)?;
    let program = libc::sock_fprog { len: FILTER.len() as u16, filter: FILTER.as_ptr().cast_mut() };
    // SAFETY: the steps that the program points to outlive the call and are only read.
    unsafe { options::set_with_addresses(socket.as_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program) }?;
    socket.set(libc::PACKET_IGNORE_OUTGOING, 1)?;
    socket.bind(IPV4)?;
    Ok(File::from(socket.into_fd()))
}

/// Opens a file that sends frames by the interface `name`, one with each write.
///
/// # Errors
/// As those of [`watch`].
pub fn sender(name: &str) -> io::Result<File> {
    let socket = PacketSocket::waiting(ethernet(name)?.index)?;
    socket.open_deaf()?;
    Ok(File::from(socket.into_fd()))
}
