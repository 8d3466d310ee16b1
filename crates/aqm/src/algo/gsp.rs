//! GSP (Global Synchronization Protection): signals one packet above a threshold, then none for an
//! interval, so that flows are signaled one at a time.
//!
//! *Signal*: the sojourn time of the latest departure (zero while nothing waits), or the backlog;
//! acts on arrival.
//!
//! *Law*: an arriving packet is signaled when the queue is above `threshold` and the last signal
//! is more than one `interval` ago. Basic GSP keeps `interval = preset_interval`. Adaptive GSP
//! weighs time above the threshold against time below, `cum = clamp(cum + alpha * above - below, 0,
//! max_time)`, and shortens the interval: `interval = preset_interval / (1 + cum / tau)`. After an
//! overflow, time below does not count until the queue has run empty and risen above the threshold
//! again.
//!
//! *Parameters*: see `KINDS`. The threshold is by default a fortieth of the interval (Bless, Hock
//! and Zitterbart), `tau` five intervals, `alpha` 2 (the authors ask for "not much larger than 1"),
//! and `max_time` 19 `tau`, which bounds the interval to a twentieth (our choice, as the authors
//! give none). With `rtt` instead of `preset_interval` the interval is two round trips, and so the
//! threshold a twentieth of one (our choice; the steering study leaves open how the interval should
//! follow the round-trip time).
//!
//! *Deviations*: ECN-capable packets may be marked instead of dropped (the sources leave ECN open).
//! While nothing waits the delay is zero, since a stale one would signal a packet that found the
//! queue empty. While the rate of the link is zero or unknown, the time since the last departure
//! (or since the queue was empty) is a lower bound of the delay, so that a stalled link is noticed.
//!
//! *Limits*: at most one signal per interval, so unresponsive load is left to the limit of the
//! queue. A threshold below the sending time of one or two packets means one signal per interval
//! whenever anything waits.
//!
//! *Source*: Lautenschlaeger and Francini 2015; Bless, Hock and Zitterbart 2018 §IV.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Setting, Size, TypedParam, Value};
use crate::steering::{Judgement, Pace, Steerable};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

/// The measured quantity and its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// The sojourn time of the latest departure.
    Delay(Duration),
    /// The backlog. A threshold given as a time is converted with the rate of the link and follows
    /// it.
    Backlog(Size),
}

/// The adaptation of the interval to the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// Surplus of time above the threshold that halves the interval.
    pub tau: Duration,
    /// Weight of time above the threshold against time below.
    pub alpha: f64,
    /// Upper bound of the surplus.
    pub max_time: Duration,
}

/// Settings of GSP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GspParams {
    /// Threshold above which packets are signaled.
    pub threshold: Threshold,
    /// Longest time without signals after a signal.
    pub preset_interval: Duration,
    /// Adaptation of the interval; `None` for basic GSP, whose interval is constant.
    pub adaptation: Option<Adaptation>,
    /// Packet size that converts a threshold in packets.
    pub mtu: Bytes,
}

impl Default for GspParams {
    /// Adaptive, on delay: threshold 2.5 ms, interval 100 ms, tau 500 ms, alpha 2, max_time 9.5 s.
    fn default() -> Self {
        let preset_interval = PRESET_INTERVAL.default;
        let tau = preset_interval * INTERVALS_A_TAU;
        Self {
            threshold: Threshold::Delay(preset_interval.div(THRESHOLDS_AN_INTERVAL)),
            preset_interval,
            adaptation: ADAPTIVE.default.then(|| Adaptation { tau, alpha: ALPHA.default, max_time: tau * MAX_TAUS }),
            mtu: Bytes::new(1500),
        }
    }
}

/// Ratio of interval to threshold: the threshold is 0.025 intervals (Bless, Hock and Zitterbart
/// 2018 §IV).
pub(super) const THRESHOLDS_AN_INTERVAL: u64 = 40;
/// Ratio of interval to round-trip time: the default of 100 ms on the 50 ms of the steering study.
const ROUND_TRIPS_AN_INTERVAL: u64 = 2;
const INTERVALS_A_TAU: u64 = 5;
const MAX_TAUS: u64 = 19;

