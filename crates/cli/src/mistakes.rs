//! Mistakes on the command line: what helps beyond what clap reports.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// A mistake of `line` with what helps: how a value with its unit is written, and no names of
/// commands that `gq` starts by itself.
pub fn explained(mut error: clap::Error, line: &[OsString], command: &clap::Command) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => {
            if let Some((number, unit)) = unit_apart(&error, line) {
                let tip =
                    format!("a number and its unit are one word: {number}{unit}, or \"{number} {unit}\" in quotation marks");
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
            }
        }
        ErrorKind::InvalidSubcommand => without_hidden(&mut error, command),
        _ => {}
    }
    error
}

/// The number and the unit of `--rate 50 mbit`, of which clap reports the unit.
fn unit_apart<'line>(error: &clap::Error, line: &'line [OsString]) -> Option<(&'line str, &'line str)> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    line.windows(2).find_map(|pair| {
        let (number, unit) = (pair[0].to_str()?, pair[1].to_str()?);
        let is_number =
            number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || "./".contains(c));
        let is_unit = unit.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%')
            && unit.chars().all(|c| c.is_ascii_alphabetic() || "/%".contains(c));
        (unit == unknown && is_number && is_unit).then_some((number, unit))
    })
}

fn without_hidden(error: &mut clap::Error, command: &clap::Command) {
    let Some(ContextValue::Strings(similar)) = error.remove(ContextKind::SuggestedSubcommand) else { return };
    let is_hidden = |name: &str| command.get_subcommands().any(|other| other.get_name() == name && other.is_hide_set());
    let shown: Vec<String> = similar.into_iter().filter(|name| !is_hidden(name)).collect();
    if !shown.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
    }
}

#[cfg(test)]
mod tests {
    use crate::parse;
    use std::ffi::OsString;

    fn reported(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&words).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn unit_apart_from_its_number_is_answered_with_the_right_form() {
        let text = reported("gq compare --rate 50 mbit");
        assert!(text.contains("tip: a number and its unit are one word: 50mbit, or \"50 mbit\" in quotation marks"), "{text}");
        assert!(reported("gq compare --rate 50/10 Mbit/s").contains("50/10Mbit/s"));
        for other in ["gq compare --rate 50mbit fast", "gq compare --seed 1 --rte 5mbit"] {
            assert!(!reported(other).contains("one word"), "{other}");
        }
    }

    #[test]
    fn commands_that_gq_starts_by_itself_are_not_suggested() {
        let text = reported("gq shel");
        assert!(text.contains("'shell'") && !text.contains("shell-"), "{text}");
    }
}
