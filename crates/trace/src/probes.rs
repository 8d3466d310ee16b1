//! Probes that are sent back: how long each was on its way, and which never came back.

use crate::TimeCounts;
use goodqueue_units::{Duration, Instant};

/// What a sender knows of its probes, which leave at equal gaps and are numbered from zero.
///
/// A probe counts in the part in which it was *sent*. One that has no answer is lost when a later one has been answered (nothing on the way changes
/// the order of a flow), or when it has waited for longer than [`patience`](Self::patience). Those that still may come are neither answered nor lost.
#[derive(Clone, Debug)]
pub struct Probes {
    interval: Duration,
    sent: u64,
    last_sent: Instant,
    /// The first that counts.
    from: u64,
    /// One above the highest number that was answered, at least `from`.
    next: u64,
    tally: Tally,
    rtt: TimeCounts,
    /// The latest and the longest round trip so far, whether they count or not.
    last: Option<Duration>,
    longest: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    answered: u64,
    lost: u64,
    loss_runs: u64,
    longest_loss_run: u64,
}

impl Tally {
    fn lose(&mut self, run: u64) {
        self.lost += run;
        self.loss_runs += u64::from(run > 0);
        self.longest_loss_run = self.longest_loss_run.max(run);
    }
}

/// What became of the probes that count.
#[derive(Clone, Debug)]
pub struct ProbesOutcome {
    /// Probes sent.
    pub sent: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Those that never will be. What is left is still on its way.
    pub lost: u64,
    /// Runs of consecutive losses.
    pub loss_runs: u64,
    /// The longest of them, in probes.
    pub longest_loss_run: u64,
    /// Times from the sending of a probe to the arrival of its answer.
    pub rtt: TimeCounts,
}

/// How long the first answer may take: what `ping` waits when none has come (iputils, ping(8), `-W`).
const FIRST: Duration = Duration::secs(10);

impl Probes {
    /// None sent yet; all count until [`Self::begin`] says otherwise.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            sent: 0,
            last_sent: Instant::ZERO,
            from: 0,
            next: 0,
            tally: Tally::default(),
            rtt: TimeCounts::new(),
            last: None,
            longest: None,
        }
    }

    /// The next probe leaves at `now`: its number.
    pub fn send(&mut self, now: Instant) -> u64 {
        self.last_sent = now;
        self.sent += 1;
        self.sent - 1
    }

    /// The answer to probe `number`, which left at `sent_at`, has come.
    pub fn answer(&mut self, now: Instant, number: u64, sent_at: Instant) {
        let rtt = now.since(sent_at);
        self.last = Some(rtt);
        self.longest = Some(self.longest.map_or(rtt, |longest| longest.max(rtt)));
        // One that has been overtaken is lost already, and stays so.
        if number < self.next || number >= self.sent {
            return;
        }
        self.tally.lose(number - self.next);
        self.next = number + 1;
        self.tally.answered += 1;
        self.rtt.add(rtt);
    }

    /// Probes that leave from now on count, those before do not.
    pub fn begin(&mut self) {
        (self.from, self.next) = (self.sent, self.sent);
        self.tally = Tally::default();
        self.rtt.clear();
    }

    /// The round trip of the answer that came last.
    #[must_use]
    pub const fn last(&self) -> Option<Duration> {
        self.last
    }

    /// How long a probe is waited for: twice the longest round trip there was, as `ping` does after its last probe (iputils, ping(8), `-W`), and an
    /// interval at least; ten seconds while nothing has been answered.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.longest.map_or(FIRST, |longest| (longest + longest).max(self.interval))
    }

    /// What became of those that count, at `now`.
    #[must_use]
    pub fn outcome(&self, now: Instant) -> ProbesOutcome {
        let mut tally = self.tally;
        let open = self.sent - self.next;
        tally.lose(open - open.min(self.may_still_come(now)));
        let Tally { answered, lost, loss_runs, longest_loss_run } = tally;
        ProbesOutcome { sent: self.sent - self.from, answered, lost, loss_runs, longest_loss_run, rtt: self.rtt.clone() }
    }

    /// How many probes left so recently that they may still come back.
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

    /// Probes every 100 ms from zero on, `sent` of them; each pair is a number and its round-trip time in milliseconds.
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
        assert_eq!((outcome.rtt.len(), outcome.rtt.histogram().max() / 100_000), (4, 400));
    }

    #[test]
    fn what_may_still_come_is_not_lost() {
        // Round trips of up to 250 ms, so 500 ms of patience. Numbers 4 to 9 have left since 400 ms and have no answer.
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
        // The last one left at 19.9 s, and those from 10 s on may still come.
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
        assert_eq!(counts(&outcome), (3, 1, 1), "5 was overtaken, 7 is on its way");
        assert_eq!(outcome.rtt.len(), 1);
        // The time that did not count taught patience.
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
