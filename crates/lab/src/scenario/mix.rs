//! Named mixes of traffic, each with where its parts come from, as `[[traffic]]` tables for a line.
//!
//! Mixes of sessions are scaled to the line, and ask for at most 60 % of it: what does not fit is
//! left out in a fixed order and named. Calls and pings always stay.

mod list;
mod part;

pub use list::MIXES;
pub use part::{CALL, Camera, Cut, Demand, Flows, Keys, Part, Transfers, Way, Ways};

use crate::scenario::toml_text::quoted;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_tcp::EcnMode;
use part::Scale;
use std::fmt::{self, Write as _};

/// A named mix of traffic.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// The name on the command line.
    pub name: &'static str,
    /// The situation that the mix stands for.
    pub summary: &'static str,
    /// The source of the mix, and which parts of it are our choice.
    pub source: &'static str,
    /// Whether people come and go.
    pub pace: Pace,
    /// The groups.
    pub parts: &'static [Part],
}

/// The course of a mix over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The same flows from beginning to end.
    Steady,
    /// Sessions that begin and end, of which a run must hold several.
    Sessions,
}

/// The times of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Time before measuring begins.
    pub warmup: Duration,
    /// The measured part.
    pub duration: Duration,
}

/// The default of comparisons on lines of one direction.
pub const DOWNLOAD: &str = "download";
/// The default of comparisons on lines of two directions.
pub const BACKUP: &str = "backup";
/// An evening at home, which recommendations are made for, with [`BACKUP`].
pub const EVENING: &str = "evening";
/// The mix of lines that are too slow for most of the others.
pub const SLOW: &str = "slow";
const RFC7928: &str = "rfc7928";
const PING: &str = "ping";
const PAGES: &str = "pages";
/// Lines below one of these rates have the mix [`SLOW`].
const SLOW_DOWN: Rate = Rate::mbit(4);
const SLOW_UP: Rate = Rate::kbit(500);
/// Most of the line that a mix asks for, in each direction; our choice.
const MAX_DEMAND: f64 = 0.6;
/// By this time people have begun all that they do; our choice.
const BEGUN: Duration = Duration::secs(30);
/// A video begins with what an empty line has, and under tail drop takes this long to give way to
/// downloads without end: 11 Mbit/s at first and 1.4 in the end on 50 Mbit/s with 250 ms.
const GIVEN_WAY: Duration = Duration::secs(120);
/// A call needs this many times its rate, so that something is left alongside it; our choice.
const ROOM_FOR_CALL: u64 = 3;

/// The line that a mix is made for, and the flows asked for.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Rate of the direction of the data; `None` where it is not known.
    pub down: Option<Rate>,
    /// Rate of the return direction, where it has one of its own.
    pub up: Option<Rate>,
    /// Bulk flows of each control downward, where a number is asked for.
    pub flows: Option<u32>,
    /// Bulk flows of each control upward, where a number is asked for.
    pub flows_up: Option<u32>,
    /// Congestion controls in TOML with their names; one group of bulk flows each.
    pub controls: &'a [(String, String)],
    /// Keys of every TCP group, with line feeds.
    pub tcp: &'a str,
    /// When flows start, in TOML.
    pub start: &'a str,
    /// The nodes that the data of every group passes, in networks of several links; empty on a
    /// single link.
    pub path: &'a [&'a str],
}

/// The tables of a mix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// `[[traffic]]` tables as TOML text.
    pub toml: String,
    /// The groups that were left out, or ask for less.
    pub left_out: Vec<LeftOut>,
    /// The share of the line that readers who hardly pause ask for, in stress tests.
    pub pages_ask: Option<f64>,
    /// Whether the line carries no call, though one is simulated.
    pub carries_no_call: bool,
}

impl Traffic {
    /// Notes for people: what was left out, and what the line cannot carry.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let stress = self.pages_ask.map(|share| {
            format!("`{RFC7928}` is a stress test: on this line its pages alone ask for {:.0} % of the rate", share * 100.0)
        });
        let call = self.carries_no_call.then(|| {
            let needed = Rate::bit_s(CALL.as_bit_s() * ROOM_FOR_CALL);
            format!("this line carries no call, which needs {needed} each way alongside other traffic; no queue can change that")
        });
        self.left_out.iter().map(ToString::to_string).chain(stress).chain(call)
    }
}

/// A group that asks for less on this line, or is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The group's name.
    pub name: &'static str,
    /// The step that was taken.
    pub cut: Cut,
    /// The flows that it has on faster lines.
    pub flows: u64,
    /// The rate that the mix asks for with the whole group.
    pub demand: Rate,
    /// The line, in the direction that could not carry it.
    pub line: Rate,
    /// That direction.
    pub way: Way,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, cut, flows, demand, line, way } = self;
        let change = cut.words(name, *flows);
        let most = MAX_DEMAND * 100.0;
        write!(f, "{change}: the mix would ask for {} {way}, more than {most:.0} % of {line}", rounded(*demand))
    }
}

