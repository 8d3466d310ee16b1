//! Delivery rate: how fast the network delivered, measured once per acknowledgement.
//!
//! Each segment remembers, at its last sending, how much had been delivered and when. When it is
//! delivered itself, the segments delivered in between, divided by the time, are the rate; the time
//! is the longer of the time taken to send them and the time taken to acknowledge them, since
//! either may be compressed. Samples taken while the application had too little to send are marked.
//! *Source*: draft-ietf-ccwg-bbr §4.1; Cheng et al.: delivery rate estimation (2022); Linux 6.12.

use crate::scoreboard::Delivery;
use alloc::boxed::Box;
use alloc::vec;
use goodqueue_base::units::Duration;

const FIRST_CAPACITY: usize = 64;

/// A sample of the rate at which the network delivered.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RateSample {
    /// Segments delivered from the sending of the segment delivered last to its acknowledgement.
    pub delivered: u64,
    /// The time they took; `None` when shorter than the smallest round-trip time, which no true
    /// delivery is.
    pub interval: Option<Duration>,
    /// Segments delivered in all when that segment was sent.
    pub prior_delivered: u64,
    /// Segments in flight when it was sent, itself included.
    pub in_flight_when_sent: u32,
    /// Losses found since it was sent.
    pub lost_since: u64,
    /// Whether the application had too little to send at some time in between.
    pub app_limited: bool,
}

/// The record of a segment's last sending.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp {
    pub(crate) delivered: u64,
    delivered_at: u64,
    first_sent_at: u64,
    pub(crate) lost: u64,
    pub(crate) in_flight: u32,
    pub(crate) app_limited: bool,
}

/// The totals of a connection up to now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
}

/// State of one connection; times in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    /// Indexed by segment number.
    stamps: Box<[Stamp]>,
    /// Time of the last delivery.
    delivered_at: u64,
    /// Time at which the segment delivered last was sent.
    first_sent_at: u64,
    /// Samples are limited by the application until more than this is delivered; zero when they are
    /// not.
    limited_until: u64,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            stamps: vec![Stamp::default(); FIRST_CAPACITY].into_boxed_slice(),
            delivered_at: 0,
            first_sent_at: 0,
            limited_until: 0,
        }
    }
}

impl Sampler {
    const fn place(&self, number: u64) -> usize {
        number as usize & (self.stamps.len() - 1)
    }

    /// Nothing is outstanding and a segment is about to leave: the network delivers nothing before
    /// it, so time starts now.
    pub(crate) const fn begin(&mut self, now: u64) {
        self.first_sent_at = now;
        self.delivered_at = now;
    }

    /// A segment leaves, for the first time or again. `una` is the oldest outstanding segment,
    /// `in_flight` counts this one.
    pub(crate) fn on_sent(&mut self, number: u64, una: u64, totals: Totals, in_flight: u32) {
        while (number - una) as usize >= self.stamps.len() {
            self.grow(una, number);
        }
        let place = self.place(number);
        self.stamps[place] = Stamp {
            delivered: totals.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: totals.lost,
            in_flight,
            app_limited: self.is_limited(),
        };
    }

    #[cold]
    fn grow(&mut self, una: u64, number: u64) {
        let mut larger = vec![Stamp::default(); self.stamps.len() * 2].into_boxed_slice();
        let mask = larger.len() - 1;
        for old in una..number {
            larger[old as usize & mask] = self.stamps[self.place(old)];
        }
        self.stamps = larger;
    }

    /// The stamp of an outstanding segment.
    pub(crate) fn stamp(&self, number: u64) -> Stamp {
        self.stamps[self.place(number)]
    }

    /// Marks samples as limited by the application, from now on until everything in flight is
    /// delivered.
    pub(crate) fn limit(&mut self, totals: Totals, in_flight: u32) {
        self.limited_until = (totals.delivered + u64::from(in_flight)).max(1);
    }

