//! nfqCoDel: weighted fair queueing by time stamps, with a CoDel per flow whose target and interval
//! follow the weight of the flow.
//!
//! *Signal*: the sojourn time at the head of each flow.
//!
//! *Law*: each flow has a queue and a weight `w`. A packet that becomes the head of its queue gets
//! the stamp `len / w`; when no stamp is zero the smallest is subtracted from all; flows with a
//! stamp of zero are served in round robin ([`crate::sched::weighted`]). The CoDel of a flow has
//! `interval + 1/w` and `target + 0.0075 w`, in units of a second (`unit = "milliseconds"`: of a
//! millisecond); with `adaptive` off all flows use `interval` and `target`.
//!
//! *Parameters*: see `KINDS`. `adaptive` parameters are those of the study (§V-B). The unit of
//! seconds is that of ns-2, and only with it is there an effect.
//!
//! *Deviations*: stamps are kept between decisions; recomputed at each decision, as the text can
//! also be read, they would starve low weights. Packets that CoDel drops are free: only the
//! delivered packet is charged. The target is at most half the interval (binding from w = 12 on).
//! Without room the arriving packet is dropped. ECN-capable packets may be marked; the study only
//! drops. Flows beyond `flows` share the existing queues.
//!
//! *Limits*: weights are relative for the shares but absolute for target and interval: doubling all
//! of them changes the delay. At weight 1 CoDel reacts after 1.1 s. Queues of ended flows stay,
//! empty.
//!
//! *Source*: Kushwaha and Gupta 2018 §V; RFC 8289.

use super::weighted::{WeightedQueue, WeightedQueueParams};
use crate::algo::codel::{self, CoDel, CoDelParams};
use crate::aqm::{Aqm, Env, PacketView, QueueView, Verdict};
use crate::outline::aside;
use crate::qdisc::Packet;
use crate::queue::Limit;
use crate::sched::{Scheduler, Setup};
use crate::spec::{Family, Kind, KindSpec, ParamError, ParamValues, Size, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant, Packets};

/// CoDel whose target and interval follow the flow's weight.
#[derive(Clone, Debug)]
pub struct MCoDel {
    codel: CoDel,
    params: CoDelParams,
    /// Unit of `1/w` and `0.0075 w`; `None`: they do not count.
    unit: Option<Duration>,
}

impl MCoDel {
    /// CoDel with `params` to which a weight adds its part in `unit`s; the weight is 1 until set
    /// otherwise.
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

const ADAPTIVE: TypedParam<bool> =
    TypedParam::on("adaptive").about("let target and interval follow the weight").from_source("Kushwaha and Gupta 2018 §V-B");
const UNIT: TypedParam<&str> = TypedParam::word("unit", &["seconds", "milliseconds"], "seconds")
    .about("what the weight's part of the interval, 1/w, and of the target, 0.0075 w, are counted in")
    .from_source("our reading");
const FLOW_LIMIT: TypedParam<Option<Size>> = TypedParam::auto("flow_limit", "none")
    .within(1.0, 1e10)
    .about("what each flow may hold, in addition to the limit over all")
    .from_source("our reading of Kushwaha and Gupta 2018, table 4");
const FLOWS: TypedParam<u32> = TypedParam::count("flows", 65_536)
    .within(1.0, 1_048_576.0)
    .about("most queues; flows beyond that share them")
    .as_queues(&[])
    .from_source("our choice");

impl Default for WeightedQueueParams {
    /// 65536 queues, no limit of their own.
    fn default() -> Self {
        Self { flows: FLOWS.default, flow_limit: Limit::NONE }
    }
}

const KIND: KindSpec = KindSpec {
    uses_weights: true,
    queue_bytes: 320,
    ..KindSpec::new(
        Kind {
            kind: "nfq-codel",
            aliases: &[],
            title: "nfqCoDel",
            summary: "Weighted fair queueing by time stamps, CoDel on each flow with a target and interval by weight",
            params: &[codel::TARGET.param, codel::INTERVAL.param, ADAPTIVE.param, UNIT.param, FLOW_LIMIT.param, FLOWS.param],
            source: "Kushwaha and Gupta 2018",
        },
        Family::FlowQueueing,
        "sojourn time, at each flow's head",
    )
};

/// The kind `nfq-codel`.
#[derive(Clone, Copy, Debug)]
pub struct NfqCoDelKind;

impl Scheduler for NfqCoDelKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = WeightedQueue<P, MCoDel>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let is_adaptive = ADAPTIVE.read(given);
        if !is_adaptive {
            given.refuse_unused(&[UNIT.name()], ADAPTIVE.name(), false)?;
        }
        let in_millis = UNIT.read(given) == "milliseconds";
        let unit = is_adaptive.then(|| if in_millis { Duration::ms(1) } else { Duration::secs(1) });
        let flow_bytes = FLOW_LIMIT.bytes(given, setup.link.mtu, setup.link.rate)?.unwrap_or(Bytes::MAX);
        let params = WeightedQueueParams { flows: FLOWS.read(given), flow_limit: Limit { bytes: flow_bytes, ..Limit::NONE } };
        let codel = MCoDel::new(CoDelParams::of_target_and_interval(given, setup.link)?, unit);
        Ok(aside(|| {
            let mut queue = WeightedQueue::new(codel, setup.link.limit, params);
            queue.set_up(setup);
            keep(queue)
        }))
    }
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
