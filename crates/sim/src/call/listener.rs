//! Listeners of calls: delays, late packets, and losses in a row, of one flow of small packets at
//! constant gaps.

use super::codec::Content;
use super::playout::Playout;
use crate::losses::LossRuns;
use crate::outcome::CallOutcome;
use goodqueue_base::units::{Duration, Instant};

/// The measurements of one listener in the measured part. Every host of scenarios counts with it.
#[derive(Clone, Debug)]
pub struct Listener {
    content: Content,
    interval: Duration,
    /// Propagation delay of the path: delays are counted relative to it, so that small differences
    /// stay visible.
    base: Duration,
    /// Number of the packet that should come next.
    expected: u64,
    received: u64,
    losses: LossRuns,
    late: u64,
    least: Duration,
    counts: Box<[u32]>,
    /// The receiver of speech.
    playout: Option<Playout>,
}

/// Frames that were sent less than this before the end may still be on their way.
const ON_THE_WAY: Duration = Duration::secs(2);

/// A packet that takes longer is late (ITU-T G.114: most calls do not suffer up to here).
const LATE: Duration = Duration::ms(150);

/// Buckets of the lowest octave are 2^12 ns wide, and each octave has 128 of them, for an error
/// below one per cent.
const UNIT_SHIFT: u32 = 12;
const HALF_SHIFT: u32 = 7;
/// The last bucket ends beyond a minute.
const BUCKETS: usize = 20 << HALF_SHIFT;

fn bucket(nanos: u64) -> usize {
    let units = nanos >> UNIT_SHIFT;
    let octave = (units | ((2 << HALF_SHIFT) - 1)).ilog2() - HALF_SHIFT;
    (((octave as usize) << HALF_SHIFT) + (units >> octave) as usize).min(BUCKETS - 1)
}

/// The middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let octave = (bucket >> HALF_SHIFT).saturating_sub(1) as u32;
    let least = ((bucket - ((octave as usize) << HALF_SHIFT)) as u64) << octave;
    (least << UNIT_SHIFT) + (1 << (octave + UNIT_SHIFT - 1))
}

impl Listener {
    /// A listener to a packet every `interval`, at the end of a path whose propagation takes
    /// `base`.
    #[must_use]
    pub fn new(content: Content, interval: Duration, base: Duration) -> Self {
        Self {
            content,
            interval,
            base,
            expected: 0,
            received: 0,
            losses: LossRuns::default(),
            late: 0,
            least: Duration::ns(u64::MAX),
            counts: vec![0; BUCKETS].into_boxed_slice(),
            playout: Self::playout(content, interval, 0),
        }
    }

    fn playout(content: Content, interval: Duration, first: u64) -> Option<Playout> {
        let Content::Voice(codec) = content else { return None };
        Some(Playout::new(codec, interval, first))
    }

    /// Packet `number`, sent at `sent`, is here.
    pub fn hear(&mut self, now: Instant, number: u64, sent: Instant) {
        if let Some(playout) = self.playout.as_mut().filter(|playout| number >= playout.first()) {
            playout.lose_before(number);
            playout.hear(now, number, sent);
        }
        if number < self.expected {
            return;
        }
        self.losses.add(number - self.expected);
        self.expected = number + 1;
        self.received += 1;
        let delay = now.since(sent);
        self.late += u64::from(delay > LATE);
        self.least = self.least.min(delay);
        self.counts[bucket(delay.saturating_sub(self.base).as_nanos())] += 1;
    }

    /// Begins measuring; packet `number` is the next to be sent. Earlier packets that are still
    /// under way count neither as lost nor as missing.
    pub(crate) fn begin_at(&mut self, number: u64) {
        self.expected = number;
        self.playout = Self::playout(self.content, self.interval, number);
    }

    /// A listener of the same call that has heard nothing yet; packet `number` is the next to be
    /// sent.
    #[must_use]
    pub fn afresh(&self, number: u64) -> Self {
        let mut other = Self::new(self.content, self.interval, self.base);
        other.begin_at(number);
        other
    }

    /// The outcome since the last call of this function. Losses count when a later packet arrives.
    pub(crate) fn take(&mut self) -> CallOutcome {
        let heard = self.playout.as_mut().map(Playout::take_recent);
        let outcome = CallOutcome { heard, ..self.counted() };
        self.counts.fill(0);
        (self.received, self.losses, self.late) = (0, LossRuns::default(), 0);
        self.least = Duration::ns(u64::MAX);
        outcome
    }

    /// The delay that `percent` of the packets did not exceed.
    fn delay_at(&self, percent: u64) -> Duration {
        let rank = (self.received * percent).div_ceil(100).max(1);
        let mut below = 0;
        let place = self.counts.iter().position(|count| {
            below += u64::from(*count);
            below >= rank
        });
        place.map_or(Duration::ZERO, |place| (self.base + Duration::ns(middle(place))).max(self.least))
    }

