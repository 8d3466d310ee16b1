//! Two interfaces joined as a wire would join them: no queue, no rate, no look at any frame. What
//! takes over from a bridge that has died.

use crate::segments::Offload;
use crate::sys::ring::{self, Offloads, Opened, Ring, RingFrame};
use crate::sys::scheduling;
use crate::sys::socket::{PacketSocket, SendBatch};
use goodqueue_base::units::Duration;
use std::io;
use std::os::fd::AsFd;

/// Frames in each receive ring, with 64 KiB in each.
const RING_FRAMES: usize = 512;
/// Frames taken from one side before the other has its turn.
const TURN: usize = 256;
/// Time between two looks at an interface that is down.
const LOOK_AGAIN: Duration = Duration::ms(20);
/// Offset of a frame's VLAN tag: behind both addresses.
const STATIONS: usize = 12;

/// One interface.
#[derive(Debug)]
struct Side {
    name: String,
    socket: PacketSocket,
    ring: Ring,
    /// One that is down is always ready, with an error: waiting on it would be a spin.
    down: bool,
}

impl Side {
    fn open(name: &str) -> io::Result<Self> {
        // Joined frames go through whole.
        let Opened { socket, ring, .. } = ring::open(name, Offloads::On, RING_FRAMES)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        Ok(Self { name: name.to_owned(), socket, ring, down: false })
    }

    /// Hands what arrived to `other`; a frame that it does not take is lost, as on a wire. Returns
    /// how many there were.
    fn pass(&mut self, other: &Self, batch: &mut SendBatch, counters: &mut SpliceCounters) -> usize {
        let mut count = 0;
        while count < TURN
            && let Some(found) = self.ring.peek()
        {
            let whole = found.wire_len as usize <= found.bytes.len();
            match whole && send(&found, &other.socket, batch) {
                true => counters.passed += 1,
                false => counters.lost += 1,
            }
            self.ring.release();
            count += 1;
        }
        count
    }

    /// Handles a socket error: an interface that still exists is only down.
    fn suspect(&mut self) -> io::Result<()> {
        // Reading the error clears it.
        let _ = self.socket.take_error();
        if !self.socket.exists() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("interface {} is gone", self.name)));
        }
        self.down = true;
        Ok(())
    }
}

fn send(found: &RingFrame<'_>, to: &PacketSocket, batch: &mut SendBatch) -> bool {
    const TAG: usize = 4;
    let mut head = [0; Offload::BYTES + STATIONS + TAG];
    head[..Offload::BYTES].copy_from_slice(&found.offload.unwrap_or_default().to_bytes());
    let Some((protocol, tag)) = found.tag else {
        return batch.send(to, std::iter::once([&head[..Offload::BYTES], found.bytes])).is_ok();
    };
    let Some((stations, rest)) = found.bytes.split_at_checked(STATIONS) else { return false };
    head[Offload::BYTES..Offload::BYTES + STATIONS].copy_from_slice(stations);
    head[Offload::BYTES + STATIONS..][..2].copy_from_slice(&protocol.to_be_bytes());
    head[Offload::BYTES + STATIONS + 2..].copy_from_slice(&tag.to_be_bytes());
    batch.send(to, std::iter::once([&head[..], rest])).is_ok()
}

/// Counters of the frames that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpliceCounters {
    /// Frames that the other interface took.
    pub passed: u64,
    /// Frames that it did not take, or that were longer than 64 KiB.
    pub lost: u64,
}

/// Two interfaces joined.
#[derive(Debug)]
pub struct Splice {
    sides: [Side; 2],
    batch: SendBatch,
    counters: SpliceCounters,
}

impl Splice {
    /// Joins the interfaces with these names; frames pass with [`Splice::step`].
    ///
    /// # Errors
    /// When one is missing or no Ethernet interface, or the kernel refuses: `CAP_NET_RAW` is
    /// needed.
    pub fn open(names: [&str; 2]) -> io::Result<Self> {
        let sides = [Side::open(names[0])?, Side::open(names[1])?];
        Ok(Self { sides, batch: SendBatch::new(1), counters: SpliceCounters::default() })
    }

    /// Passes on what has arrived; when nothing has, waits for it, at most for `longest`.
    ///
    /// # Errors
    /// When an interface is gone for good.
    pub fn step(&mut self, longest: Duration) -> io::Result<()> {
        let [a, b] = &mut self.sides;
        let moved = a.pass(b, &mut self.batch, &mut self.counters) + b.pass(a, &mut self.batch, &mut self.counters);
        if moved > 0 {
            return Ok(());
        }
        let down = a.down || b.down;
        let descriptors = [&*a, &*b].map(|side| (!side.down).then(|| side.socket.as_fd()));
        let woken = scheduling::wait(descriptors, if down { longest.min(LOOK_AGAIN) } else { longest })?;
        for (side, error) in self.sides.iter_mut().zip(woken.errors) {
            side.down = false;
            if error {
                side.suspect()?;
            }
        }
        Ok(())
    }

    /// Returns the counters of the frames that passed so far.
    #[must_use]
    pub const fn counters(&self) -> SpliceCounters {
        self.counters
    }
}
