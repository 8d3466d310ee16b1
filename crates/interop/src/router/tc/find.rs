//! The shaper and queue of each interface: a rate and a queue in our words.

use super::{Discipline, Role, Setting, TcError};
use crate::router::dialect::tc::{MARK_UNTOLD, TC};
use crate::router::dialect::{Form, Hold, How, Marks, Word, Write, kind};
use goodqueue_aqm::spec::{Default, KindSpec, Size, Value};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::{Bytes, Cells, Duration, Framing, Rate};

/// The shaper and queue of an interface.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The interface.
    pub dev: String,
    /// The shaper's rate, and what said so; `None`: nothing shapes.
    pub rate: Option<(Rate, String)>,
    /// The bytes that the shaper may send at once.
    pub burst: Option<Bytes>,
    /// Framing that the shaper counts for each IP packet.
    pub framing: Option<Framing>,
    /// The queue's kind.
    pub kind: &'static KindSpec,
    /// The queue's parameters, where they differ from our defaults.
    pub params: Vec<(&'static str, Value)>,
    /// Whether it marks.
    pub marks: bool,
    /// The limit that the queue was given.
    pub limit: Option<Size>,
    /// The limit that the kernel takes where none was given.
    pub default_limit: Size,
    /// The discipline's own name, with its handle.
    pub source: String,
    /// Settings that have no place in a scenario, in sentences.
    pub notes: Vec<String>,
}

/// Disciplines that hand packets on to others.
const PASSING: &[&str] = &["htb", "tbf", "mq", "mqprio", "hfsc", "cake_mq"];

/// Bytes of an Ethernet header, which Linux counts as part of a packet.
const ETHERNET_HEADER: i64 = 14;

/// More bytes than these are no framing.
const MAX_FRAMING: i64 = 10_000;

/// The framing that Linux counts for a packet on Ethernet by default.
const LINUX_COUNTS: Framing = Framing::header(Bytes::new(ETHERNET_HEADER as u64));

const FULL_PACKET: Bytes = Bytes::new(1_500);

/// Memory of cake without `memlimit`, at rates up to 1.6 Gbit/s with a target of 5 ms
/// (net/sched/sch_cake.c).
const CAKE_MEMORY: f64 = 4_194_304.0;

/// The limits that the kernel takes when none is given (the files of net/sched/).
const DEFAULT_LIMITS: &[(&str, Size)] = &[
    ("codel", Size::Packets(1_000.0)),
    ("fq_codel", Size::Packets(10_240.0)),
    ("pie", Size::Packets(1_000.0)),
    ("fq_pie", Size::Packets(10_240.0)),
    ("dualpi2", Size::Packets(10_000.0)),
    ("cake", Size::Bytes(CAKE_MEMORY)),
    // The interface's txqueuelen, 1000 unless changed.
    ("pfifo", Size::Packets(1_000.0)),
    ("pfifo_fast", Size::Packets(1_000.0)),
    ("bfifo", Size::Bytes(1_000.0 * 1_514.0)),
    ("sfb", Size::Packets(1_000.0)),
];

/// One finding for each interface that has a queue we have words for.
///
/// # Errors
/// The first interface whose queue we have no words for.
pub fn findings(all: &[Discipline]) -> Result<Vec<Finding>, TcError> {
    let mut devices: Vec<&str> = Vec::new();
    for found in all.iter().filter(|found| found.role == Role::Qdisc) {
        if !devices.contains(&found.dev.as_str()) {
            devices.push(&found.dev);
        }
    }
    let classes = || all.iter().filter(|found| found.role == Role::Class && found.dev.is_empty());
    if let Some(class) = classes().find(|class| classes().any(|other| other.handle == class.handle && other != *class)) {
        return Err(TcError::Classes { handle: excerpt(&class.handle) });
    }
    let mut findings = Vec::new();
    for dev in devices {
        let here: Vec<&Discipline> = all.iter().filter(|found| found.dev == dev).collect();
        findings.extend(finding(dev, &here, all)?);
    }
    Ok(findings)
}

