//! A stretch of speech: the frames that were played and those that were not.

use super::emodel::Scale;
use goodqueue_base::units::Duration;

/// Devices, and the codec's frame and look-ahead, take this long: 20 ms for a frame, 6.5 ms of
/// look-ahead, 13.5 ms for the devices. Our choice.
const DEVICES: Duration = Duration::ms(40);
/// The delay of a stretch of which nothing was heard. Our choice.
const SILENT: Duration = Duration::secs(2);
/// A frame repaired from its successor's coarse copy counts as this much of a loss. Our choice.
const REPAIRED: f64 = 0.3;

/// The frames of a stretch of speech.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Frames that were played.
    pub good: u64,
    /// Frames that were lost, came too late, or were due while nothing was there to play.
    pub bad: u64,
    /// Frames that were made from the coarse copy in their successor.
    pub repaired: u64,
    /// Runs of bad frames.
    pub bad_runs: u64,
    /// Sum of the times from sending to playing of the good frames.
    pub delay_sum: Duration,
    /// Whether the latest frame was bad.
    pub(super) in_bad_run: bool,
}

impl Stretch {
    /// The frames due in it.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.good + self.bad + self.repaired
    }

    /// Adds frames that were played.
    pub(super) fn play(&mut self, delay: Duration) {
        self.good += 1;
        self.delay_sum += delay;
        self.in_bad_run = false;
    }

    /// Adds a frame that was repaired.
    pub(super) fn repair(&mut self) {
        self.repaired += 1;
        self.in_bad_run = false;
    }

    /// Adds bad frames in a row.
    pub(super) fn miss(&mut self, frames: u64) {
        if frames > 0 {
            self.bad += frames;
            self.bad_runs += u64::from(!self.in_bad_run);
            self.in_bad_run = true;
        }
    }

    /// Appends the stretch that follows.
    fn append(&mut self, next: &Self) {
        self.good += next.good;
        self.bad += next.bad;
        self.repaired += next.repaired;
        self.bad_runs += next.bad_runs;
        self.delay_sum += next.delay_sum;
        self.in_bad_run = next.in_bad_run;
    }

    /// The share of bad frames; repaired ones count in part.
    #[must_use]
    pub fn loss_ratio(&self) -> f64 {
        let frames = self.frames();
        if frames == 0 { 0.0 } else { (self.bad as f64 + REPAIRED * self.repaired as f64) / frames as f64 }
    }

    /// The mean run of bad frames over that of random losses of the same share, at least 1
    /// (G.107 §7.5).
    #[must_use]
    pub fn burst_ratio(&self) -> f64 {
        if self.bad_runs == 0 {
            return 1.0;
        }
        (self.bad as f64 / self.bad_runs as f64 * (1.0 - self.loss_ratio())).max(1.0)
    }

    /// Whether nothing of it was heard.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.good == 0
    }

    /// Mean time from the speaker's mouth to the listener's ear.
    #[must_use]
    pub fn mouth_to_ear(&self) -> Duration {
        let mean = self.delay_sum.as_nanos().checked_div(self.good).map_or(SILENT, Duration::ns);
        mean + DEVICES
    }

    /// The rating of the stretch.
    #[must_use]
    pub fn rate(&self, scale: &Scale) -> f64 {
        scale.rate(self.mouth_to_ear(), self.loss_ratio(), self.burst_ratio())
    }
}

impl<'a> std::iter::Sum<&'a Self> for Stretch {
    /// The stretches one after another, as one.
    fn sum<I: Iterator<Item = &'a Self>>(stretches: I) -> Self {
        stretches.fold(Self::default(), |mut whole, next| {
            whole.append(next);
            whole
        })
    }
}
