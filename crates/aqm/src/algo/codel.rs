//! CoDel: drops from the head when the minimum sojourn time stayed above a target for an interval.
//!
//! *Signal*: sojourn time of the departing packet, judged at the head.
//! *Law*: once sojourn has been at least `target` for `interval`, signal; then again after `interval / sqrt(count)`, `count`
//! rising with each signal, until sojourn falls below `target` or no more than one MTU waits.
//! *Source*: RFC 8289 §5.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::math::sqrt;
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use goodqueue_units::{Bytes, Duration, Instant};

/// CoDel's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoDelParams {
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time the delay must stay above `target` before the first signal; about the largest expected RTT.
    pub interval: Duration,
    /// No signal while at most so many bytes wait.
    pub mtu: Bytes,
}

impl Default for CoDelParams {
    /// 5 ms, 100 ms, 1500 bytes (RFC 8289 §4.2, §4.3, §5.2).
    fn default() -> Self {
        Self { target: Duration::ms(5), interval: Duration::ms(100), mtu: Bytes::new(1500) }
    }
}

/// CoDel's state: one a queue.
#[derive(Clone, Debug, Default)]
pub struct CoDel {
    params: CoDelParams,
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// The head was dropped in the dropping state and the schedule waits for the verdict on its successor.
    reschedule: bool,
}

impl CoDel {
    /// CoDel with these settings.
    #[must_use]
    pub fn new(params: CoDelParams) -> Self {
        Self { params, ..Self::default() }
    }

    fn control_law(&self, from: Instant) -> Instant {
        from + self.params.interval.mul_f64(1.0 / sqrt(f64::from(self.count.max(1))))
    }

    fn ok_to_signal(&mut self, now: Instant, head: PacketView, queue: QueueView) -> bool {
        if head.sojourn(now) < self.params.target || queue.backlog <= self.params.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.params.interval);
                false
            }
            Some(since) => now >= since,
        }
    }
}

impl Aqm for CoDel {
    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        let now = env.now;
        let ok = self.ok_to_signal(now, head, queue);
        if self.dropping {
            if !ok {
                self.dropping = false;
                self.reschedule = false;
                return Verdict::Pass;
            }
            if self.reschedule {
                self.reschedule = false;
                self.drop_next = self.control_law(self.drop_next);
            }
            if now < self.drop_next {
                return Verdict::Pass;
            }
            self.count = self.count.saturating_add(1);
            if head.ecn.is_capable() {
                self.drop_next = self.control_law(self.drop_next);
            } else {
                self.reschedule = true;
            }
            return Verdict::Signal(Reason::Head);
        }
        // After the first drop of an episode its successor is delivered whatever its sojourn time.
        if self.reschedule {
            self.reschedule = false;
        }
        if !ok {
            return Verdict::Pass;
        }
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        self.count = if delta > 1 && now.since(self.drop_next) < self.params.interval * 16 { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
        Verdict::Signal(Reason::Head)
    }

    fn on_idle(&mut self, _now: Instant) {
        self.first_above = None;
        self.dropping = false;
        self.reschedule = false;
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("count", f64::from(self.count));
        visit("dropping", f64::from(u8::from(self.dropping)));
    }
}

impl Algorithm for CoDel {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "codel",
        summary: "Controls the minimum sojourn time over an interval",
        signal: "sojourn time, at the head",
        marks: true,
        params: &[
            ParamSpec {
                name: "target",
                unit: Unit::Duration,
                default: ParamDefault::Value(Value::Duration(Duration::ms(5))),
                range: (1e-6, 10.0),
                doc: "acceptable standing delay",
                source: "RFC 8289 §4.3",
            },
            ParamSpec {
                name: "interval",
                unit: Unit::Duration,
                default: ParamDefault::Value(Value::Duration(Duration::ms(100))),
                range: (1e-6, 100.0),
                doc: "time above target before the first signal",
                source: "RFC 8289 §4.2",
            },
        ],
        source: "RFC 8289 §5",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = CoDelParams::default();
        let params = CoDelParams {
            target: given.duration("target").unwrap_or(defaults.target),
            interval: given.duration("interval").unwrap_or(defaults.interval),
            mtu: link.mtu,
        };
        if params.target > params.interval {
            return Err(ParamError {
                param: "target",
                message: alloc::format!("{} is longer than interval ({}): allowed up to interval", params.target, params.interval),
            });
        }
        Ok(Self::new(params))
    }
}
