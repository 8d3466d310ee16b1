//! COBALT: CoDel with a memory that fades instead of resetting, and BLUE for senders that do not listen.
//!
//! *Signal*: sojourn time of the departing packet, judged at the head; and overflows.
//!
//! *Law*: a packet is over target when its sojourn time exceeds `target`, four sending times of one MTU, and two for each busy flow
//! that shares the link. While packets are over target one is signalled every `interval / sqrt(count)`, `count` rising with
//! each; while they are not, `count` falls at the same pace, one step each `interval / sqrt(count)`. An overflow makes the next
//! departure a signal at once and raises a drop probability by `p_inc`, a departure that finds the queue empty lowers it by `p_dec`,
//! each at most once a `target`; with that probability any packet is dropped, ECN-capable or not. With the rate known,
//! the target in use is at least 1.5 sending times of one MTU, and the interval is longer by as much, at least two targets.
//!
//! *Parameters*: `target` 5 ms, `interval` 100 ms, `p_inc` 1/256, `p_dec` 1/4096 (Linux).
//!
//! *Departures*: probabilities and the square root are computed in floating point, where Linux has fixed point and an iteration.
//! While the rate is unknown there is no sending time to compare with; then nothing is signalled while one MTU or less waits,
//! as in CoDel. The rate of a link that is down is taken to be the last one. Nobody asks an empty queue for packets, so while nothing
//! waits the drop probability falls by one step a target; in Linux it stands still for as long as the device is silent. The last step of a departure looks at the
//! schedule as just updated; Linux looks at the one before an episode began, so that its first signal after a pause comes at once. With
//! `arithmetic = linux` all of that is as in Linux ([`linux`] has its law).
//!
//! *Limits*: the drop probability rises by 1/256 at most once a target, so that a flood takes a second to be held back, and falls
//! sixteen times more slowly.
//!
//! *Source*: Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018 §III.

pub mod linux;

use super::Algorithm;
use crate::arithmetic::{ARITHMETIC, Arithmetic, LinuxDraws};
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::math::sqrt;
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use alloc::boxed::Box;
use goodqueue_units::{Bytes, Duration, Instant, Packets};
use linux::LinuxCobalt;

/// COBALT's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CobaltParams {
    /// Acceptable delay.
    pub target: Duration,
    /// Time between the first and the second signal; about the largest expected RTT.
    pub interval: Duration,
    /// What an overflow adds to the drop probability.
    pub p_inc: f64,
    /// What an empty queue takes from it.
    pub p_dec: f64,
    /// Largest packet; its sending time is the least delay that can be asked for.
    pub mtu: Bytes,
    /// In whose numbers.
    pub arithmetic: Arithmetic,
}

impl Default for CobaltParams {
    /// 5 ms, 100 ms, 1/256, 1/4096 (Linux), 1500 bytes.
    fn default() -> Self {
        Self {
            target: Duration::ms(5),
            interval: Duration::ms(100),
            p_inc: 1.0 / 256.0,
            p_dec: 1.0 / 4096.0,
            mtu: Bytes::new(1500),
            arithmetic: Arithmetic::Exact,
        }
    }
}

/// COBALT's state: one a queue. What each packet asks for comes first: in a fair queue of many flows it fills two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cobalt {
    /// Who decides instead, in Linux's arithmetic.
    linux: Option<Box<LinuxCobalt>>,
    /// When the next signal is due, or the next step down of `count`.
    drop_next: Instant,
    /// Nothing waits since then; `MAX` while something does.
    empty_since: Instant,
    p_drop: f64,
    count: u32,
    dropping: bool,
    /// Busy flows that share the link, this one included.
    sharing: u32,
    /// Sending time of one MTU; zero while the rate is unknown.
    mtu_time: Duration,
    /// The target in use.
    target: Duration,
    /// The interval in use.
    interval: Duration,
    /// When `p_drop` changed last; `None` for never.
    last_blue: Option<Instant>,
    params: CobaltParams,
}

impl Default for Cobalt {
    fn default() -> Self {
        Self::new(CobaltParams::default())
    }
}

impl Cobalt {
    /// COBALT with these settings, on a link of unknown rate.
    #[must_use]
    pub fn new(params: CobaltParams) -> Self {
        let linux = (params.arithmetic == Arithmetic::Linux).then(|| Box::new(LinuxCobalt::new(&params)));
        Self {
            params,
            mtu_time: Duration::ZERO,
            target: params.target,
            interval: params.interval,
            drop_next: Instant::ZERO,
            p_drop: 0.0,
            last_blue: None,
            empty_since: Instant::MAX,
            count: 0,
            sharing: 1,
            dropping: false,
            linux,
        }
    }

