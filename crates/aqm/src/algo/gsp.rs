//! GSP: above a threshold one packet is signalled, then none for a while, so that flows are hit one at a time.
//!
//! *Signal*: the sojourn time of the packet that departed last (zero while nothing waits), or the backlog; acts on arrival.
//!
//! *Law*: an arriving packet is signalled when the queue is above `threshold` and the last signal is more than an `interval` ago.
//! Basic GSP keeps `interval = preset_interval`. Adaptive GSP weighs time above the threshold against time below,
//! `cum = clamp(cum + alpha * above - below, 0, max_time)`, and shortens `interval = preset_interval / (1 + cum / tau)`. After an
//! overflow time below does not count until the queue has run empty and risen above the threshold again.
//!
//! *Parameters*: `preset_interval` 100 ms (steering study: 40 times the threshold), `threshold` a fortieth of it, `tau` 5 of it,
//! `alpha` 2 (the authors: a ratio of 5, not much larger than 1), `max_time` 19 `tau`, which bounds the interval to a twentieth
//! (our choice; the authors give none), `adaptive` on, `measure` delay.
//!
//! *Departures*: ECN-capable packets may be marked in place of the drop (the sources leave ECN open). With nothing waiting the delay
//! is zero, as a stale one would cost a packet that found the queue empty. While the link's rate is zero or unknown, the time
//! since the last departure (or since the queue was empty) is a lower bound of the delay, so that a stalled link is seen.
//!
//! *Limits*: one signal an interval: load that does not respond is left to the queue's limit. Thresholds of less than the sending
//! time of a packet or two mean a signal an interval whenever anything waits.
//!
//! *Source*: Lautenschlaeger and Francini 2015; Bless, Hock and Zitterbart 2018 §IV.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Size, Unit, Value};
use crate::steering::{Judgement, Pace, Steerable};
use goodqueue_units::{Bytes, Duration, Instant, Rate};

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// The sojourn time of the last departure with a time.
    Delay(Duration),
    /// The backlog with an amount of queue; a time counts at the link's rate and follows it.
    Backlog(Size),
}

/// How the interval follows the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// Surplus of time above the threshold that halves the interval.
    pub tau: Duration,
    /// Weight of time above the threshold against time below.
    pub alpha: f64,
    /// Largest surplus remembered.
    pub max_time: Duration,
}

/// GSP's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GspParams {
    /// Above it packets are signalled.
    pub threshold: Threshold,
    /// Time without signals after a signal, at most.
    pub preset_interval: Duration,
    /// `None`: basic GSP, whose interval never changes.
    pub adaptation: Option<Adaptation>,
    /// Size of the packets that a threshold in packets counts.
    pub mtu: Bytes,
}

impl Default for GspParams {
    /// Adaptive, on delay: 2.5 ms, 100 ms, 500 ms, 2, 9.5 s.
    fn default() -> Self {
        Self {
            threshold: Threshold::Delay(DEFAULT_INTERVAL.div(THRESHOLDS_AN_INTERVAL)),
            preset_interval: DEFAULT_INTERVAL,
            adaptation: Some(Adaptation {
                tau: DEFAULT_INTERVAL * INTERVALS_A_TAU,
                alpha: DEFAULT_ALPHA,
                max_time: DEFAULT_INTERVAL * INTERVALS_A_TAU * TAUS_AT_MOST,
            }),
            mtu: Bytes::new(1500),
        }
    }
}

const DEFAULT_INTERVAL: Duration = Duration::ms(100);
/// Bless, Hock and Zitterbart 2018 §IV: the threshold is 0.025 of the interval.
pub(crate) const THRESHOLDS_AN_INTERVAL: u64 = 40;
const INTERVALS_A_TAU: u64 = 5;
const TAUS_AT_MOST: u64 = 19;
const DEFAULT_ALPHA: f64 = 2.0;

/// Does time below the threshold count?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// It does.
    Clear,
    /// Not since an overflow.
    Overflowed,
    /// Nor since the queue then ran empty; again once it has been above the threshold.
    Drained,
}

/// GSP's state: one a queue.
#[derive(Clone, Debug)]
pub struct Gsp {
    params: GspParams,
    /// Delay above which to signal; `MAX` when the backlog is what counts.
    most_delay: Duration,
    /// Backlog above which to signal; `MAX` when the delay is what counts.
    most_backlog: Bytes,
    /// No signals until this time has passed.
    quiet_until: Instant,
    /// Surplus of time above the threshold, in ns, without `span`.
    surplus: f64,
    room: Room,
    /// Time on one side of the threshold that is not in `surplus` yet: adding whole numbers is what most packets cost.
    span: Duration,
    /// That side.
    is_span_above: bool,
    /// Up to when time has been counted.
    counted_to: Instant,
    /// Sojourn time of the last departure; zero while nothing waits.
    delay: Duration,
    /// The last departure, or the arrival that ended an empty queue.
    moved_at: Instant,
}

impl Default for Gsp {
    fn default() -> Self {
        Self::new(GspParams::default(), None)
    }
}

impl Gsp {
    /// GSP with these settings on a link of this rate. A threshold in time on the backlog never signals before a rate is known.
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

    /// Surplus of time above the threshold so far, in ns.
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

    /// Adds the open span to the surplus.
    fn settle(&mut self) {
        self.surplus = self.surplus();
        self.span = Duration::ZERO;
    }

