//! Comparing queues: a scenario from a few settings, and names for the points of a sweep.

mod labels;

pub use labels::{Labels, Split};

use crate::limits::{FASTEST, LONGEST, LONGEST_DELAY};
use crate::quantity::{self, Limits};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{Chosen, KindSpec};
use goodqueue_spec::nearest;
use goodqueue_units::{Duration, Rate};
use std::fmt::Write as _;

const RATES: Limits<Rate> = Limits::new(Rate::bit_s(1), FASTEST);
/// Half a round trip each way.
const RTTS: Limits<Duration> = Limits::new(Duration::ZERO, Duration::ns(2 * LONGEST_DELAY.as_nanos()));
const WARMUPS: Limits<Duration> = Limits::new(Duration::ZERO, LONGEST);

/// The settings of `gq compare`, as users write them. Quantities are checked when the scenario is
/// read; only those from which others are derived are checked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Rate of the bottleneck, or a recording of it.
    pub line: Line,
    /// Round-trip time without queueing.
    pub rtt: String,
    /// Buffer of the bottleneck.
    pub buffer: String,
    /// Bulk flows.
    pub flows: u32,
    /// Their congestion control, `kind` or `kind:parameter=value:parameter=value`.
    pub cc: String,
    /// Queues to compare, each `kind` or `kind:parameter=value:parameter=value`. A kind that
    /// contains another algorithm is followed by that algorithm and its parameters:
    /// `fair:flows=64:pie:target=10ms`.
    pub aqm: Vec<String>,
    /// Whether queues drop, or mark where they can.
    pub signal: Signal,
    /// Time before measuring begins.
    pub warmup: String,
    /// The measured part.
    pub duration: String,
    /// Independent repetitions.
    pub replications: u32,
    /// Root of all randomness.
    pub seed: u64,
}

/// The bottleneck's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A constant rate, the same in both directions.
    Rate(String),
    /// Recorded delivery opportunities, as paths of files.
    Trace {
        /// Direction of the data.
        down: String,
        /// Return direction; `None` if it is never the bottleneck.
        up: Option<String>,
    },
}

/// How queues tell senders to slow down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// By dropping.
    Drop,
    /// By marking (ECN), in queues that can.
    Mark,
}

