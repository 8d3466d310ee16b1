//! JSON of files from elsewhere, read within a bound of memory: ten megabytes of it can describe a
//! gigabyte of values.

use crate::import::{ImportError, Input};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Values of one document may take this many bytes of memory, as estimated here.
const MAX_MEMORY: usize = 64 << 20;
const TOO_MANY: &str = "has too many values";
/// A value in a list, which grows by doubling.
const ELEMENT: usize = 2 * size_of::<Value>();
/// Fields in one node of an object's tree at least, and the node.
const FIELDS: usize = 6;
const NODE: usize = 12 * (size_of::<String>() + size_of::<Value>());
/// The heap's own part of a string.
const STRING: usize = 32;

/// The file as one JSON text, without the fields that are called one of `skipped`.
pub(crate) fn read(input: &Input, skipped: &[&str]) -> Result<Value, ImportError> {
    let mut texts = serde_json::Deserializer::from_slice(&input.bytes);
    let mut left = MAX_MEMORY;
    let value = Bounded { left: &mut left, skipped }.deserialize(&mut texts);
    value.and_then(|value| texts.end().map(|()| value)).map_err(|error| fault(input, &error))
}

/// Lists of samples, next to which tools write their own summaries.
const SAMPLES: &[&str] = &["intervals", "round_trips", "latency_measurements", "server_output_json"];

/// Calls `visit` with every JSON text of a file from a place on, of which there is one at least;
/// samples are left out.
pub(crate) fn texts(
    input: &Input,
    from: usize,
    mut visit: impl FnMut(Value) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let texts = serde_json::Deserializer::from_slice(&input.bytes[from..]).into_iter::<Text>();
    for text in texts {
        visit(text.map_err(|error| fault(input, &error))?.0)?;
    }
    Ok(())
}

struct Text(Value);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut left = MAX_MEMORY;
        Bounded { left: &mut left, skipped: SAMPLES }.deserialize(from).map(Self)
    }
}

/// One JSON text of a file with many.
pub(crate) fn record(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let mut text = serde_json::Deserializer::from_slice(bytes);
    let mut left = MAX_MEMORY;
    let value = Bounded { left: &mut left, skipped: &[] }.deserialize(&mut text)?;
    text.end().map(|()| value)
}

/// Calls `visit` with each element of the lists `inner` in the objects of the list `outer`, and
/// with the number of its object. One element is in memory at a time.
pub(crate) fn each(
    input: &Input,
    [outer, inner]: [&str; 2],
    mut visit: impl FnMut(usize, Value) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut fault_of_visit = None;
    let path = [outer, inner];
    let within = Within { path: &path, number: 0, visit: &mut visit, fault: &mut fault_of_visit };
    let done = within.deserialize(&mut serde_json::Deserializer::from_slice(&input.bytes));
    match fault_of_visit {
        Some(error) => Err(error),
        None => done.map_err(|error| fault(input, &error)),
    }
}

/// Names of the fields of the first object in a file, which may be the first of a list; none where
/// there is no such object. No value is kept.
pub(crate) fn names(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    // Faults are reported by the reader that the names choose.
    let _ = Names(&mut found).deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    found
}

fn fault(input: &Input, error: &serde_json::Error) -> ImportError {
    // Of the categories, only this reader's own bound is one of data.
    input.fault(if error.is_data() { error.to_string() } else { format!("is not JSON: {error}") })
}

/// A value whose memory is counted.
struct Bounded<'a> {
    left: &'a mut usize,
    skipped: &'a [&'a str],
}

