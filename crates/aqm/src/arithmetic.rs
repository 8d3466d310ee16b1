//! In whose numbers an algorithm is worked out.

use crate::spec::{Default as ParamDefault, Given, ParamError, ParamSpec, Unit, Value};

/// In whose numbers an algorithm is worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Those of its source: nanoseconds, and floating point where the source has real numbers.
    #[default]
    Exact,
    /// Linux's integers and units of time, and what else its queue disciplines do in another way than the source.
    Linux,
}

pub(crate) const ARITHMETIC: ParamSpec = ParamSpec {
    name: "arithmetic",
    unit: Unit::Choice(&["exact", "linux"]),
    default: ParamDefault::Value(Value::Choice("exact")),
    range: (0.0, 0.0),
    doc: "whose numbers: the source's, or Linux's integers and ticks for the very same verdicts",
    source: "recordings of Linux 6.12",
};

impl Arithmetic {
    /// What `given` asks for.
    pub(crate) fn of(given: &Given<'_>) -> Self {
        if given.choice(ARITHMETIC.name) == Some("linux") { Self::Linux } else { Self::Exact }
    }
}

/// Refuses parameters that Linux's form of an algorithm does not have; `has` names the others.
pub(crate) fn linux_has_only(given: &Given<'_>, has: &[&str]) -> Result<(), ParamError> {
    match given.names().find(|name| *name != ARITHMETIC.name && !has.contains(name)) {
        None => Ok(()),
        Some(param) => {
            let message = alloc::format!("arithmetic = \"linux\" has no such setting: allowed with it are {}", has.join(", "));
            Err(ParamError { param, message })
        }
    }
}
