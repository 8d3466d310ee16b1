//! The file of a bridge (`--config`): its interfaces, and the settings of the line under the names
//! of the options.

use super::settings::LineSettings;
use crate::failure::Failure;
use clap::{Args, Command};
use serde::Deserialize;
use std::path::Path;
use toml::de::DeTable;

/// Contents of a settings file.
#[derive(Debug, Default)]
pub struct Config {
    /// The interfaces.
    pub interfaces: Interfaces,
    /// The line between them.
    pub line: LineSettings,
}

/// The interfaces that a file may name.
#[derive(Debug, Default, Deserialize)]
pub struct Interfaces {
    /// Arrivals for the direction IN to OUT.
    #[serde(rename = "in")]
    pub inside: Option<String>,
    /// Departures of that direction.
    #[serde(rename = "out")]
    pub outside: Option<String>,
}

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |what: &dyn std::fmt::Display| Failure::Input(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| wrong(&error))?;
        let text = String::from_utf8(bytes)
            .map_err(|error| wrong(&format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())))?;
        Self::parse(&text).map_err(|fault| {
            let before = &text[..fault.at()];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            Failure::Input(format!("{}:{line}:{column}: {fault}", path.display()))
        })
    }

    /// Reads a file's text.
    fn parse(text: &str) -> Result<Self, ConfigFault> {
        let table = DeTable::parse(text)?;
        let known = known();
        for key in table.get_ref().keys() {
            let name = key.get_ref();
            if !known.iter().any(|known| known == name) {
                return Err(ConfigFault::Unknown { name: name.to_string(), at: key.span().start, known });
            }
        }
        Ok(Self { interfaces: toml::from_str(text)?, line: toml::from_str(text)? })
    }
}

/// Fault in a file's text.
#[derive(Debug, thiserror::Error)]
enum ConfigFault {
    /// The text is not TOML, or a value is of another type.
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// A name that is neither an interface nor an option of the line.
    #[error("`{name}` is no setting: allowed {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Byte offset of the name.
        at: usize,
        /// The names there are.
        known: Vec<String>,
    },
}

impl ConfigFault {
    /// The byte that it begins at.
    fn at(&self) -> usize {
        match self {
            Self::Toml(error) => error.span().map_or(0, |span| span.start),
            Self::Unknown { at, .. } => *at,
        }
    }
}

/// Every name that a file may have: the interfaces, and the options of the line.
fn known() -> Vec<String> {
    let options = LineSettings::augment_args(Command::new("line"));
    let options = options.get_arguments().filter_map(|option| option.get_long().map(ToOwned::to_owned));
    ["in", "out"].map(ToOwned::to_owned).into_iter().chain(options).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_interfaces_and_line() {
        let config = Config::parse("in = \"a\"\nout = \"b\"\nrate = \"10mbit\"\nno-ecn = true\n").expect("good");
        assert_eq!(config.interfaces.inside.as_deref(), Some("a"));
        assert_eq!(config.interfaces.outside.as_deref(), Some("b"));
        assert_eq!(config.line.rate.as_deref(), Some("10mbit"));
        assert!(config.line.no_ecn);
    }

    #[test]
    fn faults_have_a_place_and_say_what_is_allowed() {
        let text = "rate = \"10mbit\"\nfoo = 1\n";
        let fault = Config::parse(text).expect_err("an unknown name");
        let (at, message) = (fault.at(), fault.to_string());
        assert_eq!(&text[at..at + 3], "foo");
        assert!(message.starts_with("`foo` is no setting: allowed in, out, rate, rate-up, trace, aqm"), "{message}");
        let text = "in = \"a\"\nrate = 5\n";
        let fault = Config::parse(text).expect_err("a number");
        let (at, message) = (fault.at(), fault.to_string());
        assert_eq!(&text[at..], "5\n");
        assert!(message.contains("expected a string"), "{message}");
        let text = "rate = \n";
        assert!(Config::parse(text).is_err());
    }

    #[test]
    fn messages_name_file_line_and_column() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c.toml");
        let message = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            match Config::read(&path).expect_err("a fault") {
                Failure::Input(message) => message.replace(&path.display().to_string(), "c.toml"),
                _ => panic!("wrong input"),
            }
        };
        assert!(message(b"rate = \"1mbit\"\n  foo = 1\n").starts_with("c.toml:2:3: `foo` is no setting"));
        assert_eq!(message(b"rate = \xff\n"), "c.toml: byte 7 is not UTF-8");
    }
}
