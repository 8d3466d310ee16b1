//! CoDel steered by a policy: its target follows what the link and its senders need.
//!
//! *Signal*: sojourn time of the departing packet, judged at the head; between signals that of [`crate::steering`].
//!
//! *Law*: see [`crate::steering`].
//!
//! *Parameters*: those of [`super::codel`] without `target` and `arithmetic`, and those of [`Policy`].
//!
//! *Departures*: the study steers GSP and says that CoDel can be; how is our choice. A raise comes before the signal that is due: the head is
//! then judged by the new target, and the episode ends where it is below. The interval is at least twice the target. The target
//! is raised once in the interval or 100 ms, whichever is longer, and never below the sending time of one packet.
//!
//! *Limits*: those of [`super::codel`]; an episode's many signals are each looked at.
//!
//! *Source*: Bless, Hock and Zitterbart 2018; RFC 8289 §5.

use super::Algorithm;
use super::codel::CoDel;
use crate::spec::{Given, KindSpec, LinkFacts, ParamError, ParamSpec, Value};
use crate::steering::{Policy, Steered, inner_values, steered_params};
use goodqueue_units::Duration;

/// CoDel steered by a policy.
pub type CoDelAs = Steered<CoDel>;

const PARAMS: [ParamSpec; 17] = steered_params(CoDel::KINDS[0].params, &["target", "arithmetic"], "interval / 40");

impl Algorithm for CoDelAs {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "codel-as",
        summary: "CoDel whose target is steered so that the link is used as a policy says, with the least delay",
        signal: "sojourn time, at the head",
        marks: true,
        params: &PARAMS,
        source: "Bless, Hock and Zitterbart 2018",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let spec = &CoDel::KINDS[0];
        let mut values = inner_values(given, spec);
        // The loop sets the target; the one CoDel starts from must only be no longer than any interval.
        values.push(("target", Value::Duration(Duration::us(1))));
        let inner = CoDel::build(&Given::new(spec, &values)?, link)?;
        let native = given.duration("interval").unwrap_or_default().div(super::gsp::THRESHOLDS_AN_INTERVAL);
        Ok(Self::new(inner, Policy::build(given, link, native)?, link.rate, link.mtu))
    }
}
