//! A network interface: frames in through a ring shared with the kernel, with the kernel's time
//! stamps, and out many in a call.
//!
//! A port opened for offloads takes segments that the sender's kernel joined to one frame, and
//! joins what leaves together again ([`segments`]); others lose such frames and count them, since a
//! queue would take them for one packet.

use super::tap::{Presence, SharedCapture, Tap};
use super::{Drained, Port, PortCounters, Received};
use crate::clock::MonotonicClock;
use crate::frame;
use crate::pool::{Frame, Pool};
use crate::segments::{self, Joined, Offload};
use crate::sys::busy::{self, BusyPolling};
use crate::sys::ring::{self, Offloads, Opened, Ring, RingFrame};
use crate::sys::socket::{PacketSocket, SendBatch};
use goodqueue_base::units::{Duration, Instant, Rate};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Frames per sending call.
const SEND_BATCH: usize = 64;
/// Frames in the receive ring: 100 ms of the shortest frames at 40 Mbit/s, or of full ones at 1
/// Gbit/s.
const RING_FRAMES: usize = 8192;
/// Frames in the receive ring for joined frames, with 64 KiB in each.
const RING_JOINED: usize = 1024;
/// Rate from which on a line has whole rings. A slower one has a part, and a quarter at least:
/// frames may arrive faster than they leave.
const RING_RATE: Rate = Rate::mbit(40);
const RING_PARTS: usize = 4;
/// Segments handed over at a time: about enough to fill a call.
const SEGMENTS: usize = 2048;
/// Time between two comparisons of the clocks.
const COMPARE_EVERY: Duration = Duration::secs(1);

/// A network interface.
#[derive(Debug)]
pub struct PacketPort {
    presence: Presence,
    ring: Ring,
    socket: PacketSocket,
    batch: SendBatch,
    clock: MonotonicClock,
    /// Nanoseconds by which the wall clock is ahead of ours; `compared` is the time of the latest
    /// comparison.
    wall_offset: i128,
    compared: Instant,
    longest: u32,
    joining: Option<Joining>,
    on_joined: OnJoined,
    counters: PortCounters,
    tap: Tap,
}

/// Reaction to a frame that is joined in a way that the port does not take apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnJoined {
    /// The frame is lost and counted.
    #[default]
    Lose,
    /// The port fails: what follows would not be the queue's doing.
    Fail,
}

impl PacketPort {
    /// Opens the interface `name` of the network namespace that the thread is in. Frames come in
    /// from now on.
    ///
    /// # Errors
    /// When there is no such Ethernet interface, or the kernel refuses: `CAP_NET_RAW` is needed.
    pub fn open(name: &str, clock: MonotonicClock) -> io::Result<Self> {
        Self::open_as(name, clock, Offloads::Off, None)
    }

    /// Opens the interface as [`PacketPort::open`] does, for frames as the kernel's offloads leave
    /// them.
    ///
    /// # Errors
    /// As those of [`PacketPort::open`].
    pub fn open_joined(name: &str, clock: MonotonicClock) -> io::Result<Self> {
        Self::open_as(name, clock, Offloads::On, None)
    }

    /// Opens the interface with a receive ring for a line of this rate; `None`: of any rate.
    ///
    /// # Errors
    /// As those of [`PacketPort::open`].
    pub fn open_as(name: &str, clock: MonotonicClock, offloads: Offloads, rate: Option<Rate>) -> io::Result<Self> {
        let most = if offloads == Offloads::On { RING_JOINED } else { RING_FRAMES };
        let frames = rate.map_or(most, |rate| ring_frames(most, rate));
        let Opened { socket, ring, longest } = ring::open(name, offloads, frames)?;
        let mut clock = clock;
        let wall_offset = clock.wall_offset();
        Ok(Self {
            presence: Presence::new(name),
            ring,
            socket,
            batch: SendBatch::new(SEND_BATCH),
            clock,
            wall_offset,
            compared: Instant::ZERO,
            longest,
            joining: (offloads == Offloads::On).then(Joining::new),
            on_joined: OnJoined::default(),
            counters: PortCounters::default(),
            tap: Tap::default(),
        })
    }

    /// Chooses what follows when a frame arrives that is joined in a way that the port does not
    /// take apart; an error of kind [`io::ErrorKind::InvalidData`] where that is a failure.
    pub const fn on_joined(&mut self, choice: OnJoined) {
        self.on_joined = choice;
    }

    /// The longest frame that it hands over.
    #[must_use]
    pub fn longest_frame(&self) -> u32 {
        if self.joining.is_some() { self.longest.max(segments::MAX as u32) } else { self.longest }
    }

