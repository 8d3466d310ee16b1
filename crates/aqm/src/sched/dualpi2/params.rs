//! DualPI2's settings, and their description.

use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Packets};

/// The choice of the queue that goes next while both have packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// L4S first, but for the classic queue's share of bytes, in thousandths.
    WeightedRoundRobin {
        /// The classic queue's share.
        classic: i64,
    },
    /// The older head, L4S packets being counted as this much older than they are.
    TimeShifted(Duration),
}

impl Order {
    /// L4S first, but for this share of the classic queue.
    fn weighted(classic: f64) -> Self {
        Self::WeightedRoundRobin { classic: (classic * WHOLE as f64 + 0.5) as i64 }
    }
}

/// Weights are thousandths.
pub(super) const WHOLE: i64 = 1000;

/// DualPI2's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Params {
    /// Delay to settle at.
    pub target: Duration,
    /// Time between updates.
    pub t_update: Duration,
    /// Gain on the distance to `target`, in 1/s.
    pub alpha: f64,
    /// Gain on the change of the delay, in 1/s.
    pub beta: f64,
    /// Coupling: an L4S packet is marked this many times as often as the root of the classic
    /// probability.
    pub k: f64,
    /// L4S packets that waited no longer are not marked for that.
    pub min_th: Duration,
    /// Width of the ramp: L4S packets that waited for `min_th` and this are all marked.
    pub range: Duration,
    /// Packets behind an L4S packet that have to be exceeded for the ramp to mark it.
    pub th_len: Packets,
    /// Choice of the queue that goes next.
    pub scheduler: Order,
    /// One full packet.
    pub mtu: Bytes,
    /// No signals but the L4S ramp while less than this waits behind the packet at hand.
    pub spared: Bytes,
    /// The source's law or Linux's.
    pub arithmetic: Arithmetic,
}

impl Default for DualPi2Params {
    /// Linux's, with packets of 1500 bytes.
    fn default() -> Self {
        Self::linux(None, Bytes::new(1500))
    }
}

/// Gains of Linux, in 1/s: its settings are in units of 1/256.
const LINUX_ALPHA: f64 = 41.0 / 256.0;
const LINUX_BETA: f64 = 819.0 / 256.0;

impl DualPi2Params {
    /// Linux's settings for its target of 15 ms; it rounds the RFC's for a round-trip time of 100
    /// ms.
    #[must_use]
    pub fn linux(t_update: Option<Duration>, mtu: Bytes) -> Self {
        let t_update = t_update.unwrap_or(Duration::ms(16));
        Self { alpha: LINUX_ALPHA, beta: LINUX_BETA, ..Self::with(TARGET.default, RTT_MAX.default, Some(t_update), mtu) }
    }

    /// The RFC's gains for a target and the longest round-trip time expected.
    #[must_use]
    pub fn with(target: Duration, rtt_max: Duration, t_update: Option<Duration>, mtu: Bytes) -> Self {
        let t_update = t_update.unwrap_or_else(|| target.min(rtt_max.div(3)));
        let rtt = rtt_max.as_secs_f64();
        Self {
            target,
            t_update,
            alpha: 0.1 * t_update.as_secs_f64() / (rtt * rtt),
            beta: 0.3 / rtt,
            k: K.default,
            min_th: MIN_TH.default,
            range: RANGE.default,
            th_len: Packets::new(TH_LEN.default.into()),
            scheduler: Order::weighted(CLASSIC_WEIGHT.default),
            mtu,
            spared: mtu + mtu,
            arithmetic: Arithmetic::Exact,
        }
    }

    /// The classic probability from which on ECN-capable packets are dropped, too.
    #[must_use]
    pub fn p_classic_max(&self) -> f64 {
        (1.0 / (self.k * self.k)).min(1.0)
    }

    /// The round robin's credit when both queues were empty: L4S goes first.
    pub(super) fn first_credit(&self) -> i64 {
        match self.scheduler {
            Order::WeightedRoundRobin { classic } => self.mtu.get() as i64 * (2 * classic - WHOLE),
            Order::TimeShifted(_) => 0,
        }
    }

