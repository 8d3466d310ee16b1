//! Slow start of controls that count whole segments, with or without HyStart++.

use super::AckSample;
use super::hystart_plus_plus::{HystartPlusPlus, Mode};
use super::window::SegmentWindow;
use crate::config::SlowStartExit;

/// The end of slow start without a loss. Only the initial slow start may end so: call
/// [`over`](Self::over) at the first reduction.
#[derive(Clone, Debug)]
pub(super) struct SlowStart {
    exit: Option<HystartPlusPlus>,
}

impl SlowStart {
    pub(super) fn new(exit: SlowStartExit) -> Self {
        Self { exit: (exit == SlowStartExit::HystartPlusPlus).then(HystartPlusPlus::default) }
    }

    pub(super) fn over(&mut self) {
        self.exit = None;
    }

    /// Grows by `counted` segments, as far as HyStart++ allows. Returns the segments left for
    /// congestion avoidance.
    #[inline]
    pub(super) fn grow(&mut self, window: &mut SegmentWindow, sample: &AckSample, counted: u32) -> u32 {
        let Some(exit) = &mut self.exit else {
            return window.slow_start(counted);
        };
        match exit.on_ack(sample) {
            Mode::SlowStart => window.slow_start(HystartPlusPlus::normal_growth(counted)),
            Mode::Conservative => {
                let grown = exit.conservative_growth(counted);
                window.slow_start(grown)
            }
            Mode::Done => {
                window.ssthresh = window.cwnd;
                sample.delivered
            }
        }
    }
}
