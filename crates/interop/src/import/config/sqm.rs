//! `/etc/config/sqm` of OpenWrt (sqm-scripts 1.6).

use super::lines::{Lines, Setting, chosen, device, numbered, words};
use crate::import::tc::ifb_of;
use crate::import::{Draft, ImportError, Input};
use goodqueue_base::spec::quantity::excerpt;

/// Packets that the scripts let a queue hold untold; cake has bytes of its own.
const LIMIT: u64 = 1_001;
/// Greatest rate in kbit/s.
const MAX_KBIT: u64 = 10_000_000_000;
/// Bytes of the least bucket: the cells of ATM for a packet of 1500 B and its header (`get_burst`).
const MIN_BURST: u64 = 1_749;
/// Bytes of a packet, which buckets are made for.
const MTU: u64 = 1_500;
/// Rates that the scripts take where a section has none, in kbit/s (defaults.sh).
const USUAL_RATES: [(&str, u64); 2] = [("upload", 2_302), ("download", 14_698)];
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

/// A line from the section of an interface, which may be named: the commands of its script, of
/// sqm-scripts 1.6.0 and later.
///
/// # Errors
/// When the file has no such section, or a value that an option cannot have.
pub fn import(input: &Input, dev: Option<&str>) -> Result<Draft, ImportError> {
    let mut sections = sections(input)?;
    let is_on = |section: &[Setting]| section.iter().rfind(|one| one.key == "enabled").is_some_and(|one| one.value == "1");
    if sections.iter().any(|(name, section)| is_on(section) && dev.is_none_or(|dev| dev == name)) {
        sections.retain(|(_, section)| is_on(section));
    }
    let is_only = |name: &str| sections.iter().all(|(other, _)| other == name);
    let dev = dev.or_else(|| sections.first().map(|(name, _)| name.as_str()).filter(|name| is_only(name)));
    let (name, section) = chosen(input, "section `config queue` with an interface", &sections, dev)?;
    if sections.iter().filter(|(other, _)| other == name).count() > 1 {
        return Err(input.fault(format!("has several sections for {}: leave one of them", excerpt(name))));
    }
    let mut lines = Lines::default();
    if !is_on(section) {
        lines.notes.push("The section is not enabled: the router does not shape so yet.".to_owned());
    }
    for one in section.iter().filter(|one| !QUIET.contains(&one.key.as_str())) {
        lines.unread(one);
    }
    let sqm = Section { input, section };
    let script = Script::of(&sqm, &mut lines);
    for (key, dev) in [("upload", device(name)), ("download", ifb_of(&device(name)))] {
        let kbit = match (sqm.get(key), USUAL_RATES.iter().find(|(usual, _)| *usual == key)) {
            (None, Some((_, usual))) => {
                lines.notes.push(format!("{key} is not in the section: the scripts take {usual} kbit/s."));
                *usual
            }
            (Some(rate), _) => rate.number(input, MAX_KBIT)?,
            (None, None) => 0,
        };
        if kbit == 0 {
            let line = sqm.get(key).map_or(0, |rate| rate.line);
            lines.notes.push(format!("Line {line}: {key} 0: the router does not shape that direction."));
            continue;
        }
        Way { sqm: &sqm, script: &script, dev, kbit, is_download: key == "download" }.put(&mut lines)?;
    }
    lines.draft(input, "sqm", None)
}

/// A section with the values of its options.
struct Section<'a> {
    input: &'a Input,
    section: &'a [Setting],
}

impl Section<'_> {
    fn get(&self, key: &str) -> Option<&Setting> {
        self.section.iter().rfind(|one| one.key == key)
    }

    fn text(&self, key: &str) -> &str {
        self.get(key).map_or("", |one| one.value.as_str())
    }

    /// The values of the link layer: its name, overhead and least size; none where it is `none`.
    fn link_layer(&self) -> Result<Option<(&str, &str, u64)>, ImportError> {
        let Some(layer) = self.get("linklayer").filter(|one| !matches!(one.value.as_str(), "none" | "")) else { return Ok(None) };
        if !matches!(layer.value.as_str(), "atm" | "adsl" | "ethernet") {
            return Err(layer.wrong(self.input, "none, ethernet, atm or adsl"));
        }
        let overhead = self.get("overhead").filter(|one| !one.value.is_empty());
        if let Some(wrong) = overhead.filter(|one| one.value.parse::<i16>().is_err()) {
            return Err(wrong.wrong(self.input, "bytes"));
        }
        let mpu = self.get("tcMPU").filter(|one| !one.value.is_empty());
        let mpu = mpu.map(|one| one.number(self.input, 10_000)).transpose()?.unwrap_or(0);
        Ok(Some((&layer.value, overhead.map_or("0", |one| one.value.as_str()), mpu)))
    }
}

