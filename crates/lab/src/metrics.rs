//! From what one run measured to its figures, and the list of what every figure means.

mod groups;

use crate::statistics::jain;
use goodqueue_aqm::{Counters, Tally};
use goodqueue_sim::{FlowOutcome, LinkOutcome, Outcome, SojournHistogram};
use goodqueue_units::Duration;
use groups::group_values;

pub use groups::GROUP_METRICS;

/// The figures of one run: small, whatever the run's length. `None` where a figure is not defined.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// One entry for each observed link.
    pub links: Vec<LinkFigures>,
    /// One entry for each group of flows.
    pub groups: Vec<GroupFigures>,
    /// One entry for each flow.
    pub flows: Vec<FlowFigures>,
    /// Jain's index of the flows' goodputs.
    pub jain_goodput: Option<f64>,
    /// Jain's index of the flows' shares of drops in proportion to their shares of packets.
    pub jain_drop_share: Option<f64>,
    /// Jain's index over the goodputs of all flows, each divided by its weight.
    pub jain_weighted: Option<f64>,
    /// Hash of the trace of events.
    pub fingerprint: u64,
    /// Events handled.
    pub events: u64,
}

/// Figures of one link in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFigures {
    /// The link's name.
    pub name: String,
    /// Values in the order of [`LINK_METRICS`].
    pub values: Vec<Option<f64>>,
    /// Of the bits sent, the share of each group, in the order of the groups; undefined when nothing was sent.
    pub group_share: Vec<Option<f64>>,
}

/// Figures of one group in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFigures {
    /// The group's name.
    pub name: String,
    /// Its flows.
    pub flows: u32,
    /// Values in the order of [`GROUP_METRICS`].
    pub values: Vec<Option<f64>>,
}

/// Figures of one flow in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowFigures {
    /// Its group, as an index into the groups.
    pub group: u32,
    /// Its number within the group.
    pub index: u32,
    /// Data delivered once, over the whole measured part.
    pub goodput_bit_s: Option<f64>,
}

/// A figure's name and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its key in `summary.json`, with dots between nested keys.
    pub name: &'static str,
    /// Its unit; "1" for a plain ratio.
    pub unit: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// When results have it.
    pub presence: Presence,
}

/// When results have a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Always,
    /// When some figure of its section, the part of the name before the first dot, is defined: figures of some kinds of traffic only.
    WithSection,
}

const fn metric(name: &'static str, unit: &'static str, doc: &'static str) -> Metric {
    Metric { name, unit, doc, presence: Presence::Always }
}

/// A figure of some kinds of traffic only.
const fn special(name: &'static str, unit: &'static str, doc: &'static str) -> Metric {
    Metric { name, unit, doc, presence: Presence::WithSection }
}

