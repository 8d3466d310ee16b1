//! The window of controls that count whole segments: slow start, additive increase, reductions and
//! their reversal.

use super::{Response, Timeout};
use goodqueue_base::units::Bytes;

/// Slow-start threshold before the first reduction.
const INFINITE: u32 = u32::MAX;
/// Bound on the window of every control, in segments, so that sums of windows fit 32 bits.
const MAX: u32 = 1 << 28;

/// Window and threshold in segments.
#[derive(Clone, Debug)]
pub(crate) struct SegmentWindow {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// Segments acknowledged since the window last grew by one.
    count: u32,
    mss: u32,
    before: (u32, u32),
}

impl SegmentWindow {
    pub(crate) const fn new(mss: u32) -> Self {
        Self { cwnd: 1, ssthresh: INFINITE, count: 0, mss, before: (0, 0) }
    }

    #[inline]
    pub(crate) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    #[inline]
    pub(crate) const fn bytes(&self) -> Bytes {
        Bytes::new(self.cwnd as u64 * self.mss as u64)
    }

    #[inline]
    pub(crate) const fn ssthresh_bytes(&self) -> Bytes {
        if self.ssthresh == INFINITE { Bytes::MAX } else { Bytes::new(self.ssthresh as u64 * self.mss as u64) }
    }

    /// Grows by one segment per segment delivered, up to the threshold. Returns the segments left
    /// for congestion avoidance.
    #[inline]
    pub(crate) fn slow_start(&mut self, delivered: u32) -> u32 {
        let grown = (self.cwnd + delivered).min(self.ssthresh).min(MAX);
        let rest = (self.cwnd + delivered).saturating_sub(grown);
        self.cwnd = grown;
        rest
    }

    /// Grows by one segment per `per_segment` segments delivered. Credit that was collected at a
    /// larger divisor is paid out gently: one segment at a time.
    #[inline]
    pub(crate) fn increase(&mut self, per_segment: u32, delivered: u32) {
        if self.count >= per_segment {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += delivered;
        if self.count >= per_segment {
            let steps = self.count / per_segment;
            self.count -= steps * per_segment;
            self.cwnd += steps;
        }
        self.cwnd = self.cwnd.min(MAX);
    }

    /// Grows by one segment.
    pub(crate) fn grow_by_one(&mut self) {
        self.cwnd = (self.cwnd + 1).min(MAX);
    }

    fn remember(&mut self) {
        // The threshold after an undo: the earlier threshold, but not less than three quarters of
        // the window that was in use.
        let worth = self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4);
        self.before = (self.cwnd, worth);
    }

    /// Reduces the window to `target` segments.
    pub(crate) fn reduce(&mut self, target: u32) {
        self.remember();
        self.ssthresh = target;
        self.cwnd = target;
        self.count = 0;
    }

    /// Lowers the window to `window` segments after a silence: the threshold remembers three
    /// quarters of what it was.
    pub(crate) fn shrink(&mut self, window: u32) {
        self.ssthresh = self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4);
        self.cwnd = window;
    }

    /// Lowers the target during a reduction; what an undo restores does not change.
    pub(crate) fn lower(&mut self, target: u32) {
        self.ssthresh = target;
        self.cwnd = target;
    }

    /// Sets the window after a timeout: one segment more than is still in flight. The threshold
    /// becomes `target` at the first timeout of a series.
    pub(crate) fn collapse(&mut self, timeout: &Timeout, target: u32) {
        if timeout.response == Response::Reduce {
            self.remember();
            self.ssthresh = target;
        }
        self.cwnd = timeout.in_flight + 1;
        self.count = 0;
    }

    /// Reverts the latest reduction.
    pub(crate) fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.before.0);
        self.ssthresh = self.ssthresh.max(self.before.1);
    }
}
