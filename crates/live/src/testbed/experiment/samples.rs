//! Values over time: what the queue held and did, and what the kernel's senders say of themselves.

use super::REPORT_EVERY;
use super::flows::FlowState;
use crate::monitor::{HalfReport, Report};
use goodqueue_base::units::{Duration, Instant};

/// Flows beyond this number are not sampled: a report of more lines could not be read.
const MAX_SAMPLED_FLOWS: usize = 64;
const OF_LINK: [&str; 6] = ["queue_packets", "queue_bytes", "sojourn_s", "throughput_bit_s", "drops", "marks"];
const OF_FLOW: [&str; 4] = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s"];

/// Values of one subject, by name: one a sample, `NaN` where there is none.
pub type Columns = Vec<(String, Vec<f64>)>;

/// Values over time, warm-up included, with the names and units of the simulator's series.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// When, since the start.
    pub times: Vec<Duration>,
    /// The direction from left to right, and the other: packets and bytes that wait, mean time in
    /// the queue and rate since the sample before, packets dropped and marked since the start, and
    /// the algorithm's state.
    pub halves: [Columns; 2],
    /// The first 64 flows; of UDP there is only what arrived.
    pub flows: Vec<Columns>,
}

/// Makes them from reports.
pub(super) struct Sampler {
    start: Instant,
    every: Duration,
    last: Instant,
    sent_bits: [u64; 2],
    delivered: Vec<u64>,
    /// Times in the queue since the last sample: their sum, in nanoseconds, and how many.
    sojourns: [(u128, u64); 2],
    samples: Samples,
}

impl Sampler {
    /// Samples this often, as far as reports come as often, since `start`.
    pub(super) fn new(start: Instant, every: Duration) -> Self {
        let (last, samples) = (start, Samples::default());
        Self { start, every, last, sent_bits: [0; 2], delivered: Vec::new(), sojourns: [(0, 0); 2], samples }
    }

    /// A report has come, and this is what the flows' senders say.
    pub(super) fn take(&mut self, report: &Report, flows: &[FlowState]) {
        for (sum, half) in self.sojourns.iter_mut().zip([&report.down, &report.up]) {
            sum.0 += half.times.sojourn_sum;
            sum.1 += half.times.sojourn.len();
        }
        let span = report.at.since(self.last);
        // Reports come a little late now and then: half of their distance is near enough.
        if span + self.every.min(REPORT_EVERY).div(2) < self.every || span.is_zero() {
            return;
        }
        self.last = report.at;
        self.samples.times.push(report.at.since(self.start));
        for (place, half) in [&report.down, &report.up].into_iter().enumerate() {
            let (sum, count) = std::mem::take(&mut self.sojourns[place]);
            let sojourn = if count > 0 { sum as f64 * 1e-9 / count as f64 } else { f64::NAN };
            let sent = half.sent_bits - std::mem::replace(&mut self.sent_bits[place], half.sent_bits);
            let values = of_link(half, sojourn, sent as f64 / span.as_secs_f64());
            append(&mut self.samples.halves[place], values);
        }
        self.samples.flows.resize(flows.len().min(MAX_SAMPLED_FLOWS), Columns::new());
        self.delivered.resize(flows.len(), 0);
        for ((columns, flow), before) in self.samples.flows.iter_mut().zip(flows).zip(&mut self.delivered) {
            let got = flow.delivered_bytes - std::mem::replace(before, flow.delivered_bytes);
            let goodput = got as f64 * 8.0 / span.as_secs_f64();
            let values = [flow.cwnd_bytes, flow.in_flight_bytes, flow.srtt_s, goodput];
            append(columns, OF_FLOW.into_iter().map(str::to_owned).zip(values));
        }
    }

    pub(super) fn finish(self) -> Samples {
        self.samples
    }
}

fn of_link(half: &HalfReport, sojourn_s: f64, bit_s: f64) -> impl Iterator<Item = (String, f64)> {
    let values = [
        half.view.packets.get() as f64,
        half.view.backlog.get() as f64,
        sojourn_s,
        bit_s,
        half.counters.dropped_total().packets.get() as f64,
        half.counters.marked.packets.get() as f64,
    ];
    let gauges = half.gauges.iter().map(|(name, value)| (format!("gauge:{name}"), *value));
    OF_LINK.into_iter().map(str::to_owned).zip(values).chain(gauges)
}

/// A value more in each column. The names are always the same ones in the same order.
fn append(columns: &mut Columns, values: impl Iterator<Item = (String, f64)>) {
    for (place, (name, value)) in values.enumerate() {
        match columns.get_mut(place) {
            Some((_, column)) => column.push(value),
            None => columns.push((name, vec![value])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(at_ms: u64, bits: u64, sojourns_ms: &[u64]) -> Report {
        let mut report = Report { at: Instant::ZERO + Duration::ms(at_ms), ..Report::default() };
        report.down.sent_bits = bits;
        report.down.gauges.push(("count", 3.0));
        for &time in sojourns_ms {
            report.down.times.sojourn.add(Duration::ms(time));
            report.down.times.sojourn_sum += u128::from(time) * 1_000_000;
        }
        report
    }

    #[test]
    fn reports_become_means_and_rates_between_samples() {
        let mut sampler = Sampler::new(Instant::ZERO, Duration::ms(40));
        let flow = |delivered_bytes| FlowState { delivered_bytes, cwnd_bytes: 14_480.0, in_flight_bytes: 2896.0, srtt_s: 0.02 };
        for (n, bits) in [(1, 1000), (2, 4000), (3, 4000), (4, 12_000)] {
            let both = [n, n + 2];
            sampler.take(&report(20 * n, bits, if n == 3 { &[] } else { &both }), &[flow(100 * n)]);
        }
        let samples = sampler.finish();
        assert_eq!(samples.times, [Duration::ms(40), Duration::ms(80)]);
        let column =
            |columns: &Columns, name: &str| columns.iter().find(|(known, _)| known == name).map(|(_, values)| values.clone());
        assert_eq!(column(&samples.halves[0], "throughput_bit_s"), Some(vec![100_000.0, 200_000.0]));
        // (1 + 3 + 2 + 4) / 4 and (4 + 6) / 2 ms.
        assert_eq!(column(&samples.halves[0], "sojourn_s"), Some(vec![0.0025, 0.005]));
        assert_eq!(column(&samples.halves[0], "gauge:count"), Some(vec![3.0, 3.0]));
        assert!(column(&samples.halves[1], "sojourn_s").is_some_and(|values| values.iter().all(|value| value.is_nan())));
        assert_eq!(column(&samples.flows[0], "goodput_bit_s"), Some(vec![40_000.0, 40_000.0]));
        assert_eq!(column(&samples.flows[0], "cwnd_bytes"), Some(vec![14_480.0, 14_480.0]));
    }
}