/// A script, with the queue that it sets.
struct Script {
    name: String,
    qdisc: String,
}

impl Script {
    fn of(sqm: &Section<'_>, lines: &mut Lines) -> Self {
        const KNOWN: &[&str] = &["simple.qos", "simplest.qos", "simplest_tbf.qos", "piece_of_cake.qos", "layer_cake.qos"];
        let name = sqm.text("script").to_owned();
        if !KNOWN.contains(&name.as_str()) {
            let what = if name.is_empty() { "The section".to_owned() } else { format!("script {}", excerpt(&name)) };
            lines.notes.push(format!("{what} names none of sqm-scripts: it is taken as simplest.qos would."));
        }
        if name == "simple.qos" {
            let note = "simple.qos has a queue for each of several classes of traffic; the scenario has one, of all of the rate.";
            lines.notes.push(note.to_owned());
        }
        let qdisc = sqm.text("qdisc");
        let qdisc = match (name.as_str(), qdisc) {
            ("piece_of_cake.qos" | "layer_cake.qos", _) => "cake",
            ("simplest_tbf.qos", "cake") => {
                lines.notes.push("simplest_tbf.qos takes fq_codel in place of cake.".to_owned());
                "fq_codel"
            }
            (_, "") => "fq_codel",
            (_, qdisc) => qdisc,
        };
        Self { qdisc: qdisc.to_owned(), name }
    }
}

/// A direction of a section.
struct Way<'a> {
    sqm: &'a Section<'a>,
    script: &'a Script,
    dev: String,
    kbit: u64,
    is_download: bool,
}

