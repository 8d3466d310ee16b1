//! Settings of RED, and the values derived from them and the link.

use crate::arithmetic::ARITHMETIC;
use crate::math::exp;
use crate::spec::{
    Default as ParamDefault, Family, Kind, KindSpec, LinkFacts, Marking, Param, ParamError, ParamValues, Size, Unit, Value,
};
use goodqueue_base::units::{Bytes, Duration, Rate};

/// Whether and how `max_p` follows the average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adaptation {
    /// `max_p` stays as given.
    #[default]
    Off,
    /// Additive increase, multiplicative decrease once per interval (Floyd, Gummadi and Shenker
    /// 2001).
    Floyd,
    /// Doubled when the average rises above `max_th`, divided by three when it falls below `min_th`
    /// (Feng et al. 1999).
    Feng,
}

/// Rule for an automatic weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightRule {
    /// A tenth of a packet time per RTT of at least 100 ms (ns-2's default).
    #[default]
    Rtt,
    /// One packet time per second (Floyd, Gummadi and Shenker 2001).
    Second,
    /// Ten packet times per second.
    Tenth,
}

impl WeightRule {
    /// Reads the rule from the parameters.
    pub(crate) fn of(given: &ParamValues<'_>) -> Self {
        match given.choice("auto_w_q") {
            Some("second") => Self::Second,
            Some("tenth") => Self::Tenth,
            _ => Self::Rtt,
        }
    }
}

/// Settings of RED. Sizes that are `None` are automatic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedParams {
    /// Average from which packets are signaled.
    pub min_th: Option<Size>,
    /// Average at which the probability is `max_p`.
    pub max_th: Option<Size>,
    /// Probability at `max_th`; the initial one if adaptive.
    pub max_p: f64,
    /// Weight of a sample in the average.
    pub w_q: Option<f64>,
    /// Rule for an automatic `w_q`.
    pub auto_w_q: WeightRule,
    /// Whether the probability rises from `max_p` at `max_th` to 1 at twice `max_th`, instead of
    /// jumping.
    pub gentle: bool,
    /// Whether probability and spacing scale with packet size.
    pub bytes: bool,
    /// Whether the average is in bytes instead of packets.
    pub queue_in_bytes: bool,
    /// Packet size used by automatic settings and the byte modes.
    pub mean_pktsize: Bytes,
    /// Whether signals are at least `1 / probability` packets apart.
    pub wait: bool,
    /// Whether ECN-capable packets are dropped once the probability reaches `mark_p`.
    pub use_mark_p: bool,
    /// Probability for `use_mark_p`.
    pub mark_p: f64,
    /// Whether ECN-capable packets are dropped once the average reaches `max_th`.
    pub harddrop: bool,
    /// Whether and how `max_p` follows the average.
    pub adaptation: Adaptation,
    /// Largest step up of `max_p`.
    pub alpha: f64,
    /// Factor of a step down of `max_p`.
    pub beta: f64,
    /// Time between adaptations.
    pub interval: Duration,
    /// Value from which `max_p` is not raised further.
    pub top: f64,
    /// Value from which `max_p` is not lowered further.
    pub bottom: Option<f64>,
    /// Delay that an automatic `min_th` aims at.
    pub targetdelay: Duration,
    /// Whether automatic settings stay when the rate of the link changes.
    pub legacy_static: bool,
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
        let size = |name| match given.value(name) {
            Some(Value::Size(size)) => Some(size),
            _ => None,
        };
        // Every parameter below that is not automatic has a default in the list, so these fallbacks
        // are never used.
        let number = |name| given.number(name).unwrap_or_default();
        let on = |name| given.switch(name).unwrap_or_default();
        let span = |name| given.duration(name).unwrap_or_default();
        let params = Self {
            min_th: size("min_th"),
            max_th: size("max_th"),
            max_p: number("max_p"),
            w_q: given.number("w_q"),
            auto_w_q: WeightRule::of(given),
            gentle: on("gentle"),
            bytes: on("bytes"),
            queue_in_bytes: on("queue_in_bytes"),
            mean_pktsize: given.bytes("mean_pktsize", link.mtu, link.rate)?.unwrap_or(Bytes::new(500)),
            wait: on("wait"),
            use_mark_p: on("use_mark_p"),
            mark_p: number("mark_p"),
            harddrop: on("harddrop"),
            adaptation: match given.choice("adaptive") {
                Some("floyd") => Adaptation::Floyd,
                Some("feng") => Adaptation::Feng,
                _ => Adaptation::Off,
            },
            alpha: number("alpha"),
            beta: number("beta"),
            interval: span("interval"),
            top: number("top"),
            bottom: given.number("bottom"),
            targetdelay: span("targetdelay"),
            legacy_static: on("legacy_static"),
        };
        params.check_rate(link)?;
        Ok(params)
    }

    /// Rejects settings that cannot be computed because the rate of the link is unknown.
    pub(crate) fn check_rate(&self, link: &LinkFacts) -> Result<(), ParamError> {
        if link.rate.is_some() {
            return Ok(());
        }
        for (param, size) in [("min_th", self.min_th), ("max_th", self.max_th)] {
            if matches!(size, Some(Size::Time(_))) {
                return Err(ParamError { param, message: "a time needs a link of known rate: use bytes or packets".into() });
            }
        }
        let adaptive = self.adaptation == Adaptation::Floyd;
        let automatic =
            [("min_th", self.min_th.is_none()), ("w_q", self.w_q.is_none()), ("bottom", adaptive && self.bottom.is_none())];
        match automatic.into_iter().find(|(_, missing)| *missing) {
            Some((param, _)) => {
                Err(ParamError { param, message: "the automatic setting needs a link of known rate: give a value".into() })
            }
            None => Ok(()),
        }
    }
}

