//! Text and command lines of `tc`, with lists in JSON between them.

use super::error::{MAX, MAX_SET, MAX_WORDS};
use super::filter;
use super::json;
use super::netem;
use super::options::{Reader, goes_on};
use super::shell::{Joint, Part, Said, Shell, Variables, is_verb, parts, said};
use super::table::{Outcome, Sure, Table, Verb};
use super::{Discipline, Role, TcError};
use std::collections::BTreeSet;

/// The lines that a note names.
const MAX_NAMED: usize = 20;

/// A file of `tc`: the disciplines that it leaves behind, and what of it was not followed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Disciplines, classes and filters.
    pub all: Vec<Discipline>,
    /// Interfaces whose arriving packets wait nowhere, since a command deletes their place.
    pub cut: BTreeSet<String>,
    /// Remarks, in sentences.
    pub notes: Vec<String>,
    /// The number of the last line that deletes something.
    pub deleted_by: Option<usize>,
}

/// All disciplines and classes in a file.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(text: &str) -> Result<Vec<Discipline>, TcError> {
    Ok(follow(text)?.all)
}

/// All disciplines and classes that a file leaves behind, with remarks.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn follow(text: &str) -> Result<Told, TcError> {
    let mut reading = Reading::default();
    let mut rest = text;
    let mut number = 1;
    while !rest.is_empty() {
        let start = rest.trim_start();
        number += rest[..rest.len() - start.len()].matches('\n').count();
        rest = start;
        let end = if rest.starts_with('[') && !is_section(rest) {
            let (list, end) = json::read(rest).map_err(|error| match error {
                json @ TcError::Json(_) => json,
                other => TcError::in_line(number)(other),
            })?;
            for found in list {
                reading.take(Verb::Show, found, Sure::Yes, number);
            }
            end
        } else {
            let (line, end) = whole_line(rest);
            reading.line(&line, number).map_err(TcError::in_line(number))?;
            end
        };
        number += rest[..end].matches('\n').count();
        rest = &rest[end..];
        if reading.table.len() > MAX || reading.taken > MAX_SET {
            return Err(TcError::TooMany);
        }
    }
    Ok(reading.told())
}

/// Whether a text begins with a section of a unit of systemd.
fn is_section(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_alphabetic())
}

/// A line with those that a backslash at its end joins to it, and its length.
fn whole_line(text: &str) -> (String, usize) {
    let (mut line, mut end) = (String::new(), 0);
    loop {
        let part = text[end..].split('\n').next().unwrap_or_default();
        end += part.len();
        match part.trim_end_matches('\r').strip_suffix('\\') {
            Some(part) if end < text.len() => {
                line.push_str(part);
                line.push(' ');
                end += 1;
            }
            _ => {
                line.push_str(part);
                return (line, end);
            }
        }
    }
}

/// Numbers of lines with something in common.
#[derive(Default)]
struct Numbers(Vec<usize>);

impl Numbers {
    fn push(&mut self, number: usize) {
        if self.0.last() != Some(&number) && self.0.len() <= MAX_NAMED {
            self.0.push(number);
        }
    }

    /// A sentence about them, in which `…` stands for them; `None` without any.
    fn said(&self, sentence: &str) -> Option<String> {
        let mut names: Vec<String> = self.0.iter().take(MAX_NAMED).map(usize::to_string).collect();
        if self.0.len() > MAX_NAMED {
            names.push("and more".to_owned());
        }
        (!names.is_empty())
            .then(|| sentence.replace('…', &format!("line{} {}", if names.len() > 1 { "s" } else { "" }, names.join(", "))))
    }
}

#[derive(Default)]
struct Reading {
    table: Table,
    /// Lines that set something, or show it.
    taken: usize,
    /// `tc class show` does not print whose classes they are.
    dev: String,
    shell: Shell,
    variables: Variables,
    unfollowed: Numbers,
    unread: Numbers,
    at_the_end: Numbers,
    notes: Vec<String>,
    deleted_by: Option<usize>,
}

impl Reading {
    fn line(&mut self, line: &str, number: usize) -> Result<(), TcError> {
        let words: Vec<&str> = line.split_whitespace().take(MAX_WORDS + 1).collect();
        match words.as_slice() {
            ["dev", name] => {
                (*name).clone_into(&mut self.dev);
                return Ok(());
            }
            // `qdisc KIND HANDLE …` as tc prints it; `qdisc add …` is a command in a batch.
            ["qdisc" | "class" | "filter", second, ..] if !is_verb(second) => {
                if words.len() > MAX_WORDS {
                    return Err(TcError::TooLong);
                }
                if let Some(found) = printed(&words)? {
                    self.take(Verb::Show, found, Sure::Yes, number);
                }
                return Ok(());
            }
            _ => {}
        }
        let goes_on = |last: &mut Discipline| match last.role {
            Role::Filter => filter::goes_on(last, line),
            _ => goes_on(last, line),
        };
        if self.table.last().is_some_and(goes_on) {
            return Ok(());
        }
        self.commands(line, number)
    }

