//! Looks ahead: the queue that the windows of known flows will make, each growing by a segment a
//! round trip.

use super::params::ProjectionParams;
use crate::aqm::FlowHash;
use alloc::vec::Vec;
use goodqueue_base::units::{Bytes, Duration, Instant};

/// Backlog, limit and rate, in bytes and seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) backlog: f64,
    pub(super) limit: f64,
    pub(super) link: f64,
}

/// A flow that is followed.
#[derive(Clone, Copy, Debug)]
struct Follow {
    flow: FlowHash,
    /// Segments per round trip, smoothed; `None` in the first.
    window: Option<f64>,
    /// Segments in the round trip that began at `since`.
    count: u32,
    since: Instant,
    /// Bytes of the largest segment.
    segment: u64,
    marked_at: Option<Instant>,
}

/// Windows of some flows, and all else as one rate.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    params: ProjectionParams,
    flows: Vec<Follow>,
    /// Bytes per round trip of flows that are not followed, smoothed; of the round trip that began
    /// at `since`.
    others: Option<f64>,
    other_bytes: u64,
    since: Instant,
}

/// Smooths what was counted since `since`, once for each round trip that ended; says when the
/// present one began.
fn roll(estimate: &mut Option<f64>, counted: f64, alpha: f64, since: Instant, now: Instant, rtt: Duration) -> Option<Instant> {
    let ended = now.since(since).as_nanos() / rtt.as_nanos().max(1);
    if ended == 0 {
        return None;
    }
    let mut smoothed = estimate.map_or(counted, |old| alpha * old + (1.0 - alpha) * counted);
    // Silent round trips; after a hundred nothing is left.
    (1..ended.min(100)).for_each(|_| smoothed *= alpha);
    *estimate = Some(smoothed);
    Some(since + rtt * ended)
}

impl Projection {
    pub(super) fn new(params: ProjectionParams) -> Self {
        Self { params, flows: Vec::with_capacity(params.flows), others: None, other_bytes: 0, since: Instant::ZERO }
    }

    /// The flow's place among those that are followed; a new one takes a free place, or that of one
    /// that sends less than a segment a round trip.
    fn follow(&mut self, flow: FlowHash, now: Instant) -> Option<usize> {
        let ProjectionParams { rtt, alpha, .. } = self.params;
        for known in &mut self.flows {
            if let Some(since) = roll(&mut known.window, f64::from(known.count), alpha, known.since, now, rtt) {
                (known.since, known.count) = (since, 0);
            }
        }
        if let Some(since) = roll(&mut self.others, self.other_bytes as f64, alpha, self.since, now, rtt) {
            (self.since, self.other_bytes) = (since, 0);
        }
        if let Some(place) = self.flows.iter().position(|known| known.flow == flow) {
            return Some(place);
        }
        let fresh = Follow { flow, window: None, count: 0, since: now, segment: 0, marked_at: None };
        if self.flows.len() < self.params.flows {
            self.flows.push(fresh);
            return Some(self.flows.len() - 1);
        }
        let place = self.flows.iter().position(|known| known.window.is_some_and(|window| window < 1.0) && known.count == 0)?;
        self.flows[place] = fresh;
        Some(place)
    }

    /// Counts an arriving packet of `len` bytes. Returns true if it is to be marked, which
    /// `can_mark` allows.
    pub(super) fn arrival(&mut self, now: Instant, flow: FlowHash, len: Bytes, can_mark: bool, room: Room) -> bool {
        let place = self.follow(flow, now);
        match place {
            Some(place) => {
                let known = &mut self.flows[place];
                known.count += 1;
                known.segment = known.segment.max(len.get());
            }
            None => self.other_bytes += len.get(),
        }
        if self.highest(now, room) <= room.limit * self.params.b_lim {
            return false;
        }
        let ProjectionParams { rtt, .. } = self.params;
        let may = |known: &Follow| known.marked_at.is_none_or(|at| now.since(at) >= rtt);
        if let Some(place) = place
            && can_mark
            && may(&self.flows[place])
        {
            self.flows[place].marked_at = Some(now);
            return true;
        }
        false
    }

