//! Comparing queues: a scenario from a few settings.

use crate::quantity::{self, Limits};
use crate::scenario::limits::{MAX, MAX_DELAY, MAX_RATE};
use crate::scenario::mix::{self, Flows, Mix};
use crate::scenario::toml_text::quoted;
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindAndParams, KindSpec};
use goodqueue_base::spec::nearest;
use goodqueue_base::units::{Duration, Rate};
use std::fmt::Write as _;

const RATES: Limits<Rate> = Limits::new(Rate::bit_s(1), MAX_RATE);
/// Half a round trip each way.
const RTTS: Limits<Duration> = Limits::new(Duration::ZERO, Duration::ns(2 * MAX_DELAY.as_nanos()));
const WARMUPS: Limits<Duration> = Limits::new(Duration::ZERO, MAX);

/// The settings of `gq compare`, as users write them. Quantities are checked when the scenario is
/// read; only those from which others are derived are checked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Rates of the bottleneck, or recordings of it.
    pub line: Line,
    /// Round-trip time without queueing.
    pub rtt: String,
    /// Framing of the bottleneck: bytes for each packet, or keywords of tc-cake; none when not
    /// given.
    pub overhead: Option<String>,
    /// Buffer of the bottleneck.
    pub buffer: String,
    /// Buffer of the return direction; the same when not given.
    pub buffer_up: Option<String>,
    /// The traffic on the line.
    pub traffic: Load,
    /// Bulk flows of each control; the mix's own number when not given.
    pub flows: Option<u32>,
    /// Bulk flows of each control upward, on lines with a rate of their own in that direction.
    pub flows_up: Option<u32>,
    /// Congestion controls, each `kind` or `kind:parameter=value:parameter=value`: the bulk flows
    /// of each are a group.
    pub cc: Vec<String>,
    /// Queues to compare, each `kind` or `kind:parameter=value:parameter=value`. A kind that
    /// contains another algorithm is followed by that algorithm and its parameters:
    /// `fair:flows=64:pie:target=10ms`.
    pub aqm: Vec<String>,
    /// Queues of the return direction, each of which is compared with each of the others; empty:
    /// the same in both directions.
    pub aqm_up: Vec<String>,
    /// Whether queues drop, or mark where they can.
    pub signal: Signal,
    /// Time before measuring begins; [`Mix::quick_lengths`] when not given.
    pub warmup: Option<String>,
    /// The measured part; [`Mix::quick_lengths`] when not given, or the whole recording.
    pub duration: Option<String>,
    /// Independent repetitions.
    pub replications: u32,
    /// Root of all randomness.
    pub seed: u64,
}

/// The bottleneck's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A constant rate.
    Rate {
        /// Direction of the data.
        down: String,
        /// Return direction; `None`: the same, and never the bottleneck.
        up: Option<String>,
    },
    /// Recorded delivery opportunities, as paths of files.
    Trace {
        /// Direction of the data.
        down: String,
        /// Return direction; `None` if it is never the bottleneck.
        up: Option<String>,
    },
}

impl Line {
    /// From one rate or two with a slash between them, down and up, of which only the last needs a
    /// unit: `50/10mbit`. `up` is the rate of the return direction where it is given apart.
    ///
    /// # Errors
    /// When both forms are used at once, or the first rate of two is missing.
    pub fn rates(text: &str, up: Option<&str>) -> Result<Self, ComparisonError> {
        let (down, second) = two_rates(text)?;
        if let (Some(_), Some(_)) = (&second, up) {
            let message = format!("is given, and `{text}` has a rate of that direction as well");
            return Err(ComparisonError { option: "--rate-up", message });
        }
        Ok(Self::Rate { down, up: second.or_else(|| up.map(str::to_owned)) })
    }
}

/// One rate, or two with a slash between them, down and up, of which only the last needs a unit:
/// `50/10mbit` is `50mbit` and `10mbit`.
///
/// # Errors
/// When the first of two is missing, or there are more.
pub fn two_rates(text: &str) -> Result<(String, Option<String>), ComparisonError> {
    let Some((down, up)) = slash(text) else { return Ok((text.to_owned(), None)) };
    if down.is_empty() || slash(up).is_some() {
        let message = format!("`{text}` is not a rate down and a rate up: write for instance 50/10mbit");
        return Err(ComparisonError { option: "--rate", message });
    }
    let unit = up.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    let has_unit = down.contains(|c: char| c.is_ascii_alphabetic());
    let down = if has_unit { down.to_owned() } else { format!("{down}{unit}") };
    Ok((down, Some(up.to_owned())))
}