/// Whether time below the threshold counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// Counts.
    Clear,
    /// Does not count: there was an overflow.
    Overflowed,
    /// Does not count yet: the queue has run empty since the overflow, but has not risen above the
    /// threshold again.
    Drained,
}

/// State of GSP, one per queue.
#[derive(Clone, Debug)]
pub struct Gsp {
    params: GspParams,
    /// Delay above which packets are signaled; `MAX` when the backlog is measured.
    most_delay: Duration,
    /// Backlog above which packets are signaled; `MAX` when the delay is measured.
    most_backlog: Bytes,
    /// Time until which nothing is signaled.
    quiet_until: Instant,
    /// Surplus of time above the threshold, in ns, without `span`.
    surplus: f64,
    room: Room,
    /// Time on the present side of the threshold that is not yet in `surplus`. Most packets then
    /// cost an integer addition only.
    span: Duration,
    /// Whether `span` was spent above the threshold.
    is_span_above: bool,
    /// Time up to which both sides have been counted.
    counted_to: Instant,
    /// Sojourn time of the latest departure; zero while nothing waits.
    delay: Duration,
    /// Time of the latest departure, or of the arrival that ended an empty queue.
    moved_at: Instant,
}

impl Default for Gsp {
    fn default() -> Self {
        Self::new(GspParams::default(), None)
    }
}

impl Gsp {
    /// Creates a GSP with these settings on a link of this rate. A threshold on the backlog given
    /// as a time never signals before a rate is known.
    #[must_use]
    pub fn new(params: GspParams, rate: Option<Rate>) -> Self {
        let most_delay = match params.threshold {
            Threshold::Delay(delay) => delay,
            Threshold::Backlog(_) => Duration::MAX,
        };
        let mut gsp = Self {
            params,
            most_delay,
            most_backlog: Bytes::MAX,
            quiet_until: Instant::ZERO,
            surplus: 0.0,
            room: Room::Clear,
            span: Duration::ZERO,
            is_span_above: false,
            counted_to: Instant::ZERO,
            delay: Duration::ZERO,
            moved_at: Instant::ZERO,
        };
        gsp.follow(rate);
        gsp
    }

    /// Time without signals after a signal given now.
    #[must_use]
    pub fn interval(&self) -> Duration {
        match self.params.adaptation {
            None => self.params.preset_interval,
            Some(Adaptation { tau, .. }) => {
                let nanos = self.params.preset_interval.as_nanos() as f64 / (1.0 + self.surplus() / tau.as_nanos() as f64);
                Duration::ns((nanos + 0.5) as u64)
            }
        }
    }

    /// Surplus of time above the threshold, in ns.
    fn surplus(&self) -> f64 {
        let Some(Adaptation { alpha, max_time, .. }) = self.params.adaptation else { return 0.0 };
        let span = self.span.as_nanos() as f64;
        if self.is_span_above {
            (self.surplus + alpha * span).min(max_time.as_nanos() as f64)
        } else if self.room == Room::Clear {
            (self.surplus - span).max(0.0)
        } else {
            self.surplus
        }
    }

    /// Adds the running span to the surplus.
    fn settle(&mut self) {
        self.surplus = self.surplus();
        self.span = Duration::ZERO;
    }

    /// Converts a threshold on the backlog for a link of this rate; on a link that is down it keeps
    /// its value.
    fn follow(&mut self, rate: Option<Rate>) {
        if let Threshold::Backlog(size) = self.params.threshold
            && let Some(bytes) = size.bytes(self.params.mtu, rate.filter(|rate| !rate.is_zero()))
        {
            self.most_backlog = bytes;
        }
    }

    #[inline(always)]
    fn is_above(&self, backlog: Bytes) -> bool {
        self.delay > self.most_delay || backlog > self.most_backlog
    }

    /// Whether nothing has departed for longer than the threshold, on a link that may have stopped.
    fn is_stalled(&self, env: &Env<'_>, queue: QueueView) -> bool {
        env.link_rate.is_none_or(Rate::is_zero) && !queue.packets.is_zero() && env.now.since(self.moved_at) > self.most_delay
    }

