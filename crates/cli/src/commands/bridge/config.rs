//! The file of a bridge (`--config`): its interfaces, and the settings of the line under the names
//! of the options.

use super::settings::LineSettings;
use crate::failure::Failure;
use clap::{Args, Command};
use goodqueue_lab::scenario::input::read_named;
use serde::Deserialize;
use std::path::Path;
use toml::de::DeTable;

/// Larger files are not read.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// Contents of a settings file.
#[derive(Debug, Default, Deserialize)]
pub struct Config {
    /// Arrivals for the direction IN to OUT.
    #[serde(rename = "in")]
    pub inside: Option<String>,
    /// Departures of that direction.
    #[serde(rename = "out")]
    pub outside: Option<String>,
    /// The line between them, from the same table.
    #[serde(skip)]
    pub line: LineSettings,
}

impl Config {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let text = read_named(path, MAX_FILE_SIZE).map_err(Failure::of(&name))?;
        Self::parse(&name.to_string(), &text)
    }

    /// Reads the text of the file called `name`.
    fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let fault = |at: usize, message: &str| {
            let before = &text[..at];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            Failure::Input(format!("{name}:{line}:{column}: {message}"))
        };
        let wrong = |error: toml::de::Error| fault(error.span().map_or(0, |span| span.start), error.message());
        let table = DeTable::parse(text).map_err(wrong)?;
        let known = known();
        if let Some(key) = table.get_ref().keys().find(|key| !known.iter().any(|known| known == key.get_ref())) {
            let message = format!("`{}` is no setting: allowed {}", key.get_ref(), known.join(", "));
            return Err(fault(key.span().start, &message));
        }
        let queues = toml::from_str(text).map_err(wrong)?;
        let line = LineSettings { queues, ..toml::from_str(text).map_err(wrong)? };
        Ok(Self { line, ..toml::from_str(text).map_err(wrong)? })
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

    fn message(read: Result<Config, Failure>) -> String {
        match read.expect_err("a fault") {
            Failure::Input(message) => message,
            _ => panic!("wrong input"),
        }
    }

    #[test]
    fn a_file_names_interfaces_and_line() {
        let text = "in = \"a\"\nout = \"b\"\nrate = \"10mbit\"\nno-ecn = true\n";
        let config = Config::parse("c.toml", text).expect("good");
        assert_eq!(config.inside.as_deref(), Some("a"));
        assert_eq!(config.outside.as_deref(), Some("b"));
        assert_eq!(config.line.rate.as_deref(), Some("10mbit"));
        assert!(config.line.queues.no_ecn);
    }

    #[test]
    fn faults_have_a_place_and_say_what_is_allowed() {
        let fault = |text: &str| message(Config::parse("c.toml", text));
        let unknown = fault("rate = \"10mbit\"\nfoo = 1\n");
        assert!(unknown.starts_with("c.toml:2:1: `foo` is no setting: allowed in, out, rate, rate-up, trace, aqm"), "{unknown}");
        for number in [fault("in = \"a\"\nrate = 5\n"), fault("in = \"a\"\naqm  = 5\n")] {
            assert!(number.starts_with("c.toml:2:8: ") && number.contains("expected a string"), "{number}");
        }
        assert!(fault("rate = \n").starts_with("c.toml:1:"));
    }

    #[test]
    fn messages_name_file_line_and_column() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c.toml");
        let fault = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("written");
            message(Config::read(&path)).replace(&path.display().to_string(), "c.toml")
        };
        assert!(fault(b"rate = \"1mbit\"\n  foo = 1\n").starts_with("c.toml:2:3: `foo` is no setting"));
        assert_eq!(fault(b"rate = \xff\n"), "c.toml: byte 8 is not UTF-8");
    }
}
