//! Queue disciplines as `tc` shows them.

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
}

/// Whether it holds packets or divides a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A queue discipline.
    Qdisc,
    /// A class.
    Class,
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
    /// The value of an option.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&Setting> {
        self.options.iter().find(|(known, _)| known == key).map(|(_, setting)| setting)
    }
}

impl Setting {
    /// A time in microseconds.
    #[must_use]
    pub fn micros(&self) -> Option<f64> {
        const UNITS: &[(&str, f64)] =
            &[("usecs", 1.0), ("msecs", 1e3), ("secs", 1e6), ("us", 1.0), ("ms", 1e3), ("s", 1e6), ("", 1.0)];
        self.scaled(1.0, UNITS)
    }

    /// A size in bytes. `tc` counts in 1024.
    #[must_use]
    pub fn bytes(&self) -> Option<f64> {
        const K: f64 = 1024.0;
        const M: f64 = K * K;
        const G: f64 = M * K;
        self.scaled(1.0, &[("kb", K), ("mb", M), ("gb", G), ("k", K), ("m", M), ("g", G), ("b", 1.0), ("", 1.0)])
    }

    /// A rate in bit/s. `tc` counts bits in 1000, and bytes with `bps`.
    #[must_use]
    pub fn bit_s(&self) -> Option<f64> {
        const UNITS: &[(&str, f64)] = &[
            ("kibit", 1024.0),
            ("mibit", 1024.0 * 1024.0),
            ("gibit", 1024.0 * 1024.0 * 1024.0),
            ("kbit", 1e3),
            ("mbit", 1e6),
            ("gbit", 1e9),
            ("tbit", 1e12),
            ("bit", 1.0),
            ("kbps", 8e3),
            ("mbps", 8e6),
            ("gbps", 8e9),
            ("bps", 8.0),
            ("", 1.0),
        ];
        self.scaled(8.0, UNITS)
    }

    /// A plain number, of packets (`10240p`) or per cent (`10%`), too.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.scaled(1.0, &[("p", 1.0), ("%", 1.0), ("", 1.0)])
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
    fn scaled(&self, plain: f64, units: &[(&str, f64)]) -> Option<f64> {
        let text = match self {
            Self::Flag => return None,
            Self::Number(number) => return Some(number * plain),
            Self::Text(text) => text,
        };
        let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number: f64 = number.parse().ok().filter(|number| f64::is_finite(*number))?;
        units.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit)).map(|(_, factor)| number * factor)
    }
}
