//! Figures of a group of flows.

mod derive;

use super::describe::{Metric, Quantity};
use super::values::{quantile_s, ratio};
pub use derive::Group;

use derive::{jain_among, mean_s};
use goodqueue_base::units::Duration;
use goodqueue_sim::call::emodel::Scale;

/// The value of a figure for one group.
type Value = fn(&Group<'_>) -> Option<f64>;

/// A figure of a group of flows.
pub type GroupMetric = Metric<Value>;

const fn metric(name: &'static str, quantity: Quantity, label: &'static str, doc: &'static str, of: Value) -> GroupMetric {
    Metric::new(name, quantity, label, doc, of)
}

/// A time, which is better the shorter it is.
const fn time(name: &'static str, label: &'static str, doc: &'static str, of: Value) -> GroupMetric {
    metric(name, Quantity::Time, label, doc, of).lower_is_better()
}

/// A time of some kinds of traffic only.
const fn section_time(name: &'static str, label: &'static str, doc: &'static str, of: Value) -> GroupMetric {
    time(name, label, doc, of).with_section()
}

/// A share of what failed, which is better the smaller it is.
const fn failing(name: &'static str, label: &'static str, doc: &'static str, of: Value) -> GroupMetric {
    metric(name, Quantity::Ratio, label, doc, of).lower_is_better()
}

/// Figures of a group of flows, in the order of the file.
pub const GROUP_METRICS: &[GroupMetric] = &[
    metric(
        "goodput_bit_s",
        Quantity::Rate,
        "Goodput, all flows",
        "data delivered per second, each byte counted once, all flows of the group together; UDP counts IP packets, an echo those of \
         its answers",
        |group| group.per_second(8.0 * group.sum(|flow| flow.delivered_bytes) as f64),
    )
    .higher_is_better()
    .at_once()
    .printed("goodput", "", 0),
    time(
        "rtt_s.mean",
        "RTT mean",
        "mean round-trip time as the group's TCP senders measure it; of an echo, from a probe's sending to its \
         answer's arrival, over probes sent in the measured part",
        |group| mean_s(&group.outcome.rtt),
    )
    .at_once()
    .printed("RTT", "mean", 1),
    time("rtt_s.p50", "RTT p50", "median round-trip time", |group| quantile_s(&group.outcome.rtt, 0.5)),
    time("rtt_s.p95", "RTT p95", "round-trip time that 95 % of the group's samples did not exceed", |group| {
        quantile_s(&group.outcome.rtt, 0.95)
    })
    .at_once()
    .printed("RTT", "p95", 2),
    time("rtt_s.p99", "RTT p99", "round-trip time that 99 % of the group's samples did not exceed", |group| {
        quantile_s(&group.outcome.rtt, 0.99)
    }),
    time(
        "sojourn_s.mean",
        "Sojourn mean",
        "mean time that the group's data packets spent in the queue of a reported link",
        |group| mean_s(&group.outcome.sojourn),
    ),
    time(
        "sojourn_s.p95",
        "Sojourn p95",
        "sojourn time that 95 % of the group's data packets did not exceed",
        |group| quantile_s(&group.outcome.sojourn, 0.95),
    ),
    failing(
        "loss_ratio",
        "Lost",
        "packets lost on the way, dropped by queues or lost on the wire, divided by packets sent, handshakes in neither; of an echo, \
         probes that never came back, whichever way they were lost; those still on their way at the end are not among them",
        |group| ratio(group.dropped()?, group.sent()),
    )
    .at_once()
    .printed("lost", "", 1),
    metric(
        "loss_run_packets.mean",
        Quantity::Count("packets"),
        "Loss run",
        "mean number of consecutive packets of a flow that were lost together, counted as in loss_ratio",
        |group| ratio(group.dropped()?, group.loss_runs()),
    )
    .decimals(2),
    metric(
        "loss_run_packets.max",
        Quantity::Count("packets"),
        "Longest loss run",
        "most consecutive packets of a flow that were lost together",
        |group| group.longest_loss_run(),
    ),
    metric(
        "loss_gap_packets",
        Quantity::Count("packets"),
        "Between losses",
        "mean number of packets of a flow that got through between two such runs",
        |group| ratio(group.sent().saturating_sub(group.dropped()?), group.loss_runs()),
    ),
    failing(
        "above_50_ms_ratio",
        "Above 50 ms",
        "share of an echo's answered probes with a round-trip time above 50 ms; of a game's packets, with such a one-way delay",
        |group| group.above(Duration::ms(50)),
    )
    .with_section(),
    failing(
        "probes.late_ratio",
        "Probes late",
        "share of an echo's probes that were answered later than 100 ms after the round-trip time of the empty path, or never; those \
         still on their way at the end are not among them",
        |group| group.late_probes(),
    )
    .with_section(),
    metric(
        "probes.rpm",
        Quantity::Number,
        "Round trips per minute",
        "an echo's round trips per minute: 60 s divided by the mean of the shortest 95 % of its round-trip times",
        |group| group.round_trips_per_minute(),
    )
    .higher_is_better()
    .with_section()
    .decimals(0),
    metric(
        "goodput_jain",
        Quantity::Number,
        "Jain, own flows",
        "Jain's index of the goodputs of the group's own flows, which are equal in all settings: 1 is equal; undefined for one flow",
        |group| jain_among(&group.flows),
    )
    .higher_is_better()
    .decimals(3),
    metric("mark_ratio", Quantity::Ratio, "Marked", "packets newly marked CE on the way divided by packets sent", |group| {
        ratio(group.sum_known(|flow| flow.marked_packets)?, group.sent())
    })
    .at_once(),
    failing("retransmitted_ratio", "Retransmitted", "retransmissions divided by packets sent", |group| {
        ratio(group.sum(|flow| flow.retransmitted_packets), group.sent())
    }),
    metric("timeouts", Quantity::Number, "Timeouts", "retransmission timeouts, all flows of the group together", |group| {
        group.sum_known(|flow| flow.timeouts).map(|timeouts| timeouts as f64)
    })
    .lower_is_better()
    .at_once(),
    metric(
        "sent_packets",
        Quantity::Count("packets"),
        "Packets sent",
        "packets sent, retransmissions included, all flows of the group together",
        |group| Some(group.sent() as f64),
    ),
    metric(
        "completed_flows",
        Quantity::Count("flows"),
        "Completed",
        "flows with limited data that finished, warm-up included; of sessions, transfers that ended in the measured \
         part",
        |group| Some(group.completed() as f64),
    )
    .at_once(),
    time(
        "completion_s.p50",
        "Completion p50",
        "median time from the start of a flow or transfer to its end, over those that finished",
        |group| group.completion(50),
    )
    .at_once()
    .printed_if_defined("done in", "p50", 0),
    time("completion_s.p95", "Completion p95", "time in which 95 % of those that finished did so", |group| {
        group.completion(95)
    })
    .at_once()
    .printed_if_defined("done in", "p95", 1),
    section_time(
        "completion_by_size.under_10_kB.p50",
        "under 10 kB, p50",
        "median time of transfers below 10 kB",
        |group| group.by_size(0, 0.5),
    ),
    section_time(
        "completion_by_size.under_10_kB.p95",
        "under 10 kB, p95",
        "time in which 95 % of them ended",
        |group| group.by_size(0, 0.95),
    ),
    section_time(
        "completion_by_size.from_10_kB.p50",
        "10 to 100 kB, p50",
        "median time of transfers from 10 kB to below 100 kB",
        |group| group.by_size(1, 0.5),
    ),
    section_time(
        "completion_by_size.from_10_kB.p95",
        "10 to 100 kB, p95",
        "time in which 95 % of them ended",
        |group| group.by_size(1, 0.95),
    ),
    section_time(
        "completion_by_size.from_100_kB.p50",
        "100 kB to 1 MB, p50",
        "median time of transfers from 100 kB to below 1 MB",
        |group| group.by_size(2, 0.5),
    ),
    section_time(
        "completion_by_size.from_100_kB.p95",
        "100 kB to 1 MB, p95",
        "time in which 95 % of them ended",
        |group| group.by_size(2, 0.95),
    ),
    section_time(
        "completion_by_size.from_1_MB.p50",
        "1 to 10 MB, p50",
        "median time of transfers from 1 MB to below 10 MB",
        |group| group.by_size(3, 0.5),
    ),
    section_time("completion_by_size.from_1_MB.p95", "1 to 10 MB, p95", "time in which 95 % of them ended", |group| {
        group.by_size(3, 0.95)
    }),
    section_time(
        "completion_by_size.from_10_MB.p50",
        "10 MB and more, p50",
        "median time of transfers of 10 MB and more",
        |group| group.by_size(4, 0.5),
    ),
    section_time(
        "completion_by_size.from_10_MB.p95",
        "10 MB and more, p95",
        "time in which 95 % of them ended",
        |group| group.by_size(4, 0.95),
    ),
    metric(
        "slowdown.mean",
        Quantity::Number,
        "Slowdown mean",
        "mean over transfers of their time divided by the least the empty path allows: its round trips and \
         transmission at its slowest link",
        |group| group.mean_slowdown(),
    )
    .lower_is_better()
    .with_section()
    .decimals(2),
    metric("slowdown.p50", Quantity::Number, "Slowdown p50", "median slowdown", |group| group.slowdown(0.5))
        .lower_is_better()
        .with_section()
        .decimals(2)
        .printed_if_defined("slowdown", "p50", 2),
    metric("slowdown.p95", Quantity::Number, "Slowdown p95", "slowdown that 95 % of the transfers did not exceed", |group| {
        group.slowdown(0.95)
    })
    .lower_is_better()
    .with_section()
    .decimals(2),
    metric("slowdown.p99", Quantity::Number, "Slowdown p99", "slowdown that 99 % of the transfers did not exceed", |group| {
        group.slowdown(0.99)
    })
    .lower_is_better()
    .with_section()
    .decimals(2),
    metric(
        "transfers.begun",
        Quantity::Count("transfers"),
        "Begun",
        "transfers of sessions that began in the measured part",
        |group| group.sessions().map(|sessions| sessions.begun as f64),
    )
    .with_section(),
    metric(
        "transfers.unfinished",
        Quantity::Count("transfers"),
        "Unfinished",
        "transfers of sessions that had not ended when the run did",
        |group| group.sessions().map(|sessions| sessions.open as f64),
    )
    .lower_is_better()
    .with_section(),
    metric(
        "transfers.refused",
        Quantity::Count("transfers"),
        "Refused",
        "transfers that could not begin, since too many were open",
        |group| group.sessions().map(|sessions| sessions.refused as f64),
    )
    .lower_is_better()
    .with_section(),
    section_time(
        "startup_s.p50",
        "First byte p50",
        "median time from a request to the first byte of its response, the handshake included on a new connection",
        |group| quantile_s(&group.transfers()?.first_byte, 0.5),
    ),
    section_time(
        "startup_s.p95",
        "First byte p95",
        "time from a request to the first byte that 95 % of the requests did not exceed",
        |group| quantile_s(&group.transfers()?.first_byte, 0.95),
    ),
    section_time(
        "page_load_s.mean",
        "Page load mean",
        "mean time from a page's first connection to the last byte of its last object",
        |group| mean_s(&group.transfers()?.page_load),
    ),
    section_time("page_load_s.p50", "Page load p50", "median time that a page took", |group| {
        quantile_s(&group.transfers()?.page_load, 0.5)
    })
    .at_once()
    .printed_in("page", "p50", ("s", 1.0), 0),
    section_time("page_load_s.p95", "Page load p95", "time that 95 % of the pages did not exceed", |group| {
        quantile_s(&group.transfers()?.page_load, 0.95)
    })
    .at_once(),
    metric(
        "video.bitrate_bit_s",
        Quantity::Rate,
        "Video bitrate",
        "mean bitrate of the segments received: their bits over their media time, all videos of the group",
        |group| group.video_bitrate(),
    )
    .higher_is_better()
    .with_section()
    .at_once()
    .printed_in("video", "", ("Mbit/s", 1e-6), 0),
    failing(
        "video.rebuffer_ratio",
        "Rebuffering",
        "time spent waiting with an empty buffer divided by time since playing began",
        |group| group.rebuffering(),
    )
    .with_section()
    .at_once()
    .printed_if_defined("stalled", "", 0),
    metric(
        "video.stalled_s",
        Quantity::Time,
        "Stalled for",
        "time spent waiting with an empty buffer, sum over the videos of the group",
        |group| group.stalled_s(),
    )
    .lower_is_better()
    .with_section(),
    metric("video.stalls", Quantity::Number, "Stalls", "how often a buffer ran empty, mean over videos", |group| {
        group.per_video(|video| video.stalls)
    })
    .lower_is_better()
    .with_section(),
    metric("video.switches", Quantity::Number, "Switches", "changes of bitrate, mean over videos", |group| {
        group.per_video(|video| video.switches)
    })
    .lower_is_better()
    .with_section(),
    section_time(
        "video.startup_s",
        "Video starts in",
        "median time from a video's start to its playing, warm-up included",
        |group| quantile_s(&group.transfers()?.playing, 0.5),
    )
    .at_once(),
    section_time(
        "one_way_delay_s.mean",
        "One-way delay mean",
        "mean time from the sending of a UDP packet to its arrival",
        |group| mean_s(&group.outcome.one_way_delay),
    ),
    section_time("one_way_delay_s.p50", "One-way delay p50", "median of it", |group| {
        quantile_s(&group.outcome.one_way_delay, 0.5)
    }),
    section_time(
        "one_way_delay_s.p95",
        "One-way delay p95",
        "delay that 95 % of the packets did not exceed",
        |group| quantile_s(&group.outcome.one_way_delay, 0.95),
    )
    .printed_in("delay", "p95", ("ms", 1e3), 1),
    section_time(
        "one_way_delay_s.p99",
        "One-way delay p99",
        "delay that 99 % of the packets did not exceed",
        |group| quantile_s(&group.outcome.one_way_delay, 0.99),
    ),
    section_time("one_way_delay_s.max", "One-way delay, longest", "longest delay", |group| {
        quantile_s(&group.outcome.one_way_delay, 1.0)
    }),
    section_time(
        "jitter_s.p50",
        "Jitter p50",
        "median delay above the flow's least (packet delay variation), mean over flows",
        |group| group.jitter(|call| call.delay_p50),
    ),
    section_time(
        "jitter_s.p95",
        "Jitter p95",
        "delay above the flow's least that 95 % of its packets did not exceed, mean over flows",
        |group| group.jitter(|call| call.delay_p95),
    ),
    section_time(
        "jitter_s.p99",
        "Jitter p99",
        "delay above the flow's least that 99 % of its packets did not exceed, mean over flows",
        |group| group.jitter(|call| call.delay_p99),
    ),
    failing(
        "late_ratio",
        "Late",
        "packets that took longer than 150 ms divided by packets that arrived",
        |group| ratio(group.sum_calls(|call| call.late), group.sum_calls(|call| call.received)),
    )
    .with_section(),
    metric(
        "voip.bad_ratio",
        Quantity::Ratio,
        "Call bad",
        "share of a call's windows of 8 s in which nearly all would be dissatisfied: rated below 60 by the E-model, as played by a \
         receiver that adapts; all calls of the group",
        |group| group.heard(|heard| heard.bad_ratio(&Scale::NARROWBAND)),
    )
    .lower_is_better()
    .with_section()
    .at_once()
    .printed_if_defined("bad", "", 1),
    metric(
        "voip.mos",
        Quantity::Number,
        "Call quality, MOS",
        "mean opinion score of the E-model from 1 to 4.5 as narrowband speech, mean over windows of 8 s of all calls",
        |group| group.heard(|heard| heard.mos(&Scale::NARROWBAND)),
    )
    .higher_is_better()
    .with_section()
    .at_once()
    .decimals(2)
    .printed_if_defined("MOS", "", 0),
    metric("voip.mos_worst", Quantity::Number, "Worst window, MOS", "mean opinion score of the worst window", |group| {
        group.worst_heard(|heard| heard.mos_worst(&Scale::NARROWBAND))
    })
    .higher_is_better()
    .with_section()
    .decimals(2),
    metric(
        "voip.mos_recent",
        Quantity::Number,
        "MOS as remembered",
        "mean opinion score at the end of the call, with what is left of earlier losses; UNVERIFIED: its constants, Clark's (2001); decides \
         nothing",
        |group| group.heard(|heard| heard.mos_recent(&Scale::NARROWBAND)),
    )
    .higher_is_better()
    .with_section()
    .decimals(2),
    metric(
        "voip.mos_of_codec",
        Quantity::Number,
        "MOS on the codec's scale",
        "mean opinion score on the scale of the codec itself, of opus that of fullband speech; UNVERIFIED: that the published coefficients \
         of Opus are on it; decides nothing",
        |group| group.heard(|heard| heard.mos(&heard.own_scale())),
    )
    .higher_is_better()
    .with_section()
    .decimals(2),
    metric(
        "voip.r_factor",
        Quantity::Number,
        "R factor",
        "rating of the E-model as narrowband speech, at most 93.2, mean over windows",
        |group| group.heard(|heard| heard.mean(|window| window.rate(&Scale::NARROWBAND))),
    )
    .higher_is_better()
    .with_section()
    .decimals(1),
    metric(
        "voip.mouth_to_ear_s.mean",
        Quantity::Time,
        "Mouth to ear",
        "mean time from speaking to hearing: one-way delay, the receiver's buffer, and 40 ms of devices; mean over windows in which something was heard",
        |group| group.heard(goodqueue_sim::call::Heard::mouth_to_ear_s),
    )
    .lower_is_better()
    .with_section(),
    metric(
        "voip.unheard_ratio",
        Quantity::Ratio,
        "Unheard",
        "share of frames that were lost, came too late or were due while nothing was there to play",
        |group| group.bursts().and_then(|bursts| ratio(bursts.bad, bursts.frames)),
    )
    .lower_is_better()
    .with_section(),
    metric(
        "voip.underrun_s",
        Quantity::Time,
        "Underrun",
        "time in which the receiver had nothing to play, mean over calls",
        |group| group.heard(|heard| Some(heard.underrun.as_secs_f64())),
    )
    .lower_is_better()
    .with_section(),
    metric(
        "voip.burst_density",
        Quantity::Ratio,
        "Burst density",
        "share of unheard frames in bursts, which have fewer than 16 good frames between two unheard ones (RFC 3611)",
        |group| group.bursts()?.burst_density(),
    )
    .lower_is_better()
    .with_section(),
    metric(
        "voip.gap_density",
        Quantity::Ratio,
        "Gap density",
        "share of unheard frames outside bursts",
        |group| group.bursts()?.gap_density(),
    )
    .lower_is_better()
    .with_section(),
    metric("voip.burst_frames", Quantity::Count("frames"), "Burst length", "mean length of a burst", |group| {
        group.bursts()?.burst_length()
    })
    .lower_is_better()
    .with_section()
    .decimals(1),
];
