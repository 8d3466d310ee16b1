//! Figures of a link.

use super::describe::{Metric, Quantity};
use super::values::{packets, quantile_s, ratio};
use goodqueue_base::units::Duration;
use goodqueue_sim::LinkOutcome;

/// The value of a figure for one link over a measured part of this length.
type Value = fn(&LinkOutcome, Duration) -> Option<f64>;

/// A figure of a link over a measured part of this length.
pub type LinkMetric = Metric<Value>;

const fn metric(name: &'static str, quantity: Quantity, label: &'static str, doc: &'static str, of: Value) -> LinkMetric {
    Metric::new(name, quantity, label, doc, of)
}

/// A time, which is better the shorter it is.
const fn time(name: &'static str, label: &'static str, doc: &'static str, of: Value) -> LinkMetric {
    metric(name, Quantity::Time, label, doc, of).lower_is_better()
}

const fn count(name: &'static str, label: &'static str, doc: &'static str, of: Value) -> LinkMetric {
    metric(name, Quantity::Count("packets"), label, doc, of)
}

/// Figures of a link, in the order of the file.
pub const LINK_METRICS: &[LinkMetric] = &[
    metric(
        "utilization",
        Quantity::Ratio,
        "Utilization",
        "bits sent, framing and retransmissions included, divided by what the link could carry, what a token bucket had saved up \
         among it",
        |link, _| (link.capacity_bits > 0.0).then(|| link.sent_bits / link.capacity_bits),
    )
    .higher_is_better()
    .decimals(2)
    .at_once()
    .printed("utilized", "", 0)
    .at_place(0),
    metric(
        "throughput_bit_s",
        Quantity::Rate,
        "Throughput",
        "bits sent a second, framing and retransmissions included",
        |link, span| (!span.is_zero()).then(|| link.sent_bits / span.as_secs_f64()),
    )
    .higher_is_better(),
    metric(
        "queue_packets",
        Quantity::Packets,
        "Queue",
        "time average of waiting packets, the one in transmission excluded",
        |link, _| Some(link.queue_packets),
    )
    .lower_is_better()
    .at_once()
    .printed("queue", "", 5)
    .at_place(2),
    metric(
        "queue_bytes",
        Quantity::Bytes,
        "Queue",
        "time average of waiting bytes without framing, the packet in transmission excluded",
        |link, _| Some(link.queue_bytes),
    )
    .lower_is_better(),
    time(
        "sojourn_s.mean",
        "Sojourn mean",
        "mean sojourn time: time that departed packets spent in the queue, from arrival to start of transmission",
        |link, _| {
            let departed = packets(link.counters.departed);
            (departed > 0).then(|| link.sojourn_sum_s / departed as f64)
        },
    )
    .at_once()
    .printed("sojourn", "mean", 2),
    time(
        "sojourn_s.p05",
        "p05",
        "sojourn time that 95 % of the packets exceeded: what a standing queue adds to every delay",
        |link, _| quantile_s(&link.sojourn, 0.05),
    ),
    time("sojourn_s.p25", "p25", "sojourn time that a quarter of the packets did not exceed", |link, _| {
        quantile_s(&link.sojourn, 0.25)
    }),
    time("sojourn_s.p50", "p50", "median sojourn time", |link, _| quantile_s(&link.sojourn, 0.5))
        .at_once()
        .printed("sojourn", "p50", 4),
    time("sojourn_s.p75", "p75", "sojourn time that three quarters of the packets did not exceed", |link, _| {
        quantile_s(&link.sojourn, 0.75)
    }),
    time("sojourn_s.p95", "p95", "sojourn time that 95 % of the packets did not exceed", |link, _| {
        quantile_s(&link.sojourn, 0.95)
    })
    .at_once()
    .printed("sojourn", "p95", 0),
    time("sojourn_s.p99", "p99", "sojourn time that 99 % of the packets did not exceed", |link, _| {
        quantile_s(&link.sojourn, 0.99)
    })
    .at_once()
    .printed("sojourn", "p99", 1),
    time("sojourn_s.max", "Max", "longest sojourn time", |link, _| quantile_s(&link.sojourn, 1.0)),
    time(
        "sojourn_s.spread",
        "p99 - p50",
        "99th percentile of the sojourn time less its median: how much the queue lets delays vary",
        |link, _| Some(quantile_s(&link.sojourn, 0.99)? - quantile_s(&link.sojourn, 0.5)?),
    ),
    metric(
        "drop_ratio",
        Quantity::Ratio,
        "Dropped",
        "packets dropped, for any reason, divided by packets that arrived",
        |link, _| ratio(packets(link.counters.dropped_total()), packets(link.counters.arrived)),
    )
    .lower_is_better()
    .at_once()
    .printed("dropped", "", 0)
    .at_place(2),
    metric(
        "drop_ratio_bytes",
        Quantity::Ratio,
        "Dropped bytes",
        "bytes dropped, for any reason, divided by bytes that arrived, framing not counted",
        |link, _| ratio(link.counters.dropped_total().bytes.get(), link.counters.arrived.bytes.get()),
    )
    .lower_is_better(),
    metric(
        "mark_ratio",
        Quantity::Ratio,
        "Marked",
        "packets newly marked CE divided by ECN-capable packets that arrived; undefined without any",
        |link, _| ratio(packets(link.counters.marked), packets(link.counters.arrived_ect)),
    )
    .at_once()
    .printed_if_defined("marked", "", 1)
    .at_place(2),
    metric(
        "signal_ratio",
        Quantity::Ratio,
        "Signaled",
        "packets marked or dropped by the algorithm's decision divided by packets that arrived",
        |link, _| {
            let counters = &link.counters;
            ratio(packets(counters.early()) + packets(counters.marked), packets(counters.arrived))
        },
    ),
    count("drops.overflow", "Overflow drops", "packets dropped because the queue was full", |link, _| {
        Some(packets(link.counters.overflow()) as f64)
    }),
    count("drops.early", "Early drops", "packets dropped by the algorithm's decision", |link, _| {
        Some(packets(link.counters.early()) as f64)
    }),
    count("arrived_packets", "Arrived", "packets that arrived at the queue, dropped ones included", |link, _| {
        Some(packets(link.counters.arrived) as f64)
    }),
    count("departed_packets", "Departed", "packets whose transmission started", |link, _| {
        Some(packets(link.counters.departed) as f64)
    }),
    count("marked_packets", "Marked packets", "packets newly marked CE", |link, _| Some(packets(link.counters.marked) as f64)),
    metric(
        "loss_events",
        Quantity::Number,
        "Loss events",
        "times at which packets were dropped, drops less than the shortest round-trip time apart being one",
        |link, _| link.loss_events.map(|events| events as f64),
    ),
    metric(
        "loss_synchronization",
        Quantity::Ratio,
        "Lose together",
        "mean share of the active flows that lost something in a loss event (global synchronization, RFC 7928); undefined without \
         losses",
        |link, _| link.loss_synchronization,
    )
    .lower_is_better(),
    metric("settle.changes", Quantity::Number, "Changes of rate", "changes of the link's rate within the measured part", |link, _| {
        link.rate_changes.map(|changes| changes as f64)
    }),
    time(
        "settle.sojourn_s",
        "Settles in",
        "mean time from a change until the median sojourn time (over 100 ms) stays within 1.5 times the algorithm's target, or the \
         95th percentile of the phase's second half if that is more, for a second; a phase that never settles counts with its length",
        |link, _| link.settling.map(|settling| settling.sojourn_mean_s),
    ),
    time("settle.sojourn_max_s", "Settles in, longest", "the longest of these times", |link, _| {
        link.settling.map(|settling| settling.sojourn_max_s)
    }),
    time(
        "settle.utilization_s",
        "Full again in",
        "mean time from a change until the throughput (over 500 ms) stays at or above 95 % of that of the phase's second half for a \
         second",
        |link, _| link.settling.map(|settling| settling.utilization_mean_s),
    ),
    time("settle.utilization_max_s", "Full again in, longest", "the longest of these times", |link, _| {
        link.settling.map(|settling| settling.utilization_max_s)
    }),
    metric(
        "settle.censored",
        Quantity::Number,
        "Never settled",
        "changes after which the sojourn time did not settle before the next one",
        |link, _| link.settling.map(|settling| settling.censored as f64),
    )
    .lower_is_better(),
    time("settle.peak_sojourn_s", "Peak after change", "longest sojourn time after a change", |link, _| {
        link.settling.map(|settling| settling.peak_sojourn_s)
    }),
];
