//! Transmitters: wires whose exit times are arithmetic, and links with a queue discipline, a rate
//! over time and a probe.

mod step;

use crate::fifo::ComputedFifo;
use crate::ids::{LinkId, WireClassId};
use crate::packet::SimPacket;
use crate::probe::{EventRecorder, LinkProbe};
use goodqueue_aqm::{AnyQdisc, Counters, Departure, Limit, Qdisc, QueueStatus, QueueView};
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Packets, Rate, Rng};
pub(crate) use step::LinkStep;

/// The properties that many wires have in common.
#[derive(Clone, Debug)]
pub(crate) struct WireClass {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) framing: Framing,
    pub(crate) jitter: Duration,
    /// Transmission time of two packets of the size that [`packet_time`](Self::packet_time) uses.
    pub(crate) two_packets: Duration,
    /// `jitter` in nanoseconds, limited to what a wire remembers.
    most_late: u32,
    /// The last small and the last large packet size and their transmission times: most packets
    /// have one of two sizes.
    last: [(u16, Duration); 2],
}

/// Packets shorter than this are acknowledgements rather than data.
pub(crate) const SMALL: u16 = 256;

impl WireClass {
    pub(crate) fn new(rate: Rate, delay: Duration, framing: Framing, jitter: Duration) -> Self {
        let most_late = jitter.as_nanos().min(u64::from(u32::MAX)) as u32;
        // Sizes that no packet of their kind has: nothing was sent yet.
        let last = [(u16::MAX, Duration::ZERO), (0, Duration::ZERO)];
        Self { rate, delay, framing, jitter, two_packets: Duration::ZERO, most_late, last }
    }

    /// Whether both carry packets alike, whatever they have sent so far.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let facts = |class: &Self| (class.rate, class.delay, class.framing, class.jitter);
        facts(self) == facts(other)
    }

    /// Transmission time of the last large packet, else of the last small one.
    #[inline]
    pub(crate) fn packet_time(&self) -> Duration {
        if self.last[1].1.is_zero() { self.last[0].1 } else { self.last[1].1 }
    }

    #[inline(always)]
    fn transmission_time(&mut self, ip_len: u16) -> Duration {
        let (len, time) = self.last[usize::from(ip_len >= SMALL)];
        if len == ip_len {
            return time;
        }
        let time = self.rate.transmission_time(self.framing.wire(Bytes::new(u64::from(ip_len))));
        self.last[usize::from(ip_len >= SMALL)] = (ip_len, time);
        self.two_packets = self.packet_time() * 2;
        time
    }
}

/// A FIFO without limit and at constant rate.
///
/// Packets enter it in order of arrival, so the exit time of each is known at once and no event is
/// needed inside it. It has sixteen bytes, so that the four wires of a flow share a cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) busy_until: Instant,
    /// Extra delay of the latest packet beyond transmission and propagation, in nanoseconds.
    late: u32,
    pub(crate) class: WireClassId,
    /// Makes its jitter differ from that of other wires and other seeds.
    salt: u16,
}

impl Wire {
    pub(crate) fn new(class: WireClassId, salt: u16) -> Self {
        Self { busy_until: Instant::ZERO, late: 0, class, salt }
    }

    /// The time at which a packet that arrives at `arrival` reaches the far end.
    #[inline(always)]
    pub(crate) fn exit_time(&mut self, class: &mut WireClass, arrival: Instant, ip_len: u16) -> Instant {
        // Plain sums: a wire has a rate above zero and packets arrive within the run, so that no
        // time comes near the largest one.
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

    /// Uniform from zero to `most`: a hash of this wire's own history, so that other traffic never
    /// shifts it.
    #[inline(always)]
    fn draw(&self, busy_until: u64, most: u32) -> u32 {
        let mut bits = (busy_until ^ u64::from(self.salt) << 48).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (((bits >> 32) * u64::from(most)) >> 32) as u32
    }
}

/// Flow control of a link: pauses the links that feed it while its queue is full.
#[derive(Clone, Debug)]
pub(crate) struct FlowControl {
    /// Occupancy at which the feeders are paused.
    pub(crate) most: Limit,
    /// Links that lead to this one.
    pub(crate) feeders: Vec<LinkId>,
    /// Whether they are paused.
    pub(crate) pausing: bool,
}

impl FlowControl {
    pub(crate) fn is_due(&self, waiting: QueueView) -> bool {
        waiting.packets >= self.most.packets || waiting.backlog >= self.most.bytes
    }
}

/// A link with a queue.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) qdisc: AnyQdisc<SimPacket>,
    /// The queue's status after the last call. Tail drop, which has no times, is not asked for it.
    pub(crate) status: QueueStatus,
    pub(crate) rate: RateCursor,
    pub(crate) delay: Duration,
    pub(crate) framing: Framing,
    /// End of the transmission in progress.
    pub(crate) busy_until: Instant,
    /// Whether the queue has yet to be notified that the transmitter found it empty.
    pub(crate) idle_notice_pending: bool,
    /// A packet partly sent by earlier delivery opportunities, and its remaining bytes.
    pub(crate) transit: Option<(SimPacket, Bytes)>,
    pub(crate) loss: f64,
    /// Number of links that pause this one.
    pub(crate) paused_by: u32,
    pub(crate) flow_control: Option<Box<FlowControl>>,
    pub(crate) rng: Rng,
    pub(crate) probe: LinkProbe,
    /// Stands in for a queue whose departures are arithmetic.
    pub(crate) fifo: Option<Box<ComputedFifo>>,
}

