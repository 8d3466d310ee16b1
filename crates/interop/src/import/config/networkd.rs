//! `.network` files of systemd-networkd, one or several below one another.

use super::lines::{Lines, Setting, device, numbered};
use crate::import::{Draft, ImportError, Input};
use crate::router::dialect::networkd::NETWORKD;
use goodqueue_base::spec::quantity::excerpt;

/// A section: its name and its settings.
type Section = (String, Vec<Setting>);

/// Queues that gq lacks, or that are none; they are at the root where they do not say where.
const OTHERS: &[&str] =
    &["TokenBucketFilter", "NetworkEmulator", "StochasticFairnessQueueing", "FairQueueing", "GenericRandomEarlyDetection"];

/// Settings of a place, which `tc` has in front of a queue.
const PLACE: &[&str] = &["Parent", "Handle", "ClassId", "DefaultClass"];

/// A line from the queues of interfaces; where there are several, one may be named.
///
/// # Errors
/// When no interface has a queue, or a value is one that its key cannot have.
pub fn import(input: &Input, dev: Option<&str>) -> Result<Draft, ImportError> {
    let mut lines = Lines::default();
    for (name, sections) in interfaces(input)? {
        let dev = device(&name);
        let of = |wanted: &'static str| sections.iter().filter(move |(kind, _)| kind == wanted).map(|(_, settings)| settings);
        let mut majors = Vec::new();
        for htb in of("HierarchyTokenBucket") {
            // Without a handle, classes tell the one that is meant.
            let of_class = || of("HierarchyTokenBucketClass").find_map(|class| text(class, "ClassId"));
            let handle = major(text(htb, "Handle").or_else(of_class).unwrap_or("1"));
            let default = text(htb, "DefaultClass").map_or_else(String::new, |class| format!(" default {class}"));
            lines.put(&format!("tc qdisc add dev {dev} {} htb{default}", place(htb, &handle)));
            majors.push(handle);
        }
        for settings in of("HierarchyTokenBucketClass") {
            class(input, &mut lines, &dev, settings)?;
        }
        let mut places: Vec<&str> = of("HierarchyTokenBucket").map(|htb| text(htb, "Parent").unwrap_or("root")).collect();
        for (kind, settings) in &sections {
            if matches!(kind.as_str(), "HierarchyTokenBucket" | "HierarchyTokenBucketClass") {
                continue;
            }
            let is_queue = OTHERS.contains(&kind.as_str()) || text(settings, "Parent").is_some();
            let rest: Vec<Setting> = settings.iter().filter(|one| !PLACE.contains(&one.key.as_str())).cloned().collect();
            let (framing, rest): (Vec<Setting>, Vec<Setting>) =
                rest.into_iter().partition(|one| kind == "CAKE" && cake_word(&one.key).is_some());
            let is_placed = text(settings, "Parent").is_none_or(|at| at == "root" || majors.contains(&major(at)));
            let at = text(settings, "Parent").unwrap_or("root");
            match lines.said(input, &NETWORKD, kind, &rest)? {
                Some(_) if places.contains(&at) => {
                    lines.notes.push(format!("[{kind}] of {name} is at {}, where another is: it is left out.", excerpt(at)));
                }
                Some(words) if is_placed => {
                    let free = if at == "root" { "1".to_owned() } else { format!("{}", 10 + places.len() - majors.len()) };
                    places.push(at);
                    let cake = framing.iter().map(|one| cake(input, one)).collect::<Result<String, _>>()?;
                    lines.put(&format!("tc qdisc add dev {dev} {} {words}{cake}", place(settings, &free)));
                }
                Some(_) => lines.notes.push(format!("[{kind}] of {name} is below a queue that is not read: it is left out.")),
                None if is_queue => lines.notes.push(format!("[{kind}] of {name} is not in the scenario.")),
                None => {}
            }
        }
    }
    lines.draft(input, "networkd", dev)
}

/// The last value of a key.
fn text<'a>(settings: &'a [Setting], key: &str) -> Option<&'a str> {
    settings.iter().rfind(|one| one.key == key).map(|one| one.value.as_str()).filter(|value| !value.is_empty())
}

/// The major number of a handle, in the form that `tc` prints.
fn major(handle: &str) -> String {
    let text = handle.split(':').next().unwrap_or_default();
    u32::from_str_radix(text.trim_start_matches("0x"), 16).map_or_else(|_| device(text), |number| format!("{number:x}"))
}