/// A rate with two digits, as demands are known.
fn rounded(rate: Rate) -> Rate {
    let bits = rate.as_bit_s();
    let unit = 10u64.pow(bits.checked_ilog10().unwrap_or(0).saturating_sub(1));
    Rate::bit_s((bits + unit / 2) / unit * unit)
}

/// Whether packets of this control are ECT(1); `prague:parameter=value` is one of prague.
fn is_scalable(control: &str) -> bool {
    let kind = control.split(':').next().unwrap_or(control);
    goodqueue_tcp::cc::needs(kind).is_some_and(|needs| needs.ecn == EcnMode::L4s)
}

/// Whether a line of these rates has less than three times the rate of a call in a direction: the
/// call is simulated there, and no queue makes it good.
#[must_use]
pub fn carries_no_call(down: Rate, up: Option<Rate>) -> bool {
    let needed = Rate::bit_s(CALL.as_bit_s() * ROOM_FOR_CALL);
    down.min(up.unwrap_or(down)) < needed
}

/// A note on a former name of a mix, which is still understood.
#[must_use]
pub fn note_on_name(name: &str) -> Option<String> {
    let mix = Mix::named(name).filter(|mix| mix.name != name)?;
    Some(format!("the mix `{name}` is called `{}` now", mix.name))
}

impl Mix {
    /// The times of runs without sessions.
    pub const STEADY: Lengths = Lengths { warmup: Duration::secs(5), duration: Duration::secs(30) };

    /// The mix of this name, or of this former name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        MIXES.iter().find(|mix| mix.name == name || mix.former_names().contains(&name))
    }

    /// The mix of this name for a line on which nobody asked for it by name: [`SLOW`] in place of
    /// it below 4 Mbit/s down or 500 kbit/s up.
    #[must_use]
    pub fn suited(name: &str, down: Option<Rate>, up: Option<Rate>) -> Option<&'static Self> {
        let is_slow = down.is_some_and(|down| down < SLOW_DOWN) || up.is_some_and(|up| up < SLOW_UP);
        Self::named(if is_slow { SLOW } else { name })
    }

    /// The mix of comparisons that name none.
    #[must_use]
    pub fn usual(down: Option<Rate>, up: Option<Rate>) -> Option<&'static Self> {
        Self::suited(if up.is_some() { BACKUP } else { DOWNLOAD }, down, up)
    }

    /// Names that it had before, which still lead to it.
    #[must_use]
    pub fn former_names(&self) -> &'static [&'static str] {
        match self.name {
            RFC7928 => &["home"],
            "gaming" => &["gaming-household"],
            _ => &[],
        }
    }

    /// The times of runs that count: people who come and go must come often enough.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        let warmup = if self.has_video_against_bulk() { GIVEN_WAY } else { BEGUN };
        match self.pace {
            Pace::Steady => Self::STEADY,
            Pace::Sessions => Lengths { warmup, duration: Duration::secs(180) },
        }
    }

    fn has_video_against_bulk(&self) -> bool {
        let is_bulk = |part: &Part| matches!(part.flows, Flows::Bulk(_));
        let is_video = |part: &Part| matches!(part.keys, Keys::Video | Keys::Fixed("kind = \"video\"\n"));
        self.parts.iter().any(is_bulk) && self.parts.iter().any(is_video)
    }

    /// The times of runs that must be quick.
    #[must_use]
    pub fn quick_lengths(&self) -> Lengths {
        match self.pace {
            Pace::Steady => self.lengths(),
            Pace::Sessions => Lengths { duration: Duration::secs(120), ..self.lengths() },
        }
    }

    /// The rates that the mix asks for down and up on a line, with what is left out of it.
    #[must_use]
    pub fn demand(&self, line: &Line<'_>) -> (Rate, Rate) {
        let mut scale = scale(line);
        self.fit(&mut scale);
        (self.demand_of(&scale, Way::Down), self.demand_of(&scale, Way::Up))
    }

    /// The groups of the mix on a line.
    #[must_use]
    pub fn on(&self, line: &Line<'_>) -> Traffic {
        let mut scale = scale(line);
        let mut traffic = Traffic { left_out: self.fit(&mut scale), ..Traffic::default() };
        for part in self.parts {
            part.write(line, &scale, &mut traffic.toml);
        }
        traffic.carries_no_call = traffic.toml.contains("kind = \"voip\"") && carries_no_call(scale.down, scale.up);
        if self.name == RFC7928 {
            // Six pages of 21.0 Mbit, each after a pause of 6 s and the time that the line needs.
            let (bits, rate) = (21.0e6, scale.down.as_bit_s().max(1) as f64);
            traffic.pages_ask = Some(6.0 * bits / (6.0 + bits / rate) / rate);
        }
        traffic
    }

    fn demand_of(&self, scale: &Scale, way: Way) -> Rate {
        let of = |part: &Part| part.flows(scale).saturating_mul(part.demand(scale, way).as_bit_s());
        Rate::bit_s(self.parts.iter().map(of).fold(0, u64::saturating_add))
    }

    /// The demand in the direction that cannot carry it, if any.
    fn excess(&self, scale: &Scale) -> Option<(Way, Rate, Rate)> {
        let of = |way: Way, line: Option<Rate>| {
            let (demand, line) = (self.demand_of(scale, way), line?);
            (demand.as_bit_s() as f64 > MAX_DEMAND * line.as_bit_s() as f64).then_some((way, demand, line))
        };
        of(Way::Down, Some(scale.down)).or_else(|| of(Way::Up, scale.up))
    }

    /// Cuts down what the line cannot carry, and names it.
    fn fit(&self, scale: &mut Scale) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        for cut in Cut::ORDER {
            let Some((way, demand, line)) = self.excess(scale) else { break };
            let before = scale.clone();
            scale.cuts.push(cut);
            let asks = |part: &Part, scale: &Scale| part.flows(scale) * part.demand(scale, way).as_bit_s();
            let helps = |part: &&Part| asks(part, scale) < asks(part, &before);
            let of = |part: &Part| LeftOut { name: part.name, cut, flows: part.flows(&before), demand, line, way };
            let changed: Vec<LeftOut> = self.parts.iter().filter(helps).map(of).collect();
            if changed.is_empty() {
                *scale = before;
            }
            left_out.extend(changed);
        }
        // A group that is left out in the end needs no word about its other cuts.
        let last = |left: &LeftOut, all: &[LeftOut]| all.iter().rfind(|other| other.name == left.name) == Some(left);
        let all = left_out.clone();
        left_out.retain(|left| last(left, &all));
        left_out
    }
}

