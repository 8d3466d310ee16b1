//! Values of expressions. Lists are shared instead of copied, and counted while they are alive.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

thread_local! {
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// Elements of all lists that are alive in this thread, shared ones once.
pub(super) fn held() -> u64 {
    HELD.get()
}

/// Elements of a list. A clone shares them.
#[derive(Clone, Debug)]
pub struct Array {
    items: Rc<Items>,
    units: u64,
    depth: usize,
}

#[derive(Debug)]
struct Items(Box<[Value]>);

impl Array {
    /// Elements with all that is in them, as if nothing were shared.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Levels of lists within lists.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

impl FromIterator<Value> for Array {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        let items: Box<[Value]> = items.into_iter().collect();
        let units = items.iter().map(units).fold(1, u64::saturating_add);
        let inner = |item: &Value| if let Value::Array(inner) = item { inner.depth } else { 0 };
        let depth = 1 + items.iter().map(inner).max().unwrap_or(0);
        HELD.set(HELD.get() + items.len() as u64 + 1);
        Self { items: Rc::new(Items(items)), units, depth }
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        HELD.set(HELD.get() - self.0.len() as u64 - 1);
    }
}

impl Deref for Array {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items.0
    }
}

/// Size of a value: about one for each 32 bytes it would take by itself.
pub(super) fn units(value: &Value) -> u64 {
    match value {
        Value::Number(_) | Value::Bool(_) => 1,
        Value::Text(text) => 1 + text.len() as u64 / 32,
        Value::Array(array) => array.units(),
        Value::Filter(entries) => entries.iter().map(|(_, value)| units(value)).fold(1, u64::saturating_add),
    }
}

/// Result of an expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number, never NaN.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
    /// A list.
    Array(Array),
    /// Axes and what they must be, in the order of their names.
    Filter(Vec<(String, Value)>),
}

impl Value {
    /// Name of the kind of value, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Text(_) => "a text",
            Self::Filter(_) => "a filter",
            Self::Array(items) => match items.first() {
                None => "an empty list",
                Some(Self::Number(_)) => "a list of numbers",
                Some(Self::Bool(_)) => "a list of truth values",
                Some(Self::Text(_)) => "a list of texts",
                Some(Self::Array(_)) => "a list of lists",
                Some(Self::Filter(_)) => "a list of filters",
            },
        }
    }

    /// A list of numbers.
    #[must_use]
    pub fn numbers(values: impl IntoIterator<Item = f64>) -> Self {
        Self::array(values.into_iter().map(Self::Number))
    }

    /// A list.
    #[must_use]
    pub fn array(values: impl IntoIterator<Item = Value>) -> Self {
        Self::Array(values.into_iter().collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Array(_) | Self::Filter(_) => f.write_str(self.kind()),
        }
    }
}
