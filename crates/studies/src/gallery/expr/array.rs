//! Arrays that are shared instead of copied, and that know their size.

use super::Value;
use std::ops::Deref;
use std::rc::Rc;

/// Elements of a list. A clone shares them.
#[derive(Clone, Debug)]
pub struct Array {
    items: Rc<[Value]>,
    units: u64,
}

impl Array {
    /// Elements with all that is in them, as if nothing were shared.
    pub(super) fn units(&self) -> u64 {
        self.units
    }
}

impl FromIterator<Value> for Array {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        let items: Rc<[Value]> = items.into_iter().collect();
        let units = items.iter().map(units).fold(1, u64::saturating_add);
        Self { items, units }
    }
}

impl Deref for Array {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
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
