//! Commands of `tc` in lines of a shell, of batches, of `/etc/network/interfaces` and of units of
//! systemd.

use super::error::{MAX_OPTIONS, MAX_WORDS};
use super::filter;
use super::options::Reader;
use super::table::Verb;
use super::{Discipline, Role, TcError};
use std::collections::BTreeMap;

/// The link of a command with the one before it in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// The command is run in any case.
    Always,
    /// The command is run when the one before succeeds.
    And,
    /// The command is run when the one before fails.
    Or,
}

/// A command in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) joint: Joint,
    pub(super) words: Vec<String>,
}

/// A command, as far as it is about queues.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// Something else.
    Nothing,
    /// A command of `tc`.
    Tc(Verb, Discipline),
    /// The end of an interface.
    NoInterface(String),
    /// A command that is run when the rest ends.
    AtTheEnd,
    /// A command of `tc` in words that are not read.
    Unread,
}

/// Words of a shell before a command, and of files whose lines have commands.
const KEYWORDS: &[&str] = &[
    "then", "do", "else", "elif", "if", "while", "until", "!", "{", "(", "time", "exec", "command", "nohup", "up", "post-up",
    "pre-up",
];
/// Programs that run a command with other rights or another priority, behind options of their own.
const RUNNERS: &[&str] = &["sudo", "doas", "env", "nice", "ionice", "chrt", "taskset", "timeout", "setpriv"];

/// The commands of a line, without redirections and comments; the first [`MAX_WORDS`] words.
pub(super) fn parts(line: &str) -> Vec<Part> {
    let mut split = Split { parts: vec![Part { joint: Joint::Always, words: Vec::new() }], ..Split::default() };
    let mut chars = line.chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        if split.count > MAX_WORDS {
            break;
        }
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => split.put(c),
            (_, '\\') => split.put(chars.next().unwrap_or(' ')),
            (Some(_), c) => split.put(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                split.word.get_or_insert_default();
            }
            (None, '#') if split.word.is_none() => break,
            (None, '(') if split.word.as_deref().is_some_and(|word| word.ends_with('$')) => {
                split.put(c);
                // A command whose output the shell puts in.
                for c in chars.by_ref().take_while(|c| *c != ')') {
                    split.put(c);
                }
                split.put(')');
            }
            (None, '(') if split.word.is_none() => {
                split.put(c);
                split.end_word();
            }
            (None, '<' | '>') => {
                split.word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                split.end_word();
                while chars.next_if(|c| matches!(c, '<' | '>' | '&')).is_some() {}
                split.is_redirection = true;
            }
            (None, ';') => split.begin(Joint::Always),
            (None, '|') if chars.next_if_eq(&'|').is_some() => split.begin(Joint::Or),
            (None, '&') if chars.next_if_eq(&'&').is_some() => split.begin(Joint::And),
            (None, '|' | '&') => split.begin(Joint::Always),
            (None, c) if c.is_whitespace() => split.end_word(),
            (None, c) => split.put(c),
        }
    }
    split.end_word();
    split.parts
}

#[derive(Default)]
struct Split {
    parts: Vec<Part>,
    word: Option<String>,
    is_redirection: bool,
    count: usize,
}

impl Split {
    fn put(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_redirection) {
            return;
        }
        self.count += 1;
        if let Some(part) = self.parts.last_mut() {
            part.words.push(word);
        }
    }

    fn begin(&mut self, joint: Joint) {
        self.end_word();
        self.is_redirection = false;
        self.count += 1;
        self.parts.push(Part { joint, words: Vec::new() });
    }
}

/// The depth of a shell's branches, loops and functions.
#[derive(Default)]
pub(super) struct Shell {
    pub(super) depth: usize,
}

