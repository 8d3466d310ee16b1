//! The policy that an outer loop enforces.

use crate::spec::{
    Default, Given, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, TypedParam, Value, join, with_default,
};
use alloc::vec::Vec;
use goodqueue_base::settings;
use goodqueue_base::units::{Duration, Rate};

settings! {
    /// Settings of the outer loop.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Policy {
        /// Use at least this share of the link.
        pub u_low: f64 => U_LOW,
        /// Use at most this share of the link; 1: no such bound, and no virtual queue.
        pub u_target: f64 => U_TARGET,
        /// The setpoint is never above.
        pub target_max: Duration => TARGET_MAX,
        /// Nor below.
        pub thresh_min: Duration => THRESH_MIN,
        /// Factor of a raise.
        pub alpha_up: f64 => ALPHA_UP,
        /// A raise goes at least here.
        pub thresh_min_up: Duration => THRESH_MIN_UP = Duration::ZERO,
        /// Lowering goes in multiples of this.
        pub thresh_down_min: Duration => THRESH_DOWN_MIN,
        /// Standard deviations of the queue's dips kept as a margin.
        pub gamma: f64 => GAMMA,
        /// Factor on the setpoint while more than `u_target` is used.
        pub down_step: f64 => DOWN_STEP,
        /// Setpoint at which the virtual queue takes over.
        pub thresh_vq: Duration => THRESH_VQ = TARGET_MAX.default.div(2),
        /// Share of a utilization error that moves the virtual queue's rate.
        pub g_vq: f64 => G_VQ,
        /// Memory of the average dip.
        pub mem_delta: Duration => MEM_DELTA,
        /// Memory of the average rate.
        pub mem_rate: Duration => MEM_RATE,
        /// Rate that counts as full use; `None`: the link's rate.
        pub rate: Option<Rate> => RATE,
    }
}

impl Policy {
    /// The study's policy for an algorithm whose own setpoint would be `native`: at least 99 %
    /// used, at most 30 ms.
    #[must_use]
    pub const fn new(native: Duration) -> Self {
        Self { thresh_min_up: native, ..Self::DEFAULT }
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
        let policy = Self {
            thresh_min_up: THRESH_MIN_UP.read(given).unwrap_or(native),
            thresh_vq: THRESH_VQ.read(given).unwrap_or_else(|| TARGET_MAX.read(given).div(2).max(THRESH_MIN.read(given))),
            ..Self::read(given)
        };
        policy.check(given, link)?;
        Ok(policy)
    }

    fn check(&self, given: &ParamValues<'_>, link: &LinkFacts) -> Result<(), ParamError> {
        let Self { thresh_min, target_max, thresh_vq, u_low, u_target, .. } = *self;
        TARGET_MAX.at_least(target_max, &THRESH_MIN, thresh_min)?;
        U_LOW.at_most(u_low, &U_TARGET, u_target)?;
        if !self.has_ceiling() {
            given.refuse_unused(&VIRTUAL_ONLY, U_TARGET.name(), u_target)?;
        } else if !(thresh_min..=target_max).contains(&thresh_vq) {
            let value = Given::Value(thresh_vq.into());
            return Err(THRESH_VQ.fault(ParamFault::OutOfRange { value, low: thresh_min.into(), high: target_max.into() }));
        }
        if self.rate.is_none() && link.rate.is_none() {
            return Err(RATE.fault(ParamFault::UnknownRate("say what counts as full use")));
        }
        Ok(())
    }
}

/// Parameters that concern the ceiling on the use of the link.
const VIRTUAL_ONLY: [&str; 3] = [DOWN_STEP.name(), THRESH_VQ.name(), G_VQ.name()];

const SECTION_4: &str = "steering study §IV";
const SECTION_5: &str = "steering study §V";
const OURS: &str = "our choice";

const fn share(name: &'static str, default: f64, doc: &'static str) -> TypedParam<f64> {
    TypedParam::ratio(name, default).within(0.01, 1.0).about(doc).from_source(SECTION_5)
}

const fn span(name: &'static str, default: Duration, doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, default).within(1e-6, 1000.0).about(doc).from_source(SECTION_4)
}

const fn memory(name: &'static str, doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, Duration::secs(2)).within(1e-3, 1e4).about(doc).from_source(OURS)
}

const fn number(name: &'static str, default: f64, range: (f64, f64), doc: &'static str) -> TypedParam<f64> {
    TypedParam::number(name, default).within(range.0, range.1).about(doc).from_source(SECTION_4)
}

const U_LOW: TypedParam<f64> = share("u_low", 0.99, "use at least this share of the link");
const U_TARGET: TypedParam<f64> =
    share("u_target", 1.0, "use at most this share of the link; 1: as much as there is, without a virtual queue");
const TARGET_MAX: TypedParam<Duration> =
    span("target_max", Duration::ms(30), "the setpoint is never above").from_source(SECTION_5);
const THRESH_MIN: TypedParam<Duration> = span("thresh_min", Duration::us(200), "the setpoint is never below");
const ALPHA_UP: TypedParam<f64> = number("alpha_up", 2.0, (1.0, 100.0), "factor of a raise");
/// Its rule is that of the algorithm at hand.
const THRESH_MIN_UP: TypedParam<Option<Duration>> = TypedParam::auto("thresh_min_up", "")
    .within(1e-6, 1000.0)
    .about("a raise goes at least here; also the first setpoint")
    .from_source(SECTION_4);
const THRESH_DOWN_MIN: TypedParam<Duration> = span("thresh_down_min", THRESH_MIN.default, "lowering goes in multiples of this");
const GAMMA: TypedParam<f64> = number("gamma", 2.0, (0.0, 100.0), "margin in standard deviations of the queue's dips")
    .from_source("our choice; the study: above 1");
const DOWN_STEP: TypedParam<f64> =
    number("down_step", 0.75, (0.01, 0.99), "factor on the setpoint while more than u_target is used");
const THRESH_VQ: TypedParam<Option<Duration>> = TypedParam::auto("thresh_vq", "half of target_max")
    .within(1e-6, 1000.0)
    .about("setpoint at which the virtual queue takes over")
    .from_source(OURS);
const G_VQ: TypedParam<f64> =
    number("g_vq", 0.5, (0.001, 2.0), "share of a utilization error that moves the virtual queue's rate").from_source(OURS);
const MEM_DELTA: TypedParam<Duration> = memory("mem_delta", "memory of the average dip");
const MEM_RATE: TypedParam<Duration> = memory("mem_rate", "memory of the average rate");
const RATE: TypedParam<Option<Rate>> =
    TypedParam::auto("rate", "the link's rate").within(1.0, 1e13).about("what counts as full use").from_source(OURS);

/// The parameters of a steered kind: those of the kind inside but `replaced` ones, then those of a
/// policy.
pub(crate) const fn steered_params<const ALL: usize>(inner: &[Param], replaced: &[&str], native: &'static str) -> [Param; ALL] {
    join(&[inner, &with_default(Policy::PARAMS, THRESH_MIN_UP.name(), Default::Auto(native))], replaced)
}

/// The values given for parameters that the kind inside has.
pub(crate) fn inner_values(given: &ParamValues<'_>, inner: &'static KindSpec) -> Vec<(&'static str, Value)> {
    let is_inner = |name: &str| inner.params.iter().any(|param| param.name == name);
    given.values().iter().copied().filter(|(name, _)| is_inner(name)).collect()
}
