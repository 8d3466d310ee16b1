//! Kinds of lines, and the facts about a line that its rates and times do not say.

use goodqueue_base::units::{Bytes, Cells, Duration, Framing};

/// A value that is usual for a kind of line, as an option has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    /// The text of the option.
    pub value: &'static str,
    /// The source of the value.
    pub source: &'static str,
}

/// A kind of line, with the values that are used where none are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineKind {
    /// The name on the command line.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The name in sentences.
    pub title: &'static str,
    /// The bytes that the line adds to each packet, and the source of these.
    pub framing: (Framing, &'static str),
    /// Round-trip time without queueing.
    pub rtt: Usual,
    /// The amount that the modem and the provider's equipment can hold.
    pub buffer: Usual,
    /// Part by which the rate may lie above or below the measured one.
    pub varies: Usual,
    /// The time after which the rate changes; `None` where it is constant for a run.
    pub step: Option<Duration>,
}

const OURS: &str = "our choice";
const MOHAN: &str = "about what Mohan et al. 2024 measured on Starlink; our choice of numbers";

const fn ours(value: &'static str) -> Usual {
    Usual { value, source: OURS }
}

const fn framing(overhead: u64, mpu: u64, cells: Cells) -> Framing {
    Framing { overhead: Bytes::new(overhead), mpu: Bytes::new(mpu), cells }
}

const NO_FRAMING: (Framing, &str) = (Framing::NONE, "the rate is that of IP packets; our choice");

/// All kinds of lines, in the order of messages.
pub const LINE_KINDS: &[LineKind] = &[
    LineKind {
        name: "adsl",
        aliases: &["dsl"],
        title: "ADSL",
        framing: (framing(44, 0, Cells::Atm), "OpenWrt's SQM guide for ADSL; cells as `atm` of tc-cake(8)"),
        rtt: ours("30ms..120ms"),
        buffer: ours("200ms..1s"),
        varies: ours("0%"),
        step: None,
    },
    LineKind {
        name: "vdsl",
        aliases: &[],
        title: "VDSL",
        framing: (framing(30, 0, Cells::Ptm), "`pppoe-ptm` of tc-cake(8)"),
        rtt: ours("20ms..100ms"),
        buffer: ours("50ms..300ms"),
        varies: ours("0%"),
        step: None,
    },
    LineKind {
        name: "docsis",
        aliases: &["cable"],
        title: "cable (DOCSIS)",
        framing: (framing(18, 64, Cells::None), "`docsis` of tc-cake(8)"),
        rtt: ours("20ms..100ms"),
        buffer: ours("100ms..300ms"),
        varies: ours("0%"),
        step: None,
    },
    LineKind {
        name: "lte",
        aliases: &[],
        title: "LTE or 5G",
        framing: NO_FRAMING,
        rtt: ours("40ms..120ms"),
        buffer: ours("200ms..1s"),
        varies: ours("40%"),
        step: None,
    },
    LineKind {
        name: "leo",
        aliases: &[],
        title: "a satellite in low orbit",
        framing: NO_FRAMING,
        rtt: Usual { value: "30ms..100ms", source: MOHAN },
        buffer: ours("100ms..300ms"),
        varies: Usual { value: "40%", source: MOHAN },
        // Links are assigned again every 15 s (Mohan et al. 2024 §5).
        step: Some(Duration::secs(15)),
    },
    LineKind {
        name: "geo",
        aliases: &[],
        title: "a geostationary satellite",
        framing: NO_FRAMING,
        rtt: Usual { value: "600ms", source: "four times 35,786 km at the speed of light, and 120 ms for the rest" },
        buffer: ours("1s"),
        varies: ours("0%"),
        step: None,
    },
    LineKind {
        name: "fiber",
        aliases: &["fibre"],
        title: "fiber",
        framing: (framing(38, 84, Cells::None), "`ethernet` of tc-cake(8)"),
        rtt: ours("5ms..80ms"),
        buffer: ours("10ms..100ms"),
        varies: ours("0%"),
        step: None,
    },
];

/// Kinds of lines that cannot be simulated yet, with what to do instead.
const MISSING: &[(&str, &str)] = &[
    ("wifi", "wireless networks are not simulated: give the rates of the line behind it"),
    ("pon", "grants of a passive optical network are not simulated: `fiber` is the line without them"),
];

