//! Probes that the far end echoes: round-trip times and losses.

use crate::losses::LossRuns;
use crate::trace::TimeCounts;
use goodqueue_base::units::{Duration, Instant};

/// A sender's record of its probes, which leave at equal gaps and are numbered from zero.
///
/// A probe counts in the part of the run in which it was *sent*. An unanswered probe is lost when a
/// later one has been answered (the path keeps the order of a flow), or when it has been
/// outstanding for longer than [`patience`](Self::patience). Probes that may still be answered
/// count as neither answered nor lost.
#[derive(Clone, Debug)]
pub struct Probes {
    interval: Duration,
    sent: u64,
    last_sent: Instant,
    /// Number of the first probe that counts.
    from: u64,
    /// One above the highest number answered so far, at least `from`.
    next: u64,
    answered: u64,
    losses: LossRuns,
    rtt: TimeCounts,
    /// Latest and longest round trip so far, including probes that do not count.
    last: Option<Duration>,
    longest: Option<Duration>,
    /// Sum and number of the round trips since [`Self::take_recent`].
    recent: (Duration, u64),
}

/// The counts for probes of the measured part.
#[derive(Clone, Debug)]
pub struct ProbesOutcome {
    /// Probes sent.
    pub sent: u64,
    /// Probes answered.
    pub answered: u64,
    /// Probes that will never be answered. The remainder is still in flight.
    pub lost: u64,
    /// Runs of consecutive losses.
    pub loss_runs: u64,
    /// Length of the longest such run, in probes.
    pub longest_loss_run: u64,
    /// Round-trip times, from sending a probe to the arrival of its answer.
    pub rtt: TimeCounts,
}

/// Patience before the first answer: what `ping` waits in that case (iputils, ping(8), `-W`).
const FIRST: Duration = Duration::secs(10);

