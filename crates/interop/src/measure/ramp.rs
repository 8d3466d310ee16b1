//! Connections under load, added until the rate is stable (draft-ietf-ippm-responsiveness-09).

/// Intervals of a direction at most, of which the last [`JUDGED`] are the result.
pub const INTERVALS: u32 = 6;
/// Intervals whose rates are compared. Before them goes one in which the first connection starts.
pub const JUDGED: usize = 4;
/// Standard deviation of a stable rate, relative to the latest.
const TOLERANCE: f64 = 0.05;

/// The next step of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One connection more, for an interval.
    Add,
    /// The last intervals are the result.
    End {
        /// Whether their rates agree.
        stable: bool,
    },
}

/// A load that begins with one connection.
#[derive(Clone, Debug, Default)]
pub struct Ramp {
    rates: Vec<f64>,
}

impl Ramp {
    /// Adds the rate of the interval that has ended.
    pub fn interval(&mut self, rate: f64) -> Step {
        self.rates.push(rate);
        let Some(judged) = self.rates[1..].last_chunk::<JUDGED>() else { return Step::Add };
        let mean = judged.iter().sum::<f64>() / JUDGED as f64;
        let squares: f64 = judged.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
        let stable = (squares / JUDGED as f64).sqrt() <= TOLERANCE * rate;
        if stable || self.rates.len() >= INTERVALS as usize { Step::End { stable } } else { Step::Add }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(rates: &[f64]) -> Vec<Step> {
        let mut ramp = Ramp::default();
        rates.iter().map(|rate| ramp.interval(*rate)).collect()
    }

    #[test]
    fn a_steady_rate_ends_the_load() {
        let stable = Step::End { stable: true };
        assert_eq!(steps(&[10.0, 20.0, 20.0, 20.5, 20.0]), [Step::Add, Step::Add, Step::Add, Step::Add, stable]);
        assert_eq!(steps(&[20.0, 10.0, 20.0, 20.0, 20.0, 30.0])[4..], [Step::Add, Step::End { stable: false }]);
    }

    #[test]
    fn a_line_without_a_rate_ends_too() {
        assert_eq!(*steps(&[0.0; 5]).last().unwrap(), Step::End { stable: true });
    }
}
