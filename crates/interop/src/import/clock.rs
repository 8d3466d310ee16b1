//! Times of a file whose clock may have been set while it was written.

/// The time that has passed in a file. A step of its clock counts as the time between the entries
/// before it.
#[derive(Default)]
pub(crate) struct Clock {
    /// The latest time since the last step, in nanoseconds.
    latest: Option<i64>,
    /// The time of the last entry.
    before: i64,
    /// From one entry to the next, the last that was no step.
    interval_ns: i64,
    elapsed_ns: i64,
    entries: u64,
    earlier: u64,
    leaps: u64,
    steps: u32,
    /// The latest time before a step back, and the time that it led to.
    fell: Option<(i64, i64)>,
    /// Steps back that a jump to where they began has undone.
    returns: u64,
    /// The most by which an entry was late without a step.
    late_ns: i64,
}

/// The time of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Passed {
    /// Nanoseconds since the first entry.
    pub(crate) ns: i64,
    /// The number of times that the clock was set before it.
    pub(crate) steps: u32,
}

/// Entries from several places are not in order by less than this.
const MAX_DISORDER_NS: i64 = 100_000_000;
/// More than this between two entries is a clock that was set, or time in which nothing happened.
const MAX_SILENCE_NS: i64 = 3_600_000_000_000;

impl Clock {
    /// Returns the time that has passed at an entry with this time in nanoseconds.
    pub(crate) fn pass(&mut self, at: i64) -> Passed {
        let after = at.saturating_sub(*self.latest.get_or_insert(at));
        let is_leap = after > MAX_SILENCE_NS;
        let before = std::mem::replace(&mut self.before, at);
        self.earlier += u64::from(self.entries > 0 && at < before);
        self.entries += 1;
        self.leaps += u64::from(is_leap);
        if is_leap || after < -MAX_DISORDER_NS {
            self.fell = if is_leap { None } else { self.latest.map(|from| (from, at)) };
            self.latest = Some(at);
            self.elapsed_ns = self.elapsed_ns.saturating_add(self.interval_ns);
            self.steps = self.steps.saturating_add(1);
            return Passed { ns: self.elapsed_ns, steps: self.steps };
        }
        if after < 0 {
            self.late_ns = self.late_ns.max(-after);
            return Passed { ns: self.elapsed_ns.saturating_add(after).max(0), steps: self.steps };
        }
        if let Some((from, to)) = self.fell
            && at >= from.saturating_sub(MAX_DISORDER_NS)
        {
            self.returns += u64::from(after > from.saturating_sub(to) / 2);
            self.fell = None;
        }
        self.latest = Some(at);
        if after > 0 {
            self.interval_ns = after;
        }
        self.elapsed_ns = self.elapsed_ns.saturating_add(after);
        Passed { ns: self.elapsed_ns, steps: self.steps }
    }

    /// Returns how often entries that are earlier were followed by one where they had left off: a
    /// clock that is set does not come back.
    pub(crate) fn returns(&self) -> u64 {
        self.returns
    }

    /// Returns the seconds that have passed.
    pub(crate) fn seconds(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    /// Returns the number of entries.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the number of entries that are earlier than the one before.
    pub(crate) fn earlier(&self) -> u64 {
        self.earlier
    }

    /// Returns the most nanoseconds by which an entry was late without a step.
    pub(crate) fn late_ns(&self) -> i64 {
        self.late_ns
    }

    /// Returns the number of entries that are more than an hour after the one before.
    pub(crate) fn leaps(&self) -> u64 {
        self.leaps
    }

    /// Remarks on entries, called `packets` or the like, that are not in the order of time.
    pub(crate) fn notes(&self, entries: &str) -> Vec<String> {
        disorder(entries, self.earlier, self.leaps)
    }
}

/// Remarks on entries that are earlier than the one before, or much later.
pub(crate) fn disorder(entries: &str, earlier: u64, leaps: u64) -> Vec<String> {
    [
        (earlier, "are earlier than the one before: the clock was set, or they are not in order."),
        (leaps, "are more than an hour after the one before: that time is left out."),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, rest)| format!("{count} {entries} {rest}"))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_clock_are_no_time() {
        const S: i64 = 1_000_000_000;
        for (times, passed, notes) in [
            (vec![0, S, 2 * S], 2.0, 0),
            // Forward by a day, back by half a second and by two seconds.
            (vec![0, S, 86_401 * S, 86_402 * S], 3.0, 1),
            (vec![0, S, S / 2, S], 2.5, 1),
            (vec![0, 3 * S, S, 2 * S], 7.0, 1),
            (vec![0, S, S - 1_000_000, 2 * S], 2.0, 1),
            (vec![i64::MIN, i64::MAX, i64::MIN], 0.0, 2),
        ] {
            let mut clock = Clock::default();
            for at in &times {
                clock.pass(*at);
            }
            assert_eq!((clock.seconds(), clock.notes("rows").len()), (passed, notes), "{times:?}");
        }
    }
}
