//! `/export` of RouterOS 7: types of queues, and the simple queue or interface that has them.

use super::lines::{Lines, Setting, Shaper, chosen, device, numbered, words};
use crate::import::tc::ifb_of;
use crate::import::{Draft, ImportError, Input};
use crate::router::dialect::routeros::ROUTEROS;
use goodqueue_base::spec::quantity::excerpt;

/// Types that every RouterOS has, which its exports leave out: kind and packets.
const BUILT_IN: &[(&str, &str)] = &[("default", "50"), ("default-small", "10"), ("ethernet-default", "50")];
/// Limits of kinds that an export leaves out: 50 packets and 15000 B.
const USUAL: &[(&str, &str, &str)] = &[("pfifo", "pfifo-limit", "50"), ("bfifo", "bfifo-limit", "15000")];

/// A command below `/queue`.
struct Command {
    menu: String,
    line: usize,
    settings: Vec<Setting>,
    /// The item that `set` is for.
    item: String,
}

impl Command {
    fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().rfind(|one| one.key == key)
    }

    fn text(&self, key: &str) -> &str {
        self.get(key).map_or("", |one| one.value.as_str())
    }
}

/// A line from a simple queue, or from the queue of an interface. Where there are several, one may
/// be named by its target.
///
/// # Errors
/// When the file has no such queue, or a value that a property cannot have.
pub fn import(input: &Input, dev: Option<&str>) -> Result<Draft, ImportError> {
    let all = commands(input)?;
    let mut lines = Lines::default();
    let of = |menu: &'static str| all.iter().filter(move |one| one.menu == menu);
    if of("tree").next().is_some() {
        lines.notes.push("/queue tree is not in the scenario.".to_owned());
    }
    let is_off = |one: &&Command| matches!(one.text("disabled"), "yes" | "true");
    let all_are_off = of("simple").all(|one| is_off(&one));
    if all_are_off && of("simple").next().is_some() {
        lines.notes.push("The queue is disabled: the router does not shape so yet.".to_owned());
    }
    let simple: Vec<(String, &Command)> =
        of("simple").filter(|one| all_are_off || !is_off(one)).map(|one| (one.text("target").to_owned(), one)).collect();
    if simple.is_empty() {
        let set: Vec<(String, &Command)> = of("interface").map(|one| (one.item.clone(), one)).collect();
        let (name, command) = chosen(input, "queue of an interface or simple queue", &set, dev)?;
        let words = queue(input, &mut lines, &all, command.text("queue"), None)?;
        lines.queue(&device(name), None, &words);
        return lines.draft(input, "routeros", None);
    }
    let (target, command) = chosen(input, "simple queue for", &simple, dev)?;
    for setting in &command.settings {
        if !matches!(setting.key.as_str(), "name" | "target" | "max-limit" | "queue" | "comment" | "disabled") {
            lines.unread(setting);
        }
    }
    let faces_line = faces_line(target);
    let side = if faces_line { "to face the line" } else { "for the users' side" };
    lines.notes.push(format!("The target {} is taken {side}.", excerpt(target)));
    let limit = command.get("max-limit").ok_or_else(|| input.fault(format!("line {}: max-limit is missing", command.line)))?;
    let (to, from) = limit.value.split_once('/').unwrap_or((&limit.value, &limit.value));
    let (queue_to, queue_from) = command.text("queue").split_once('/').unwrap_or((command.text("queue"), command.text("queue")));
    let dev = device(target);
    let ifb = ifb_of(&dev);
    // The first of each pair is what the target sends: it arrives at an interface.
    let (arrives, leaves) = if faces_line { (&ifb, &dev) } else { (&dev, &ifb) };
    for (dev, rate, name) in [(leaves, from, queue_from), (arrives, to, queue_to)] {
        let bit_s = Setting::new(limit.line, "max-limit", rate).bit_s(input)?;
        if bit_s == 0 {
            lines.notes.push(format!("Line {}: max-limit 0: that direction is not shaped.", limit.line));
            continue;
        }
        let words = queue(input, &mut lines, &all, name, Some(bit_s))?;
        let shaper = Shaper { bit_s, burst: 0, stab: String::new() };
        lines.queue(dev, Some(&shaper).filter(|_| !words.starts_with("cake ")), &words);
    }
    lines.draft(input, "routeros", None)
}

