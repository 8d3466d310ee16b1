//! The candidates: a queue for each direction, and the share of the measured rate to shape to.

use crate::run::recommend::corners::Line;
use goodqueue_base::units::{Duration, Rate};
use std::fmt::{self, Write as _};

/// The platform that the router runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// Any platform: all queues of goodqueue that Linux, a bridge or the kernel module
    /// can run.
    Any,
    /// A Linux host with `tc`.
    Linux,
    /// OpenWrt with sqm-scripts.
    OpenWrt,
    /// LibreQoS.
    LibreQos,
    /// MikroTik's RouterOS 7.
    RouterOs,
}

/// The hardware by its name on the command line, with the kinds of queues it has.
const HARDWARE: &[(&str, Hardware, &[&str])] = &[
    ("any", Hardware::Any, &["cake", "fq-codel", "fq-pie", "codel", "pie", "cobalt", "cp-aqm", "gsp"]),
    ("linux", Hardware::Linux, &["cake", "fq-codel", "fq-pie", "codel", "pie"]),
    ("openwrt", Hardware::OpenWrt, &["cake", "fq-codel"]),
    ("libreqos", Hardware::LibreQos, &["cake", "fq-codel"]),
    // Its RED takes thresholds without a gentle line, which is another algorithm than ours.
    ("routeros", Hardware::RouterOs, &["cake", "fq-codel", "codel", "tail-drop"]),
];

impl Hardware {
    /// The names, in the order of messages.
    pub fn names() -> impl Iterator<Item = &'static str> {
        HARDWARE.iter().map(|(name, ..)| *name)
    }

    /// The hardware of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        HARDWARE.iter().find(|(known, ..)| *known == name).map(|(_, hardware, _)| *hardware)
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        HARDWARE.iter().find(|(_, hardware, _)| *hardware == self).map_or("", |(name, ..)| name)
    }

    /// The kinds of queues it has.
    #[must_use]
    pub fn kinds(self) -> &'static [&'static str] {
        HARDWARE.iter().find(|(_, hardware, _)| *hardware == self).map_or(&[], |(.., kinds)| kinds)
    }
}

/// A queue with the parameters that differ from its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The kind.
    pub kind: &'static str,
    /// Parameters that are set, all of them times.
    pub parameters: Vec<(&'static str, Duration)>,
}

impl Choice {
    /// A kind with its defaults.
    #[must_use]
    pub const fn plain(kind: &'static str) -> Self {
        Self { kind, parameters: Vec::new() }
    }

    /// The queue as a table of a scenario.
    #[must_use]
    pub fn toml(&self) -> String {
        let mut table = format!("{{ kind = \"{}\"", self.kind);
        for (name, time) in &self.parameters {
            let _ = write!(table, ", {name} = \"{time}\"");
        }
        table + " }"
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        self.parameters.iter().try_for_each(|(name, time)| write!(f, ":{name}={time}"))
    }
}

/// A choice to try: the queue of each direction, and the shaped rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The queue toward the user.
    pub down: Choice,
    /// The queue from the user.
    pub up: Choice,
    /// The shaped rate over the measured one, in (0, 1); `None`: nothing on the router, packets
    /// wait in the modem.
    pub shaped: Option<f64>,
}

impl Candidate {
    /// Nothing is set up.
    pub const NOTHING: Self = Self { down: Choice::plain("tail-drop"), up: Choice::plain("tail-drop"), shaped: None };

    /// The candidate with this queue in both directions.
    #[must_use]
    pub fn both(queue: &Choice, shaped: f64) -> Self {
        Self { down: queue.clone(), up: queue.clone(), shaped: Some(shaped) }
    }

    /// The shaped share in per cent.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        self.shaped.map(|share| (share * 1000.0).round() / 10.0)
    }

    /// The shaped rate for a measured one.
    #[must_use]
    pub fn shaped_rate(&self, measured: Rate) -> Option<Rate> {
        self.shaped.map(|share| Rate::bit_s(((measured.as_bit_s() as f64 * share).round() as u64).max(1)))
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(percent) = self.percent() else { return f.write_str("nothing set up") };
        if self.down == self.up {
            write!(f, "{} at {percent} %", self.down)
        } else {
            write!(f, "{} down, {} up at {percent} %", self.down, self.up)
        }
    }
}

