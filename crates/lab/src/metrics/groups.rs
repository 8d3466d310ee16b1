//! Figures of a group of flows.

mod voice;

use super::{Metric, finite, metric, nearest_rank, quantile_s, ratio, special};
use goodqueue_sim::{CallOutcome, Content, FlowOutcome, GroupOutcome, SojournHistogram, TransferOutcome};
use goodqueue_units::Duration;

/// Figures of a group of flows, in the order of the file.
pub const GROUP_METRICS: &[Metric] = &[
    metric(
        "goodput_bit_s",
        "bit/s",
        "data delivered once a second, all flows of the group together; UDP counts IP packets, an echo those of its answers",
    ),
    metric(
        "rtt_s.mean",
        "s",
        "mean round-trip time as the group's TCP senders measure it; of an echo, from a probe's sending to its answer's arrival, over probes sent in the measured part",
    ),
    metric("rtt_s.p50", "s", "median round-trip time"),
    metric("rtt_s.p95", "s", "round-trip time that 95 % of the group's samples did not exceed"),
    metric("rtt_s.p99", "s", "round-trip time that 99 % of the group's samples did not exceed"),
    metric("sojourn_s.mean", "s", "mean time that the group's data packets spent in the queue of a reported link"),
    metric("sojourn_s.p95", "s", "time in the queue that 95 % of the group's data packets did not exceed"),
    metric(
        "loss_ratio",
        "1",
        "packets dropped by queues on the way divided by packets sent; of an echo, probes that never came back, whichever way they were lost; those still on their way at the end are not among them",
    ),
    metric(
        "loss_run_packets.mean",
        "packets",
        "mean number of consecutive packets of a flow that were lost together, counted as in loss_ratio",
    ),
    metric("loss_run_packets.max", "packets", "most consecutive packets of a flow that were lost together"),
    metric("loss_gap_packets", "packets", "mean number of packets of a flow that got through between two such runs"),
    metric("mark_ratio", "1", "packets newly marked CE on the way divided by packets sent"),
    metric("retransmitted_ratio", "1", "retransmissions divided by packets sent"),
    metric("timeouts", "1", "retransmission timeouts, all flows of the group together"),
    metric("sent_packets", "packets", "packets sent, retransmissions included, all flows of the group together"),
    metric(
        "completed_flows",
        "flows",
        "flows with limited data that finished, warm-up included; of sessions, transfers that began and ended in the measured part",
    ),
    metric("completion_s.p50", "s", "median time from the start of a flow or transfer to its end, over those that finished"),
    metric("completion_s.p95", "s", "time in which 95 % of those that finished did so"),
    special("completion_by_size.under_10_kB.p50", "s", "median time of transfers below 10 kB"),
    special("completion_by_size.under_10_kB.p95", "s", "time in which 95 % of them ended"),
    special("completion_by_size.from_10_kB.p50", "s", "median time of transfers from 10 kB to below 100 kB"),
    special("completion_by_size.from_10_kB.p95", "s", "time in which 95 % of them ended"),
    special("completion_by_size.from_100_kB.p50", "s", "median time of transfers from 100 kB to below 1 MB"),
    special("completion_by_size.from_100_kB.p95", "s", "time in which 95 % of them ended"),
    special("completion_by_size.from_1_MB.p50", "s", "median time of transfers from 1 MB to below 10 MB"),
    special("completion_by_size.from_1_MB.p95", "s", "time in which 95 % of them ended"),
    special("completion_by_size.from_10_MB.p50", "s", "median time of transfers of 10 MB and more"),
    special("completion_by_size.from_10_MB.p95", "s", "time in which 95 % of them ended"),
    special(
        "slowdown.mean",
        "1",
        "mean over transfers of their time divided by the least the empty path allows: its round trips and transmission at its slowest link",
    ),
    special("slowdown.p50", "1", "median slowdown"),
    special("slowdown.p95", "1", "slowdown that 95 % of the transfers did not exceed"),
    special("slowdown.p99", "1", "slowdown that 99 % of the transfers did not exceed"),
    special("transfers.begun", "transfers", "transfers of sessions that began in the measured part"),
    special("transfers.unfinished", "transfers", "of these, transfers that had not ended when the run did"),
    special("transfers.refused", "transfers", "transfers that could not begin, since too many were open"),
    special(
        "startup_s.p50",
        "s",
        "median time from a request to the first byte of its response, the handshake included on a new connection",
    ),
    special("startup_s.p95", "s", "time from a request to the first byte that 95 % of the requests did not exceed"),
    special("page_load_s.mean", "s", "mean time from a page's first connection to the last byte of its last object"),
    special("page_load_s.p50", "s", "median time that a page took"),
    special("page_load_s.p95", "s", "time that 95 % of the pages did not exceed"),
    special(
        "video.bitrate_bit_s",
        "bit/s",
        "mean bitrate of the segments received: their bits over their media time, all videos of the group",
    ),
    special("video.rebuffer_ratio", "1", "time spent waiting with an empty buffer divided by time since playing began"),
    special("video.stalls", "1", "how often a buffer ran empty, mean over videos"),
    special("video.switches", "1", "changes of bitrate, mean over videos"),
    special("video.startup_s", "s", "median time from a video's start to its playing, warm-up included"),
    special("one_way_delay_s.mean", "s", "mean time from the sending of a UDP packet to its arrival"),
    special("one_way_delay_s.p50", "s", "median of it"),
    special("one_way_delay_s.p95", "s", "delay that 95 % of the packets did not exceed"),
    special("one_way_delay_s.p99", "s", "delay that 99 % of the packets did not exceed"),
    special("one_way_delay_s.max", "s", "longest delay"),
    special("jitter_s.p50", "s", "median delay above the flow's least (packet delay variation), mean over flows"),
    special("jitter_s.p95", "s", "delay above the flow's least that 95 % of its packets did not exceed, mean over flows"),
    special("jitter_s.p99", "s", "delay above the flow's least that 99 % of its packets did not exceed, mean over flows"),
    special("late_ratio", "1", "packets that took longer than 150 ms divided by packets that arrived"),
    special("voip.mos", "1", "mean opinion score of the E-model from 1 to 4.5, mean over calls"),
    special("voip.r_factor", "1", "rating of the E-model from 0 to 93.2, mean over calls"),
    special("voip.worst_mos", "1", "mean opinion score of the worst call"),
];

