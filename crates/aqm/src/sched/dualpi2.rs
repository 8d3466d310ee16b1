//! DualPI2: one queue for scalable (L4S) and one for classic congestion controls, with coupled
//! signals so that flows of both kinds share the link equally while L4S flows see almost no delay.
//!
//! *Signal*: the longer of the ages of both heads, sampled every `t_update`; and the sojourn time
//! at the L4S head. Acts on departure.
//!
//! *Law*: packets with ECT(1) or CE go to the L4S queue, others to the classic queue. A base
//! probability `p` follows `p += alpha * (delay - target) + beta * (delay - last delay)`, within 0
//! and 1. Classic packets are signaled with probability `p * p`. L4S packets are marked with the
//! larger of `k * p` and a ramp: 0 up to a sojourn time of `min_th`, 1 from `min_th + range` on,
//! and 0 while no more than `th_len` packets wait behind. Probabilities are summed from packet to
//! packet, and each time the sum exceeds one, a packet is signaled. Overload: from `k * p >= 1` on,
//! L4S packets are dropped with probability `p * p` and all others marked; from
//! `p * p >= 1 / (k * k)` on, classic packets are dropped even if they are ECN-capable. The L4S
//! queue is served first, but a weighted round robin leaves `classic_weight` to the classic queue
//! (as a share of bytes, while both have packets). Alternatively the queues are served in the order
//! of arrival, with L4S packets treated as `tshift` older than they are.
//!
//! *Parameters*: see `KINDS`. `t_update` is the smaller of `target` and `rtt_max / 3`, `alpha` is
//! `0.1 t_update / rtt_max^2`, `beta` is `0.3 / rtt_max` (RFC 9332 appendix A.1). Without marks
//! there are no L4S packets, and the kind is PI2 on one queue.
//!
//! *Deviations*: the limit is the buffer of the link and checks room for the arriving packet
//! instead of an MTU. The coupled probability is capped at 1 where packets are marked by it, as the
//! excess would accumulate in the sum and turn marks into drops. Packets are exempt from the
//! coupled and the classic signal while less than two MTUs wait behind them (Linux). `alpha` and
//! `beta` are the exact values of the formulas, which the RFC rounds. With `arithmetic = linux` the
//! verdicts are those of Linux packet by packet: signals are drawn, not summed, and L4S packets are
//! marked by the step after that.
//!
//! *Limits*: classic senders that set ECT(1), or unresponsive ones, take delay from L4S flows and
//! throughput from classic ones until overload turns to drops. The age of a head tells little about
//! a burst behind it. Each flow must keep one codepoint, or its packets are reordered.
//!
//! *Source*: RFC 9332 appendix A.1 and A.2; Linux (`dualpi2`) for the weighted round robin and for
//! sparing short queues.

use crate::aqm::{QueueView, Reason, Verdict};
use crate::arithmetic::Arithmetic;
use crate::books::{Books, EcnPolicy, Entry, Fate, Waiting};
use crate::counters::Counters;
use crate::outline::aside;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{Limit, Line};
use crate::sched::{Scheduler, Setup};
use crate::spec::{KindSpec, ParamError, ParamValues};
use crate::tick::Tick;
use alloc::boxed::Box;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Packets, Rate};

mod linux;
mod params;

use linux::LinuxLaw;
use params::KIND;
pub use params::{DualPi2Params, Order};

/// The controller: one probability for both queues.
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    p: f64,
    /// The delay at the last update, in seconds.
    delay: f64,
}

impl Base {
    fn update(&mut self, params: &DualPi2Params, delay: f64) {
        let target = params.target.as_secs_f64();
        let step = params.alpha * (delay - target) + params.beta * (delay - self.delay);
        self.p = (self.p + step).clamp(0.0, 1.0);
        self.delay = delay;
    }

    fn classic(self) -> f64 {
        self.p * self.p
    }

    fn coupled(self, k: f64) -> f64 {
        self.p * k
    }

    /// True if another update would change nothing while the queue is empty.
    fn is_at_rest(self) -> bool {
        self.p == 0.0 && self.delay == 0.0
    }
}

/// Adds up probabilities, and fires each time the sum exceeds one.
#[derive(Clone, Copy, Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    #[inline]
    fn fires(&mut self, probability: f64) -> bool {
        self.0 += probability;
        let fires = self.0 > 1.0;
        if fires {
            self.0 -= 1.0;
        }
        fires
    }
}

/// The two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    L4s,
    Classic,
}

/// The rule that decides about packets.
#[derive(Clone, Debug)]
enum Law {
    Source(SourceLaw),
    Linux(LinuxLaw),
}