impl Bounded<'_> {
    fn again(&mut self) -> Bounded<'_> {
        Bounded { left: self.left, skipped: self.skipped }
    }

    fn take<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let allowed = MAX_MEMORY >> 20;
        *self.left = self
            .left
            .checked_sub(bytes)
            .ok_or_else(|| E::custom(format_args!("{TOO_MANY}: allowed up to {allowed} MiB of memory, exceeded")))?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(mut self, value: &str) -> Result<Value, E> {
        self.take(value.len() + STRING)?;
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = list.next_element_seed(self.again())? {
            self.take(ELEMENT)?;
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if self.skipped.contains(&name.as_str()) {
                fields.next_value::<IgnoredAny>()?;
                continue;
            }
            self.take(name.len() + STRING + if all.len().is_multiple_of(FIELDS) { NODE } else { 0 })?;
            let value = fields.next_value_seed(self.again())?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

/// Elements of lists, by the names that lead to them.
struct Within<'a> {
    path: &'a [&'a str],
    number: usize,
    visit: &'a mut dyn FnMut(usize, Value) -> Result<(), ImportError>,
    fault: &'a mut Option<ImportError>,
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.path.is_empty() {
            let mut number = 0;
            let Self { path, visit, fault, .. } = self;
            while list.next_element_seed(Within { path, number, visit, fault })?.is_some() {
                number += 1;
            }
            return Ok(());
        }
        loop {
            let mut left = MAX_MEMORY;
            let Some(value) = list.next_element_seed(Bounded { left: &mut left, skipped: &[] })? else { return Ok(()) };
            if let Err(error) = (self.visit)(self.number, value) {
                *self.fault = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { path, number, visit, fault } = self;
        while let Some(name) = fields.next_key::<String>()? {
            match path {
                [first, rest @ ..] if *first == name => fields.next_value_seed(Within { path: rest, number, visit, fault })?,
                _ => fields.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(())
    }
}

struct Names<'a>(&'a mut Vec<String>);

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        list.next_element_seed(self).map(|_| ())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        const MAX: usize = 1_000;
        while let Some(name) = fields.next_key::<String>()? {
            fields.next_value::<IgnoredAny>()?;
            if self.0.len() < MAX {
                self.0.push(name);
            }
        }
        Ok(())
    }
}

impl Input {
    /// Checks that the values of each JSON text take no more memory than is allowed, for a reader
    /// that has no bound of its own. Other faults are for that reader to name.
    ///
    /// # Errors
    /// When they take more than 64 MiB.
    pub fn check_json(&self) -> Result<(), ImportError> {
        let is_json = self.bytes.trim_ascii_start().starts_with(b"[");
        match if is_json { texts(self, 0, |_| Ok(())) } else { Ok(()) } {
            Err(error) if error.message.starts_with(TOO_MANY) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the content as JSON.
    ///
    /// # Errors
    /// When it is not JSON, nested too deeply, or its values take more than 64 MiB of memory.
    pub fn json(&self) -> Result<Value, ImportError> {
        read(self, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Input {
        Input::read("x", text.as_bytes()).unwrap()
    }

    #[test]
    fn values_are_those_of_the_library() {
        let text = r#"{"a":[1,-2,3.5,null,true,"x\n"],"b":{"c":{}},"a2":1e300}"#;
        assert_eq!(read(&input(text), &[]).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(read(&input(text), &["b", "a"]).unwrap(), serde_json::json!({"a2": 1e300}));
    }

    #[test]
    fn values_that_take_much_memory_are_refused() {
        for one in ["1,", "{},", r#"{"a":1},"#, r#"{"a":{"a":[]}},"#, r#""","#] {
            let text = format!("[{}1]", one.repeat(10_000_000 / one.len()));
            let message = read(&input(&text), &[]).unwrap_err().to_string();
            let expected = "x: has too many values: allowed up to 64 MiB of memory, exceeded at line 1 column ";
            assert!(message.starts_with(expected), "{message}");
            assert!(names(text.as_bytes()).len() <= 1);
        }
        // As large, and few values.
        let text = format!(r#"{{"a":"{}","b":1}}"#, "x".repeat(10_000_000));
        assert_eq!(read(&input(&text), &[]).unwrap()["b"], 1);
    }

    #[test]
    fn texts_of_readers_without_a_bound_are_bounded() {
        for one in ["1,", "[],", r#"{"a":1},"#, r#"{"kind":"cake","options":{"a":{}}},"#] {
            let text = format!("[{}1]", one.repeat(10_000_000 / one.len()));
            let message = input(&text).check_json().unwrap_err().to_string();
            assert!(message.starts_with("x: has too many values: allowed up to 64 MiB of memory"), "{message}");
        }
        for text in ["qdisc noqueue", "[1", "[{}]\n[{}]", "[]"] {
            assert!(input(text).check_json().is_ok(), "{text}");
        }
    }

    #[test]
    fn elements_are_visited_with_the_number_of_their_object() {
        let text = r#"{"a":[{"b":[1,{"b":[9]}],"c":[7]},5,{"c":0,"b":[2]}],"b":[8]}"#;
        let mut seen = Vec::new();
        each(&input(text), ["a", "b"], |number, value| {
            seen.push(format!("{number}:{value}"));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, ["0:1", r#"0:{"b":[9]}"#, "2:2"]);
        let stopped = each(&input(text), ["a", "b"], |_, _| Err(input(text).fault("enough"))).unwrap_err();
        assert_eq!(stopped.to_string(), "x: enough");
    }
}
