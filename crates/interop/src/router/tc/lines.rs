//! JSON, text and command lines of `tc`.

use super::error::MAX;
use super::{Discipline, Role, Setting, TcError};
use crate::router::dialect::tc::TC;
use crate::router::dialect::{Form, How, Marks};
use goodqueue_base::units::Framing;
use serde_json::Value;

/// Options that stand alone, besides those that the dialect has words for and the keywords of
/// framing; every other word of a line is followed by a value.
const FLAGS: &[&str] = &[
    "ecn-drop",
    "nodrop",
    "unlimited",
    "autorate-ingress",
    "nonat",
    "wash",
    "nowash",
    "split-gso",
    "no-split-gso",
    "ptm",
    "atm",
    "noatm",
    "drop_on_overload",
    "drop_enqueue",
    "drop_dequeue",
    "split_gso",
    "no_split_gso",
    "offload",
    "datacentre",
    "lan",
    "metro",
    "regional",
    "internet",
    "oceanic",
    "satellite",
    "interplanetary",
];

/// All disciplines and classes in a file.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(text: &str) -> Result<Vec<Discipline>, TcError> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line_number = 1;
    // `tc class show` does not print whose classes they are.
    let mut dev = String::new();
    while !rest.is_empty() {
        let start = rest.trim_start();
        line_number += rest[..rest.len() - start.len()].matches('\n').count();
        rest = start;
        if rest.starts_with('[') {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let value = stream.next().unwrap_or(Ok(Value::Null)).map_err(|error| TcError::Json(error.to_string()))?;
            let end = stream.byte_offset();
            line_number += rest[..end].matches('\n').count();
            rest = &rest[end..];
            for item in value.as_array().into_iter().flatten() {
                found.push(from_json(item).map_err(TcError::in_line(line_number))?);
            }
        } else {
            let line = rest.lines().next().unwrap_or_default();
            rest = &rest[line.len()..];
            if let (Some(last), true) = (found.last_mut(), line.starts_with("linklayer ")) {
                sizes(last, line).map_err(TcError::in_line(line_number))?;
                continue;
            }
            if let ["dev", name] = line.split_whitespace().collect::<Vec<_>>().as_slice() {
                dev = (*name).to_owned();
                continue;
            }
            let read = from_line(line).map_err(TcError::in_line(line_number))?;
            found.extend(read.map(|read| if read.dev.is_empty() { Discipline { dev: dev.clone(), ..read } } else { read }));
        }
        if found.len() > MAX {
            return Err(TcError::TooMany);
        }
    }
    Ok(found)
}

fn from_json(item: &Value) -> Result<Discipline, TcError> {
    let text = |key: &str| item[key].as_str().map(str::to_owned);
    let (role, kind) = match (text("kind"), text("class")) {
        (Some(kind), _) => (Role::Qdisc, kind),
        (None, Some(kind)) => (Role::Class, kind),
        (None, None) => return Err(TcError::NoKind),
    };
    let mut options = Vec::new();
    let listed = item["options"].as_object();
    // Classes have their options next to their handle.
    let beside = listed.is_none().then(|| item.as_object()).flatten();
    for (key, value) in listed.into_iter().chain(beside).flatten() {
        options.extend(option(&kind, key, value));
    }
    // `-d` prints the table of sizes next to the options.
    for (key, value) in item["stab"].as_object().into_iter().flatten() {
        options.extend(option(&kind, key, value).map(|(key, setting)| (format!("stab {key}"), setting)));
    }
    Ok(Discipline {
        role,
        dev: text("dev").unwrap_or_default(),
        kind,
        handle: text("handle").unwrap_or_default(),
        parent: text("parent"),
        options,
        is_whole: true,
    })
}

/// An option of JSON as on a command line: a switch is its own word.
fn option(kind: &str, key: &str, value: &Value) -> Option<(String, Setting)> {
    let flag = |word: &str| Some((word.to_owned(), Setting::Flag));
    match (kind, key, value) {
        ("cake", "diffserv" | "flowmode", Value::String(word)) => flag(word),
        ("cake", "ack-filter", Value::String(word)) => match word.as_str() {
            "enabled" => flag("ack-filter"),
            "aggressive" => flag("ack-filter-aggressive"),
            _ => flag("no-ack-filter"),
        },
        ("cake", "ingress", Value::Bool(false)) => flag("egress"),
        ("cake", "bandwidth", Value::String(_)) => flag("unlimited"),
        ("cake", "atm", Value::String(word)) => flag(word),
        ("dualpi2", _, Value::Number(number)) => {
            // Its keys in JSON are not the words of its command line.
            let words = [
                ("step-thresh-us", "step_thresh"),
                ("coupling", "coupling_factor"),
                ("min-qlen-step", "min_qlen_step"),
                ("c-protection", "classic_protection"),
            ];
            let word = words.iter().find(|(json, _)| *json == key).map_or(key, |(_, word)| *word);
            Some((word.to_owned(), Setting::Number(number.as_f64()?)))
        }
        (_, _, Value::Bool(true)) => flag(key),
        (_, _, Value::Number(number)) => Some((key.to_owned(), Setting::Number(number.as_f64()?))),
        (_, _, Value::String(text)) => Some((key.to_owned(), Setting::Text(text.clone()))),
        (_, _, Value::Null | Value::Bool(false) | Value::Array(_) | Value::Object(_)) => None,
    }
}

