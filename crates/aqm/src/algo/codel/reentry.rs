//! The state that one episode of signals passes on to the next: RFC 8289, and the laws before it.

use goodqueue_base::units::{Duration, Instant};
use goodqueue_base::words;

words! {
    /// The start of an episode of signals that begins soon after another has ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reentry {
        /// Starts with as many signals as the last episode added, within 16 intervals (RFC 8289
        /// §5.5).
        Rfc8289 = "rfc8289",
        /// Starts with two fewer than the last episode ended with, within one interval; otherwise
        /// only after a second interval above target (Nichols and Jacobson 2012).
        Acm2012 = "acm2012",
        /// Starts with two fewer within eight intervals, and the drop that ends an episode does not
        /// count (the authors' later code for ns-2).
        Ns2 = "ns2",
    }
}

impl Reentry {
    /// True if an episode may begin at `now`, the delay having been above target for an interval by
    /// `first_above_time`, and the last signal having been due at `drop_next`.
    pub(super) fn may_begin(self, now: Instant, drop_next: Instant, first_above_time: Instant, interval: Duration) -> bool {
        match self {
            Self::Rfc8289 | Self::Ns2 => true,
            Self::Acm2012 => now.since(drop_next) < interval || now.since(first_above_time) >= interval,
        }
    }

    /// The count with which an episode begins when the last one ended with `count`, having begun
    /// with `last_count`, and its last signal was due `since` ago.
    pub(super) fn first_count(self, count: u32, last_count: u32, since: Duration, interval: Duration) -> u32 {
        let delta = count.saturating_sub(last_count);
        match self {
            Self::Rfc8289 if delta > 1 && since < interval * 16 => delta,
            Self::Acm2012 if since < interval => count.saturating_sub(2).max(1),
            Self::Ns2 if since < interval * 8 => count.saturating_sub(2).max(1),
            Self::Rfc8289 | Self::Acm2012 | Self::Ns2 => 1,
        }
    }

    /// True if a drop counts only once the next head may be signaled, too.
    pub(super) fn counts_late(self) -> bool {
        self == Self::Ns2
    }
}
