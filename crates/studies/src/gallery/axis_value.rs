//! The value of an axis.

use crate::gallery::expr::Value;
use goodqueue_lab::quantity;

/// The value of an axis at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisValue {
    /// For a person: a name, or the text as written.
    pub text: String,
    /// In SI units (seconds, bits per second, bytes), where it is a quantity.
    pub number: Option<f64>,
}

impl AxisValue {
    /// The value in an expression: the number, where there is one.
    #[must_use]
    pub fn value(&self) -> Value {
        self.number.map_or_else(|| Value::Text(self.text.clone()), Value::Number)
    }

    /// Converts a value of a sweep. A table goes by its `name`, or its `kind`.
    #[must_use]
    pub fn of(value: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match value {
            Json::Number(number) => Self { text: number.to_string(), number: number.as_f64() },
            Json::String(text) => Self { text: text.clone(), number: quantity_of(text) },
            Json::Object(table) => {
                let name = ["name", "kind"].iter().find_map(|key| table.get(*key).and_then(Json::as_str));
                Self { text: name.map_or_else(|| value.to_string(), str::to_owned), number: None }
            }
            Json::Array(items) => {
                let texts: Vec<String> = items.iter().map(|item| Self::of(item).text).collect();
                Self { text: texts.join(" + "), number: None }
            }
            other => Self { text: other.to_string(), number: None },
        }
    }

    /// Whether it is this text, as written or as another way to write the same quantity. The kind
    /// alone stands for all tables of that kind.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        let is_kind = self.number.is_none() && self.text.split_once(':').is_some_and(|(kind, _)| kind == text);
        is_kind || self.text == text || matches!((self.number, quantity_of(text)), (Some(own), Some(other)) if same(own, other))
    }
}

/// Equal but for rounding.
#[must_use]
pub fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// A text as a number in SI units.
pub(super) fn quantity_of(text: &str) -> Option<f64> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    if let Ok(duration) = quantity::duration(text) {
        return Some(duration.as_secs_f64());
    }
    if let Ok(rate) = quantity::rate(text) {
        return Some(rate.as_bit_s() as f64);
    }
    match quantity::size(text) {
        Ok(goodqueue_aqm::spec::Size::Packets(packets)) => return Some(packets),
        Ok(goodqueue_aqm::spec::Size::Bytes(bytes)) => return Some(bytes),
        Ok(goodqueue_aqm::spec::Size::Time(_)) | Err(_) => {}
    }
    quantity::ratio(text).ok()
}
