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
    while !rest.is_empty() {
        let start = rest.trim_start();
        line_number += rest[..rest.len() - start.len()].matches('\n').count();
        rest = start;
        let in_line = TcError::in_line(line_number);
        let mut read = Vec::new();
        if rest.starts_with('[') {
            let (list, end) = json::read(rest).map_err(|error| match error {
                json @ TcError::Json(_) => json,
                other => in_line(other),
            })?;
            line_number += rest[..end].matches('\n').count();
            rest = &rest[end..];
            read = list;
        } else {
            let (line, end) = whole_line(rest);
            line_number += rest[..end].matches('\n').count();
            rest = &rest[end..];
            if let ["dev", name] = line.split_whitespace().collect::<Vec<_>>().as_slice() {
                dev = (*name).to_owned();
            } else if !found.last_mut().is_some_and(|last| goes_on(last, &line)) {
                read = from_line(&line).map_err(in_line)?;
            }
        }
        for mut read in read {
            if read.dev.is_empty() {
                read.dev.clone_from(&dev);
            }
            if read.kind == "netem" {
                read.options = netem::flatten(read.options);
            }
            found.push(read);
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
fn from_line(line: &str) -> Result<Vec<Discipline>, TcError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // `qdisc KIND HANDLE …` as tc prints it; `qdisc add …` is a command in a batch.
    if let [what @ ("qdisc" | "class"), kind, handle, rest @ ..] = words.as_slice()
        && !is_verb(kind)
    {
        let role = if *what == "qdisc" { Role::Qdisc } else { Role::Class };
        let mut found = Discipline::plain(role, kind, handle, true);
        Reader::of(rest).options(&mut found)?;
        return Ok(vec![found]);
    }
    if words.first() == Some(&"filter") {
        return Ok(filter(&words).into_iter().collect());
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

/// The discipline of a command that sets one.
fn command(words: &[&str]) -> Result<Option<Discipline>, TcError> {
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
    if !["add", "replace", "change"].iter().any(|known| is(known, verb)) {
        return Ok(None);
    }
    let role = match *what {
        what if is("qdisc", what) => Role::Qdisc,
        what if is("class", what) => Role::Class,
        what if is("filter", what) => return Ok(filter(rest)),
        _ => return Ok(None),
    };
    let mut read = Reader::of(rest);
    let mut found = Discipline::plain(role, "", "", false);
    while read.place(&mut found)? {}
    found.kind = read.next().ok_or(TcError::NoKind)?.to_owned();
    read.options(&mut found)?;
    Ok(Some(found))
}

impl Discipline {
    fn plain(role: Role, kind: &str, handle: &str, is_whole: bool) -> Self {
        let (kind, handle) = (kind.to_owned(), handle.to_owned());
        Self { role, dev: String::new(), kind, handle, parent: None, options: Vec::new(), is_whole }
    }
}
