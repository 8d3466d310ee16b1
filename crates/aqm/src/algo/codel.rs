//! CoDel: drops from the head when the minimum sojourn time has stayed above a target for an
//! interval.
//!
//! *Signal*: the sojourn time of the departing packet, judged at the head.
//!
//! *Law*: once the sojourn time has been at least `target` for `interval`, signal; then again after
//! `interval / sqrt(count)`, `count` rising with each signal, until the sojourn time falls below
//! `target` or no more than one MTU waits. An episode that begins within 16 intervals of the last
//! scheduled signal resumes with as many signals as the last episode added.
//!
//! *Parameters*: see `KINDS`. `target` must not exceed `interval`. `ce_threshold` marks delivered
//! ECN-capable packets above that sojourn time and changes nothing else (Linux). The MTU is that of
//! the link.
//!
//! *Deviations*: with ECN a mark replaces a drop and the marked packet is delivered, so one
//! departure marks at most once (as in Linux; the RFC leaves ECN open). The gap between signals is
//! at least 1 ns, so that the schedule always advances. `reentry = acm2012` is the law of the 2012
//! article: an episode resumes at `count - 2` when one ended less than an interval ago; otherwise
//! it begins only after a second interval above target. `reentry = ns2` is that of the authors'
//! later code for ns-2: `count - 2` within eight intervals, else 1, and the drop that ends an
//! episode does not count. A fair queue that drops from a flow adds to its `count` (Linux).
//!
//! With `arithmetic = linux` the verdicts are those of Linux packet by packet: time has steps of
//! 1024 ns, an episode begins *after* the interval and not at its end, and `1 / sqrt(count)` is a
//! 16-bit number that one Newton step corrects at each change of `count`. That number starts at 1
//! and lags: the second gap of an episode is half an interval long, not 0.71 of one.
//!
//! *Limits*: needs one interval to react, so bursts of slow start pass. The target should be at
//! least the sending time of one MTU.
//!
//! *Source*: RFC 8289 §5; Nichols and Jacobson 2012.

mod linux;
mod params;
mod reentry;

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::math::sqrt;
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues};
use crate::steering::{Judgement, Pace, Steerable};
use goodqueue_base::units::{Duration, Instant, Packets, Rate};
use linux::InverseRoot;
pub use params::CoDelParams;
pub(crate) use params::{INTERVAL, TARGET};
pub use reentry::Reentry;

/// CoDel's state, one per queue. Names are those of RFC 8289 §5.2.
#[derive(Clone, Debug)]
pub struct CoDel {
    params: CoDelParams,
    /// The interval as set; the one in `params` may be longer while an outer loop holds the target
    /// high.
    interval: Duration,
    /// Time at which the delay will have been above target for an interval; [`Instant::MAX`] while
    /// it is below.
    first_above_time: Instant,
    /// Time of the next signal in the dropping state.
    drop_next: Instant,
    /// Signals in this episode.
    count: u32,
    /// The count with which this episode began.
    last_count: u32,
    /// `1 / sqrt(count)` in Linux's arithmetic.
    linux: Option<InverseRoot>,
    /// Mask of the bits of a time that count.
    resolution: u64,
    dropping: bool,
    /// The head was dropped in the dropping state; `drop_next` waits for the verdict on its
    /// successor.
    reschedule: bool,
}

impl Default for CoDel {
    fn default() -> Self {
        Self::new(CoDelParams::default())
    }
}

impl CoDel {
    /// CoDel with these settings.
    #[must_use]
    pub const fn new(mut params: CoDelParams) -> Self {
        let (linux, resolution) = match params.arithmetic {
            Arithmetic::Exact => (None, u64::MAX),
            Arithmetic::Linux => (Some(InverseRoot::ONE), linux::WHOLE_TICKS),
        };
        params.target = Duration::ns(params.target.as_nanos() & resolution);
        params.interval = Duration::ns(params.interval.as_nanos() & resolution);
        params.ce_threshold = Duration::ns(params.ce_threshold.as_nanos() & resolution);
        Self {
            params,
            interval: params.interval,
            first_above_time: Instant::MAX,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            linux,
            resolution,
            dropping: false,
            reschedule: false,
        }
    }

    /// `t` plus `interval / sqrt(count)`, rounded to the nearest nanosecond (§5.6).
    fn control_law(&self, t: Instant) -> Instant {
        if let Some(inverse_root) = self.linux {
            return t + inverse_root.of(self.params.interval);
        }
        let gap = self.params.interval.as_nanos() as f64 / sqrt(f64::from(self.count.max(1)));
        t + Duration::ns((gap + 0.5) as u64).max(Duration::ns(1))
    }