impl Shell {
    /// Takes a line; `true` where it is one of the shell that is not followed.
    pub(super) fn follow(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        if line.starts_with('#') {
            return false;
        }
        let words = line.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
        let mut is_of_shell = false;
        for (at, word) in words.take(MAX_WORDS).enumerate() {
            let begins =
                at == 0 && matches!(word, "if" | "for" | "while" | "until" | "case") || word == "{" || word.ends_with("(){");
            let ends = matches!(word, "fi" | "done" | "esac" | "}");
            is_of_shell |= begins || ends || (at == 0 && matches!(word, "else" | "elif" | "function"));
            self.depth = (self.depth + usize::from(begins)).saturating_sub(usize::from(ends));
        }
        is_of_shell
    }
}

/// Variables that a file gives values, which have no variables in them.
#[derive(Default)]
pub(super) struct Variables(BTreeMap<String, Option<String>>);

/// A value is no longer.
const MAX_VALUE: usize = 1_000;

impl Variables {
    /// Takes the words of a command; `true` for one that gives values to variables and does nothing
    /// else.
    pub(super) fn take(&mut self, words: &[String], is_certain: bool) -> bool {
        let behind = words.iter().take_while(|word| KEYWORDS.contains(&word.as_str())).count();
        let is_assignment = self.assign(&words[behind..], is_certain && behind == 0);
        if !is_assignment {
            self.forget(&words[behind..]);
        }
        is_assignment
    }

    /// Gives values to variables; `false` for any other command. Where it is not certain that it is
    /// run, another value makes the variable's unknown.
    fn assign(&mut self, words: &[String], is_certain: bool) -> bool {
        let words = match words {
            [first, rest @ ..] if matches!(first.as_str(), "export" | "local" | "readonly" | "declare" | "typeset" | "let") => {
                &rest[rest.iter().take_while(|word| word.starts_with('-')).count()..]
            }
            words => words,
        };
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let pairs: Option<Vec<(&str, &str)>> =
            words.iter().map(|word| word.split_once('=').filter(|(name, _)| is_name(name))).collect();
        let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) else { return false };
        for (name, value) in pairs {
            let value = self.put_into(value);
            let known = (!value.contains(['$', '`']) && value.len() <= MAX_VALUE).then_some(value);
            let is_other = self.0.get(name).is_some_and(|before| *before != known);
            self.0.insert(name.to_owned(), known.filter(|_| is_certain || !is_other));
        }
        true
    }

    /// Makes the value of a variable unknown that a loop or a program gives one.
    fn forget(&mut self, words: &[String]) {
        let is_taking = words.first().is_some_and(|first| matches!(first.as_str(), "for" | "read" | "unset"));
        let taken = words.iter().skip(1).filter(|word| is_taking && !word.starts_with('-'));
        let added = words.iter().filter_map(|word| Some(word.split_once("+=")?.0.to_owned()));
        for name in taken.cloned().chain(added) {
            self.0.insert(name, None);
        }
    }

    /// Words with the values of variables that are known, divided as the shell divides them.
    pub(super) fn put_into_all(&self, words: Vec<String>) -> Vec<String> {
        if self.0.is_empty() || words.iter().all(|word| !word.contains('$')) {
            return words;
        }
        let put = |word: &String| -> Vec<String> {
            match self.put_into(word) {
                whole if word.contains('$') => whole.split_whitespace().map(str::to_owned).collect(),
                whole => vec![whole],
            }
        };
        words.iter().flat_map(put).take(MAX_WORDS + 1).collect()
    }

    /// A word with the values of variables in it that are known: `$NAME` and `${NAME}`.
    fn put_into(&self, word: &str) -> String {
        let (mut whole, mut rest) = (String::new(), word);
        while let Some(at) = rest.find('$').filter(|_| whole.len() <= MAX_VALUE) {
            whole.push_str(&rest[..at]);
            rest = &rest[at..];
            let inner = rest[1..].strip_prefix('{');
            let from = inner.unwrap_or(&rest[1..]);
            let end = from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(from.len());
            let (name, behind) = from.split_at(end);
            let behind = if inner.is_some() { behind.strip_prefix('}') } else { Some(behind) };
            match (behind, self.0.get(name)) {
                (Some(behind), Some(Some(value))) => {
                    whole.push_str(value);
                    rest = behind;
                }
                _ => {
                    whole.push('$');
                    rest = &rest[1..];
                }
            }
        }
        whole + rest
    }
}

