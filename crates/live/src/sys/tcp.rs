//! Options and state of the kernel's TCP.

use super::options;
use goodqueue_base::units::Duration;
use std::io;
use std::os::fd::BorrowedFd;

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
    /// Bytes acknowledged, since the start.
    pub acknowledged: u64,
    /// Retransmission timeouts, since the start; zero before Linux 6.7.
    pub timeouts: u16,
    /// True if both ends have closed.
    pub closed: bool,
}

/// Sets a number among TCP's options.
///
/// # Errors
/// When the kernel refuses.
pub fn set(socket: BorrowedFd<'_>, option: libc::c_int, value: u32) -> io::Result<()> {
    options::set(socket, libc::IPPROTO_TCP, option, &value)
}

/// Chooses the congestion control of a connection if users may, and returns the name of the one it
/// has then.
///
/// # Errors
/// When the kernel does not tell.
pub fn use_control(socket: BorrowedFd<'_>, wanted: &str) -> io::Result<String> {
    // A kernel without it, or that keeps it from users, leaves its own.
    let _ = rustix::net::sockopt::set_tcp_congestion(socket, wanted);
    Ok(rustix::net::sockopt::tcp_congestion(socket)?)
}

/// Bounds the bytes that wait in a connection before they are sent for the first time.
///
/// # Errors
/// When the kernel refuses.
pub fn keep_unsent(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    set(socket, libc::TCP_NOTSENT_LOWAT, bytes)
}

/// The state of a connection.
///
/// # Errors
/// When it is none.
pub fn state(socket: BorrowedFd<'_>) -> io::Result<TcpState> {
    // The structure grows with kernels; these bytes hold all that is read here, and an older kernel
    // fills fewer.
    /// State of sockets of past connections (`tcp_states.h`); those that wait for late packets are
    /// no sockets any more.
    const CLOSED: u8 = 7;
    const MSS: usize = 16;
    /// Not acknowledged, selectively acknowledged, taken for lost, sent again: four bytes each.
    const UNACKED: usize = 24;
    const RTT: usize = 68;
    const WINDOW: usize = 80;
    const RETRANSMITTED: usize = 100;
    const ACKNOWLEDGED: usize = 120;
    const DATA_SENT: usize = 156;
    const TIMEOUTS: usize = 240;
    let bytes: [u8; 248] = options::get(socket, libc::IPPROTO_TCP, libc::TCP_INFO)?;
    let four = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Ok(TcpState {
        rtt: Duration::us(u64::from(four(RTT))),
        window: four(WINDOW),
        // As the kernel counts them (`tcp_packets_in_flight`).
        in_flight: (four(UNACKED) + four(UNACKED + 12)).saturating_sub(four(UNACKED + 4) + four(UNACKED + 8)),
        mss: four(MSS),
        retransmitted: four(RETRANSMITTED),
        sent: u64::from(four(DATA_SENT)),
        acknowledged: u64::from(four(ACKNOWLEDGED)) | u64::from(four(ACKNOWLEDGED + 4)) << 32,
        timeouts: u16::from_ne_bytes([bytes[TIMEOUTS], bytes[TIMEOUTS + 1]]),
        closed: bytes[0] == CLOSED,
    })
}
