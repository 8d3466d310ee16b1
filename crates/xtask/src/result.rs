//! The result of a command.

use std::error::Error;

/// The result of a command; the error is shown to the developer as it is.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Fails with a list of `faults` if there are any; `kind` says what they are.
pub fn none_of(kind: &str, faults: &[String]) -> Result {
    if faults.is_empty() { Ok(()) } else { Err(format!("{} {kind}:\n  {}", faults.len(), faults.join("\n  ")).into()) }
}
