//! CoDel: drops from the head when the minimum sojourn time stayed above a target for an interval.
//!
//! *Signal*: sojourn time of the departing packet, judged at the head.
//!
//! *Law*: once sojourn has been at least `target` for `interval`, signal; then again after `interval / sqrt(count)`, `count`
//! rising with each signal, until sojourn falls below `target` or no more than one MTU waits. An episode that begins within
//! 16 intervals of the last scheduled signal resumes with as many signals as the last episode added.
//!
//! *Parameters*: `target` 5 ms (1 us to `interval`) and `interval` 100 ms (RFC 8289 §4.2, §4.3); `ce_threshold` off: sojourn time
//! above which a delivered ECN-capable packet is marked, nothing else changing (Linux); `reentry` `rfc8289`; `arithmetic` exact.
//! The MTU is the link's.
//!
//! *Departures*: with ECN a mark takes the place of a drop and the marked packet is delivered, so one departure marks at most
//! once (the RFC leaves ECN open; as Linux does). The gap between signals is at least 1 ns, so that a schedule always moves on.
//! `reentry = acm2012` is the law of the 2012 article: an episode resumes at `count - 2` when one ended less than an interval
//! ago, otherwise it begins only after a second interval above target. `reentry = ns2` is that of the authors' later code for ns-2:
//! `count - 2` within eight intervals, else 1, and the drop that ends an episode does not count. A fair queue that drops from a flow adds to its `count`
//! (Linux).
//!
//! With `arithmetic = linux` the verdicts are those of Linux, packet by packet: time moves in steps of 1024 ns, an episode begins *after*
//! the interval and not at its end, and `1 / sqrt(count)` is a 16-bit number that one Newton step corrects with each change of
//! `count`. That number begins at 1 and lags: the second gap of an episode is half an interval long, not 0.71 of one.
//!
//! *Limits*: needs an interval to react, so bursts of slow start pass. The target should be no less than the sending time of one MTU.
//!
//! *Source*: RFC 8289 §5; Nichols and Jacobson 2012.

use super::Algorithm;
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::math::sqrt;
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use crate::steering::{Judgement, Pace, Steerable};
use goodqueue_units::{Bytes, Duration, Instant, Packets, Rate};

/// How an episode of signals begins when another ended not long ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reentry {
    /// With as many signals as the last episode added, within 16 intervals (RFC 8289 §5.5).
    #[default]
    Rfc8289,
    /// With two fewer than the last episode ended with, within one interval (Nichols and Jacobson 2012).
    Acm2012,
    /// The same within eight intervals, and the drop that ends an episode does not count (the authors' later code for ns-2).
    Ns2,
}

/// CoDel's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelParams {
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time the delay must stay above `target` before the first signal; about the largest expected RTT.
    pub interval: Duration,
    /// No signal while at most so many bytes wait.
    pub mtu: Bytes,
    /// Delivered packets are marked above this sojourn time; [`Duration::MAX`]: never.
    pub ce_threshold: Duration,
    /// How an episode begins soon after another.
    pub reentry: Reentry,
    /// In whose numbers.
    pub arithmetic: Arithmetic,
}

impl Default for CoDelParams {
    /// 5 ms, 100 ms, 1500 bytes, no marking threshold (RFC 8289 §4.2, §4.3, §5.2).
    fn default() -> Self {
        Self {
            target: Duration::ms(5),
            interval: Duration::ms(100),
            mtu: Bytes::new(1500),
            ce_threshold: Duration::MAX,
            reentry: Reentry::Rfc8289,
            arithmetic: Arithmetic::Exact,
        }
    }
}

/// Linux's unit of time, in bits of a nanosecond.
const LINUX_TICK: u32 = 10;

/// `nanos` rounded down to Linux's ticks.
const fn whole_ticks(nanos: u64) -> u64 {
    nanos >> LINUX_TICK << LINUX_TICK
}

/// Linux's `1 / sqrt(count)` as a fraction of 65536.
#[derive(Clone, Copy, Debug)]
struct InverseRoot(u16);

impl InverseRoot {
    const ONE: Self = Self(u16::MAX);

    /// One Newton step towards the root for `count`: `r (3 - count r^2) / 2`, in 32-bit fixed point. After a jump of `count` it may
    /// wrap around, as it does there.
    const fn refine(self, count: u32) -> Self {
        let root = (self.0 as u64) << 16;
        let square = (root * root) >> 32;
        let factor = (3u64 << 32).wrapping_sub(count as u64 * square) >> 2;
        Self((factor.wrapping_mul(root) >> 31 >> 16) as u16)
    }

