//! Typed reading of tables: every getter marks its key as known, and whatever is left over is an
//! unknown key.

use super::tree::{Entry, Node, Value};
use crate::quantity::{self, Limits, QuantityError, excerpt};
use crate::scenario::diagnostic::{Fault, Origin};
use goodqueue_base::spec::nearest;
use goodqueue_base::units::{Bytes, Duration, Rate};
use std::cell::RefCell;

/// The faults found so far. Reading continues after a fault, so that one look shows all of them.
#[derive(Debug, Default)]
pub(crate) struct Faults(RefCell<Vec<Fault>>);

/// More would not be read by anyone.
const MAX_FAULTS: usize = 20;

impl Faults {
    pub(crate) fn add(&self, fault: Fault) {
        let mut faults = self.0.borrow_mut();
        if faults.len() < MAX_FAULTS {
            faults.push(fault);
        }
    }

    pub(crate) fn any(&self) -> bool {
        !self.0.borrow().is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Fault> {
        self.0.into_inner()
    }
}

/// A value and the dotted key that leads to it.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: &'a str,
}

impl Field<'_> {
    pub(crate) fn fault(&self, message: String, help: Option<String>) -> Fault {
        Fault::at(&self.node.origin, self.path, message, help)
    }

    pub(crate) fn refuse(&self, error: QuantityError) -> Fault {
        self.fault(error.message(), error.help.map(String::from))
    }

    /// The value is of the wrong type.
    pub(crate) fn expected(&self, what: &str) -> Fault {
        self.fault(format!("`{}` is {}: expected {what}", self.node.shown(), self.node.kind()), None)
    }
}

/// A table being read.
pub(crate) struct Table<'a> {
    entries: &'a [Entry],
    origin: &'a Origin,
    path: String,
    known: RefCell<Vec<&'static str>>,
    faults: &'a Faults,
}

impl<'a> Table<'a> {
    /// Begins to read `node`, which must be a table.
    pub(crate) fn open(node: &'a Node, path: &str, faults: &'a Faults) -> Option<Self> {
        let Value::Table(entries) = &node.value else {
            faults.add(Field { node, path }.expected("a table"));
            return None;
        };
        Some(Self { entries, origin: &node.origin, path: path.to_owned(), known: RefCell::default(), faults })
    }