/// The two sides of the first slash that is not a unit's, as in `Mbit/s`.
fn slash(text: &str) -> Option<(&str, &str)> {
    let is_of_unit = |after: &str| after.strip_prefix('s').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let at = text.match_indices('/').map(|(at, _)| at).find(|at| !is_of_unit(&text[at + 1..]))?;
    Some((text[..at].trim(), text[at + 1..].trim()))
}

/// The traffic on the line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Load {
    /// The mix of [`Mix::usual`] for the line.
    #[default]
    Usual,
    /// A mix of [`mix::MIXES`], by its name.
    Mix(String),
    /// `[[traffic]]` tables as TOML text.
    Toml(String),
}

/// A scenario made from a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// As TOML text.
    pub toml: String,
    /// Notes on the mix: what was left out of it, and what the line cannot carry.
    pub notes: Vec<String>,
    /// Length of the recording of the line, the longer of two.
    pub recorded: Option<Duration>,
}

/// The way in which queues signal senders to slow down.
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
    /// A description of the fault.
    pub message: String,
}

impl Comparison {
    /// The queues compared when none are named.
    pub const USUAL: &[&str] = &["tail-drop", "red", "codel", "pie", "cp-aqm", "fq-codel"];

    /// The buffer when none is given, which shows what a queue is for.
    pub const USUAL_BUFFER: &str = "250ms";

    /// The repetitions when their number is not given.
    pub const USUAL_REPLICATIONS: u32 = 5;

    /// The line and its traffic in a few words.
    fn title(&self, mix: Option<&Mix>) -> String {
        let line = match &self.line {
            Line::Rate { down, up: None } => rate_text(down),
            Line::Rate { down, up: Some(up) } => format!("{} down, {} up", rate_text(down), rate_text(up)),
            Line::Trace { down, .. } => down.rsplit('/').next().unwrap_or(down).to_owned(),
        };
        let flows = match self.flows {
            Some(1) => format!(", 1 {} flow", self.cc.join(" and ")),
            Some(flows) => format!(", {flows} {} flows", self.cc.join(" and ")),
            None => String::new(),
        };
        let traffic = mix.map_or("own traffic", |mix| mix.name);
        format!("{line}, RTT {}, buffer {}{flows}, {traffic}", spaced(&self.rtt), spaced(&self.buffer))
    }

    /// The scenario, and what of its mix was left out.
    ///
    /// # Errors
    /// When a quantity that others are worked out from cannot be read, no queue is named, or the
    /// traffic is unknown.
    pub fn scenario(&self) -> Result<Made, ComparisonError> {
        let rtt = quantity::duration_within(&self.rtt, RTTS).map_err(|error| refuse("--rtt", error))?;
        let rates = self.rates()?;
        let mix = self.mix(&rates)?;
        let lengths = mix.map_or(Mix::STEADY, Mix::quick_lengths);
        let warmup_text = self.warmup.clone().unwrap_or_else(|| lengths.warmup.to_string());
        let warmup = quantity::duration_within(&warmup_text, WARMUPS).map_err(|error| refuse("--warmup", error))?;
        // Flows that start together stay synchronized for long, so their starts are spread, but
        // well within the warm-up.
        let spread = Duration::ns((warmup.as_nanos() / 2).min(5_000_000_000));
        let back = Duration::ns(rtt.as_nanos() / 2);
        let there = rtt.saturating_sub(back);
        let access = rates.down.map_or(Rate::gbit(1), |rate| Rate::bit_s(rate.as_bit_s().saturating_mul(10)).max(Rate::gbit(1)));
        let (traffic, notes) = self.traffic(mix, &rates, spread)?;
        let mut toml = format!(
            "# Made by gq compare.\n\
             goodqueue = 1\n\
             name = {title}\n\
             warmup = {warmup}\n\
             duration = {duration}\n\
             replications = {replications}\n\
             seed = {seed}\n\n\
             [access]\n\
             rate = \"{access}\"\n\
             delay = \"0 s\"\n\n\
             [link.bottleneck]\n\
             {rate}\
             delay = \"{there}\"\n\
             delay_up = \"{back}\"\n\
             {overhead}\
             buffer = {buffer}\n",
            title = quoted(&self.title(mix)),
            warmup = quoted(&warmup_text),
            duration = quoted(&self.duration.clone().unwrap_or_else(|| rates.recorded.unwrap_or(lengths.duration).to_string())),
            replications = self.replications,
            seed = self.seed,
            rate = rates.toml,
            overhead = self.overhead.as_deref().map_or_else(String::new, |text| format!("overhead = {}\n", quoted(text))),
            buffer = quoted(&self.buffer),
        );
        if rates.has_up {
            let _ = writeln!(toml, "buffer_up = {}", quoted(self.buffer_up.as_deref().unwrap_or(&self.buffer)));
        } else if let Some((option, _)) = [
            ("--buffer-up", self.buffer_up.is_some()),
            ("--aqm-up", !self.aqm_up.is_empty()),
            ("--flows-up", self.flows_up.is_some()),
        ]
        .into_iter()
        .find(|(_, given)| *given)
        {
            let message = "the return direction has no rate of its own: give it one with --rate-up or --trace-up".to_owned();
            return Err(ComparisonError { option, message });
        }
        toml.push_str(&traffic);
        toml.push_str(&self.sweep(rates.has_up)?);
        Ok(Made { toml, notes, recorded: rates.recorded })
    }

