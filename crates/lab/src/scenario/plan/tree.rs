//! The scenario as a tree of values that know where they were written, whether in the file or in a
//! `--set`.

use crate::quantity::excerpt;
use crate::scenario::diagnostic::{Fault, Origin, Source};
use std::fmt::Write as _;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// In a dotted key: every item of a list, every value of a table.
const EVERY: &str = "*";

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// A value, by type.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Bool(bool),
    Integer(i64),
    /// A whole number that does not fit, as written: no setting takes it, and the one it stands at
    /// says what it takes.
    HugeInteger(String),
    Float(f64),
    String(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
    /// A date or time, which no setting takes; as written.
    Date(String),
}

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_origin: Origin,
    pub(crate) node: Node,
}

impl Node {
    /// Reads a whole TOML document.
    pub(crate) fn document(source: &Source) -> Result<Self, Fault> {
        let table = DeTable::parse(source.text()).map_err(|error| syntax(source, &error, 0))?;
        Self::from_toml(source, 0, table.span(), &DeValue::Table(table.into_inner()))
    }

    /// Reads one value as it stands after `=` in a `--set`: TOML where it is TOML, a plain word or
    /// phrase otherwise.
    pub(crate) fn argument(source: &Source, value_at: usize) -> Result<Self, Fault> {
        let text = &source.text()[value_at..];
        let span = value_at..source.text().len();
        match DeValue::parse(text) {
            Ok(value) => Self::from_toml(source, value_at, value.span(), value.get_ref()),
            Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => Err(syntax(source, &error, value_at)),
            Err(_) => {
                let origin = Origin { source: source.clone(), span };
                Ok(Self { value: Value::String(text.trim().to_owned()), origin })
            }
        }
    }

    fn from_toml(source: &Source, shift: usize, span: Range<usize>, value: &DeValue<'_>) -> Result<Self, Fault> {
        let origin = Origin { source: source.clone(), span: span.start + shift..span.end + shift };
        let value = match value {
            DeValue::String(text) => Value::String(text.clone().into_owned()),
            DeValue::Boolean(on) => Value::Bool(*on),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::HugeInteger(number.as_str().to_owned()),
            },
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Array(items) => Value::Array(
                items.iter().map(|item| Self::from_toml(source, shift, item.span(), item.get_ref())).collect::<Result<_, _>>()?,
            ),
            DeValue::Table(entries) => Value::Table(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let span = key.span();
                        Ok(Entry {
                            key: key.get_ref().clone().into_owned(),
                            key_origin: Origin { source: source.clone(), span: span.start + shift..span.end + shift },
                            node: Self::from_toml(source, shift, value.span(), value.get_ref())?,
                        })
                    })
                    .collect::<Result<_, Fault>>()?,
            ),
        };
        Ok(Self { value, origin })
    }

    /// The type of this value in words, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Bool(_) => "a switch",
            Value::Integer(_) | Value::HugeInteger(_) | Value::Float(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
            Value::Date(_) => "a date",
        }
    }

    /// The value as a person wrote it, shortened.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Bool(on) => on.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::String(text) | Value::HugeInteger(text) | Value::Date(text) => excerpt(text),
            Value::Array(_) => "[…]".to_owned(),
            Value::Table(_) => "{…}".to_owned(),
        }
    }

    /// The entry of a table.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Takes an entry out of a table.
    pub(crate) fn take(&mut self, key: &str) -> Option<Entry> {
        match &mut self.value {
            Value::Table(entries) => entries.iter().position(|entry| entry.key == key).map(|at| entries.remove(at)),
            _ => None,
        }
    }

    /// Puts `node` where the dotted `key` says, making tables on the way. A shorthand such as
    /// `queue = "codel"` becomes its long form `{ kind = "codel" }` when something inside it is
    /// set.
    pub(crate) fn set(&mut self, key: &DottedKey, node: Node) -> Result<(), Fault> {
        self.set_parts(&key.parts, key, node)
    }

    fn set_parts(&mut self, parts: &[String], key: &DottedKey, node: Node) -> Result<(), Fault> {
        let Some((first, rest)) = parts.split_first() else {
            *self = node;
            return Ok(());
        };
        if first == EVERY {
            return self.set_every(rest, key, &node);
        }
        if let Value::Array(items) = &mut self.value {
            let count = items.len();
            return match first.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                Some(item) => item.set_parts(rest, key, node),
                None => Err(key.no_such_item(first, count)),
            };
        }
        let last = key.parts.len() - parts.len();
        let may_be_short = last > 0 && SHORTHANDS.contains(&key.parts[last - 1].as_str());
        if let (Value::String(kind), true) = (&self.value, may_be_short) {
            let kind = Node { value: Value::String(kind.clone()), origin: self.origin.clone() };
            let entry = Entry { key: "kind".to_owned(), key_origin: self.origin.clone(), node: kind };
            self.value = Value::Table(vec![entry]);
        }
        let Value::Table(entries) = &mut self.value else {
            return Err(key.fault(format!("there is nothing to set inside {} (`{}`)", self.kind(), self.shown())));
        };
        let at = entries.iter().position(|entry| entry.key == *first).unwrap_or_else(|| {
            let empty = Node { value: Value::Table(Vec::new()), origin: key.origin.clone() };
            entries.push(Entry { key: first.clone(), key_origin: key.origin.clone(), node: empty });
            entries.len() - 1
        });
        entries[at].node.set_parts(rest, key, node)
    }

    /// As [`Self::set_parts`] in each item of a list or each value of a table.
    fn set_every(&mut self, rest: &[String], key: &DottedKey, node: &Node) -> Result<(), Fault> {
        match &mut self.value {
            Value::Array(items) if !items.is_empty() => {
                items.iter_mut().try_for_each(|item| item.set_parts(rest, key, node.clone()))
            }
            Value::Table(entries) if !entries.is_empty() => {
                entries.iter_mut().try_for_each(|entry| entry.node.set_parts(rest, key, node.clone()))
            }
            _ => Err(key.fault(format!("`{EVERY}` stands for nothing: there is {} (`{}`)", self.kind(), self.shown()))),
        }
    }

    /// The value as JSON, for results.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Bool(on) => (*on).into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::String(text) | Value::HugeInteger(text) | Value::Date(text) => text.clone().into(),
            Value::Array(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => {
                serde_json::Value::Object(entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect())
            }
        }
    }

    /// Writes the value in one fixed form: keys sorted, no comments, no blanks. Equal settings,
    /// equal text.
    pub(crate) fn write_canonical(&self, out: &mut String) {
        // Writing to a String cannot fail.
        let _ = match &self.value {
            Value::Bool(on) => write!(out, "{on}"),
            Value::Integer(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{number:?}"),
            Value::String(text) | Value::HugeInteger(text) | Value::Date(text) => write!(out, "{text:?}"),
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    item.write_canonical(out);
                    out.push(',');
                }
                write!(out, "]")
            }
            Value::Table(entries) => {
                let mut sorted: Vec<&Entry> = entries.iter().collect();
                sorted.sort_by(|a, b| a.key.cmp(&b.key));
                out.push('{');
                for entry in sorted {
                    let _ = write!(out, "{:?}=", entry.key);
                    entry.node.write_canonical_of(&entry.key, out);
                    out.push(',');
                }
                write!(out, "}}")
            }
        };
    }

    /// Writes the value of `key` in that form: a table with nothing but a `kind` as that name,
    /// where a name alone may stand for it.
    pub(crate) fn write_canonical_of(&self, key: &str, out: &mut String) {
        match &self.value {
            Value::Table(entries) if SHORTHANDS.contains(&key) => match entries.as_slice() {
                [only] if only.key == "kind" => only.node.write_canonical(out),
                _ => self.write_canonical(out),
            },
            _ => self.write_canonical(out),
        }
    }
}

