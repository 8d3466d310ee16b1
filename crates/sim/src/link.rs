//! Transmitters: plain wires whose exit times are arithmetic, and links with a queue discipline, a rate over time and a probe.

use crate::packet::SimPacket;
use crate::probe::{LinkProbe, Tap};
use crate::rate::RateProcess;
use goodqueue_aqm::{AnyQdisc, Departure, Limit, Qdisc, QueueView};
use goodqueue_units::{Bytes, Duration, Instant, Rate, Rng};

/// What many wires have in common.
#[derive(Clone, Debug)]
pub(crate) struct WireClass {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) overhead: Bytes,
    pub(crate) jitter: Duration,
    /// How long two packets take of those that [`packet_time`](Self::packet_time) is about.
    pub(crate) two_packets: Duration,
    /// `jitter` in nanoseconds, as far as a wire remembers it.
    most_late: u32,
    /// The small and the large size sent last and how long they took: most packets are of one of two sizes.
    last: [(u16, Duration); 2],
}

/// Shorter packets are acknowledgements rather than data.
const SMALL: u16 = 256;

impl WireClass {
    pub(crate) fn new(rate: Rate, delay: Duration, overhead: Bytes, jitter: Duration) -> Self {
        let most_late = jitter.as_nanos().min(u64::from(u32::MAX)) as u32;
        // Sizes that no packet of their kind has: nothing was sent yet.
        let last = [(u16::MAX, Duration::ZERO), (0, Duration::ZERO)];
        Self { rate, delay, overhead, jitter, two_packets: Duration::ZERO, most_late, last }
    }

    /// Do both carry packets alike, whatever they have sent last?
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let facts = |class: &Self| (class.rate, class.delay, class.overhead, class.jitter);
        facts(self) == facts(other)
    }

    /// Sending time of the large packet that passed last, else of the small one.
    #[inline]
    pub(crate) fn packet_time(&self) -> Duration {
        if self.last[1].1.is_zero() { self.last[0].1 } else { self.last[1].1 }
    }

    #[inline(always)]
    fn transmission_time(&mut self, ip_len: u16) -> Duration {
        let (len, time) = self.last[usize::from(ip_len >= SMALL)];
        if len == ip_len { time } else { self.learn(ip_len) }
    }

    // Apart, so that the division's registers cost the usual case nothing.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, ip_len: u16) -> Duration {
        let time = self.rate.transmission_time(Bytes::new(u64::from(ip_len)) + self.overhead);
        self.last[usize::from(ip_len >= SMALL)] = (ip_len, time);
        self.two_packets = self.packet_time() * 2;
        time
    }
}

/// A FIFO without limit and at constant rate. Packets are given in order of arrival, so the time each one leaves is known at
/// once and no event is needed inside it. Sixteen bytes, so that the four wires of a flow share a cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) busy_until: Instant,
    /// How much later than its transmission alone says the latest packet arrives, in nanoseconds.
    late: u32,
    pub(crate) class: u16,
    /// Makes its jitter unlike that of other wires and other seeds.
    salt: u16,
}

impl Wire {
    pub(crate) fn new(class: u16, salt: u16) -> Self {
        Self { busy_until: Instant::ZERO, late: 0, class, salt }
    }

    /// When a packet that arrives at `arrival` reaches the far end.
    #[inline(always)]
    pub(crate) fn pass(&mut self, class: &mut WireClass, arrival: Instant, ip_len: u16) -> Instant {
        // Sums without a bound: a wire has a rate above zero and packets arrive within the run, so no time comes near the end of all times.
        let before = self.busy_until.as_nanos();
        let busy_until = before.max(arrival.as_nanos()) + class.transmission_time(ip_len).as_nanos();
        self.busy_until = Instant::from_nanos(busy_until);
        let delay = class.delay.as_nanos();
        if class.most_late == 0 {
            return Instant::from_nanos(busy_until + delay);
        }
        // A packet never overtakes the one before it.
        let overtaking = u64::from(self.late).saturating_sub(busy_until - before);
        self.late = self.draw(busy_until, class.most_late).max(overtaking as u32);
        Instant::from_nanos(busy_until + u64::from(self.late) + delay)
    }

    /// Uniform from zero to `most`: a hash of this wire's own history, so that other traffic never shifts it.
    #[inline(always)]
    fn draw(&self, busy_until: u64, most: u32) -> u32 {
        let mut bits = (busy_until ^ u64::from(self.salt) << 48).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (((bits >> 32) * u64::from(most)) >> 32) as u32
    }
}

/// What keeps the queue of a link short by making others wait.
#[derive(Clone, Debug)]
pub(crate) struct Pressure {
    /// From this much on, links that lead here stay silent.
    pub(crate) most: Limit,
    /// Those links.
    pub(crate) feeders: Vec<u32>,
    /// They have been told to.
    pub(crate) on: bool,
}

impl Pressure {
    pub(crate) fn is_due(&self, waiting: QueueView) -> bool {
        waiting.packets >= self.most.packets || waiting.backlog >= self.most.bytes
    }
}

// Most links have tail drop. Where it is known it is a few instructions in the midst of others; the rest stands apart, since all disciplines
// together are large.
impl Link {
    /// A packet arrives at the queue.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, now: Instant, packet: SimPacket, tap: &mut Tap) {
        if let AnyQdisc::TailDrop(queue) = &mut self.qdisc {
            queue.enqueue(now, packet, tap);
        } else {
            self.enqueue_elsewhere(now, packet, tap);
        }
    }

    #[inline(never)]
    fn enqueue_elsewhere(&mut self, now: Instant, packet: SimPacket, tap: &mut Tap) {
        self.qdisc.enqueue(now, packet, tap);
    }

    /// The transmitter asks for the next packet.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, now: Instant, tap: &mut Tap) -> Option<Departure<SimPacket>> {
        if let AnyQdisc::TailDrop(queue) = &mut self.qdisc { queue.dequeue(now, tap) } else { self.dequeue_elsewhere(now, tap) }
    }

    #[inline(never)]
    fn dequeue_elsewhere(&mut self, now: Instant, tap: &mut Tap) -> Option<Departure<SimPacket>> {
        self.qdisc.dequeue(now, tap)
    }

    /// What waits.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> QueueView {
        match &self.qdisc {
            AnyQdisc::TailDrop(queue) => queue.view(),
            AnyQdisc::Managed(queue) => queue.view(),
            _ => self.waiting_elsewhere(),
        }
    }

    #[inline(never)]
    fn waiting_elsewhere(&self) -> QueueView {
        self.qdisc.view()
    }

    /// When the queue's own timer is due.
    #[inline(always)]
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        match &self.qdisc {
            AnyQdisc::TailDrop(queue) => queue.next_timer(),
            AnyQdisc::Managed(queue) => queue.next_timer(),
            other => other.next_timer(),
        }
    }
}

/// A link with a queue.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) qdisc: AnyQdisc<SimPacket>,
    pub(crate) rate: RateProcess,
    pub(crate) delay: Duration,
    pub(crate) overhead: Bytes,
    /// The transmitter is busy until then.
    pub(crate) busy_until: Instant,
    /// The queue has not yet been told that the transmitter found it empty.
    pub(crate) idle_unsaid: bool,
    /// A packet partly sent by earlier delivery opportunities, and its bytes still to go.
    pub(crate) transit: Option<(SimPacket, Bytes)>,
    pub(crate) loss: f64,
    /// How many links that it leads to ask it to stay silent.
    pub(crate) silenced_by: u32,
    pub(crate) pressure: Option<Box<Pressure>>,
    pub(crate) rng: Rng,
    pub(crate) probe: LinkProbe,
}
