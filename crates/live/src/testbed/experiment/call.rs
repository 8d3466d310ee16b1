//! Calls: one thread sends numbered packets at constant gaps, one at the far end listens.

use super::datagrams::{UDP_HEADERS, each_datagram, each_due};
use super::prober::Stamp;
use super::shared::Shared;
use super::waiting::{Stop, locked};
use super::{Flow, Source};
use crate::clock::{Clock, MonotonicClock};
use goodqueue_base::units::Instant;
use goodqueue_sim::CallOutcome;
use goodqueue_sim::call::Listener;
use rustix::net::sockopt::set_ip_tos;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::Duration as Wall;

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
    fn next(&self) -> Stamp {
        let mut heard = locked(&self.heard);
        heard.sent += 1;
        Stamp { number: heard.sent - 1, sent_at: self.now() }
    }

    fn hear(&self, stamp: Stamp) {
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

/// Sends packets until the flow stops, and listens until all is over.
pub(super) fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flow: &Flow,
    (sender, receiver): (&UdpSocket, UdpSocket),
    shared: &Arc<Shared>,
    stop: &'scope Stop,
) -> io::Result<()> {
    let (Source::Call { interval, packet_size, ecn, .. }, Some(call)) = (&flow.source, &shared.call) else { return Ok(()) };
    set_ip_tos(sender, flow.dscp << 2 | *ecn as u8)?;
    let counted = Arc::clone(shared);
    std::thread::Builder::new().name("listener".to_owned()).spawn_scoped(scope, move || {
        each_datagram(&receiver, stop, |packet| {
            let (Some(stamp), Some(call)) = (Stamp::read(packet), &counted.call) else { return };
            call.hear(stamp);
            counted.delivered.fetch_add(packet.len() as u64 + u64::from(UDP_HEADERS), Ordering::Relaxed);
        });
    })?;
    let mut payload = vec![0; (packet_size.saturating_sub(UDP_HEADERS) as usize).max(Stamp::LEN)];
    let interval = Wall::from(*interval);
    each_due(
        flow,
        stop,
        || interval,
        || {
            // A packet that finds no room here counts as sent, too: nobody hears it.
            call.next().write(&mut payload);
            sender.send(&payload).map(|_| ())
        },
    )
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