    /// `interval` times it, in ticks as whole nanoseconds.
    const fn of(self, interval: Duration) -> Duration {
        let ticks = interval.as_nanos() >> LINUX_TICK;
        Duration::ns(((ticks * self.0 as u64) >> 16) << LINUX_TICK)
    }
}

/// CoDel's state: one a queue.
#[derive(Clone, Debug)]
pub struct CoDel {
    params: CoDelParams,
    /// The interval as set; the one in `params` may be longer while an outer loop holds the target high.
    interval: Duration,
    /// When sojourn will have been above target for an interval; `Instant::MAX` while it is below.
    first_above: Instant,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    inverse_root: InverseRoot,
    /// The bits of a time that count.
    resolution: u64,
    dropping: bool,
    /// The head was dropped in the dropping state and the schedule waits for the verdict on its successor.
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
        let resolution = match params.arithmetic {
            Arithmetic::Exact => u64::MAX,
            Arithmetic::Linux => whole_ticks(u64::MAX),
        };
        params.target = Duration::ns(params.target.as_nanos() & resolution);
        params.interval = Duration::ns(params.interval.as_nanos() & resolution);
        params.ce_threshold = Duration::ns(params.ce_threshold.as_nanos() & resolution);
        Self {
            params,
            interval: params.interval,
            first_above: Instant::MAX,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            inverse_root: InverseRoot::ONE,
            resolution,
            dropping: false,
            reschedule: false,
        }
    }

    /// `interval / sqrt(count)` after `from`, the gap rounded to the nearest nanosecond.
    fn control_law(&self, from: Instant) -> Instant {
        if self.params.arithmetic == Arithmetic::Linux {
            return from + self.inverse_root.of(self.params.interval);
        }
        let gap = self.params.interval.as_nanos() as f64 / sqrt(f64::from(self.count.max(1)));
        from + Duration::ns((gap + 0.5) as u64).max(Duration::ns(1))
    }

    /// `time` as far as this arithmetic tells times apart.
    #[inline]
    const fn whole(&self, time: Instant) -> Instant {
        Instant::from_nanos(time.as_nanos() & self.resolution)
    }

    #[inline]
    fn ok_to_signal(&mut self, now: Instant, sojourn: Duration, queue: QueueView) -> bool {
        if sojourn < self.params.target || queue.backlog <= self.params.mtu {
            self.first_above = Instant::MAX;
            return false;
        }
        if self.first_above == Instant::MAX {
            let strictly = Duration::ns(u64::from(self.params.arithmetic == Arithmetic::Linux));
            self.first_above = now + self.params.interval + strictly;
            return false;
        }
        now >= self.first_above
    }

    /// In an episode, with a head that may be signalled: is a signal due?
    fn continues_episode(&mut self, now: Instant) -> bool {
        if self.reschedule {
            self.reschedule = false;
            if self.params.reentry == Reentry::Ns2 {
                self.count = self.count.saturating_add(1);
            }
            self.drop_next = self.control_law(self.drop_next);
        }
        now >= self.drop_next
    }

    /// Outside an episode, with a head that may be signalled: does an episode begin?
    fn begins_episode(&self, now: Instant) -> bool {
        let interval = self.params.interval;
        match self.params.reentry {
            Reentry::Rfc8289 | Reentry::Ns2 => true,
            Reentry::Acm2012 => now.since(self.drop_next) < interval || now.since(self.first_above) >= interval,
        }
    }

    /// Is the head to be signalled?
    #[inline(always)]
    fn judge(&mut self, now: Instant, sojourn: Duration, queue: QueueView) -> bool {
        if !self.ok_to_signal(now, sojourn, queue) {
            self.dropping = false;
            self.reschedule = false;
            return false;
        }
        if self.dropping { self.continues_episode(now) } else { self.begins_episode(now) }
    }

    /// One more signal in an episode.
    fn continue_episode(&mut self, head: PacketView) {
        if self.params.reentry != Reentry::Ns2 || head.ecn.is_capable() {
            self.count = self.count.saturating_add(1);
        }
        self.inverse_root = self.inverse_root.refine(self.count);
        if head.ecn.is_capable() {
            self.drop_next = self.control_law(self.drop_next);
        } else {
            // The source reschedules only if the next head may be signalled too, which is not known yet.
            self.reschedule = true;
        }
    }

    /// The first signal of an episode.
    fn begin_episode(&mut self, now: Instant) {
        let since_signal = now.since(self.drop_next);
        self.count = match self.params.reentry {
            Reentry::Rfc8289 => {
                let added = self.count.saturating_sub(self.last_count);
                if added > 1 && since_signal < self.params.interval * 16 { added } else { 1 }
            }
            Reentry::Ns2 if since_signal < self.params.interval * 8 => self.count.saturating_sub(2).max(1),
            Reentry::Acm2012 if since_signal < self.params.interval => self.count.saturating_sub(2).max(1),
            Reentry::Acm2012 | Reentry::Ns2 => 1,
        };
        self.inverse_root = if self.count == 1 { InverseRoot::ONE } else { self.inverse_root.refine(self.count) };
        self.dropping = true;
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
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
        Pace {
            look_every: Duration::ZERO,
            raise_every: self.interval.max(Duration::ms(100)),
            signal_remembered: Duration::MAX,
        }
    }

    /// While one packet is being sent the next has to wait.
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
        self.first_above = Instant::MAX;
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

