//! Traffic over UDP: how packets follow each other.

use super::link::FASTEST;
use super::reader::{self, Table};
use super::scenario::LONGEST;
use super::tree::Value;
use crate::quantity::Limits;
use goodqueue_sim::{Content, SizeLaw, SourceSpec};
use goodqueue_units::{Bytes, Duration, Ecn, Rate};

/// A group whose packet sizes still wait for the link's MTU.
pub(super) struct Draft {
    pattern: Pattern,
    packet_size: Option<Bytes>,
    ecn: Ecn,
}

enum Pattern {
    Cbr(Rate),
    Poisson(Rate, SizeLaw),
    OnOff { peak: Rate, mean_on: Duration, mean_off: Duration },
    Voice(Rate),
    Game { interval: Duration, packet_size_up: Bytes },
    Frames { rate: Rate, interval: Duration, group: u32, ratio: f64 },
    Echo { interval: Duration },
}

/// Kinds whose ends may both send.
pub(super) const BOTH_WAYS: &[&str] = &["voip", "gaming"];

const SMALLEST_PACKET: Bytes = Bytes::new(28);
const LARGEST_PACKET: Bytes = Bytes::new(65_535);
const SIZES: Limits<Bytes> = Limits::new(SMALLEST_PACKET, LARGEST_PACKET);
/// Room for a number and a time behind IP and UDP headers: what probes in a real network carry.
const SMALLEST_PROBE: Bytes = Bytes::new(28 + 16);
/// What ping sends: 56 bytes behind the headers of IP and ICMP.
const USUAL_PROBE: Bytes = Bytes::new(84);
const RATES: Limits<Rate> = Limits::new(Rate::bit_s(1), FASTEST);
const SPANS: Limits<Duration> = Limits::new(Duration::us(1), LONGEST);
const RATIOS: Limits<f64> = Limits::new(1.0, 1_000.0);
const MOST_FRAMES: u64 = 10_000;

impl Draft {
    /// Reads the keys of `kind`; `None` when one has a fault, which is reported.
    pub(super) fn read(table: &Table<'_>, kind: &str) -> Option<Self> {
        let pattern = match kind {
            "cbr" => required_rate(table).map(Pattern::Cbr),
            "poisson" => {
                let rate = required_rate(table);
                let law = table.optional("sizes", reader::choice(&["fixed", "exponential"]));
                let law = if law == Some("exponential") { SizeLaw::Exponential } else { SizeLaw::Fixed };
                rate.map(|rate| Pattern::Poisson(rate, law))
            }
            "on-off" => on_off(table),
            "voip" => Some(Pattern::Voice(table.optional("rate", reader::rate(RATES)).unwrap_or(Rate::kbit(64)))),
            "gaming" => Some(Pattern::Game {
                interval: table.optional("interval", reader::duration(SPANS)).unwrap_or(Duration::ms(16)),
                packet_size_up: table.optional("packet_size_up", reader::bytes(SIZES)).unwrap_or(Bytes::new(80)),
            }),
            "echo" => {
                Some(Pattern::Echo { interval: table.optional("interval", reader::duration(SPANS)).unwrap_or(Duration::ms(100)) })
            }
            _ => Some(frames(table)),
        };
        let sizes = if kind == "echo" { Limits::new(SMALLEST_PROBE, LARGEST_PACKET) } else { SIZES };
        let packet_size = table.optional("packet_size", reader::bytes(sizes));
        let ecn = table.optional("ecn", |field| match field.node.value {
            Value::Bool(on) => Ok(if on { Ecn::Ect0 } else { Ecn::NotEct }),
            _ => reader::choice(&["ect0", "ect1"])(field).map(|word| if word == "ect0" { Ecn::Ect0 } else { Ecn::Ect1 }),
        });
        Some(Self { pattern: pattern?, packet_size, ecn: ecn.unwrap_or(Ecn::NotEct) })
    }

    /// Does the other end answer?
    pub(super) const fn is_answered(&self) -> bool {
        matches!(self.pattern, Pattern::Echo { .. })
    }

    /// What the sender sends, and what its other end would. `None` when packets do not fit the path.
    pub(super) fn finish(self, table: &Table<'_>, mtu: Bytes) -> Option<(SourceSpec, SourceSpec)> {
        let Self { pattern, packet_size, ecn } = self;
        let usual = match pattern {
            Pattern::Voice(_) => Bytes::new(100),
            Pattern::Game { .. } => Bytes::new(130),
            Pattern::Echo { .. } => USUAL_PROBE,
            _ => mtu,
        };
        let packet_size = packet_size.unwrap_or(usual);
        let fits = |key: &str, size: Bytes| {
            if size > mtu {
                table.fault(key, format!("{size} is out of range: allowed up to the path's mtu, {mtu}"), None);
            }
            size <= mtu
        };
        if !fits("packet_size", packet_size) {
            return None;
        }
        let source = match pattern {
            Pattern::Cbr(rate) => SourceSpec::Cbr { rate, packet_size, ecn },
            Pattern::Poisson(rate, sizes) => SourceSpec::Poisson { rate, packet_size, sizes, ecn },
            Pattern::OnOff { peak, mean_on, mean_off } => SourceSpec::OnOff { peak, mean_on, mean_off, packet_size, ecn },
            Pattern::Voice(rate) => {
                let interval = rate.transmission_time(packet_size);
                SourceSpec::Call { content: Content::Voice, interval, packet_size, ecn }
            }
            Pattern::Frames { rate, interval, group, ratio } => {
                SourceSpec::Frames { rate, interval, group, ratio, packet_size, ecn }
            }
            Pattern::Echo { interval } => SourceSpec::Echo { interval, packet_size, ecn },
            Pattern::Game { interval, packet_size_up } => {
                if !fits("packet_size_up", packet_size_up) {
                    return None;
                }
                let of = |packet_size| SourceSpec::Call { content: Content::Game, interval, packet_size, ecn };
                return Some((of(packet_size), of(packet_size_up)));
            }
        };
        Some((source.clone(), source))
    }
}

fn required_rate(table: &Table<'_>) -> Option<Rate> {
    table.required("rate", "write the rate in IP bits, for instance rate = \"15 Mbit/s\"", reader::rate(RATES))
}

fn on_off(table: &Table<'_>) -> Option<Pattern> {
    let peak = table.required("peak", "write the rate within a burst, for instance peak = \"1 Mbit/s\"", reader::rate(RATES));
    let on = table.required("mean_on", "write the mean length of a burst, for instance \"20 ms\"", reader::duration(SPANS));
    let off = table.required("mean_off", "write the mean length of a silence, for instance \"80 ms\"", reader::duration(SPANS));
    peak.zip(on).zip(off).map(|((peak, mean_on), mean_off)| Pattern::OnOff { peak, mean_on, mean_off })
}

fn frames(table: &Table<'_>) -> Pattern {
    let rate = table.optional("rate", reader::rate(RATES));
    let interval = table.optional("interval", reader::duration(SPANS));
    let group = table.optional("group", reader::count(Limits::new(1, MOST_FRAMES)));
    let ratio = table.optional("ratio", |field| {
        let ratio = reader::number(field)?;
        RATIOS.check(ratio, &field.node.shown()).map_err(|error| field.refuse(error))
    });
    Pattern::Frames {
        rate: rate.unwrap_or(Rate::mbit(2)),
        interval: interval.unwrap_or(Duration::ms(40)),
        group: group.unwrap_or(12) as u32,
        ratio: ratio.unwrap_or(5.0),
    }
}