impl Law {
    fn new(params: DualPi2Params) -> Self {
        match params.arithmetic {
            Arithmetic::Exact => Self::Source(SourceLaw::new(params)),
            Arithmetic::Linux => Self::Linux(LinuxLaw::new(&params)),
        }
    }
}

/// The source's rule.
#[derive(Clone, Debug)]
struct SourceLaw {
    params: DualPi2Params,
    base: Base,
    /// Both probabilities, as of the last update.
    p_classic: f64,
    p_coupled: f64,
    sum_l4s: Recurrence,
    sum_classic: Recurrence,
}

impl SourceLaw {
    fn new(params: DualPi2Params) -> Self {
        let sum = Recurrence::default();
        Self { params, base: Base::default(), p_classic: 0.0, p_coupled: 0.0, sum_l4s: sum, sum_classic: sum }
    }

    fn update(&mut self, delay: Duration) {
        self.base.update(&self.params, delay.as_secs_f64());
        self.p_classic = self.base.classic();
        self.p_coupled = self.base.coupled(self.params.k);
    }

    /// The position on the L4S ramp, 0 to 1, of a packet that waited for `sojourn`.
    #[inline]
    fn ramp(&self, sojourn: Duration) -> f64 {
        let above = sojourn.saturating_sub(self.params.min_th);
        if above.is_zero() {
            0.0
        } else if above >= self.params.range {
            1.0
        } else {
            above.as_nanos() as f64 / self.params.range.as_nanos() as f64
        }
    }

    /// The verdict on the L4S head, which leaves `behind` packets in its queue.
    #[inline]
    fn judge_l4s(&mut self, sojourn: Duration, behind: Packets, is_spared: bool) -> Verdict {
        let (classic, coupled) = if is_spared { (0.0, 0.0) } else { (self.p_classic, self.p_coupled) };
        if coupled >= 1.0 {
            return if self.sum_l4s.fires(classic) {
                Verdict::Drop(Reason::Head)
            } else if self.sum_l4s.fires(1.0) {
                Verdict::Mark(Reason::Head)
            } else {
                Verdict::Pass
            };
        }
        let native = if behind > self.params.th_len { self.ramp(sojourn) } else { 0.0 };
        let reason = if native > coupled { Reason::Threshold } else { Reason::Head };
        if self.sum_l4s.fires(native.max(coupled)) { Verdict::Mark(reason) } else { Verdict::Pass }
    }

    /// The verdict on the classic head.
    #[inline]
    fn judge_classic(&mut self, is_spared: bool) -> Verdict {
        if is_spared || !self.sum_classic.fires(self.p_classic) {
            Verdict::Pass
        } else if self.p_classic >= self.params.p_classic_max() {
            Verdict::Drop(Reason::Head)
        } else {
            Verdict::Signal(Reason::Head)
        }
    }
}

/// The coupled dual queue, holding packets of type `P`.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    l4s: Line<P>,
    classic: Line<P>,
    params: DualPi2Params,
    law: Law,
    /// Weighted round robin: the classic queue's turn while positive, in thousandths of bytes.
    credit: i64,
    /// Times of the updates, which stop while the queue is empty and the probability zero.
    tick: Tick,
    limit: Limit,
    books: Books,
}

impl<P: Packet> DualPi2<P> {
    /// An empty queue that marks, with random stream 0.
    #[must_use]
    pub fn new(params: DualPi2Params, limit: Limit) -> Self {
        let mut books = Books::new();
        books.ecn = EcnPolicy::Mark;
        Self {
            l4s: Line::new(),
            classic: Line::new(),
            law: Law::new(params),
            credit: params.first_credit(),
            tick: match params.arithmetic {
                Arithmetic::Exact => Tick::new(params.t_update),
                Arithmetic::Linux => Tick::of_clock(params.t_update),
            },
            params,
            limit,
            books,
        }
    }

    /// Applies the settings that a host gives every queue: ECN policy, random stream and framing.
    pub(crate) fn set_up(&mut self, setup: Setup<'_>) {
        self.books.set_up(setup.ecn, setup.rng, setup.link.overhead);
    }

    fn total(&self) -> QueueView {
        let (l4s, classic) = (self.l4s.view(), self.classic.view());
        QueueView { backlog: l4s.backlog + classic.backlog, packets: l4s.packets + classic.packets }
    }

    /// Chooses the side whose turn it is; `None` when nothing waits.
    #[inline]
    fn choose(&mut self) -> Option<Side> {
        let (l4s, classic) = (self.l4s.head_since(), self.classic.head_since());
        match (l4s, classic) {
            (None, None) => {
                self.credit = self.params.first_credit();
                None
            }
            (Some(_), None) => Some(Side::L4s),
            (None, Some(_)) => Some(Side::Classic),
            (Some(l4s), Some(classic)) => {
                let l4s_first = match self.params.scheduler {
                    Order::WeightedRoundRobin { .. } => self.credit <= 0,
                    Order::TimeShifted(shift) => l4s <= classic + shift,
                };
                Some(if l4s_first { Side::L4s } else { Side::Classic })
            }
        }
    }

