//! A queue discipline that keeps packets, in our words.

use super::options::MEMORY_IN_FORCE;
use super::words::{RTTS, like};
use super::{Discipline, Setting, TcError};
use crate::router::dialect::tc::{MARK_UNTOLD, TC, red};
use crate::router::dialect::{Form, Hold, How, Marks, Word, Write, kind};
use goodqueue_aqm::spec::{Default, KindSpec, Size, Value};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::{Bytes, Duration, Framing};

/// A queue in our words.
#[derive(Clone, Debug)]
pub(super) struct Recognized {
    pub kind: &'static KindSpec,
    /// The parameters, where they differ from our defaults.
    pub params: Vec<(&'static str, Value)>,
    pub marks: bool,
    /// The limit that it was given.
    pub limit: Option<Size>,
    /// The limit that holds where none was given.
    pub untold_limit: Untold,
    /// The discipline's own name, with its handle.
    pub source: String,
    /// Settings that have no place in a scenario, in sentences.
    pub notes: Vec<String>,
}

/// The limit of a queue that was given none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Untold {
    /// The one that the kernel reports.
    Reported(Size),
    /// The one that the kernel takes by default.
    Usual(Size),
    /// The file leaves out what tells it; this one is as good as any.
    Unknown(Size),
}

/// The limits that the kernel takes when none is given (the files of net/sched/).
const DEFAULT_LIMITS: &[(&str, Size)] = &[
    ("codel", Size::Packets(1_000.0)),
    ("fq_codel", Size::Packets(10_240.0)),
    ("pie", Size::Packets(1_000.0)),
    ("fq_pie", Size::Packets(10_240.0)),
    ("dualpi2", Size::Packets(10_000.0)),
    // The interface's txqueuelen, 1000 unless changed.
    ("pfifo", Size::Packets(1_000.0)),
    ("pfifo_fast", Size::Packets(1_000.0)),
    ("bfifo", Size::Bytes(1_000.0 * 1_514.0)),
    ("sfb", Size::Packets(1_000.0)),
];
/// The fifo that a shaper has below a class without a discipline: of the interface's queue length.
pub(super) fn fifo(shaper: &Discipline, source: String) -> Recognized {
    let length = shaper.option("direct_qlen").and_then(Setting::number).filter(|length| (1.0..=1e9).contains(length));
    let (size, notes) = (Size::Packets(length.unwrap_or(1_000.0)), Vec::new());
    let untold_limit = if length.is_some() { Untold::Reported(size) } else { Untold::Usual(size) };
    Recognized { kind: kind("tail-drop"), params: Vec::new(), marks: false, limit: None, untold_limit, source, notes }
}

/// The limit of cake that was given none: the bytes of four times `rtt` at its rate, 4 MiB at
/// least, and 10240 full packets at most and without a rate (net/sched/sch_cake.c).
fn cake_limit(found: &Discipline, rtt: f64) -> Untold {
    const LEAST: f64 = 4_194_304.0;
    const MOST: f64 = 10_240.0 * 1_514.0;
    if let Some(memory) = found.option(MEMORY_IN_FORCE).and_then(Setting::bytes).filter(|bytes| (1.0..=1e12).contains(bytes)) {
        return Untold::Reported(Size::Bytes(memory.trunc()));
    }
    let rate = found.option("bandwidth").and_then(Setting::bit_s).filter(|bits| *bits > 0.0);
    Untold::Usual(Size::Bytes(rate.map_or(MOST, |bits| (bits / 8.0 * rtt * 4.0).trunc().clamp(LEAST, MOST))))
}

