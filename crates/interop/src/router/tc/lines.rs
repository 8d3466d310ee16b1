//! Text and command lines of `tc`, with lists in JSON between them.

use super::error::MAX;
use super::json::{self, MEMORY_IN_FORCE};
use super::words::{Shape, shape};
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
        found.extend(
            read.into_iter().map(|read| if read.dev.is_empty() { Discipline { dev: dev.clone(), ..read } } else { read }),
        );
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

/// Whether a line is one that `tc` prints below a discipline, whose settings it has.
pub(super) fn goes_on(last: &mut Discipline, line: &str) -> bool {
    if line.starts_with("linklayer ") {
        return Reader::over(line).stab(last).is_ok();
    }
    if let (true, Some(memory)) = (last.kind.starts_with("cake"), line.strip_prefix("memory used: ")) {
        let limit = memory.split(" of ").nth(1).unwrap_or_default().trim();
        last.options.push((MEMORY_IN_FORCE.to_owned(), Setting::Text(limit.to_owned())));
        return true;
    }
    // iproute2 up to 5.0 prints half of sfb's settings below, and its times in brackets.
    if last.kind == "sfb" && line.starts_with("increment ") {
        let words: Vec<&str> =
            line.split(|c: char| c.is_whitespace() || "()".contains(c)).filter(|word| !word.is_empty()).collect();
        let keys = [("increment", 1), ("decrement", 3), ("penalty_rate", 6), ("penalty_burst", 8), ("rehash", 9), ("db", 10)];
        let read = keys.iter().filter_map(|(key, at)| Some(((*key).to_owned(), Setting::Text((*words.get(*at)?).to_owned()))));
        last.options.extend(read);
        return true;
    }
    false
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
        Reader { words: rest.to_vec(), at: 0 }.options(&mut found)?;
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
    let mut read = Reader { words: rest.to_vec(), at: 0 };
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

/// The words of a discipline, from its place on.
pub(super) struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn over(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect(), at: 0 }
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.peek();
        self.at += 1;
        word
    }

    fn value(&mut self, key: &str) -> Result<&'a str, TcError> {
        self.next().ok_or_else(|| TcError::NoValue { key: key.to_owned() })
    }

    /// Reads one word of the discipline's place, with its value. `false` before any other word.
    fn place(&mut self, found: &mut Discipline) -> Result<bool, TcError> {
        let Some(word) = self.peek() else { return Ok(false) };
        self.at += 1;
        match word {
            "dev" => self.value(word)?.clone_into(&mut found.dev),
            "root" => found.parent = None,
            "parent" => found.parent = Some(self.value(word)?.to_owned()),
            "handle" | "classid" => self.value("handle")?.clone_into(&mut found.handle),
            "refcnt" | "leaf" | "ingress_block" | "egress_block" => self.at += 1,
            "estimator" => self.at += 2,
            "offloaded" => {}
            "stab" => self.stab(found)?,
            _ => {
                self.at -= 1;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads `overhead 8 mpu 64 linklayer atm` of a table of sizes, whose words could be those of a
    /// kind.
    pub(super) fn stab(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        while let Some(word) = self.peek() {
            if !matches!(word, "overhead" | "mpu" | "linklayer" | "mtu" | "tsize") {
                return Ok(());
            }
            self.at += 1;
            let value = self.value(word)?;
            found.options.push((format!("stab {word}"), Setting::Text(value.to_owned())));
        }
        Ok(())
    }

    /// Reads options. A word that the kind does not have never takes one that it has for its value,
    /// so that a list, a flag or an option of another version moves nothing.
    pub(super) fn options(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        let mut curve = String::new();
        while let Some(word) = self.peek() {
            if found.is_whole && self.place(found)? {
                continue;
            }
            self.at += 1;
            let known = shape(&found.kind, word);
            let key = format!("{curve}{word}");
            let setting = match known {
                // Below `ingress` tc prints a ruler.
                None if word.starts_with("--") => continue,
                None => self.unknown(&found.kind),
                Some(Shape::Curve) => {
                    curve = format!("{word} ");
                    continue;
                }
                Some(Shape::Flag) => Setting::Flag,
                Some(Shape::Key) => match self.peek().filter(|next| shape(&found.kind, next).is_none()) {
                    Some(value) => {
                        self.at += 1;
                        Setting::Text(value.to_owned())
                    }
                    // Versions of tc leave out values of classes.
                    None if found.is_whole => continue,
                    None => return Err(TcError::NoValue { key }),
                },
            };
            found.options.push((key, setting));
        }
        Ok(())
    }

    /// Reads the numbers behind a word that the kind does not have.
    fn unknown(&mut self, kind: &str) -> Setting {
        let mut values = Vec::new();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || "-+.(".contains(c));
        while let Some(value) = self.peek().filter(|next| is_number(next) && shape(kind, next).is_none()) {
            values.push(value);
            self.at += 1;
        }
        if values.is_empty() { Setting::Flag } else { Setting::Text(values.join(" ")) }
    }
}