const NS2: &str = "ns-2.35";

const fn number(name: &'static str, unit: Unit, default: f64, range: (f64, f64), doc: &'static str) -> Param {
    Param::new(name, unit, ParamDefault::Value(Value::Number(default))).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn automatic(name: &'static str, unit: Unit, rule: &'static str, range: (f64, f64), doc: &'static str) -> Param {
    Param::auto(name, unit, rule).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn switch(name: &'static str, on: bool, doc: &'static str, source: &'static str) -> Param {
    if on { Param::on(name) } else { Param::off(name) }.about(doc).from_source(source)
}

const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Param {
    Param::choice(name, words, default).about(doc).from_source(source)
}

const fn span(name: &'static str, default: Duration, range: (f64, f64), doc: &'static str) -> Param {
    Param::duration(name, default).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn params(adaptive: &'static str) -> [Param; 22] {
    [
        automatic(
            "min_th",
            Unit::Size,
            "max(5, targetdelay ptc / 2) packets",
            (0.0, 1e12),
            "average from which packets are signaled",
        ),
        automatic("max_th", Unit::Size, "3 min_th", (0.0, 1e12), "average at which the probability is max_p"),
        number("max_p", Unit::Ratio, 0.1, (1e-9, 1.0), "probability at max_th, at first if adaptive"),
        automatic("w_q", Unit::Number, "by auto_w_q", (1e-9, 1.0), "weight of a sample in the average"),
        choice("auto_w_q", &["rtt", "second", "tenth"], "rtt", "what an automatic w_q is about", NS2),
        switch("gentle", true, "rise from max_p to 1 at twice max_th, rather than at once", NS2),
        switch("bytes", false, "scale probability and spacing by packet size", "Floyd and Jacobson 1993"),
        switch("queue_in_bytes", false, "average bytes rather than packets", "Floyd and Jacobson 1993"),
        Param::size("mean_pktsize", Size::Bytes(500.0))
            .within(1.0, 65536.0)
            .about("size of the packets that automatic settings and byte mode are about")
            .from_source(NS2),
        switch("wait", true, "keep signals at least 1 / probability apart", NS2),
        switch("use_mark_p", true, "drop ECN-capable packets once the probability reaches mark_p", NS2),
        number("mark_p", Unit::Ratio, 0.1, (0.0, 1.0), "see use_mark_p"),
        switch("harddrop", false, "drop ECN-capable packets once the average reaches max_th", "RFC 3168 §7"),
        choice(
            "adaptive",
            &["off", "floyd", "feng"],
            adaptive,
            "how max_p follows the average",
            "Floyd, Gummadi and Shenker 2001; Feng et al. 1999",
        ),
        number("alpha", Unit::Number, 0.01, (0.0, 1.0), "largest step up of max_p"),
        number("beta", Unit::Number, 0.9, (0.0, 1.0), "factor down of max_p"),
        span("interval", Duration::ms(500), (1e-3, 100.0), "time between adaptations"),
        number("top", Unit::Ratio, 0.5, (0.0, 1.0), "max_p is not raised from here on"),
        automatic("bottom", Unit::Ratio, "min(0.01, 80000 bit/s / rate)", (0.0, 1.0), "max_p is not lowered from here on"),
        span("targetdelay", Duration::ms(5), (1e-6, 10.0), "delay that an automatic min_th is about"),
        switch("legacy_static", false, "keep automatic settings when the link's rate changes", NS2),
        ARITHMETIC,
    ]
}

const SUMMARY_SIGNAL: &str = "averaged queue length, on arrival";
const RED: [Param; 22] = params("off");
const ARED: [Param; 22] = params("floyd");

/// `red` and `ared` differ in one default.
pub(super) const KINDS: &[KindSpec] = &[
    KindSpec {
        base: Kind {
            kind: "red",
            aliases: &["RedQueueDisc"],
            title: "RED",
            summary: "Signals at random by the averaged queue length",
            params: &RED,
            source: "Floyd and Jacobson 1993; ns-2.35",
        },
        family: Family::Red,
        signal: SUMMARY_SIGNAL,
        marks: Marking::Possible,
        uses_weights: false,
    },
    KindSpec {
        base: Kind {
            kind: "ared",
            aliases: &["adaptive-red"],
            title: "ARED",
            summary: "RED whose max_p follows the averaged queue length",
            params: &ARED,
            source: "Floyd, Gummadi and Shenker 2001; ns-2.35",
        },
        family: Family::Red,
        signal: SUMMARY_SIGNAL,
        marks: Marking::Possible,
        uses_weights: false,
    },
];