/// The place of a queue in the words of `tc`, with its handle or the one that is free.
fn place(settings: &[Setting], free: &str) -> String {
    let handle = text(settings, "Handle").map_or_else(|| free.to_owned(), major);
    match text(settings, "Parent").filter(|at| *at != "root") {
        Some(at) => format!("parent {} handle {handle}:", at.replace(char::is_whitespace, "")),
        None => format!("root handle {handle}:"),
    }
}

/// Takes a class, whose ceiling is its rate untold.
fn class(input: &Input, lines: &mut Lines, dev: &str, settings: &[Setting]) -> Result<(), ImportError> {
    let (mut rate, mut ceil, mut bucket, mut mtu, mut overhead) = (0, 0, None, None, None);
    for setting in settings {
        match setting.key.as_str() {
            "Rate" => rate = setting.bit_s(input)?,
            "CeilRate" => ceil = setting.bit_s(input)?,
            "CeilBufferBytes" => bucket = Some(setting.bytes(input)?),
            "MTUBytes" => mtu = Some(setting.bytes(input)?),
            "OverheadBytes" => overhead = Some(setting.number(input, 10_000)?),
            "BufferBytes" | "QuantumBytes" | "Priority" => {}
            key if PLACE.contains(&key) => {}
            _ => lines.unread(setting),
        }
    }
    if rate == 0 {
        let id = text(settings, "ClassId").unwrap_or_default();
        lines.notes.push(format!("A class {} has no Rate, without which systemd ignores it.", excerpt(id)));
        return Ok(());
    }
    let ceil = if ceil > 0 { ceil } else { rate };
    // The bucket is told, or a packet of the class (src/network/tc/htb.c).
    let bucket = bucket.or(mtu).filter(|bytes| *bytes > 0).map_or_else(String::new, |bytes| format!(" cburst {bytes}"));
    let overhead = overhead.map_or_else(String::new, |bytes| format!(" overhead {bytes}"));
    let (parent, id) = (text(settings, "Parent").unwrap_or("root"), text(settings, "ClassId").unwrap_or("1:1"));
    let parent = if parent == "root" { format!("{}:", major(id)) } else { parent.replace(char::is_whitespace, "") };
    let id = id.replace(char::is_whitespace, "");
    lines
        .put(&format!("tc class add dev {dev} parent {parent} classid {id} htb rate {rate}bit ceil {ceil}bit{bucket}{overhead}"));
    Ok(())
}

/// The word of `tc` for a setting of cake's shaper.
fn cake_word(key: &str) -> Option<&'static str> {
    Some(match key {
        "Bandwidth" => "bandwidth",
        "OverheadBytes" => "overhead",
        "MPUBytes" => "mpu",
        "CompensationMode" => "",
        _ => return None,
    })
}

fn cake(input: &Input, setting: &Setting) -> Result<String, ImportError> {
    Ok(match (cake_word(&setting.key).unwrap_or_default(), setting.value.as_str()) {
        ("bandwidth", _) => format!(" bandwidth {}bit", setting.bit_s(input)?),
        ("", "none") => " noatm".to_owned(),
        ("", cells @ ("atm" | "ptm")) => format!(" {cells}"),
        ("", _) => return Err(setting.wrong(input, "none, atm or ptm")),
        ("overhead", _) => format!(" overhead {}", setting.overhead(input)?),
        (word, _) => format!(" {word} {}", setting.number(input, 256)?),
    })
}

/// Sections behind each `[Match]`, by the name that it matches.
fn interfaces(input: &Input) -> Result<Vec<(String, Vec<Section>)>, ImportError> {
    let mut all: Vec<(String, Vec<Section>)> = Vec::new();
    for (line, text) in numbered(input)? {
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if name == "Match" || all.is_empty() {
                all.push((String::new(), Vec::new()));
            }
            if let Some((_, sections)) = all.last_mut() {
                sections.push((name.to_owned(), Vec::new()));
            }
            continue;
        }
        let Some((key, value)) = text.split_once('=') else {
            return Err(input.fault(format!("line {line}: is not a setting: expected KEY=VALUE")));
        };
        let (key, value) = (key.trim(), value.trim());
        let Some((name, sections)) = all.last_mut() else { continue };
        let Some((section, settings)) = sections.last_mut() else { continue };
        if section == "Match" && key == "Name" {
            value.clone_into(name);
        }
        settings.push(Setting::new(line, key, value));
    }
    Ok(all)
}
