//! CoDel steered by a policy: the target follows the needs of the link and its senders.
//!
//! *Signal*: the sojourn time of the departing packet, judged at the head; between signals that of
//! [`crate::steering`].
//!
//! *Law*: see [`crate::steering`].
//!
//! *Parameters*: those of [`super::codel`] without `target` and `arithmetic`, and those of the
//! policy ([`crate::steering`]).
//!
//! *Deviations*: the study steers GSP and says that CoDel can be steered; how is our choice. A
//! raise comes before the signal that is due: the head is then judged by the new target, and the
//! episode ends if it is below. The interval is at least twice the target. The target is raised at
//! most once per interval or 100 ms, whichever is longer, and is never below the sending time of
//! one packet.
//!
//! *Limits*: those of [`super::codel`]; each of an episode's many signals is evaluated.
//!
//! *Source*: Bless, Hock and Zitterbart 2018; RFC 8289 §5.

use super::Algorithm;
use super::codel::{CoDel, INTERVAL, TARGET};
use super::gsp::THRESHOLDS_AN_INTERVAL;
use crate::arithmetic::ARITHMETIC;
use crate::outline::finish;
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamValues, Value};
use crate::steering::{Policy, Steered, inner_values, steered_params};
use goodqueue_base::units::Duration;

/// CoDel steered by a policy.
pub type CoDelAs = Steered<CoDel>;

const PARAMS: [Param; 17] = steered_params(CoDel::KINDS[0].base.params, &[TARGET.name(), ARITHMETIC.name()], "interval / 40");

impl Algorithm for CoDelAs {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "codel-as",
            aliases: &[],
            title: "CoDel-AS",
            summary: "CoDel whose target is steered so that the link is used as a policy says, with the least delay",
            params: &PARAMS,
            source: "Bless, Hock and Zitterbart 2018",
        },
        Family::CoDel,
        "sojourn time, at the head",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let spec = &CoDel::KINDS[0];
        let mut values = inner_values(given, spec);
        // The loop sets the target; the one CoDel starts from must only be no longer than any
        // interval.
        values.push((TARGET.name(), Value::Duration(Duration::us(1))));
        let native = INTERVAL.read(given).div(THRESHOLDS_AN_INTERVAL);
        let policy = Policy::build(given, link, native)?;
        finish(CoDel::build(&ParamValues::new(spec, &values)?, link), |inner| Self::new(inner, policy, link.rate, link.mtu))
    }
}
