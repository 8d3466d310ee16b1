//! Text and command lines of `tc`, with lists in JSON between them.

use super::error::MAX;
use super::json;
use super::netem;
use super::options::{Reader, goes_on};
use super::{Discipline, Role, Setting, TcError};

/// All disciplines and classes in a file.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(text: &str) -> Result<Vec<Discipline>, TcError> {
    let mut found: Vec<Discipline> = Vec::new();
    let mut rest = text;
    let mut line_number = 1;
    // `tc class show` does not print whose classes they are.
    let mut dev = String::new();
    let mut shell = Shell::default();
    while !rest.is_empty() {
        let start = rest.trim_start();
        line_number += rest[..rest.len() - start.len()].matches('\n').count();
        rest = start;
        let in_line = TcError::in_line(line_number);
        let number = line_number;
        let mut is_certain = true;
        let mut read = Vec::new();
        if rest.starts_with('[') {
            let (list, end) = json::read(rest).map_err(|error| match error {
                json @ TcError::Json(_) => json,
                other => in_line(other),
            })?;
            line_number += rest[..end].matches('\n').count();
            rest = &rest[end..];
            read = list.into_iter().map(|found| (Verb::Set, found)).collect();
        } else {
            let (line, end) = whole_line(rest);
            line_number += rest[..end].matches('\n').count();
            rest = &rest[end..];
            if let ["dev", name] = line.split_whitespace().collect::<Vec<_>>().as_slice() {
                dev = (*name).to_owned();
            } else if !found.last_mut().is_some_and(|last| goes_on(last, &line)) {
                // A branch of a script may never be taken.
                is_certain = !shell.follow(&line) && shell.depth == 0 && !line.contains("&&");
                read = from_line(&line).map_err(in_line)?;
                read.iter_mut().for_each(|(_, found)| found.line = Some(number));
            }
        }
        for (verb, mut read) in read {
            if read.dev.is_empty() {
                read.dev.clone_from(&dev);
            }
            if read.kind == "netem" {
                read.options = netem::flatten(read.options);
            }
            match verb {
                Verb::Set => found.push(read),
                Verb::Change => change(&mut found, read),
                Verb::Delete if is_certain => delete(&mut found, &read),
                Verb::Delete => {}
            }
        }
        if found.len() > MAX {
            return Err(TcError::TooMany);
        }
    }
    Ok(found)
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

/// The disciplines of a line of text, or of commands in a line; none of all other lines.
fn from_line(line: &str) -> Result<Vec<(Verb, Discipline)>, TcError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // `qdisc KIND HANDLE …` as tc prints it; `qdisc add …` is a command in a batch.
    if let [what @ ("qdisc" | "class"), kind, handle, rest @ ..] = words.as_slice()
        && !is_verb(kind)
    {
        let role = if *what == "qdisc" { Role::Qdisc } else { Role::Class };
        let mut found = Discipline::plain(role, kind, handle, true);
        Reader::of(rest).options(&mut found)?;
        return Ok(vec![(Verb::Set, found)]);
    }
    if words.first() == Some(&"filter") {
        return Ok(filter(&words).into_iter().map(|found| (Verb::Set, found)).collect());
    }
    // What follows a command in its line, and a shell's redirections, are not its words.
    let line = line.split('#').next().unwrap_or_default().replace(" 2>", " >");
    let mut found = Vec::new();
    for part in line.split([';', '|', '&']) {
        let part = part.split('>').next().unwrap_or_default();
        found.extend(command(&part.split_whitespace().collect::<Vec<_>>())?);
    }
    Ok(found)
}

/// Whether a word begins a command of a batch.
fn is_verb(word: &str) -> bool {
    ["add", "replace", "change", "delete", "del", "link", "show", "get", "list"].contains(&word)
}

/// A filter with the class that it puts packets into.
fn filter(words: &[&str]) -> Option<Discipline> {
    let behind = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1)).copied();
    let class = behind("flowid").or_else(|| behind("classid"))?;
    let mut found = Discipline::plain(Role::Filter, "filter", "", true);
    behind("dev").unwrap_or_default().clone_into(&mut found.dev);
    found.options.push(("flowid".to_owned(), Setting::Text(class.to_owned())));
    Some(found)
}