    pub(crate) fn faults(&self) -> &'a Faults {
        self.faults
    }

    pub(crate) fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// The dotted key of `key` in this table.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The value of `key`, if given.
    pub(crate) fn get(&self, key: &'static str) -> Option<&'a Node> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of `key` as `read` reads it; `None` when it is not given or wrong.
    pub(crate) fn optional<T>(&self, key: &'static str, read: impl FnOnce(Field<'_>) -> Result<T, Fault>) -> Option<T> {
        let node = self.get(key)?;
        match read(Field { node, path: &self.path_of(key) }) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.faults.add(fault);
                None
            }
        }
    }

    /// As [`Self::optional`], with a fault when it is not given; `help` says what to write.
    pub(crate) fn required<T>(
        &self,
        key: &'static str,
        help: &str,
        read: impl FnOnce(Field<'_>) -> Result<T, Fault>,
    ) -> Option<T> {
        if self.get(key).is_none() {
            self.faults.add(Fault::at(self.origin, &self.path_of(key), "is missing".to_owned(), Some(help.to_owned())));
        }
        self.optional(key, read)
    }

    /// A fault of this table as a whole.
    pub(crate) fn fault(&self, key: &str, message: String, help: Option<String>) {
        let origin = self.entries.iter().find(|entry| entry.key == key).map_or(self.origin, |entry| &entry.node.origin);
        self.faults.add(Fault::at(origin, &self.path_of(key), message, help));
    }

    /// Ends reading: all keys that no getter asked for are unknown. `what` names the table.
    pub(crate) fn finish(self, what: &str) {
        let known = self.known.borrow();
        let unknown = |entry: &&Entry| !known.contains(&entry.key.as_str());
        for entry in self.entries.iter().filter(unknown) {
            let help = match nearest(&entry.key, known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("{what} has {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
            };
            let path = self.path_of(&excerpt(&entry.key));
            self.faults.add(Fault::at(&entry.key_origin, &path, "unknown key".to_owned(), Some(help)));
        }
    }
}

/// Whether a text may be the name of a link or a class.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A text.
pub(crate) fn text(field: Field<'_>) -> Result<&str, Fault> {
    match &field.node.value {
        Value::String(text) => Ok(text),
        _ => Err(field.expected("a text in quotes")),
    }
}

/// A text, or a bare number, which lacks its unit and is refused with what to write.
fn written(field: Field<'_>, what: &str) -> Result<String, Fault> {
    match &field.node.value {
        Value::String(text) | Value::HugeInteger(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        _ => Err(field.expected(what)),
    }
}

pub(crate) fn duration(limits: Limits<Duration>) -> impl Fn(Field<'_>) -> Result<Duration, Fault> {
    move |field| {
        let text = written(field, "a time like \"5 ms\"")?;
        quantity::duration_within(&text, limits).map_err(|e| field.refuse(e))
    }
}

pub(crate) fn rate(limits: Limits<Rate>) -> impl Fn(Field<'_>) -> Result<Rate, Fault> {
    move |field| {
        let text = written(field, "a rate like \"10 Mbit/s\"")?;
        quantity::rate_within(&text, limits).map_err(|e| field.refuse(e))
    }
}

/// A size in whole bytes.
pub(crate) fn bytes(limits: Limits<Bytes>) -> impl Fn(Field<'_>) -> Result<Bytes, Fault> {
    move |field| {
        let text = written(field, "a size like \"1500 B\"")?;
        quantity::bytes_within(&text, limits).map_err(|e| field.refuse(e))
    }
}

/// An amount of queue.
pub(crate) fn size(field: Field<'_>) -> Result<goodqueue_aqm::spec::Size, Fault> {
    quantity::size(&written(field, "an amount like \"5 packets\"")?).map_err(|e| field.refuse(e))
}

/// The size of a buffer.
pub(crate) fn buffer(field: Field<'_>) -> Result<quantity::Buffer, Fault> {
    quantity::buffer(&written(field, "an amount like \"1 bdp\"")?).map_err(|e| field.refuse(e))
}

/// A share, as a number or in per cent.
pub(crate) fn ratio(field: Field<'_>) -> Result<f64, Fault> {
    quantity::ratio(&written(field, "a share like \"5 %\"")?).map_err(|e| field.refuse(e))
}

/// A plain number; a text may hold one, so that command lines need no quotes.
pub(crate) fn number(field: Field<'_>) -> Result<f64, Fault> {
    quantity::number(&written(field, "a number")?).map_err(|e| field.refuse(e))
}

/// A whole number within limits.
pub(crate) fn count(limits: Limits<u64>) -> impl Fn(Field<'_>) -> Result<u64, Fault> {
    move |field| match &field.node.value {
        Value::Integer(number) => match u64::try_from(*number) {
            Ok(number) => limits.check(number, &number.to_string()).map_err(|e| field.refuse(e)),
            Err(_) => Err(field.refuse(limits.refuse(&number.to_string()))),
        },
        Value::HugeInteger(text) => Err(field.refuse(limits.refuse(text))),
        _ => Err(field.expected("a whole number")),
    }
}

/// true or false.
pub(crate) fn switch(field: Field<'_>) -> Result<bool, Fault> {
    match field.node.value {
        Value::Bool(on) => Ok(on),
        _ => Err(field.expected("true or false")),
    }
}

/// One of a few words.
pub(crate) fn choice(words: &'static [&'static str]) -> impl Fn(Field<'_>) -> Result<&'static str, Fault> {
    move |field| {
        let word = text(field)?;
        words.iter().find(|known| **known == word).copied().ok_or_else(|| not_one_of(field, word, words))
    }
}

/// `word` is none of `words`.
pub(crate) fn not_one_of(field: Field<'_>, word: &str, words: &[&str]) -> Fault {
    let list = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let help = nearest(word, words.iter().copied()).map(|name| format!("did you mean `{name}`?"));
    field.fault(format!("`{}` is not known: allowed {list}", excerpt(word)), help)
}
