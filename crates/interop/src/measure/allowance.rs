//! A bound on bytes per second.

use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

/// A bucket of bytes that fills at a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    rate: Rate,
    /// When all that was taken is paid for.
    paid_at: Instant,
}

/// Time at the rate that may be taken at once.
const DEPTH: Duration = Duration::ms(10);

impl Allowance {
    pub(crate) const fn new(rate: Rate) -> Self {
        Self { rate, paid_at: Instant::ZERO }
    }

    /// Takes bytes, and tells how long to wait before they may be sent.
    pub(crate) fn take(&mut self, now: Instant, bytes: Bytes) -> Duration {
        self.paid_at = self.paid_at.max(now) + self.rate.transmission_time(bytes);
        self.paid_at.since(now).saturating_sub(DEPTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_rate_is_allowed() {
        let mut allowance = Allowance::new(Rate::mbit(8));
        let (mut now, mut sent) = (Instant::ZERO, 0);
        while now < Instant::ZERO + Duration::secs(2) {
            let wait = allowance.take(now, Bytes::new(4_000));
            sent += 4_000;
            now += wait;
        }
        assert!((2_000_000..=2_020_000).contains(&sent), "{sent}");
    }

    #[test]
    fn a_pause_earns_no_more_than_the_depth() {
        let mut allowance = Allowance::new(Rate::mbit(8));
        let later = Instant::ZERO + Duration::secs(60);
        assert_eq!(allowance.take(later, Bytes::new(10_000)), Duration::ZERO);
        assert_eq!(allowance.take(later, Bytes::new(1_000)), Duration::ms(1));
    }
}