fn finding(dev: &str, here: &[&Discipline], all: &[Discipline]) -> Result<Option<Finding>, TcError> {
    let is_root = |found: &&&Discipline| {
        found.role == Role::Qdisc && found.parent.is_none() && !matches!(found.kind.as_str(), "ingress" | "clsact" | "noqueue")
    };
    let Some(root) = here.iter().rev().find(is_root) else { return Ok(None) };
    let mut shaper = Shaper::default();
    let mut queue = *root;
    // A chain of disciplines is short; a loop in a hostile file ends, too.
    for _ in 0..8 {
        shaper.take(queue);
        if !PASSING.contains(&queue.kind.as_str()) {
            break;
        }
        let Some(next) = child(queue, here, all, &mut shaper) else { break };
        queue = next;
    }
    let mut finding = recognize(dev, queue)?;
    if queue.kind == "tbf" && finding.limit.is_none() {
        finding.limit = limit_of_latency(queue)?;
    }
    finding.rate = shaper.rate;
    finding.burst = shaper.burst;
    finding.framing = shaper.framing;
    finding.notes.extend(shaper.notes);
    Ok(Some(finding))
}

/// The discipline that most packets of `outer` go to.
fn child<'a>(outer: &Discipline, here: &[&'a Discipline], all: &[Discipline], shaper: &mut Shaper) -> Option<&'a Discipline> {
    let major = major(&outer.handle);
    let below = |found: &&&Discipline| {
        found.role == Role::Qdisc && found.parent.as_deref().is_some_and(|parent| self::major(parent) == major)
    };
    let children: Vec<&Discipline> = here.iter().filter(below).copied().collect();
    let default = outer.option("default").map(|setting| minor(&setting.text()));
    let is_default = |found: &&&Discipline| {
        default.is_some_and(|default| {
            found.parent.as_deref().and_then(|parent| parent.split(':').nth(1)).map(minor) == Some(default)
        })
    };
    let chosen = children.iter().find(is_default).or(children.first()).copied()?;
    if outer.kind == "htb" {
        let class = all.iter().find(|class| {
            class.role == Role::Class
                && class.kind == "htb"
                && Some(&class.handle) == chosen.parent.as_ref()
                && (class.dev.is_empty() || class.dev == outer.dev)
        });
        match class {
            Some(class) => shaper.take(class),
            None => shaper
                .notes
                .push(format!("The rate is that of class {}: tc class show prints it.", chosen.parent.as_deref().unwrap_or("?"))),
        }
    }
    if children.len() > 1 {
        shaper.notes.push(format!(
            "{} {} has {} queues; this is {} {}.",
            outer.kind,
            outer.handle,
            children.len(),
            chosen.kind,
            chosen.handle
        ));
    }
    Some(chosen)
}

/// The major number of a handle; `tc` leaves out that of disciplines that the kernel made, which
/// is 0.
pub(crate) fn major(handle: &str) -> &str {
    handle.split(':').next().filter(|major| !major.is_empty()).unwrap_or("0")
}

/// The minor number of a class; `tc` writes them in base 16.
fn minor(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default()
}

/// The settings of the shapers on the way to a queue.
#[derive(Default)]
struct Shaper {
    rate: Option<(Rate, String)>,
    burst: Option<Bytes>,
    framing: Option<Framing>,
    notes: Vec<String>,
}

impl Shaper {
    fn take(&mut self, found: &Discipline) {
        let framing = match found.kind.as_str() {
            "cake" | "cake_mq" => cake_framing(found),
            _ => stab_framing(found),
        };
        self.framing = framing.or(self.framing);
        let keys: &[&str] = match (found.kind.as_str(), found.role) {
            ("htb", Role::Class) => &["ceil", "rate"],
            ("tbf", Role::Qdisc) => &["rate"],
            ("cake" | "cake_mq", Role::Qdisc) => &["bandwidth"],
            _ => &[],
        };
        let said = keys.iter().find_map(|key| Some((*key, found.option(key)?.bit_s()?)));
        if let Some((key, bits)) = said.filter(|(_, bits)| (1.0..=1e13).contains(bits)) {
            self.rate =
                Some((Rate::bit_s(bits.round() as u64), format!("{key} of {} {} at {}", found.kind, found.handle, found.dev)));
            self.burst = match found.kind.as_str() {
                // After a pause cake sends one packet at once and then waits for as long as it
                // takes.
                "cake" | "cake_mq" => Some(self.framing.unwrap_or(LINUX_COUNTS).wire(FULL_PACKET)),
                // tbf prints buckets as the time they last, in ticks, which costs a byte.
                _ => found.option("burst").and_then(Setting::bytes).map(|bytes| Bytes::new(bytes.ceil() as u64)),
            };
        }
    }
}