    /// Counts the time since the last event, all of which was spent on one side of the threshold.
    #[inline(always)]
    fn count_time(&mut self, now: Instant, above: bool) {
        let passed = now.since(self.counted_to);
        self.counted_to = now;
        if above != self.is_span_above {
            self.settle();
            self.is_span_above = above;
            if above && self.room == Room::Drained {
                self.room = Room::Clear;
            }
        }
        self.span += passed;
    }

    #[inline]
    fn note_empty(&mut self) {
        self.delay = Duration::ZERO;
        if self.room == Room::Overflowed {
            self.settle();
            self.room = Room::Drained;
        }
    }

    /// Updates the state for an arrival that finds `queue` and returns whether the queue is above
    /// the threshold.
    #[inline(always)]
    fn observe_arrival(&mut self, env: &Env<'_>, queue: QueueView) -> bool {
        let above = self.is_above(queue.backlog) || self.is_stalled(env, queue);
        self.count_time(env.now, above);
        if queue.packets.is_zero() {
            self.note_empty();
            self.moved_at = env.now;
        }
        above
    }
}

impl Steerable for Gsp {
    fn setpoint(&self) -> Duration {
        self.most_delay
    }

    fn move_setpoint(&mut self, setpoint: Duration) {
        self.most_delay = setpoint;
    }

    /// Every signal may move the setpoint, as the interval separates signals.
    fn pace(&self) -> Pace {
        Pace { look_every: Duration::ZERO, raise_every: Duration::ZERO, signal_remembered: Duration::MAX }
    }

    #[inline(always)]
    fn judge_arrival(&mut self, env: &mut Env<'_>, _packet: PacketView, queue: QueueView) -> Judgement {
        if self.observe_arrival(env, queue) && env.now > self.quiet_until {
            Judgement::SignalDue
        } else {
            Judgement::Settled(Verdict::Pass)
        }
    }

    #[inline(always)]
    fn judge_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Judgement {
        let above = self.is_above(queue.backlog + head.len);
        self.count_time(env.now, above);
        self.delay = head.sojourn(env.now);
        self.moved_at = env.now;
        Judgement::Settled(Verdict::Pass)
    }

    #[inline]
    fn signal(&mut self, env: &mut Env<'_>, _packet: PacketView) -> Verdict {
        self.quiet_until = env.now + self.interval();
        Verdict::Signal(Reason::Early)
    }

    #[inline]
    fn see_delay(&mut self, now: Instant, delay: Duration) {
        let above = self.is_above(Bytes::ZERO);
        self.count_time(now, above);
        self.delay = delay;
        self.moved_at = now;
    }
}

impl Aqm for Gsp {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        match self.judge_arrival(env, packet, queue) {
            Judgement::Settled(verdict) => verdict,
            Judgement::SignalDue => self.signal(env, packet),
        }
    }

    fn on_overflow(&mut self, env: &mut Env<'_>, _packet: PacketView, queue: QueueView) {
        let _signalled_by_the_drop = self.observe_arrival(env, queue);
        self.settle();
        self.room = Room::Overflowed;
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        match self.judge_departure(env, head, queue) {
            Judgement::Settled(verdict) => verdict,
            Judgement::SignalDue => self.signal(env, head),
        }
    }

    #[inline]
    fn on_emptied(&mut self, _now: Instant) {
        self.note_empty();
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.follow(env.link_rate);
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("interval_s", self.interval().as_secs_f64());
        visit("surplus_s", self.surplus() / 1e9);
    }
}

pub(super) const THRESHOLD: TypedParam<Option<Size>> = TypedParam::auto("threshold", "preset_interval / 40")
    .within(0.0, 1e12)
    .about("above it packets are signaled: a time, or any amount of queue with measure = \"backlog\"")
    .from_source("steering study §IV")
    .as_threshold();
pub(super) const MEASURE: TypedParam<&str> = TypedParam::word("measure", &["delay", "backlog"], "delay")
    .about("what the threshold is compared with")
    .from_source("Lautenschlaeger and Francini 2015");
const PRESET_INTERVAL: TypedParam<Duration> = TypedParam::duration("preset_interval", Duration::ms(100))
    .within(1e-6, 100.0)
    .about("time without signals after a signal, at most")
    .from_source("steering study §IV");
