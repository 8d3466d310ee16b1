//! Round-trip time: smoothed value, deviation, retransmission timeout, windowed minimum.
//!
//! The estimator is RFC 6298's with three habits of Linux: the deviation used is the largest of the
//! last round trip and never below the smallest timeout, so `rto = srtt + max(4 rttvar, rto_min)`;
//! a falling round-trip time widens the deviation only slowly; and timestamps count milliseconds,
//! so that the sample of an echoed one has whole milliseconds. Times are nanoseconds.

use crate::windowed::Windowed;
use goodqueue_base::units::Duration;

const MAX_RTO: u64 = 120_000_000_000;
const FIRST_RTO: u64 = 1_000_000_000;
const MINIMUM_WINDOW: u64 = 300_000_000_000;
/// Unit of timestamps (RFC 7323).
const TIMESTAMP_UNIT: u64 = 1_000_000;

/// Whether an echoed time is before another one, as far as timestamps tell.
pub(crate) const fn is_echo_before(echoed: u64, at: u64) -> bool {
    echoed / TIMESTAMP_UNIT < at / TIMESTAMP_UNIT
}

/// The round-trip time that an echoed time shows, at least a millisecond.
/// *Source*: Linux 6.12 (`tcp_rtt_tsopt_us`).
pub(crate) fn of_echo(now: u64, echoed: u64) -> u64 {
    (now / TIMESTAMP_UNIT).saturating_sub(echoed / TIMESTAMP_UNIT).max(1) * TIMESTAMP_UNIT
}

/// Estimates of one connection.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Rtt {
    /// Eight times the smoothed value; zero before the first sample.
    srtt8: u64,
    /// Four times the mean deviation.
    deviation: u64,
    /// The largest `deviation` since `round_end` was set.
    round_deviation: u64,
    /// Four times the deviation that counts.
    rttvar: u64,
    round_end: u64,
    rto: u64,
    rto_min: u64,
    minimum: Windowed<u64>,
}

impl Rtt {
    pub(crate) fn new(rto_min: Duration) -> Self {
        let rto_min = rto_min.as_nanos();
        Self { round_deviation: rto_min, rto: FIRST_RTO.max(rto_min), rto_min, ..Self::default() }
    }

    /// Takes a sample. `una` and `nxt` mark round trips.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: u64, una: u64, nxt: u64) {
        if self.srtt8 == 0 {
            self.first_sample(rtt.max(1), nxt);
        } else {
            let error = rtt as i64 - (self.srtt8 >> 3) as i64;
            self.srtt8 = (self.srtt8 as i64 + error).max(1) as u64;
            let mut change = error.abs() - (self.deviation >> 2) as i64;
            if error < 0 && change > 0 {
                change >>= 3;
            }
            self.deviation = (self.deviation as i64 + change) as u64;
            if self.deviation > self.round_deviation {
                self.round_deviation = self.deviation;
                self.rttvar = self.rttvar.max(self.deviation);
            }
            if una > self.round_end {
                self.end_round(nxt);
            }
        }
        self.rto = ((self.srtt8 >> 3) + self.rttvar).min(MAX_RTO);
    }

    #[cold]
    fn first_sample(&mut self, rtt: u64, nxt: u64) {
        self.srtt8 = rtt * 8;
        self.deviation = rtt * 2;
        self.rttvar = self.deviation.max(self.rto_min);
        self.round_deviation = self.rttvar;
        self.round_end = nxt;
    }

    fn end_round(&mut self, nxt: u64) {
        if self.round_deviation < self.rttvar {
            self.rttvar -= (self.rttvar - self.round_deviation) >> 2;
        }
        self.round_end = nxt;
        self.round_deviation = self.rto_min;
    }

    /// Takes a sample for the minimum alone.
    #[inline]
    pub(crate) fn sample_minimum(&mut self, now: u64, rtt: u64) {
        let rtt = rtt.max(1);
        // Larger than all three while the window is young: nothing to learn.
        if self.minimum.could_take(MINIMUM_WINDOW, now, rtt, smallest) {
            self.minimum.insert(MINIMUM_WINDOW, now, rtt, smallest);
        }
    }

    /// The first timeout again: the handshake went through without a sample.
    pub(crate) fn reset_back_off(&mut self) {
        self.rto = FIRST_RTO.max(self.rto_min);
    }

    /// Doubles the timeout after it expired.
    pub(crate) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(MAX_RTO);
    }

    /// Zero before the first sample.
    #[inline]
    pub(crate) const fn srtt(&self) -> Duration {
        Duration::ns(self.srtt8 >> 3)
    }

    #[inline]
    pub(crate) const fn rto(&self) -> u64 {
        self.rto
    }

    #[inline]
    pub(crate) const fn rto_min(&self) -> u64 {
        self.rto_min
    }

    /// The smallest sample of the last five minutes; zero before the first.
    #[inline]
    pub(crate) const fn min(&self) -> u64 {
        self.minimum.get()
    }
}