    /// The settings of kind `dualpi2`.
    ///
    /// # Errors
    /// When a parameter of the scheduler is given that the other scheduler has.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let t_update = T_UPDATE.read(given);
        let defaults = if TARGET.is_given(given) || RTT_MAX.is_given(given) {
            Self::with(TARGET.read(given), RTT_MAX.read(given), t_update, link.mtu)
        } else {
            Self::linux(t_update, link.mtu)
        };
        let scheduler = SCHEDULER.read(given);
        let is_shifted = scheduler == TIME_SHIFTED;
        let unused = if is_shifted { CLASSIC_WEIGHT.name() } else { TSHIFT.name() };
        given.refuse_unused(&[unused], SCHEDULER.name(), scheduler)?;
        Ok(Self {
            alpha: ALPHA.read(given).unwrap_or(defaults.alpha),
            beta: BETA.read(given).unwrap_or(defaults.beta),
            k: K.read(given),
            min_th: MIN_TH.read(given),
            range: RANGE.read(given),
            th_len: Packets::new(TH_LEN.read(given).into()),
            scheduler: if is_shifted {
                Order::TimeShifted(TSHIFT.read(given))
            } else {
                Order::weighted(CLASSIC_WEIGHT.read(given))
            },
            arithmetic: ARITHMETIC.read(given),
            ..defaults
        })
    }
}

const RFC: &str = "RFC 9332 appendix A.1";
const LINUX: &str = "Linux sch_dualpi2";

const fn duration(name: &'static str, default: Duration, range: (f64, f64), doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, default).within(range.0, range.1).about(doc)
}

const fn gain(name: &'static str, how: &'static str, doc: &'static str) -> TypedParam<Option<f64>> {
    TypedParam::auto(name, how).within(0.0, 1e6).about(doc).from_source(RFC)
}

pub(super) const ECN: TypedParam<bool> =
    TypedParam::on("ecn").about("mark; without, all packets go to the classic queue").from_source(RFC);
pub(super) const TARGET: TypedParam<Duration> =
    duration("target", Duration::ms(15), (1e-6, 100.0), "delay to settle at").from_source(RFC);
const RTT_MAX: TypedParam<Duration> = duration(
    "rtt_max",
    Duration::ms(100),
    (1e-5, 100.0),
    "longest round-trip time expected; it and target set the gains where one of them is given",
)
.from_source(RFC);
pub(super) const T_UPDATE: TypedParam<Option<Duration>> =
    TypedParam::auto("t_update", "16 ms; with target or rtt_max given the smaller of target and rtt_max / 3")
        .within(1e-6, 100.0)
        .about("time between updates of the probability")
        .from_source(LINUX);
pub(super) const ALPHA: TypedParam<Option<f64>> =
    gain("alpha", "41/256; with target or rtt_max given 0.1 t_update / rtt_max^2", "gain on the distance to the target, in 1/s");
pub(super) const BETA: TypedParam<Option<f64>> =
    gain("beta", "819/256; with target or rtt_max given 0.3 / rtt_max", "gain on the change of the delay, in 1/s");
pub(super) const K: TypedParam<f64> = TypedParam::number("k", 2.0)
    .within(0.01, 100.0)
    .about("coupling of L4S marks to the root of classic signals")
    .from_source(RFC);
pub(super) const MIN_TH: TypedParam<Duration> =
    duration("min_th", Duration::ms(1), (0.0, 10.0), "sojourn time up to which L4S packets are not marked for it")
        .from_source(LINUX);
const RANGE: TypedParam<Duration> =
    duration("range", Duration::ZERO, (0.0, 10.0), "this much later all are; 0 is a step").from_source(LINUX);
const TH_LEN: TypedParam<u32> =
    TypedParam::count("th_len", 0).within(0.0, 1e6).about("but only with more packets than this behind").from_source(LINUX);
const TIME_SHIFTED: &str = "time-shifted";
const SCHEDULER: TypedParam<&str> = TypedParam::word("scheduler", &["wrr", TIME_SHIFTED], "wrr")
    .about("which queue goes next: weighted round robin, or the older head with L4S packets made older")
    .from_source("Linux; RFC 9332 appendix A.1");
pub(super) const CLASSIC_WEIGHT: TypedParam<f64> = TypedParam::ratio("classic_weight", 0.1)
    .within(0.001, 0.999)
    .about("the classic queue's share while both have packets")
    .from_source("Linux");
const TSHIFT: TypedParam<Duration> =
    duration("tshift", Duration::ms(50), (0.0, 100.0), "how much older L4S packets count").from_source(RFC);

pub(super) const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "dualpi2",
        aliases: &["dualq"],
        title: "DualPI2",
        summary: "Two queues with coupled signals: low delay for scalable (L4S) senders next to classic ones",
        params: &[
            ECN.param,
            TARGET.param,
            RTT_MAX.param,
            T_UPDATE.param,
            ALPHA.param,
            BETA.param,
            K.param,
            MIN_TH.param,
            RANGE.param,
            TH_LEN.param,
            SCHEDULER.param,
            CLASSIC_WEIGHT.param,
            TSHIFT.param,
            ARITHMETIC.param,
        ],
        source: "RFC 9332",
    },
    Family::DualQueue,
    "age of both heads, and sojourn time of L4S packets; on departure",
);
