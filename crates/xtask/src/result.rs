//! The result of a command.

use std::error::Error;

/// The result of a command; the error is shown to the developer as it is.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;
