//! Parameters as their descriptions say: one reader for queues, controls, traffic, links and all
//! other tables.

use super::reader::{self, Field, Table};
use super::timing::Timing;
use super::tree::Value as Node;
use crate::quantity::{self, excerpt};
use crate::scenario::diagnostic::Fault;
use goodqueue_base::spec::{Kind, Param, ParamValues, Unit, Value};
use goodqueue_base::units::{Bytes, Duration, Rate};
use std::ops::Deref;

/// The given ones of `params`, each checked; `None` when one is wrong. Parameters that are another
/// algorithm or queue are not read here.
pub(super) fn read_given(table: &Table<'_>, params: &'static [Param]) -> Option<Vec<(&'static str, Value)>> {
    let mut is_sound = true;
    let mut values = Vec::new();
    for param in params.iter().filter(|param| !param.unit.is_another()) {
        if table.get(param.name).is_none() {
            continue;
        }
        match table.optional(param.name, |field| read(param, field)) {
            Some(value) => values.push((param.name, value)),
            None => is_sound = false,
        }
    }
    is_sound.then_some(values)
}

/// The given keys of a table.
pub(super) struct Keys {
    kind: &'static Kind,
    values: Vec<(&'static str, Value)>,
}

impl Keys {
    /// Reads those keys of `table` that `kind` describes; what is wrong or missing is reported, and
    /// has its default. Keys with a form of their own are left to the caller.
    pub(super) fn read(table: &Table<'_>, kind: &'static Kind) -> Self {
        let mut values = Vec::new();
        for param in kind.params {
            let is_given = table.get(param.name).is_some();
            if !is_plain(param.unit) {
                continue;
            }
            if let Some(value) = table.optional(param.name, |field| read(param, field)) {
                values.push((param.name, value));
            } else if param.is_required() && !is_given {
                table.required(param.name, &what_to_write(param), |_| Ok(()));
            }
        }
        Self { kind, values }
    }

    /// The values, with the defaults of the others behind them.
    pub(super) fn given(&self) -> ParamValues<'_> {
        ParamValues::new(self.kind, &self.values).expect("each value was checked when it was read")
    }
}

/// Whether [`read`] reads values of this unit.
const fn is_plain(unit: Unit) -> bool {
    !matches!(unit, Unit::Timing | Unit::Buffer | Unit::Text | Unit::Nodes | Unit::Form(_)) && !unit.is_another()
}

/// Help on a required key that was left out.
pub(super) fn what_to_write(param: &Param) -> String {
    format!("write the {}, for instance {} = {}", param.doc, param.name, param.example)
}

/// A time of `kind` that may be drawn; its default when it is not given or wrong, which is
/// reported.
pub(super) fn timing(table: &Table<'_>, kind: &'static Kind, name: &'static str) -> Timing {
    let param = kind.param(name).expect("tables ask for keys they list");
    table.optional(param.name, Timing::read(param.durations())).unwrap_or(match param.default_value() {
        Some(Value::Duration(span)) => Timing::Fixed(span),
        Some(Value::Range(low, high)) => Timing::Uniform(low, high),
        _ => Timing::Fixed(Duration::ZERO),
    })
}

/// Reads a parameter according to its unit and checks its range.
pub(super) fn read(param: &Param, field: Field<'_>) -> Result<Value, Fault> {
    let value = match param.unit {
        Unit::Duration => Value::Duration(reader::duration(param.durations())(field)?),
        Unit::Size => Value::Size(reader::size(field)?),
        Unit::Bytes => Value::Bytes(reader::bytes(param.limits(Bytes::new))(field)?),
        Unit::Rate => Value::Rate(reader::rate(param.limits(Rate::bit_s))(field)?),
        Unit::Number => Value::Number(reader::number(field)?),
        Unit::Count => Value::Number(count(param, field)?),
        Unit::Ratio => Value::Number(reader::ratio(field)?),
        Unit::Switch => Value::Switch(match field.node.value {
            Node::Integer(number @ (0 | 1)) => number == 1,
            _ => reader::switch(field)?,
        }),
        Unit::Choice(words) => Value::Choice(reader::choice(words)(field)?),
        Unit::SwitchOr(words) => match field.node.value {
            Node::Bool(on) => Value::Switch(on),
            _ => Value::Choice(reader::choice(words)(field)?),
        },
        Unit::Algorithm | Unit::Queue => return Err(field.expected("an algorithm like { kind = \"pie\" }")),
        unit => return Err(field.expected(&unit.to_string())),
    };
    param.check_written(value, &field.node.shown()).map_err(|error| field.fault(error.fault.to_string(), None))?;
    Ok(value)
}

/// A whole number: as such, or in a string of the command line.
fn count(param: &Param, field: Field<'_>) -> Result<f64, Fault> {
    match &field.node.value {
        Node::Float(_) => reader::number(field),
        Node::String(text) if quantity::number(text).is_ok() => reader::number(field),
        _ => Ok(reader::count(param.limits(|number| number))(field)? as f64),
    }
}

/// The kind called `name`; `what` says what it would be one of, and `list` what to do when no name
/// is near.
pub(super) fn find<K: Deref<Target = Kind>>(
    field: Field<'_>,
    name: &str,
    known: impl Iterator<Item = &'static K> + Clone,
    what: &str,
    list: &str,
) -> Result<&'static K, Fault> {
    goodqueue_base::spec::find(name, known).map_err(|near| {
        let help = near.map_or_else(|| list.to_owned(), |near| format!("did you mean `{near}`?"));
        field.fault(format!("`{}` is not a {what} of this version", excerpt(name)), Some(help))
    })
}