    pub(crate) const fn is_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Takes what an acknowledgement delivered; `totals` counts it already.
    pub(crate) fn on_delivery(&mut self, now: u64, delivery: &Delivery, totals: Totals, min_rtt: u64) -> Option<RateSample> {
        if self.is_limited() && totals.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if delivery.delivered > 0 {
            self.delivered_at = now;
        }
        let (sent_at, number) = delivery.latest?;
        let stamp = self.stamp(number);
        self.first_sent_at = sent_at;
        let sending = sent_at.saturating_sub(stamp.first_sent_at);
        let acknowledging = now.saturating_sub(stamp.delivered_at);
        let interval = sending.max(acknowledging);
        Some(RateSample {
            delivered: totals.delivered - stamp.delivered,
            interval: (interval > 0 && interval >= min_rtt).then_some(Duration::ns(interval)),
            prior_delivered: stamp.delivered,
            in_flight_when_sent: stamp.in_flight,
            lost_since: totals.lost - stamp.lost,
            app_limited: stamp.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn delivered(count: u32, sent_at: u64, number: u64) -> Delivery {
        Delivery { delivered: count, latest: Some((sent_at, number)), ..Delivery::default() }
    }

    fn totals(delivered: u64) -> Totals {
        Totals { delivered, lost: 0 }
    }

    #[test]
    fn the_longer_of_sending_and_acknowledging_counts() {
        // Ten segments sent in one instant, acknowledged one a millisecond after a round trip of 50
        // ms.
        let mut sampler = Sampler::default();
        sampler.begin(0);
        for number in 0..10 {
            sampler.on_sent(number, 0, totals(0), number as u32 + 1);
        }
        for number in 0..10 {
            let now = (50 + number) * MS;
            let sample = sampler.on_delivery(now, &delivered(1, 0, number), totals(number + 1), 50 * MS).unwrap();
            assert_eq!((sample.delivered, sample.interval), (number + 1, Some(Duration::ns(now))));
            assert_eq!((sample.prior_delivered, sample.in_flight_when_sent), (0, number as u32 + 1));
            sampler.on_sent(10 + number, number + 1, totals(number + 1), 10);
        }
        // One round trip later the first of the second ten tells one a millisecond, not a burst.
        let sample = sampler.on_delivery(100 * MS, &delivered(1, 50 * MS, 10), totals(11), 50 * MS).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, Some(Duration::ms(50))));
        // Acknowledged in one instant: the time they took to send counts, from the sending of the
        // last one delivered before.
        let sample = sampler.on_delivery(101 * MS, &delivered(9, 59 * MS, 19), totals(20), 10 * MS).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, Some(Duration::ms(59))));
    }

    #[test]
    fn an_interval_below_the_smallest_round_trip_tells_no_rate() {
        let mut sampler = Sampler::default();
        sampler.begin(0);
        sampler.on_sent(0, 0, totals(0), 1);
        let sample = sampler.on_delivery(9 * MS, &delivered(1, 0, 0), totals(1), 10 * MS).unwrap();
        assert_eq!(sample.interval, None);
        assert!(sampler.on_delivery(9 * MS, &Delivery::default(), totals(1), 10 * MS).is_none());
    }

    #[test]
    fn samples_are_limited_until_what_was_in_flight_is_delivered() {
        let mut sampler = Sampler::default();
        sampler.begin(0);
        sampler.limit(totals(0), 1);
        sampler.on_sent(0, 0, totals(0), 1);
        sampler.on_sent(1, 0, totals(0), 2);
        let first = sampler.on_delivery(MS, &delivered(1, 0, 0), totals(1), 0).unwrap();
        let second = sampler.on_delivery(MS, &delivered(1, 0, 1), totals(2), 0).unwrap();
        assert!(first.app_limited && second.app_limited && !sampler.is_limited());
    }

    #[test]
    fn a_window_beyond_the_first_capacity_keeps_its_stamps() {
        let mut sampler = Sampler::default();
        sampler.begin(0);
        for number in 100..1_000 {
            sampler.on_sent(number, 100, totals(number), 1);
        }
        assert!((100..1_000).all(|number| sampler.stamp(number).delivered == number));
    }
}
