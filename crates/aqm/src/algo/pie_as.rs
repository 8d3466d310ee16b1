//! PIE steered by a policy: its target follows what the link and its senders need.
//!
//! *Signal*: sojourn time, sampled by PIE's updates, acts on arrival; between signals that of [`crate::steering`].
//!
//! *Law*: see [`crate::steering`].
//!
//! *Parameters*: those of [`super::pie`] without `target`, `arithmetic` and those of its departure rate, and those of [`Policy`].
//!
//! *Departures*: the study steers GSP and says that PIE can be; how is our choice. PIE signals at random and often, so signals are looked at once in
//! eight updates or 100 ms, whichever is longer, and a queue that runs empty later than that after a signal did not do so because of
//! it. The probability stays when the target moves. The delay is always learnt from time stamps.
//!
//! *Limits*: those of [`super::pie`].
//!
//! *Source*: Bless, Hock and Zitterbart 2018; RFC 8033.

use super::Algorithm;
use super::pie::Pie;
use crate::spec::{Given, KindSpec, LinkFacts, ParamError, ParamSpec};
use crate::steering::{Policy, Steered, inner_values, steered_params};
use goodqueue_units::Duration;

/// PIE steered by a policy.
pub type PieAs = Steered<Pie>;

/// That of GSP and CoDel with an interval of 100 ms.
const NATIVE: Duration = Duration::us(2500);

const PARAMS: [ParamSpec; 24] = steered_params(Pie::KINDS[0].params, &["target", "estimator", "dq_threshold", "arithmetic"], "2.5 ms");

impl Algorithm for PieAs {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "pie-as",
        summary: "PIE whose target is steered so that the link is used as a policy says, with the least delay",
        signal: "sojourn time, on arrival",
        marks: true,
        params: &PARAMS,
        source: "Bless, Hock and Zitterbart 2018",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let spec = &Pie::KINDS[0];
        let values = inner_values(given, spec);
        let inner = Pie::build(&Given::new(spec, &values)?, link)?;
        Ok(Self::new(inner, Policy::build(given, link, NATIVE)?, link.rate, link.mtu))
    }
}