    /// The mix of the traffic; `None` for traffic of somebody's own.
    fn mix(&self, rates: &Rates) -> Result<Option<&'static Mix>, ComparisonError> {
        let name = match &self.traffic {
            Load::Usual => return Ok(Mix::usual(rates.down, rates.own_up())),
            Load::Mix(name) => name,
            Load::Toml(_) => return Ok(None),
        };
        Mix::named(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> = mix::MIXES.iter().map(|mix| mix.name).collect();
            let message =
                format!("`{name}` is neither a mix nor a file: allowed {}, or a file with [[traffic]] tables", known.join(", "));
            ComparisonError { option: "--traffic", message }
        })
    }

    /// Rates of both directions.
    fn rates(&self) -> Result<Rates, ComparisonError> {
        match &self.line {
            Line::Rate { down, up } => {
                let read = |option, text: &str| quantity::rate_within(text, RATES).map_err(|error| refuse(option, error));
                let rate = read("--rate", down)?;
                let mut toml = format!("rate = {}\n", quoted(down));
                let mut up_rate = None;
                if let Some(up) = up {
                    up_rate = Some(read("--rate-up", up)?);
                    let _ = writeln!(toml, "rate_up = {}", quoted(up));
                }
                Ok(Rates { down: Some(rate), up: up_rate, recorded: None, has_up: up.is_some(), toml })
            }
            Line::Trace { down, up } => {
                let mut toml = format!("rate = {{ trace = {} }}\n", quoted(down));
                if let Some(up) = up {
                    let _ = writeln!(toml, "rate_up = {{ trace = {} }}", quoted(up));
                }
                // A recording that cannot be read is refused where the scenario is read.
                let facts = |path: &String| {
                    let recording = crate::scenario::trace_file::load(std::path::Path::new(path)).ok()?;
                    Some((recording.mean_rate(), recording.period()))
                };
                let (down, has_up, up) = (facts(down), up.is_some(), up.as_ref().and_then(facts));
                let recorded = [down, up].into_iter().flatten().map(|(_, period)| period).max();
                let rate = |way: Option<(Rate, Duration)>| way.map(|(rate, _)| rate);
                Ok(Rates { down: rate(down), up: rate(up), recorded, has_up, toml })
            }
        }
    }

    /// The groups of flows, and notes on them.
    fn traffic(&self, mix: Option<&Mix>, rates: &Rates, spread: Duration) -> Result<(String, Vec<String>), ComparisonError> {
        let mix = match (mix, &self.traffic) {
            (Some(mix), _) => mix,
            (None, Load::Toml(text)) => return own_traffic(text).map(|text| (text, Vec::new())),
            (None, _) => return Err(ComparisonError { option: "--traffic", message: "names no mix".to_owned() }),
        };
        if self.flows == Some(0) {
            return Err(ComparisonError { option: "--flows", message: "`0` is out of range: allowed from 1".to_owned() });
        }
        if self.cc.is_empty() {
            return Err(ComparisonError { option: "--cc", message: "names no congestion control".to_owned() });
        }
        self.check_bulk_flows(mix)?;
        let controls: Result<Vec<(String, String)>, _> =
            self.cc.iter().map(|text| Ok((text.trim().to_owned(), control(text)?))).collect();
        let start = quoted(&format!("uniform 0 s .. {spread}"));
        let traffic = mix.on(&mix::Line {
            down: rates.down,
            up: rates.own_up(),
            flows: self.flows,
            flows_up: self.flows_up,
            controls: &controls?,
            tcp: if self.signal == Signal::Mark { "ecn = true\n" } else { "" },
            start: &start,
            path: &[],
        });
        let former = match &self.traffic {
            Load::Mix(name) => mix::note_on_name(name),
            Load::Usual | Load::Toml(_) => None,
        };
        Ok((traffic.toml.clone(), former.into_iter().chain(traffic.notes()).collect()))
    }

    /// Refuses settings of bulk flows for a mix that has none.
    fn check_bulk_flows(&self, mix: &Mix) -> Result<(), ComparisonError> {
        let down = mix.parts.iter().any(|part| matches!(part.flows, Flows::Bulk(_)));
        let up = mix.parts.iter().any(|part| matches!(part.flows, Flows::BulkUp(_)));
        let wrong = [
            ("--flows", self.flows.is_some() && !down, "bulk flows down"),
            ("--flows-up", self.flows_up.is_some() && !up, "bulk flows up"),
            ("--cc", self.cc.len() > 1 && !down && !up, "bulk flows for several congestion controls"),
        ];
        match wrong.into_iter().find(|(_, is_wrong, _)| *is_wrong) {
            None => Ok(()),
            Some((option, _, has)) => {
                let message = format!("the mix `{}` has no {has}: choose another with --traffic, as call-and-ping", mix.name);
                Err(ComparisonError { option, message })
            }
        }
    }

    /// The queues: of both directions the same, or each with each.
    fn sweep(&self, has_up: bool) -> Result<String, ComparisonError> {
        let tables = |option, list: &[String]| -> Result<Vec<String>, ComparisonError> {
            let tables: Result<Vec<String>, _> = list.iter().map(|text| Self::queue_table(text, self.signal)).collect();
            tables.map_err(|error| ComparisonError { option, ..error })
        };
        let (down, up) = (tables("--aqm", &self.aqm)?, tables("--aqm-up", &self.aqm_up)?);
        if down.is_empty() {
            return Err(ComparisonError { option: "--aqm", message: "names no queue".to_owned() });
        }
        let mut toml = String::new();
        let list = |key: &str, tables: &[String]| {
            let lines: String = tables.iter().map(|table| format!("    {table},\n")).collect();
            format!("\"link.bottleneck.{key}\" = [\n{lines}]\n")
        };
        match (has_up, up.as_slice()) {
            (false, _) => toml.push_str(&format!("\n[sweep]\n{}", list("queue", &down))),
            (true, []) => {
                for queue in &down {
                    let _ = write!(
                        toml,
                        "\n[[sweep]]\n\"link.bottleneck.queue\" = {queue}\n\"link.bottleneck.queue_up\" = {queue}\n"
                    );
                }
            }
            (true, up) => toml.push_str(&format!("\n[sweep]\n{}{}", list("queue", &down), list("queue_up", up))),
        }
        Ok(toml)
    }

    /// The option that set a value of the scenario, for messages.
    #[must_use]
    pub fn option_of(field: &str) -> Option<&'static str> {
        const OPTIONS: &[(&str, &str)] = &[
            ("link.bottleneck.queue_up", "--aqm-up"),
            ("link.bottleneck.queue", "--aqm"),
            ("sweep", "--aqm"),
            ("link.bottleneck.rate_up.trace", "--trace-up"),
            ("link.bottleneck.rate_up", "--rate-up"),
            ("link.bottleneck.rate.trace", "--trace"),
            ("link.bottleneck.rate", "--rate"),
            ("access.rate", "--rate"),
            ("link.bottleneck.delay", "--rtt"),
            ("link.bottleneck.overhead", "--overhead"),
            ("link.bottleneck.buffer_up", "--buffer-up"),
            ("link.bottleneck.buffer", "--buffer"),
            ("warmup", "--warmup"),
            ("duration", "--duration"),
            ("replications", "--replications"),
            ("seed", "--seed"),
        ];
        let traffic = field.strip_prefix("traffic").map(|rest| {
            let key = rest.split('.').nth(2).unwrap_or_default();
            match key {
                "cc" => "--cc",
                "flows" => "--flows",
                _ => "--traffic",
            }
        });
        traffic.or_else(|| OPTIONS.iter().find(|(prefix, _)| field.starts_with(prefix)).map(|(_, option)| *option))
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
                (None, outer)
                    if !part.is_empty()
                        && outer.as_ref().is_none_or(|(_, spec, _)| spec.is_some_and(KindSpec::is_over_another)) =>
                {
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

/// Describes the fault of a key that `spec`, written as `kind`, does not have; `None` if it has the
/// key.
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

/// Rates of the line, and how the scenario has them.
struct Rates {
    /// The rate of the data's direction; `None` for a recording that cannot be read.
    down: Option<Rate>,
    /// The rate of the return direction.
    up: Option<Rate>,
    /// Length of the longer recording.
    recorded: Option<Duration>,
    /// Whether the return direction is described.
    has_up: bool,
    toml: String,
}

impl Rates {
    /// The rate of the return direction where it is described, if only by a recording that cannot
    /// be read.
    fn own_up(&self) -> Option<Rate> {
        if self.has_up { self.up.or(self.down) } else { None }
    }
}

fn refuse(option: &'static str, error: quantity::QuantityError) -> ComparisonError {
    ComparisonError { option, message: error.to_string() }
}

/// Tables of a file of somebody's own, which must hold nothing else.
fn own_traffic(text: &str) -> Result<String, ComparisonError> {
    let refuse = |message| Err(ComparisonError { option: "--traffic", message });
    let table = match toml::de::DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => return refuse(format!("is not TOML: {}", error.message())),
    };
    if let Some((key, _)) = table.get_ref().iter().find(|(key, _)| key.get_ref() != "traffic") {
        return refuse(format!("has the key `{}`: allowed [[traffic]] tables only", quantity::excerpt(key.get_ref())));
    }
    match table.get_ref().is_empty() {
        true => refuse("has no [[traffic]] table".to_owned()),
        false => Ok(format!("\n{}\n", text.trim())),
    }
}

