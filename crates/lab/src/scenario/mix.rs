//! Named mixes of traffic, each with where its parts come from, as `[[traffic]]` tables for a line.

use crate::scenario::toml_text::quoted;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_tcp::EcnMode;
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
    /// The groups.
    pub parts: &'static [Part],
}

/// One group of a mix.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The name in results.
    pub name: &'static str,
    /// A description of the traffic.
    pub about: &'static str,
    /// The number of flows.
    pub flows: Flows,
    /// The traffic that the part sends.
    pub sends: Sends,
    /// Keys of its table but name, flows, direction and start.
    pub keys: &'static str,
}

/// The number of flows of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flows {
    /// This number, unless the number of bulk flows is asked for.
    Bulk(u32),
    /// This number of flows upward, unless their number is asked for.
    BulkUp(u32),
    /// This number.
    Fixed(u32),
    /// One for this much of the line's rate, at least one.
    PerLine(Rate),
}

impl fmt::Display for Flows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bulk(flows) | Self::BulkUp(flows) | Self::Fixed(flows) => write!(f, "{flows}"),
            Self::PerLine(each) => write!(f, "one per {each}"),
        }
    }
}

/// The load that a part puts on the line, and its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sends {
    /// Data over TCP, downward.
    Down,
    /// Data over TCP, upward: only on lines with a rate of their own in that direction.
    Up,
    /// Packets at a constant rate per flow, upward as well where that direction has a rate of its
    /// own.
    Both(Rate),
    /// Packets at a constant rate per flow, downward only.
    Constant(Rate),
    /// Transfers that together offer this share of the line.
    OfferedPacket {
        /// Share of the line.
        share: f64,
        /// Bytes of each.
        bytes: u64,
    },
}

/// Constant-rate parts that would take more of the line than this are left out: our choice of "a
/// few per cent".
pub const MAX_OF_LINE: f64 = 0.05;
/// More flows would tell nothing new and take long.
const MAX_FLOWS: u64 = 1_000;

const fn bulk(flows: u32) -> Part {
    let about = "downloads without end";
    Part { name: "bulk", about, flows: Flows::Bulk(flows), sends: Sends::Down, keys: "kind = \"bulk\"\n" }
}

const fn uploads(flows: u32) -> Part {
    let about = "uploads without end";
    Part { name: "uploads", about, flows: Flows::BulkUp(flows), sends: Sends::Up, keys: "kind = \"bulk\"\n" }
}

/// 64 kbit/s in packets of 100 bytes, the defaults of `voip`.
const fn calls(flows: u32) -> Part {
    let about = "calls of 64 kbit/s";
    Part {
        name: if flows == 1 { "call" } else { "calls" },
        about,
        flows: Flows::Fixed(flows),
        sends: Sends::Both(Rate::kbit(64)),
        keys: "kind = \"voip\"\n",
    }
}

/// 130 bytes every 16 ms, the defaults of `gaming`.
const fn games(flows: u32) -> Part {
    let about = "games: 130 bytes every 16 ms down, 80 bytes up";
    Part {
        name: if flows == 1 { "game" } else { "games" },
        about,
        flows: Flows::Fixed(flows),
        sends: Sends::Both(Rate::kbit(65)),
        keys: "kind = \"gaming\"\n",
    }
}

/// 84 bytes every 100 ms, the defaults of `echo`.
const PING: Part = Part {
    name: "ping",
    about: "probes of 84 bytes every 100 ms",
    flows: Flows::Fixed(1),
    sends: Sends::Constant(Rate::bit_s(6_720)),
    keys: "kind = \"echo\"\n",
};

const fn pages(flows: Flows) -> Part {
    let about = "pages of 71 objects of 37 kB, with pauses of 2 to 10 s";
    let keys = "kind = \"page\"\nobjects = 71\nsize = \"37 kB\"\npause = \"uniform 2 s .. 10 s\"\n";
    Part { name: "pages", about, flows, sends: Sends::Down, keys }
}