impl LineKind {
    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        LINE_KINDS.iter().find(|kind| kind.name == name || kind.aliases.contains(&name))
    }

    /// The reason why there is no kind of this name.
    #[must_use]
    pub fn missing(name: &str) -> String {
        match MISSING.iter().find(|(missing, _)| *missing == name) {
            Some((_, why)) => format!("`{name}` is not there yet: {why}"),
            None => {
                let names: Vec<&str> = LINE_KINDS.iter().map(|kind| kind.name).collect();
                format!("`{}` is not known: allowed {}", crate::quantity::excerpt(name), names.join(", "))
            }
        }
    }
}

/// The table of kinds of lines, for the page about recommendations.
#[must_use]
pub fn table() -> String {
    let mut table = String::from("| `--line` | framing | RTT | buffer | varies |\n|---|---|---|---|---|\n");
    for kind in LINE_KINDS {
        let mut names = vec![format!("`{}`", kind.name)];
        names.extend(kind.aliases.iter().map(|alias| format!("`{alias}`")));
        let usual = |of: &Usual| format!("{} ({})", of.value, of.source);
        let steps = kind.step.map_or(String::new(), |step| format!(", in steps of {step}"));
        table += &format!(
            "| {} | {} ({}) | {} | {} | {}{steps} |\n",
            names.join(", "),
            shown(kind.framing.0),
            kind.framing.1,
            usual(&kind.rtt),
            usual(&kind.buffer),
            usual(&kind.varies),
        );
    }
    table
}

/// Framing as one types it: `overhead 44, ATM`.
#[must_use]
pub fn shown(framing: Framing) -> String {
    if framing == Framing::NONE {
        return "none".to_owned();
    }
    let mpu = if framing.mpu.is_zero() { String::new() } else { format!(", mpu {}", framing.mpu.get()) };
    let cells = match framing.cells {
        Cells::None => "",
        Cells::Atm => ", ATM",
        Cells::Ptm => ", PTM",
    };
    format!("overhead {}{mpu}{cells}", framing.overhead.get())
}

/// The queue of the modem in the direction from the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Modem {
    /// A plain buffer.
    #[default]
    Fifo,
    /// DOCSIS-PIE, as cable modems of DOCSIS 3.1 have it.
    Pie,
}

impl Modem {
    /// Every modem with its name on the command line.
    pub const WORDS: [(&'static str, Self); 2] = [("fifo", Self::Fifo), ("pie", Self::Pie)];
}

/// The facts about a line that its rates and times do not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The kind of line; `None` where it was not said.
    pub kind: Option<&'static LineKind>,
    /// The bytes that the line adds to each packet.
    pub framing: Framing,
    /// The modem's queue.
    pub modem: Modem,
    /// Devices behind the router, at least 1.
    pub hosts: u32,
    /// The senders of bulk flows.
    pub senders: Senders,
}

/// The senders of bulk flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Senders {
    /// Those of the question.
    #[default]
    Asked,
    /// As many of Prague alongside them.
    WithPrague,
}

impl Default for Access {
    fn default() -> Self {
        Self { kind: None, framing: Framing::NONE, modem: Modem::Fifo, hosts: 1, senders: Senders::Asked }
    }
}

impl Access {
    /// The time after which the rate changes; `None` where it is constant for a run.
    #[must_use]
    pub fn step(&self) -> Option<Duration> {
        self.kind.and_then(|kind| kind.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_every_name() {
        for kind in LINE_KINDS {
            for name in [kind.name].iter().chain(kind.aliases) {
                assert_eq!(LineKind::named(name), Some(kind));
            }
        }
    }

    #[test]
    fn framing_of_kinds_is_that_of_keywords() {
        for (name, keyword) in [("vdsl", "pppoe-ptm"), ("docsis", "docsis"), ("fiber", "ethernet")] {
            assert_eq!(Ok(LineKind::named(name).expect("a kind").framing.0), Framing::named(keyword));
        }
        let adsl = LineKind::named("adsl").expect("a kind").framing.0;
        assert_eq!(adsl.wire(Bytes::new(1500)), Bytes::new(33 * 53));
        assert_eq!(shown(adsl), "overhead 44, ATM");
    }

    #[test]
    fn missing_kinds_are_refused_by_name() {
        for name in ["wifi", "pon"] {
            assert_eq!(LineKind::named(name), None);
            let error = LineKind::missing(name);
            assert!(error.starts_with(&format!("`{name}` is not there yet: ")), "{error}");
        }
        let error = LineKind::missing("isdn");
        assert_eq!(error, "`isdn` is not known: allowed adsl, vdsl, docsis, lte, leo, geo, fiber");
    }
}
