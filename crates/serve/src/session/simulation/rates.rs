//! Rates over a stretch of simulated time that is long enough for them to mean something.
//!
//! At slow speed a frame covers less than a packet's transmission: what was sent in it, divided by
//! its length, would be nothing or many times the link's rate. So rates are computed over several
//! frames then, and stay as they are in between.

/// Simulated seconds that a rate is computed over at least.
const STRETCH_S: f64 = 0.05;

/// Rates of one link and of what was delivered, in bit/s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    pub throughput: f64,
    /// Share of what the link could have sent; `None` when it could send nothing.
    pub utilization: Option<f64>,
    pub groups: Vec<f64>,
    pub flows: Vec<f64>,
}

/// Counts of one frame; bytes of groups and flows count since the start of the run.
#[derive(Debug)]
pub struct FrameTotals {
    pub span_s: f64,
    pub sent_bits: f64,
    pub capacity_bits: f64,
    pub groups: Vec<u64>,
    pub flows: Vec<u64>,
}

/// Computes rates from the totals of consecutive frames.
#[derive(Debug, Default)]
pub struct RateMeter {
    span_s: f64,
    sent_bits: f64,
    capacity_bits: f64,
    /// Bytes at the start of this stretch.
    groups: Vec<u64>,
    flows: Vec<u64>,
    shown: Rates,
    begun: bool,
}

impl RateMeter {
    /// The rates after one more frame.
    pub fn add(&mut self, frame: FrameTotals) -> &Rates {
        self.span_s += frame.span_s;
        self.sent_bits += frame.sent_bits;
        self.capacity_bits += frame.capacity_bits;
        // Before the first stretch is full, what there is has to do.
        if self.span_s > 0.0 && (self.span_s >= STRETCH_S || !self.begun) {
            self.shown = Rates {
                throughput: self.sent_bits / self.span_s,
                // Packets count when their transmission begins, so that a short stretch may have
                // more than fits into it.
                utilization: (self.capacity_bits > 0.0).then(|| (self.sent_bits / self.capacity_bits).min(1.0)),
                groups: self.per_second(&frame.groups, &self.groups),
                flows: self.per_second(&frame.flows, &self.flows),
            };
        }
        if self.span_s >= STRETCH_S {
            *self = Self {
                groups: frame.groups,
                flows: frame.flows,
                shown: std::mem::take(&mut self.shown),
                begun: true,
                ..Self::default()
            };
        } else {
            // A flow that has just been added has no rate yet.
            self.shown.flows.resize(frame.flows.len(), 0.0);
            self.shown.groups.resize(frame.groups.len(), 0.0);
        }
        &self.shown
    }

    fn per_second(&self, now: &[u64], before: &[u64]) -> Vec<f64> {
        let rate = |(place, bytes): (usize, &u64)| {
            bytes.saturating_sub(before.get(place).copied().unwrap_or(0)) as f64 * 8.0 / self.span_s
        };
        now.iter().enumerate().map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a frame in which `packets` packets of 1250 bytes left a link of 10 Mbit/s.
    fn frame(span_s: f64, packets: u64, delivered: u64) -> FrameTotals {
        FrameTotals {
            span_s,
            sent_bits: packets as f64 * 1e4,
            capacity_bits: span_s * 1e7,
            groups: vec![delivered],
            flows: vec![delivered],
        }
    }

    #[test]
    fn a_frame_shorter_than_a_packet_shows_no_peak() {
        let mut meter = RateMeter::default();
        assert!(meter.add(frame(0.1, 100, 125_000)).throughput == 1e7);
        // One packet in every tenth frame of 0.1 ms, as fast as the link can.
        for number in 1..=2000_u64 {
            let rates = meter.add(frame(1e-4, u64::from(number % 10 == 0), 125_000 + 1250 * (number / 10)));
            assert!((9.7e6..10.3e6).contains(&rates.throughput), "{number}: {rates:?}");
            assert!((9.7e6..10.3e6).contains(&rates.flows[0]), "{number}: {rates:?}");
            assert!(rates.utilization > Some(0.97), "{number}: {rates:?}");
        }
    }

    #[test]
    fn first_frames_show_present_flows_and_new_flows_begin_at_zero() {
        let mut meter = RateMeter::default();
        assert_eq!(meter.add(frame(0.01, 5, 6250)).throughput, 5e6);
        assert_eq!(meter.add(frame(0.01, 10, 18_750)).throughput, 7.5e6);
        meter.add(frame(0.05, 0, 18_750));
        let added = FrameTotals { flows: vec![18_750, 0], ..frame(0.01, 0, 18_750) };
        assert_eq!(meter.add(added).flows.len(), 2);
        assert_eq!(RateMeter::default().add(frame(0.0, 0, 0)).throughput, 0.0);
    }
}