/// A setting of a [`Comparison`] from which no scenario can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}: {message}")]
pub struct ComparisonError {
    /// The option on the command line.
    pub option: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl Comparison {
    /// The queues compared when none are named.
    pub const USUAL: &[&str] = &["tail-drop", "red", "codel", "pie", "cp-aqm", "fq-codel"];

    /// The line and its traffic in a few words.
    fn title(&self) -> String {
        let line = match &self.line {
            Line::Rate(rate) => rate.as_str(),
            Line::Trace { down, .. } => down.rsplit('/').next().unwrap_or(down),
        };
        let flows = if self.flows == 1 { "flow" } else { "flows" };
        format!("{line}, RTT {}, buffer {}, {} {} {flows}", self.rtt, self.buffer, self.flows, self.cc)
    }

    /// The scenario as TOML text.
    ///
    /// # Errors
    /// When a quantity that others are worked out from cannot be read, or no queue is named.
    pub fn scenario(&self) -> Result<String, ComparisonError> {
        let refuse = |option, error: quantity::QuantityError| ComparisonError {
            option,
            message: match error.help {
                Some(help) => format!("{}; {help}", error.message),
                None => error.message,
            },
        };
        let rtt = quantity::duration_within(&self.rtt, RTTS).map_err(|error| refuse("--rtt", error))?;
        let warmup = quantity::duration_within(&self.warmup, WARMUPS).map_err(|error| refuse("--warmup", error))?;
        let (rate, access) = match &self.line {
            Line::Rate(text) => {
                let rate = quantity::rate_within(text, RATES).map_err(|error| refuse("--rate", error))?;
                (format!("rate = {}\n", quoted(text)), Rate::bit_s(rate.as_bit_s().saturating_mul(10)).max(Rate::gbit(1)))
            }
            Line::Trace { down, up } => {
                let mut lines = format!("rate = {{ trace = {} }}\n", quoted(down));
                if let Some(up) = up {
                    let _ = writeln!(lines, "rate_up = {{ trace = {} }}", quoted(up));
                    let _ = writeln!(lines, "buffer_up = {}", quoted(&self.buffer));
                }
                (lines, Rate::gbit(1))
            }
        };
        let queues = self.queues()?;
        // Flows that start together stay synchronised for long, so their starts are spread, but
        // well within the warm-up.
        let spread = Duration::ns((warmup.as_nanos() / 2).min(5_000_000_000));
        let back = Duration::ns(rtt.as_nanos() / 2);
        let there = rtt.saturating_sub(back);
        let title = quoted(&self.title());
        let Self { buffer, flows, duration, warmup, replications, seed, .. } = self;
        Ok(format!(
            "# Made by gq compare.\n\
             goodqueue = 1\n\
             name = {title}\n\
             warmup = {warmup}\n\
             duration = {duration}\n\
             replications = {replications}\n\
             seed = {seed}\n\n\
             [access]\n\
             rate = \"{access} bit/s\"\n\
             delay = \"0 s\"\n\n\
             [link.bottleneck]\n\
             {rate}\
             delay = \"{there} ns\"\n\
             delay_up = \"{back} ns\"\n\
             buffer = {buffer}\n\n\
             [[traffic]]\n\
             kind = \"bulk\"\n\
             cc = {cc}\n\
             flows = {flows}\n\
             start = \"uniform 0 s .. {spread} ns\"\n\
             {ecn}\n\
             [sweep]\n\
             \"link.bottleneck.queue\" = [\n{queues}]\n",
            access = access.as_bit_s(),
            there = there.as_nanos(),
            back = back.as_nanos(),
            spread = spread.as_nanos(),
            buffer = quoted(buffer),
            cc = self.control()?,
            warmup = quoted(warmup),
            duration = quoted(duration),
            ecn = if self.signal == Signal::Mark { "ecn = true\n" } else { "" },
        ))
    }

    /// The option that set a value of the scenario, for messages.
    #[must_use]
    pub fn option_of(field: &str) -> Option<&'static str> {
        const OPTIONS: &[(&str, &str)] = &[
            ("link.bottleneck.queue", "--aqm"),
            ("sweep", "--aqm"),
            ("link.bottleneck.rate_up", "--trace-up"),
            ("link.bottleneck.rate.trace", "--trace"),
            ("link.bottleneck.rate", "--rate"),
            ("access.rate", "--rate"),
            ("link.bottleneck.delay", "--rtt"),
            ("link.bottleneck.buffer", "--buffer"),
            ("traffic.0.cc", "--cc"),
            ("traffic.0.flows", "--flows"),
            ("traffic", "--flows"),
            ("warmup", "--warmup"),
            ("duration", "--duration"),
            ("replications", "--replications"),
            ("seed", "--seed"),
        ];
        OPTIONS.iter().find(|(prefix, _)| field.starts_with(prefix)).map(|(_, option)| *option)
    }

    fn queues(&self) -> Result<String, ComparisonError> {
        let mut lines = String::new();
        for text in &self.aqm {
            let _ = writeln!(lines, "    {},", self.queue(text)?);
        }
        if lines.is_empty() {
            return Err(ComparisonError { option: "--aqm", message: "names no queue".to_owned() });
        }
        Ok(lines)
    }

    /// The congestion control in TOML: a name, or a table with its parameters.
    fn control(&self) -> Result<String, ComparisonError> {
        let (kind, parameters) = match self.cc.split_once(':') {
            None => return Ok(quoted(&self.cc)),
            Some((kind, parameters)) => (kind, parameters),
        };
        let mut table = format!("{{ kind = {}", quoted(kind.trim()));
        for part in parameters.split(':') {
            let Some((key, value)) = part.split_once('=') else {
                let message = format!("`{}` in `{}` is not parameter=value", part.trim(), self.cc);
                return Err(ComparisonError { option: "--cc", message });
            };
            let _ = write!(table, ", {} = {}", quoted(key.trim()), value_of(value.trim()));
        }
        table.push_str(" }");
        Ok(table)
    }