const RTT: TypedParam<Option<Duration>> = TypedParam::auto("rtt", "unknown: preset_interval as it is")
    .within(1e-6, 50.0)
    .about("usual round-trip time of the senders, two of which replace preset_interval")
    .from_source("our choice");
const TAU: TypedParam<Option<Duration>> = TypedParam::auto("tau", "5 preset_interval")
    .within(1e-6, 1e4)
    .about("surplus of time above the threshold that halves the interval")
    .from_source("Lautenschlaeger and Francini 2015");
const ALPHA: TypedParam<f64> = TypedParam::number("alpha", 2.0)
    .within(0.0, 1e3)
    .about("weight of time above the threshold against time below")
    .from_source("Lautenschlaeger and Francini 2015");
const MAX_TIME: TypedParam<Option<Duration>> = TypedParam::auto("max_time", "19 tau: the interval shrinks to a twentieth")
    .within(0.0, 1e6)
    .about("largest surplus of time above the threshold that is remembered")
    .from_source("our choice");
const ADAPTIVE: TypedParam<bool> = TypedParam::on("adaptive")
    .about("shorten the interval while the queue is more above the threshold than below")
    .from_source("Lautenschlaeger and Francini 2015");

/// Reads the longest interval: as given, or by the round-trip time.
pub(super) fn preset_interval(given: &ParamValues<'_>) -> Result<Duration, ParamError> {
    let Some(rtt) = RTT.read(given) else { return Ok(PRESET_INTERVAL.read(given)) };
    given.refuse_unused(&[PRESET_INTERVAL.name()], RTT.name(), rtt)?;
    Ok(rtt * ROUND_TRIPS_AN_INTERVAL)
}

/// The setting with which the threshold is a time.
const BY_DELAY: Setting = Setting { name: MEASURE.name(), value: Value::Choice("delay") };

impl GspParams {
    /// Reads the interval and its adaptation; the threshold is a fortieth of the interval.
    fn without_threshold(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let preset_interval = preset_interval(given)?;
        let adaptive = ADAPTIVE.read(given);
        if !adaptive {
            given.refuse_unused(&[TAU.name(), ALPHA.name(), MAX_TIME.name()], ADAPTIVE.name(), false)?;
        }
        let tau = TAU.read(given).unwrap_or(preset_interval * INTERVALS_A_TAU);
        let adaptation = Adaptation { tau, alpha: ALPHA.read(given), max_time: MAX_TIME.read(given).unwrap_or(tau * MAX_TAUS) };
        Ok(Self {
            threshold: Threshold::Delay(preset_interval.div(THRESHOLDS_AN_INTERVAL)),
            preset_interval,
            adaptation: adaptive.then_some(adaptation),
            mtu: link.mtu,
        })
    }
}

impl Algorithm for Gsp {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "gsp",
            aliases: &[],
            title: "GSP",
            summary: "Above a threshold signals one packet, then none for an interval, so that flows are hit one at a time",
            params: &[
                THRESHOLD.param,
                MEASURE.param,
                PRESET_INTERVAL.param,
                RTT.param,
                ADAPTIVE.param,
                TAU.param,
                ALPHA.param,
                MAX_TIME.param,
            ],
            source: "Lautenschlaeger and Francini 2015",
        },
        Family::Threshold,
        "sojourn time of the last departure, or backlog, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let mut params = GspParams::without_threshold(given, link)?;
        let automatic = Size::Time(params.preset_interval.div(THRESHOLDS_AN_INTERVAL));
        params.threshold = match (MEASURE.read(given), THRESHOLD.read(given).unwrap_or(automatic)) {
            ("backlog", size) => Threshold::Backlog(size),
            (_, Size::Time(delay)) => Threshold::Delay(delay),
            (_, amount) => {
                let (value, with) = (amount.into(), &BY_DELAY);
                return Err(THRESHOLD.fault(ParamFault::Conflict { value, with, allowed: "a time" }));
            }
        };
        if let Threshold::Backlog(Size::Time(_)) = params.threshold
            && link.rate.is_none()
        {
            return Err(THRESHOLD.fault(ParamFault::TimeWithoutRate));
        }
        Ok(Self::new(params, link.rate))
    }
}

#[cfg(test)]
mod tests;