impl Way<'_> {
    /// An option of both directions, of this one.
    fn text(&self, key: &str) -> &str {
        let letter = if self.is_download { "i" } else { "e" };
        let long = if self.is_download { "ingress_" } else { "egress_" };
        self.sqm.text(&if key == "ecn" { format!("{long}{key}") } else { format!("{letter}{key}") })
    }

    /// Puts the commands of the script.
    fn put(&self, lines: &mut Lines) -> Result<(), ImportError> {
        let Self { dev, kbit, .. } = self;
        let mechanism = self.sqm.text("linklayer_adaptation_mechanism");
        let is_cake = self.script.qdisc.starts_with("cake");
        let means = match mechanism {
            "" | "default" if is_cake => "cake",
            "" | "default" => "tc_stab",
            other => other,
        };
        let layer = self.sqm.link_layer()?;
        let (mut stab, mut private, mut own) = (String::new(), String::new(), String::new());
        match (layer, means) {
            (Some((layer, overhead, mpu)), "tc_stab") => stab = format!("stab mpu {mpu} overhead {overhead} linklayer {layer} "),
            (Some((layer, overhead, mpu)), "htb_private") if !is_cake => {
                private = format!(" mpu {mpu} overhead {overhead} linklayer {layer}");
            }
            (Some((layer, overhead, mpu)), "cake") if is_cake => {
                let cells = if layer == "atm" { "atm " } else { "" };
                own = format!("{cells}overhead {overhead} mpu {mpu} ");
            }
            (Some(_), other) => {
                let note = format!("{} with the mechanism {} counts no framing.", self.script.qdisc, excerpt(other));
                if !lines.notes.contains(&note) {
                    lines.notes.push(note);
                }
            }
            (None, _) => {}
        }
        if is_cake {
            let line = format!("tc qdisc add dev {dev} root handle 1: {stab}cake bandwidth {kbit}kbit {own}{}", self.cake(lines));
            lines.put(&line);
            return Ok(());
        }
        let burst = (kbit / 8).max(MIN_BURST);
        if self.script.name == "simplest_tbf.qos" {
            lines.put(&format!(
                "tc qdisc add dev {dev} root handle 1: {stab}tbf rate {kbit}kbit burst {burst} latency 300ms{private}"
            ));
            let queue = self.leaf(lines);
            lines.put(&format!("tc qdisc add dev {dev} parent 1:1 handle 110: {queue} {}", self.text("qdisc_opts")));
            return Ok(());
        }
        let class = |parent: &str, id: &str| {
            format!(
                "tc class add dev {dev} parent {parent} classid {id} htb rate {kbit}kbit ceil {kbit}kbit burst {burst} cburst {burst}{private}"
            )
        };
        let (id, quantum) = self.usual_class();
        lines.put(&format!("tc qdisc add dev {dev} root handle 1: {stab}htb default {id}"));
        lines.put(&class("1:", "1:1"));
        lines.put(&class("1:1", &format!("1:{id}")));
        let queue = self.leaf(lines);
        let quantum = if self.script.qdisc.ends_with("fq_codel") { quantum } else { "" };
        lines.put(&format!("tc qdisc add dev {dev} parent 1:{id} handle 110: {queue}{quantum} {}", self.text("qdisc_opts")));
        Ok(())
    }

    /// The class of packets without a mark, and the quantum of its queue.
    fn usual_class(&self) -> (&'static str, &'static str) {
        let is_squashed = self.is_download && self.sqm.text("squash_ingress") != "0";
        match self.script.name.as_str() {
            "simple.qos" if !is_squashed => {
                let quantum = if self.is_download { " quantum 1500" } else { " quantum 300" };
                ("12", quantum)
            }
            _ => ("10", ""),
        }
    }

    /// The words of cake besides its rate and framing.
    fn cake(&self, lines: &mut Lines) -> String {
        let more = self.text("qdisc_opts");
        let is_squashed = self.is_download && self.sqm.text("squash_ingress") != "0";
        let (tins, nat) = match self.script.name.as_str() {
            "piece_of_cake.qos" => ("besteffort ", "nat "),
            "layer_cake.qos" => (if is_squashed { "diffserv3 besteffort " } else { "diffserv3 " }, "nat "),
            "simple.qos" => (if is_squashed { "besteffort " } else { "" }, ""),
            _ => ("besteffort ", ""),
        };
        let is_told = more.split_whitespace().any(|word| matches!(word, "nat" | "nonat"));
        let note = "The scripts add nat to cake since 2024; those of 1.6.0 do not.";
        if !nat.is_empty() && !is_told && !lines.notes.iter().any(|known| known == note) {
            lines.notes.push(note.to_owned());
        }
        format!("{nat}{tins}{more}")
    }

    /// The queue below a shaper, without the words that are handed on.
    fn leaf(&self, lines: &mut Lines) -> String {
        let qdisc = self.script.qdisc.as_str();
        let has_codel = qdisc.ends_with("codel") || qdisc.ends_with("pie");
        let limit = match (self.text("limit"), qdisc) {
            ("", "bfifo") => format!(" limit {}", LIMIT * MTU),
            ("", "pfifo_fast" | "sfq" | "pfifo") => format!(" limit {LIMIT}"),
            ("", _) if has_codel => format!(" limit {LIMIT}"),
            ("", _) => String::new(),
            (limit, _) => format!(" limit {limit}"),
        };
        let marks = match self.text("ecn").to_ascii_uppercase().as_str() {
            _ if !has_codel && !qdisc.ends_with("red") => "",
            "" | "ECN" => " ecn",
            "NOECN" => " noecn",
            _ => "",
        };
        let target = if has_codel { self.target(lines) } else { String::new() };
        format!("{qdisc}{limit}{target}{marks}")
    }

    /// The target that is told with its unit, or made for the rate: a packet in 33 cells, and 5 ms
    /// at least (`get_target`).
    fn target(&self, lines: &mut Lines) -> String {
        const CELLS_US_KBIT: u64 = 33 * 53 * 8 * 1_000;
        let told = self.text("target");
        let digits: String = told.chars().take_while(char::is_ascii_digit).collect();
        let unit: String = told.chars().rev().take_while(char::is_ascii_alphabetic).collect();
        let unit: String = unit.chars().rev().collect();
        let qdisc = self.script.qdisc.as_str();
        match (digits.as_str(), unit.as_str()) {
            ("", "") | (_, "auto" | "Auto" | "AUTO") if qdisc == "fq_pie" => {
                lines
                    .notes
                    .push("The scripts make no target for fq_pie, and tc refuses their line: take another queue.".to_owned());
                String::new()
            }
            ("", "") | (_, "auto" | "Auto" | "AUTO") => {
                let micros = (CELLS_US_KBIT / self.kbit.max(1)).max(5_000);
                let interval = if qdisc.ends_with("codel") { format!(" interval {}us", 95_000 + micros) } else { String::new() };
                format!(" target {micros}us{interval}")
            }
            (_, "default" | "Default" | "DEFAULT") => String::new(),
            (digits, "s" | "sec" | "secs" | "ms" | "msec" | "msecs" | "us" | "usec" | "usecs") if !digits.is_empty() => {
                format!(" target {digits}{unit}")
            }
            _ => {
                let key = if self.is_download { "itarget" } else { "etarget" };
                lines.notes.push(format!("{key} {} is no time with a unit: the scripts leave it out.", excerpt(told)));
                String::new()
            }
        }
    }
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
