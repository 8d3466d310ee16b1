//! `.network` files of systemd-networkd, one or several below one another.

use super::lines::{Lines, Setting, Shaper, device, numbered};
use crate::import::{Draft, ImportError, Input};
use crate::router::dialect::networkd::NETWORKD;

/// A section: its name and what it says.
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
        let shaper = shaper(input, &mut lines, &sections)?;
        for (kind, settings) in &sections {
            if matches!(kind.as_str(), "HierarchyTokenBucket" | "HierarchyTokenBucketClass") {
                continue;
            }
            let is_queue = OTHERS.contains(&kind.as_str()) || settings.iter().any(|one| one.key == "Parent");
            let rest: Vec<Setting> = settings.iter().filter(|one| !PLACE.contains(&one.key.as_str())).cloned().collect();
            let (framing, rest): (Vec<Setting>, Vec<Setting>) =
                rest.into_iter().partition(|one| kind == "CAKE" && cake_word(&one.key).is_some());
            match lines.said(input, &NETWORKD, kind, &rest)? {
                Some(words) => {
                    let cake = framing.iter().map(|one| cake(input, one)).collect::<Result<String, _>>()?;
                    lines.queue(&device(&name), shaper.as_ref(), &format!("{words}{cake}"));
                }
                None if is_queue => lines.notes.push(format!("[{kind}] of {name} is not in the scenario.")),
                None => {}
            }
        }
    }
    lines.draft(input, "networkd", dev)
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

/// The shaper of a class.
fn shaper(input: &Input, lines: &mut Lines, sections: &[Section]) -> Result<Option<Shaper>, ImportError> {
    let Some((_, class)) = sections.iter().find(|(kind, _)| kind == "HierarchyTokenBucketClass") else { return Ok(None) };
    if sections.iter().filter(|(kind, _)| kind == "HierarchyTokenBucketClass").count() > 1 {
        lines.notes.push("There are several classes; this is the first.".to_owned());
    }
    let mut shaper = Shaper { bit_s: 0, burst: 0, stab: String::new() };
    for setting in class {
        match setting.key.as_str() {
            // The ceiling comes later and holds; without one it is the rate.
            "Rate" if shaper.bit_s == 0 => shaper.bit_s = setting.bit_s(input)?,
            "CeilRate" => shaper.bit_s = setting.bit_s(input)?,
            "CeilBufferBytes" => shaper.burst = setting.number(input, 1 << 40)?,
            "OverheadBytes" => {
                let overhead = setting.number(input, 10_000)?;
                shaper.stab = format!("stab overhead {overhead} linklayer ethernet ");
            }
            "Rate" | "BufferBytes" => {}
            key if PLACE.contains(&key) => {}
            _ => lines.unread(setting),
        }
    }
    Ok(Some(shaper).filter(|shaper| shaper.bit_s > 0))
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