    /// Asks the kernel to look for frames when the socket is asked for them, and says what it
    /// granted.
    pub fn busy_poll(&mut self) -> BusyPolling {
        busy::ask(self.socket.as_fd())
    }

    /// Writes every frame sent into `capture`, as of its interface number `interface`.
    pub fn capture(&mut self, interface: u32, capture: SharedCapture) {
        self.tap.open(interface, capture);
    }

    fn suspect(&mut self, now: Instant) -> io::Result<()> {
        self.presence.suspect(self.socket.exists(), now, &mut self.counters)
    }

    fn compare_clocks(&mut self, now: Instant) {
        if now.since(self.compared) >= COMPARE_EVERY {
            self.compared = now;
            self.wall_offset = self.clock.wall_offset();
        }
    }
}

/// Frames of a ring of which a line of this rate needs a part.
fn ring_frames(most: usize, rate: Rate) -> usize {
    let share = most as f64 * (rate.as_bit_s() as f64 / RING_RATE.as_bit_s() as f64);
    (share as usize).clamp(most / RING_PARTS, most)
}

/// Room for the joined frames of one sending call.
#[derive(Debug)]
struct Joining {
    offloads: Vec<[u8; Offload::BYTES]>,
    headers: Vec<[u8; segments::HEADERS]>,
    /// Length of each frame's headers; zero for a whole frame.
    ends: Vec<usize>,
    /// Segments in each frame.
    runs: Vec<usize>,
}

impl Joining {
    fn new() -> Self {
        Self {
            offloads: vec![[0; Offload::BYTES]; SEND_BATCH],
            headers: vec![[0; segments::HEADERS]; SEND_BATCH],
            ends: vec![0; SEND_BATCH],
            runs: Vec::with_capacity(SEND_BATCH),
        }
    }

    /// Joins what can be joined of `frames`, as far as there is room.
    fn prepare(&mut self, frames: &[Frame], pool: &Pool) {
        self.runs.clear();
        let mut rest = frames;
        while !rest.is_empty() && self.runs.len() < SEND_BATCH {
            let place = self.runs.len();
            let run = segments::run_of(rest, pool);
            let outgoing = segments::compose(&rest[..run], pool, &mut self.headers[place]);
            self.offloads[place] = outgoing.map_or_else(Offload::default, |outgoing| outgoing.offload).to_bytes();
            self.ends[place] = outgoing.map_or(0, |outgoing| outgoing.headers);
            self.runs.push(run);
            rest = &rest[run..];
        }
    }

    /// Returns the pieces of each frame prepared from `frames`.
    fn pieces<'a>(&'a self, frames: &'a [Frame], pool: &'a Pool) -> impl Iterator<Item = impl Iterator<Item = &'a [u8]>> {
        let mut rest = frames;
        self.runs.iter().enumerate().map(move |(place, count)| {
            let (run, others) = rest.split_at(*count);
            rest = others;
            let end = self.ends[place];
            let (whole, segments) = if end == 0 { (run.first(), &run[..0]) } else { (None, run) };
            let head = [&self.offloads[place][..], &self.headers[place][..end]];
            let whole = whole.map(|frame| pool.frame(*frame));
            head.into_iter().chain(whole).chain(segments::payload(segments, pool))
        })
    }
}

/// The time of a kernel stamp on our clock.
#[inline]
fn ours(stamp: (u32, u32), wall_offset: i128) -> Instant {
    let wall = i128::from(stamp.0) * 1_000_000_000 + i128::from(stamp.1);
    Instant::from_nanos((wall - wall_offset).max(0) as u64)
}

/// Copies a frame from the ring into a buffer, with the tag that the kernel took out; `None` when
/// it does not fit.
fn copy(from: &RingFrame<'_>, buffer: &mut [u8]) -> Option<usize> {
    const STATIONS: usize = 12;
    let RingFrame { bytes, tag, .. } = from;
    let Some((protocol, tag)) = tag else {
        buffer.get_mut(..bytes.len())?.copy_from_slice(bytes);
        return Some(bytes.len());
    };
    let (stations, rest) = bytes.split_at_checked(STATIONS)?;
    let whole = buffer.get_mut(..bytes.len() + 4)?;
    whole[..STATIONS].copy_from_slice(stations);
    whole[STATIONS..STATIONS + 2].copy_from_slice(&protocol.to_be_bytes());
    whole[STATIONS + 2..STATIONS + 4].copy_from_slice(&tag.to_be_bytes());
    whole[STATIONS + 4..].copy_from_slice(rest);
    Some(whole.len())
}

