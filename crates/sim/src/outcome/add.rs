//! The sum of outcomes: of links that are reported as one, and of worlds that share nothing.

use super::{FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn, TransferOutcome};
use std::collections::BTreeMap;

/// The mean of so many values and one more.
fn mean(of_many: f64, many: u32, other: f64) -> f64 {
    of_many + (other - of_many) / f64::from(many + 1)
}

impl Outcome {
    /// Adds the outcome of a world that is like each of the `many` worlds in this one and shares
    /// nothing with them: the same links and groups, each reported as one, and flows of its own.
    pub fn add(&mut self, other: Self, many: u32) {
        for (sum, link) in self.links.iter_mut().zip(other.links) {
            sum.add(link, many);
        }
        for (sum, group) in self.groups.iter_mut().zip(other.groups) {
            sum.add(group);
        }
        for series in other.series {
            if let Some(sum) = self.series.iter_mut().find(|known| known.subject == series.subject) {
                sum.add(&series, many);
            }
        }
        let first = u32::try_from(self.flows.len()).unwrap_or(u32::MAX);
        self.packets.extend(other.packets.into_iter().map(|mut event| {
            event.flow += first;
            event
        }));
        self.flows.extend(other.flows);
        // FNV-1a over the bytes.
        let bytes = other.fingerprint.to_le_bytes();
        self.fingerprint =
            bytes.into_iter().fold(self.fingerprint, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        self.events += other.events;
        self.complete &= other.complete;
    }

    /// Puts flows in the order of groups and their numbers, and packets in that of time.
    pub fn sort(&mut self) {
        let key = |flow: &FlowOutcome| (flow.group, flow.index);
        if self.flows.is_sorted_by_key(key) {
            return;
        }
        let mut order: Vec<u32> = (0..self.flows.len() as u32).collect();
        order.sort_by_key(|flow| key(&self.flows[*flow as usize]));
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, flow)| places[*flow as usize] = place);
        self.flows.sort_by_key(key);
        self.packets.iter_mut().for_each(|event| event.flow = places[event.flow as usize]);
        self.packets.sort_by_key(|event| event.at);
    }
}

impl LinkOutcome {
    /// Adds another link to the figures of `links`.
    pub(crate) fn add(&mut self, other: Self, links: u32) {
        let weight = |link: &Self| link.loss_events.unwrap_or(0) as f64;
        let part = |link: &Self| link.loss_synchronization.unwrap_or(0.0) * weight(link);
        let weights = weight(self) + weight(&other);
        self.loss_synchronization = (weights > 0.0).then(|| (part(self) + part(&other)) / weights);
        self.loss_events = self.loss_events.zip(other.loss_events).map(|(one, other)| one + other);
        self.rate_changes = self.rate_changes.zip(other.rate_changes).map(|(one, other)| one + other);
        self.settling = match (self.settling, other.settling) {
            (Some(one), Some(other)) => Some(one.and(&other)),
            (one, other) => one.or(other),
        };
        self.counters = self.counters.clone() + other.counters;
        self.sent_bits += other.sent_bits;
        self.capacity_bits += other.capacity_bits;
        self.queue_packets = mean(self.queue_packets, links, other.queue_packets);
        self.queue_bytes = mean(self.queue_bytes, links, other.queue_bytes);
        self.sojourn_sum_s += other.sojourn_sum_s;
        self.sojourn.merge(&other.sojourn);
        self.departed_whole_run += other.departed_whole_run;
        let mut bits: BTreeMap<u32, f64> = self.group_bits.iter().copied().collect();
        other.group_bits.into_iter().for_each(|(group, more)| *bits.entry(group).or_default() += more);
        self.group_bits = bits.into_iter().collect();
    }
}

impl GroupOutcome {
    fn add(&mut self, other: Self) {
        self.rtt.merge(&other.rtt);
        self.sojourn.merge(&other.sojourn);
        self.one_way_delay.merge(&other.one_way_delay);
        match (&mut self.transfers, other.transfers) {
            (Some(sum), Some(other)) => sum.add(&other),
            (none, other) => *none = none.take().or(other),
        }
        self.videos.extend(other.videos);
        self.calls.extend(other.calls);
    }
}

impl TransferOutcome {
    fn add(&mut self, other: &Self) {
        let Self { begun, refused, complete, open, completion, by_size, slowdown_millionths, first_byte, page_load, playing } =
            self;
        *begun += other.begun;
        *refused += other.refused;
        *complete += other.complete;
        *open += other.open;
        completion.merge(&other.completion);
        by_size.iter_mut().zip(&other.by_size).for_each(|(sum, other)| sum.merge(other));
        slowdown_millionths.merge(&other.slowdown_millionths);
        first_byte.merge(&other.first_byte);
        page_load.merge(&other.page_load);
        playing.merge(&other.playing);
    }
}

impl Series {
    /// Adds the samples of a like link to those of `many`: queues and gauges are the mean of one,
    /// sojourn times weigh as much as the bytes that left, all else is a sum.
    fn add(&mut self, other: &Self, many: u32) {
        let sent = |series: &Self| {
            let column = series.columns.iter().find(|column| column.name == SENT);
            column.map(|column| column.values.clone()).unwrap_or_default()
        };
        let (here, there) = (sent(self), sent(other));
        for (SeriesColumn { name, values }, more) in self.columns.iter_mut().zip(&other.columns) {
            for (place, (value, more)) in values.iter_mut().zip(&more.values).enumerate() {
                *value = match name.as_str() {
                    "sojourn_s" if value.is_nan() => *more,
                    "sojourn_s" if more.is_nan() => *value,
                    "sojourn_s" => {
                        let (one, other) = (here[place], there[place]);
                        if one + other > 0.0 { (*value * one + more * other) / (one + other) } else { *value }
                    }
                    SENT | "drops" | "marks" => *value + more,
                    _ => mean(*value, many, *more),
                };
            }
        }
    }
}

/// The column of what a link sent.
const SENT: &str = "throughput_bit_s";
