//! Slow start of controls that count whole segments, with or without HyStart++.

use super::AckSample;
use super::hystart_plus_plus::HystartPlusPlus;
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
        let growth = self.exit.as_mut().map_or(Some(counted), |exit| exit.on_ack(sample, counted));
        let Some(growth) = growth else {
            window.ssthresh = window.cwnd;
            return sample.delivered;
        };
        window.slow_start(growth)
    }
}
