//! DualPI2's settings, and their description.

use crate::spec::{
    Default as ParamDefault, Family, Kind, KindSpec, LinkFacts, Marking, Param, ParamError, ParamValues, Unit, Value,
};
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
}

impl Default for DualPi2Params {
    /// Linux's, with packets of 1500 bytes.
    fn default() -> Self {
        Self::linux(None, Bytes::new(1500))
    }
}

/// Gains of Linux, in 1/s: its settings are in units of 1/256.
const ALPHA: f64 = 41.0 / 256.0;
const BETA: f64 = 819.0 / 256.0;

impl DualPi2Params {
    /// Linux's settings for its target of 15 ms; it rounds the RFC's for a round-trip time of 100
    /// ms.
    #[must_use]
    pub fn linux(t_update: Option<Duration>, mtu: Bytes) -> Self {
        let t_update = t_update.unwrap_or(Duration::ms(16));
        Self { alpha: ALPHA, beta: BETA, ..Self::with(Duration::ms(15), Duration::ms(100), Some(t_update), mtu) }
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
            k: 2.0,
            min_th: Duration::ms(1),
            range: Duration::ZERO,
            th_len: Packets::ZERO,
            scheduler: Order::WeightedRoundRobin { classic: WHOLE / 10 },
            mtu,
            spared: mtu + mtu,
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
        let span = |name| given.duration(name).unwrap_or_default();
        let t_update = given.duration("t_update");
        let defaults = if given.is_given("target") || given.is_given("rtt_max") {
            Self::with(span("target"), span("rtt_max"), t_update, link.mtu)
        } else {
            Self::linux(t_update, link.mtu)
        };
        let th_len = given.number("th_len").map_or(defaults.th_len, |packets| Packets::new(packets as u64));
        let is_shifted = given.choice("scheduler") == Some("time-shifted");
        let unused = if is_shifted { "classic_weight" } else { "tshift" };
        if given.is_given(unused) {
            let word = if is_shifted { "time-shifted" } else { "wrr" };
            return Err(ParamError { param: unused, message: alloc::format!("has no use with scheduler `{word}`") });
        }
        Ok(Self {
            alpha: given.number("alpha").unwrap_or(defaults.alpha),
            beta: given.number("beta").unwrap_or(defaults.beta),
            k: given.number("k").unwrap_or(defaults.k),
            min_th: span("min_th"),
            range: span("range"),
            th_len,
            scheduler: if is_shifted {
                Order::TimeShifted(span("tshift"))
            } else {
                let share = given.number("classic_weight").unwrap_or(0.1);
                Order::WeightedRoundRobin { classic: (share * WHOLE as f64 + 0.5) as i64 }
            },
            ..defaults
        })
    }
}

const RFC: &str = "RFC 9332 appendix A.1";
const LINUX: &str = "Linux sch_dualpi2";

const fn duration(name: &'static str, default: Duration, range: (f64, f64), doc: &'static str, source: &'static str) -> Param {
    Param::duration(name, default).within(range.0, range.1).about(doc).from_source(source)
}

const fn gain(name: &'static str, how: &'static str, doc: &'static str) -> Param {
    Param::auto(name, Unit::Number, how).within(0.0, 1e6).about(doc).from_source(RFC)
}

const fn number(
    name: &'static str,
    unit: Unit,
    default: f64,
    range: (f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Param {
    Param::new(name, unit, ParamDefault::Value(Value::Number(default))).within(range.0, range.1).about(doc).from_source(source)
}

const LONG: (f64, f64) = (1e-6, 100.0);

pub(super) const KIND: KindSpec = KindSpec {
    base: Kind {
        kind: "dualpi2",
        aliases: &["dualq"],
        title: "DualPI2",
        summary: "Two queues with coupled signals: low delay for scalable (L4S) senders next to classic ones",
        params: &[
            Param::on("ecn").about("mark; without, all packets go to the classic queue").from_source(RFC),
            duration("target", Duration::ms(15), LONG, "delay to settle at", RFC),
            duration(
                "rtt_max",
                Duration::ms(100),
                (1e-5, 100.0),
                "longest round-trip time expected; it and target set the gains where one of them is given",
                RFC,
            ),
            Param::auto("t_update", Unit::Duration, "16 ms; with target or rtt_max given the smaller of target and rtt_max / 3")
                .within(LONG.0, LONG.1)
                .about("time between updates of the probability")
                .from_source(LINUX),
            gain(
                "alpha",
                "41/256; with target or rtt_max given 0.1 t_update / rtt_max^2",
                "gain on the distance to the target, in 1/s",
            ),
            gain("beta", "819/256; with target or rtt_max given 0.3 / rtt_max", "gain on the change of the delay, in 1/s"),
            number("k", Unit::Number, 2.0, (0.01, 100.0), "coupling of L4S marks to the root of classic signals", RFC),
            duration("min_th", Duration::ms(1), (0.0, 10.0), "sojourn time up to which L4S packets are not marked for it", LINUX),
            duration("range", Duration::ZERO, (0.0, 10.0), "this much later all are; 0 is a step", LINUX),
            number("th_len", Unit::Count, 0.0, (0.0, 1e6), "but only with more packets than this behind", LINUX),
            Param::choice("scheduler", &["wrr", "time-shifted"], "wrr")
                .about("which queue goes next: weighted round robin, or the older head with L4S packets made older")
                .from_source("Linux; RFC 9332 appendix A.1"),
            number(
                "classic_weight",
                Unit::Ratio,
                0.1,
                (0.001, 0.999),
                "the classic queue's share while both have packets",
                "Linux",
            ),
            duration("tshift", Duration::ms(50), (0.0, 100.0), "how much older L4S packets count", RFC),
        ],
        source: "RFC 9332",
    },
    family: Family::DualQueue,
    signal: "age of both heads, and sojourn time of L4S packets; on departure",
    marks: Marking::Possible,
    uses_weights: false,
};
