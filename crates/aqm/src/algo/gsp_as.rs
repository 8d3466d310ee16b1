//! GSP steered by a policy: its threshold follows what the link and its senders need.
//!
//! *Signal*: sojourn time of the last departure, on arrival; between signals that of [`crate::steering`].
//!
//! *Law*: see [`crate::steering`].
//!
//! *Parameters*: those of [`super::gsp`] without `threshold` and `measure`, and those of [`Policy`].
//!
//! *Departures*: those of [`super::gsp`] and [`crate::steering`].
//!
//! *Limits*: a raise withholds one signal of an interval, so the setpoint grows no faster than it doubles each time the queue has run empty.
//!
//! *Source*: Bless, Hock and Zitterbart 2018 §III, §IV.

use super::Algorithm;
use super::gsp::Gsp;
use crate::spec::{Given, KindSpec, LinkFacts, ParamError, ParamSpec};
use crate::steering::{Policy, Steered, inner_values, steered_params};

/// GSP steered by a policy.
pub type GspAs = Steered<Gsp>;

const PARAMS: [ParamSpec; 19] = steered_params(Gsp::KINDS[0].params, &["threshold", "measure"], "preset_interval / 40");

impl Algorithm for GspAs {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "gsp-as",
        summary: "GSP whose threshold is steered so that the link is used as a policy says, with the least delay",
        signal: "sojourn time, on arrival",
        marks: true,
        params: &PARAMS,
        source: "Bless, Hock and Zitterbart 2018",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let spec = &Gsp::KINDS[0];
        let values = inner_values(given, spec);
        let inner = Gsp::build(&Given::new(spec, &values)?, link)?;
        let native = given.duration("preset_interval").unwrap_or_default().div(super::gsp::THRESHOLDS_AN_INTERVAL);
        Ok(Self::new(inner, Policy::build(given, link, native)?, link.rate, link.mtu))
    }
}
