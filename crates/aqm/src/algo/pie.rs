//! PIE: a proportional-integral controller of queueing delay that drops at random on arrival.
//!
//! *Signal*: the queueing delay, sampled every `t_update`: the sojourn time of the latest
//! departure, or the backlog over the measured departure rate; acts on arrival.
//!
//! *Law*: `p += scale(p) * (alpha * (delay - target) + beta * (delay - last delay))`, where `scale`
//! shrinks the step while `p` is small; steps up are capped at 0.02 from `p >= 0.1`; `p *= 0.98`
//! while the delay is negligible. A packet is signaled with probability `p`, but never before the
//! probabilities of the packets since the last signal add up to 0.85, and always once they add up
//! to 8.5 (de-randomization). A burst of up to `max_burst` passes without signals after the
//! controller wakes or rests.
//!
//! *Parameters*: see `KINDS`. The defaults are those of Linux, which are RFC 8033's without its
//! optional rest (`active_inactive`, §5.3). With
//! `arithmetic = linux` only the parameters that Linux has are accepted.
//!
//! *Deviations*: the burst test comes before the sum of the de-randomization, so the sum does not
//! grow while bursts are allowed (as in Linux). The tests for rest and for the burst allowance run
//! with the updates, as their inputs do not change in between. The controller rests only while less
//! than a third of the limit waits, as it would wake at once otherwise. With `active_inactive` off,
//! `p` decays only at zero delay (RFC 8033 appendix A); with it on, below half the target (appendix
//! B). A marked packet is queued. With time stamps and no departure since the last update, the age
//! of the head is the delay, so that a stalled link is noticed.
//!
//! With `arithmetic = linux` the kind reproduces the PIE of Linux packet by packet (the law is in
//! [`linux`]): 56-bit probabilities, time in steps of 64 ns, no rest, 2 percentage points per step
//! more above 250 ms of delay, and a burst allowance that departures use up.
//!
//! *Limits*: never signals while two packets of `mean_pktsize` or less wait. Updates are aligned to
//! a random phase, drawn at the first arrival. Within a fair queue the controller wakes at a third
//! of the limit of the whole queue.
//!
//! *Source*: RFC 8033 §4, §5, appendices A and B.

pub mod linux;
pub(crate) mod params;

pub use params::{Estimator, PieParams};

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::queue::Limit;
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues};
use crate::steering::{Judgement, Pace, Steerable};
use alloc::boxed::Box;
use goodqueue_base::units::{Bytes, Duration, Instant, Packets};
use linux::{LinuxPie, LinuxPieParams};

/// A measurement of the departure rate.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    running: bool,
    since: Instant,
    departed: Bytes,
    /// Mean time in seconds in which `dq_threshold` bytes depart; zero before the first
    /// measurement.
    mean_time: f64,
}

impl Meter {
    /// Weight of a new measurement of `threshold` bytes (RFC 8033 §5.2).
    fn weight(threshold: Bytes) -> f64 {
        let weight = threshold.get() as f64 / 65536.0;
        if weight < 1.0 { weight } else { 1.0 }
    }

    fn departure(&mut self, now: Instant, len: Bytes, rest: Bytes, threshold: Bytes) {
        if self.running {
            self.departed += len;
            if self.departed >= threshold {
                let time = now.since(self.since).as_secs_f64();
                let weight = Self::weight(threshold);
                self.mean_time = if self.mean_time == 0.0 { time } else { time * weight + self.mean_time * (1.0 - weight) };
                self.running = false;
            }
        }
        if rest >= threshold && !self.running {
            *self = Self { running: true, since: now, departed: Bytes::ZERO, ..*self };
        }
    }
}

/// Whether updates may be skipped. One byte, since every flow of a fair queue has its own.
#[derive(Clone, Copy, Debug)]
enum Rest {
    /// Each update may change something.
    No,
    /// Updates change nothing while the queue is empty.
    WhenEmpty,
    /// Updates are suspended, as they would change nothing before the next arrival.
    Dozing,
}

impl Rest {
    /// The rest that is possible while probability, delay and burst allowance are settled and
    /// packets wait.
    const fn once_settled(params: &PieParams) -> Self {
        if params.dozes && !params.active_inactive { Self::WhenEmpty } else { Self::No }
    }
}

