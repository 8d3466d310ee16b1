//! Options and state of the kernel's TCP.

use super::checked;
use goodqueue_base::units::Duration;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// State of a kernel's TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpState {
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// Congestion window, in segments.
    pub window: u32,
    /// Segments on the way.
    pub in_flight: u32,
    /// Bytes of a segment.
    pub mss: u32,
    /// Segments sent again, since the start.
    pub retransmitted: u32,
    /// Segments with data sent, since the start.
    pub sent: u64,
}

/// Chooses the congestion control by the kernel's name for it.
///
/// # Errors
/// When the kernel does not offer it.
pub fn choose_control(socket: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // SAFETY: pointer and length describe `name`, which outlives the call and is only read.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    })
    .map(|_| ())
}

/// Puts this codepoint and class on what a socket sends, other than TCP's own ECN.
///
/// # Errors
/// When the kernel refuses.
pub fn mark_packets(socket: BorrowedFd<'_>, traffic_class: u8) -> io::Result<()> {
    let value = libc::c_int::from(traffic_class);
    let len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: pointer and length describe `value`, which outlives the call and is only read.
    checked(unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_TOS, std::ptr::from_ref(&value).cast(), len)
    })
    .map(|_| ())
}

/// The state of a connection.
///
/// # Errors
/// When it is none.
pub fn state(socket: BorrowedFd<'_>) -> io::Result<TcpState> {
    // The structure grows with kernels; these bytes hold all that is read here, and an older kernel
    // fills fewer.
    const MSS: usize = 16;
    /// Not acknowledged, selectively acknowledged, taken for lost, sent again: four bytes each.
    const UNACKED: usize = 24;
    const RTT: usize = 68;
    const WINDOW: usize = 80;
    const RETRANSMITTED: usize = 100;
    const DATA_SENT: usize = 156;
    // SAFETY: bytes are plain old data for which all zeros are valid.
    let mut bytes: [u8; 232] = unsafe { zeroed() };
    let mut len = bytes.len() as libc::socklen_t;
    // SAFETY: pointer and length describe `bytes`, exclusively borrowed for the call.
    checked(unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, bytes.as_mut_ptr().cast(), &raw mut len)
    })?;
    let four = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok(TcpState {
        rtt: Duration::us(u64::from(four(RTT))),
        window: four(WINDOW),
        // As the kernel counts them (`tcp_packets_in_flight`).
        in_flight: (four(UNACKED) + four(UNACKED + 12)).saturating_sub(four(UNACKED + 4) + four(UNACKED + 8)),
        mss: four(MSS),
        retransmitted: four(RETRANSMITTED),
        sent: u64::from(four(DATA_SENT)),
    })
}