fn scale(line: &Line<'_>) -> Scale {
    // A recording that cannot be read is refused later.
    let down = line.down.unwrap_or(Rate::mbit(10));
    Scale { down, up: line.up, flows: line.flows, flows_up: line.flows_up, cuts: Vec::new() }
}

impl Part {
    /// Adds the tables of the part.
    fn write(&self, line: &Line<'_>, scale: &Scale, toml: &mut String) {
        let flows = self.flows(scale);
        if flows == 0 {
            return;
        }
        let (has_up, up) = (line.up.is_some(), "direction = \"up\"\n");
        let tables: &[(Way, &str, &str)] = match (self.ways, has_up) {
            (Ways::Up, false) => &[],
            (Ways::Up, true) => &[(Way::Up, "", up)],
            (Ways::Each | Ways::DatagramsEach, true) => &[(Way::Down, "", ""), (Way::Up, " up", up)],
            (Ways::DatagramsBoth, true) => &[(Way::Down, "", "direction = \"both\"\n")],
            _ => &[(Way::Down, "", "")],
        };
        let is_bulk = matches!(self.flows, Flows::Bulk(_) | Flows::BulkUp(_));
        let is_tcp = matches!(self.ways, Ways::Down | Ways::Up | Ways::Each);
        if self.name == PING && line.controls.iter().any(|(name, _)| is_scalable(name)) {
            // Scalable senders are there for short queues, which probes of their own class see.
            let keys = self.keys(scale, Way::Down).unwrap_or_default();
            let nodes: Vec<String> = line.path.iter().map(|node| quoted(node)).collect();
            let path = if nodes.is_empty() { String::new() } else { format!("path = [{}]\n", nodes.join(", ")) };
            let _ = write!(toml, "\n[[traffic]]\nname = \"ping L4S\"\n{keys}ecn = \"ect1\"\n{path}");
        }
        for (way, suffix, direction) in tables {
            let Some(keys) = self.keys(scale, *way) else { continue };
            // Groups of bulk flows differ only in their control, so they are named after it.
            let groups: Vec<(String, &str)> = match line.controls {
                several @ [_, _, ..] if is_bulk => {
                    let suffix = if *way == Way::Up { " up" } else { "" };
                    several.iter().map(|(name, control)| (format!("{name}{suffix}"), control.as_str())).collect()
                }
                controls => {
                    vec![(format!("{}{suffix}", self.name), controls.first().map_or("", |(_, control)| control.as_str()))]
                }
            };
            for (name, control) in groups {
                let _ = write!(toml, "\n[[traffic]]\nname = {}\n{keys}{direction}", quoted(&name));
                if is_tcp {
                    let _ = write!(toml, "cc = {control}\n{}", line.tcp);
                }
                if !line.path.is_empty() {
                    let nodes: Vec<String> = line.path.iter().map(|node| quoted(node)).collect();
                    let _ = writeln!(toml, "path = [{}]", nodes.join(", "));
                }
                if flows != 1 {
                    let _ = writeln!(toml, "flows = {flows}");
                }
                if is_bulk || flows > 1 {
                    let _ = writeln!(toml, "start = {}", line.start);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
