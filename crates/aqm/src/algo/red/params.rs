//! Settings of RED, and the values derived from them and the link.

use crate::arithmetic::ARITHMETIC;
use crate::math::exp;
use crate::spec::{
    Default, Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, Size, TypedParam, Value, join,
    with_default,
};
use goodqueue_base::units::{Bytes, Duration, Rate};
use goodqueue_base::{settings, words};

words! {
    /// Whether and how `max_p` follows the average.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Adaptation {
        /// `max_p` stays as given.
        Off = "off",
        /// Additive increase, multiplicative decrease once per interval (Floyd, Gummadi and Shenker
        /// 2001).
        Floyd = "floyd",
        /// Doubled when the average rises above `max_th`, divided by three when it falls below
        /// `min_th` (Feng et al. 1999).
        Feng = "feng",
    }
}

words! {
    /// Rule for an automatic weight.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WeightRule {
        /// A tenth of a packet time per RTT of at least 100 ms (ns-2's default).
        Rtt = "rtt",
        /// One packet time per second (Floyd, Gummadi and Shenker 2001).
        Second = "second",
        /// Ten packet times per second.
        Tenth = "tenth",
    }
}

settings! {
    /// Settings of RED. Sizes that are `None` are automatic.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RedParams {
        /// Average from which packets are signaled.
        pub min_th: Option<Size> => MIN_TH,
        /// Average at which the probability is `max_p`.
        pub max_th: Option<Size> => MAX_TH,
        /// Probability at `max_th`; the initial one if adaptive.
        pub max_p: f64 => MAX_P,
        /// Weight of a sample in the average.
        pub w_q: Option<f64> => W_Q,
        /// Rule for an automatic `w_q`.
        pub auto_w_q: WeightRule => AUTO_W_Q,
        /// Whether the probability rises from `max_p` at `max_th` to 1 at twice `max_th`, instead
        /// of jumping.
        pub gentle: bool => GENTLE,
        /// Whether probability and spacing scale with packet size.
        pub bytes: bool => BYTES,
        /// Whether the average is in bytes instead of packets.
        pub queue_in_bytes: bool => QUEUE_IN_BYTES,
        /// Packet size used by automatic settings and the byte modes.
        pub mean_pktsize: Bytes => MEAN_PKTSIZE = MEAN_PKTSIZE.default,
        /// Whether signals are at least `1 / probability` packets apart.
        pub wait: bool => WAIT,
        /// Whether ECN-capable packets are dropped once the probability reaches `mark_p`.
        pub use_mark_p: bool => USE_MARK_P,
        /// Probability for `use_mark_p`.
        pub mark_p: f64 => MARK_P,
        /// Whether ECN-capable packets are dropped once the average reaches `max_th`.
        pub harddrop: bool => HARDDROP,
        /// Whether and how `max_p` follows the average.
        pub adaptation: Adaptation => ADAPTIVE,
        /// Largest step up of `max_p`.
        pub alpha: f64 => ALPHA,
        /// Factor of a step down of `max_p`.
        pub beta: f64 => BETA,
        /// Time between adaptations.
        pub interval: Duration => INTERVAL,
        /// Value from which `max_p` is not raised further.
        pub top: f64 => TOP,
        /// Value from which `max_p` is not lowered further.
        pub bottom: Option<f64> => BOTTOM,
        /// Delay that an automatic `min_th` aims at.
        pub targetdelay: Duration => TARGETDELAY,
        /// Whether automatic settings stay when the rate of the link changes.
        pub legacy_static: bool => LEGACY_STATIC,
    }
}

/// Facts about the link that RED needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Rate of the link, if known.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Largest packet without framing.
    pub mtu: Bytes,
}

/// Values that RED computes with, in packets or in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) min_th: f64,
    pub(super) max_th: f64,
    pub(super) w_q: f64,
    /// `1 - w_q`.
    pub(super) keep: f64,
    /// Packets of mean size that the link carries per second; zero while unknown.
    pub(super) ptc: f64,
    pub(super) bottom: f64,
    /// `1 / (max_th - min_th)`.
    pub(super) per_band: f64,
    /// `1 / max_th`.
    pub(super) per_max_th: f64,
    /// `1 / mean_pktsize`.
    pub(super) per_mean_size: f64,
}

impl Settings {
    /// Values for an unknown link rate: the classic 5 and 15 packets, 0.002.
    pub(super) fn new(params: &RedParams) -> Self {
        let mean_size = params.mean_pktsize.get().max(1) as f64;
        let unit = if params.queue_in_bytes { mean_size } else { 1.0 };
        Self {
            min_th: 5.0 * unit,
            max_th: 15.0 * unit,
            w_q: 0.002,
            keep: 0.998,
            ptc: 0.0,
            bottom: 0.01,
            per_band: 0.1 / unit,
            per_max_th: 1.0 / (15.0 * unit),
            per_mean_size: 1.0 / mean_size,
        }
    }

