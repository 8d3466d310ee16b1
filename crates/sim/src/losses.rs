//! Who loses what, and together with whom: counts of a flow, runs of consecutive losses, and losses of several flows at once.

use goodqueue_units::{Duration, Instant};

/// What queues did to one flow's data packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowSignals {
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    /// Runs of losses: each is of packets that follow one another in the flow.
    pub(crate) loss_runs: u64,
    pub(crate) longest_run: u64,
    run: u64,
    /// What the packet after the latest loss is numbered.
    next_number: u64,
    /// The latest loss event it had a part in, of all links'.
    event: u64,
}

impl FlowSignals {
    /// A packet was dropped that is numbered `number`; the flow's next one is `next`.
    pub(crate) fn lose(&mut self, number: u64, next: u64) {
        self.dropped += 1;
        if self.run > 0 && number == self.next_number {
            self.run += 1;
        } else {
            self.run = 1;
            self.loss_runs += 1;
        }
        self.next_number = next;
        self.longest_run = self.longest_run.max(self.run);
    }

    /// Counts of two flows together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            dropped: self.dropped + other.dropped,
            marked: self.marked + other.marked,
            loss_runs: self.loss_runs + other.loss_runs,
            longest_run: self.longest_run.max(other.longest_run),
            ..self
        }
    }

    /// The measured part begins: only later runs count for the longest one.
    pub(crate) fn restart(&mut self) {
        self.longest_run = 0;
        self.run = 0;
    }
}

/// Loss events at one link: losses less than `gap` apart belong to one. The share of flows that have a part in it is the global synchronisation
/// ratio (RFC 7928, section 2.4).
#[derive(Clone, Debug)]
pub(crate) struct LossEvents {
    gap: Duration,
    /// Flows that are sending over this link.
    pub(crate) active: u32,
    last: Instant,
    /// Number of the running event, unlike that of any other link.
    event: u64,
    losers: u32,
    /// Events that are over, and the sum of their shares.
    pub(crate) events: u64,
    share_sum: f64,
}

impl LossEvents {
    /// `gap` is the shortest round-trip time of the flows over the link.
    pub(crate) fn new(link: u32, gap: Duration) -> Self {
        let event = u64::from(link) << 40 | 1;
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
            // A flow that has just ended may have had a part in it.
            self.share_sum += f64::from(self.losers) / f64::from(self.active.max(self.losers));
        }
        self.losers = 0;
        self.event += 1;
    }

    /// The measured part begins.
    pub(crate) fn restart(&mut self) {
        self.losers = 0;
        self.event += 1;
        self.events = 0;
        self.share_sum = 0.0;
    }

    /// The mean share of flows that lost something in a loss event; `None` without any.
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
        let mut flow = FlowSignals::default();
        for number in [3, 4, 5, 9, 11, 12] {
            flow.lose(number, number + 1);
        }
        assert_eq!((flow.dropped, flow.loss_runs, flow.longest_run), (6, 3, 3));
        flow.restart();
        flow.lose(13, 14);
        assert_eq!((flow.loss_runs, flow.longest_run), (4, 1), "what began before the measured part is not continued");
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut link = LossEvents::new(3, Duration::ms(100));
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