/// State of PIE, one per queue. The fields that each packet needs come first, then those of an
/// update; with many flows in a fair queue each group is one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Pie {
    /// Decides instead when the arithmetic is that of Linux.
    linux: Option<Box<LinuxPie>>,
    /// Time of the next update while active; `Instant::MAX` before the first arrival.
    tick: Instant,
    /// Sojourn time of the latest departure since the last update; `MAX` without one.
    last_sojourn: Duration,
    /// Whether nothing can be signaled until the next update: the delay and `p` are small, or a
    /// burst is allowed.
    lenient: bool,
    active: bool,
    rest: Rest,
    /// Whether the delay comes from time stamps instead of the departure rate.
    by_timestamp: bool,
    p: f64,
    qdelay: Duration,
    burst_allowance: Duration,
    params: PieParams,
    wake: Limit,
    accu: f64,
    /// Backlog up to which nothing is signaled.
    spared: Bytes,
    per_mean_size: f64,
    meter: Meter,
}

impl Pie {
    /// Returns this PIE with updates also while the queue is empty and at rest, for a caller whose
    /// virtual queue still changes then.
    pub(crate) fn without_dozing(self) -> Self {
        Self { params: PieParams { dozes: false, ..self.params }, rest: Rest::No, ..self }
    }

    #[inline(always)]
    const fn is_dozing(&self) -> bool {
        matches!(self.rest, Rest::Dozing)
    }

    /// Creates a PIE with these settings, before its first packet.
    #[must_use]
    pub fn new(params: PieParams) -> Self {
        let third = |limit: u64| limit / 3 + u64::from(!limit.is_multiple_of(3));
        Self {
            params,
            wake: Limit {
                packets: Packets::new(third(params.limit.packets.get())),
                bytes: Bytes::new(third(params.limit.bytes.get())),
            },
            spared: params.mean_pktsize + params.mean_pktsize,
            per_mean_size: 1.0 / params.mean_pktsize.get().max(1) as f64,
            p: 0.0,
            accu: 0.0,
            lenient: true,
            active: !params.active_inactive,
            rest: if params.target.div(2).is_zero() { Rest::No } else { Rest::once_settled(&params) },
            by_timestamp: params.estimator == Estimator::Timestamp,
            qdelay: Duration::ZERO,
            burst_allowance: params.max_burst,
            last_sojourn: Duration::MAX,
            meter: Meter::default(),
            tick: Instant::MAX,
            linux: None,
        }
    }

    /// Creates the PIE of Linux with these settings.
    #[must_use]
    pub fn linux(pie: LinuxPie) -> Self {
        Self { linux: Some(Box::new(pie)), ..Self::new(PieParams::default()) }
    }

    /// Probability of a signal.
    #[must_use]
    pub fn probability(&self) -> f64 {
        self.linux.as_ref().map_or(self.p, |linux| linux.probability())
    }

    #[inline]
    fn is_wakeful(&self, backlog: Bytes, packets: Packets) -> bool {
        backlog >= self.wake.bytes || packets >= self.wake.packets
    }

    fn wake_up(&mut self, now: Instant) {
        self.active = true;
        self.p = 0.0;
        self.accu = 0.0;
        self.qdelay = Duration::ZERO;
        self.burst_allowance = self.params.max_burst;
        self.meter = Meter::default();
        self.last_sojourn = Duration::MAX;
        self.advance_tick(now);
        self.note_leniency();
    }

    fn fall_asleep(&mut self) {
        self.active = false;
        self.meter.running = false;
    }

    /// Moves `tick` to the first point of its grid after `now`.
    fn advance_tick(&mut self, now: Instant) {
        if self.tick <= now {
            let period = self.params.t_update.as_nanos().max(1);
            let late = now.since(self.tick).as_nanos();
            // Updates are rarely late enough to need the division.
            let periods = if late < period { 1 } else { late / period + 1 };
            self.tick += Duration::ns(period) * periods;
        }
    }

    fn note_leniency(&mut self) {
        let calm = self.is_calm(self.qdelay) && self.p < 0.2;
        self.lenient = calm || !self.burst_allowance.is_zero();
    }

    /// Whether `delay` is below half the target.
    #[inline]
    fn is_calm(&self, delay: Duration) -> bool {
        delay < self.params.target.div(2)
    }