/// The discipline of a command, and what is done with it.
fn command(words: &[&str]) -> Result<Option<(Verb, Discipline)>, TcError> {
    let mut words: Vec<&str> = words.iter().copied().filter(|word| *word != "sudo").collect();
    if words.starts_with(&["ip", "netns", "exec"]) {
        words.drain(..words.len().min(4));
    }
    if words.first().is_some_and(|word| *word == "tc" || word.ends_with("/tc")) {
        words.remove(0);
        while words.first().is_some_and(|word| word.starts_with('-')) {
            words.remove(0);
        }
    }
    let [what, verb, rest @ ..] = words.as_slice() else { return Ok(None) };
    // tc takes the beginnings of its words.
    let is = |whole: &str, word: &str| !word.is_empty() && whole.starts_with(word);
    const VERBS: [(&str, Verb); 4] =
        [("add", Verb::Set), ("replace", Verb::Set), ("change", Verb::Change), ("delete", Verb::Delete)];
    let Some((_, verb)) = VERBS.into_iter().find(|(known, _)| is(known, verb)) else { return Ok(None) };
    let role = match *what {
        what if is("qdisc", what) => Role::Qdisc,
        what if is("class", what) => Role::Class,
        what if is("filter", what) && verb != Verb::Delete => return Ok(filter(rest).map(|found| (verb, found))),
        _ => return Ok(None),
    };
    let mut read = Reader::of(rest);
    let mut found = Discipline::plain(role, "", "", false);
    while read.place(&mut found)? {}
    match read.next() {
        Some(kind) => kind.clone_into(&mut found.kind),
        None if verb == Verb::Delete => {}
        None => return Err(TcError::NoKind),
    }
    if verb != Verb::Delete {
        read.options(&mut found)?;
    }
    Ok(Some((verb, found)))
}

/// The change that a command makes to a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Set,
    Change,
    Delete,
}

/// Takes new options of a discipline that is there; those that are not named stay. A class is as it
/// is said last.
fn change(all: &mut Vec<Discipline>, to: Discipline) {
    let is_it = |found: &&mut Discipline| {
        (found.role, &found.dev, &found.kind, &found.parent) == (Role::Qdisc, &to.dev, &to.kind, &to.parent)
    };
    match all.iter_mut().rfind(is_it) {
        Some(found) => found.options.extend(to.options),
        None => {
            all.retain(|found| (found.role, &found.dev, &found.handle) != (Role::Class, &to.dev, &to.handle));
            all.push(to);
        }
    }
}

/// Takes a discipline out, with all below it where it is the root of an interface.
fn delete(all: &mut Vec<Discipline>, gone: &Discipline) {
    let is_ingress = |found: &Discipline| matches!(found.kind.as_str(), "ingress" | "clsact");
    let is_class = gone.role == Role::Class;
    all.retain(|found| {
        let is_it = match (&gone.parent, is_class) {
            _ if is_ingress(gone) || is_ingress(found) => is_ingress(gone) && is_ingress(found),
            (_, true) => found.role == Role::Class && found.handle == gone.handle,
            (None, false) => true,
            (parent, false) => found.role == Role::Qdisc && found.parent == *parent,
        };
        found.dev != gone.dev || !is_it
    });
}

/// The depth of a shell's branches, loops and functions.
#[derive(Default)]
struct Shell {
    depth: usize,
}

impl Shell {
    /// Takes a line; `true` where it is one of the shell that is not followed.
    fn follow(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty()).collect();
        let Some(first) = words.first().filter(|first| !first.starts_with('#')) else { return false };
        let begins = matches!(*first, "if" | "for" | "while" | "until" | "case" | "function")
            || (line.trim_end().ends_with('{') && line.contains("()"));
        let ends = words.iter().any(|word| matches!(*word, "fi" | "done" | "esac" | "}"));
        self.depth = (self.depth + usize::from(begins)).saturating_sub(usize::from(ends));
        begins || ends || matches!(*first, "else" | "elif")
    }
}

/// The numbers of lines that the shell decides about: its branches, loops, functions and the values
/// that it puts into commands.
pub(crate) fn unfollowed(text: &str) -> Vec<usize> {
    let mut shell = Shell::default();
    let mut is_unfollowed = |line: &str| {
        let has_value = line.contains(['$', '`']) && line.split_whitespace().any(|word| word == "tc" || word.ends_with("/tc"));
        shell.follow(line) || (has_value && !line.trim_start().starts_with('#'))
    };
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(|(_, line)| is_unfollowed(line)).map(|(number, _)| number).collect()
}

impl Discipline {
    fn plain(role: Role, kind: &str, handle: &str, is_whole: bool) -> Self {
        let (kind, handle) = (kind.to_owned(), handle.to_owned());
        Self { role, dev: String::new(), kind, handle, parent: None, options: Vec::new(), is_whole, line: None }
    }
}