/// Keys whose value may be a name alone, short for a table with that `kind`.
const SHORTHANDS: &[&str] = &["queue", "queue_up", "of", "cc"];

fn syntax(source: &Source, error: &toml::de::Error, shift: usize) -> Fault {
    let span = error.span().unwrap_or(0..0);
    let origin = Origin { source: source.clone(), span: span.start + shift..span.end + shift };
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Fault::at(&origin, "", format!("not TOML: {message}"), None)
}

/// A key that reaches into tables and lists: `link.bottleneck.queue.target`, `traffic.0.flows`.
#[derive(Clone, Debug)]
pub(crate) struct DottedKey {
    pub(crate) parts: Vec<String>,
    /// The place where the key was written.
    pub(crate) origin: Origin,
}

impl DottedKey {
    pub(crate) fn parse(text: &str, origin: Origin) -> Result<Self, Fault> {
        let parts: Vec<String> = text.trim().split('.').map(|part| part.trim().to_owned()).collect();
        let plain = |part: &String| {
            part == EVERY || !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        };
        let numbered = |part: &String| part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit());
        if parts.len() > 16 || !parts.iter().all(plain) || parts.iter().any(numbered) {
            let message = format!("`{}` is not a key", excerpt(text));
            let help = "write names joined by dots, like link.bottleneck.rate or traffic.0.flows".to_owned();
            return Err(Fault::at(&origin, "", message, Some(help)));
        }
        Ok(Self { parts, origin })
    }

    pub(crate) fn text(&self) -> String {
        self.parts.join(".")
    }

    /// The name of the value itself.
    pub(crate) fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// Whether this key names the same as `other`, or something inside it.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let same = |(mine, theirs): (&String, &String)| mine == theirs || mine == EVERY || theirs == EVERY;
        self.parts.len() >= other.parts.len() && self.parts.iter().zip(&other.parts).all(same)
    }

    fn fault(&self, message: String) -> Fault {
        Fault::at(&self.origin, &self.text(), message, None)
    }

    fn no_such_item(&self, part: &str, count: usize) -> Fault {
        let message = match count {
            0 => format!("`{part}` names an item of an empty list"),
            1 => format!("`{part}` names no item: allowed 0"),
            _ => format!("`{part}` names no item: allowed 0 to {}", count - 1),
        };
        self.fault(message)
    }
}