    /// Works out a threshold on the backlog for a link of this rate; a link that is down keeps the last one.
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

    /// Nothing has departed for longer than the threshold, from a link that may have stopped?
    fn is_stalled(&self, env: &Env<'_>, queue: QueueView) -> bool {
        env.link_rate.is_none_or(Rate::is_zero)
            && !queue.packets.is_zero()
            && env.now.since(self.moved_at) > self.most_delay
    }

    /// Counts the time since the last event, all of it spent above the threshold or below.
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

    /// Brings the books up to an arrival that finds `queue`. Is the queue above the threshold?
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

    /// Every signal may move the setpoint: the interval keeps them apart.
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

const PRESET_INTERVAL: ParamSpec = ParamSpec {
    name: "preset_interval",
    unit: Unit::Duration,
    default: ParamDefault::Value(Value::Duration(DEFAULT_INTERVAL)),
    range: (1e-6, 100.0),
    doc: "time without signals after a signal, at most",
    source: "steering study §IV",
};
const TAU: ParamSpec = ParamSpec {
    name: "tau",
    unit: Unit::Duration,
    default: ParamDefault::Auto("5 preset_interval"),
    range: (1e-6, 1e4),
    doc: "surplus of time above the threshold that halves the interval",
    source: "Lautenschlaeger and Francini 2015",
};
const ALPHA: ParamSpec = ParamSpec {
    name: "alpha",
    unit: Unit::Number,
    default: ParamDefault::Value(Value::Number(DEFAULT_ALPHA)),
    range: (0.0, 1e3),
    doc: "weight of time above the threshold against time below",
    source: "Lautenschlaeger and Francini 2015",
};
const MAX_TIME: ParamSpec = ParamSpec {
    name: "max_time",
    unit: Unit::Duration,
    default: ParamDefault::Auto("19 tau: the interval shrinks to a twentieth"),
    range: (0.0, 1e6),
    doc: "largest surplus of time above the threshold that is remembered",
    source: "our choice",
};
const ADAPTIVE: ParamSpec = ParamSpec {
    name: "adaptive",
    unit: Unit::Switch,
    default: ParamDefault::Value(Value::Switch(true)),
    range: (0.0, 1.0),
    doc: "shorten the interval while the queue is more above the threshold than below",
    source: "Lautenschlaeger and Francini 2015",
};

impl GspParams {
    /// The interval and its adaptation; the threshold is a fortieth of the interval.
    fn without_threshold(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let preset_interval = given.duration("preset_interval").unwrap_or(DEFAULT_INTERVAL);
        let adaptive = given.switch("adaptive") != Some(false);
        if let Some(param) = ["tau", "alpha", "max_time"].into_iter().find(|name| !adaptive && given.is_given(name)) {
            return Err(ParamError { param, message: "has no meaning with adaptive = false".into() });
        }
        let tau = given.duration("tau").unwrap_or(preset_interval * INTERVALS_A_TAU);
        let adaptation = Adaptation {
            tau,
            alpha: given.number("alpha").unwrap_or(DEFAULT_ALPHA),
            max_time: given.duration("max_time").unwrap_or(tau * TAUS_AT_MOST),
        };
        Ok(Self {
            threshold: Threshold::Delay(preset_interval.div(THRESHOLDS_AN_INTERVAL)),
            preset_interval,
            adaptation: adaptive.then_some(adaptation),
            mtu: link.mtu,
        })
    }
}

impl Algorithm for Gsp {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "gsp",
        summary: "Above a threshold signals one packet, then none for an interval, so that flows are hit one at a time",
        signal: "sojourn time of the last departure, or backlog, on arrival",
        marks: true,
        params: &[
            ParamSpec {
                name: "threshold",
                unit: Unit::Size,
                default: ParamDefault::Auto("preset_interval / 40"),
                range: (0.0, 1e12),
                doc: "above it packets are signalled: a time, or any amount of queue with measure = \"backlog\"",
                source: "steering study §IV",
            },
            ParamSpec {
                name: "measure",
                unit: Unit::Choice(&["delay", "backlog"]),
                default: ParamDefault::Value(Value::Choice("delay")),
                range: (0.0, 0.0),
                doc: "what the threshold is compared with",
                source: "Lautenschlaeger and Francini 2015",
            },
            PRESET_INTERVAL,
            ADAPTIVE,
            TAU,
            ALPHA,
            MAX_TIME,
        ],
        source: "Lautenschlaeger and Francini 2015",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let mut params = GspParams::without_threshold(given, link)?;
        let size = match given.value("threshold") {
            Some(Value::Size(size)) => size,
            _ => Size::Time(params.preset_interval.div(THRESHOLDS_AN_INTERVAL)),
        };
        params.threshold = match (given.choice("measure"), size) {
            (Some("backlog"), size) => Threshold::Backlog(size),
            (_, Size::Time(delay)) => Threshold::Delay(delay),
            _ => {
                let message = "is an amount of queue: with measure = \"delay\" it must be a time".into();
                return Err(ParamError { param: "threshold", message });
            }
        };
        if let Threshold::Backlog(Size::Time(_)) = params.threshold
            && link.rate.is_none()
        {
            let message = "a time needs a link of known rate: use bytes or packets".into();
            return Err(ParamError { param: "threshold", message });
        }
        Ok(Self::new(params, link.rate))
    }
}

#[cfg(test)]
mod tests;