// Tail drop is the common case and inlines to a few instructions. All other disciplines go through
// an out-of-line call, so that their code does not bloat the hot path.
impl Link {
    /// The queue, and what a step of the link needs besides it.
    #[inline(always)]
    pub(crate) fn step<'l>(&'l mut self, recorder: &'l mut EventRecorder) -> (&'l mut AnyQdisc<SimPacket>, LinkStep<'l>) {
        let Self { qdisc, rate, framing, busy_until, idle_notice_pending, loss, rng, probe, .. } = self;
        (qdisc, LinkStep { rate, framing: *framing, busy_until, idle_notice_pending, loss: *loss, rng, probe, recorder })
    }

    /// A packet arrives at the queue.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, now: Instant, packet: &SimPacket, recorder: &mut EventRecorder) {
        if let (AnyQdisc::TailDrop(queue), mut step) = self.step(recorder) {
            step.arrive(now, packet, queue, Qdisc::view);
        } else {
            self.enqueue_cold(now, packet, recorder);
        }
    }

    #[inline(never)]
    fn enqueue_cold(&mut self, now: Instant, packet: &SimPacket, recorder: &mut EventRecorder) {
        let waiting = self.status.waiting;
        let (queue, mut step) = self.step(recorder);
        step.arrive(now, packet, queue, |_| waiting);
        self.refresh_status();
    }

    /// The transmitter asks for the next packet.
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Instant, recorder: &mut EventRecorder) -> Option<Departure<SimPacket>> {
        if let (AnyQdisc::TailDrop(queue), mut step) = self.step(recorder) {
            step.serve(now, queue, Qdisc::view)
        } else {
            self.take_cold(now, recorder)
        }
    }

    #[inline(never)]
    fn take_cold(&mut self, now: Instant, recorder: &mut EventRecorder) -> Option<Departure<SimPacket>> {
        let waiting = self.status.waiting;
        let (queue, mut step) = self.step(recorder);
        let departure = step.serve(now, queue, |_| waiting);
        self.refresh_status();
        departure
    }

    /// Asks the queue what there is to know after a call.
    // Out of line with all that is asked: an answer that is returned through memory costs a stall.
    #[inline(never)]
    fn refresh_status(&mut self) {
        self.status = self.qdisc.status();
    }

    /// Runs what is due in the queue itself.
    pub(crate) fn handle_timer(&mut self, now: Instant) {
        self.qdisc.handle_timer(now);
        self.refresh_status();
    }

    /// Puts another queue in the place of the queue.
    pub(crate) fn succeed(&mut self, successor: AnyQdisc<SimPacket>) {
        self.qdisc.succeed(successor);
        self.refresh_status();
    }

    /// The backlog of the queue.
    pub(crate) fn view(&self) -> QueueView {
        self.fifo.as_ref().map_or_else(|| self.qdisc.view(), |fifo| fifo.view())
    }

    /// The counters of the queue.
    pub(crate) fn counters(&self) -> Counters {
        self.fifo.as_ref().map_or_else(|| self.qdisc.counters(), |fifo| fifo.counters())
    }

    /// The backlog of the queue as of its last call.
    #[inline(always)]
    pub(crate) fn waiting(&self) -> QueueView {
        if let AnyQdisc::TailDrop(queue) = &self.qdisc { queue.view() } else { self.status.waiting }
    }

    /// Whether packets wait.
    #[inline(always)]
    pub(crate) fn has_backlog(&self) -> bool {
        self.waiting().packets > Packets::ZERO
    }

    /// Tells the queue the link's rate.
    pub(crate) fn announce_rate(&mut self, now: Instant, rate: Rate) {
        self.qdisc.set_link_rate(now, Some(rate));
        self.refresh_status();
    }
}