/// Whether a target is taken for the interface toward the line: no network, and no bridge.
fn faces_line(target: &str) -> bool {
    let is_network = target.is_empty() || target.contains(['/', ':', ',']) || target.parse::<std::net::IpAddr>().is_ok();
    !is_network && !target.starts_with("bridge") && !target.starts_with("lan")
}

/// The words of `tc` for a type of queue.
fn queue(input: &Input, lines: &mut Lines, all: &[Command], name: &str, bit_s: Option<u64>) -> Result<String, ImportError> {
    let name = if name.is_empty() { "default-small" } else { name };
    let Some(kind) = all.iter().rfind(|one| one.menu == "type" && (one.text("name") == name || one.item == name)) else {
        let Some((_, packets)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            return Err(input.fault(format!("has no /queue type {}", excerpt(name))));
        };
        return Ok(format!("pfifo limit {packets}"));
    };
    let word = kind.text("kind");
    let mut settings = Vec::new();
    let mut shaping = bit_s.filter(|_| word == "cake").map_or_else(String::new, |bit_s| format!(" bandwidth {bit_s}bit"));
    for setting in kind.settings.iter().filter(|one| !matches!(one.key.as_str(), "name" | "kind")) {
        match (setting.key.as_str(), setting.value.as_str()) {
            ("cake-bandwidth", _) if bit_s.is_some() => {}
            ("cake-bandwidth", _) => shaping.push_str(&format!(" bandwidth {}bit", setting.bit_s(input)?)),
            ("cake-overhead", _) => shaping.push_str(&format!(" overhead {}", setting.overhead(input)?)),
            ("cake-mpu", _) => shaping.push_str(&format!(" mpu {}", setting.number(input, 256)?)),
            ("cake-atm", "none") => shaping.push_str(" noatm"),
            ("cake-atm", cells @ ("atm" | "ptm")) => shaping.push_str(&format!(" {cells}")),
            ("cake-atm", _) => return Err(setting.wrong(input, "none, atm or ptm")),
            _ => settings.push(setting.clone()),
        }
    }
    if let Some((_, key, limit)) = USUAL.iter().find(|(known, ..)| *known == word)
        && kind.get(key).is_none()
    {
        settings.push(Setting::new(kind.line, key, limit));
    }
    let said = lines.said(input, &ROUTEROS, word, &settings)?;
    let said =
        said.ok_or_else(|| input.fault(format!("line {}: kind {} is not a queue that gq has", kind.line, excerpt(word))))?;
    Ok(format!("{said}{shaping}{}", if word == "cake" { " " } else { "" }))
}

/// Commands below `/queue`, in either form: with their menu, or in lines below it.
fn commands(input: &Input) -> Result<Vec<Command>, ImportError> {
    let mut commands = Vec::new();
    let mut menu = String::new();
    let mut before = String::new();
    for (line, text) in numbered(input)? {
        if let Some(start) = text.strip_suffix('\\') {
            before.push_str(start);
            continue;
        }
        let text = std::mem::take(&mut before) + text;
        let words = words(&text);
        let mut words = words.iter().map(String::as_str).peekable();
        if let Some(path) = words.next_if(|word| word.starts_with('/')) {
            menu = path.trim_start_matches('/').to_owned();
            while let Some(word) = words.next_if(|word| !matches!(*word, "add" | "set")) {
                menu = format!("{menu} {word}");
            }
        }
        let Some(place) = menu.strip_prefix("queue ") else { continue };
        if words.next_if(|word| matches!(*word, "add" | "set")).is_none() {
            continue;
        }
        let mut command = Command { menu: place.to_owned(), line, settings: Vec::new(), item: String::new() };
        for word in words {
            match word.split_once('=') {
                Some((key, value)) => command.settings.push(Setting::new(line, key, value)),
                None => word.clone_into(&mut command.item),
            }
        }
        commands.push(command);
    }
    Ok(commands)
}
