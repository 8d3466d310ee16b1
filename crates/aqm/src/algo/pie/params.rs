//! Settings of PIE and the parameters they are read from.

use crate::queue::Limit;
use crate::spec::{Default as ParamDefault, LinkFacts, Param, ParamError, ParamValues, Size, Unit, Value};
use goodqueue_base::units::{Bytes, Duration};

/// Source of the queueing delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// The sojourn time of departing packets.
    #[default]
    Timestamp,
    /// The backlog and the time in which `dq_threshold` bytes departed.
    DepartureRate,
}

/// Settings of PIE. The fields that each packet needs come first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PieParams {
    /// Source of the queueing delay.
    pub estimator: Estimator,
    /// Whether signals are spaced evenly.
    pub derandomize: bool,
    /// Whether steps up are bounded.
    pub cap_drop: bool,
    /// Whether the controller rests while the queue is short.
    pub active_inactive: bool,
    /// Whether updates that would change nothing are skipped for an empty queue at rest; not where
    /// the caller keeps a virtual queue that goes on while the real one is empty.
    pub dozes: bool,
    /// Whether the probability scales with packet size.
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
    /// Probability from which ECN-capable packets are dropped, too.
    pub mark_ecnth: f64,
    /// Mean packet size. Nothing is signaled while two such packets or less wait.
    pub mean_pktsize: Bytes,
    /// Bytes in one measurement of the departure rate.
    pub dq_threshold: Bytes,
    /// Limit of the queue; a third of it wakes the controller.
    pub limit: Limit,
}

impl Default for PieParams {
    /// RFC 8033 §4 and §5 with packets of 1500 bytes and no limit (and therefore never at rest).
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

const fn switch(name: &'static str, on: bool, doc: &'static str, source: &'static str) -> Param {
    if on { Param::on(name) } else { Param::off(name) }.about(doc).from_source(source)
}

const fn duration(name: &'static str, default: Duration, doc: &'static str) -> Param {
    let default = ParamDefault::Value(Value::Duration(default));
    Param::new(name, Unit::Duration, default).within(1e-6, 100.0).about(doc).from_source("RFC 8033 §4")
}

const fn gain(name: &'static str, default: f64, doc: &'static str) -> Param {
    let default = ParamDefault::Value(Value::Number(default));
    Param::new(name, Unit::Number, default).within(0.0, 1e6).about(doc).from_source("RFC 8033 §4.2")
}

pub(crate) const TARGET: Param = duration("target", Duration::ms(15), "delay to settle at");
pub(crate) const T_UPDATE: Param = duration("t_update", Duration::ms(15), "time between updates of the probability");
pub(crate) const MAX_BURST: Param =
    duration("max_burst", Duration::ms(150), "time without signals at the start of a busy period");
pub(crate) const ALPHA: Param = gain("alpha", 0.125, "gain on the distance to the target, in 1/s");
pub(crate) const BETA: Param = gain("beta", 1.25, "gain on the change of the delay, in 1/s");
pub(crate) const MARK_ECNTH: Param = Param::ratio("mark_ecnth", 0.1)
    .within(0.0, 1.0)
    .about("from this probability on ECN-capable packets are dropped, too")
    .from_source("RFC 8033 §5.1");
pub(crate) const MEAN_PKTSIZE: Param = Param::auto("mean_pktsize", Unit::Size, "one MTU")
    .within(1.0, 65536.0)
    .about("no signals while two packets of this size or less wait")
    .from_source("RFC 8033 §4.1");
pub(crate) const DQ_THRESHOLD: Param = Param::size("dq_threshold", Size::Bytes(16384.0))
    .within(1.0, 1e9)
    .about("bytes in one measurement of the departure rate")
    .from_source("RFC 8033 §5.2");
pub(crate) const ESTIMATOR: Param = Param::choice("estimator", &["timestamp", "departure-rate"], "timestamp")
    .about("how the queueing delay is learned")
    .from_source("RFC 8033 §5.2");
pub(crate) const DERANDOMIZE: Param = switch("derandomize", true, "space signals evenly", "RFC 8033 §5.4");
pub(crate) const CAP_DROP: Param = switch("cap_drop", true, "bound the steps up of the probability", "RFC 8033 §5.5");
pub(crate) const ACTIVE_INACTIVE: Param =
    switch("active_inactive", false, "rest while less than a third of the limit waits", "RFC 8033 §5.3");
pub(crate) const BYTES: Param = switch("bytes", false, "scale the probability by packet size", "Linux");

impl PieParams {
    /// Reads the parameters that all kinds with PIE share.
    pub(crate) fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self { mean_pktsize: link.mtu, limit: link.limit, ..Self::default() };
        let departure_rate = given.choice("estimator") == Some("departure-rate");
        Ok(Self {
            target: given.duration("target").unwrap_or(defaults.target),
            t_update: given.duration("t_update").unwrap_or(defaults.t_update),
            max_burst: given.duration("max_burst").unwrap_or(defaults.max_burst),
            alpha: given.number("alpha").unwrap_or(defaults.alpha),
            beta: given.number("beta").unwrap_or(defaults.beta),
            mark_ecnth: given.number("mark_ecnth").unwrap_or(defaults.mark_ecnth),
            mean_pktsize: given.bytes("mean_pktsize", link.mtu, link.rate)?.unwrap_or(defaults.mean_pktsize),
            dq_threshold: given.bytes("dq_threshold", link.mtu, link.rate)?.unwrap_or(defaults.dq_threshold),
            estimator: if departure_rate { Estimator::DepartureRate } else { Estimator::Timestamp },
            derandomize: given.switch("derandomize").unwrap_or(defaults.derandomize),
            cap_drop: given.switch("cap_drop").unwrap_or(defaults.cap_drop),
            active_inactive: given.listed("active_inactive").and_then(|name| given.switch(name)) == Some(true),
            bytes: given.switch("bytes").unwrap_or(defaults.bytes),
            ..defaults
        })
    }
}