/// The smallest value wins; zero is none.
fn smallest(new: u64, old: u64) -> bool {
    new <= old || old == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn timestamps_tell_whole_milliseconds() {
        assert_eq!(of_echo(41 * MS + 10, 1_999_999), 40 * MS);
        assert_eq!(of_echo(41 * MS - 1, 2 * MS), 38 * MS);
        assert_eq!(of_echo(2 * MS + 9, 2 * MS + 1), MS, "at least one");
        assert!(is_echo_before(2 * MS - 1, 2 * MS));
        assert!(!is_echo_before(2 * MS, 3 * MS - 1));
    }

    #[test]
    fn first_sample_gives_three_round_trips_or_the_minimum() {
        let mut rtt = Rtt::new(Duration::ms(200));
        assert_eq!(rtt.rto(), 1_000 * MS);
        rtt.sample(500 * MS, 0, 10);
        assert_eq!((rtt.srtt(), rtt.rto()), (Duration::ms(500), 1_500 * MS));
        let mut rtt = Rtt::new(Duration::ms(200));
        rtt.sample(10 * MS, 0, 10);
        assert_eq!(rtt.rto(), 210 * MS);
    }

    #[test]
    fn steady_samples_bring_the_timeout_down_to_the_floor() {
        let mut rtt = Rtt::new(Duration::ms(200));
        for round in 0..100 {
            rtt.sample(500 * MS, round * 10 + 1, (round + 1) * 10);
        }
        assert_eq!(rtt.srtt(), Duration::ms(500));
        // The deviation that counts falls by a quarter of its distance each round.
        assert!(rtt.rto() >= 700 * MS && rtt.rto() < 701 * MS, "{}", rtt.rto());
    }

    #[test]
    fn a_jump_upwards_counts_at_once_and_a_fall_slowly() {
        let mut up = Rtt::new(Duration::ms(1));
        let mut down = Rtt::new(Duration::ms(1));
        for round in 0..200 {
            up.sample(100 * MS, round * 10 + 1, (round + 1) * 10);
            down.sample(100 * MS, round * 10 + 1, (round + 1) * 10);
        }
        up.sample(180 * MS, 2001, 2010);
        down.sample(20 * MS, 2001, 2010);
        // RFC 6298 would take a quarter of 80 ms, four times, in both directions; Linux takes an
        // eighth of that when it falls.
        assert_eq!(up.rto() / MS, 110 + 80);
        assert_eq!(down.rto() / MS, 90 + 10);
    }

    #[test]
    fn the_timeout_doubles_up_to_two_minutes() {
        let mut rtt = Rtt::new(Duration::ms(200));
        rtt.back_off();
        assert_eq!(rtt.rto(), 2_000 * MS);
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), MAX_RTO);
    }

    #[test]
    fn the_minimum_is_forgotten_after_five_minutes() {
        let mut rtt = Rtt::new(Duration::ms(200));
        rtt.sample_minimum(MS, 10 * MS);
        for second in 1..=300 {
            rtt.sample_minimum(second * 1_000 * MS, 20 * MS);
            assert_eq!(rtt.min(), 10 * MS);
        }
        rtt.sample_minimum(302_000 * MS, 20 * MS);
        assert_eq!(rtt.min(), 20 * MS);
        rtt.sample_minimum(303_000 * MS, 5 * MS);
        assert_eq!(rtt.min(), 5 * MS);
    }
}
