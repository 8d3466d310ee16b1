//! A scenario in the making: figures with their origins, and the file written from them.

use crate::FULL_PACKET;
use crate::import::Input;
use goodqueue_base::units::{Cells, Direction, Duration, Framing, Rate};
use goodqueue_lab::scenario::toml_text::quoted;
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;

/// The origin of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The figure is in the file.
    Measured(String),
    /// The file sets it: a rate of a shaper, which says little about the line behind it.
    Set(String),
    /// The figure follows from figures of the file, as described.
    Estimated(String),
    /// The figure is not in the file.
    Assumed(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, why) = match self {
            Self::Measured(why) => ("measured", why),
            Self::Set(why) => ("set", why),
            Self::Estimated(why) => ("estimated", why),
            Self::Assumed(why) => ("assumed", why),
        };
        write!(f, "{word}: {}", one_line(why))
    }
}

/// A value as a scenario writes it, with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// TOML.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
}

impl Cited {
    /// A quantity, which is written in quotes.
    pub fn quantity(value: impl fmt::Display, origin: Origin) -> Self {
        Self { value: quoted(&value.to_string()), origin }
    }

    /// A rate in bit/s.
    pub fn bit_s(rate: Rate, origin: Origin) -> Self {
        Self::quantity(format!("{} bit/s", rate.as_bit_s()), origin)
    }

    /// TOML as it stands.
    pub fn toml(value: impl Into<String>, origin: Origin) -> Self {
        Self { value: value.into(), origin }
    }
}

/// One direction of a line.
#[derive(Clone, Debug)]
pub struct Way {
    /// The rate.
    pub rate: Cited,
    /// The greatest rate that it ever has, or the mean of a recorded one.
    pub fastest: Rate,
    /// The capacity of the buffer.
    pub buffer: Cited,
    /// The queue, or its kind alone where more settings follow.
    pub queue: Cited,
    /// Further settings of the queue, each on a line of its own.
    pub settings: Vec<(String, Cited)>,
    /// Depth of its token bucket, if it is a shaper.
    pub burst: Option<Cited>,
    /// The share of packets that the wire loses, where it loses any.
    pub loss: Option<Cited>,
    /// The direction that was measured: [`Direction::Up`] at a download that is assumed next to a
    /// measured upload, and at the one queue of a router that stands where downloads go.
    pub known_as: Direction,
}

impl Way {
    /// A direction with tail drop, which is assumed for want of better knowledge.
    #[must_use]
    pub fn unmanaged(rate: Cited, fastest: Rate, buffer: Cited, why: &str) -> Self {
        let queue = Cited::toml("\"tail-drop\"", Origin::Assumed(why.to_owned()));
        Self { rate, fastest, buffer, queue, settings: Vec::new(), burst: None, loss: None, known_as: Direction::Down }
    }

    /// Both directions of a line. Next to an upload alone, the download is assumed; `None` without
    /// any.
    #[must_use]
    pub fn of_line(down: Option<Self>, up: Option<Self>) -> Option<(Self, Option<Self>)> {
        match down {
            Some(down) => Some((down, up)),
            None => up.map(|up| (Self::like(&up), Some(up))),
        }
    }

    /// A download that the file does not tell, of the upload's rate and buffer.
    fn like(up: &Self) -> Self {
        const WHY: &str = "the file has the upload alone, and this is its figure";
        let held = Cited { origin: Origin::Assumed(WHY.to_owned()), ..up.buffer.clone() };
        let put = Origin::Assumed(format!("{WHY}: put the download's rate here"));
        let way = Self::unmanaged(Cited::bit_s(up.fastest, put), up.fastest, held, "the file has the upload alone");
        Self { known_as: Direction::Up, ..way }
    }
}

/// A line with its traffic.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The name of the scenario.
    pub name: String,
    /// The command that made it, and the file it was made from.
    pub made_by: String,
    /// Further remarks for the reader, in sentences.
    pub notes: Vec<String>,
    /// One-way delays, down and up.
    pub delay: [Cited; 2],
    /// The framing of each packet on the line.
    pub framing: Option<(Framing, Origin)>,
    /// The direction of downloads.
    pub down: Way,
    /// The other direction; `None` when nothing is known of it: then it is never the bottleneck.
    pub up: Option<Way>,
    /// Groups of traffic as TOML; `None`: a home's, with downloads, uploads, a call and a ping.
    pub traffic: Option<String>,
    /// The leaf of all groups, where no class of a queue takes those without one.
    pub leaf: Option<String>,
    /// The duration of the measurement.
    pub duration: Option<Cited>,
}