    /// Whether the random draw, or the spacing of signals, selects this packet.
    #[inline(always)]
    fn picks(&mut self, env: &mut Env<'_>, len: Bytes) -> bool {
        let p = if self.params.bytes { self.p * (len.get() as f64 * self.per_mean_size) } else { self.p };
        if self.params.derandomize {
            if self.p == 0.0 {
                self.accu = 0.0;
            }
            self.accu += p;
            if self.accu < 0.85 {
                return false;
            }
            if self.accu >= 8.5 {
                return true;
            }
        }
        env.rng.fires(p)
    }

    /// The queueing delay now.
    fn measure(&mut self, now: Instant, head: Option<PacketView>, queue: QueueView) -> Duration {
        let Some(head) = head else { return Duration::ZERO };
        if !self.by_timestamp {
            let threshold = self.params.dq_threshold.get() as f64;
            Duration::from_secs_f64(queue.backlog.get() as f64 * self.meter.mean_time / threshold)
        } else if self.last_sojourn == Duration::MAX {
            head.sojourn(now)
        } else {
            self.last_sojourn
        }
    }

    /// Change of `p` when the delay went from `old` to `new`.
    fn step(&self, old: Duration, new: Duration) -> f64 {
        let (old, new) = (old.as_secs_f64(), new.as_secs_f64());
        let raw = self.params.alpha * (new - self.params.target.as_secs_f64()) + self.params.beta * (new - old);
        let step = raw * auto_tune(self.p);
        if self.params.cap_drop && self.p >= 0.1 && step > 0.02 { 0.02 } else { step }
    }
}

