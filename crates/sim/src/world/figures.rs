//! Measurements of ends and groups.

use crate::completions::{Completions, Ideal};
use crate::ids::{FlowId, GroupId, IdVec, UdpId};
use crate::losses::FlowSignals;
use crate::outcome::Series;
use crate::spec::Recording;
use crate::trace::TimeCounts;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_tcp::SenderStatistics;

/// Measurements of ends and groups. Those of links are in their probes.
pub(super) struct Figures {
    pub(super) measuring: bool,
    pub(super) recording: Recording,
    /// Sampled values, whose times follow at the end.
    pub(super) series: Vec<Series>,
    pub(super) sampled_at: Vec<Instant>,
    pub(super) sampled: Vec<SampledFlow>,
    /// Echo flows that are sampled.
    pub(super) probed: Vec<UdpId>,
    pub(super) completions: IdVec<GroupId, Completions>,
    /// Plain flows of limited data, and the least times of their paths.
    pub(super) limited: Vec<(FlowId, Ideal)>,
    pub(super) group_names: IdVec<GroupId, String>,
    pub(super) group_rtt: IdVec<GroupId, TimeCounts>,
    /// One-way delays of each group's UDP packets, once there are any.
    pub(super) group_delay: IdVec<GroupId, TimeCounts>,
}

impl Figures {
    pub(super) fn new(groups: &[String], recording: Recording) -> Self {
        Self {
            measuring: false,
            recording,
            series: Vec::new(),
            sampled_at: Vec::new(),
            sampled: Vec::new(),
            probed: Vec::new(),
            completions: groups.iter().map(|_| Completions::default()).collect(),
            limited: Vec::new(),
            group_names: groups.iter().cloned().collect(),
            group_rtt: groups.iter().map(|_| TimeCounts::new()).collect(),
            group_delay: groups.iter().map(|_| TimeCounts::new()).collect(),
        }
    }

    #[inline]
    pub(super) fn add_one_way_delay(&mut self, group: GroupId, delay: Duration) {
        self.group_delay[group].add(delay);
    }
}

/// A sampled flow, and the bytes it had delivered at the last sample.
pub(super) struct SampledFlow {
    pub(super) flow: FlowId,
    pub(super) delivered: u64,
}

/// Cumulative counters of a flow at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowReading {
    pub(super) delivered_bytes: u64,
    pub(super) sent: u64,
    pub(super) retransmitted: u64,
    pub(super) timeouts: u64,
    pub(super) signals: FlowSignals,
}

impl FlowReading {
    pub(super) const fn add_delivered(&mut self, bytes: u64) {
        self.delivered_bytes += bytes;
    }

    /// The sum of this and the counts of a connection with `delivered` bytes.
    pub(super) const fn and(&self, delivered: u64, statistics: &SenderStatistics) -> Self {
        Self {
            delivered_bytes: self.delivered_bytes + delivered,
            sent: self.sent + statistics.sent_segments,
            retransmitted: self.retransmitted + statistics.retransmitted_segments,
            timeouts: self.timeouts + statistics.timeouts,
            ..*self
        }
    }

    pub(super) const fn with_signals(self, signals: FlowSignals) -> Self {
        Self { signals, ..self }
    }

    pub(super) const fn without_delivered(self) -> Self {
        Self { delivered_bytes: 0, ..self }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.delivered_bytes += other.delivered_bytes;
        self.sent += other.sent;
        self.retransmitted += other.retransmitted;
        self.timeouts += other.timeouts;
        self.signals = self.signals.and(other.signals);
    }
}
