//! The policy that an outer loop enforces.

use crate::spec::{Decimal, Default as ParamDefault, KindSpec, LinkFacts, Param, ParamError, ParamValues, Unit, Value, contains};
use alloc::vec::Vec;
use goodqueue_base::units::{Duration, Rate};

/// Settings of the outer loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Use at least this share of the link.
    pub u_low: f64,
    /// Use at most this share of the link; 1: no such bound, and no virtual queue.
    pub u_target: f64,
    /// The setpoint is never above.
    pub target_max: Duration,
    /// Nor below.
    pub thresh_min: Duration,
    /// Factor of a raise.
    pub alpha_up: f64,
    /// A raise goes at least here.
    pub thresh_min_up: Duration,
    /// Lowering goes in multiples of this.
    pub thresh_down_min: Duration,
    /// Standard deviations of the queue's dips kept as a margin.
    pub gamma: f64,
    /// Factor on the setpoint while more than `u_target` is used.
    pub down_step: f64,
    /// Setpoint at which the virtual queue takes over.
    pub thresh_vq: Duration,
    /// Share of a utilization error that moves the virtual queue's rate.
    pub g_vq: f64,
    /// Memory of the average dip.
    pub mem_delta: Duration,
    /// Memory of the average rate.
    pub mem_rate: Duration,
    /// Rate that counts as full use; `None`: the link's rate.
    pub rate: Option<Rate>,
}

const THRESH_MIN: Duration = Duration::us(200);
const MEMORY: Duration = Duration::secs(2);

impl Policy {
    /// The study's policy for an algorithm whose own setpoint would be `native`: at least 99 %
    /// used, at most 30 ms.
    #[must_use]
    pub const fn new(native: Duration) -> Self {
        Self {
            u_low: 0.99,
            u_target: 1.0,
            target_max: Duration::ms(30),
            thresh_min: THRESH_MIN,
            alpha_up: 2.0,
            thresh_min_up: native,
            thresh_down_min: THRESH_MIN,
            gamma: 2.0,
            down_step: 0.75,
            thresh_vq: THRESH_MIN,
            g_vq: 0.5,
            mem_delta: MEMORY,
            mem_rate: MEMORY,
            rate: None,
        }
    }

    /// True if the utilization of the link has an upper bound.
    #[must_use]
    pub fn has_ceiling(&self) -> bool {
        self.u_target < 1.0
    }

    /// The policy a file gives for an algorithm whose own setpoint would be `native`.
    ///
    /// # Errors
    /// When bounds contradict each other, or a rate is needed and unknown.
    pub(crate) fn build(given: &ParamValues<'_>, link: &LinkFacts, native: Duration) -> Result<Self, ParamError> {
        let defaults = Self::new(native);
        let span = |name, default| given.duration(name).unwrap_or(default);
        let number = |name, default| given.number(name).unwrap_or(default);
        let thresh_min = span("thresh_min", defaults.thresh_min);
        let policy = Self {
            u_low: number("u_low", defaults.u_low),
            u_target: number("u_target", defaults.u_target),
            target_max: span("target_max", defaults.target_max),
            thresh_min,
            alpha_up: number("alpha_up", defaults.alpha_up),
            thresh_min_up: span("thresh_min_up", defaults.thresh_min_up),
            thresh_down_min: span("thresh_down_min", defaults.thresh_down_min),
            gamma: number("gamma", defaults.gamma),
            down_step: number("down_step", defaults.down_step),
            thresh_vq: span("thresh_vq", thresh_min),
            g_vq: number("g_vq", defaults.g_vq),
            mem_delta: span("mem_delta", defaults.mem_delta),
            mem_rate: span("mem_rate", defaults.mem_rate),
            rate: given.rate("rate"),
        };
        policy.check(given, link)?;
        Ok(policy)
    }

    fn check(&self, given: &ParamValues<'_>, link: &LinkFacts) -> Result<(), ParamError> {
        let fault = |param, message| Err(ParamError { param, message });
        let Self { thresh_min, target_max, thresh_vq, u_low, u_target, .. } = *self;
        if target_max < thresh_min {
            return fault("target_max", alloc::format!("{target_max} is below thresh_min: allowed from {thresh_min}"));
        }
        if u_low > u_target {
            return fault("u_low", alloc::format!("{} is above u_target: allowed up to {}", Decimal(u_low), Decimal(u_target)));
        }
        if let Some(param) = VIRTUAL_ONLY.into_iter().find(|name| !self.has_ceiling() && given.is_given(name)) {
            return fault(param, "has no meaning without u_target below 1".into());
        }
        if self.has_ceiling() && !(thresh_min..=target_max).contains(&thresh_vq) {
            return fault("thresh_vq", alloc::format!("{thresh_vq} is out of range: allowed {thresh_min} to {target_max}"));
        }
        if self.rate.is_none() && link.rate.is_none() {
            return fault("rate", "the link's rate is unknown: say what counts as full use".into());
        }
        Ok(())
    }
}

