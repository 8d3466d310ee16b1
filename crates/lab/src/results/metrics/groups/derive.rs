//! The derivation of a group's figures from the outcomes of its flows.

use crate::results::metrics::values::{quantile_s, ratio};
use crate::results::statistics::{jain, round_trips_per_minute};
use goodqueue_base::units::Duration;
use goodqueue_sim::call::{Bursts, Heard};
use goodqueue_sim::trace::{TimeCounts, nearest_rank};
use goodqueue_sim::{CallOutcome, Content, FlowOutcome, GroupOutcome, TransferOutcome, VideoOutcome};

/// A probe is late from this time above the base round-trip time on. Our choice: half of what a
/// conversation tolerates in one direction (ITU-T G.114: 150 to 200 ms with devices).
const LATE: Duration = Duration::ms(100);

/// A group of flows in one run, which its figures are computed from.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub(super) outcome: &'a GroupOutcome,
    pub(super) flows: Vec<&'a FlowOutcome>,
    /// Length of the measured part.
    span: Duration,
    /// Round-trip time of the empty path, where it is known.
    base_rtt: Option<Duration>,
    /// Completion times of flows that end once, shortest first: few enough for exact values.
    completions: Vec<Duration>,
}

/// Jain's index of the goodputs of two flows or more.
pub(super) fn jain_among(flows: &[&FlowOutcome]) -> Option<f64> {
    let goodputs = || flows.iter().filter(|flow| !flow.is_probe).map(|flow| flow.delivered_bytes as f64);
    (goodputs().count() > 1).then(|| jain(goodputs()))?
}