    /// The largest backlog within the horizon. Between the times at which marked flows slow down it
    /// is convex, so that it is largest at one of them.
    fn highest(&self, now: Instant, room: Room) -> f64 {
        let horizon = self.params.horizon.as_secs_f64();
        let ends = self.flows.iter().filter_map(|known| self.slows_at(known, now)).filter(|h| *h < horizon);
        let mut most = room.backlog;
        for h in ends.chain([horizon]) {
            most = most.max(self.at(now, h, room));
        }
        most
    }

    /// Seconds from now until a marked flow halves its window.
    fn slows_at(&self, known: &Follow, now: Instant) -> Option<f64> {
        let at = known.marked_at? + self.params.rtt;
        (at > now).then(|| at.since(now).as_secs_f64())
    }

    /// The backlog `h` seconds from now.
    fn at(&self, now: Instant, h: f64, room: Room) -> f64 {
        let rtt = self.params.rtt.as_secs_f64();
        let mut sum = room.backlog + (self.others.unwrap_or(0.0) / rtt - room.link) * h;
        for known in &self.flows {
            let Some(window) = known.window else { continue };
            let grown = |h: f64| window * h / rtt + h * h / (2.0 * rtt * rtt);
            let segments = match self.slows_at(known, now) {
                Some(slow) if slow < h => grown(slow) + (h - slow) * window / 2.0 / rtt,
                _ => grown(h),
            };
            sum += known.segment as f64 * segments;
        }
        sum
    }

    /// Segments per round trip of all flows that are followed.
    pub(super) fn windows(&self) -> f64 {
        self.flows.iter().filter_map(|known| known.window).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projection() -> Projection {
        let rtt = Duration::ms(100);
        Projection::new(ProjectionParams { flows: 1, alpha: 0.9, b_lim: 1.0, horizon: rtt, rtt })
    }

    fn room(backlog: f64, limit: f64) -> Room {
        Room { backlog, limit, link: 100e3 }
    }

    /// Ten segments of 1000 bytes per round trip on a link that takes as many: after another round
    /// trip half a segment more waits.
    #[test]
    fn a_window_grows_by_a_segment_a_round_trip() {
        let mut ahead = projection();
        let now = |ms| Instant::ZERO + Duration::ms(ms);
        for number in 0..10 {
            assert!(!ahead.arrival(now(10 * number), FlowHash(1), Bytes::new(1000), true, room(5_000.0, 1e9)));
        }
        assert!(!ahead.arrival(now(100), FlowHash(1), Bytes::new(1000), true, room(5_000.0, 5_501.0)));
        assert!((ahead.highest(now(100), room(5_000.0, 1e9)) - 5_500.0).abs() < 1e-9);
        assert!(ahead.arrival(now(110), FlowHash(1), Bytes::new(1000), true, room(5_000.0, 5_499.0)));
        assert!(!ahead.arrival(now(120), FlowHash(1), Bytes::new(1000), true, room(5_000.0, 5_499.0)), "once per round trip");
    }

    #[test]
    fn flows_beyond_those_followed_count_as_one_rate() {
        let mut ahead = projection();
        let now = |ms| Instant::ZERO + Duration::ms(ms);
        for number in 0..=10 {
            ahead.arrival(now(10 * number), FlowHash(1), Bytes::new(1000), false, room(0.0, 1e9));
            ahead.arrival(now(10 * number), FlowHash(2), Bytes::new(500), false, room(0.0, 1e9));
        }
        // 5000 B of the other flow and 10 segments in 100 ms, and half a segment; 10000 B leave.
        assert!((ahead.highest(now(100), room(0.0, 1e9)) - 5_500.0).abs() < 1e-9, "{}", ahead.highest(now(100), room(0.0, 1e9)));
    }
}
