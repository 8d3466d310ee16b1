//! The packets of a call: their numbers and times, and what is heard of them.

use super::datagrams::UDP_HEADERS;
use super::prober::Stamp;
use super::waiting::locked;
use super::{MIN_STAMPED, Source};
use crate::clock::{Clock, MonotonicClock};
use goodqueue_base::units::Instant;
use goodqueue_sim::CallOutcome;
use goodqueue_sim::call::Listener;
use std::sync::Mutex;

const _: () = assert!(MIN_STAMPED == UDP_HEADERS + Stamp::LEN as u32, "a packet has room for its stamp");

/// A call's listener, and the clock of both its ends.
#[derive(Debug)]
pub(super) struct Call {
    heard: Mutex<Heard>,
    clock: MonotonicClock,
}

#[derive(Debug)]
struct Heard {
    listener: Listener,
    /// Packets sent.
    sent: u64,
}

impl Call {
    /// The call of a source that is one.
    pub(super) fn of(source: &Source) -> Option<Self> {
        let Source::Call { content, interval, propagation, .. } = *source else { return None };
        let heard = Heard { listener: Listener::new(content, interval, propagation), sent: 0 };
        Some(Self { heard: Mutex::new(heard), clock: MonotonicClock::start() })
    }

    fn now(&self) -> Instant {
        let mut clock = self.clock;
        clock.now()
    }

    /// The next packet, which counts as sent now.
    pub(super) fn next(&self) -> Stamp {
        let mut heard = locked(&self.heard);
        heard.sent += 1;
        Stamp { number: heard.sent - 1, sent_at: self.now() }
    }

    pub(super) fn hear(&self, stamp: Stamp) {
        let mut heard = locked(&self.heard);
        let now = self.now();
        // Packets that nobody sent come from elsewhere.
        if stamp.number < heard.sent && stamp.sent_at <= now {
            heard.listener.hear(now, stamp.number, stamp.sent_at);
        }
    }

    /// Returns the packets sent so far and the outcome since the last call. From now on packets
    /// count that have not been sent yet.
    pub(super) fn take(&self) -> (u64, CallOutcome) {
        let mut heard = locked(&self.heard);
        let (sent, outcome) = (heard.sent, heard.listener.outcome(heard.sent));
        heard.listener = heard.listener.afresh(sent);
        (sent, outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::{Duration, Ecn};
    use goodqueue_sim::Content;
    use goodqueue_sim::call::Codec;

    #[test]
    fn a_call_counts_from_the_last_reading_on() {
        let source = |content| Source::Call {
            content,
            interval: Duration::ms(20),
            packet_size: 130,
            ecn: Ecn::NotEct,
            propagation: Duration::ZERO,
        };
        let call = Call::of(&source(Content::Voice(Codec::Opus))).expect("a call");
        let stamps: Vec<Stamp> = (0..3).map(|_| call.next()).collect();
        call.hear(stamps[0]);
        call.hear(stamps[2]);
        call.hear(Stamp { number: 3, ..stamps[2] });
        let (sent, outcome) = call.take();
        assert_eq!((sent, outcome.received, outcome.lost), (3, 2, 1), "number 3 was not sent");
        let stamp = call.next();
        call.hear(stamp);
        let (sent, outcome) = call.take();
        assert_eq!((sent, outcome.received, outcome.lost), (4, 1, 0));
        assert!(outcome.heard.is_some());
        assert!(Call::of(&source(Content::Game)).expect("a game").take().1.heard.is_none());
    }
}