pub(crate) const TARGET: ParamSpec = ParamSpec {
    name: "target",
    unit: Unit::Duration,
    default: ParamDefault::Value(Value::Duration(Duration::ms(5))),
    range: (1e-6, 10.0),
    doc: "acceptable standing delay",
    source: "RFC 8289 §4.3",
};
pub(crate) const INTERVAL: ParamSpec = ParamSpec {
    name: "interval",
    unit: Unit::Duration,
    default: ParamDefault::Value(Value::Duration(Duration::ms(100))),
    range: (1e-6, 100.0),
    doc: "time above target before the first signal",
    source: "RFC 8289 §4.2",
};
pub(crate) const CE_THRESHOLD: ParamSpec = ParamSpec {
    name: "ce_threshold",
    unit: Unit::Duration,
    default: ParamDefault::Auto("never"),
    range: (0.0, 100.0),
    doc: "delivered ECN-capable packets are marked above this sojourn time",
    source: "Linux",
};
pub(crate) const REENTRY: ParamSpec = ParamSpec {
    name: "reentry",
    unit: Unit::Choice(&["rfc8289", "acm2012", "ns2"]),
    default: ParamDefault::Value(Value::Choice("rfc8289")),
    range: (0.0, 0.0),
    doc: "how an episode of signals begins soon after another",
    source: "RFC 8289 §5.5; Nichols and Jacobson 2012; Nichols 2013",
};

impl Algorithm for CoDel {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "codel",
        summary: "Controls the minimum sojourn time over an interval",
        signal: "sojourn time, at the head",
        marks: true,
        params: &[TARGET, INTERVAL, CE_THRESHOLD, REENTRY, ARITHMETIC],
        source: "RFC 8289 §5",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = CoDelParams::default();
        let params = CoDelParams {
            target: given.duration("target").unwrap_or(defaults.target),
            interval: given.duration("interval").unwrap_or(defaults.interval),
            mtu: link.mtu,
            ce_threshold: given.duration("ce_threshold").unwrap_or(defaults.ce_threshold),
            reentry: match given.choice("reentry") {
                Some("acm2012") => Reentry::Acm2012,
                Some("ns2") => Reentry::Ns2,
                _ => Reentry::Rfc8289,
            },
            arithmetic: Arithmetic::of(given),
        };
        if params.arithmetic == Arithmetic::Linux && params.reentry != Reentry::Rfc8289 {
            let word = given.choice("reentry").unwrap_or_default();
            let message = alloc::format!("`{word}` does not go with arithmetic = \"linux\": allowed rfc8289");
            return Err(ParamError { param: "reentry", message });
        }
        params.checked().map(Self::new)
    }
}

impl CoDel {
    /// CoDel as in the authors' later code for ns-2, with the target and interval of a kind that has no other parameters of CoDel's.
    pub(crate) fn of_ns2(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let params = CoDelParams::of_target_and_interval(given, link)?;
        Ok(Self::new(CoDelParams { reentry: Reentry::Ns2, ..params }))
    }
}

impl CoDelParams {
    /// The target and interval given for a kind that has no other parameters of CoDel's.
    pub(crate) fn of_target_and_interval(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self::default();
        let target = given.duration("target").unwrap_or(defaults.target);
        let interval = given.duration("interval").unwrap_or(defaults.interval);
        Self { target, interval, mtu: link.mtu, ..defaults }.checked()
    }