/// The limit of a tbf that was given as the time that a packet may wait: `tc` makes bytes of it,
/// and prints it as `lat` again. Its burst comes on top, which leaves without waiting; a peak rate
/// has a bucket of its own, and the lesser limit holds.
fn limit_of_latency(tbf: &Discipline) -> Result<Option<Size>, TcError> {
    let first = |keys: &[&'static str]| keys.iter().find_map(|key| Some((*key, tbf.option(key)?)));
    let Some((key, setting)) = first(&["lat", "latency"]) else { return Ok(None) };
    let held = |rate: &'static str, bucket: &[&'static str]| {
        let bit_s = tbf.option(rate)?.bit_s()?;
        let burst = first(bucket).and_then(|(_, setting)| setting.bytes()).unwrap_or_default();
        Some(bit_s / 8.0 * setting.micros()? / 1e6 + burst)
    };
    let buckets: [(_, &[_]); 2] = [("rate", &["burst", "buffer", "maxburst"]), ("peakrate", &["mtu", "minburst"])];
    let least = buckets.iter().filter_map(|(rate, bucket)| held(rate, bucket)).min_by(f64::total_cmp);
    match least.filter(|bytes| (1.0..=1e12).contains(bytes)) {
        Some(bytes) => Ok(Some(Size::Bytes(bytes.round()))),
        None if tbf.option("rate").and_then(Setting::bit_s).is_none() => Ok(None),
        None => Err(TcError::Value { owner: self_source(tbf), key: key.to_owned(), value: excerpt(&setting.text()) }),
    }
}

/// Returns the framing from cake's options: keywords one after the other, then numbers; `None`
/// where it counts packets as Linux does.
fn cake_framing(found: &Discipline) -> Option<Framing> {
    let keywords = Framing::KEYWORDS.map(|(name, _)| name);
    let words: Vec<&str> = found
        .options
        .iter()
        .filter(|(key, setting)| *setting == Setting::Flag && keywords.contains(&key.as_str()))
        .map(|(key, _)| key.as_str())
        .collect();
    let bytes = |key: &str| number(found, key, 0);
    let overhead = bytes("overhead");
    if found.option("raw").is_some() || (words.is_empty() && overhead.is_none()) {
        return None;
    }
    let mut framing = Framing::named(&words.join(" ")).unwrap_or_default();
    framing.overhead = overhead.unwrap_or(framing.overhead);
    framing.mpu = bytes("mpu").unwrap_or(framing.mpu);
    for (word, cells) in Cells::WORDS {
        if found.option(word).is_some() || (cells == Cells::None && found.option("noatm").is_some()) {
            framing.cells = cells;
        }
    }
    Some(framing)
}

/// Returns the framing from a table of sizes: its overhead comes on top of an Ethernet header.
fn stab_framing(found: &Discipline) -> Option<Framing> {
    let overhead = number(found, "stab overhead", ETHERNET_HEADER);
    let linklayer = found.option("stab linklayer").map(Setting::text);
    let is_said = overhead.is_some() || found.option("stab mpu").is_some() || linklayer.is_some();
    is_said.then(|| Framing {
        overhead: overhead.unwrap_or(Bytes::new(ETHERNET_HEADER as u64)),
        mpu: number(found, "stab mpu", 0).unwrap_or_default(),
        cells: if matches!(linklayer.as_deref(), Some("atm" | "adsl")) { Cells::Atm } else { Cells::None },
    })
}

/// A number of bytes of an option, with `more` on top.
fn number(found: &Discipline, key: &str, more: i64) -> Option<Bytes> {
    let bytes = found.option(key)?.number()?;
    let sum = (bytes.is_finite() && bytes.abs() <= MAX_FRAMING as f64).then_some(bytes as i64 + more)?;
    u64::try_from(sum).ok().map(Bytes::new)
}

