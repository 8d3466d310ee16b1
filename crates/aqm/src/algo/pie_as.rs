//! PIE steered by a policy: the target follows the needs of the link and its senders.
//!
//! *Signal*: the sojourn time, sampled by the updates of PIE, on arrival; between signals that of
//! [`crate::steering`].
//!
//! *Law*: see [`crate::steering`].
//!
//! *Parameters*: those of [`super::pie`] without `target`, `arithmetic` and those of its departure
//! rate; and those of the policy ([`crate::steering`]).
//!
//! *Deviations*: the study steers GSP and says that PIE can be steered; how is our choice. PIE
//! signals at random and often. Therefore signals are examined once per eight updates or 100 ms,
//! whichever is longer, and a queue that runs empty later than that after a signal is not
//! attributed to the signal. The probability stays when the target moves. The delay always comes
//! from time stamps.
//!
//! *Limits*: those of [`super::pie`].
//!
//! *Source*: Bless, Hock and Zitterbart 2018; RFC 8033.

use super::Algorithm;
use super::pie::Pie;
use super::pie::params::{ACTIVE_INACTIVE, DQ_THRESHOLD, ESTIMATOR, TARGET};
use crate::arithmetic::ARITHMETIC;
use crate::outline::finish;
use crate::spec::{Default, Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamValues, Value, join, with_default};
use crate::steering::{Policy, Steered, inner_values, steered_params};
use goodqueue_base::units::Duration;

/// PIE with a steered target.
pub type PieAs = Steered<Pie>;

/// Native setpoint: that of GSP and CoDel with an interval of 100 ms.
const NATIVE: Duration = Duration::us(2500);

/// PIE's parameters, with the rest of RFC 8033 as in the paper: while nobody sends the probability
/// is forgotten, so that the setpoint can rise again.
const WITHIN: [Param; 14] =
    with_default(join(&[Pie::KINDS[0].base.params], &[]), ACTIVE_INACTIVE.name(), Default::Value(Value::Switch(true)));

const REPLACED: [&str; 4] = [TARGET.name(), ESTIMATOR.name(), DQ_THRESHOLD.name(), ARITHMETIC.name()];
const PARAMS: [Param; 24] = steered_params(&WITHIN, &REPLACED, "2.5 ms");

impl Algorithm for PieAs {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "pie-as",
            aliases: &[],
            title: "PIE-AS",
            summary: "PIE whose target is steered so that the link is used as a policy says, with the least delay",
            params: &PARAMS,
            source: "Bless, Hock and Zitterbart 2018",
        },
        Family::Pi,
        "sojourn time, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let spec = &Pie::KINDS[0];
        let mut values = inner_values(given, spec);
        if !ACTIVE_INACTIVE.is_given(given) {
            values.push((ACTIVE_INACTIVE.name(), Value::Switch(true)));
        }
        let policy = Policy::build(given, link, NATIVE)?;
        let pie = Pie::build(&ParamValues::new(spec, &values)?, link);
        finish(pie, |inner| Self::new(inner.without_dozing(), policy, link.rate, link.mtu))
    }
}