    fn queue(&self, text: &str) -> Result<String, ComparisonError> {
        Self::queue_table(text, self.signal)
    }

    /// One queue, written as in [`Comparison::aqm`], as a TOML table.
    ///
    /// # Errors
    /// When it cannot be parsed as a queue. Names and values of parameters are checked when the
    /// scenario is read.
    pub fn queue_table(text: &str, signal: Signal) -> Result<String, ComparisonError> {
        let refuse = |message| Err(ComparisonError { option: "--aqm", message });
        // Outermost first: kind, its description if known, and its table so far.
        let mut tables: Vec<(&str, Option<&'static KindSpec>, String)> = Vec::new();
        for part in text.split(':').map(str::trim) {
            match (part.split_once('='), tables.last_mut()) {
                (Some((key, value)), Some((kind, spec, table))) => {
                    if let Some(fault) = spec.and_then(|spec| unknown_key(key.trim(), kind, spec)) {
                        return refuse(fault);
                    }
                    let _ = write!(table, ", {} = {}", quoted(key.trim()), value_of(value.trim()));
                }
                (None, outer) if !part.is_empty() && outer.as_ref().is_none_or(|(_, spec, _)| is_over_another(*spec)) => {
                    tables.push((part, sched::kind(part), format!("{{ kind = {}", quoted(part))));
                }
                (_, None) => {
                    return refuse(format!("`{text}` names no queue: write for instance codel or codel:target=10ms"));
                }
                (None, _) => return refuse(format!("`{part}` in `{text}` is not parameter=value")),
            }
        }
        if let Some((kind, Some(spec), _)) = tables.last()
            && spec.needs_another()
        {
            return refuse(format!("`{text}` needs the algorithm it is over: write for instance {kind}:pie"));
        }
        let marks = signal == Signal::Mark && chosen(&tables).is_some_and(|chosen| chosen.marks());
        let ecn = if marks && !text.contains(":ecn") { ", ecn = true" } else { "" };
        let inner = tables.iter().skip(1).rev().fold(String::new(), |inner, (.., table)| format!(", of = {table}{inner} }}"));
        Ok(format!("{}{inner}{ecn} }}", tables[0].2))
    }
}

/// What is wrong with a key that `spec`, written as `kind`, does not have.
fn unknown_key(key: &str, kind: &str, spec: &KindSpec) -> Option<String> {
    const OF_EVERY_QUEUE: [&str; 2] = ["ecn", "limit"];
    let known = || spec.params.iter().filter(|param| !param.unit.is_another()).map(|param| param.name).chain(OF_EVERY_QUEUE);
    if known().any(|name| name == key) {
        return None;
    }
    let help = match nearest(key, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has {}", known().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("`{kind}` has no parameter `{}`; {help}", quantity::excerpt(key)))
}

fn is_over_another(spec: Option<&KindSpec>) -> bool {
    spec.is_some_and(KindSpec::is_over_another)
}

/// The kinds, each containing the next; `None` if one is unknown.
fn chosen(tables: &[(&str, Option<&'static KindSpec>, String)]) -> Option<Chosen> {
    let (&(_, spec, _), within) = tables.split_first()?;
    let of = if within.is_empty() { None } else { Some(Box::new(chosen(within)?)) };
    Some(Chosen { of, ..Chosen::new(spec?, Vec::new()) })
}

/// A TOML string with the content `text`.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", character as u32);
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// A parameter value in TOML: true, false and numbers as they are, anything else as a string.
fn value_of(text: &str) -> String {
    let number = text.parse::<f64>().is_ok_and(f64::is_finite) && text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    // TOML knows no numbers like `1.` or `01`; as a text they are read the same way.
    let plain = number && !text.ends_with('.') && !(text.len() > 1 && text.starts_with('0') && !text.starts_with("0."));
    if plain || text == "true" || text == "false" { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests;