fn recognize(dev: &str, found: &Discipline) -> Result<Finding, TcError> {
    let word = match found.kind.as_str() {
        "pfifo_fast" => "pfifo",
        // Without one below it, tbf has a byte limit of its own.
        "tbf" => "bfifo",
        "cake_mq" => "cake",
        word => word,
    };
    let Some(form) = TC.forms.iter().find(|form| form.word == word) else {
        let known: Vec<&str> = TC.forms.iter().map(|form| form.word).collect();
        return Err(TcError::Unknown { kind: excerpt(&found.kind), dev: dev.to_owned(), known: known.join(", ") });
    };
    let ours = kind(form.kind);
    let mut finding = Finding {
        dev: dev.to_owned(),
        rate: None,
        burst: None,
        framing: None,
        kind: ours,
        params: Vec::new(),
        marks: !found.is_whole && MARK_UNTOLD.contains(&word) || form.marks == Marks::Always,
        limit: None,
        default_limit: DEFAULT_LIMITS.iter().find(|(kind, _)| *kind == found.kind).map_or(Size::Packets(1_000.0), |row| row.1),
        source: format!("{} {} at {dev}", found.kind, found.handle),
        notes: Vec::new(),
    };
    for word in form.rows() {
        if let How::Only(Some(value)) = word.how {
            finding.put(word.param, value);
        }
    }
    for (key, setting) in &found.options {
        if !finding.understand(form, found, key, setting)? {
            finding
                .notes
                .push(format!("{} {} of {} is not in the scenario.", key, setting.text(), found.kind).replace("  ", " "));
        }
    }
    if form.kind == "red" {
        finding.thresholds(found);
    }
    if let Some(interval) = finding.params.iter().find(|(name, _)| *name == "interval").map(|(_, value)| *value)
        && form.kind == "cake"
        && let Value::Duration(interval) = interval
    {
        finding.params.push(("target", Value::Duration(Duration::ns(interval.as_nanos() / 20))));
    }
    // In the order of the kind's description, whatever the order of the options was.
    let place = |name: &str| ours.params.iter().position(|param| param.name == name);
    finding.params.sort_by_key(|(name, _)| place(name));
    Ok(finding)
}

/// Options that say nothing of the queue: those of shapers are read elsewhere.
const ELSEWHERE: &[&str] = &[
    "bandwidth",
    "unlimited",
    "overhead",
    "raw",
    "mpu",
    "noatm",
    "atm",
    "ptm",
    "rate",
    "burst",
    "lat",
    "latency",
    "stab overhead",
    "stab linklayer",
    "stab mpu",
    "stab mtu",
    "stab tsize",
    "r2q",
    "default",
    "direct_packets_stat",
    "direct_qlen",
    "bands",
    "priomap",
    "min",
    "max",
    "avpkt",
    "ewma",
    "Scell_log",
    "nonat",
    "nowash",
    "split-gso",
    "split_gso",
    "limit_at",
    "linklayer",
];

impl Finding {
    /// Takes over one option. `false` when a scenario has no place for it.
    fn understand(&mut self, form: &'static Form, found: &Discipline, key: &str, setting: &Setting) -> Result<bool, TcError> {
        let wrong = || TcError::Value { owner: self_source(found), key: key.to_owned(), value: excerpt(&setting.text()) };
        match form.limit {
            Hold::Packets(limit) if limit == key => {
                let packets = setting.number().filter(|number| (1.0..=1e9).contains(number)).ok_or_else(wrong)?;
                self.limit = Some(Size::Packets(packets.trunc()));
                return Ok(true);
            }
            Hold::Bytes(limit) | Hold::Needed(limit) if limit == key => {
                let bytes = setting.bytes().filter(|bytes| (1.0..=1e12).contains(bytes)).ok_or_else(wrong)?;
                self.limit = Some(Size::Bytes(bytes.trunc()));
                return Ok(true);
            }
            Hold::Packets(_) | Hold::Bytes(_) | Hold::Needed(_) | Hold::Unsaid => {}
        }
        if form.marks == Marks::Flag("ecn") && key == "ecn" {
            self.marks = true;
            return Ok(true);
        }
        if let Marks::Flags { on, off } = form.marks
            && (key == on || key == off)
        {
            self.marks = key == on;
            return Ok(true);
        }
        for word in form.rows() {
            if let Some(value) = word.read(self.kind, key, setting).map_err(|()| wrong())? {
                self.put(word.param, value);
                return Ok(true);
            }
        }
        let is_framing = *setting == Setting::Flag && Framing::KEYWORDS.iter().any(|(name, _)| *name == key);
        Ok(is_framing || ELSEWHERE.contains(&key))
    }

