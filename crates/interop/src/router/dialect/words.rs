//! Rows that tables share.

use super::{Fixed, How, Marks, Word, Write};

/// A parameter and how it is said.
pub(super) const fn word(param: &'static str, how: How) -> Word {
    Word { param, how }
}

/// A key with a quantity.
pub(super) const fn key(param: &'static str, key: &'static str, write: Write) -> Word {
    word(param, How::Key(key, write))
}

/// One value only.
pub(super) const fn only(param: &'static str, fixed: Fixed) -> Word {
    word(param, How::Only(fixed))
}

/// A parameter of the simulation.
pub(super) const fn model(param: &'static str) -> Word {
    word(param, How::Model)
}

/// Words of tc for both.
pub(super) const ECN: Marks = Marks::Flags { on: "ecn", off: "noecn" };