const fn videos(flows: Flows) -> Part {
    let about = "adaptive video, 0.35 to 6 Mbit/s";
    Part { name: "videos", about, flows, sends: Sends::Down, keys: "kind = \"video\"\n" }
}

/// The mix of comparisons that name none.
pub const USUAL: &str = "call-and-ping";

/// All of them.
pub const MIXES: &[Mix] = &[
    Mix {
        name: "bulk",
        summary: "bulk flows alone: the classical comparison, which does not show what a call gets",
        source: "the usual experiment of papers on queue management; the number of flows is our choice",
        parts: &[bulk(4), uploads(1)],
    },
    Mix {
        name: USUAL,
        summary: "bulk flows, a call and a ping: the default",
        source: "bulk flows of the classical comparison with one conversation and one probe; our choice",
        parts: &[bulk(4), uploads(1), calls(1), PING],
    },
    Mix {
        name: "home",
        summary: "an evening at home: a call, six page readers, a video, a constant stream and five downloads",
        source: "RFC 7928 §9.1 for kinds and numbers of flows; median desktop page of the HTTP Archive's Web Almanac 2024 (2,652 kB, 71 \
                 requests); uploads and the ping are our choice",
        parts: &[
            bulk(5),
            uploads(1),
            calls(1),
            PING,
            pages(Flows::Fixed(6)),
            videos(Flows::Fixed(1)),
            Part {
                name: "stream",
                about: "1 Mbit/s in packets of 1000 bytes",
                flows: Flows::Fixed(1),
                sends: Sends::Constant(Rate::mbit(1)),
                keys: "kind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"1000 B\"\n",
            },
        ],
    },
    Mix {
        name: "office",
        summary: "a small office: eight calls, twelve page readers, documents, a backup",
        source: "our choice of numbers; pages as in `home`",
        parts: &[
            Part { name: "backup", about: "one download without end", ..bulk(1) },
            Part { name: "backup up", about: "one upload without end", ..uploads(1) },
            calls(8),
            PING,
            pages(Flows::Fixed(12)),
            Part {
                name: "documents",
                about: "transfers of 1 MB with pauses of 5 to 15 s",
                flows: Flows::Fixed(6),
                sends: Sends::Down,
                keys: "kind = \"bulk-with-pauses\"\n",
            },
        ],
    },
    Mix {
        name: "gaming-household",
        summary: "two games and a call with a video, a page reader, a game's download and an upload",
        source: "kinds of traffic of CableLabs' simulations of queue management in cable modems (White 2014); numbers are our choice; pages as in `home`",
        parts: &[bulk(2), uploads(1), games(2), calls(1), PING, pages(Flows::Fixed(1)), videos(Flows::Fixed(1))],
    },
    Mix {
        name: "isp-access",
        summary: "many households behind one line: videos, page readers, games, calls and a few downloads that fill the rest",
        source: "video as the largest share, as Sandvine's Global Internet Phenomena Reports have it; one video per 8 Mbit/s, one page \
                 reader per 5 Mbit/s, at most 1000 of each, are our choice; pages as in `home`",
        parts: &[
            bulk(8),
            uploads(4),
            calls(4),
            games(4),
            PING,
            pages(Flows::PerLine(Rate::mbit(5))),
            videos(Flows::PerLine(Rate::mbit(8))),
        ],
    },
    Mix {
        name: "datacentre",
        summary: "queries of 2 kB, messages of 500 kB and large updates between servers",
        source: "Alizadeh et al. 2010 (DCTCP) §2: queries of about 2 kB, short messages of 50 kB to 1 MB, updates of 1 to 50 MB; loads of \
                 5 % and 20 % are our choice",
        parts: &[
            Part { name: "updates", about: "updates without end", ..bulk(2) },
            Part {
                name: "queries",
                about: "2 kB at random times, 5 % of the line",
                flows: Flows::Fixed(1),
                sends: Sends::OfferedPacket { share: 0.05, bytes: 2_000 },
                keys: "kind = \"short\"\nsize = \"2 kB\"\narrivals = \"poisson\"\n",
            },
            Part {
                name: "messages",
                about: "500 kB at random times, 20 % of the line",
                flows: Flows::Fixed(1),
                sends: Sends::OfferedPacket { share: 0.2, bytes: 500_000 },
                keys: "kind = \"short\"\nsize = \"500 kB\"\narrivals = \"poisson\"\n",
            },
            PING,
        ],
    },
];

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// `[[traffic]]` tables as TOML text.
    pub toml: String,
    /// The groups that were left out.
    pub left_out: Vec<LeftOut>,
}

