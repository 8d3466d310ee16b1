//! Bytes over time, and the rate of a line that they tell.

use crate::FULL_PACKET;
use crate::measure::message::PROBE_BYTES;
use crate::measure::probes::Window;
use goodqueue_base::units::Instant;
use goodqueue_lab::results::statistics::Figure;
use serde::{Deserialize, Serialize};

/// Parts of a window that the interval of its rate follows from.
const PARTS: u64 = 8;
/// Bytes of a full packet. Smaller ones are not recognized.
const FULL_BYTES: f64 = FULL_PACKET.get() as f64;
/// Bytes of TCP's header with timestamps, and of UDP's.
const TCP: f64 = 32.0;
const UDP: f64 = 8.0;
/// Packets of a question on a connection of its own, and their bytes without IP's header: up, SYN,
/// question, end and two acknowledgments; down, the answers to the first three.
const QUESTION: [(f64, f64); 2] = [(5.0, 5.0 * TCP + 8.0 + 128.0), (3.0, 3.0 * TCP + 8.0 + 128.0)];

/// The version of IP that was measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Family {
    /// IPv4.
    #[serde(rename = "ipv4")]
    V4,
    /// IPv6.
    #[serde(rename = "ipv6")]
    V6,
}

impl Family {
    const fn header(self) -> f64 {
        match self {
            Self::V4 => 20.0,
            Self::V6 => 40.0,
        }
    }

    /// Payload of a full packet of TCP with timestamps.
    #[must_use]
    pub const fn payload(self) -> f64 {
        FULL_BYTES - self.header() - TCP
    }

    /// The rate of a line in bit/s of IP: payload with headers, and the probes that went the same
    /// way.
    #[must_use]
    pub fn line_rate(self, goodput_bit_s: f64, probes_per_s: f64, questions_per_s: f64, is_up: bool) -> f64 {
        let (packets, bytes) = QUESTION[usize::from(!is_up)];
        let probe = PROBE_BYTES as f64 + UDP + self.header();
        let others = probes_per_s * probe + questions_per_s * (packets * self.header() + bytes);
        goodput_bit_s * FULL_BYTES / self.payload() + others * 8.0
    }
}

/// Bytes that have arrived, sampled.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    samples: Vec<(Instant, u64)>,
}

impl Volume {
    /// Adds the sum of all bytes until a time. Times and sums that go backward are left out.
    pub fn add(&mut self, at: Instant, total: u64) {
        if self.samples.last().is_none_or(|(last, before)| *last < at && *before <= total) {
            self.samples.push((at, total));
        }
    }

    /// Bytes until a time, on straight lines between samples; before the first, as many as then.
    fn until(&self, at: Instant) -> f64 {
        let next = self.samples.partition_point(|(time, _)| *time <= at);
        let Some((from, before)) = next.checked_sub(1).map(|place| self.samples[place]) else {
            return self.samples.first().map_or(0.0, |(_, first)| *first as f64);
        };
        let Some((to, after)) = self.samples.get(next) else { return before as f64 };
        before as f64 + (after - before) as f64 * at.since(from).as_secs_f64() / to.since(from).as_secs_f64()
    }

    /// The mean rate of a window in bit/s; zero for an empty one.
    #[must_use]
    pub fn rate(&self, window: Window) -> f64 {
        let span = window.span().as_secs_f64();
        if span > 0.0 { 8.0 * (self.until(window.to) - self.until(window.from)) / span } else { 0.0 }
    }

    /// The same with its interval over parts of the window.
    #[must_use]
    pub fn goodput(&self, window: Window) -> Figure {
        Figure::of(window.parts(PARTS).map(|part| Some(self.rate(part))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::ms(ms)
    }

    #[test]
    fn rates_are_those_between_samples() {
        let mut volume = Volume::default();
        // 1 MB/s for ten seconds, then 2 MB/s.
        (0..=150).for_each(|n| volume.add(at(100 * n), 100_000 * n.max(2 * n - n.min(100))));
        volume.add(at(3_000), 1);
        assert_eq!(volume.rate(Window { from: at(50), to: at(9_050) }), 8e6);
        let figure = volume.goodput(Window { from: at(5_000), to: at(15_000) });
        assert!((figure.mean.unwrap() - 12e6).abs() < 1.0 && figure.ci95.unwrap() > 1e6, "{figure:?}");
        assert_eq!(volume.rate(Window { from: at(5), to: at(5) }), 0.0);
        let mut late = Volume::default();
        late.add(at(1_000), 5_000_000);
        late.add(at(1_100), 5_100_000);
        assert_eq!(
            late.rate(Window { from: at(0), to: at(1_100) }) as u64,
            8 * 100_000 * 10 / 11,
            "a server that had clients before"
        );
        assert_eq!(Volume::default().rate(Window { from: at(0), to: at(5) }), 0.0);
    }

    #[test]
    fn headers_and_probes_are_part_of_the_line() {
        // 1448 of 1500 bytes are payload, of IPv6 1428; 25 probes of 92 bytes are 18.4 kbit/s.
        assert_eq!(Family::V4.line_rate(14.48e6, 0.0, 0.0, false), 15e6);
        assert_eq!(Family::V6.line_rate(14.28e6, 0.0, 0.0, true), 15e6);
        assert_eq!(Family::V4.line_rate(14.48e6, 25.0, 0.0, true), 15_018_400.0);
        // SYN 60, two acknowledgments, question 180 and end 52 bytes.
        assert_eq!(Family::V4.line_rate(0.0, 0.0, 1.0, true), 8.0 * 396.0);
        assert_eq!(Family::V4.line_rate(0.0, 0.0, 1.0, false), 8.0 * 292.0);
    }
}