/// A line of text or a command; `None` for all other lines.
fn from_line(line: &str) -> Result<Option<Discipline>, TcError> {
    // A shell's redirections and what follows in the line are not tc's.
    let line = line.split(" 2>").next().unwrap_or_default();
    let line = line.split(['#', ';', '|', '&', '>']).next().unwrap_or_default();
    let mut words: Vec<&str> = line.split_whitespace().filter(|word| *word != "sudo").collect();
    let is_command = words.first().is_some_and(|word| *word == "tc" || word.ends_with("/tc"));
    if is_command {
        words.remove(0);
        while words.first().is_some_and(|word| word.starts_with('-')) {
            words.remove(0);
        }
    }
    let role = match words.first() {
        Some(&"qdisc") => Role::Qdisc,
        Some(&"class") => Role::Class,
        _ => return Ok(None),
    };
    if is_command {
        if !matches!(words.get(1), Some(&("add" | "replace" | "change"))) {
            return Ok(None);
        }
        return command(role, &words[2..]).map(Some);
    }
    // `qdisc KIND HANDLE …` as tc prints it.
    let [_, kind, handle, rest @ ..] = words.as_slice() else { return Ok(None) };
    let mut read = Reader { words: rest, at: 0 };
    let mut found = Discipline::plain(role, kind, handle, true);
    read.place(&mut found)?;
    read.options(&mut found)?;
    Ok(Some(found))
}

/// The table of sizes, which `tc -d` prints in a line of its own below a discipline.
fn sizes(found: &mut Discipline, line: &str) -> Result<(), TcError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    Reader { words: &words, at: 0 }.stab(found)
}

fn command(role: Role, words: &[&str]) -> Result<Discipline, TcError> {
    let mut read = Reader { words, at: 0 };
    let mut found = Discipline::plain(role, "", "", false);
    read.place(&mut found)?;
    found.kind = read.next().ok_or(TcError::NoKind)?.to_owned();
    read.options(&mut found)?;
    Ok(found)
}

impl Discipline {
    fn plain(role: Role, kind: &str, handle: &str, is_whole: bool) -> Self {
        let (kind, handle) = (kind.to_owned(), handle.to_owned());
        Self { role, dev: String::new(), kind, handle, parent: None, options: Vec::new(), is_whole }
    }
}

/// Whether a word of a line has no value behind it, over all kinds.
fn stands_alone(word: &str) -> bool {
    let said = |how| match how {
        How::Flags(pairs) => pairs.iter().any(|(_, theirs)| *theirs == word),
        How::Switch { on, off } => on == word || off == word,
        _ => false,
    };
    let marks = |form: &Form| matches!(form.marks, Marks::Flags { on, off } if on == word || off == word);
    FLAGS.contains(&word)
        || Framing::KEYWORDS.iter().any(|(name, _)| *name == word)
        || TC.forms.iter().any(|form| marks(form) || form.words.iter().copied().flatten().any(|known| said(known.how)))
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn value(&mut self, key: &str) -> Result<&'a str, TcError> {
        self.next().ok_or_else(|| TcError::NoValue { key: key.to_owned() })
    }

    /// Reads the place of the discipline, up to the first word that belongs to something else.
    fn place(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        while let Some(word) = self.next() {
            match word {
                "dev" => self.value(word)?.clone_into(&mut found.dev),
                "root" => found.parent = None,
                "parent" => found.parent = Some(self.value(word)?.to_owned()),
                "handle" | "classid" => self.value("handle")?.clone_into(&mut found.handle),
                "refcnt" | "leaf" => self.at += 1,
                "stab" => self.stab(found)?,
                _ => {
                    self.at -= 1;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// `stab overhead 8 mpu 64 linklayer atm`, whose words could be those of a kind.
    fn stab(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        while let Some(&word) = self.words.get(self.at) {
            if !matches!(word, "overhead" | "mpu" | "linklayer" | "mtu" | "tsize") {
                return Ok(());
            }
            self.at += 1;
            let value = self.value(word)?;
            found.options.push((format!("stab {word}"), Setting::Text(value.to_owned())));
        }
        Ok(())
    }

    fn options(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        while let Some(word) = self.next() {
            // Behind `ingress` tc prints a ruler.
            if word.starts_with("--") {
                continue;
            }
            let has_number = self.words.get(self.at).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
            // `flows` is a count of fq_codel and a mode of cake.
            let is_flag = stands_alone(word) && !(word == "flows" && has_number);
            let setting = if is_flag { Setting::Flag } else { Setting::Text(self.value(word)?.to_owned()) };
            found.options.push((word.to_owned(), setting));
        }
        Ok(())
    }
}
