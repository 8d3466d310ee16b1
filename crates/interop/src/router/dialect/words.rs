//! Rows that tables share.

use super::{How, Marks, Word, Write};
use goodqueue_aqm::spec::{Size, Value};
use goodqueue_base::units::Duration;

/// A parameter and how it is said.
pub(super) const fn word(param: &'static str, how: How) -> Word {
    Word { param, how }
}

/// A key with a quantity.
pub(super) const fn key(param: &'static str, key: &'static str, write: Write) -> Word {
    word(param, How::Key(key, write))
}

/// One value only.
pub(super) const fn only(param: &'static str, value: Value) -> Word {
    word(param, How::Only(Some(value)))
}

/// A setting that stays automatic.
pub(super) const fn automatic(param: &'static str) -> Word {
    word(param, How::Only(None))
}

/// A time.
pub(super) const fn micros(micros: u64) -> Value {
    Value::Duration(Duration::us(micros))
}

/// A size.
pub(super) const fn bytes(bytes: u32) -> Value {
    Value::Size(Size::Bytes(bytes as f64))
}

/// A parameter of the simulation.
pub(super) const fn model(param: &'static str) -> Word {
    word(param, How::Model)
}

/// Words of tc for both.
pub(super) const ECN: Marks = Marks::Flags { on: "ecn", off: "noecn" };
