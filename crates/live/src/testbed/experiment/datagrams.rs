//! Loops that all UDP flows share: send when it is time, and take what comes.

use super::Flow;
use super::prober::Stamp;
use super::waiting::{Deadline, Stop, is_pause, locked, offered};
use std::io;
use std::net::UdpSocket;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration as Wall;

/// Headers of IPv4 and UDP.
pub(super) const UDP_HEADERS: u32 = 28;

/// Calls `send` as long as the flow offers data, at once and then after each gap. A thread that
/// comes late sends what is due in a burst; in the mean the rate is right. What finds the socket
/// full is not sent, as with any source that does not wait.
pub(super) fn each_due(
    flow: &Flow,
    stop: &Stop,
    mut gap: impl FnMut() -> Wall,
    mut send: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let (mut clock, mut due) = (Deadline::after(Wall::ZERO), Wall::ZERO);
    let end = offered(flow);
    while due < end && !stop.within(due.saturating_sub(clock.passed())) {
        match send() {
            Ok(()) => {}
            Err(error) if is_pause(&error) || is_no_room(&error) => {}
            Err(error) => return Err(error),
        }
        due += gap();
    }
    Ok(())
}

/// Does something with every datagram that comes, until all is over.
pub(super) fn each_datagram(socket: &UdpSocket, stop: &Stop, mut take: impl FnMut(&[u8])) {
    let mut buffer = [0; 1 << 16];
    loop {
        match socket.recv(&mut buffer) {
            Ok(got) => take(&buffer[..got]),
            Err(error) if is_pause(&error) && !stop.within(Wall::ZERO) => {}
            Err(_) => return,
        }
    }
}

/// Sends packets of this size with a stamp each, one every `interval`, until the flow stops.
pub(super) fn send_stamps(
    flow: &Flow,
    stop: &Stop,
    socket: &UdpSocket,
    (packet_size, interval): (u32, Wall),
    mut next: impl FnMut() -> Stamp,
) -> io::Result<()> {
    let mut payload = vec![0; (packet_size.saturating_sub(UDP_HEADERS) as usize).max(Stamp::LEN)];
    let send = || {
        next().write(&mut payload);
        socket.send(&payload).map(|_| ())
    };
    each_due(flow, stop, || interval, send)
}

/// Takes the stamp of every packet that comes and adds its bytes to `delivered`, both while
/// `counting` is held, until all is over.
pub(super) fn each_stamp(
    socket: &UdpSocket,
    stop: &Stop,
    (counting, delivered): (&Mutex<()>, &AtomicU64),
    mut take: impl FnMut(Stamp),
) {
    each_datagram(socket, stop, |packet| {
        let Some(stamp) = Stamp::read(packet) else { return };
        let _together = locked(counting);
        take(stamp);
        delivered.fetch_add(packet.len() as u64 + u64::from(UDP_HEADERS), Ordering::Relaxed);
    });
}

/// Whether the kernel has no room for this datagram (ENOBUFS).
fn is_no_room(error: &io::Error) -> bool {
    error.raw_os_error() == Some(105)
}
