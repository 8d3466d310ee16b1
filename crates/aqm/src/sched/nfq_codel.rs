//! nfqCoDel: weighted fair queueing by time stamps with a CoDel for each flow whose target and interval follow its weight.
//!
//! *Signal*: sojourn time, at each flow's head.
//!
//! *Law*: each flow has a queue and a weight `w`. A packet that becomes the head of its queue gets the stamp `len / w`; when no stamp is zero the
//! smallest is subtracted from all; flows with a stamp of zero are served in round robin ([`crate::sched::weighted`]). The flow's CoDel has
//! `interval + 1/w` and `target + 0.0075 w`, in units of a second (`unit = "milliseconds"`: of a millisecond), or with `adaptive` off
//! those of all others.
//!
//! *Parameters*: `target` 5 ms, `interval` 100 ms, `adaptive` on (the study §V-B); `unit` seconds, as ns-2 counts and as only that
//! makes a difference; `flow_limit` none; `flows` 65536.
//!
//! *Departures*: stamps are kept between decisions; made anew at each of them, as the text can be read, they would starve low
//! weights. A packet whose predecessors CoDel dropped is charged by itself, they are free. The target is at most half the interval (binds
//! from w = 12 on). Without room the arriving packet is dropped. ECN-capable packets may be marked; the study drops only. Flows beyond
//! `flows` share the queues there are.
//!
//! *Limits*: weights are relative for the shares but absolute for target and interval: doubling all of them changes the delay. At weight 1
//! CoDel reacts after 1.1 s. Queues of flows that ended stay, empty.
//!
//! *Source*: Kushwaha and Gupta 2018 §V; RFC 8289.

use super::weighted::{WeightedQueue, WeightedQueueParams};
use crate::algo::codel::{self, CoDel, CoDelParams};
use crate::aqm::{Aqm, Env, PacketView, QueueView, Verdict};
use crate::qdisc::Packet;
use crate::queue::Limit;
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use goodqueue_units::{Bytes, Duration, Instant, Packets};

/// CoDel whose target and interval follow the flow's weight.
#[derive(Clone, Debug)]
pub struct MCoDel {
    codel: CoDel,
    params: CoDelParams,
    /// What `1/w` and `0.0075 w` are counted in; `None`: they do not count.
    unit: Option<Duration>,
}

impl MCoDel {
    /// CoDel with `params` to which a weight adds its part in `unit`s; at weight 1 until told otherwise.
    #[must_use]
    pub fn new(params: CoDelParams, unit: Option<Duration>) -> Self {
        let mut codel = Self { codel: CoDel::new(params), params, unit };
        codel.on_weight(1.0);
        codel
    }

    /// Target and interval at weight `weight`.
    fn at(&self, weight: f64) -> (Duration, Duration) {
        let CoDelParams { target, interval, .. } = self.params;
        match self.unit {
            None => (target, interval),
            Some(unit) => {
                let interval = interval + unit.mul_f64(1.0 / weight);
                ((target + unit.mul_f64(0.0075 * weight)).min(interval.div(2)), interval)
            }
        }
    }
}

impl Aqm for MCoDel {
    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        self.codel.on_departure(env, head, queue)
    }
    #[inline]
    fn on_idle(&mut self, now: Instant) {
        self.codel.on_idle(now);
    }
    fn on_evicted(&mut self, env: &mut Env<'_>, count: Packets) {
        self.codel.on_evicted(env, count);
    }
    fn on_weight(&mut self, weight: f64) {
        let (target, interval) = self.at(weight);
        self.codel = CoDel::new(CoDelParams { target, interval, ..self.params });
    }
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.codel.gauges(visit);
    }
}

/// The kind that a file can name.
pub const KIND: KindSpec = KindSpec {
    kind: "nfq-codel",
    summary: "Weighted fair queueing by time stamps, CoDel on each flow with a target and interval by weight",
    signal: "sojourn time, at each flow's head",
    marks: true,
    params: &[
        codel::TARGET,
        codel::INTERVAL,
        ParamSpec {
            name: "adaptive",
            unit: Unit::Switch,
            default: ParamDefault::Value(Value::Switch(true)),
            range: (0.0, 1.0),
            doc: "let target and interval follow the weight",
            source: "Kushwaha and Gupta 2018 §V-B",
        },
        ParamSpec {
            name: "unit",
            unit: Unit::Choice(&["seconds", "milliseconds"]),
            default: ParamDefault::Value(Value::Choice("seconds")),
            range: (0.0, 0.0),
            doc: "what the weight's part of the interval, 1/w, and of the target, 0.0075 w, are counted in",
            source: "our reading",
        },
        ParamSpec {
            name: "flow_limit",
            unit: Unit::Size,
            default: ParamDefault::Auto("none"),
            range: (1.0, 1e10),
            doc: "what each flow may hold, beside the limit over all",
            source: "our reading of Kushwaha and Gupta 2018, table 4",
        },
        ParamSpec {
            name: "flows",
            unit: Unit::Count,
            default: ParamDefault::Value(Value::Number(65_536.0)),
            range: (1.0, 1_048_576.0),
            doc: "most queues; flows beyond that share them",
            source: "our choice",
        },
    ],
    source: "Kushwaha and Gupta 2018",
};

/// nfqCoDel with the parameters of [`KIND`].
///
/// # Errors
/// When parameters contradict each other or the link.
pub fn build<P: Packet>(given: &Given<'_>, link: &LinkFacts) -> Result<WeightedQueue<P, MCoDel>, ParamError> {
    let is_adaptive = given.switch("adaptive") != Some(false);
    if !is_adaptive && given.is_given("unit") {
        let message = "has no meaning with adaptive = false".into();
        return Err(ParamError { param: "unit", message });
    }
    let in_millis = given.choice("unit") == Some("milliseconds");
    let unit = is_adaptive.then(|| if in_millis { Duration::ms(1) } else { Duration::secs(1) });
    let flow_bytes = given.bytes("flow_limit", link)?.unwrap_or(Bytes::MAX);
    let params = WeightedQueueParams {
        flows: given.number("flows").map_or(65_536, |n| n as u32),
        flow_limit: Limit { bytes: flow_bytes, ..Limit::NONE },
    };
    let codel = MCoDel::new(CoDelParams::of_target_and_interval(given, link)?, unit);
    Ok(WeightedQueue::new(codel, link.limit, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kushwaha and Gupta 2018 §V-B.
    #[test]
    fn target_and_interval_follow_the_weight() {
        let seconds = MCoDel::new(CoDelParams::default(), Some(Duration::secs(1)));
        let expected = [(1.0, 12_500, 1_100_000), (2.0, 20_000, 600_000), (4.0, 35_000, 350_000)];
        for (weight, target, interval) in expected {
            assert_eq!(seconds.at(weight), (Duration::us(target), Duration::us(interval)));
        }
        let millis = MCoDel::new(CoDelParams::default(), Some(Duration::ms(1)));
        assert_eq!(millis.at(2.0), (Duration::us(5_015), Duration::us(100_500)));
        let fixed = MCoDel::new(CoDelParams::default(), None);
        assert_eq!(fixed.at(4.0), (Duration::ms(5), Duration::ms(100)));
    }

    #[test]
    fn the_target_is_at_most_half_the_interval() {
        let seconds = MCoDel::new(CoDelParams::default(), Some(Duration::secs(1)));
        let (target, interval) = seconds.at(11.0);
        assert!(target < interval.div(2));
        let (target, interval) = seconds.at(12.0);
        assert_eq!(target, interval.div(2));
    }
}
