//! COBALT: CoDel whose count fades instead of being reset, combined with BLUE for senders that do
//! not respond.
//!
//! *Signal*: the sojourn time of the departing packet, judged at the head; and overflows.
//!
//! *Law*: a packet is over target when its sojourn time exceeds each of: `target`, four sending
//! times of one MTU, and two such times for each busy flow that shares the link. While packets are
//! over target, one is signaled every `interval / sqrt(count)`, and `count` rises with each
//! signal; otherwise `count` falls at the same pace, by one step per `interval / sqrt(count)`. An
//! overflow makes the next departure a signal at once and raises a drop probability by `p_inc`; a
//! departure that finds the queue empty lowers it by `p_dec`; each at most once per `target`. Any
//! packet, ECN-capable or not, is dropped with that probability. When the rate is known, the target
//! in use is at least 1.5 sending times of one MTU, and the interval grows by the same amount and
//! is at least two targets.
//!
//! *Parameters*: see `KINDS`. The defaults are those of Linux.
//!
//! *Deviations*: probabilities and the square root use floating point; Linux has fixed point and an
//! iteration. While the rate is unknown there is no sending time to compare with; then nothing is
//! signaled while one MTU or less waits, as in CoDel. A link that is down counts with its last
//! rate. Hosts do not ask an empty queue for packets, so while the queue is empty the drop
//! probability falls by one step per target; in Linux it does not change as long as the device is
//! silent. The last step of a departure uses the schedule as just updated; Linux uses the one from
//! before the episode began, so that its first signal after a pause comes at once. With `arithmetic
//! = linux` all of this is as in Linux (the law is in [`linux`]).
//!
//! *Limits*: the drop probability rises by 1/256 at most once per target, so a flood is brought
//! under control within about a second; it falls sixteen times more slowly.
//!
//! *Source*: Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018 §III.

pub mod linux;

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic, LinuxDraws};
use crate::math::sqrt;
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues, TypedParam};
use alloc::boxed::Box;
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration, Instant, Packets};
use linux::LinuxCobalt;

settings! {
    /// Settings of COBALT; by default those of Linux, with packets of 1500 bytes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CobaltParams {
        /// Acceptable delay.
        pub target: Duration => TARGET,
        /// Time between the first and the second signal; about the largest expected RTT.
        pub interval: Duration => INTERVAL,
        /// Increase of the drop probability per overflow.
        pub p_inc: f64 => P_INC,
        /// Decrease of the drop probability while the queue is empty.
        pub p_dec: f64 => P_DEC,
        /// Largest packet; its sending time bounds the target from below.
        pub mtu: Bytes = Bytes::new(1500),
        /// Arithmetic that decides: exact, or that of Linux.
        pub arithmetic: Arithmetic => ARITHMETIC,
    }
}

/// State of COBALT, one per queue. The fields that every packet needs come first: with many flows
/// in a fair queue the state spans two cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cobalt {
    /// Decides instead when the arithmetic is that of Linux.
    linux: Option<Box<LinuxCobalt>>,
    /// Time of the next signal, or of the next decrement of `count`.
    drop_next: Instant,
    /// Time since which the queue is empty; `MAX` while packets wait.
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
    /// Last change of `p_drop`; `None` before the first.
    last_blue: Option<Instant>,
    params: CobaltParams,
}

impl Default for Cobalt {
    fn default() -> Self {
        Self::new(CobaltParams::default())
    }
}

impl Cobalt {
    /// Creates a COBALT with these settings on a link of unknown rate.
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

    /// `interval / sqrt(count)` after `from`, rounded to the nearest nanosecond, at least one so
    /// that the schedule always advances.
    fn schedule(&self, from: Instant) -> Instant {
        let gap = self.interval.as_nanos() as f64 / sqrt(f64::from(self.count.max(1)));
        from + Duration::ns((gap + 0.5) as u64).max(Duration::ns(1))
    }

    #[inline]
    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// Whether the state equals that of a new instance.
    pub(crate) fn is_at_rest(&self, now: Instant) -> bool {
        if let Some(linux) = &self.linux {
            return linux.is_at_rest(now);
        }
        self.p_drop == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Random numbers of the Linux form, which a discipline with several queues lends to the queue
    /// it asks, since all share one generator.
    pub(crate) fn linux_draws(&mut self) -> Option<&mut LinuxDraws> {
        self.linux.as_mut().map(|linux| &mut linux.draws)
    }

    /// Whether the drop probability may change again.
    fn is_blue_thawed(&self, now: Instant) -> bool {
        self.last_blue.is_none_or(|last| now.since(last) > self.target)
    }

    #[inline]
    fn is_over_target(&self, sojourn: Duration, queue: QueueView) -> bool {
        let floor = self.mtu_time * u64::from(self.sharing.max(2)) * 2;
        sojourn > self.target && sojourn > floor && (!self.mtu_time.is_zero() || queue.backlog > self.params.mtu)
    }

    /// CoDel's part: whether a signal is due on a packet that waited for `sojourn`.
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
        // Bounded by the number of signals given.
        while self.is_due(now) {
            self.fade();
        }
        false
    }

    fn fade(&mut self) {
        self.count -= 1;
        self.drop_next = self.schedule(self.drop_next);
    }

    /// Applies, at the first packet after an empty time, the decrements that a host asking for
    /// packets would have caused: one per target.
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

    /// A packet of this queue was dropped for lack of room.
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

const fn step(name: &'static str, default: f64, doc: &'static str) -> TypedParam<f64> {
    TypedParam::ratio(name, default).within(0.0, 1.0).about(doc).from_source("Linux")
}

/// Parameters of COBALT, shared by the disciplines that run it.
pub(crate) const TARGET: TypedParam<Duration> =
    TypedParam::duration("target", Duration::ms(5)).within(1e-6, 10.0).about("acceptable delay").from_source("Linux");
pub(crate) const INTERVAL: TypedParam<Duration> = TypedParam::duration("interval", Duration::ms(100))
    .within(1e-6, 100.0)
    .about("about the largest expected round-trip time")
    .from_source("Linux");
pub(crate) const P_INC: TypedParam<f64> = step("p_inc", 1.0 / 256.0, "what an overflow adds to the drop probability");
pub(crate) const P_DEC: TypedParam<f64> = step("p_dec", 1.0 / 4096.0, "what an empty queue takes from the drop probability");

impl Algorithm for Cobalt {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "cobalt",
            aliases: &["CobaltQueueDisc"],
            title: "COBALT",
            summary: "CoDel whose memory fades, with a drop probability that overflows raise and idle times lower",
            params: &CobaltParams::PARAMS,
            source: "Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018",
        },
        Family::CoDel,
        "sojourn time, at the head; overflows",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        CobaltParams::build(given, link).map(Self::new)
    }
}

impl CobaltParams {
    /// Builds the settings of a kind that has COBALT's parameters.
    pub(crate) fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let params = Self { mtu: link.mtu, ..Self::read(given) };
        TARGET.at_most(params.target, &INTERVAL, params.interval)?;
        Ok(params)
    }
}

#[cfg(test)]
mod tests;