    /// Sets `count`, and what Linux derives from it.
    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.linux = self.linux.map(|inverse_root| inverse_root.at(count));
    }

    /// True if the delay has been above target for an interval: `ok_to_drop` of §5.6.
    #[inline]
    fn ok_to_signal(&mut self, now: Instant, sojourn: Duration, queue: QueueView) -> bool {
        if sojourn < self.params.target || queue.backlog <= self.params.mtu {
            self.first_above_time = Instant::MAX;
            return false;
        }
        if self.first_above_time == Instant::MAX {
            // Linux compares strictly; its times are whole ticks, so that a nanosecond does it.
            let strictly = Duration::ns(u64::from(self.linux.is_some()));
            self.first_above_time = now + self.params.interval + strictly;
            return false;
        }
        now >= self.first_above_time
    }

    /// True if the head is to be signaled: the conditions of `dequeue` (§5.5).
    #[inline(always)]
    fn judge(&mut self, now: Instant, sojourn: Duration, queue: QueueView) -> bool {
        if !self.ok_to_signal(now, sojourn, queue) {
            self.dropping = false;
            self.reschedule = false;
            return false;
        }
        if self.dropping {
            if self.reschedule {
                self.drop_next_after_drop();
            }
            now >= self.drop_next
        } else {
            self.params.reentry.may_begin(now, self.drop_next, self.first_above_time, self.params.interval)
        }
    }

    /// Schedules the signal that follows a drop in the dropping state.
    fn drop_next_after_drop(&mut self) {
        self.reschedule = false;
        if self.params.reentry.counts_late() {
            self.count = self.count.saturating_add(1);
        }
        self.drop_next = self.control_law(self.drop_next);
    }

    /// A signal in the dropping state.
    fn continue_episode(&mut self, head: PacketView) {
        let is_mark = head.ecn.is_capable();
        let late = !is_mark && self.params.reentry.counts_late();
        self.set_count(self.count.saturating_add(u32::from(!late)));
        if is_mark {
            self.drop_next = self.control_law(self.drop_next);
        } else {
            // §5.5 reschedules only if the next head may be signaled too, which is not known yet.
            self.reschedule = true;
        }
    }

    /// The signal with which CoDel enters the dropping state.
    fn begin_episode(&mut self, now: Instant) {
        let since = now.since(self.drop_next);
        let Self { count, last_count, .. } = *self;
        self.set_count(self.params.reentry.first_count(count, last_count, since, self.params.interval));
        self.dropping = true;
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
    }

    /// `time` as far as this arithmetic tells times apart.
    #[inline]
    const fn whole(&self, time: Instant) -> Instant {
        Instant::from_nanos(time.as_nanos() & self.resolution)
    }

    /// CoDel as in its authors' later code for ns-2, for a kind that has only the target and the
    /// interval of its parameters.
    pub(crate) fn of_ns2(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let params = CoDelParams::of_target_and_interval(given, link)?;
        Ok(Self::new(CoDelParams { reentry: Reentry::Ns2, ..params }))
    }
}

impl Aqm for CoDel {
    #[inline]
    fn is_timeless() -> bool {
        true
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        match self.judge_departure(env, head, queue) {
            Judgement::Settled(verdict) => verdict,
            Judgement::SignalDue => self.signal(env, head),
        }
    }

    #[inline]
    fn on_idle(&mut self, _now: Instant) {
        self.first_above_time = Instant::MAX;
        self.dropping = false;
        self.reschedule = false;
    }

    fn on_evicted(&mut self, _: &mut Env<'_>, count: Packets) {
        self.count = self.count.saturating_add(u32::try_from(count.get()).unwrap_or(u32::MAX));
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("count", f64::from(self.count));
        visit("dropping", f64::from(u8::from(self.dropping)));
    }
}

impl Steerable for CoDel {
    fn setpoint(&self) -> Duration {
        self.params.target
    }

    /// The interval is at least twice the target.
    fn move_setpoint(&mut self, setpoint: Duration) {
        self.params.target = setpoint;
        self.params.interval = self.interval.max(setpoint * 2);
    }

    fn pace(&self) -> Pace {
        Pace { look_every: Duration::ZERO, raise_every: self.interval.max(Duration::ms(100)), signal_remembered: Duration::MAX }
    }

    /// The next packet waits while one is being sent.
    fn least_setpoint(&self, rate: Rate) -> Duration {
        if rate.is_zero() { Duration::ZERO } else { rate.transmission_time(self.params.mtu) }
    }

    #[inline(always)]
    fn judge_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Judgement {
        let now = self.whole(env.now);
        let sojourn = now.since(self.whole(head.enqueued_at));
        if self.judge(now, sojourn, queue) {
            Judgement::SignalDue
        } else if sojourn > self.params.ce_threshold {
            Judgement::Settled(Verdict::Mark(Reason::Threshold))
        } else {
            Judgement::Settled(Verdict::Pass)
        }
    }

    #[inline]
    fn signal(&mut self, env: &mut Env<'_>, head: PacketView) -> Verdict {
        if self.dropping {
            self.continue_episode(head);
        } else {
            self.begin_episode(self.whole(env.now));
        }
        Verdict::Signal(Reason::Head)
    }
}

impl Algorithm for CoDel {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "codel",
            aliases: &["CoDelQueueDisc"],
            title: "CoDel",
            summary: "Controls the minimum sojourn time over an interval",
            params: &CoDelParams::PARAMS,
            source: "RFC 8289 §5",
        },
        Family::CoDel,
        "sojourn time, at the head",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        CoDelParams::build(given, link).map(Self::new)
    }
}

#[cfg(test)]
mod tests;