/// Scale of a step while `p` is small (RFC 8033 §5.1, extended downward).
pub(super) fn auto_tune(p: f64) -> f64 {
    match p {
        p if p < 1e-6 => 1.0 / 2048.0,
        p if p < 1e-5 => 1.0 / 512.0,
        p if p < 1e-4 => 1.0 / 128.0,
        p if p < 1e-3 => 1.0 / 32.0,
        p if p < 1e-2 => 1.0 / 8.0,
        p if p < 0.1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

impl Steerable for Pie {
    fn setpoint(&self) -> Duration {
        self.params.target
    }

    /// The probability stays, so that the output does not jump.
    fn move_setpoint(&mut self, setpoint: Duration) {
        self.params.target = setpoint;
        self.note_leniency();
    }

    /// Signals are random and frequent: only the outcome of several updates and a round trip is
    /// meaningful.
    fn pace(&self) -> Pace {
        let span = (self.params.t_update * 8).max(Duration::ms(100));
        Pace { look_every: span, raise_every: span, signal_remembered: span }
    }

    #[inline(always)]
    fn judge_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Judgement {
        if self.tick == Instant::MAX {
            self.tick = env.now + self.params.t_update.mul_f64(env.rng.uniform());
        }
        if self.is_dozing() {
            self.rest = Rest::once_settled(&self.params);
            if self.tick <= env.now {
                // The updates that were skipped would have forgotten it.
                self.last_sojourn = Duration::MAX;
                self.advance_tick(env.now);
            }
        }
        if !self.active {
            if self.is_wakeful(queue.backlog + packet.len, queue.packets + Packets::new(1)) {
                self.wake_up(env.now);
            }
            return Judgement::Settled(Verdict::Pass);
        }
        if self.lenient || queue.backlog <= self.spared || !self.picks(env, packet.len) {
            return Judgement::Settled(Verdict::Pass);
        }
        Judgement::SignalDue
    }

    #[inline(always)]
    fn judge_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Judgement {
        if self.by_timestamp {
            self.last_sojourn = head.sojourn(env.now);
        } else if self.active {
            self.meter.departure(env.now, head.len, queue.backlog, self.params.dq_threshold);
        }
        Judgement::Settled(Verdict::Pass)
    }

    #[inline]
    fn signal(&mut self, _env: &mut Env<'_>, _packet: PacketView) -> Verdict {
        self.accu = 0.0;
        if self.p < self.params.mark_ecnth { Verdict::Signal(Reason::Early) } else { Verdict::Drop(Reason::Early) }
    }

    #[inline]
    fn see_delay(&mut self, _now: Instant, delay: Duration) {
        self.last_sojourn = delay;
    }
}

impl Aqm for Pie {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.on_arrival(env, packet, queue);
        }
        match self.judge_arrival(env, packet, queue) {
            Judgement::Settled(verdict) => verdict,
            Judgement::SignalDue => self.signal(env, packet),
        }
    }

    fn on_overflow(&mut self, _: &mut Env<'_>, _: PacketView, _: QueueView) {
        self.accu = 0.0;
        if let Some(linux) = &mut self.linux {
            linux.on_overflow();
        }
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            linux.on_departure(env.now, head, queue);
            return Verdict::Pass;
        }
        match self.judge_departure(env, head, queue) {
            Judgement::Settled(verdict) => verdict,
            Judgement::SignalDue => self.signal(env, head),
        }
    }

    #[inline]
    fn on_idle(&mut self, _now: Instant) {
        if let Some(linux) = &mut self.linux {
            linux.on_idle();
        }
    }

    #[inline]
    fn on_emptied(&mut self, _now: Instant) {
        if matches!(self.rest, Rest::WhenEmpty) {
            self.rest = Rest::Dozing;
        }
    }

    #[inline]
    fn next_update(&self) -> Option<Instant> {
        if let Some(linux) = &self.linux {
            return linux.next_update();
        }
        (self.active && !self.is_dozing() && self.tick != Instant::MAX).then_some(self.tick)
    }

    fn on_update(&mut self, env: &mut Env<'_>, head: Option<PacketView>, queue: QueueView) {
        if let Some(linux) = &mut self.linux {
            linux.on_update(env.now, queue);
            return;
        }
        if !self.active || self.is_dozing() || env.now < self.tick {
            return;
        }
        let old = self.qdelay;
        let new = self.measure(env.now, head, queue);
        // Below the target and falling there is no step up, and from zero none down. In a fair
        // queue this is the most frequent update.
        let stays_zero = self.p == 0.0 && new <= self.params.target && new <= old;
        let mut p = if stays_zero { 0.0 } else { self.p + self.step(old, new) };
        let calm = self.is_calm(old) && self.is_calm(new);
        let at_rest = if self.params.active_inactive { calm } else { old.is_zero() && new.is_zero() };
        if at_rest {
            p *= 0.98;
        }
        self.p = p.clamp(0.0, 1.0);
        self.qdelay = new;
        self.last_sojourn = Duration::MAX;
        self.burst_allowance = self.burst_allowance.saturating_sub(self.params.t_update);
        self.advance_tick(env.now);
        self.rest = Rest::No;
        if self.p == 0.0 && calm {
            self.burst_allowance = self.params.max_burst;
            if self.params.active_inactive && !self.is_wakeful(queue.backlog, queue.packets) {
                self.fall_asleep();
            }
            if self.params.dozes && self.active && new.is_zero() {
                self.rest = if head.is_none() { Rest::Dozing } else { Rest::once_settled(&self.params) };
            }
        }
        self.note_leniency();
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let linux = self.linux.as_deref();
        visit("probability", self.probability());
        visit("queue_delay_s", linux.map_or(self.qdelay, LinuxPie::delay).as_secs_f64());
        visit("active", f64::from(u8::from(self.active)));
    }
}

impl Algorithm for Pie {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "pie",
            aliases: &["PieQueueDisc"],
            title: "PIE",
            summary: "Controls queueing delay by a drop probability that a proportional-integral law adapts",
            params: &[
                params::TARGET.param,
                params::T_UPDATE.param,
                params::MAX_BURST.param,
                params::ALPHA.param,
                params::BETA.param,
                params::MARK_ECNTH.param,
                params::MEAN_PKTSIZE.param,
                params::DQ_THRESHOLD.param,
                params::ESTIMATOR.param,
                params::DERANDOMIZE.param,
                params::CAP_DROP.param,
                params::ACTIVE_INACTIVE.param,
                params::BYTES.param,
                ARITHMETIC.param,
            ],
            source: "RFC 8033",
        },
        Family::Pi,
        "queueing delay, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        if ARITHMETIC.read(given) == Arithmetic::Linux {
            return LinuxPieParams::build(given, link, &[]).map(|params| Self::linux(LinuxPie::new(params)));
        }
        Ok(Self::new(PieParams { dozes: true, ..PieParams::build(given, link)? }))
    }
}

#[cfg(test)]
mod tests;
