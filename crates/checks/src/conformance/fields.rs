//! JSON values as typed fields, with messages that name the fault.

use crate::conformance::fault::Fault;
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{Kind, KindSpec, Param, Size, Unit, Value};
use goodqueue_base::units::{Duration, Instant, Rate};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A kind of queue with the parameters given for it.
pub type Queue = (&'static KindSpec, Vec<(&'static str, Value)>);

/// Finds the kind `name` and checks each of its parameters.
pub fn queue(name: &str, params: &BTreeMap<String, Json>) -> Result<Queue, Fault> {
    let kind = sched::find(name).map_err(Fault::Kind)?;
    Ok((kind, values(kind, params)?))
}

/// Checks parameters of `kind`.
pub fn values(kind: &Kind, params: &BTreeMap<String, Json>) -> Result<Vec<(&'static str, Value)>, Fault> {
    let params = params.iter().map(|(name, json)| {
        let param = kind.params.iter().find(|param| param.name == name);
        let fault = |why: String| Fault::Param { name: name.clone(), why };
        let param = param.ok_or_else(|| fault(format!("`{}` has no such parameter", kind.kind)))?;
        let value = value(param, json).ok_or_else(|| fault(format!("`{json}` is not {}", expected(param.unit))))?;
        param.check(value).map_err(|error| fault(error.fault.to_string()))?;
        Ok((param.name, value))
    });
    params.collect()
}

fn value(param: &Param, json: &Json) -> Option<Value> {
    Some(match param.unit {
        Unit::Duration => Value::Duration(Duration::ns(json.as_u64()?)),
        Unit::Rate => Value::Rate(Rate::bit_s(json.as_u64()?)),
        Unit::Number | Unit::Count | Unit::Ratio => Value::Number(json.as_f64()?),
        Unit::Switch => Value::Switch(json.as_bool()?),
        Unit::Choice(words) => Value::Choice(words.iter().find(|word| Some(**word) == json.as_str())?),
        Unit::Size => Value::Size(size(json)?),
        // An algorithm is in the field `of` of the vector; queues have no parameters of other
        // units.
        _ => return None,
    })
}

fn size(json: &Json) -> Option<Size> {
    let Json::Object(object) = json else { return json.as_f64().map(Size::Bytes) };
    let mut fields = object.iter();
    let (Some((unit, amount)), None) = (fields.next(), fields.next()) else { return None };
    match unit.as_str() {
        "packets" => amount.as_f64().map(Size::Packets),
        "bytes" => amount.as_f64().map(Size::Bytes),
        "time" => amount.as_u64().map(|nanos| Size::Time(Duration::ns(nanos))),
        _ => None,
    }
}

fn expected(unit: Unit) -> String {
    match unit {
        Unit::Duration => "a time in ns".to_owned(),
        Unit::Rate => "a rate in bit/s".to_owned(),
        Unit::Number | Unit::Count | Unit::Ratio => "a number".to_owned(),
        Unit::Switch => "true or false".to_owned(),
        Unit::Choice(words) => format!("one of {}", words.join(", ")),
        Unit::Algorithm | Unit::Queue => "a parameter of vectors, which have the field `of` for it".to_owned(),
        Unit::Size => "bytes, {\"bytes\": N}, {\"packets\": N} or {\"time\": NANOSECONDS}".to_owned(),
        unit => format!("a {unit}"),
    }
}

/// A random number in the notation of the files: `0x` and sixteen digits.
pub fn hexadecimal(text: &str) -> Result<u64, Fault> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 16);
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| Fault::field("random", format!("`{text}` is not 0x and sixteen hexadecimal digits")))
}

/// The fields of a JSON list, read one by one.
pub struct Fields<'a> {
    left: &'a [Json],
    what: &'static str,
}

impl<'a> Fields<'a> {
    pub fn of(json: &'a Json, what: &'static str) -> Result<Self, Fault> {
        let left = json.as_array().ok_or_else(|| Fault::not_a(json, format!("{what}: a list was expected")))?;
        Ok(Self { left, what })
    }

    pub fn rest(&self) -> usize {
        self.left.len()
    }

    pub fn next(&mut self, name: &str) -> Result<&'a Json, Fault> {
        let first = self.left.split_first();
        let (first, left) = first.ok_or_else(|| Fault::Lacks { what: self.what, field: name.to_owned() })?;
        self.left = left;
        Ok(first)
    }

    pub fn word(&mut self, name: &str) -> Result<&'a str, Fault> {
        let json = self.next(name)?;
        json.as_str().ok_or_else(|| Fault::field(name, format!("`{json}` is not a word")))
    }

    /// A whole number up to `most`.
    pub fn number<N: TryFrom<u64> + Copy + Into<u64>>(&mut self, name: &str, most: N) -> Result<N, Fault> {
        let json = self.next(name)?;
        let number = json.as_u64().filter(|&number| number <= most.into());
        let number = number.and_then(|number| N::try_from(number).ok());
        number.ok_or_else(|| Fault::field(name, format!("`{json}` is not a whole number from 0 to {}", most.into())))
    }

    pub fn instant(&mut self) -> Result<Instant, Fault> {
        self.number("time", u64::MAX).map(Instant::from_nanos)
    }

    /// A whole number or null.
    pub fn optional(&mut self, name: &str) -> Result<Option<u64>, Fault> {
        if self.left.first().is_some_and(Json::is_null) {
            self.next(name)?;
            return Ok(None);
        }
        self.number(name, u64::MAX).map(Some)
    }

    pub fn end(self) -> Result<(), Fault> {
        match self.left.first() {
            None => Ok(()),
            Some(extra) => Err(Fault::TooMany { extra: extra.to_string(), what: self.what }),
        }
    }
}