/// Figures of a link, in the order of the file.
pub const LINK_METRICS: &[Metric] = &[
    metric("utilization", "1", "bits sent, framing and retransmissions included, divided by what the link could carry"),
    metric("throughput_bit_s", "bit/s", "bits sent a second, framing and retransmissions included"),
    metric("queue_packets", "packets", "time average of waiting packets, the one in transmission excluded"),
    metric("queue_bytes", "bytes", "time average of waiting bytes without framing, the packet in transmission excluded"),
    metric("sojourn_s.mean", "s", "mean time in the queue of packets that departed, from arrival to start of transmission"),
    metric("sojourn_s.p25", "s", "time in the queue that a quarter of the packets did not exceed"),
    metric("sojourn_s.p50", "s", "median time in the queue"),
    metric("sojourn_s.p75", "s", "time in the queue that three quarters of the packets did not exceed"),
    metric("sojourn_s.p95", "s", "time in the queue that 95 % of the packets did not exceed"),
    metric("sojourn_s.p99", "s", "time in the queue that 99 % of the packets did not exceed"),
    metric("sojourn_s.max", "s", "longest time in the queue"),
    metric("drop_ratio", "1", "packets dropped, for any reason, divided by packets that arrived"),
    metric("drop_ratio_bytes", "1", "bytes dropped, for any reason, divided by bytes that arrived, framing not counted"),
    metric("mark_ratio", "1", "packets newly marked CE divided by ECN-capable packets that arrived; undefined without any"),
    metric("signal_ratio", "1", "packets marked or dropped by the algorithm's decision divided by packets that arrived"),
    metric("drops.overflow", "packets", "packets dropped because the queue was full"),
    metric("drops.early", "packets", "packets dropped by the algorithm's decision"),
    metric("arrived_packets", "packets", "packets that arrived at the queue, dropped ones included"),
    metric("departed_packets", "packets", "packets whose transmission started"),
    metric("marked_packets", "packets", "packets newly marked CE"),
    metric(
        "loss_events",
        "1",
        "times at which packets were dropped, drops less than the shortest round-trip time apart being one",
    ),
    metric(
        "loss_synchronization",
        "1",
        "mean share of the active flows that lost something in a loss event (global synchronisation, RFC 7928); undefined without losses",
    ),
    metric("settle.changes", "1", "changes of the link's rate within the measured part"),
    metric(
        "settle.sojourn_s",
        "s",
        "mean time from a change until the median sojourn time (over 100 ms) stays within 1.5 times the algorithm's target, or the 95th \
         percentile of the phase's second half if that is more, for a second; a phase that never settles counts with its length",
    ),
    metric("settle.sojourn_max_s", "s", "the longest of these times"),
    metric(
        "settle.utilization_s",
        "s",
        "mean time from a change until the throughput (over 500 ms) stays at or above 95 % of that of the phase's second half for a second",
    ),
    metric("settle.utilization_max_s", "s", "the longest of these times"),
    metric("settle.censored", "1", "changes after which the sojourn time did not settle before the next one"),
    metric("settle.peak_sojourn_s", "s", "longest time in the queue after a change"),
];

/// Figures of one flow.
pub const FLOW_METRICS: &[Metric] = &[metric(
    "goodput_bit_s",
    "bit/s",
    "data delivered once a second, over the whole measured part; UDP counts IP packets, an echo those of its answers",
)];

/// Figures of fairness between all flows.
pub const JAIN_METRICS: &[Metric] = &[
    metric("goodput", "1", "Jain's index of the goodputs of all flows but echoes: 1 is equal, 1/n is one flow taking all"),
    metric(
        "weighted_goodput",
        "1",
        "Jain's index of the goodputs of all flows but echoes, each divided by its weight: 1 is shares as the weights say",
    ),
    metric(
        "drop_share",
        "1",
        "Jain's index of each flow's share of drops divided by its share of packets sent: 1 means drops in proportion; \
         undefined without drops",
    ),
];

impl RunFigures {
    /// The figures of a run whose measured part was `duration` long.
    #[must_use]
    pub fn of(outcome: &Outcome, duration: Duration) -> Self {
        let seconds = duration.as_secs_f64();
        let groups = outcome.groups.iter().enumerate();
        Self {
            links: outcome.links.iter().map(|link| link_figures(link, seconds)).collect(),
            groups: groups
                .map(|(number, group)| {
                    let flows: Vec<&FlowOutcome> = outcome.flows.iter().filter(|flow| flow.group == number as u32).collect();
                    GroupFigures {
                        name: group.name.clone(),
                        flows: flows.len() as u32,
                        values: group_values(&flows, group, seconds),
                    }
                })
                .collect(),
            flows: outcome.flows.iter().map(|flow| flow_figures(flow, seconds)).collect(),
            jain_weighted: jain(load(&outcome.flows).map(|flow| flow.delivered_bytes as f64 / flow.weight)),
            jain_goodput: jain(load(&outcome.flows).map(|flow| flow.delivered_bytes as f64)),
            jain_drop_share: drop_share(&outcome.flows),
            fingerprint: outcome.fingerprint,
            events: outcome.events,
        }
    }
}