/// Full packets per CoDel target: below this the target is shorter than a packet takes.
const PACKETS_PER_TARGET: f64 = 1.5;
const CODEL_TARGET: Duration = Duration::ms(5);
const CAKE_RTT: Duration = Duration::ms(100);

/// Settings of a kind that are usual for such a line, its defaults first.
///
/// CoDel's target is at least one and a half full packets at the slower rate (RFC 8289 §5.2.2 has
/// one MTU, sqm-scripts one and a half). Cake's `interval` is the longest round-trip time expected
/// and its `target` a twentieth of that, as its `rtt` sets them (`man tc-cake`).
#[must_use]
pub fn variants(kind: &'static str, line: &Line) -> Vec<Choice> {
    let mut choices = vec![Choice::plain(kind)];
    let slower = line.down.min(line.up);
    let packets = Duration::from_secs_f64(PACKETS_PER_TARGET * 1514.0 * 8.0 / slower.as_bit_s().max(1) as f64);
    if matches!(kind, "codel" | "fq-codel" | "cobalt") && packets > CODEL_TARGET {
        let target = Duration::ms(packets.as_nanos().div_ceil(1_000_000)).min(CAKE_RTT);
        choices.push(Choice { kind, parameters: vec![("target", target)] });
    }
    if kind == "cake" {
        let longest = Duration::ms(line.rtt.high.as_nanos().div_ceil(1_000_000).clamp(10, 1_000));
        let far = longest.as_nanos().abs_diff(CAKE_RTT.as_nanos()) > CAKE_RTT.as_nanos() / 4;
        if far {
            choices.push(Choice {
                kind,
                parameters: vec![("interval", longest), ("target", Duration::ns(longest.as_nanos() / 20))],
            });
        }
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::recommend::corners::Range;

    fn line(mbit: u64, rtt_ms: u64) -> Line {
        Line {
            down: Rate::mbit(mbit),
            up: Rate::mbit(mbit),
            varies: 0.0,
            rtt: Range::exactly(Duration::ms(rtt_ms)),
            buffer: Range::exactly(Duration::ms(100)),
            flows: None,
            control: Range::exactly("cubic"),
        }
    }

    fn shown(kind: &'static str, line: &Line) -> Vec<String> {
        variants(kind, line).iter().map(Choice::to_string).collect()
    }

    #[test]
    fn every_kind_of_every_hardware_exists() {
        for (name, hardware, kinds) in HARDWARE {
            assert_eq!(Hardware::named(name), Some(*hardware));
            for kind in *kinds {
                assert!(goodqueue_aqm::sched::kind(kind).is_some_and(|spec| spec.kind == *kind), "{kind}");
            }
        }
    }

    #[test]
    fn slow_lines_get_a_longer_target_far_ones_a_longer_interval() {
        assert_eq!(shown("fq-codel", &line(50, 20)), ["fq-codel"]);
        assert_eq!(shown("fq-codel", &line(1, 20)), ["fq-codel", "fq-codel:target=19 ms"]);
        assert_eq!(shown("cake", &line(50, 600)), ["cake", "cake:interval=600 ms:target=30 ms"]);
        assert_eq!(shown("cake", &line(50, 90)), ["cake"]);
        assert_eq!(shown("pie", &line(1, 600)), ["pie"]);
    }

    #[test]
    fn a_candidate_says_what_it_is() {
        let same = Candidate::both(&Choice::plain("cake"), 0.9);
        let mixed = Candidate { up: Choice::plain("fq-codel"), ..same.clone() };
        assert_eq!(
            [&Candidate::NOTHING, &same, &mixed].map(ToString::to_string),
            ["nothing set up", "cake at 90 %", "cake down, fq-codel up at 90 %"]
        );
        assert_eq!(same.shaped_rate(Rate::mbit(50)), Some(Rate::mbit(45)));
    }
}