    /// Recomputes everything that depends on the link. Settings that need a rate keep their values
    /// while there is none.
    pub(super) fn follow(&mut self, params: &RedParams, facts: &Facts) {
        let mean_size = params.mean_pktsize.get().max(1) as f64;
        let ptc = facts.packets_a_second(mean_size);
        self.ptc = ptc.unwrap_or(0.0);
        self.follow_thresholds(params, facts, ptc);
        let weight = params.w_q.or_else(|| ptc.map(|ptc| automatic_weight(params.auto_w_q, ptc, facts.delay)));
        self.w_q = weight.unwrap_or(self.w_q);
        self.keep = 1.0 - self.w_q;
        let automatic_bottom = ptc.map(|ptc| (80_000.0 / (ptc * mean_size * 8.0)).min(0.01));
        self.bottom = params.bottom.or(automatic_bottom).unwrap_or(self.bottom);
    }

    fn follow_thresholds(&mut self, params: &RedParams, facts: &Facts, ptc: Option<f64>) {
        let unit = if params.queue_in_bytes { params.mean_pktsize.get() as f64 } else { 1.0 };
        let given = |size: Size| match size {
            Size::Time(_) if ptc.is_none() => None,
            Size::Packets(packets) if !params.queue_in_bytes => Some(packets),
            size => {
                let bytes = size.bytes(facts.mtu, facts.rate)?.get() as f64;
                Some(if params.queue_in_bytes { bytes } else { bytes / facts.mtu.get().max(1) as f64 })
            }
        };
        self.min_th = match (params.min_th, ptc) {
            (Some(size), _) => given(size),
            (None, Some(ptc)) => Some((params.targetdelay.as_secs_f64() * ptc / 2.0).max(5.0) * unit),
            (None, None) => None,
        }
        .unwrap_or(self.min_th);
        self.max_th = match params.max_th {
            Some(size) => given(size).unwrap_or(self.max_th),
            None => 3.0 * self.min_th,
        };
        // Equal thresholds make a step without a division by zero.
        let band = self.max_th - self.min_th;
        self.per_band = if band > 0.0 { 1.0 / band } else { 1.0 };
        self.per_max_th = if self.max_th > 0.0 { 1.0 / self.max_th } else { 1.0 };
    }
}

/// Weight that makes the average forget at the pace of `rule`.
fn automatic_weight(rule: WeightRule, ptc: f64, delay: Duration) -> f64 {
    let packets = match rule {
        WeightRule::Rtt => 10.0 * (3.0 * (delay.as_secs_f64() + 1.0 / ptc)).max(0.1) * ptc,
        WeightRule::Second => ptc,
        WeightRule::Tenth => ptc / 10.0,
    };
    1.0 - exp(-1.0 / packets)
}

impl RedParams {
    /// Reads the settings from the parameters, with the defaults of the kind.
    ///
    /// # Errors
    /// When an automatic setting or a time needs the link's rate, and it is unknown.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let mean_pktsize = MEAN_PKTSIZE.bytes(given, link.mtu, link.rate)?;
        let params = Self { mean_pktsize, ..Self::read(given) };
        params.check_rate(link)?;
        Ok(params)
    }

    /// Rejects settings that cannot be computed because the rate of the link is unknown.
    pub(crate) fn check_rate(&self, link: &LinkFacts) -> Result<(), ParamError> {
        if link.rate.is_some() {
            return Ok(());
        }
        for (param, size) in [(MIN_TH.name(), self.min_th), (MAX_TH.name(), self.max_th)] {
            if matches!(size, Some(Size::Time(_))) {
                return Err(ParamError::new(param, ParamFault::TimeWithoutRate));
            }
        }
        let adaptive = self.adaptation == Adaptation::Floyd;
        let automatic = [
            (MIN_TH.name(), self.min_th.is_none()),
            (W_Q.name(), self.w_q.is_none()),
            (BOTTOM.name(), adaptive && self.bottom.is_none()),
        ];
        match automatic.into_iter().find(|(_, missing)| *missing) {
            Some((param, _)) => Err(ParamError::new(param, ParamFault::UnknownRate("give a value"))),
            None => Ok(()),
        }
    }
}

const NS2: &str = "ns-2.35";

const FLOYD: &str = "Floyd and Jacobson 1993";

