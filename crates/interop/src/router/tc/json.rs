//! Queues and classes in what `tc -j` prints, of versions too that print half of it as text.

use super::error::{MAX, MAX_OBJECT};
use super::filter;
use super::options::{MEMORY_IN_FORCE, Reader, goes_on};
use super::{Discipline, Role, Setting, TcError};
use serde::de::IgnoredAny;
use serde_json::Value;

/// The objects of a list, as text, and the place behind the list; `None` where it does not end.
pub(crate) fn objects(text: &str) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut start, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    let mut found = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => {
                if depth == 1 {
                    start = at;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                match depth {
                    0 => return Some((found, at + 1)),
                    // More are counted as one too many.
                    1 if found.len() <= MAX => found.push(&text[start..=at]),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the disciplines of a list and the length of its text.
pub(super) fn read(text: &str) -> Result<(Vec<Discipline>, usize), TcError> {
    let Some((items, end)) = objects(text) else { return Err(no_json(text)) };
    if items.len() > MAX {
        return Err(TcError::TooMany);
    }
    if let Some(item) = items.iter().find(|item| item.len() > MAX_OBJECT) {
        return Err(TcError::TooLarge { size: item.len() });
    }
    let read = |item: &&str| match filter::of_json(item) {
        Some(filter) => Ok(filter),
        None => match serde_json::from_str::<Value>(item) {
            Ok(whole) => discipline(&whole),
            Err(_) => half_json(item).ok_or_else(|| no_json(&text[..end])),
        },
    };
    Ok((items.iter().map(read).collect::<Result<_, _>>()?, end))
}

fn no_json(text: &str) -> TcError {
    let fault = serde_json::from_str::<IgnoredAny>(text).err();
    TcError::Json(fault.map_or_else(|| "an object is none of tc".to_owned(), |error| error.to_string()))
}

/// An object whose options are the words that are printed without `-j`, or behind whose options
/// those of a table of sizes stand (iproute2 up to 6.12, by kind).
fn half_json(text: &str) -> Option<Discipline> {
    let (head, rest) = text.split_once("\"options\"")?;
    let head: Value = serde_json::from_str(&format!("{}}}", head.trim_end().trim_end_matches(','))).ok()?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let (_, end) = objects(rest)?;
    let (body, behind) = rest.split_at(end);
    let mut found = discipline(&head).ok()?;
    found.options.clear();
    match serde_json::from_str::<Value>(body) {
        Ok(options) => {
            for (key, value) in options.as_object().into_iter().flatten() {
                found.options.extend(option(&found.kind, key, value));
            }
        }
        Err(_) => {
            for line in body[1..body.len() - 1].lines().map(str::trim) {
                if !goes_on(&mut found, line) {
                    Reader::over(line).options(&mut found).ok()?;
                }
            }
        }
    }
    let sizes = behind.split([',', '}']).next().unwrap_or_default();
    Reader::over(sizes).stab(&mut found).ok()?;
    Some(found)
}

fn discipline(item: &Value) -> Result<Discipline, TcError> {
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
        options.extend(option(&kind, key, value).into_iter().map(|(key, setting)| (format!("stab {key}"), setting)));
    }
    // `-s` prints the memory of cake in force next to them.
    if let (true, Some(memory)) = (kind.starts_with("cake"), item["memory_limit"].as_f64()) {
        options.push((MEMORY_IN_FORCE.to_owned(), Setting::Number(memory)));
    }
    // Members have no order: `raw` of cake ends none of the others.
    options.sort_by_key(|(key, _)| key != "raw");
    Ok(Discipline {
        role,
        dev: text("dev").unwrap_or_default(),
        kind,
        handle: text("handle").unwrap_or_default(),
        parent: text("parent"),
        options,
        is_whole: true,
        line: None,
        is_placed: true,
    })
}

/// Options of JSON as on a command line: a switch is its own word, an object has one for each of
/// its members.
fn option(kind: &str, key: &str, value: &Value) -> Vec<(String, Setting)> {
    let key = key.trim();
    let flag = |word: &str| vec![(word.to_owned(), Setting::Flag)];
    let with = |key: &str, setting| vec![(key.to_owned(), setting)];
    match (kind, key, value) {
        ("cake" | "cake_mq", "diffserv" | "flowmode" | "autorate" | "atm", Value::String(word)) => flag(word),
        ("cake" | "cake_mq", "ack-filter", Value::String(word)) => match word.as_str() {
            "enabled" => flag("ack-filter"),
            "aggressive" => flag("ack-filter-aggressive"),
            _ => flag("no-ack-filter"),
        },
        ("cake" | "cake_mq", "ingress", Value::Bool(false)) => flag("egress"),
        ("cake" | "cake_mq", "split_gso", Value::Bool(false)) => flag("no-split-gso"),
        ("cake" | "cake_mq", "bandwidth", Value::String(word)) if word == "unlimited" => flag("unlimited"),
        ("cake" | "cake_mq", "fwmark", Value::String(mark)) if mark.trim_start_matches("0x") == "0" => Vec::new(),
        ("dualpi2", "step-thresh-pkts", Value::Number(packets)) => with("step_thresh", Setting::Text(format!("{packets}p"))),
        ("dualpi2", _, Value::Number(number)) => {
            // Its keys in JSON are not the words of its command line.
            let words = [
                ("step-thresh-us", "step_thresh"),
                ("coupling", "coupling_factor"),
                ("min-qlen-step", "min_qlen_step"),
                ("c-protection", "classic_protection"),
                ("memory-limit", "memlimit"),
            ];
            let word = words.iter().find(|(json, _)| *json == key).map_or(key, |(_, word)| *word);
            with(word, Setting::Number(number.as_f64().unwrap_or_default()))
        }
        (_, _, Value::Bool(true)) => flag(key),
        (_, _, Value::Number(number)) => {
            number.as_f64().map(|number| (key.to_owned(), Setting::Number(number))).into_iter().collect()
        }
        (_, _, Value::String(text)) => with(key, Setting::Text(text.clone())),
        (_, _, Value::Array(list)) => {
            let words: Vec<String> = list.iter().map(ToString::to_string).collect();
            with(key, Setting::Text(words.join(" ")))
        }
        (_, _, Value::Object(members)) => {
            let member = |(inner, value)| option(kind, &format!("{key} {inner}"), value);
            members.iter().flat_map(member).collect()
        }
        (_, _, Value::Null | Value::Bool(false)) => Vec::new(),
    }
}
