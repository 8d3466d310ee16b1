//! Two ports, a direction each way, and the loop that drives them.

use crate::clock::Clock;
use crate::frame::{FlowKey, Headers, Malformed};
use crate::joiner::Joiner;
use crate::lane::{Lane, Line};
use crate::packet::LivePacket;
use crate::pool::{Frame, Pool};
use crate::port::{Drained, Port, PortCounters, Received};
use crate::segments::Joined;
use goodqueue_aqm::{Counters, Qdisc};
pub use goodqueue_base::units::Direction;
use goodqueue_base::units::{Duration, Instant};
use std::io;

/// Frames taken from a port or handed to it at a time. Those of a batch are still in the cache when
/// they are sent.
pub const BATCH: usize = 64;
/// A port that takes no more is asked again after this time.
const BLOCKED: Duration = Duration::us(100);

/// Settings of a forwarder.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// From port A to port B.
    pub down: Line,
    /// From port B to port A.
    pub up: Line,
    /// Buffers, for both directions together.
    pub buffers: u32,
    /// Bytes of a buffer: the longest frame.
    pub buffer_size: usize,
    /// Key of the hash over flows.
    pub flow_key: FlowKey,
}

/// Counters of the frames of one direction, in addition to the queue's own counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounters {
    /// Frames taken from the port, segments of joined ones one by one.
    pub received: u64,
    /// Dropped because their headers cannot be right, by [`MALFORMED`].
    pub malformed: [u64; MALFORMED.len()],
    /// Frames that the port took, likewise.
    pub sent: u64,
    /// Frames that are no IP.
    pub opaque: u64,
}

/// The kinds of malformed frames, in the order in which they are counted.
pub const MALFORMED: [Malformed; 5] =
    [Malformed::ShortLink, Malformed::ShortNetwork, Malformed::Version, Malformed::HeaderLength, Malformed::Length];

impl FrameCounters {
    /// Malformed frames of all kinds.
    #[must_use]
    pub fn malformed_total(&self) -> u64 {
        self.malformed.iter().sum()
    }
}

/// One direction with its counters.
#[derive(Debug)]
struct CountedDirection<Q> {
    direction: Lane<Q>,
    frames: FrameCounters,
    /// The port takes nothing at the moment.
    blocked: bool,
    /// Brings segments side by side, if the port sends consecutive ones as one frame.
    joiner: Option<Joiner>,
}

/// Two ports and a direction each way between them.
#[derive(Debug)]
pub struct Forwarder<A, B, Q> {
    port_a: A,
    port_b: B,
    down: CountedDirection<Q>,
    up: CountedDirection<Q>,
    pool: Pool,
    key: FlowKey,
    batch: Vec<Received>,
}

impl<A: Port, B: Port, Q: Qdisc<LivePacket>> Forwarder<A, B, Q> {
    /// A forwarder between two ports, with these queues.
    pub fn new(settings: &Settings, ports: (A, B), queues: (Q, Q)) -> Self {
        let half = |line: &Line, queue, joiner| CountedDirection {
            direction: Lane::new(line, queue),
            frames: FrameCounters::default(),
            blocked: false,
            joiner,
        };
        let joiners = (ports.1.joins().then(Joiner::new), ports.0.joins().then(Joiner::new));
        Self {
            port_a: ports.0,
            port_b: ports.1,
            down: half(&settings.down, queues.0, joiners.0),
            up: half(&settings.up, queues.1, joiners.1),
            pool: Pool::new(settings.buffers, settings.buffer_size),
            key: settings.flow_key,
            batch: Vec::with_capacity(BATCH),
        }
    }

    /// Does everything there is to do at `now`: takes what arrived, serves both directions as far
    /// as all arrivals are known, sends what is due. Returns when there is something to do again,
    /// unless a frame arrives before.
    ///
    /// # Errors
    /// When a port is gone for good.
    pub fn step(&mut self, clock: &mut impl Clock) -> io::Result<Instant> {
        // The time is read before the ports are: what they do not have then did not arrive before
        // it.
        let now = clock.now();
        let Self { port_a, port_b, down, up, pool, key, batch } = self;
        let more_down = down.receive_batch(now, port_a, pool, *key, batch)?;
        let more_up = up.receive_batch(now, port_b, pool, *key, batch)?;
        let now = clock.now();
        down.send(now, port_b, pool)?;
        up.send(now, port_a, pool)?;
        if more_down == Drained::More || more_up == Drained::More {
            return Ok(now);
        }
        Ok(down.next_event(now).min(up.next_event(now)))
    }

    /// The direction that goes this way.
    #[must_use]
    pub fn direction(&self, way: Direction) -> &Lane<Q> {
        &self.half(way).direction
    }

    /// The direction that goes this way, to be changed.
    pub const fn direction_mut(&mut self, way: Direction) -> &mut Lane<Q> {
        match way {
            Direction::Down => &mut self.down.direction,
            Direction::Up => &mut self.up.direction,
        }
    }