const fn number(name: &'static str, default: f64, range: (f64, f64), doc: &'static str) -> TypedParam<f64> {
    TypedParam::number(name, default).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn ratio(name: &'static str, default: f64, range: (f64, f64), doc: &'static str) -> TypedParam<f64> {
    TypedParam::ratio(name, default).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn size(name: &'static str, rule: &'static str, doc: &'static str) -> TypedParam<Option<Size>> {
    TypedParam::auto(name, rule).within(0.0, 1e12).about(doc).from_source(NS2)
}

const fn span(name: &'static str, default: Duration, range: (f64, f64), doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, default).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn on(name: &'static str, doc: &'static str) -> TypedParam<bool> {
    TypedParam::on(name).about(doc).from_source(NS2)
}

const fn off(name: &'static str, doc: &'static str, source: &'static str) -> TypedParam<bool> {
    TypedParam::off(name).about(doc).from_source(source)
}

pub(crate) const MIN_TH: TypedParam<Option<Size>> =
    size("min_th", "max(5, targetdelay ptc / 2) packets", "average from which packets are signaled");
pub(crate) const MAX_TH: TypedParam<Option<Size>> = size("max_th", "3 min_th", "average at which the probability is max_p");
pub(crate) const MAX_P: TypedParam<f64> = ratio("max_p", 0.1, (1e-9, 1.0), "probability at max_th, at first if adaptive");
pub(crate) const W_Q: TypedParam<Option<f64>> =
    TypedParam::auto("w_q", "by auto_w_q").within(1e-9, 1.0).about("weight of a sample in the average").from_source(NS2);
pub(crate) const AUTO_W_Q: TypedParam<WeightRule> =
    TypedParam::choice("auto_w_q", "rtt").about("what an automatic w_q is about").from_source(NS2);
const GENTLE: TypedParam<bool> = on("gentle", "rise from max_p to 1 at twice max_th, rather than at once");
const BYTES: TypedParam<bool> = off("bytes", "scale probability and spacing by packet size", FLOYD);
const QUEUE_IN_BYTES: TypedParam<bool> = off("queue_in_bytes", "average bytes rather than packets", FLOYD);
pub(crate) const MEAN_PKTSIZE: TypedParam<Bytes> = TypedParam::size_in_bytes("mean_pktsize", Bytes::new(500))
    .within(1.0, 65536.0)
    .about("size of the packets that automatic settings and byte mode are about")
    .from_source(NS2);
const WAIT: TypedParam<bool> = on("wait", "keep signals at least 1 / probability apart");
const USE_MARK_P: TypedParam<bool> = on("use_mark_p", "drop ECN-capable packets once the probability reaches mark_p");
const MARK_P: TypedParam<f64> = ratio("mark_p", 0.1, (0.0, 1.0), "see use_mark_p");
pub(crate) const HARDDROP: TypedParam<bool> =
    off("harddrop", "drop ECN-capable packets once the average reaches max_th", "RFC 3168 §7");
const ADAPTIVE: TypedParam<Adaptation> = TypedParam::choice("adaptive", "off")
    .about("how max_p follows the average")
    .from_source("Floyd, Gummadi and Shenker 2001; Feng et al. 1999");
const ALPHA: TypedParam<f64> = number("alpha", 0.01, (0.0, 1.0), "largest step up of max_p");
const BETA: TypedParam<f64> = number("beta", 0.9, (0.0, 1.0), "factor down of max_p");
const INTERVAL: TypedParam<Duration> = span("interval", Duration::ms(500), (1e-3, 100.0), "time between adaptations");
const TOP: TypedParam<f64> = ratio("top", 0.5, (0.0, 1.0), "max_p is not raised from here on");
const BOTTOM: TypedParam<Option<f64>> = TypedParam::auto_ratio("bottom", "min(0.01, 80000 bit/s / rate)")
    .within(0.0, 1.0)
    .about("max_p is not lowered from here on")
    .from_source(NS2);
pub(crate) const TARGETDELAY: TypedParam<Duration> =
    span("targetdelay", Duration::ms(5), (1e-6, 10.0), "delay that an automatic min_th is about");
pub(crate) const LEGACY_STATIC: TypedParam<bool> =
    off("legacy_static", "keep automatic settings when the link's rate changes", NS2);

const SUMMARY_SIGNAL: &str = "averaged queue length, on arrival";
const RED: [Param; 22] = join(&[&RedParams::PARAMS, &[ARITHMETIC.param]], &[]);
const ARED: [Param; 22] = with_default(RED, ADAPTIVE.name(), Default::Value(Value::Choice("floyd")));

/// `red` and `ared` differ in one default.
pub(super) const KINDS: &[KindSpec] = &[
    KindSpec::new(
        Kind {
            kind: "red",
            aliases: &["RedQueueDisc"],
            title: "RED",
            summary: "Signals at random by the averaged queue length",
            params: &RED,
            source: "Floyd and Jacobson 1993; ns-2.35",
        },
        Family::Red,
        SUMMARY_SIGNAL,
    ),
    KindSpec::new(
        Kind {
            kind: "ared",
            aliases: &["adaptive-red"],
            title: "ARED",
            summary: "RED whose max_p follows the averaged queue length",
            params: &ARED,
            source: "Floyd, Gummadi and Shenker 2001; ns-2.35",
        },
        Family::Red,
        SUMMARY_SIGNAL,
    ),
];
