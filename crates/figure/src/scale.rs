//! Scales: from values to places on paper, and where the ticks go.

use crate::Axis;

/// One direction of a coordinate system.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// The values of the ticks, where they are given.
    given: Vec<f64>,
    /// Paper coordinates of both ends.
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that holds these values.
    pub(crate) fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!axis.log || *value > 0.0)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = if axis.log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if let Some(names) = &axis.categories {
            (low, high) = (-0.5, names.len() as f64 - 0.5);
        } else if axis.log {
            (low, high) = (low / 1.1, high * 1.1);
        } else {
            let margin = if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1.0) };
            // The axis of values that are never negative and come near zero begins at zero.
            low = if low >= 0.0 && low < 0.5 * high { 0.0 } else { low - margin };
            high += margin;
        }
        low = axis.min.filter(|min| !axis.log || *min > 0.0).unwrap_or(low);
        high = axis.max.unwrap_or(high);
        if high <= low {
            high = low + 1.0;
        }
        Self { low, high, log: axis.log, given: axis.ticks.clone(), from, to }
    }

    /// Returns the place of a value on paper. Values far outside are not drawn, so their places
    /// need not be exact.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let part = if self.log {
            libm::log(value.max(1e-300) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part.clamp(-20.0, 21.0) * (self.to - self.from)
    }

    /// Whether a value is between the ends.
    pub(crate) fn holds(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        value >= self.low - slack && value <= self.high + slack
    }

    /// Paper coordinates of both ends.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// Values with a tick, and their texts: about one for each `room` pixels.
    pub(crate) fn ticks(&self, room: f64) -> Vec<(f64, String)> {
        if !self.given.is_empty() {
            return self.given_ticks(room / 2.0);
        }
        let count = ((self.to - self.from).abs() / room).clamp(2.0, 8.0);
        if self.log { self.log_ticks() } else { self.linear_ticks(count) }
    }

    /// Those of the given ticks that are `room` away from the one before.
    fn given_ticks(&self, room: f64) -> Vec<(f64, String)> {
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for value in self.given.iter().copied().filter(|value| self.holds(*value)) {
            let is_free = ticks.last().is_none_or(|(before, _)| (self.place(value) - self.place(*before)).abs() >= room);
            if is_free {
                ticks.push((value, format!("{}", libm::round(value * 1e6) / 1e6)));
            }
        }
        ticks
    }

    fn linear_ticks(&self, count: f64) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / count;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough).unwrap_or(rough);
        let digits = (0..9).find(|digits| {
            let shifted = step * libm::pow(10.0, f64::from(*digits));
            (shifted - shifted.round()).abs() < 1e-6
        });
        let digits = digits.unwrap_or(3) as usize;
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        let count = (last - first).max(0.0) as u32;
        (0..=count.min(50)).map(|at| (first + f64::from(at)) * step).map(|value| (value, text(value, digits))).collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let decades = libm::log10(self.high / self.low);
        let factors: &[f64] = if decades > 2.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let first = libm::floor(libm::log10(self.low)) as i32;
        let mut ticks = Vec::new();
        for power in first..=first + decades.ceil() as i32 + 1 {
            for factor in factors {
                let value = factor * libm::pow(10.0, f64::from(power));
                if self.holds(value) {
                    ticks.push((value, text(value, (-power).max(0) as usize)));
                }
            }
        }
        ticks
    }
}

fn text(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) { "0".to_owned() } else { text }
}