/// Parameters that concern the ceiling on the use of the link.
const VIRTUAL_ONLY: [&str; 3] = ["down_step", "thresh_vq", "g_vq"];

const fn share(name: &'static str, default: f64, doc: &'static str) -> Param {
    let default = ParamDefault::Value(Value::Number(default));
    Param::new(name, Unit::Ratio, default).within(0.01, 1.0).about(doc).from_source("steering study §V")
}

const fn span(name: &'static str, default: Duration, doc: &'static str, source: &'static str) -> Param {
    let default = ParamDefault::Value(Value::Duration(default));
    Param::new(name, Unit::Duration, default).within(1e-6, 1000.0).about(doc).from_source(source)
}

const fn number(name: &'static str, default: f64, range: (f64, f64), doc: &'static str, source: &'static str) -> Param {
    Param::number(name, default).within(range.0, range.1).about(doc).from_source(source)
}

/// Number of parameters that a policy has.
const COUNT: usize = 14;

/// The parameters of a policy; `native` describes the setpoint of the algorithm alone.
const fn policy_params(native: &'static str) -> [Param; COUNT] {
    [
        share("u_low", 0.99, "use at least this share of the link"),
        share("u_target", 1.0, "use at most this share of the link; 1: as much as there is, without a virtual queue"),
        span("target_max", Duration::ms(30), "the setpoint is never above", "steering study §V"),
        span("thresh_min", THRESH_MIN, "the setpoint is never below", "steering study §IV"),
        number("alpha_up", 2.0, (1.0, 100.0), "factor of a raise", "steering study §IV"),
        Param::auto("thresh_min_up", Unit::Duration, native)
            .within(1e-6, 1000.0)
            .about("a raise goes at least here; also the first setpoint")
            .from_source("steering study §IV"),
        span("thresh_down_min", THRESH_MIN, "lowering goes in multiples of this", "steering study §IV"),
        number("gamma", 2.0, (0.0, 100.0), "margin in standard deviations of the queue's dips", "our choice; the study: above 1"),
        number("down_step", 0.75, (0.01, 0.99), "factor on the setpoint while more than u_target is used", "steering study §IV"),
        Param::auto("thresh_vq", Unit::Duration, "thresh_min")
            .within(1e-6, 1000.0)
            .about("setpoint at which the virtual queue takes over")
            .from_source("our choice"),
        number("g_vq", 0.5, (0.001, 1.0), "share of a utilization error that moves the virtual queue's rate", "our choice"),
        Param { range: (1e-3, 1e4), ..span("mem_delta", MEMORY, "memory of the average dip", "our choice") },
        Param { range: (1e-3, 1e4), ..span("mem_rate", MEMORY, "memory of the average rate", "our choice") },
        Param::auto("rate", Unit::Rate, "the link's rate")
            .within(1.0, 1e13)
            .about("what counts as full use")
            .from_source("our choice"),
    ]
}

/// The parameters of a steered kind: those of the kind inside but `replaced` ones, then those of a
/// policy.
pub(crate) const fn steered_params<const ALL: usize>(inner: &[Param], replaced: &[&str], native: &'static str) -> [Param; ALL] {
    let policy = policy_params(native);
    let mut all = [policy[0]; ALL];
    let (mut to, mut from) = (0, 0);
    while from < inner.len() {
        if !contains(replaced, inner[from].name) {
            all[to] = inner[from];
            to += 1;
        }
        from += 1;
    }
    assert!(to + COUNT == ALL, "one place for each parameter");
    while to < ALL {
        all[to] = policy[to + COUNT - ALL];
        to += 1;
    }
    all
}

/// The values given for parameters that the kind inside has.
pub(crate) fn inner_values(given: &ParamValues<'_>, inner: &'static KindSpec) -> Vec<(&'static str, Value)> {
    let is_inner = |name: &str| inner.params.iter().any(|param| param.name == name);
    given.values().iter().copied().filter(|(name, _)| is_inner(name)).collect()
}