/// A group that would take too much of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The group's name.
    pub name: &'static str,
    /// The rate at which the group would send.
    pub sends: Rate,
    /// The line, in the direction in which it is slower.
    pub line: Rate,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, sends, line } = self;
        let percent = 100.0 * sends.as_bit_s() as f64 / line.as_bit_s().max(1) as f64;
        let most = MAX_OF_LINE * 100.0;
        write!(f, "`{name}` is left out: at {sends} it would take {percent:.0} % of {line}, more than {most:.0} %")
    }
}

/// Whether packets of this control are ECT(1); `prague:parameter=value` is one of prague.
fn is_scalable(control: &str) -> bool {
    let kind = control.split(':').next().unwrap_or(control);
    goodqueue_tcp::cc::needs(kind).is_some_and(|needs| needs.ecn == EcnMode::L4s)
}

impl Mix {
    /// The mix of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        MIXES.iter().find(|mix| mix.name == name)
    }

    /// The groups of the mix on a line.
    #[must_use]
    pub fn on(&self, line: &Line<'_>) -> Traffic {
        let mut traffic = Traffic::default();
        for part in self.parts {
            part.write(line, &mut traffic);
        }
        traffic
    }
}

impl Part {
    fn flows(&self, line: &Line<'_>) -> u64 {
        match self.flows {
            Flows::Bulk(usual) => u64::from(line.flows.unwrap_or(usual)),
            Flows::BulkUp(usual) => u64::from(line.flows_up.unwrap_or(usual)),
            Flows::Fixed(flows) => u64::from(flows),
            Flows::PerLine(each) => {
                let rate = line.down.unwrap_or(each).as_bit_s();
                (rate / each.as_bit_s()).clamp(1, MAX_FLOWS)
            }
        }
    }