    /// Pays for a departure of `len` from `side`, whose rival is waiting if `is_contested`.
    #[inline]
    fn charge(&mut self, side: Side, len: Bytes, is_contested: bool) {
        if let (Order::WeightedRoundRobin { classic }, true) = (self.params.scheduler, is_contested) {
            let len = len.get() as i64;
            self.credit += match side {
                Side::L4s => classic * len,
                Side::Classic => -(params::WHOLE - classic) * len,
            };
        }
    }
}

impl<P: Packet> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.books.arrive(&packet);
        if !self.limit.admits(self.total(), packet.len()) {
            self.books.discard(Entry { packet, enqueued_at: now }, Reason::Overflow, sink);
            return;
        }
        match self.books.shown(&packet, now).ecn {
            Ecn::Ect1 | Ecn::Ce => self.l4s.push(packet, now),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(packet, now),
        }
        self.tick.start(now, &mut self.books.rng);
    }

    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        while let Some(side) = self.choose() {
            let Self { l4s, classic, params, law, books, .. } = &mut *self;
            let (mut own, rival) = match side {
                Side::L4s => (l4s, classic.view()),
                Side::Classic => (classic, l4s.view()),
            };
            let (head, behind) = own.head()?;
            let shown = books.shown(&head.packet, head.enqueued_at);
            let is_spared = behind.backlog + rival.backlog < params.spared;
            let verdict = match (law, side) {
                (Law::Source(law), Side::L4s) => law.judge_l4s(shown.sojourn(now), behind.packets, is_spared),
                (Law::Source(law), Side::Classic) => law.judge_classic(is_spared),
                (Law::Linux(law), Side::L4s) => law.judge_l4s(&mut books.rng, shown.sojourn(now), is_spared),
                (Law::Linux(law), Side::Classic) => law.judge_classic(&mut books.rng, is_spared),
            };
            let fate = books.carry_out(verdict, shown.ecn, &mut head.packet, sink);
            let entry = own.pop()?;
            if let Fate::Drop(reason) = fate {
                books.discard(entry, reason, sink);
                continue;
            }
            books.counters.departed.add(shown.len);
            self.charge(side, shown.len, !rival.packets.is_zero());
            return Some(Departure { packet: entry.packet, enqueued_at: entry.enqueued_at });
        }
        None
    }

    fn next_timer(&self) -> Option<Instant> {
        self.tick.due()
    }

    fn handle_timer(&mut self, now: Instant) {
        if self.tick.take(now) == 0 {
            return;
        }
        let heads = self.l4s.head_since().into_iter().chain(self.classic.head_since());
        let delay = heads.min().map_or(Duration::ZERO, |oldest| now.since(oldest));
        match &mut self.law {
            Law::Linux(law) => law.update(delay),
            Law::Source(law) => {
                law.update(delay);
                if law.base.is_at_rest() && self.total().packets.is_zero() {
                    self.tick.stop();
                }
            }
        }
    }

    fn set_link_rate(&mut self, _: Instant, rate: Option<Rate>) {
        self.books.set_link_rate(rate);
    }

    fn reserve(&mut self, packets: usize) {
        self.l4s.reserve(packets);
        self.classic.reserve(packets);
    }

    fn view(&self) -> QueueView {
        self.total()
    }

    fn counters(&self) -> Counters {
        self.books.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let (p, delay) = match &self.law {
            Law::Source(law) => (law.base.p, law.base.delay),
            Law::Linux(law) => law.figures(),
        };
        visit("base_probability", p);
        visit("classic_probability", p * p);
        visit("coupled_probability", (p * self.params.k).min(1.0));
        visit("queue_delay_s", delay);
        visit("l4s_packets", self.l4s.view().packets.get() as f64);
        visit("classic_packets", self.classic.view().packets.get() as f64);
    }
}

/// The kind `dualpi2`.
#[derive(Clone, Copy, Debug)]
pub struct DualPi2Kind;

impl Scheduler for DualPi2Kind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<DualPi2<P>>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let ecn = if params::ECN.read(given) { setup.ecn } else { EcnPolicy::Drop };
        let params = DualPi2Params::build(given, setup.link)?;
        if params.arithmetic == Arithmetic::Linux {
            linux::check(given, &params)?;
        }
        let mut queue = aside(|| Box::write(Box::new_uninit(), DualPi2::new(params, setup.link.limit)));
        queue.set_up(Setup { ecn, ..setup });
        Ok(keep(queue))
    }
}

#[cfg(test)]
mod tests;