    /// Takes the thresholds and bursts of RED that `tc` reports or was given.
    fn thresholds(&mut self, found: &Discipline) {
        let bytes = |key: &str| found.option(key).and_then(Setting::bytes).filter(|bytes| (0.0..=1e9).contains(bytes));
        for (key, name) in [("min", "min_th"), ("max", "max_th")] {
            if let Some(bytes) = bytes(key) {
                self.put(name, Value::Size(Size::Bytes(bytes)));
            }
        }
        // The kernel prints the logarithm; a command has the burst that it follows from.
        let told = || {
            let (min, burst, packet) = (bytes("min")?, found.option("burst")?.number()?, bytes("avpkt")?);
            crate::router::dialect::tc::red::weight_log(min, burst as u32, packet.max(1.0))
        };
        let log = found.option("ewma").and_then(Setting::number).map(|log| log as u32).or_else(told);
        if let Some(log) = log.filter(|log| (1..32).contains(log)) {
            self.put("w_q", Value::Number(1.0 / (1u64 << log) as f64));
        }
    }

    fn put(&mut self, name: &'static str, value: Value) {
        let default = self.kind.param(name).map(|param| param.default);
        self.params.retain(|(known, _)| *known != name);
        if default != Some(Default::Value(value)) {
            self.params.push((name, value));
        }
    }
}

fn self_source(found: &Discipline) -> String {
    format!("{} {}", excerpt(&found.kind), excerpt(&found.handle))
}

impl Word {
    /// Our value for an option, if it is this word.
    fn read(&self, kind: &'static KindSpec, key: &str, setting: &Setting) -> Result<Option<Value>, ()> {
        let ours = |pairs: &'static [(&'static str, &'static str)]| {
            pairs.iter().find(|(_, theirs)| *theirs == key).map(|(ours, _)| *ours)
        };
        Ok(match self.how {
            How::Key(known, write) if known == key => {
                let Some(param) = kind.param(self.param) else { return Ok(None) };
                let value = write.read(setting, param.unit).ok_or(())?;
                param.check(value).map_err(|_| ())?;
                Some(value)
            }
            How::Flags(pairs) if *setting == Setting::Flag => ours(pairs).map(Value::Choice),
            How::Switch { on, off } if key == on || key == off => Some(Value::Switch(key == on)),
            How::Key(..)
            | How::Flags(_)
            | How::Switch { .. }
            | How::Choice(..)
            | How::Only(_)
            | How::Derived(_)
            | How::Together(_)
            | How::Model => None,
        })
    }
}

impl Write {
    /// The value that `tc` writes so.
    fn read(self, setting: &Setting, unit: goodqueue_aqm::spec::Unit) -> Option<Value> {
        use goodqueue_aqm::spec::Unit;
        let positive = |number: f64| (0.0..1e15).contains(&number).then_some(number);
        Some(match self {
            Self::Time => {
                let micros = positive(setting.micros()?)?;
                let micros = if matches!(setting, Setting::Number(_)) { unrounded(micros as u64) as f64 } else { micros };
                Value::Duration(Duration::ns((micros * 1e3).round() as u64))
            }
            // A command has a bare number of milliseconds; the kernel's are printed in
            // microseconds, or with their unit.
            Self::Millis => Value::Duration(match (setting, setting.number()) {
                (Setting::Text(_), Some(millis)) => Duration::ms(positive(millis)? as u64),
                _ => Duration::us(positive(setting.micros()?)? as u64),
            }),
            Self::Bytes if unit == Unit::Bytes => Value::Bytes(Bytes::new(positive(setting.bytes()?)? as u64)),
            Self::Bytes => Value::Size(Size::Bytes(positive(setting.bytes()?)?)),
            Self::Number => Value::Number(setting.number()?),
            Self::Whole(factor) => Value::Number(setting.number()? / factor),
            Self::Switch => return None,
        })
    }
}

/// The time that a person gave. CoDel keeps times in units of 1024 ns, so that 5 ms are printed as
/// 4999 us; the roundest time that is printed so is meant.
fn unrounded(printed: u64) -> u64 {
    let kept = |micros: u64| ((micros.saturating_mul(1000) >> 10) << 10) / 1000;
    [1_000_000, 100_000, 10_000, 1_000, 100, 10]
        .into_iter()
        .map(|step| printed.div_ceil(step) * step)
        .find(|&micros| micros == printed || kept(micros) == printed)
        .unwrap_or(printed)
}
