//! Maximum over a sliding window, from three samples: the best, and the best after each of them.

/// A windowed maximum. The unit of time is the caller's, for instance round trips.
#[derive(Clone, Debug, Default)]
pub(in crate::cc) struct WindowedMax {
    /// Time and value, best first.
    best: [(u64, f64); 3],
}

impl WindowedMax {
    pub(in crate::cc) fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Adds a sample and discards those that are more than `window` older.
    pub(in crate::cc) fn insert(&mut self, window: u64, now: u64, value: f64) {
        let sample = (now, value);
        if value >= self.best[0].1 || now - self.best[2].0 > window {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        self.age(window, sample);
    }

    /// Drops the best sample when it leaves the window, and replaces the second and third best in
    /// each later quarter and half.
    fn age(&mut self, window: u64, sample: (u64, f64)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_ten_rounds_counts() {
        let mut filter = WindowedMax::default();
        filter.insert(10, 0, 100.0);
        for round in 1..=10 {
            filter.insert(10, round, 50.0 + round as f64);
            assert_eq!(filter.get(), 100.0);
        }
        filter.insert(10, 11, 40.0);
        assert!((55.0..=60.0).contains(&filter.get()), "the best of the rounds after it: {}", filter.get());
        filter.insert(10, 12, 200.0);
        assert_eq!(filter.get(), 200.0);
    }

    #[test]
    fn after_a_long_silence_the_next_sample_is_all_there_is() {
        let mut filter = WindowedMax::default();
        filter.insert(10, 0, 100.0);
        filter.insert(10, 50, 1.0);
        assert_eq!(filter.get(), 1.0);
    }
}
