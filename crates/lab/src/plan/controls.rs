//! Congestion controls and their parameters.

use super::reader::{self, Field, Table};
use super::suggest::nearest;
use super::tree::Value;
use crate::diagnostic::Fault;
use crate::quantity::{Limits, excerpt, out_of_range};
use goodqueue_tcp::CcConfig;
use goodqueue_tcp::cc::{ControlParam, ControlSpec, KERNEL_KINDS, kinds};
use goodqueue_units::Duration;

/// Reads the `cc` of a group: `"cubic"` or `{ kind = "cubic", … }`. The outer `None` means a fault was found.
pub(super) fn read(traffic: &Table<'_>) -> Option<Option<CcConfig>> {
    let Some(node) = traffic.get("cc") else { return Some(None) };
    let path = traffic.path_of("cc");
    if let Value::String(name) = &node.value
        && let Some(kind) = KERNEL_KINDS.iter().find(|kind| *kind == name)
    {
        return Some(Some(CcConfig { kind, params: Vec::new() }));
    }
    if !matches!(node.value, Value::Table(_)) {
        let spec = traffic.optional("cc", find)?;
        return Some(Some(CcConfig { kind: spec.kind, params: Vec::new() }));
    }
    let table = Table::open(node, &path, traffic.faults())?;
    let spec = table.required("kind", "name the congestion control, for instance { kind = \"cubic\" }", find)?;
    let mut params = Vec::new();
    for param in spec.params {
        let Some(value) = table.optional(param.name, |field| read_param(param, field)) else { continue };
        params.push((param.name, value));
    }
    let whole = spec.params.iter().filter(|param| node.entry(param.name).is_some()).count() == params.len();
    table.finish(&format!("`{}`", spec.kind));
    whole.then_some(Some(CcConfig { kind: spec.kind, params }))
}

fn find(field: Field<'_>) -> Result<&'static ControlSpec, Fault> {
    let name = reader::text(field)?;
    kinds().iter().find(|spec| spec.kind == name).ok_or_else(|| {
        let known: Vec<&str> = kinds().iter().map(|spec| spec.kind).collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("this version has {}", known.join(", ")),
        };
        field.fault(format!("`{}` is not a congestion control of this version", excerpt(name)), Some(help))
    })
}

/// Reads a parameter in its own unit: times need theirs, switches are true or false, all else is a plain number.
fn read_param(param: &ControlParam, field: Field<'_>) -> Result<f64, Fault> {
    let span = |unit: Duration| {
        let span = reader::duration(Limits::new(Duration::ZERO, Duration::MAX))(field)?;
        Ok(span.as_nanos() as f64 / unit.as_nanos() as f64)
    };
    let value = match (param.unit, &field.node.value) {
        ("0 or 1", Value::Bool(on)) => f64::from(u8::from(*on)),
        ("ratio", _) => reader::ratio(field)?,
        ("s", _) => span(Duration::secs(1))?,
        ("ms", _) => span(Duration::ms(1))?,
        ("us", _) => span(Duration::us(1))?,
        _ => reader::number(field)?,
    };
    let (low, high) = param.range;
    if !(low..=high).contains(&value) {
        let unit = match param.unit {
            "s" | "ms" | "us" | "segments" => format!(" {}", param.unit),
            _ => String::new(),
        };
        let error = out_of_range(&field.node.shown(), &format!("{low}{unit} to {high}{unit}"));
        return Err(field.fault(error.message, error.help));
    }
    Ok(value)
}
