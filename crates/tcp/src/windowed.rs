//! The best value over a sliding window, from three samples: the best, and the best after each of
//! them. The unit of time is the caller's, for instance round trips.

/// The three samples. What is best is the caller's, too, and the same in every call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Windowed<V> {
    /// Time and value, best first.
    best: [(u64, V); 3],
}

impl<V: Copy> Windowed<V> {
    #[inline]
    pub(crate) const fn get(&self) -> V {
        self.best[0].1
    }

    /// Whether a sample could change something: it wins over the worst of the three, or they are
    /// no longer young.
    #[inline]
    pub(crate) fn could_take(&self, window: u64, now: u64, value: V, wins: impl Fn(V, V) -> bool) -> bool {
        wins(value, self.best[2].1) || now - self.best[0].0 > window / 4
    }

    /// Adds a sample and discards those that are more than `window` older. `wins` tells whether its
    /// first argument is at least as good as the second.
    pub(crate) fn insert(&mut self, window: u64, now: u64, value: V, wins: impl Fn(V, V) -> bool) {
        let sample = (now, value);
        if wins(value, self.best[0].1) || now - self.best[2].0 > window {
            self.best = [sample; 3];
            return;
        }
        if wins(value, self.best[1].1) {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if wins(value, self.best[2].1) {
            self.best[2] = sample;
        }
        self.age(window, sample);
    }

    /// Drops the best sample when it leaves the window, and replaces the second and third best in
    /// each later quarter and half.
    fn age(&mut self, window: u64, sample: (u64, V)) {
        let since = sample.0 - self.best[0].0;
        if since > window {
            self.best = [self.best[1], self.best[2], sample];
            if sample.0 - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && since > window / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && since > window / 2 {
            self.best[2] = sample;
        }
    }
}

/// The largest value wins.
pub(crate) fn largest(new: f64, old: f64) -> bool {
    new >= old
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_ten_rounds_counts() {
        let mut filter = Windowed::default();
        filter.insert(10, 0, 100.0, largest);
        for round in 1..=10 {
            filter.insert(10, round, 50.0 + round as f64, largest);
            assert_eq!(filter.get(), 100.0);
        }
        filter.insert(10, 11, 40.0, largest);
        assert!((55.0..=60.0).contains(&filter.get()), "the best of the rounds after it: {}", filter.get());
        filter.insert(10, 12, 200.0, largest);
        assert_eq!(filter.get(), 200.0);
    }

    #[test]
    fn after_a_long_silence_the_next_sample_is_all_there_is() {
        let mut filter = Windowed::default();
        filter.insert(10, 0, 100.0, largest);
        filter.insert(10, 50, 1.0, largest);
        assert_eq!(filter.get(), 1.0);
    }
}