/// Bytes of a full packet over its payload: IPv4 and TCP with timestamps, MTU 1500. Measuring tools
/// report payload.
pub const HEADERS: f64 = 1500.0 / 1448.0;

/// Rates outside of this are no line's, in bit/s.
pub const RATES: RangeInclusive<f64> = 1e3..=1e12;

/// The rate of these bit/s, if a line can have it.
#[must_use]
pub fn line_rate(bits: f64) -> Option<Rate> {
    RATES.contains(&bits).then(|| Rate::bit_s(bits.round() as u64))
}

/// A time, to the nearest microsecond.
#[must_use]
pub fn millis(ms: f64) -> Duration {
    Duration::us((ms * 1e3).round() as u64)
}

/// A buffer that lasts this long, and two packets at least: no queue holds less.
#[must_use]
pub fn buffer(lasts: Duration, rate: Rate, origin: Origin) -> Cited {
    if rate.bytes_in(lasts).get() >= 2 * FULL_PACKET.get() {
        return Cited::quantity(lasts, origin);
    }
    Cited::quantity("2 packets", origin)
}

/// A buffer that was filled when round-trip times rose by this many milliseconds, of which a share
/// of one in `parts` is its own. Without a rise it was never filled, and is not known.
#[must_use]
pub fn filled(rise_ms: f64, parts: f64, rate: Rate, why: String) -> Cited {
    const MIN_MS: f64 = 1.0;
    if rise_ms < MIN_MS {
        let short = "latency did not rise under load: the queue was kept short, or the test did not fill it";
        return buffer(Duration::ms(10), rate, Origin::Assumed(short.to_owned()));
    }
    buffer(millis((rise_ms / parts).max(MIN_MS)), rate, Origin::Estimated(why))
}

/// Half of a round-trip time each way.
#[must_use]
pub fn halves(rtt: Duration, origin: &Origin) -> [Cited; 2] {
    let back = Duration::ns(rtt.as_nanos() / 2);
    [Cited::quantity(rtt.saturating_sub(back), origin.clone()), Cited::quantity(back, origin.clone())]
}

/// The delay of a line of which no round-trip time is known.
#[must_use]
pub fn usual_delay(why: &str) -> [Cited; 2] {
    halves(Duration::ms(20), &Origin::Assumed(format!("half of 20 ms: {why}")))
}

/// Text of a file from elsewhere as part of one line: without control characters, and not longer
/// than a line.
#[must_use]
pub fn one_line(text: &str) -> String {
    const MAX: usize = 200;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = text.chars().take(MAX).map(plain).collect();
    if text.chars().nth(MAX).is_some() {
        line.push('…');
    }
    line
}

impl Draft {
    /// A line that `gq import COMMAND` makes of a file, without framing, with a home's traffic.
    #[must_use]
    pub fn new(name: String, command: &str, input: &Input, delay: [Cited; 2], (down, up): (Way, Option<Way>)) -> Self {
        let made_by = format!("gq import {command} from {}", input.name);
        Self { name, made_by, notes: Vec::new(), delay, framing: None, down, up, traffic: None, leaf: None, duration: None }
    }

