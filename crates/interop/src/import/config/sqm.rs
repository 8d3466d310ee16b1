//! `/etc/config/sqm` of OpenWrt (sqm-scripts 1.6).

use super::lines::{Lines, Setting, Shaper, chosen, device, numbered, words};
use crate::import::{Draft, ImportError, Input};
use goodqueue_base::spec::quantity::excerpt;

/// Packets that the scripts let a queue hold untold; cake has bytes of its own.
const LIMIT: &str = "1001";
/// Greatest rate in kbit/s.
const MAX_KBIT: u64 = 10_000_000_000;
/// Bytes of the least bucket: a full packet with its header.
const MIN_BURST: u64 = 1_514;
/// Options that say nothing of a queue, or are read together with others.
const QUIET: &[&str] = &[
    "enabled",
    "interface",
    "download",
    "upload",
    "qdisc",
    "script",
    "qdisc_advanced",
    "qdisc_really_really_advanced",
    "linklayer",
    "linklayer_advanced",
    "linklayer_adaptation_mechanism",
    "overhead",
    "tcMTU",
    "tcMPU",
    "tcTSIZE",
    "ingress_ecn",
    "egress_ecn",
    "itarget",
    "etarget",
    "ilimit",
    "elimit",
    "iqdisc_opts",
    "eqdisc_opts",
    "squash_dscp",
    "squash_ingress",
    "debug_logging",
    "verbosity",
];

/// A line from the section of an interface, which may be named.
///
/// # Errors
/// When the file has no such section, or a value that an option cannot have.
pub fn import(input: &Input, dev: Option<&str>) -> Result<Draft, ImportError> {
    let sections = sections(input)?;
    let is_only = |name: &str| sections.iter().all(|(other, _)| other == name);
    let dev = dev.or_else(|| sections.first().map(|(name, _)| name.as_str()).filter(|name| is_only(name)));
    let (name, section) = chosen(input, "section `config queue` with an interface", &sections, dev)?;
    if sections.iter().filter(|(other, _)| other == name).count() > 1 {
        return Err(input.fault(format!("has several sections for {}: leave one of them", excerpt(name))));
    }
    let dev = device(name);
    let mut lines = Lines::default();
    let get = |key: &str| section.iter().rfind(|one| one.key == key);
    let text = |key: &str| get(key).map_or("", |one| one.value.as_str());
    if text("enabled") != "1" {
        lines.notes.push("The section is not enabled: the router does not shape so yet.".to_owned());
    }
    let qdisc = if text("script").contains("cake") {
        "cake"
    } else {
        Some(text("qdisc")).filter(|one| !one.is_empty()).unwrap_or("fq_codel")
    };
    for one in section.iter().filter(|one| !QUIET.contains(&one.key.as_str())) {
        lines.unread(one);
    }
    if !matches!(text("script"), "" | "simplest.qos" | "simplest_tbf.qos" | "piece_of_cake.qos" | "layer_cake.qos") {
        lines.notes.push(format!("{} has a queue for each of several classes of traffic; the scenario has one.", text("script")));
    }
    let framing = framing(input, section, qdisc)?;
    for (key, dev, letter, ecn) in
        [("upload", dev.clone(), "e", "egress_ecn"), ("download", format!("ifb4{dev}"), "i", "ingress_ecn")]
    {
        let Some(rate) = get(key) else {
            lines.notes.push(format!("{key} is not in the section: that direction is left out."));
            continue;
        };
        let kbit = rate.number(input, MAX_KBIT)?;
        if kbit == 0 {
            lines.notes.push(format!("Line {}: {key} 0: the router does not shape that direction.", rate.line));
            continue;
        }
        let more = text(&format!("{letter}qdisc_opts"));
        if qdisc == "cake" {
            // Marks of what arrives count where the section keeps them.
            let is_squashed = key == "download" && text("squash_ingress") != "0";
            let tins = if text("script") == "layer_cake.qos" && !is_squashed { "diffserv3" } else { "besteffort" };
            let nat = if more.split_whitespace().any(|word| word == "nonat") { "" } else { "nat " };
            lines.put(&format!("tc qdisc add dev {dev} root handle 1: cake bandwidth {kbit}kbit {framing}{tins} {nat}{more}"));
            continue;
        }
        let limit = Some(text(&format!("{letter}limit"))).filter(|one| !one.is_empty()).unwrap_or(LIMIT);
        let target = text(&format!("{letter}target"));
        let target =
            if target.is_empty() || target.eq_ignore_ascii_case("auto") { String::new() } else { format!(" target {target}") };
        let marks = if text(ecn).eq_ignore_ascii_case("NOECN") { "noecn" } else { "ecn" };
        let burst = (kbit / 8).max(MIN_BURST);
        let shaper = Shaper { bit_s: kbit * 1_000, burst, stab: framing.clone() };
        lines.queue(&dev, Some(&shaper), &format!("{qdisc} limit {limit}{target} {marks} {more}"));
    }
    lines.draft(input, "sqm", None)
}

/// The framing in the words of `tc`: of cake, or a table of sizes.
fn framing(input: &Input, section: &[Setting], qdisc: &str) -> Result<String, ImportError> {
    let get = |key: &str| section.iter().rfind(|one| one.key == key);
    let layer = get("linklayer").filter(|one| one.value != "none");
    let Some(layer) = layer else { return Ok(String::new()) };
    let is_atm = match layer.value.as_str() {
        "atm" | "adsl" => true,
        "ethernet" => false,
        _ => return Err(layer.wrong(input, "none, ethernet, atm or adsl")),
    };
    let overhead = get("overhead").map_or("0", |one| one.value.as_str());
    if overhead.parse::<i16>().is_err() {
        return Err(get("overhead").map_or_else(|| layer.wrong(input, "an overhead"), |one| one.wrong(input, "bytes")));
    }
    let mpu = get("tcMPU").map(|one| one.number(input, 10_000)).transpose()?.unwrap_or(0);
    if qdisc == "cake" {
        let cells = if is_atm { "atm " } else { "" };
        return Ok(format!("overhead {overhead} {cells}"));
    }
    let mpu = if mpu > 0 { format!("mpu {mpu} ") } else { String::new() };
    let layer = if is_atm { "atm" } else { "ethernet" };
    Ok(format!("stab {mpu}overhead {overhead} linklayer {layer} "))
}

/// Sections for queues, by interface.
fn sections(input: &Input) -> Result<Vec<(String, Vec<Setting>)>, ImportError> {
    let mut sections: Vec<Vec<Setting>> = Vec::new();
    let mut is_queue = false;
    for (line, text) in numbered(input)? {
        let words = words(text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["config", kind, ..] => {
                is_queue = *kind == "queue";
                if is_queue {
                    sections.push(Vec::new());
                }
            }
            ["option" | "list", key, value] if is_queue => {
                if let Some(section) = sections.last_mut() {
                    section.push(Setting::new(line, key, value));
                }
            }
            [first, ..] if is_queue && !first.starts_with('#') => {
                return Err(input.fault(format!("line {line}: is not an option: expected option KEY VALUE")));
            }
            _ => {}
        }
    }
    let named = |section: Vec<Setting>| {
        let name = section.iter().rfind(|one| one.key == "interface")?.value.clone();
        Some((name, section))
    };
    Ok(sections.into_iter().filter_map(named).collect())
}
