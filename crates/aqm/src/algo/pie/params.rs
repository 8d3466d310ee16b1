//! Settings of PIE and the parameters they are read from.

use crate::queue::Limit;
use crate::spec::{LinkFacts, ParamError, ParamValues, Size, TypedParam};
use goodqueue_base::units::{Bytes, Duration};
use goodqueue_base::{settings, words};

words! {
    /// Source of the queueing delay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Estimator {
        /// The sojourn time of departing packets.
        Timestamp = "timestamp",
        /// The backlog and the time in which `dq_threshold` bytes departed.
        DepartureRate = "departure-rate",
    }
}

settings! {
    /// Settings of PIE; by default those of RFC 8033 §4 and §5 with packets of 1500 bytes and no
    /// limit (and therefore never at rest). The fields that each packet needs come first.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct PieParams {
        /// Source of the queueing delay.
        pub estimator: Estimator => ESTIMATOR,
        /// Whether signals are spaced evenly.
        pub derandomize: bool => DERANDOMIZE,
        /// Whether steps up are bounded.
        pub cap_drop: bool => CAP_DROP,
        /// Whether the controller rests while the queue is short.
        pub active_inactive: bool = ACTIVE_INACTIVE.default,
        /// Whether updates that would change nothing are skipped for an empty queue at rest; not
        /// where the caller keeps a virtual queue that goes on while the real one is empty.
        pub dozes: bool = false,
        /// Whether the probability scales with packet size.
        pub bytes: bool => BYTES,
        /// Delay to settle at.
        pub target: Duration => TARGET,
        /// Time between updates.
        pub t_update: Duration => T_UPDATE,
        /// Time without signals at the start of a busy period.
        pub max_burst: Duration => MAX_BURST,
        /// Gain on the distance to `target`, in 1/s.
        pub alpha: f64 => ALPHA,
        /// Gain on the change of the delay, in 1/s.
        pub beta: f64 => BETA,
        /// Probability from which ECN-capable packets are dropped, too.
        pub mark_ecnth: f64 => MARK_ECNTH,
        /// Mean packet size. Nothing is signaled while two such packets or less wait.
        pub mean_pktsize: Bytes = Bytes::new(1500),
        /// Bytes in one measurement of the departure rate.
        pub dq_threshold: Bytes = DQ_THRESHOLD.default,
        /// Limit of the queue; a third of it wakes the controller.
        pub limit: Limit = Limit::NONE,
    }
}

const fn duration(name: &'static str, default: Duration, doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, default).within(1e-6, 100.0).about(doc).from_source("RFC 8033 §4")
}

const fn gain(name: &'static str, default: f64, doc: &'static str) -> TypedParam<f64> {
    TypedParam::number(name, default).within(0.0, 1e6).about(doc).from_source("RFC 8033 §4.2")
}

pub(crate) const TARGET: TypedParam<Duration> = duration("target", Duration::ms(15), "delay to settle at");
pub(crate) const T_UPDATE: TypedParam<Duration> =
    duration("t_update", Duration::ms(15), "time between updates of the probability");
pub(crate) const MAX_BURST: TypedParam<Duration> =
    duration("max_burst", Duration::ms(150), "time without signals at the start of a busy period");
pub(crate) const ALPHA: TypedParam<f64> = gain("alpha", 0.125, "gain on the distance to the target, in 1/s");
pub(crate) const BETA: TypedParam<f64> = gain("beta", 1.25, "gain on the change of the delay, in 1/s");
pub(crate) const MARK_ECNTH: TypedParam<f64> = TypedParam::ratio("mark_ecnth", 0.1)
    .within(0.0, 1.0)
    .about("from this probability on ECN-capable packets are dropped, too")
    .from_source("RFC 8033 §5.1");
pub(crate) const MEAN_PKTSIZE: TypedParam<Option<Size>> = TypedParam::auto("mean_pktsize", "one MTU")
    .within(1.0, 65536.0)
    .about("no signals while two packets of this size or less wait")
    .from_source("RFC 8033 §4.1");
pub(crate) const DQ_THRESHOLD: TypedParam<Bytes> = TypedParam::size_in_bytes("dq_threshold", Bytes::new(16_384))
    .within(1.0, 1e9)
    .about("bytes in one measurement of the departure rate")
    .from_source("RFC 8033 §5.2");
pub(crate) const ESTIMATOR: TypedParam<Estimator> =
    TypedParam::choice("estimator", "timestamp").about("how the queueing delay is learned").from_source("RFC 8033 §5.2");
pub(crate) const DERANDOMIZE: TypedParam<bool> =
    TypedParam::on("derandomize").about("space signals evenly").from_source("RFC 8033 §5.4");
pub(crate) const CAP_DROP: TypedParam<bool> =
    TypedParam::on("cap_drop").about("bound the steps up of the probability").from_source("RFC 8033 §5.5");
pub(crate) const ACTIVE_INACTIVE: TypedParam<bool> =
    TypedParam::off("active_inactive").about("rest while less than a third of the limit waits").from_source("RFC 8033 §5.3");
pub(crate) const BYTES: TypedParam<bool> =
    TypedParam::off("bytes").about("scale the probability by packet size").from_source("Linux");

impl PieParams {
    /// Reads the parameters that all kinds with PIE share.
    pub(crate) fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        Ok(Self {
            mean_pktsize: MEAN_PKTSIZE.bytes(given, link.mtu, link.rate)?.unwrap_or(link.mtu),
            dq_threshold: DQ_THRESHOLD.bytes(given, link.mtu, link.rate)?,
            active_inactive: ACTIVE_INACTIVE.read_if_listed(given),
            limit: link.limit,
            ..Self::read(given)
        })
    }
}