    /// The scenario file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("# Made by {}.\n", one_line(&self.made_by));
        text.push_str("# Behind each figure stands where it is from; look at those that are assumed.\n");
        for note in &self.notes {
            let _ = writeln!(text, "# {}", one_line(note));
        }
        let _ = writeln!(text, "goodqueue = 1\nname = {}\nwarmup = \"5 s\"", quoted(&one_line(&self.name)));
        match &self.duration {
            Some(duration) => put(&mut text, "duration", duration),
            None => text.push_str("duration = \"30 s\"\n"),
        }
        text.push_str("replications = 5\n\n[access]\n");
        let fastest = self.up.as_ref().map_or(self.down.fastest, |up| up.fastest.max(self.down.fastest));
        // Hosts must be faster than both directions.
        let access = fastest.as_bit_s().saturating_mul(10).clamp(1_000_000_000, 10_000_000_000_000);
        let why = Origin::Assumed("hosts are faster than the line".to_owned());
        put(&mut text, "rate", &Cited::quantity(Rate::bit_s(access), why));
        text.push_str("delay = \"0 s\"\n\n[link.line]\n");
        self.put_link(&mut text);
        let traffic = match &self.traffic {
            Some(traffic) => traffic.clone(),
            None if self.up.is_some() && self.down.known_as == Direction::Up => {
                format!("{UPLOADS}{}", others("direction = \"both\"\n"))
            }
            None => home(self.up.is_some()),
        };
        match &self.leaf {
            Some(leaf) => text.push_str(&traffic.replace("\nkind = ", &format!("\nleaf = {}\nkind = ", quoted(leaf)))),
            None => text.push_str(&traffic),
        }
        text
    }

    fn put_link(&self, text: &mut String) {
        let [there, back] = &self.delay;
        put(text, "rate", &self.down.rate);
        put(text, "delay", there);
        if let Some((framing, origin)) = &self.framing {
            put_framing(text, *framing, origin);
        }
        put(text, "buffer", &self.down.buffer);
        put_queue(text, "queue", &self.down);
        if let Some(burst) = &self.down.burst {
            put(text, "burst", burst);
        }
        if let Some(loss) = &self.down.loss {
            put(text, "loss", loss);
        }
        put(text, "delay_up", back);
        let Some(up) = &self.up else { return };
        put(text, "rate_up", &up.rate);
        put(text, "buffer_up", &up.buffer);
        put_queue(text, "queue_up", up);
        if let Some(burst) = &up.burst {
            put(text, "burst_up", burst);
        }
        if let Some(loss) = &up.loss {
            put(text, "loss_up", loss);
        }
    }
}

fn put(text: &mut String, key: &str, cited: &Cited) {
    let _ = writeln!(text, "{:<40} # {}", format!("{key} = {}", cited.value), cited.origin);
}

/// A queue on one line, or with its settings below one another.
fn put_queue(text: &mut String, key: &str, way: &Way) {
    if way.settings.is_empty() {
        return put(text, key, &way.queue);
    }
    put(text, &format!("{key}.kind"), &way.queue);
    way.settings.iter().for_each(|(setting, cited)| put(text, &format!("{key}.{setting}"), cited));
}

fn put_framing(text: &mut String, framing: Framing, origin: &Origin) {
    let cells = Cells::WORDS.iter().find(|(_, cells)| *cells == framing.cells && *cells != Cells::None);
    put(text, "overhead", &Cited::quantity(format!("{} B", framing.overhead.get()), origin.clone()));
    if !framing.mpu.is_zero() {
        put(text, "mpu", &Cited::quantity(format!("{} B", framing.mpu.get()), origin.clone()));
    }
    if let Some((word, _)) = cells {
        put(text, "cells", &Cited::quantity(word, origin.clone()));
    }
}

/// Downloads that fill the line, an upload and the caller's voice where the other direction is
/// known, and others.
fn home(has_up: bool) -> String {
    let (upload, direction) = if has_up { (UPLOAD, "direction = \"both\"\n") } else { ("", "") };
    format!(
        r#"
[[traffic]]                              # assumed: downloads that fill the line
name = "downloads"
kind = "bulk"
flows = 4
start = "uniform 0 s .. 2 s"
{upload}{}"#,
        others(direction)
    )
}

/// A call and a ping, which suffer from what fills the line.
fn others(direction: &str) -> String {
    format!(
        r#"
[[traffic]]                              # assumed: a call
name = "call"
kind = "voip"
{direction}start = "uniform 0 s .. 1 s"

[[traffic]]                              # assumed: a ping
name = "ping"
kind = "echo"
start = "uniform 0 s .. 100 ms"
"#
    )
}

/// Uploads that fill the line, of which alone the rate is known.
const UPLOADS: &str = r#"
[[traffic]]                              # assumed: uploads that fill the line
name = "uploads"
kind = "bulk"
direction = "up"
flows = 4
start = "uniform 0 s .. 2 s"
"#;

const UPLOAD: &str = r#"
[[traffic]]                              # assumed: an upload at the same time
name = "upload"
kind = "bulk"
direction = "up"
start = "uniform 0 s .. 2 s"
"#;
