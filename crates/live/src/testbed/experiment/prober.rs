//! The probes of an echo flow: what they carry, and what became of them.

use super::waiting::locked;
use crate::clock::{Clock, MonotonicClock};
use goodqueue_base::units::{Duration, Instant};
use goodqueue_sim::trace::{Probes, ProbesOutcome};
use std::sync::Mutex;

/// Probes of a flow, and the clock that times them.
#[derive(Debug)]
pub(super) struct Prober {
    probes: Mutex<Probes>,
    clock: MonotonicClock,
}

impl Prober {
    pub(super) fn new(interval: Duration) -> Self {
        Self { probes: Mutex::new(Probes::new(interval)), clock: MonotonicClock::start() }
    }

    fn now(&self) -> Instant {
        let mut clock = self.clock;
        clock.now()
    }

    /// Returns the outcome of the probes sent since the last call.
    pub(super) fn take(&self) -> ProbesOutcome {
        let mut probes = locked(&self.probes);
        let outcome = probes.outcome(self.now());
        probes.begin();
        outcome
    }

    /// The next probe, which counts as sent now.
    pub(super) fn next(&self) -> Stamp {
        let mut probes = locked(&self.probes);
        let sent_at = self.now();
        Stamp { number: probes.send(sent_at), sent_at }
    }

    pub(super) fn answered(&self, stamp: Stamp) {
        let now = self.now();
        locked(&self.probes).answer(now, stamp.number, stamp.sent_at);
    }
}

/// Content of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) number: u64,
    /// On the sender's clock.
    pub(super) sent_at: Instant,
}

impl Stamp {
    pub(super) const LEN: usize = 16;

    /// Into the first bytes of a payload, as far as it has room.
    pub(super) fn write(self, payload: &mut [u8]) {
        let words = self.number.to_be_bytes().into_iter().chain(self.sent_at.as_nanos().to_be_bytes());
        payload.iter_mut().zip(words).for_each(|(place, byte)| *place = byte);
    }

    /// From an answer; `None` when it is too short to be one.
    pub(super) fn read(payload: &[u8]) -> Option<Self> {
        let (number, rest) = payload.split_first_chunk()?;
        let (sent_at, _) = rest.split_first_chunk()?;
        Some(Self { number: u64::from_be_bytes(*number), sent_at: Instant::from_nanos(u64::from_be_bytes(*sent_at)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_comes_back_as_it_went_and_others_are_none() {
        let stamp = Stamp { number: u64::MAX - 7, sent_at: Instant::from_nanos(1 << 60 | 12_345) };
        let mut payload = [0xA5; 56];
        stamp.write(&mut payload);
        assert_eq!(Stamp::read(&payload), Some(stamp));
        assert_eq!(Stamp::read(&payload[..Stamp::LEN]), Some(stamp));
        for len in 0..Stamp::LEN {
            assert_eq!(Stamp::read(&payload[..len]), None);
        }
        assert_eq!(payload[Stamp::LEN..], [0xA5; 40], "the rest is nobody's");
    }

    #[test]
    fn answers_that_were_never_asked_for_change_nothing() {
        let prober = Prober::new(Duration::ms(10));
        prober.answered(Stamp { number: 3, sent_at: Instant::from_nanos(1) });
        let first = prober.next();
        prober.answered(first);
        let outcome = prober.take();
        assert_eq!((outcome.sent, outcome.answered, outcome.lost, outcome.rtt.len()), (1, 1, 0, 1));
        assert_eq!(prober.take().sent, 0);
    }
}