    /// The outcome at the end of a run in which the source sent `sent` packets. Those of its last
    /// two seconds may still be on their way; earlier ones that are not here are lost.
    #[must_use]
    pub fn outcome(&self, sent: u64) -> CallOutcome {
        let on_the_way = ON_THE_WAY.as_nanos() / self.interval.as_nanos().max(1);
        let end = self.expected.max(sent.saturating_sub(on_the_way));
        let heard = self.playout.as_ref().map(|playout| playout.outcome(end));
        let mut losses = self.losses;
        losses.add(end - self.expected);
        let LossRuns { lost, runs: loss_runs, longest: longest_loss_run } = losses;
        CallOutcome { heard, lost, loss_runs, longest_loss_run, ..self.counted() }
    }

    fn counted(&self) -> CallOutcome {
        CallOutcome {
            content: self.content,
            interval: self.interval,
            received: self.received,
            lost: self.losses.lost,
            loss_runs: self.losses.runs,
            longest_loss_run: self.losses.longest,
            late: self.late,
            delay_min: if self.received > 0 { self.least } else { Duration::ZERO },
            delay_p50: self.delay_at(50),
            delay_p95: self.delay_at(95),
            delay_p99: self.delay_at(99),
            heard: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Codec;

    fn heard(packets: &[(u64, u64)]) -> CallOutcome {
        let mut listener = Listener::new(Content::Voice(Codec::Pcmu), Duration::ms(20), Duration::ms(10));
        for &(number, delay_ms) in packets {
            let sent = Instant::ZERO + Duration::ms(20 * number);
            listener.hear(sent + Duration::ms(delay_ms), number, sent);
        }
        listener.outcome(0)
    }

    #[test]
    fn losses_are_told_by_the_numbers_that_are_missing() {
        let outcome = heard(&[(0, 12), (1, 12), (3, 12), (7, 200)]);
        assert_eq!((outcome.received, outcome.lost, outcome.loss_runs, outcome.longest_loss_run), (4, 4, 2, 3));
        assert_eq!((outcome.late, outcome.delay_min), (1, Duration::ms(12)));
    }

    #[test]
    fn packets_that_no_later_one_follows_are_lost_too() {
        let mut listener = Listener::new(Content::Voice(Codec::Pcmu), Duration::ms(20), Duration::ZERO);
        let counts = |listener: &Listener, sent| {
            let outcome = listener.outcome(sent);
            let bad = outcome.heard.expect("speech").bursts.bad;
            (outcome.received, outcome.lost, outcome.loss_runs, outcome.longest_loss_run, bad)
        };
        assert_eq!(counts(&listener, 150), (0, 50, 1, 50, 50), "100 may be on their way");
        let sent = Instant::ZERO + Duration::ms(200);
        listener.hear(sent + Duration::ms(10), 10, sent);
        assert_eq!(counts(&listener, 100), (1, 10, 1, 10, 10));
        assert_eq!(counts(&listener, 150), (1, 49, 2, 39, 49));
    }

    #[test]
    fn taken_counts_neither_repeat_nor_leave_gaps() {
        let call = Listener::new(Content::Voice(Codec::Pcmu), Duration::ms(20), Duration::ms(10));
        let mut watcher = call.afresh(100);
        let hear = |watcher: &mut Listener, number: u64, delay_ms: u64| {
            let sent = Instant::ZERO + Duration::ms(20 * number);
            watcher.hear(sent + Duration::ms(delay_ms), number, sent);
        };
        hear(&mut watcher, 100, 200);
        hear(&mut watcher, 102, 200);
        let first = watcher.take();
        assert_eq!((first.received, first.lost, first.late), (2, 1, 2));
        hear(&mut watcher, 103, 30);
        let second = watcher.take();
        assert_eq!((second.received, second.lost, second.late, second.delay_min), (1, 0, 0, Duration::ms(30)));
        assert_eq!(watcher.take().received, 0);
    }

    #[test]
    fn percentiles_are_within_one_per_cent() {
        let packets: Vec<(u64, u64)> = (0..1000).map(|number| (number, 10 + number)).collect();
        let outcome = heard(&packets);
        for (found, exact_ms) in [(outcome.delay_p50, 509.0), (outcome.delay_p95, 959.0), (outcome.delay_p99, 999.0)] {
            assert!((found.as_secs_f64() * 1e3 / exact_ms - 1.0).abs() < 0.01, "{found} instead of {exact_ms} ms");
        }
    }

    #[test]
    fn buckets_hold_their_middles() {
        for number in 0..BUCKETS - 1 {
            assert_eq!(bucket(middle(number)), number);
        }
    }
}