impl Port for PacketPort {
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained> {
        self.compare_clocks(now);
        self.presence.look(now);
        while batch.len() < batch.capacity() {
            let Some(found) = self.ring.peek() else { return Ok(Drained::Empty) };
            let stamp = ours(found.stamp, self.wall_offset);
            let offload = found.offload.filter(|offload| offload.is_joined());
            let joined = offload.and_then(|offload| Joined::read(found.bytes, offload));
            let long = found.wire_len > self.longest || offload.is_some();
            if long && joined.is_none() || found.wire_len as usize > found.bytes.len() {
                // Several frames joined by an offload, or cut off by the ring. The checksum of a
                // joined frame is never complete (Linux `tcp_gro_complete`, `udp_gro_complete`).
                self.counters.oversize += 1;
                if offload.is_some() || found.checksum_not_ready {
                    self.counters.joined_lost += 1;
                    if self.on_joined == OnJoined::Fail {
                        let message = format!("interface {}: packets arrive joined to larger ones", self.presence.name);
                        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                    }
                }
            } else if let Some(slot) = pool.take() {
                match copy(&found, pool.buffer(slot)) {
                    Some(len) => {
                        let frame = Frame::whole(slot, len as u32);
                        // A tag that was put back moves everything behind it.
                        let joined = joined.zip(offload).and_then(|(_, offload)| Joined::read(pool.frame(frame), offload));
                        self.counters.joined += u64::from(joined.is_some());
                        if joined.is_none() && found.checksum_not_ready && frame::finish_partial(pool.frame_mut(frame)) {
                            self.counters.partial_checksums += 1;
                        }
                        self.counters.received += 1;
                        batch.push(Received { frame, stamp: Some(stamp), joined });
                    }
                    None => {
                        self.counters.oversize += 1;
                        pool.give_back(slot);
                    }
                }
            } else {
                self.counters.no_buffer += 1;
            }
            self.ring.release();
        }
        Ok(Drained::More)
    }

    fn send(&mut self, now: Instant, pool: &Pool, frames: &[Frame]) -> io::Result<usize> {
        let most = self.most_at_once();
        let frames = &frames[..frames.len().min(most)];
        if self.presence.is_down() {
            // Frames are lost, as on a cable that is not plugged in.
            self.counters.send_failures += frames.len() as u64;
            return Ok(frames.len());
        }
        let result = match &mut self.joining {
            None => self.batch.send(&self.socket, frames.iter().map(|frame| [pool.frame(*frame)])),
            Some(joining) => {
                joining.prepare(frames, pool);
                let sent = self.batch.send(&self.socket, joining.pieces(frames, pool));
                sent.map(|sent| {
                    self.counters.sent_joined += sent as u64;
                    joining.runs[..sent].iter().sum()
                })
            }
        };
        let taken = match result {
            Ok(taken) => taken,
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => 0,
                Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => {
                    self.suspect(now)?;
                    self.counters.send_failures += frames.len() as u64;
                    return Ok(frames.len());
                }
                // The first frame is one that the interface never takes, for instance one too long
                // for it.
                _ => {
                    let first = self.joining.as_ref().and_then(|joining| joining.runs.first().copied()).unwrap_or(1);
                    self.counters.send_failures += first as u64;
                    return Ok(first);
                }
            },
        };
        self.counters.sent += taken as u64;
        self.tap.write(now, pool, &frames[..taken]);
        Ok(taken)
    }

    fn joins(&self) -> bool {
        self.joining.is_some()
    }

    fn most_at_once(&self) -> usize {
        if self.joining.is_some() { SEGMENTS } else { SEND_BATCH }
    }

    fn counters(&mut self) -> PortCounters {
        // Reading the kernel's counter clears it.
        if let Ok(drops) = self.socket.drops() {
            self.counters.ring_overflows += u64::from(drops);
        }
        self.counters
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // One that is down is always ready, with an error: waiting on it would be a spin.
        (!self.presence.is_down()).then(|| self.socket.as_fd())
    }
}

impl PacketPort {
    /// Reads the error, if any, that ended a wait.
    ///
    /// # Errors
    /// When the interface is gone.
    pub fn check(&mut self, now: Instant) -> io::Result<()> {
        match self.socket.take_error() {
            Some(_) => self.suspect(now),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_lines_have_parts_of_rings() {
        let frames = |rate| [RING_FRAMES, RING_JOINED].map(|most| ring_frames(most, rate));
        assert_eq!(frames(Rate::mbit(2)), [2048, 256]);
        assert_eq!(frames(Rate::mbit(20)), [4096, 512]);
        assert_eq!(frames(Rate::gbit(10)), [8192, 1024]);
    }
}