    fn write(&self, line: &Line<'_>, traffic: &mut Traffic) {
        let flows = self.flows(line);
        if flows == 0 {
            return;
        }
        let direction = match (self.sends, line.up) {
            (Sends::Up, None) => return,
            (Sends::Up, Some(_)) => "direction = \"up\"\n",
            (Sends::Both(_), Some(_)) => "direction = \"both\"\n",
            _ => "",
        };
        if let Sends::Both(rate) | Sends::Constant(rate) = self.sends {
            let least = match self.sends {
                Sends::Both(_) => [line.down, line.up].into_iter().flatten().min(),
                _ => line.down,
            };
            let sent = Rate::bit_s(rate.as_bit_s().saturating_mul(flows));
            if let Some(least) = least.filter(|least| sent.as_bit_s() as f64 > MAX_OF_LINE * least.as_bit_s() as f64) {
                traffic.left_out.push(LeftOut { name: self.name, sends: sent, line: least });
                return;
            }
        }
        let is_bulk = matches!(self.flows, Flows::Bulk(_) | Flows::BulkUp(_));
        // Groups of bulk flows differ only in their control, so they are named after it.
        let groups: Vec<(String, &str)> = match line.controls {
            several @ [_, _, ..] if is_bulk => {
                let suffix = if self.sends == Sends::Up { " up" } else { "" };
                several.iter().map(|(name, control)| (format!("{name}{suffix}"), control.as_str())).collect()
            }
            controls => vec![(self.name.to_owned(), controls.first().map_or("", |(_, control)| control.as_str()))],
        };
        let nodes: Vec<String> = line.path.iter().map(|node| quoted(node)).collect();
        let path = if nodes.is_empty() { String::new() } else { format!("path = [{}]\n", nodes.join(", ")) };
        if self.name == PING.name && line.controls.iter().any(|(name, _)| is_scalable(name)) {
            // Scalable senders are there for short queues, which probes of their own class see.
            let _ = write!(traffic.toml, "\n[[traffic]]\nname = \"ping L4S\"\n{}ecn = \"ect1\"\n{path}", self.keys);
        }
        for (name, control) in groups {
            let _ = write!(traffic.toml, "\n[[traffic]]\nname = {}\n{}{direction}", quoted(&name), self.keys);
            if matches!(self.sends, Sends::Down | Sends::Up | Sends::OfferedPacket { .. }) {
                let _ = write!(traffic.toml, "cc = {control}\n{}", line.tcp);
            }
            if let Sends::OfferedPacket { share, bytes } = self.sends {
                let rate = line.down.map_or(1e6, |rate| rate.as_bit_s() as f64);
                let ns = bytes as f64 * 8.0 / (share * rate) * 1e9;
                let interval = Duration::ns((ns as u64).max(1_000));
                let _ = writeln!(traffic.toml, "interval = \"{interval}\"");
            }
            traffic.toml.push_str(&path);
            if flows != 1 {
                let _ = writeln!(traffic.toml, "flows = {flows}");
            }
            if is_bulk || flows > 1 {
                let _ = writeln!(traffic.toml, "start = {}", line.start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(name: &str, down: Rate, up: Option<Rate>) -> Traffic {
        let controls = [("cubic".to_owned(), "\"cubic\"".to_owned())];
        let line =
            Line { down: Some(down), up, flows: None, flows_up: None, controls: &controls, tcp: "", start: "\"0 s\"", path: &[] };
        Mix::named(name).expect("a mix").on(&line)
    }

    #[test]
    fn light_groups_are_left_out_of_slow_lines_and_named() {
        let traffic = on(USUAL, Rate::mbit(10), None);
        assert!(traffic.toml.contains("kind = \"voip\"") && traffic.toml.contains("kind = \"echo\""), "{}", traffic.toml);
        assert_eq!(traffic.left_out, []);
        let slow = on(USUAL, Rate::kbit(500), None);
        assert_eq!(
            slow.left_out[0].to_string(),
            "`call` is left out: at 64 kbit/s it would take 13 % of 500 kbit/s, more than 5 %"
        );
        assert_eq!(slow.left_out.len(), 1);
        assert!(!slow.toml.contains("voip") && slow.toml.contains("kind = \"echo\""));
        // A call goes both ways, so the slower one counts.
        assert_eq!(on(USUAL, Rate::mbit(50), Some(Rate::mbit(1))).left_out.len(), 1);
        assert_eq!(on(USUAL, Rate::bit_s(1), None).left_out.len(), 2);
    }

    #[test]
    fn both_directions_are_loaded_where_there_are_two() {
        let one = on(USUAL, Rate::mbit(50), None).toml;
        let two = on(USUAL, Rate::mbit(50), Some(Rate::mbit(10))).toml;
        assert!(!one.contains("direction"), "{one}");
        assert!(two.contains("direction = \"up\"") && two.contains("direction = \"both\""), "{two}");
    }

    #[test]
    fn numbers_follow_the_line() {
        let toml = on("isp-access", Rate::mbit(800), None).toml;
        assert!(toml.contains("flows = 100\n") && toml.contains("flows = 160\n"), "{toml}");
        let toml = on("isp-access", Rate::gbit(400), None).toml;
        assert!(toml.contains("flows = 1000\n"), "{toml}");
        // 2 kB for 5 % of 10 Gbit/s: one in 32 us.
        let toml = on("datacentre", Rate::gbit(10), None).toml;
        assert!(toml.contains("interval = \"32 us\""), "{toml}");
    }
}
