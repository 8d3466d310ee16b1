//! CoDel's settings, and their description.

use super::{ARITHMETIC, Arithmetic, Reentry};
use crate::arithmetic::LINUX;
use crate::spec::{LinkFacts, ParamError, ParamFault, ParamValues, TypedParam};
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration};

settings! {
    /// CoDel's settings; by default those of RFC 8289 §4.2, §4.3 and §5.2, with packets of 1500
    /// bytes and without a marking threshold.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CoDelParams {
        /// Acceptable standing delay.
        pub target: Duration => TARGET,
        /// Time that the delay must stay above `target` before the first signal: about the largest
        /// expected RTT.
        pub interval: Duration => INTERVAL,
        /// No signal while at most this many bytes wait.
        pub mtu: Bytes = Bytes::new(1500),
        /// Delivered packets are marked above this sojourn time; [`Duration::MAX`] for never.
        pub ce_threshold: Duration => CE_THRESHOLD = Duration::MAX,
        /// Start of an episode that begins soon after another.
        pub reentry: Reentry => REENTRY,
        /// Exact numbers, or those of Linux.
        pub arithmetic: Arithmetic => ARITHMETIC,
    }
}

impl CoDelParams {
    /// The settings of a kind that lists all of CoDel's parameters, or some of them.
    pub(super) fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let params = Self { ce_threshold: CE_THRESHOLD.read(given).unwrap_or(Duration::MAX), mtu: link.mtu, ..Self::read(given) };
        TARGET.at_most(params.target, &INTERVAL, params.interval)?;
        if params.arithmetic == Arithmetic::Linux
            && params.reentry != Reentry::Rfc8289
            && let Some(reentry) = given.choice(REENTRY.name())
        {
            return Err(REENTRY.fault(ParamFault::Conflict { value: reentry.into(), with: &LINUX, allowed: "rfc8289" }));
        }
        Ok(params)
    }

    /// The target and interval of a kind that has no other parameters of CoDel.
    pub(crate) fn of_target_and_interval(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let (target, interval) = (TARGET.read(given), INTERVAL.read(given));
        TARGET.at_most(target, &INTERVAL, interval)?;
        Ok(Self { target, interval, mtu: link.mtu, ..Self::default() })
    }
}

pub(crate) const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(5))
    .within(1e-6, 10.0)
    .about("acceptable standing delay")
    .from_source("RFC 8289 §4.3");
pub(crate) const INTERVAL: TypedParam<Duration> = TypedParam::duration("interval", Duration::ms(100))
    .within(1e-6, 100.0)
    .about("time above target before the first signal")
    .from_source("RFC 8289 §4.2");
pub(crate) const CE_THRESHOLD: TypedParam<Option<Duration>> = TypedParam::auto("ce_threshold", "never")
    .within(0.0, 100.0)
    .about("delivered ECN-capable packets are marked above this sojourn time")
    .from_source("Linux");
pub(crate) const REENTRY: TypedParam<Reentry> = TypedParam::choice("reentry", "rfc8289")
    .about("how an episode of signals begins soon after another")
    .from_source("RFC 8289 §5.5; Nichols and Jacobson 2012; Nichols 2013");
