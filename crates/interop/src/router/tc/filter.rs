//! Filters, as far as they say where packets go: into a class, or to another interface.

use super::{Discipline, Role, Setting};
use serde_json::Value;

/// The options of a filter, in one form for commands and all outputs.
pub(crate) const FLOW: &str = "flowid";
/// The interface that packets are sent to.
pub(crate) const REDIRECT: &str = "redirect";
/// A filter that takes each packet.
pub(crate) const ALL: &str = "all packets";
/// The rate of a policer.
pub(crate) const POLICE: &str = "police";
/// A filter whose actions are not known.
pub(crate) const UNREAD: &str = "unread";

/// Where the filters of packets that arrive are.
const ARRIVING: &str = "ffff:";

impl Discipline {
    fn is_filter_of_arriving(&self) -> bool {
        self.role == Role::Filter && self.parent.as_deref().is_none_or(|parent| parent.starts_with(ARRIVING))
    }

    /// The interface that a filter sends arriving packets to.
    pub(crate) fn redirects_to(&self) -> Option<String> {
        self.option(REDIRECT).filter(|_| self.is_filter_of_arriving()).map(Setting::text)
    }

    /// The rate at which a filter drops arriving packets.
    pub(crate) fn polices_at(&self) -> Option<String> {
        self.option(POLICE).filter(|_| self.is_filter_of_arriving()).map(Setting::text)
    }
}

/// A filter of a command, or in a line that `tc` prints.
pub(super) fn of_command(words: &[&str]) -> Discipline {
    let at = |key: &str| words.iter().position(|word| *word == key);
    let behind = |key: &str| at(key).and_then(|at| words.get(at + 1)).copied();
    let mut found = Discipline::plain(Role::Filter, "filter", "", true);
    behind("dev").unwrap_or_default().clone_into(&mut found.dev);
    let place = words.iter().take_while(|word| !matches!(**word, "action" | "u32"));
    found.parent = match place.copied().find(|word| matches!(*word, "ingress" | "egress" | "root")) {
        Some("ingress") => Some(ARRIVING.to_owned()),
        Some(other) => Some(other.to_owned()),
        None => behind("parent").map(str::to_owned),
    };
    let mut put = |key: &str, value: Option<&str>| {
        found.options.extend(value.map(|value| (key.to_owned(), Setting::Text(value.to_owned()))));
    };
    put(FLOW, behind("flowid").or_else(|| behind("classid")));
    put("protocol", behind("protocol"));
    put("pref", behind("pref").or_else(|| behind("prio")).or_else(|| behind("priority")));
    let redirect = at(REDIRECT).and_then(|at| words[at..].iter().position(|word| *word == "dev").map(|more| at + more + 1));
    put(REDIRECT, redirect.and_then(|at| words.get(at)).copied());
    let rate = at("police").and_then(|at| words[at..].iter().position(|word| *word == "rate").map(|more| at + more + 1));
    put(POLICE, rate.and_then(|at| words.get(at)).copied());
    let has = |three: [&str; 3]| words.windows(3).any(|words| words == three);
    if words.contains(&"matchall") || has(["u32", "0", "0"]) || has(["protocol", "0", "0x00"]) {
        found.options.push((ALL.to_owned(), Setting::Flag));
    }
    if words.contains(&"bpf") {
        found.options.push((UNREAD.to_owned(), Setting::Flag));
    }
    found
}

/// Takes a line that `tc` prints below a filter.
pub(super) fn goes_on(last: &mut Discipline, line: &str) -> bool {
    let mut put = |key: &str, value: &str| last.extend([(key.to_owned(), Setting::Text(value.to_owned()))]);
    let words: Vec<&str> = line.split_whitespace().take(100).collect();
    let behind = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1)).copied();
    match words.as_slice() {
        ["match", "00000000/00000000", ..] => last.extend([(ALL.to_owned(), Setting::Flag)]),
        _ if line.contains("Redirect to device") => {
            put(REDIRECT, behind("device").unwrap_or_default().trim_end_matches(')'));
        }
        _ if words.contains(&"police") && behind("rate").is_some() => put(POLICE, behind("rate").unwrap_or_default()),
        _ => return false,
    }
    true
}

/// A filter of a list, of which versions of `tc` print the options as text (iproute2 up to 6.0);
/// `None` for an object that is no filter.
pub(crate) fn of_json(text: &str) -> Option<Discipline> {
    let whole: Option<Value> = serde_json::from_str(text).ok();
    let behind = |key: &str| text.split_once(key).and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    let part =
        |key: &str| behind(key).and_then(|rest| serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok());
    let word = |key: &str| part(&format!("\"{key}\"")).and_then(|value| value.as_str().map(str::to_owned));
    let (protocol, kind) = (word("protocol")?, word("kind").unwrap_or_default());
    let mut found = Discipline::plain(Role::Filter, "filter", "", true);
    found.dev = word("dev").unwrap_or_default();
    found.parent = word("parent");
    found.options.push(("protocol".to_owned(), Setting::Text(protocol)));
    found.options.extend(word(FLOW).map(|class| (FLOW.to_owned(), Setting::Text(class))));
    let actions = match &whole {
        Some(whole) => whole["options"].get("actions").cloned(),
        None => part("\"actions\""),
    };
    let is_read = actions.is_some() || !text.contains("\"actions\"");
    // A program may redirect without any action.
    if !is_read || kind == "bpf" {
        found.options.push((UNREAD.to_owned(), Setting::Flag));
    }
    if kind == "matchall" {
        found.options.push((ALL.to_owned(), Setting::Flag));
    }
    for action in actions.as_ref().and_then(Value::as_array).into_iter().flatten() {
        if let (Some("mirred"), Some("redirect"), Some(to)) =
            (action["kind"].as_str(), action["mirred_action"].as_str(), action["to_dev"].as_str())
        {
            found.options.push((REDIRECT.to_owned(), Setting::Text(to.to_owned())));
        }
    }
    Some(found)
}