/// Reads a discipline's kind and options.
pub(super) fn recognize(dev: &str, found: &Discipline) -> Result<Recognized, TcError> {
    let word = match found.kind.as_str() {
        // Without one below it, tbf has a byte limit of its own.
        "tbf" => "bfifo",
        word => like(word),
    };
    let Some(form) = TC.forms.iter().find(|form| form.word == word) else {
        let mut known: Vec<&str> = TC.forms.iter().map(|form| form.word).collect();
        known.dedup();
        return Err(TcError::Unknown { kind: excerpt(&found.kind), dev: dev.to_owned(), known: known.join(", ") });
    };
    if found.options.iter().any(|(key, _)| key.starts_with("[Unknown")) {
        return Err(TcError::Unprinted { kind: excerpt(&found.kind), dev: dev.to_owned() });
    }
    let ours = kind(form.kind);
    let usual = DEFAULT_LIMITS.iter().find(|(kind, _)| *kind == found.kind).map_or(Size::Packets(1_000.0), |row| row.1);
    let mut finding = Recognized {
        kind: ours,
        params: Vec::new(),
        marks: !found.is_whole && MARK_UNTOLD.contains(&word) || form.marks == Marks::Always,
        limit: None,
        untold_limit: Untold::Usual(usual),
        source: found.placed(&found.name()),
        notes: Vec::new(),
    };
    for word in form.rows() {
        if let How::Only(Some(value)) = word.how {
            finding.put(word.param, value);
        }
    }
    for (key, setting) in &found.options {
        if !finding.understand(form, found, key, setting)? && found.kind != "netem" {
            finding.notes.push(found.left_out(key, setting));
        }
    }
    if form.kind == "red" {
        finding.thresholds(found);
    }
    if form.kind == "cake" {
        finding.follow_rtt(found);
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
    MEMORY_IN_FORCE,
    "rate",
    "burst",
    "buffer",
    "maxburst",
    "peakrate",
    "minburst",
    "mtu",
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
    "Plog",
    "nowash",
    "split-gso",
    "split_gso",
    "limit_at",
    "linklayer",
    "multiqueue",
];

impl Recognized {
    /// Takes over one option. `false` when a scenario has no place for it.
    fn understand(&mut self, form: &'static Form, found: &Discipline, key: &str, setting: &Setting) -> Result<bool, TcError> {
        let wrong = || found.wrong(key, &setting.text());
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
        let rtt = RTTS.iter().find(|(name, _)| form.kind == "cake" && *name == key);
        if let Some((_, micros)) = rtt {
            let interval = Value::Duration(Duration::us(*micros));
            if self.kind.param("interval").is_some_and(|param| param.check(interval).is_err()) {
                return Err(found.wrong("rtt", key));
            }
            self.put("interval", interval);
            return Ok(true);
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
            // A step may count packets, which no time of ours stands for.
            if matches!(word.how, How::Key(known, Write::Time) if known == key) && setting.is_in_packets() {
                return Ok(false);
            }
            if let Some(value) = word.read(self.kind, found, key, setting).map_err(|()| wrong())? {
                self.put(word.param, value);
                return Ok(true);
            }
        }
        let is_framing = *setting == Setting::Flag && Framing::KEYWORDS.iter().any(|(name, _)| *name == key);
        Ok(is_framing || ELSEWHERE.contains(&key))
    }

    /// Takes cake's target, a twentieth of its `rtt` but a microsecond at least, and its memory.
    fn follow_rtt(&mut self, found: &Discipline) {
        let interval = self.params.iter().find(|(name, _)| *name == "interval").map(|(_, value)| *value);
        let mut seconds = 0.1;
        if let Some(Value::Duration(interval)) = interval {
            seconds = interval.as_nanos() as f64 / 1e9;
            self.params.push(("target", Value::Duration(Duration::ns((interval.as_nanos() / 20).max(1_000)))));
        }
        self.untold_limit = cake_limit(found, seconds);
    }

    /// Takes the thresholds, the weight and the probability of RED: those that are told, or that
    /// `tc` makes of the rest (tc/q_red.c).
    fn thresholds(&mut self, found: &Discipline) {
        let bytes = |key: &str| found.option(key).and_then(Setting::bytes).filter(|bytes| (1.0..=1e9).contains(bytes));
        let (mut min, mut max) = (bytes("min"), bytes("max"));
        if !found.is_whole {
            max = max.or(min.map(|min| min * 3.0)).or(bytes("limit").map(|limit| (limit / 4.0).floor()));
            min = min.or(max.map(|max| (max / 3.0).floor()));
        }
        for (name, bytes) in [("min_th", min), ("max_th", max)] {
            if let Some(bytes) = bytes {
                self.put(name, Value::Size(Size::Bytes(bytes)));
            }
        }
        // The kernel prints the logarithm; a command has the burst that it follows from.
        let told = || {
            let (min, max, packet) = (min?, max?, bytes("avpkt")?);
            let usual = || ((2.0 * min + max) / (3.0 * packet)).floor();
            let burst = found.option("burst").and_then(Setting::number).unwrap_or_else(usual);
            red::weight_log(min, burst as u32, packet)
        };
        let log = found.option("ewma").and_then(Setting::number).map(|log| log as u32).or_else(told);
        match log.filter(|log| (1..32).contains(log)) {
            Some(log) => self.put("w_q", Value::Number(1.0 / (1u64 << log) as f64)),
            None if found.is_whole => self.notes.push("The weight of red is not known: tc -d prints it as ewma.".to_owned()),
            None => self.notes.push("tc finds no weight for red with these thresholds, and refuses the line.".to_owned()),
        }
        // tc up to 3.2 prints the logarithm of the step of a byte.
        let plog = found.option("Plog").and_then(Setting::number).filter(|log| (0.0..64.0).contains(log));
        if let (Some(plog), Some(min), Some(max)) = (plog, min, max) {
            self.put("max_p", Value::Number(((max - min).max(1.0) / plog.exp2()).clamp(1e-6, 1.0)));
        } else if found.option("probability").is_none() {
            self.put("max_p", Value::Number(0.02));
            if found.is_whole {
                self.notes.push("max_p 0.02 of red is assumed, what tc takes untold: tc -d prints it as probability.".to_owned());
            }
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

impl Word {
    /// Our value for an option, if it is this word.
    fn read(&self, kind: &'static KindSpec, found: &Discipline, key: &str, setting: &Setting) -> Result<Option<Value>, ()> {
        let ours = |pairs: &'static [(&'static str, &'static str)]| {
            pairs.iter().find(|(_, theirs)| *theirs == key).map(|(ours, _)| *ours)
        };
        Ok(match self.how {
            How::Key(known, write) if known == key => {
                let Some(param) = kind.param(self.param) else { return Ok(None) };
                let value = write.read(found, setting, param.unit).ok_or(())?;
                param.check(value).map_err(|_| ())?;
                Some(value)
            }
            How::Flags(pairs) if *setting == Setting::Flag => ours(pairs).map(Value::Choice),
            How::Switch { on, off } if key == on || key == off => Some(Value::Switch(key == on)),
            How::Switch { on, .. } if key.strip_prefix("no") == Some(on) => Some(Value::Switch(false)),
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
    fn read(self, found: &Discipline, setting: &Setting, unit: goodqueue_aqm::spec::Unit) -> Option<Value> {
        use goodqueue_aqm::spec::Unit;
        let positive = |number: f64| (0.0..1e15).contains(&number).then_some(number);
        Some(match self {
            Self::Time => {
                let micros = positive(setting.micros()?)?;
                // A kernel has kept what it prints in units of its own; a command is as written.
                let is_kept = found.is_whole && (matches!(setting, Setting::Number(_)) || setting.text().ends_with("us"));
                let micros = if is_kept && micros.fract() == 0.0 { unrounded(micros as u64) as f64 } else { micros };
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
