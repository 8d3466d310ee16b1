//! GSP steered by a policy: the threshold follows the needs of the link and its senders.
//!
//! *Signal*: the sojourn time of the latest departure, on arrival; between signals that of
//! [`crate::steering`].
//!
//! *Law*: see [`crate::steering`].
//!
//! *Parameters*: those of [`super::gsp`] without `threshold` and `measure`, and those of
//! the policy ([`crate::steering`]).
//!
//! *Deviations*: those of [`super::gsp`] and [`crate::steering`].
//!
//! *Limits*: a raise withholds one signal of an interval, so the setpoint at most doubles each time
//! the queue has run empty.
//!
//! *Source*: Bless, Hock and Zitterbart 2018 §III, §IV.

use super::Algorithm;
use super::gsp::{Gsp, MEASURE, THRESHOLD, THRESHOLDS_AN_INTERVAL, preset_interval};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamValues};
use crate::steering::{Policy, Steered, inner_values, steered_params};

/// GSP with a steered threshold.
pub type GspAs = Steered<Gsp>;

const PARAMS: [Param; 20] =
    steered_params(Gsp::KINDS[0].base.params, &[THRESHOLD.name(), MEASURE.name()], "preset_interval / 40");

impl Algorithm for GspAs {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "gsp-as",
            aliases: &[],
            title: "GSP-AS",
            summary: "GSP whose threshold is steered so that the link is used as a policy says, with the least delay",
            params: &PARAMS,
            source: "Bless, Hock and Zitterbart 2018",
        },
        Family::Threshold,
        "sojourn time, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let spec = &Gsp::KINDS[0];
        let values = inner_values(given, spec);
        let inner = Gsp::build(&ParamValues::new(spec, &values)?, link)?;
        let native = preset_interval(given)?.div(THRESHOLDS_AN_INTERVAL);
        Ok(Self::new(inner, Policy::build(given, link, native)?, link.rate, link.mtu))
    }
}
