//! Losses: counts of a flow, runs of consecutive losses, and losses of several flows at once.

use crate::ids::LinkId;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_tcp::Segment;

/// The unit that the numbers of a flow's packets count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// Bytes, as in TCP. A packet without data is part of a handshake.
    #[default]
    Bytes,
    /// Packets, as in UDP. All of them are data.
    Packets,
}

/// Counts of losses that come in runs, one after another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossRuns {
    pub(crate) lost: u64,
    pub(crate) runs: u64,
    pub(crate) longest: u64,
}

impl LossRuns {
    /// Counts a run of `lost` losses, if there are any.
    pub(crate) fn add(&mut self, lost: u64) {
        self.lost += lost;
        self.runs += u64::from(lost > 0);
        self.longest = self.longest.max(lost);
    }
}

/// Drops and marks of one flow's data packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowSignals {
    numbering: Numbering,
    /// Whether its packets carry tickets of an owner outside, who wants to know of their loss.
    pub(crate) has_tickets: bool,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    /// Runs of losses: lost packets that follow one another in the flow.
    pub(crate) loss_runs: u64,
    pub(crate) longest_run: u64,
    run: u64,
    /// Number of the packet after the latest loss.
    next_number: u64,
    /// The latest loss event that it took part in, of all links.
    event: u64,
}

impl FlowSignals {
    pub(crate) fn new(numbering: Numbering) -> Self {
        Self { numbering, ..Self::default() }
    }

    /// The signals of a flow whose packets carry tickets.
    pub(crate) fn with_tickets(numbering: Numbering) -> Self {
        Self { has_tickets: true, ..Self::new(numbering) }
    }

    /// Whether a packet is one of those that are also counted when they are sent.
    fn is_data(&self, segment: &Segment) -> bool {
        self.numbering == Numbering::Packets || segment.data_len() > 0
    }

    /// Counts the drop of a data packet.
    pub(crate) fn lose(&mut self, segment: &Segment) {
        if !self.is_data(segment) {
            return;
        }
        self.dropped += 1;
        if self.run > 0 && segment.number == self.next_number {
            self.run += 1;
        } else {
            self.run = 1;
            self.loss_runs += 1;
        }
        self.next_number = segment.number + u64::from(segment.data_len().max(1));
        self.longest_run = self.longest_run.max(self.run);
    }

    /// Counts the mark of a data packet.
    pub(crate) fn mark(&mut self, segment: &Segment) {
        self.marked += u64::from(self.is_data(segment));
    }

    /// The sum of two flows' counts.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            dropped: self.dropped + other.dropped,
            marked: self.marked + other.marked,
            loss_runs: self.loss_runs + other.loss_runs,
            longest_run: self.longest_run.max(other.longest_run),
            ..self
        }
    }

    /// Begins the measured part: only later runs count for the longest one.
    pub(crate) fn restart(&mut self) {
        self.longest_run = 0;
        self.run = 0;
    }
}

/// Loss events at one link: losses less than `gap` apart belong to one event. The share of flows
/// that take part in one is the global synchronization ratio (RFC 7928, section 2.4).
#[derive(Clone, Debug)]
pub(crate) struct LossEvents {
    gap: Duration,
    /// Flows that are sending over this link.
    pub(crate) active: u32,
    last: Instant,
    /// Number of the running event; no other link has the same.
    event: u64,
    losers: u32,
    /// Finished events, and the sum of their shares.
    pub(crate) events: u64,
    share_sum: f64,
}

impl LossEvents {
    /// `gap` is the shortest round-trip time of the flows over the link.
    pub(crate) fn new(link: LinkId, gap: Duration) -> Self {
        let event = u64::from(link.get()) << 40 | 1;
        Self { gap, active: 0, last: Instant::ZERO, event, losers: 0, events: 0, share_sum: 0.0 }
    }

    pub(crate) fn lose(&mut self, now: Instant, flow: &mut FlowSignals) {
        if now.since(self.last) >= self.gap {
            self.close();
        }
        self.last = now;
        if flow.event != self.event {
            flow.event = self.event;
            self.losers += 1;
        }
    }

    fn close(&mut self) {
        if self.losers > 0 {
            self.events += 1;
            // A flow that has just ended may have taken part.
            self.share_sum += f64::from(self.losers) / f64::from(self.active.max(self.losers));
        }
        self.losers = 0;
        self.event += 1;
    }

    /// Begins the measured part.
    pub(crate) fn restart(&mut self) {
        self.losers = 0;
        self.event += 1;
        self.events = 0;
        self.share_sum = 0.0;
    }

    /// The mean share of flows that lost packets in a loss event; `None` without events.
    pub(crate) fn finish(&mut self) -> Option<f64> {
        self.close();
        (self.events > 0).then(|| self.share_sum / self.events as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_of_packets_that_follow_one_another() {
        let mut flow = FlowSignals::new(Numbering::Packets);
        let packet = |number| Segment { number, ..Segment::default() };
        for number in [3, 4, 5, 9, 11, 12] {
            flow.lose(&packet(number));
        }
        assert_eq!((flow.dropped, flow.loss_runs, flow.longest_run), (6, 3, 3));
        flow.restart();
        flow.lose(&packet(13));
        assert_eq!((flow.loss_runs, flow.longest_run), (4, 1), "what began before the measured part is not continued");
    }

    #[test]
    fn a_handshake_is_no_data() {
        let mut flow = FlowSignals::new(Numbering::Bytes);
        let syn = Segment { flags: goodqueue_tcp::Flags::SYN, ..Segment::default() };
        flow.lose(&syn);
        flow.mark(&syn);
        assert_eq!((flow.dropped, flow.marked, flow.loss_runs), (0, 0, 0));
        let data = Segment { payload: 1448, ..Segment::default() };
        flow.lose(&data);
        flow.mark(&data);
        assert_eq!((flow.dropped, flow.marked, flow.loss_runs), (1, 1, 1));
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut link = LossEvents::new(LinkId::new(3), Duration::ms(100));
        link.active = 4;
        let mut flows = [FlowSignals::default(); 4];
        let mut lose = |at_ms: u64, flow: usize| link.lose(Instant::ZERO + Duration::ms(at_ms), &mut flows[flow]);
        // Two flows at once, one of them twice; then one alone; then all four.
        for (at, flow) in [(1000, 0), (1050, 1), (1090, 0), (1200, 2), (1400, 0), (1410, 1), (1420, 2), (1430, 3)] {
            lose(at, flow);
        }
        let share = link.finish().expect("events");
        assert_eq!(link.events, 3);
        assert!((share - (0.5 + 0.25 + 1.0) / 3.0).abs() < 1e-12, "{share}");
        link.restart();
        assert_eq!(link.finish(), None);
    }
}