    const fn half(&self, way: Direction) -> &CountedDirection<Q> {
        match way {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// Returns the counters of the frames that go this way.
    #[must_use]
    pub const fn frames(&self, way: Direction) -> FrameCounters {
        self.half(way).frames
    }

    /// Counters of port A and port B.
    pub fn port_counters(&mut self) -> (PortCounters, PortCounters) {
        (self.port_a.counters(), self.port_b.counters())
    }

    /// The ports, to be changed.
    pub const fn ports_mut(&mut self) -> (&mut A, &mut B) {
        (&mut self.port_a, &mut self.port_b)
    }

    /// The ports.
    pub const fn ports(&self) -> (&A, &B) {
        (&self.port_a, &self.port_b)
    }

    /// The buffers.
    #[must_use]
    pub const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// True if every frame is accounted for: received = malformed + arrived and departed = sent +
    /// in flight in each direction, and the pool's buffers in use are those of waiting frames and
    /// frames in flight.
    #[must_use]
    pub fn conserves(&self) -> bool {
        let held: usize = [&self.down, &self.up].map(CountedDirection::held).into_iter().sum();
        [&self.down, &self.up].into_iter().all(CountedDirection::conserves) && self.pool.frames() == held
    }
}

impl<Q: Qdisc<LivePacket>> CountedDirection<Q> {
    /// Takes a batch of frames from `port` in the order of their stamps, each after everything that
    /// was due before it.
    fn receive_batch<P: Port>(
        &mut self,
        now: Instant,
        port: &mut P,
        pool: &mut Pool,
        key: FlowKey,
        batch: &mut Vec<Received>,
    ) -> io::Result<Drained> {
        let drained = port.receive(now, pool, batch)?;
        for received in &*batch {
            self.take(now, received, pool, key);
        }
        batch.clear();
        if drained == Drained::Empty {
            // Everything that arrived until `now` is known; not before, or departures would
            // overtake arrivals.
            self.direction.serve(now, pool);
        }
        Ok(drained)
    }

    #[inline]
    fn take(&mut self, now: Instant, received: &Received, pool: &mut Pool, key: FlowKey) {
        self.frames.received += 1;
        // Two ways, so that the headers of nearly all frames never leave the registers.
        match Headers::read_plain(pool.frame(received.frame), key) {
            Some(headers) => self.admit(now, received, &headers, pool),
            None => self.receive_slow(now, received, pool, key),
        }
    }

    #[cold]
    fn receive_slow(&mut self, now: Instant, received: &Received, pool: &mut Pool, key: FlowKey) {
        match Headers::read_any(pool.frame(received.frame), key) {
            Ok(headers) => self.admit(now, received, &headers, pool),
            Err(fault) => {
                let kind = MALFORMED.iter().position(|known| *known == fault).unwrap_or(0);
                self.frames.malformed[kind] += 1;
                pool.give_back(received.frame.slot);
            }
        }
    }

    #[inline(always)]
    fn admit(&mut self, now: Instant, received: &Received, headers: &Headers, pool: &mut Pool) {
        let frame = received.frame;
        let earliest = self.direction.served();
        let stamp = received.stamp.unwrap_or(now);
        let at = stamp.min(now).max(earliest);
        if let Some(joined) = received.joined.filter(|joined| frame.len > u32::from(joined.payload)) {
            self.take_segments(at, frame, headers, joined, pool);
            return;
        }
        pool.admit(frame.slot, headers.flow, self.direction.take_numbers(1));
        let packet = LivePacket::new(frame, headers);
        self.frames.opaque += u64::from(packet.is_opaque());
        self.direction.arrive(at, packet, pool);
    }

    /// The segments of a joined frame arrive one by one, at the same time.
    fn take_segments(&mut self, at: Instant, whole: Frame, headers: &Headers, joined: Joined, pool: &mut Pool) {
        let count = pool.split(whole.slot, whole.len, joined);
        pool.admit(whole.slot, headers.flow, self.direction.take_numbers(count));
        self.frames.received += u64::from(count) - 1;
        for index in 0..count {
            let packet = LivePacket::segment(whole, headers, &joined, index);
            self.direction.arrive(at, packet, pool);
        }
    }

    /// Hands due frames to `port`.
    fn send<P: Port>(&mut self, now: Instant, port: &mut P, pool: &mut Pool) -> io::Result<()> {
        loop {
            let due = match &mut self.joiner {
                None => self.direction.due(now, port.most_at_once()),
                Some(joiner) => self.direction.due_joined(now, port.most_at_once(), joiner, pool),
            };
            let count = due.len();
            if count == 0 {
                self.blocked = false;
                return Ok(());
            }
            let taken = port.send(now, pool, due)?;
            self.direction.complete_send(taken, now, pool);
            self.frames.sent += taken as u64;
            if taken < count {
                self.blocked = true;
                return Ok(());
            }
        }
    }

    fn next_event(&self, now: Instant) -> Instant {
        let next = self.direction.next_event();
        // Due frames that could not be sent must not keep the thread busy.
        if self.blocked { next.max(now + BLOCKED) } else { next }
    }

    fn held(&self) -> usize {
        self.direction.view().packets.get() as usize + self.direction.in_flight()
    }

    fn conserves(&self) -> bool {
        let counters: Counters = self.direction.counters();
        let FrameCounters { received, sent, .. } = self.frames;
        counters.conserves(self.direction.view())
            && received == self.frames.malformed_total() + counters.arrived.packets.get()
            && counters.departed.packets.get() == sent + self.direction.in_flight() as u64
    }
}

/// Buffers that hold what a direction can hold: its queue's limit, and its delay line full of small
/// packets.
#[must_use]
pub fn buffers_for(line: &Line, limit: goodqueue_aqm::Limit) -> u32 {
    /// No Ethernet frame is shorter, so a limit in bytes admits at most one frame per this many.
    const SHORT: u64 = 64;
    /// More is memory that no machine of this kind gives; frames without a buffer are counted.
    const MAX: u64 = 1 << 18;
    let waiting = limit.packets.get().min(limit.bytes.get() / SHORT);
    let flying = line.rate.nominal().bytes_in(line.delay + Duration::ms(10)).get() / SHORT;
    (waiting.saturating_add(flying) + 4 * BATCH as u64).min(MAX) as u32
}
