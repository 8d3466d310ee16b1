//! The figures of a run. Every figure covers the measured part only, after the warm-up.

mod add;

use crate::call::codec::Content;
use crate::call::playout::Heard;
use crate::trace::TimeCounts;
use goodqueue_aqm::Counters;
use goodqueue_base::units::{Duration, Instant};
use std::sync::Arc;

/// Everything one run measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Observed links, in the order of the specification.
    pub links: Vec<LinkOutcome>,
    /// All flows, in the order of the specification.
    pub flows: Vec<FlowOutcome>,
    /// One entry a group, in the order of the specification.
    pub groups: Vec<GroupOutcome>,
    /// Sampled time series, empty unless asked for. Covers the warm-up too.
    pub series: Vec<Series>,
    /// Packet events, empty unless asked for. Covers the warm-up too.
    pub packets: Vec<crate::trace::PacketEvent>,
    /// Hash of the trace of events: equal runs, equal hash.
    pub fingerprint: u64,
    /// Events handled, warm-up included.
    pub events: u64,
    /// False when the run was interrupted before its end.
    pub complete: bool,
}

/// The figures of one observed link, or of several that are reported as one.
#[derive(Clone, Debug)]
pub struct LinkOutcome {
    /// The link's name.
    pub name: String,
    /// Queue counters over the measured part.
    pub counters: Counters,
    /// Bits put on the wire, framing included.
    pub sent_bits: f64,
    /// Bits the link could have carried, those of a token bucket that was full among them; zero
    /// where the host does not know it.
    pub capacity_bits: f64,
    /// Time average of waiting packets, the one in transmission not counted.
    pub queue_packets: f64,
    /// Time average of waiting bytes, framing not counted.
    pub queue_bytes: f64,
    /// Sum of the sojourn times of departed packets, in seconds.
    pub sojourn_sum_s: f64,
    /// Sojourn times of departed packets.
    pub sojourn: TimeCounts,
    /// Packets that departed during the whole run, warm-up included.
    pub departed_whole_run: u64,
    /// Bits put on the wire by each group that sent any, by its number in the specification;
    /// acknowledgements count for the group they belong to. Empty where the host does not know
    /// them.
    pub group_bits: Vec<(u32, f64)>,
    /// Loss events: losses less than the shortest round-trip time apart are one. `None` where the
    /// host does not see single losses.
    pub loss_events: Option<u64>,
    /// Mean share of the active flows that lost something in a loss event (global synchronization
    /// ratio, RFC 7928, section 2.4); `None` without losses.
    pub loss_synchronization: Option<f64>,
    /// Changes of its rate in the measured part; `None` where the host does not count them.
    pub rate_changes: Option<u64>,
    /// The response to the changes of the link's rate; `None` when there were none in the measured
    /// part.
    pub settling: Option<crate::settle::Settling>,
}

/// The figures of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowOutcome {
    /// Index into the specification's groups.
    pub group: u32,
    /// Number within its group.
    pub index: u32,
    /// The flow's weight.
    pub weight: f64,
    /// Bytes delivered to the receiving application (payload, each byte once; UDP: IP bytes that
    /// arrived; echo: those of the answers).
    pub delivered_bytes: u64,
    /// Packets the source sent.
    pub sent_packets: u64,
    /// Retransmissions among these.
    pub retransmitted_packets: u64,
    /// Packets of this flow that were lost in the forward direction, dropped by queues or lost on
    /// the wire; of an echo, probes that never came back. `None` where the host cannot tell.
    pub dropped_packets: Option<u64>,
    /// Packets of this flow that were marked, in the forward direction; `None` where the host
    /// cannot tell.
    pub marked_packets: Option<u64>,
    /// Time from start to the last byte's acknowledgement, for flows with limited data that
    /// finished.
    pub completion: Option<Duration>,
    /// Retransmission timeouts; `None` where the host does not see them.
    pub timeouts: Option<u64>,
    /// Runs of these lost packets that follow one another.
    pub loss_runs: u64,
    /// The longest of them, in packets.
    pub longest_loss_run: u64,
    /// Whether it only measures and is no load: an echo.
    pub is_probe: bool,
}