impl Probes {
    /// Creates an empty record. All probes count until [`Self::begin`] is called.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            sent: 0,
            last_sent: Instant::ZERO,
            from: 0,
            next: 0,
            answered: 0,
            losses: LossRuns::default(),
            rtt: TimeCounts::new(),
            last: None,
            longest: None,
            recent: (Duration::ZERO, 0),
        }
    }

    /// Records a probe that leaves at `now` and returns its number.
    pub fn send(&mut self, now: Instant) -> u64 {
        self.last_sent = now;
        self.sent += 1;
        self.sent - 1
    }

    /// Records the answer to probe `number`, which left at `sent_at`.
    pub fn answer(&mut self, now: Instant, number: u64, sent_at: Instant) {
        let rtt = now.since(sent_at);
        self.last = Some(rtt);
        self.recent = (self.recent.0 + rtt, self.recent.1 + 1);
        self.longest = Some(self.longest.map_or(rtt, |longest| longest.max(rtt)));
        // An overtaken probe has already been counted as lost and stays lost.
        if number < self.next || number >= self.sent {
            return;
        }
        self.losses.add(number - self.next);
        self.next = number + 1;
        self.answered += 1;
        self.rtt.add(rtt);
    }

    /// Starts the measured part: only probes that leave from now on count.
    pub fn begin(&mut self) {
        (self.from, self.next) = (self.sent, self.sent);
        (self.answered, self.losses) = (0, LossRuns::default());
        self.rtt.clear();
    }

    /// Round-trip time of the latest answer.
    #[must_use]
    pub const fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Mean round-trip time of the answers since the last call; `None` without any.
    pub(crate) fn take_recent(&mut self) -> Option<Duration> {
        let (sum, count) = std::mem::take(&mut self.recent);
        sum.as_nanos().checked_div(count).map(Duration::ns)
    }

    /// The time for which an answer is awaited: twice the longest round trip so far, as `ping` does
    /// after its last probe (iputils, ping(8), `-W`), but at least one interval; ten seconds before
    /// the first answer.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.longest.map_or(FIRST, |longest| (longest + longest).max(self.interval))
    }

    /// Counts of the probes that belong to the measured part, as of `now`.
    #[must_use]
    pub fn outcome(&self, now: Instant) -> ProbesOutcome {
        let mut losses = self.losses;
        let open = self.sent - self.next;
        losses.add(open - open.min(self.may_still_come(now)));
        ProbesOutcome {
            sent: self.sent - self.from,
            answered: self.answered,
            lost: losses.lost,
            loss_runs: losses.runs,
            longest_loss_run: losses.longest,
            rtt: self.rtt.clone(),
        }
    }

    /// Number of probes sent so recently that they may still be answered.
    fn may_still_come(&self, now: Instant) -> u64 {
        let (age, patience) = (now.since(self.last_sent), self.patience());
        if age > patience {
            return 0;
        }
        patience.saturating_sub(age).as_nanos() / self.interval.as_nanos().max(1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::ms(ms)
    }

    #[test]
    fn recent_answers_are_taken_once() {
        let mut probes = Probes::new(Duration::ms(10));
        assert_eq!(probes.take_recent(), None);
        for (sent, answered) in [(0, 20), (10, 50)] {
            let number = probes.send(at(sent));
            probes.answer(at(answered), number, at(sent));
        }
        assert_eq!([probes.take_recent(), probes.take_recent()], [Some(Duration::ms(30)), None]);
    }

    /// Sends `sent` probes every 100 ms from zero on. Each pair is a number and its round-trip time
    /// in milliseconds.
    fn answered(sent: u64, answers: &[(u64, u64)]) -> Probes {
        let mut probes = Probes::new(Duration::ms(100));
        (0..sent).for_each(|number| assert_eq!(probes.send(at(100 * number)), number));
        answers.iter().for_each(|&(number, rtt)| probes.answer(at(100 * number + rtt), number, at(100 * number)));
        probes
    }

    fn counts(outcome: &ProbesOutcome) -> (u64, u64, u64) {
        (outcome.sent, outcome.answered, outcome.lost)
    }

    #[test]
    fn what_a_later_answer_overtakes_is_lost() {
        let outcome = answered(9, &[(0, 20), (1, 20), (3, 20), (7, 40)]).outcome(at(850));
        assert_eq!(counts(&outcome), (9, 4, 4));
        assert_eq!((outcome.loss_runs, outcome.longest_loss_run), (2, 3));
        assert_eq!((outcome.rtt.len(), outcome.rtt.quantile(1.0).expect("four").as_nanos() / 100_000), (4, 400));
    }

    #[test]
    fn what_may_still_come_is_not_lost() {
        // Round trips of up to 250 ms give 500 ms of patience. Numbers 4 to 9 were sent after 400
        // ms and have no answer.
        let probes = answered(10, &[(2, 250), (3, 250)]);
        assert_eq!((probes.patience(), probes.last()), (Duration::ms(500), Some(Duration::ms(250))));
        for (now, on_the_way) in [(900, 6), (901, 5), (1000, 5), (1400, 1), (1401, 0)] {
            let outcome = probes.outcome(at(now));
            // Numbers 0 and 1 were overtaken.
            assert_eq!(counts(&outcome), (10, 2, 2 + 6 - on_the_way), "{now}");
        }
    }

    #[test]
    fn without_any_answer_all_are_lost_after_ten_seconds() {
        assert_eq!(counts(&answered(90, &[]).outcome(at(9_000))), (90, 0, 0));
        let probes = answered(200, &[]);
        // The last probe left at 19.9 s; those sent from 10 s on may still be answered.
        let outcome = probes.outcome(at(20_000));
        assert_eq!(counts(&outcome), (200, 0, 100));
        assert_eq!((outcome.loss_runs, outcome.longest_loss_run), (1, 100));
    }

    #[test]
    fn only_probes_sent_in_the_measured_part_count() {
        let mut probes = answered(5, &[(0, 20)]);
        probes.begin();
        assert_eq!(counts(&probes.outcome(at(10_000))), (0, 0, 0));
        probes.answer(at(480), 4, at(400));
        (5..8).for_each(|number| assert_eq!(probes.send(at(100 * number)), number));
        probes.answer(at(620), 6, at(600));
        let outcome = probes.outcome(at(701));
        assert_eq!(counts(&outcome), (3, 1, 1), "5 was overtaken, 7 is in flight");
        assert_eq!(outcome.rtt.len(), 1);
        // Patience also uses round trips from before the measured part.
        assert_eq!(probes.patience(), Duration::ms(160));
    }

    #[test]
    fn what_was_never_sent_is_no_answer() {
        let mut probes = answered(2, &[(0, 20)]);
        probes.answer(at(200), 7, at(150));
        probes.answer(at(201), 0, at(0));
        assert_eq!(counts(&probes.outcome(at(210))), (2, 1, 0));
    }
}