    /// `interval / sqrt(count)` after `from`, rounded to the nearest nanosecond, at least one so that a schedule always moves on.
    fn schedule(&self, from: Instant) -> Instant {
        let gap = self.interval.as_nanos() as f64 / sqrt(f64::from(self.count.max(1)));
        from + Duration::ns((gap + 0.5) as u64).max(Duration::ns(1))
    }

    #[inline]
    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// Is it as good as new?
    pub(crate) fn is_at_rest(&self, now: Instant) -> bool {
        if let Some(linux) = &self.linux {
            return linux.is_at_rest(now);
        }
        self.p_drop == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// The generator of Linux's form, which a queue of several lends to the one it asks: they have one together.
    pub(crate) fn linux_draws(&mut self) -> Option<&mut LinuxDraws> {
        self.linux.as_mut().map(|linux| &mut linux.draws)
    }

    /// May the drop probability change again?
    fn is_blue_thawed(&self, now: Instant) -> bool {
        self.last_blue.is_none_or(|last| now.since(last) > self.target)
    }

    #[inline]
    fn is_over_target(&self, sojourn: Duration, queue: QueueView) -> bool {
        let floor = self.mtu_time * u64::from(self.sharing.max(2)) * 2;
        sojourn > self.target && sojourn > floor && (!self.mtu_time.is_zero() || queue.backlog > self.params.mtu)
    }

    /// CoDel's half: is a signal due on a packet that waited for `sojourn`?
    #[inline]
    fn signals(&mut self, now: Instant, sojourn: Duration, queue: QueueView) -> bool {
        let due = self.is_due(now);
        if self.is_over_target(sojourn, queue) {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.schedule(now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if !due {
            return false;
        }
        if self.dropping {
            self.count = self.count.saturating_add(1);
            self.drop_next = self.schedule(self.drop_next);
            return true;
        }
        // As many steps at most as there were signals.
        while self.is_due(now) {
            self.fade();
        }
        false
    }

    fn fade(&mut self) {
        self.count -= 1;
        self.drop_next = self.schedule(self.drop_next);
    }

    /// A packet ends a time in which nothing waited: the steps that an asking host would have caused, one a target.
    #[inline]
    fn wake_up(&mut self, now: Instant) {
        if self.empty_since != Instant::MAX {
            if self.p_drop > 0.0 {
                self.make_up(now);
            }
            self.empty_since = Instant::MAX;
        }
    }

    #[cold]
    fn make_up(&mut self, now: Instant) {
        let since = self.last_blue.map_or(self.empty_since, |last| last.max(self.empty_since));
        let steps = now.since(since).as_nanos() / self.target.as_nanos().max(1);
        if steps > 0 {
            self.lower(steps as f64 * self.params.p_dec);
            self.last_blue = Some(now);
        }
    }

    fn lower(&mut self, by: f64) {
        let lowered = self.p_drop - by;
        self.p_drop = if lowered > 0.0 { lowered } else { 0.0 };
    }

    /// A packet of this queue was lost for want of room.
    #[cold]
    fn overflowed(&mut self, now: Instant) {
        if let Some(linux) = &mut self.linux {
            return linux.overflowed(now);
        }
        if self.is_blue_thawed(now) {
            let raised = self.p_drop + self.params.p_inc;
            self.p_drop = if raised < 1.0 { raised } else { 1.0 };
            self.last_blue = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }
}

impl Aqm for Cobalt {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, _: PacketView, _: QueueView) -> Verdict {
        self.wake_up(env.now);
        Verdict::Pass
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.on_departure(env, head);
        }
        let now = env.now;
        let signals = self.signals(now, head.sojourn(now), queue);
        let mut verdict = if signals { Verdict::Signal(Reason::Head) } else { Verdict::Pass };
        let is_lost = signals && !head.ecn.is_capable();
        if self.p_drop > 0.0 && !is_lost && env.rng.fires(self.p_drop) {
            verdict = Verdict::Drop(Reason::Penalty);
        }
        let stays = !is_lost && !matches!(verdict, Verdict::Drop(_));
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if stays && now > self.drop_next {
            self.drop_next = now;
        }
        verdict
    }

    fn on_overflow(&mut self, env: &mut Env<'_>, _: PacketView, _: QueueView) {
        self.wake_up(env.now);
        self.overflowed(env.now);
    }

    fn on_evicted(&mut self, env: &mut Env<'_>, _: Packets) {
        self.overflowed(env.now);
    }

    #[inline]
    fn on_emptied(&mut self, now: Instant) {
        self.empty_since = now;
    }

    #[inline]
    fn on_idle(&mut self, now: Instant) {
        if let Some(linux) = &mut self.linux {
            return linux.on_idle(now);
        }
        if self.p_drop > 0.0 && self.is_blue_thawed(now) {
            self.lower(self.params.p_dec);
            self.last_blue = Some(now);
        }
        self.empty_since = self.empty_since.min(now);
        self.dropping = false;
        if self.is_due(now) {
            self.fade();
        }
    }

    #[inline]
    fn on_sharing(&mut self, flows: u32) {
        self.sharing = flows;
        if let Some(linux) = &mut self.linux {
            linux.on_sharing(flows);
        }
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        let CobaltParams { target, interval, mtu, .. } = self.params;
        match env.link_rate {
            Some(rate) if rate.is_zero() => return,
            Some(rate) => self.mtu_time = rate.transmission_time(mtu + env.overhead),
            None => self.mtu_time = Duration::ZERO,
        }
        self.target = target.max((self.mtu_time * 3).div(2));
        self.interval = (interval + self.target.saturating_sub(target)).max(self.target * 2);
        if let Some(linux) = &mut self.linux {
            (linux.mtu_time, linux.target, linux.interval) = (self.mtu_time, self.target, self.interval);
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let own = (self.count, self.dropping, self.p_drop);
        let (count, dropping, p_drop) = self.linux.as_ref().map_or(own, |linux| linux.figures());
        visit("count", f64::from(count));
        visit("dropping", f64::from(u8::from(dropping)));
        visit("drop_probability", p_drop);
    }
}

const fn span(name: &'static str, default: Duration, range: (f64, f64), doc: &'static str) -> ParamSpec {
    let default = ParamDefault::Value(Value::Duration(default));
    ParamSpec { name, unit: Unit::Duration, default, range, doc, source: "Linux" }
}

const fn step(name: &'static str, default: f64, doc: &'static str) -> ParamSpec {
    let default = ParamDefault::Value(Value::Number(default));
    ParamSpec { name, unit: Unit::Ratio, default, range: (0.0, 1.0), doc, source: "Linux" }
}

/// COBALT's parameters, for disciplines that run it.
pub(crate) const TARGET: ParamSpec = span("target", Duration::ms(5), (1e-6, 10.0), "acceptable delay");
pub(crate) const INTERVAL: ParamSpec =
    span("interval", Duration::ms(100), (1e-6, 100.0), "about the largest expected round-trip time");
pub(crate) const P_INC: ParamSpec = step("p_inc", 1.0 / 256.0, "what an overflow adds to the drop probability");
pub(crate) const P_DEC: ParamSpec = step("p_dec", 1.0 / 4096.0, "what an empty queue takes from the drop probability");

impl Algorithm for Cobalt {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "cobalt",
        summary: "CoDel whose memory fades, with a drop probability that overflows raise and idle times lower",
        signal: "sojourn time, at the head; overflows",
        marks: true,
        params: &[TARGET, INTERVAL, P_INC, P_DEC, ARITHMETIC],
        source: "Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        CobaltParams::build(given, link).map(Self::new)
    }
}

impl CobaltParams {
    /// The settings of a kind that has COBALT's parameters.
    pub(crate) fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self::default();
        let params = Self {
            target: given.duration("target").unwrap_or(defaults.target),
            interval: given.duration("interval").unwrap_or(defaults.interval),
            p_inc: given.number("p_inc").unwrap_or(defaults.p_inc),
            p_dec: given.number("p_dec").unwrap_or(defaults.p_dec),
            mtu: link.mtu,
            arithmetic: Arithmetic::of(given),
        };
        if params.target > params.interval {
            let message =
                alloc::format!("{} is longer than interval ({}): allowed up to interval", params.target, params.interval);
            return Err(ParamError { param: "target", message });
        }
        Ok(params)
    }
}

#[cfg(test)]
mod tests;
