//! PIE's settings, and the parameters of files that they are made from.

use crate::queue::Limit;
use crate::spec::{Default as ParamDefault, Given, LinkFacts, ParamError, ParamSpec, Size, Unit, Value};
use goodqueue_units::{Bytes, Duration};

/// How PIE learns the queue delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// From the sojourn time of departing packets.
    #[default]
    Timestamp,
    /// From the backlog and the time that `dq_threshold` bytes took to depart.
    DepartureRate,
}

/// PIE's settings; what each packet asks for comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PieParams {
    /// How the delay is learnt.
    pub estimator: Estimator,
    /// Space signals evenly?
    pub derandomize: bool,
    /// Bound the steps up?
    pub cap_drop: bool,
    /// Rest while the queue is short?
    pub active_inactive: bool,
    /// Leave out updates that would change nothing, of an empty queue at rest? For many queues of which few are in use.
    pub dozes: bool,
    /// Scale the probability by packet size?
    pub bytes: bool,
    /// Delay to settle at.
    pub target: Duration,
    /// Time between updates.
    pub t_update: Duration,
    /// Time without signals at the start of a busy period.
    pub max_burst: Duration,
    /// Gain on the distance to `target`, in 1/s.
    pub alpha: f64,
    /// Gain on the change of the delay, in 1/s.
    pub beta: f64,
    /// From this probability on ECN-capable packets are dropped, too.
    pub mark_ecnth: f64,
    /// No signals while two packets of this size or less wait.
    pub mean_pktsize: Bytes,
    /// Bytes in one measurement of the departure rate.
    pub dq_threshold: Bytes,
    /// The queue's limit; a third of it wakes the controller.
    pub limit: Limit,
}

impl Default for PieParams {
    /// RFC 8033 §4 and §5 with packets of 1500 bytes and no limit (so never at rest).
    fn default() -> Self {
        Self {
            target: Duration::ms(15),
            t_update: Duration::ms(15),
            max_burst: Duration::ms(150),
            alpha: 0.125,
            beta: 1.25,
            mark_ecnth: 0.1,
            mean_pktsize: Bytes::new(1500),
            dq_threshold: Bytes::new(1 << 14),
            estimator: Estimator::Timestamp,
            derandomize: true,
            cap_drop: true,
            active_inactive: false,
            dozes: false,
            bytes: false,
            limit: Limit::NONE,
        }
    }
}

const fn switch(name: &'static str, on: bool, doc: &'static str, source: &'static str) -> ParamSpec {
    let default = ParamDefault::Value(Value::Switch(on));
    ParamSpec { name, unit: Unit::Switch, default, range: (0.0, 1.0), doc, source }
}

const fn duration(name: &'static str, default: Duration, doc: &'static str) -> ParamSpec {
    let default = ParamDefault::Value(Value::Duration(default));
    ParamSpec { name, unit: Unit::Duration, default, range: (1e-6, 100.0), doc, source: "RFC 8033 §4" }
}

const fn gain(name: &'static str, default: f64, doc: &'static str) -> ParamSpec {
    let default = ParamDefault::Value(Value::Number(default));
    ParamSpec { name, unit: Unit::Number, default, range: (0.0, 1e6), doc, source: "RFC 8033 §4.2" }
}

pub(crate) const TARGET: ParamSpec = duration("target", Duration::ms(15), "delay to settle at");
pub(crate) const T_UPDATE: ParamSpec = duration("t_update", Duration::ms(15), "time between updates of the probability");
pub(crate) const MAX_BURST: ParamSpec =
    duration("max_burst", Duration::ms(150), "time without signals at the start of a busy period");
pub(crate) const ALPHA: ParamSpec = gain("alpha", 0.125, "gain on the distance to the target, in 1/s");
pub(crate) const BETA: ParamSpec = gain("beta", 1.25, "gain on the change of the delay, in 1/s");
pub(crate) const MARK_ECNTH: ParamSpec = ParamSpec {
    name: "mark_ecnth",
    unit: Unit::Ratio,
    default: ParamDefault::Value(Value::Number(0.1)),
    range: (0.0, 1.0),
    doc: "from this probability on ECN-capable packets are dropped, too",
    source: "RFC 8033 §5.1",
};
pub(crate) const MEAN_PKTSIZE: ParamSpec = ParamSpec {
    name: "mean_pktsize",
    unit: Unit::Size,
    default: ParamDefault::Auto("one MTU"),
    range: (1.0, 65536.0),
    doc: "no signals while two packets of this size or less wait",
    source: "RFC 8033 §4.1",
};
pub(crate) const DQ_THRESHOLD: ParamSpec = ParamSpec {
    name: "dq_threshold",
    unit: Unit::Size,
    default: ParamDefault::Value(Value::Size(Size::Bytes(16384.0))),
    range: (1.0, 1e9),
    doc: "bytes in one measurement of the departure rate",
    source: "RFC 8033 §5.2",
};
pub(crate) const ESTIMATOR: ParamSpec = ParamSpec {
    name: "estimator",
    unit: Unit::Choice(&["timestamp", "departure-rate"]),
    default: ParamDefault::Value(Value::Choice("timestamp")),
    range: (0.0, 0.0),
    doc: "how the queue delay is learnt",
    source: "RFC 8033 §5.2",
};
pub(crate) const DERANDOMIZE: ParamSpec = switch("derandomize", true, "space signals evenly", "RFC 8033 §5.4");
pub(crate) const CAP_DROP: ParamSpec = switch("cap_drop", true, "bound the steps up of the probability", "RFC 8033 §5.5");
pub(crate) const ACTIVE_INACTIVE: ParamSpec =
    switch("active_inactive", true, "rest while less than a third of the limit waits", "RFC 8033 §5.3");
pub(crate) const BYTES: ParamSpec = switch("bytes", false, "scale the probability by packet size", "Linux");

impl PieParams {
    /// What the kinds that run PIE have in common.
    pub(crate) fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self { mean_pktsize: link.mtu, limit: link.limit, ..Self::default() };
        let departure_rate = given.choice("estimator") == Some("departure-rate");
        Ok(Self {
            target: given.duration("target").unwrap_or(defaults.target),
            t_update: given.duration("t_update").unwrap_or(defaults.t_update),
            max_burst: given.duration("max_burst").unwrap_or(defaults.max_burst),
            alpha: given.number("alpha").unwrap_or(defaults.alpha),
            beta: given.number("beta").unwrap_or(defaults.beta),
            mark_ecnth: given.number("mark_ecnth").unwrap_or(defaults.mark_ecnth),
            mean_pktsize: given.bytes("mean_pktsize", link)?.unwrap_or(defaults.mean_pktsize),
            dq_threshold: given.bytes("dq_threshold", link)?.unwrap_or(defaults.dq_threshold),
            estimator: if departure_rate { Estimator::DepartureRate } else { Estimator::Timestamp },
            derandomize: given.switch("derandomize").unwrap_or(defaults.derandomize),
            cap_drop: given.switch("cap_drop").unwrap_or(defaults.cap_drop),
            bytes: given.switch("bytes").unwrap_or(defaults.bytes),
            ..defaults
        })
    }
}

