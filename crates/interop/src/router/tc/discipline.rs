//! Queue disciplines as `tc` shows them.

use super::TcError;
use goodqueue_base::spec::quantity::excerpt;

/// A queue discipline or a class, as `tc` names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Discipline {
    /// The role: a queue discipline or a class.
    pub role: Role,
    /// The interface.
    pub dev: String,
    /// The kind: `fq_codel`.
    pub kind: String,
    /// The handle: `1:`, or `1:10` for a class.
    pub handle: String,
    /// The handle of the parent; `None`: the interface itself.
    pub parent: Option<String>,
    /// Options with their values, in order.
    pub options: Vec<(String, Setting)>,
    /// Whether options that are not there have `tc`'s defaults. What a kernel prints has all of
    /// them.
    pub is_whole: bool,
    /// The number of its line in the file; `None` in a list of JSON.
    pub line: Option<usize>,
    /// Whether a command names its place: `root`, `parent` or `ingress`.
    pub(super) is_placed: bool,
}

/// Whether it holds packets, divides a rate or chooses a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A queue discipline.
    Qdisc,
    /// A class.
    Class,
    /// A filter that puts packets into the class that its option `flowid` names.
    Filter,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A word of its own.
    Flag,
    /// A number in the kernel's units: microseconds, bytes, bytes per second.
    Number(f64),
    /// As a person writes it: `5ms`, `10240p`, `47500Kbit`.
    Text(String),
}

impl Discipline {
    pub(super) fn plain(role: Role, kind: &str, handle: &str, is_whole: bool) -> Self {
        let (kind, handle) = (kind.to_owned(), handle.to_owned());
        let (dev, parent, options) = (String::new(), None, Vec::new());
        Self { role, dev, kind, handle, parent, options, is_whole, line: None, is_placed: false }
    }

    /// Whether it is for packets that arrive.
    #[must_use]
    pub fn is_ingress(&self) -> bool {
        matches!(self.kind.as_str(), "ingress" | "clsact")
    }

    /// The value of an option, of which the last one on a line holds.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&Setting> {
        self.options.iter().rfind(|(known, _)| known == key).map(|(_, setting)| setting)
    }

    /// The kind, with its handle where it has one.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.kind, self.handle).trim_end().to_owned()
    }

    /// A name with the interface, where that is known.
    pub(super) fn placed(&self, name: &str) -> String {
        if self.dev.is_empty() { name.to_owned() } else { format!("{name} at {}", self.dev) }
    }

    /// A remark on an option that has no place in a scenario.
    pub(super) fn left_out(&self, key: &str, setting: &Setting) -> String {
        format!("{key} {} of {} is not in the scenario.", setting.text(), self.kind).replace("  ", " ")
    }

    /// An error of one of its values.
    pub(super) fn wrong(&self, key: &str, value: &str) -> TcError {
        self.in_line(TcError::Value { owner: excerpt(&self.name()), key: key.to_owned(), value: excerpt(value) })
    }

    /// An error with the line of the discipline, where it has one.
    pub(super) fn in_line(&self, fault: TcError) -> TcError {
        match self.line {
            Some(number) => TcError::in_line(number)(fault),
            None => fault,
        }
    }
}

impl Setting {
    /// A time in microseconds.
    #[must_use]
    pub fn micros(&self) -> Option<f64> {
        const UNITS: &[(&[&str], f64)] = &[
            (&["us", "usec", "usecs", ""], 1.0),
            (&["ms", "msec", "msecs"], 1e3),
            (&["s", "sec", "secs"], 1e6),
            (&["ns", "nsec", "nsecs"], 1e-3),
        ];
        self.scaled(1.0, UNITS)
    }

    /// A size in bytes, of which `tc` counts all in 1024, bits too; a cell may follow (`15k/8`).
    #[must_use]
    pub fn bytes(&self) -> Option<f64> {
        const K: f64 = 1024.0;
        const UNITS: &[(&[&str], f64)] = &[
            (&["b", ""], 1.0),
            (&["kb", "k"], K),
            (&["mb", "m"], K * K),
            (&["gb", "g"], K * K * K),
            (&["kbit"], K / 8.0),
            (&["mbit"], K * K / 8.0),
            (&["gbit"], K * K * K / 8.0),
        ];
        match self {
            Self::Text(text) => Self::Text(text.split('/').next().unwrap_or_default().to_owned()).scaled(1.0, UNITS),
            other => other.scaled(1.0, UNITS),
        }
    }

    /// A rate in bit/s. `tc` counts in 1000, in 1024 with an `i`, and bytes with `bps`.
    #[must_use]
    pub fn bit_s(&self) -> Option<f64> {
        const I: f64 = 1024.0;
        const UNITS: &[(&[&str], f64)] = &[
            (&["bit", ""], 1.0),
            (&["kbit"], 1e3),
            (&["mbit"], 1e6),
            (&["gbit"], 1e9),
            (&["tbit"], 1e12),
            (&["kibit"], I),
            (&["mibit"], I * I),
            (&["gibit"], I * I * I),
            (&["tibit"], I * I * I * I),
            (&["bps"], 8.0),
            (&["kbps"], 8e3),
            (&["mbps"], 8e6),
            (&["gbps"], 8e9),
            (&["tbps"], 8e12),
            (&["kibps"], 8.0 * I),
            (&["mibps"], 8.0 * I * I),
            (&["gibps"], 8.0 * I * I * I),
            (&["tibps"], 8.0 * I * I * I * I),
        ];
        self.scaled(8.0, UNITS)
    }

    /// A plain number, of packets (`10240p`), a second or not, or per cent (`10%`), too.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.scaled(1.0, &[(&["p", "pps", "%", "b", ""], 1.0)])
    }

    /// Whether it counts packets: `20p`.
    #[must_use]
    pub fn is_in_packets(&self) -> bool {
        matches!(self, Self::Text(text) if text.strip_suffix('p').is_some_and(|count| count.parse::<u64>().is_ok()))
    }

    /// Returns the value as text for a message.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Flag => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The number, which counts `plain` units where it is printed as one; texts may be in any of
    /// `units`, whose case has no meaning to `tc`.
    fn scaled(&self, plain: f64, units: &[(&[&str], f64)]) -> Option<f64> {
        let text = match self {
            Self::Flag => return None,
            Self::Number(number) => return Some(number * plain),
            Self::Text(text) => text,
        };
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let after = |start: usize| text[start..].find(|c| !is_digit(c)).map_or(text.len(), |end| start + end);
        let end = match after(0) {
            // `4.57771e-05`
            end if text[end..].starts_with(['e', 'E']) => after(end + 1),
            end => end,
        };
        let (number, unit) = text.split_at(end);
        let number: f64 = number.parse().ok().filter(|number| f64::is_finite(*number))?;
        let is_unit = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(unit));
        units.iter().find(|(names, _)| is_unit(names)).map(|(_, factor)| number * factor)
    }
}