/// A rate as people read it, as far as it can be read.
fn rate_text(text: &str) -> String {
    quantity::rate(text).map_or_else(|_| text.to_owned(), |rate| rate.to_string())
}

/// `200ms` as `200 ms`.
fn spaced(text: &str) -> String {
    let unit = text.find(|c: char| c.is_ascii_alphabetic());
    match unit {
        Some(at) if at > 0 && text[..at].ends_with(|c: char| c.is_ascii_digit()) => format!("{} {}", &text[..at], &text[at..]),
        _ => text.to_owned(),
    }
}

/// A congestion control, `kind` or `kind:parameter=value:…`, in TOML: a name, or a table with its
/// parameters.
///
/// # Errors
/// When a parameter has no value. Names and values are checked when the scenario is read.
pub fn control(text: &str) -> Result<String, ComparisonError> {
    let (kind, parameters) = match text.split_once(':') {
        None => return Ok(quoted(text.trim())),
        Some((kind, parameters)) => (kind, parameters),
    };
    let mut table = format!("{{ kind = {}", quoted(kind.trim()));
    for part in parameters.split(':') {
        let Some((key, value)) = part.split_once('=') else {
            let message = format!("`{}` in `{text}` is not parameter=value", part.trim());
            return Err(ComparisonError { option: "--cc", message });
        };
        let _ = write!(table, ", {} = {}", quoted(key.trim()), value_of(value.trim()));
    }
    table.push_str(" }");
    Ok(table)
}

/// The kinds, each containing the next; `None` if one is unknown.
fn chosen(tables: &[(&str, Option<&'static KindSpec>, String)]) -> Option<KindAndParams> {
    let (&(_, spec, _), within) = tables.split_first()?;
    let of = if within.is_empty() { None } else { Some(chosen(within)?) };
    Some(KindAndParams::new(spec?, Vec::new()).over(of))
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