    fn checked(self) -> Result<Self, ParamError> {
        let Self { target, interval, .. } = self;
        if target > interval {
            let message = alloc::format!("{target} is longer than interval ({interval}): allowed up to interval");
            return Err(ParamError { param: "target", message });
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::{Ecn, Rng};
    use std::vec::Vec;

    const FULL: QueueView = QueueView { backlog: Bytes::new(100_000), packets: Packets::new(70) };

    /// The verdict on a packet that waited for `waited` at time `now`.
    fn judge(codel: &mut CoDel, now: Instant, waited: Duration, queue: QueueView) -> Verdict {
        let mut rng = Rng::new(0);
        let head =
            PacketView { len: Bytes::new(1500), ecn: Ecn::NotEct, flow: crate::FlowHash(0), enqueued_at: now - waited };
        codel.on_departure(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, head, queue)
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::us(micros)
    }

    #[test]
    fn signals_come_ever_faster_under_constant_overload() {
        let mut codel = CoDel::default();
        let mut signals = Vec::new();
        for tenths in 10_000..15_000 {
            let now = at(tenths * 100);
            if judge(&mut codel, now, Duration::ms(50), FULL) != Verdict::Pass {
                signals.push((tenths as f64 - 11_000.0) / 10.0);
            }
        }
        // 100 / sqrt(n) apart; a departure every 0.1 ms comes at most that much late.
        let expected = [0.0, 100.0, 170.7, 228.4, 278.4, 323.2];
        for (found, expected) in signals.iter().zip(expected) {
            assert!((found - expected).abs() < 0.11, "{signals:?}");
        }
        assert!(signals.len() > expected.len());
    }

    #[test]
    fn one_packet_below_target_ends_the_episode() {
        let mut codel = CoDel::default();
        let _ = judge(&mut codel, at(1_000_000), Duration::ms(50), FULL);
        assert_ne!(judge(&mut codel, at(1_100_000), Duration::ms(50), FULL), Verdict::Pass);
        assert!(codel.dropping);
        assert_eq!(judge(&mut codel, at(1_100_100), Duration::ms(4), FULL), Verdict::Pass);
        assert!(!codel.dropping);
        assert_eq!(judge(&mut codel, at(1_300_000), Duration::ms(50), FULL), Verdict::Pass);
    }

    #[test]
    fn never_signals_while_one_mtu_or_less_waits() {
        let mut codel = CoDel::default();
        let little = QueueView { backlog: Bytes::new(1500), packets: Packets::new(1) };
        assert!((0..1000).all(|ms| judge(&mut codel, at(1_000_000 + ms * 1000), Duration::ms(500), little) == Verdict::Pass));
    }

    #[test]
    fn the_threshold_marks_and_changes_nothing_else() {
        let mut codel = CoDel::new(CoDelParams { ce_threshold: Duration::ms(1), ..CoDelParams::default() });
        assert_eq!(judge(&mut codel, at(1_000_000), Duration::ms(1), FULL), Verdict::Pass);
        assert_eq!(judge(&mut codel, at(1_000_000), Duration::us(1001), FULL), Verdict::Mark(Reason::Threshold));
        assert_eq!(codel.first_above, Instant::MAX);
    }

    #[test]
    fn linux_approaches_the_inverse_root_by_one_step_a_count() {
        let mut root = InverseRoot::ONE;
        let found: Vec<f64> = (2..=5)
            .map(|count| {
                root = root.refine(count);
                f64::from(root.0) / 65536.0
            })
            .collect();
        // By hand: r (3 - n r^2) / 2 from r = 1.
        for (found, expected) in found.iter().zip([0.5, 0.5625, 0.487_793, 0.441_538]) {
            assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
        }
    }

    #[test]
    fn the_code_for_ns2_resumes_two_below_within_eight_intervals() {
        for (pause, resumed) in [(Duration::ms(700), 3), (Duration::ms(900), 1)] {
            let mut codel = CoDel::new(CoDelParams { reentry: Reentry::Ns2, ..CoDelParams::default() });
            codel.count = 5;
            codel.drop_next = at(1_000_000);
            let _ = judge(&mut codel, at(1_000_000) + pause - Duration::ms(100), Duration::ms(50), FULL);
            assert_eq!(judge(&mut codel, at(1_000_000) + pause, Duration::ms(50), FULL), Verdict::Signal(Reason::Head));
            assert_eq!(codel.count, resumed);
        }
    }

    #[test]
    fn evictions_make_it_signal_faster() {
        let mut codel = CoDel::default();
        let mut rng = Rng::new(0);
        let mut env = Env { now: at(0), link_rate: None, overhead: Bytes::ZERO, rng: &mut rng };
        codel.on_evicted(&mut env, Packets::new(8));
        assert_eq!(codel.count, 8);
        codel.on_evicted(&mut env, Packets::MAX);
        assert_eq!(codel.count, u32::MAX);
    }
}