/// The figures of one group of flows.
#[derive(Clone, Debug)]
pub struct GroupOutcome {
    /// The group's name.
    pub name: String,
    /// Round-trip times measured by its TCP senders, or those of its answered probes, in
    /// nanoseconds; empty for other UDP.
    pub rtt: TimeCounts,
    /// Sojourn times of its data packets at all observed links, in nanoseconds.
    pub sojourn: TimeCounts,
    /// The group's transfers, if there were any.
    pub transfers: Option<TransferOutcome>,
    /// The group's videos.
    pub videos: Vec<VideoOutcome>,
    /// Times from the sending of its UDP packets to their arrival, in nanoseconds.
    pub one_way_delay: TimeCounts,
    /// The group's calls, one for each direction.
    pub calls: Vec<CallOutcome>,
}

/// The figures of one listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome {
    /// The content of the call.
    pub content: Content,
    /// Time from one packet to the next at the sender.
    pub interval: Duration,
    /// Packets that arrived.
    pub received: u64,
    /// Packets that are missing between those that arrived.
    pub lost: u64,
    /// Runs of missing packets, and the longest.
    pub loss_runs: u64,
    /// See `loss_runs`.
    pub longest_loss_run: u64,
    /// Packets that took longer than 150 ms.
    pub late: u64,
    /// Least one-way delay.
    pub delay_min: Duration,
    /// Median one-way delay, to one per cent of its excess over the propagation delay.
    pub delay_p50: Duration,
    /// One-way delay that 95 % of the packets did not exceed.
    pub delay_p95: Duration,
    /// One-way delay that 99 % of the packets did not exceed.
    pub delay_p99: Duration,
    /// Speech as it was heard.
    pub heard: Option<Heard>,
}

/// The transfers of one group: for sessions, those that ended in the measured part, whenever they
/// began; for plain flows with limited data, all, warm-up included.
///
/// The longest would be missing if they had to begin and end in the measured part, the more of them
/// the shorter it is.
#[derive(Clone, Debug)]
pub struct TransferOutcome {
    /// Transfers of sessions that began in the measured part.
    pub begun: u64,
    /// Transfers of sessions that could not begin, since too many were open.
    pub refused: u64,
    /// Transfers complete.
    pub complete: u64,
    /// Transfers of sessions that had not ended when the run did.
    pub open: u64,
    /// Times from the beginning to the end, in nanoseconds: from the SYN (or, on an open
    /// connection, from the request) to the last acknowledgement or, of data that was asked for, to
    /// the last byte's arrival.
    pub completion: TimeCounts,
    /// Times from the beginning to the end for each of [`SIZE_CLASSES`](crate::SIZE_CLASSES) and
    /// for larger transfers.
    pub by_size: Vec<TimeCounts>,
    /// Times divided by the least that the empty path allows, in millionths.
    pub slowdown_millionths: TimeCounts,
    /// Times from a request to the first byte of the response, in nanoseconds.
    pub first_byte: TimeCounts,
    /// Times that pages took, in nanoseconds.
    pub page_load: TimeCounts,
    /// Times from a video's start to its playing, warm-up included, in nanoseconds.
    pub playing: TimeCounts,
}

/// One adaptive video.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoOutcome {
    /// Bits of the segments received, and the media time they hold.
    pub media_bits: u64,
    /// See `media_bits`.
    pub media: Duration,
    /// Time spent playing.
    pub played: Duration,
    /// Time spent with an empty buffer after playing had begun.
    pub stalled: Duration,
    /// Number of times the buffer ran empty.
    pub stalls: u64,
    /// Changes of quality.
    pub switches: u64,
}

impl VideoOutcome {
    /// The part of it after an `earlier` time.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            media_bits: self.media_bits - earlier.media_bits,
            media: self.media.saturating_sub(earlier.media),
            played: self.played.saturating_sub(earlier.played),
            stalled: self.stalled.saturating_sub(earlier.stalled),
            stalls: self.stalls - earlier.stalls,
            switches: self.switches - earlier.switches,
        }
    }
}

/// Sampled values of one thing over time.
#[derive(Clone, Debug)]
pub struct Series {
    /// The sampled link or flow: `link:bottleneck` or `flow:bulk:3`.
    pub subject: String,
    /// Times of the samples since the start, warm-up included. Series that are sampled together
    /// share them.
    pub times: Arc<Vec<Instant>>,
    /// Sampled values.
    pub columns: Vec<SeriesColumn>,
}

/// One sampled value over time.
#[derive(Clone, Debug)]
pub struct SeriesColumn {
    /// Name with unit: `queue_packets`, `sojourn_s`, `goodput_bit_s`, `cwnd_bytes`, `gauge:count`.
    pub name: String,
    /// One value a time.
    pub values: Vec<f64>,
}