impl LinkFigures {
    /// The value of one of [`LINK_METRICS`]; `None` when it is not defined in this run or there is no such figure.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        let place = LINK_METRICS.iter().position(|known| known.name == metric)?;
        self.values[place]
    }
}

/// `part` of `whole`; `None` when there is no whole.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn packets(tally: Tally) -> u64 {
    tally.packets.get()
}

fn link_figures(link: &LinkOutcome, seconds: f64) -> LinkFigures {
    let counters: &Counters = &link.counters;
    let arrived = packets(counters.arrived);
    let departed = packets(counters.departed);
    let marked = packets(counters.marked);
    let early = packets(counters.early());
    let quantile = |q: f64| quantile_s(&link.sojourn, q);
    let values = vec![
        (link.capacity_bits > 0.0).then(|| link.sent_bits / link.capacity_bits),
        (seconds > 0.0).then(|| link.sent_bits / seconds),
        Some(link.queue_packets),
        Some(link.queue_bytes),
        (departed > 0).then(|| link.sojourn_sum_s / departed as f64),
        quantile(0.25),
        quantile(0.5),
        quantile(0.75),
        quantile(0.95),
        quantile(0.99),
        quantile(1.0),
        ratio(packets(counters.dropped_total()), arrived),
        ratio(counters.dropped_total().bytes.get(), counters.arrived.bytes.get()),
        ratio(marked, packets(counters.arrived_ect)),
        ratio(early + marked, arrived),
        Some(packets(counters.overflow()) as f64),
        Some(early as f64),
        Some(arrived as f64),
        Some(departed as f64),
        Some(marked as f64),
        Some(link.loss_events as f64),
        link.loss_synchronization,
        Some(link.settling.map_or(0.0, |settling| settling.changes as f64)),
        link.settling.map(|settling| settling.sojourn_mean_s),
        link.settling.map(|settling| settling.sojourn_max_s),
        link.settling.map(|settling| settling.utilization_mean_s),
        link.settling.map(|settling| settling.utilization_max_s),
        link.settling.map(|settling| settling.censored as f64),
        link.settling.map(|settling| settling.peak_sojourn_s),
    ];
    debug_assert_eq!(values.len(), LINK_METRICS.len(), "one value for each metric");
    let group_bits: f64 = link.group_bits.iter().sum();
    let group_share = link.group_bits.iter().map(|bits| (group_bits > 0.0).then(|| bits / group_bits)).collect();
    LinkFigures { name: link.name.clone(), values: finite(values), group_share }
}

fn finite(values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    values.into_iter().map(|value| value.filter(|value| value.is_finite())).collect()
}

fn flow_figures(flow: &FlowOutcome, seconds: f64) -> FlowFigures {
    let goodput_bit_s = (seconds > 0.0).then(|| flow.delivered_bytes as f64 * 8.0 / seconds);
    FlowFigures { group: flow.group, index: flow.index, goodput_bit_s }
}

/// Flows that want a share of the link: probes do not.
fn load(flows: &[FlowOutcome]) -> impl Iterator<Item = &FlowOutcome> {
    flows.iter().filter(|flow| !flow.is_probe)
}

/// Jain's index of (drops of the flow / all drops) / (packets of the flow / all packets) over flows that sent something.
fn drop_share(flows: &[FlowOutcome]) -> Option<f64> {
    // Jain's index does not change when all shares are multiplied by the same number, so the two totals cancel out.
    let active = load(flows).filter(|flow| flow.sent_packets > 0);
    jain(active.map(|flow| flow.dropped_packets as f64 / flow.sent_packets as f64))
}

/// The `q` quantile by nearest rank, in seconds; `None` for an empty histogram.
fn quantile_s(histogram: &SojournHistogram, q: f64) -> Option<f64> {
    (!histogram.is_empty()).then(|| histogram.value_at_quantile(q) as f64 / 1e9)
}

/// The ⌈percent/100 · n⌉-th smallest of sorted values.
fn nearest_rank(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (percent * sorted.len()).div_ceil(100);
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests;