    fn commands(&mut self, line: &str, number: usize) -> Result<(), TcError> {
        let was_inside = self.shell.depth > 0;
        let is_of_shell = self.shell.follow(line);
        if is_of_shell {
            self.unfollowed.push(number);
        }
        let mut before: Option<Outcome> = None;
        for Part { joint, words } in parts(line) {
            let sure_before = match (joint, &before) {
                (Joint::Always, _) => Some(true),
                (Joint::And, Some(outcome)) => Some(*outcome == Outcome::Taken),
                (Joint::Or, Some(outcome)) => Some(*outcome != Outcome::Taken),
                (_, None) => None,
            };
            before = None;
            let is_certain = !is_of_shell && !was_inside && self.shell.depth == 0 && sure_before.is_some();
            if self.variables.take(&words, is_certain) {
                continue;
            }
            let words = self.variables.put_into_all(words);
            let has_value = words.iter().any(|word| word.contains(['$', '`']));
            match said(&words)? {
                Said::Nothing => {}
                Said::Unread => self.unread.push(number),
                Said::AtTheEnd => self.at_the_end.push(number),
                Said::NoInterface(dev) if is_certain && sure_before == Some(true) => {
                    self.table.delete_interface(&dev);
                    self.deleted_by = Some(number);
                }
                Said::NoInterface(_) => {}
                Said::Tc(..) if sure_before == Some(false) => {}
                Said::Tc(verb, mut found) => {
                    if has_value || sure_before.is_none() {
                        self.unfollowed.push(number);
                    }
                    found.line = Some(number);
                    let sure = if is_certain { Sure::Yes } else { Sure::No };
                    let outcome = self.take(verb, found, sure, number);
                    before = is_certain.then_some(outcome);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, verb: Verb, mut found: Discipline, sure: Sure, number: usize) -> Outcome {
        self.taken += 1;
        if found.dev.is_empty() {
            found.dev.clone_from(&self.dev);
        }
        if found.kind == "netem" {
            found.options = netem::flatten(found.options);
        }
        let outcome = self.table.take(verb, found, sure);
        if verb == Verb::Delete && sure == Sure::Yes && outcome == Outcome::Taken {
            self.deleted_by = Some(number);
        }
        let note = match &outcome {
            Outcome::Refused(why) if sure == Sure::Yes => format!("Line {number}: the kernel refuses it: {why}."),
            Outcome::Unset if sure == Sure::Yes => {
                format!("Line {number} changes what the file does not set: what it does not name is taken as usual.")
            }
            _ => return outcome,
        };
        if self.notes.len() < MAX_NAMED {
            self.notes.push(note);
        }
        outcome
    }

    fn told(self) -> Told {
        let more = [
            self.unread.said("Commands of tc in words that gq does not read are left out (…)."),
            self.at_the_end.said("Commands for the end are left out (…)."),
            self.unfollowed.said("The shell is not followed (…): commands of every branch are taken, and the last one holds."),
        ];
        let notes = self.notes.into_iter().chain(more.into_iter().flatten()).collect();
        let (all, cut) = self.table.at_end();
        let (all, cut) = plainly_named(all, cut);
        Told { all, cut, notes, deleted_by: self.deleted_by }
    }
}

/// Interfaces without their namespace, where no other namespace has one of the name.
fn plainly_named(mut all: Vec<Discipline>, cut: BTreeSet<String>) -> (Vec<Discipline>, BTreeSet<String>) {
    let spaces: BTreeSet<String> = all.iter().map(|found| found.dev.clone()).collect();
    let plain = |dev: &str| {
        let (_, name) = dev.split_once('/')?;
        let is_name = |other: &&String| other.split_once('/').map_or(other.as_str(), |(_, name)| name) == name;
        (spaces.iter().filter(is_name).count() == 1).then(|| name.to_owned())
    };
    let cut = cut.into_iter().map(|dev| plain(&dev).unwrap_or(dev)).collect();
    for found in &mut all {
        if let Some(name) = plain(&found.dev) {
            found.dev = name;
        }
    }
    (all, cut)
}

/// A discipline, a class or a filter as `tc` prints it.
fn printed(words: &[&str]) -> Result<Option<Discipline>, TcError> {
    let role = match words {
        ["filter", rest @ ..] => return Ok(Some(filter::of_command(rest))),
        ["qdisc", ..] => Role::Qdisc,
        _ => Role::Class,
    };
    let [_, kind, handle, rest @ ..] = words else { return Ok(None) };
    let mut found = Discipline::plain(role, kind, handle, true);
    Reader::of(rest).options(&mut found)?;
    Ok(Some(found))
}