/// Named values in any order.
type Named = Vec<(&'static str, Option<f64>)>;

/// The values of one group in the order of [`GROUP_METRICS`].
pub(super) fn group_values(flows: &[&FlowOutcome], group: &GroupOutcome, seconds: f64) -> Vec<Option<f64>> {
    let mut named = plain(flows, group, seconds);
    if let Some(transfers) = &group.transfers {
        named.extend(of_transfers(transfers));
    }
    named.extend(of_videos(group));
    named.extend(of_datagrams(group));
    debug_assert!(
        named.iter().all(|(name, _)| GROUP_METRICS.iter().any(|metric| metric.name == *name)),
        "every value belongs to a metric"
    );
    let value = |metric: &Metric| named.iter().find(|(name, _)| *name == metric.name).and_then(|(_, value)| *value);
    finite(GROUP_METRICS.iter().map(value).collect())
}

fn mean_s(times: &SojournHistogram) -> Option<f64> {
    (!times.is_empty()).then(|| times.mean() / 1e9)
}

fn plain(flows: &[&FlowOutcome], group: &GroupOutcome, seconds: f64) -> Named {
    let sum = |count: fn(&FlowOutcome) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>();
    let sent = sum(|flow| flow.sent_packets);
    let runs = sum(|flow| flow.loss_runs);
    let mut completions: Vec<Duration> = flows.iter().filter_map(|flow| flow.completion).collect();
    completions.sort_unstable();
    let transfers = group.transfers.as_ref().filter(|_| completions.is_empty());
    let complete = transfers.map_or(completions.len() as u64, |transfers| transfers.complete);
    // Flows that end once are few enough for exact values.
    let completion = |percent: usize| match transfers {
        Some(transfers) => quantile_s(&transfers.completion, percent as f64 / 100.0),
        None => nearest_rank(&completions, percent).map(Duration::as_secs_f64),
    };
    vec![
        ("goodput_bit_s", (seconds > 0.0).then(|| sum(|flow| flow.delivered_bytes) as f64 * 8.0 / seconds)),
        ("rtt_s.mean", mean_s(&group.rtt)),
        ("rtt_s.p50", quantile_s(&group.rtt, 0.5)),
        ("rtt_s.p99", quantile_s(&group.rtt, 0.99)),
        ("rtt_s.p95", quantile_s(&group.rtt, 0.95)),
        ("sojourn_s.mean", mean_s(&group.sojourn)),
        ("sojourn_s.p95", quantile_s(&group.sojourn, 0.95)),
        ("loss_ratio", ratio(sum(|flow| flow.dropped_packets), sent)),
        ("loss_run_packets.mean", ratio(sum(|flow| flow.dropped_packets), runs)),
        ("loss_run_packets.max", (runs > 0).then(|| flows.iter().map(|flow| flow.longest_loss_run).max().unwrap_or(0) as f64)),
        ("loss_gap_packets", ratio(sent.saturating_sub(sum(|flow| flow.dropped_packets)), runs)),
        ("mark_ratio", ratio(sum(|flow| flow.marked_packets), sent)),
        ("retransmitted_ratio", ratio(sum(|flow| flow.retransmitted_packets), sent)),
        ("timeouts", Some(sum(|flow| flow.timeouts) as f64)),
        ("sent_packets", Some(sent as f64)),
        ("completed_flows", Some(complete as f64)),
        ("completion_s.p50", completion(50)),
        ("completion_s.p95", completion(95)),
    ]
}

/// Names of the median and the 95th percentile of each size class.
const BY_SIZE: &[[&str; 2]] = &[
    ["completion_by_size.under_10_kB.p50", "completion_by_size.under_10_kB.p95"],
    ["completion_by_size.from_10_kB.p50", "completion_by_size.from_10_kB.p95"],
    ["completion_by_size.from_100_kB.p50", "completion_by_size.from_100_kB.p95"],
    ["completion_by_size.from_1_MB.p50", "completion_by_size.from_1_MB.p95"],
    ["completion_by_size.from_10_MB.p50", "completion_by_size.from_10_MB.p95"],
];

fn of_transfers(transfers: &TransferOutcome) -> Named {
    let slowdown = &transfers.slowdown_millionths;
    let slowdown_at = |q: f64| (!slowdown.is_empty()).then(|| slowdown.value_at_quantile(q) as f64 / 1e6);
    let mut named = Named::new();
    for ([p50, p95], times) in BY_SIZE.iter().zip(&transfers.by_size) {
        named.extend([(*p50, quantile_s(times, 0.5)), (*p95, quantile_s(times, 0.95))]);
    }
    named.extend([
        ("slowdown.mean", (!slowdown.is_empty()).then(|| slowdown.mean() / 1e6)),
        ("slowdown.p50", slowdown_at(0.5)),
        ("slowdown.p95", slowdown_at(0.95)),
        ("slowdown.p99", slowdown_at(0.99)),
    ]);
    if transfers.begun + transfers.refused > 0 {
        named.extend([
            ("transfers.begun", Some(transfers.begun as f64)),
            ("transfers.unfinished", Some(transfers.begun.saturating_sub(transfers.complete) as f64)),
            ("transfers.refused", Some(transfers.refused as f64)),
        ]);
    }
    named.extend([
        ("startup_s.p50", quantile_s(&transfers.first_byte, 0.5)),
        ("startup_s.p95", quantile_s(&transfers.first_byte, 0.95)),
        ("page_load_s.mean", mean_s(&transfers.page_load)),
        ("page_load_s.p50", quantile_s(&transfers.page_load, 0.5)),
        ("page_load_s.p95", quantile_s(&transfers.page_load, 0.95)),
        ("video.startup_s", quantile_s(&transfers.playing, 0.5)),
    ]);
    named
}

fn of_videos(group: &GroupOutcome) -> Named {
    let videos = &group.videos;
    if videos.is_empty() {
        return Named::new();
    }
    let count = videos.len() as f64;
    let seconds = |span: fn(&goodqueue_sim::VideoOutcome) -> Duration| videos.iter().map(|v| span(v).as_secs_f64()).sum::<f64>();
    let (media, played, stalled) = (seconds(|v| v.media), seconds(|v| v.played), seconds(|v| v.stalled));
    let bits: f64 = videos.iter().map(|video| video.media_bits as f64).sum();
    vec![
        ("video.bitrate_bit_s", (media > 0.0).then(|| bits / media)),
        ("video.rebuffer_ratio", (played + stalled > 0.0).then(|| stalled / (played + stalled))),
        ("video.stalls", Some(videos.iter().map(|video| video.stalls as f64).sum::<f64>() / count)),
        ("video.switches", Some(videos.iter().map(|video| video.switches as f64).sum::<f64>() / count)),
    ]
}

fn of_datagrams(group: &GroupOutcome) -> Named {
    let delay = &group.one_way_delay;
    let calls: Vec<&CallOutcome> = group.calls.iter().filter(|call| call.received > 0).collect();
    let over_calls = |value: &dyn Fn(&CallOutcome) -> f64| {
        (!calls.is_empty()).then(|| calls.iter().map(|call| value(call)).sum::<f64>() / calls.len() as f64)
    };
    let jitter =
        |delay: fn(&CallOutcome) -> Duration| over_calls(&|call| delay(call).saturating_sub(call.delay_min).as_secs_f64());
    let sum = |count: fn(&CallOutcome) -> u64| calls.iter().map(|call| count(call)).sum::<u64>();
    let ratings: Vec<f64> =
        calls.iter().filter(|call| call.content == Content::Voice).map(|call| voice::r_factor(call)).collect();
    let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let scores: Vec<f64> = ratings.iter().map(|r| voice::mos(*r)).collect();
    vec![
        ("one_way_delay_s.mean", mean_s(delay)),
        ("one_way_delay_s.p50", quantile_s(delay, 0.5)),
        ("one_way_delay_s.p95", quantile_s(delay, 0.95)),
        ("one_way_delay_s.p99", quantile_s(delay, 0.99)),
        ("one_way_delay_s.max", quantile_s(delay, 1.0)),
        ("jitter_s.p50", jitter(|call| call.delay_p50)),
        ("jitter_s.p95", jitter(|call| call.delay_p95)),
        ("jitter_s.p99", jitter(|call| call.delay_p99)),
        ("late_ratio", ratio(sum(|call| call.late), sum(|call| call.received))),
        ("voip.mos", mean(&scores)),
        ("voip.r_factor", mean(&ratings)),
        ("voip.worst_mos", scores.iter().copied().min_by(f64::total_cmp)),
    ]
}