pub(super) fn mean_s(times: &TimeCounts) -> Option<f64> {
    times.mean().map(|nanos| nanos / 1e9)
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

impl<'a> Group<'a> {
    /// The group of these flows over a measured part of this length, on a path of this base
    /// round-trip time.
    pub(crate) fn new(
        outcome: &'a GroupOutcome,
        flows: Vec<&'a FlowOutcome>,
        span: Duration,
        base_rtt: Option<Duration>,
    ) -> Self {
        let mut completions: Vec<Duration> = flows.iter().filter_map(|flow| flow.completion).collect();
        completions.sort_unstable();
        Self { outcome, flows, span, base_rtt, completions }
    }

    /// The share of round trips of probes, or of one-way delays of games, above this.
    pub(super) fn above(&self, limit: Duration) -> Option<f64> {
        let is_game = self.outcome.calls.iter().any(|call| call.content == Content::Game);
        let times = match self.flows.iter().any(|flow| flow.is_probe) {
            true => &self.outcome.rtt,
            false if is_game => &self.outcome.one_way_delay,
            false => return None,
        };
        ratio(times.len() - times.up_to(limit), times.len())
    }

    /// The share of probes that were lost or answered late.
    pub(super) fn late_probes(&self) -> Option<f64> {
        let limit = self.base_rtt.filter(|_| self.flows.iter().any(|flow| flow.is_probe))? + LATE;
        let times = &self.outcome.rtt;
        let late = times.len() - times.up_to(limit);
        let lost = self.dropped()?.min(self.sent());
        ratio(late + lost, times.len() + lost)
    }

    pub(super) fn round_trips_per_minute(&self) -> Option<f64> {
        let times = &self.outcome.rtt;
        self.flows.iter().find(|flow| flow.is_probe)?;
        let counted = times.buckets().map(|bucket| (bucket.middle().as_nanos() as f64, bucket.count));
        round_trips_per_minute(counted, times.len())
    }

    pub(super) fn per_second(&self, amount: f64) -> Option<f64> {
        (!self.span.is_zero()).then(|| amount / self.span.as_secs_f64())
    }

    pub(super) fn sum(&self, count: fn(&FlowOutcome) -> u64) -> u64 {
        self.flows.iter().map(|flow| count(flow)).sum()
    }

    /// The sum of what is known of every flow; `None` where it is not.
    pub(super) fn sum_known(&self, count: fn(&FlowOutcome) -> Option<u64>) -> Option<u64> {
        self.flows.iter().map(|flow| count(flow)).sum()
    }

    pub(super) fn sent(&self) -> u64 {
        self.sum(|flow| flow.sent_packets)
    }

    pub(super) fn dropped(&self) -> Option<u64> {
        self.sum_known(|flow| flow.dropped_packets)
    }

    pub(super) fn loss_runs(&self) -> u64 {
        self.sum(|flow| flow.loss_runs)
    }

    pub(super) fn longest_loss_run(&self) -> Option<f64> {
        let longest = self.flows.iter().map(|flow| flow.longest_loss_run).max().unwrap_or(0);
        (self.loss_runs() > 0).then_some(longest as f64)
    }

    pub(super) fn transfers(&self) -> Option<&TransferOutcome> {
        self.outcome.transfers.as_ref()
    }

    /// Transfers whose times stand for those of the flows, which do not end.
    pub(super) fn transfers_for_flows(&self) -> Option<&TransferOutcome> {
        self.transfers().filter(|_| self.completions.is_empty())
    }

    pub(super) fn completed(&self) -> u64 {
        self.transfers_for_flows().map_or(self.completions.len() as u64, |transfers| transfers.complete)
    }

    pub(super) fn completion(&self, percent: usize) -> Option<f64> {
        match self.transfers_for_flows() {
            Some(transfers) => quantile_s(&transfers.completion, percent as f64 / 100.0),
            None => nearest_rank(&self.completions, percent).map(Duration::as_secs_f64),
        }
    }

    /// The quantile of the completion times of one size class.
    pub(super) fn by_size(&self, class: usize, q: f64) -> Option<f64> {
        quantile_s(self.transfers()?.by_size.get(class)?, q)
    }

    pub(super) fn slowdown(&self, q: f64) -> Option<f64> {
        let slowdown = &self.transfers()?.slowdown_millionths;
        slowdown.quantile(q).map(|millionths| millionths.as_nanos() as f64 / 1e6)
    }

    pub(super) fn mean_slowdown(&self) -> Option<f64> {
        let slowdown = &self.transfers()?.slowdown_millionths;
        slowdown.mean().map(|mean| mean / 1e6)
    }

    /// Transfers of sessions, where there were any.
    pub(super) fn sessions(&self) -> Option<&TransferOutcome> {
        self.transfers().filter(|transfers| transfers.begun + transfers.refused + transfers.open > 0)
    }

    pub(super) fn video_seconds(&self, span: fn(&VideoOutcome) -> Duration) -> f64 {
        self.outcome.videos.iter().map(|video| span(video).as_secs_f64()).sum()
    }

    pub(super) fn video_bitrate(&self) -> Option<f64> {
        let media = self.video_seconds(|video| video.media);
        let bits: f64 = self.outcome.videos.iter().map(|video| video.media_bits as f64).sum();
        (media > 0.0).then(|| bits / media)
    }

    pub(super) fn rebuffering(&self) -> Option<f64> {
        let (played, stalled) = (self.video_seconds(|video| video.played), self.video_seconds(|video| video.stalled));
        (played + stalled > 0.0).then(|| stalled / (played + stalled))
    }

    pub(super) fn stalled_s(&self) -> Option<f64> {
        self.rebuffering().map(|_| self.video_seconds(|video| video.stalled))
    }

    pub(super) fn per_video(&self, count: fn(&VideoOutcome) -> u64) -> Option<f64> {
        let videos = &self.outcome.videos;
        let sum: f64 = videos.iter().map(|video| count(video) as f64).sum();
        (!videos.is_empty()).then(|| sum / videos.len() as f64)
    }

    pub(super) fn sum_calls(&self, count: fn(&CallOutcome) -> u64) -> u64 {
        self.outcome.calls.iter().map(count).sum()
    }

    /// A delay above the least one, mean over calls.
    pub(super) fn jitter(&self, delay: fn(&CallOutcome) -> Duration) -> Option<f64> {
        let heard = self.outcome.calls.iter().filter(|call| call.received > 0);
        mean(&heard.map(|call| delay(call).saturating_sub(call.delay_min).as_secs_f64()).collect::<Vec<_>>())
    }

    /// Calls with speech.
    fn speech(&self) -> impl Iterator<Item = &'a Heard> {
        self.outcome.calls.iter().filter_map(|call| call.heard.as_ref())
    }

    /// A figure of calls, mean over them.
    pub(super) fn heard(&self, of: impl Fn(&Heard) -> Option<f64>) -> Option<f64> {
        mean(&self.speech().filter_map(of).collect::<Vec<_>>())
    }

    /// The least of a figure of calls.
    pub(super) fn worst_heard(&self, of: impl Fn(&Heard) -> Option<f64>) -> Option<f64> {
        self.speech().filter_map(of).reduce(f64::min)
    }

    /// The bursts of losses of all calls.
    pub(super) fn bursts(&self) -> Option<Bursts> {
        self.speech().map(|heard| heard.bursts).reduce(|mut all, bursts| {
            all.append(&bursts);
            all
        })
    }
}