fn is(whole: &str, word: &str) -> bool {
    // tc takes the beginnings of its words.
    !word.is_empty() && whole.starts_with(word)
}

/// The role that a word of `tc` names.
fn role(word: &str) -> Option<Role> {
    [("qdisc", Role::Qdisc), ("class", Role::Class), ("filter", Role::Filter)]
        .into_iter()
        .find(|(whole, _)| is(whole, word))
        .map(|(_, role)| role)
}

/// The change that a word of `tc` stands for; none for words that show.
pub(super) fn verb(word: &str) -> Option<Verb> {
    const VERBS: [(&str, Verb); 4] =
        [("add", Verb::Add), ("replace", Verb::Replace), ("change", Verb::Change), ("delete", Verb::Delete)];
    VERBS.into_iter().find(|(whole, _)| is(whole, word)).map(|(_, verb)| verb)
}

/// Whether a word begins a command of a batch, behind the word that says what it is about.
pub(super) fn is_verb(word: &str) -> bool {
    ["add", "replace", "change", "delete", "del", "link", "show", "get", "list"].contains(&word)
}

/// Reads a command.
///
/// # Errors
/// When it is one of `tc`, and wrong.
pub(super) fn said(words: &[String]) -> Result<Said, TcError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [what, verb, ..] = words.as_slice()
        && ["qdisc", "class", "filter"].contains(what)
        && is_verb(verb)
    {
        return command(&words, "");
    }
    let Some(at) = words.iter().position(|word| is_tc(word)) else { return Ok(other(&words)) };
    let (mut rest, mut space) = (&words[at + 1..], "");
    while let [option, more @ ..] = rest
        && option.starts_with('-')
    {
        let has_value = is("-netns", option) || is("-batch", option) || matches!(*option, "-cf" | "-conf");
        if is("-batch", option) && more.first().is_some_and(|file| *file != "-") {
            return Ok(Said::Unread);
        }
        if is("-netns", option) {
            space = more.first().copied().unwrap_or_default();
        }
        rest = &more[usize::from(has_value).min(more.len())..];
    }
    let is_change = matches!(rest, [what, does, ..] if role(what).is_some() && verb(does).is_some());
    if !is_change {
        return Ok(Said::Nothing);
    }
    match before(&words[..at], words[at]) {
        Before::Runs(named) => command(rest, named.unwrap_or(space)),
        Before::AtTheEnd => Ok(Said::AtTheEnd),
        Before::Unread => Ok(Said::Unread),
    }
}

/// Whether a word runs `tc`: its name with or without a path, or a variable that is called like it.
fn is_tc(word: &str) -> bool {
    let word = match word.split_once('=') {
        Some((key, value)) if key.starts_with("Exec") => value.trim_start_matches(['-', '@', '+', '!', ':']),
        _ => word,
    };
    let variable = word.strip_prefix('$').map(|name| name.trim_matches(['{', '}']).to_ascii_lowercase());
    word == "tc" || word.ends_with("/tc") || variable.is_some_and(|name| name == "tc" || name.starts_with("tc_"))
}

/// The words before the one that runs `tc`.
enum Before<'a> {
    /// The command is run, in a namespace or not.
    Runs(Option<&'a str>),
    AtTheEnd,
    Unread,
}

