//! Figures of single flows, and of fairness between all of them.

use super::describe::{Metric, Quantity};
use crate::results::statistics::jain;
use goodqueue_base::units::Duration;
use goodqueue_sim::FlowOutcome;

/// A figure of one flow over a measured part of this length.
pub type FlowMetric = Metric<fn(&FlowOutcome, Duration) -> Option<f64>>;

/// The value of a figure of fairness.
type Value = fn(&[FlowOutcome]) -> Option<f64>;

/// A figure of fairness between flows, of which each gives one value; `None` where one flow's is
/// not known.
pub type FairnessMetric = Metric<Value>;

const fn index(name: &'static str, label: &'static str, doc: &'static str, of: Value) -> FairnessMetric {
    Metric::new(name, Quantity::Number, label, doc, of).higher_is_better().decimals(3)
}

/// Data delivered, which every flow has.
pub(super) const FLOW_GOODPUT: FlowMetric = FlowMetric::new(
    "goodput_bit_s",
    Quantity::Rate,
    "Goodput",
    "data delivered per second, each byte counted once, over the whole measured part; UDP counts IP packets, an echo those of its answers",
    |flow, span| (!span.is_zero()).then(|| flow.delivered_bytes as f64 * 8.0 / span.as_secs_f64()),
)
.higher_is_better();

/// Figures of one flow.
pub const FLOW_METRICS: &[FlowMetric] = &[FLOW_GOODPUT];

/// Figures of fairness between all flows, of whatever kind and direction. Tables print the index of
/// one group's flows instead, which want the same.
pub const JAIN_METRICS: &[FairnessMetric] = &[
    index(
        "goodput",
        "Jain’s index",
        "Jain's index of the goodputs of all flows but echoes: 1 is equal, 1/n is one flow taking all",
        |flows| jain(load(flows).map(|flow| flow.delivered_bytes as f64)),
    ),
    index(
        "weighted_goodput",
        "Jain, weighted",
        "Jain's index of the goodputs of all flows but echoes, each divided by its weight: 1 is shares as the weights say",
        |flows| jain(load(flows).map(|flow| flow.delivered_bytes as f64 / flow.weight)),
    ),
    index(
        "drop_share",
        "Jain, drops",
        "Jain's index of each flow's share of drops divided by its share of packets sent: 1 means drops in proportion; undefined \
         without drops",
        drop_share,
    ),
];

/// Flows that want a share of the link: probes do not.
fn load(flows: &[FlowOutcome]) -> impl Iterator<Item = &FlowOutcome> {
    flows.iter().filter(|flow| !flow.is_probe)
}

/// Jain's index of (drops of the flow / all drops) / (packets of the flow / all packets) over flows
/// that sent something.
pub(super) fn drop_share(flows: &[FlowOutcome]) -> Option<f64> {
    // Jain's index does not change when all shares are multiplied by the same number, so the two
    // totals cancel out.
    let active = load(flows).filter(|flow| flow.sent_packets > 0);
    let shares: Option<Vec<f64>> = active.map(|flow| Some(flow.dropped_packets? as f64 / flow.sent_packets as f64)).collect();
    jain(shares?)
}