fn before<'a>(mut words: &[&'a str], tc: &str) -> Before<'a> {
    if let Some((key, _)) = tc.split_once('=').filter(|(key, _)| key.starts_with("Exec")) {
        return if key.starts_with("ExecStart") { Before::Runs(None) } else { Before::AtTheEnd };
    }
    let mut space = None;
    while let [first, rest @ ..] = words {
        words = rest;
        match *first {
            "ip" if matches!(rest, ["netns", "exec", ..]) => {
                space = rest.get(2).copied();
                words = &rest[3.min(rest.len())..];
            }
            "down" | "pre-down" | "post-down" | "trap" => return Before::AtTheEnd,
            runner if RUNNERS.contains(&runner) => return Before::Runs(space),
            word if KEYWORDS.contains(&word) || word.ends_with(')') => {}
            word if word.contains('=') && word.starts_with(|c: char| c.is_ascii_alphabetic()) => {}
            // `NAME() {`
            _ if rest.first() == Some(&"{") => {}
            "function" => words = rest.get(1..).unwrap_or_default(),
            _ => return Before::Unread,
        }
    }
    Before::Runs(space)
}

/// A command that is none of `tc`, or has one within a word in quotes.
fn other(words: &[&str]) -> Said {
    let has_tc = |word: &&str| {
        let inner: Vec<&str> = word.split_whitespace().take(MAX_WORDS).collect();
        inner.windows(3).any(|three| is_tc(three[0]) && role(three[1]).is_some() && verb(three[2]).is_some())
    };
    let ends = |three: &[&str]| matches!(three, ["ip", "link", "del" | "delete"]);
    let gone = words.windows(3).position(ends).map(|at| &words[at + 3..]);
    match words {
        ["trap", ..] if words.iter().any(has_tc) => Said::AtTheEnd,
        _ if words.iter().any(has_tc) => Said::Unread,
        _ => match gone {
            Some(["dev", dev, ..] | [dev, ..]) => Said::NoInterface((*dev).to_owned()),
            _ => Said::Nothing,
        },
    }
}

/// The discipline of a command, and what is done with it.
fn command(words: &[&str], space: &str) -> Result<Said, TcError> {
    let [what, does, rest @ ..] = words else { return Ok(Said::Nothing) };
    let (Some(role), Some(verb)) = (role(what), verb(does)) else { return Ok(Said::Nothing) };
    if words.len() >= MAX_WORDS {
        return Err(TcError::TooLong);
    }
    let mut found = if role == Role::Filter {
        let mut found = filter::of_command(rest);
        found.parent.get_or_insert_with(|| "root".to_owned());
        found
    } else {
        let mut read = Reader::of(rest);
        let mut found = Discipline::plain(role, "", "", false);
        while read.place(&mut found)? {}
        match read.next() {
            Some(kind) => kind.clone_into(&mut found.kind),
            None if verb == Verb::Delete => {}
            None => return Err(TcError::NoKind),
        }
        if found.is_ingress() {
            // Its handle is the same whether it is told or not, and its filters go with it.
            "ffff:".clone_into(&mut found.handle);
            found.parent = Some("ffff:fff1".to_owned());
            found.is_placed = true;
        }
        if verb != Verb::Delete {
            read.options(&mut found)?;
        }
        if found.options.len() > MAX_OPTIONS {
            return Err(TcError::TooLong);
        }
        found
    };
    found.handle = canonical(&found.handle);
    found.parent = found.parent.map(|parent| canonical(&parent));
    if !space.is_empty() {
        found.dev.insert_str(0, &format!("{space}/"));
    }
    Ok(Said::Tc(verb, found))
}

/// A handle as `tc` prints it: `1:0`, `0x1:` and `1` are `1:`.
fn canonical(handle: &str) -> String {
    let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let (major, minor) = handle.split_once(':').unwrap_or((handle, ""));
    let zero = |text: &str| if text.is_empty() { Some(0) } else { number(text) };
    match (zero(major), zero(minor)) {
        (Some(0), Some(minor)) if minor > 0 => format!(":{minor:x}"),
        (Some(major), Some(0)) if !handle.is_empty() => format!("{major:x}:"),
        (Some(major), Some(minor)) if !handle.is_empty() => format!("{major:x}:{minor:x}"),
        _ => handle.to_owned(),
    }
}
