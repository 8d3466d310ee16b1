//! Probes that the far end sends back: one thread sends them, one takes the answers, and one at the
//! far end is the echo.

use super::datagrams::{UDP_HEADERS, each_datagram, each_due};
use super::flows::{LOOK, Shared, Stop, locked};
use super::{Flow, Source};
use goodqueue_live::clock::{Clock, MonotonicClock};
use goodqueue_live::sys::tcp;
use goodqueue_trace::{Probes, ProbesOutcome};
use goodqueue_units::{Duration, Instant};
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::Duration as Wall;

/// What is known of a flow's probes, and the clock that times them.
#[derive(Debug)]
pub(super) struct Prober {
    probes: Mutex<Probes>,
    clock: MonotonicClock,
}

/// Both ends of an echo flow.
pub(super) struct Ends {
    sender: UdpSocket,
    echo: UdpSocket,
}

impl Prober {
    pub(super) fn new(interval: Duration) -> Self {
        Self { probes: Mutex::new(Probes::new(interval)), clock: MonotonicClock::start() }
    }

    fn now(&self) -> Instant {
        let mut clock = self.clock;
        clock.now()
    }

    /// What became of probes sent since the last call.
    pub(super) fn take(&self) -> ProbesOutcome {
        let mut probes = locked(&self.probes);
        let outcome = probes.outcome(self.now());
        probes.begin();
        outcome
    }

    /// The next probe, which counts as sent now.
    fn next(&self) -> Stamp {
        let mut probes = locked(&self.probes);
        let sent_at = self.now();
        Stamp { number: probes.send(sent_at), sent_at }
    }

    fn answered(&self, stamp: Stamp) {
        let now = self.now();
        locked(&self.probes).answer(now, stamp.number, stamp.sent_at);
    }
}

/// What a probe carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    number: u64,
    /// On the sender's clock.
    sent_at: Instant,
}

impl Stamp {
    const LEN: usize = 16;

    /// Into the first bytes of a payload, as far as it has room.
    fn write(self, payload: &mut [u8]) {
        let words = self.number.to_be_bytes().into_iter().chain(self.sent_at.as_nanos().to_be_bytes());
        payload.iter_mut().zip(words).for_each(|(place, byte)| *place = byte);
    }

    /// From an answer; `None` when it is too short to be one.
    fn read(payload: &[u8]) -> Option<Self> {
        let (number, rest) = payload.split_first_chunk()?;
        let (sent_at, _) = rest.split_first_chunk()?;
        Some(Self { number: u64::from_be_bytes(*number), sent_at: Instant::from_nanos(u64::from_be_bytes(*sent_at)) })
    }
}

impl Ends {
    pub(super) fn new(sender: UdpSocket, echo: UdpSocket) -> io::Result<Self> {
        echo.connect(sender.local_addr()?)?;
        sender.set_read_timeout(Some(LOOK))?;
        Ok(Self { sender, echo })
    }

    /// Sends probes until the flow stops, and takes answers until all is over.
    pub(super) fn run<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        flow: &Flow,
        shared: &Arc<Shared>,
        stop: &'scope Stop,
    ) -> io::Result<()> {
        let (Source::Echo { interval, packet_size, ecn }, Some(prober)) = (&flow.source, &shared.prober) else { return Ok(()) };
        let Self { sender, echo } = self;
        for socket in [&sender, &echo] {
            tcp::mark_packets(socket.as_fd(), flow.dscp << 2 | *ecn as u8)?;
        }
        std::thread::Builder::new().name("echo".to_owned()).spawn_scoped(scope, move || send_back(&echo, stop))?;
        let (answers, counted) = (sender.try_clone()?, Arc::clone(shared));
        std::thread::Builder::new().name("answers".to_owned()).spawn_scoped(scope, move || {
            each_datagram(&answers, stop, |answer| {
                let (Some(stamp), Some(prober)) = (Stamp::read(answer), &counted.prober) else { return };
                prober.answered(stamp);
                counted.delivered.fetch_add(answer.len() as u64 + u64::from(UDP_HEADERS), Ordering::Relaxed);
            });
        })?;
        let mut payload = vec![0; (packet_size.saturating_sub(UDP_HEADERS) as usize).max(Stamp::LEN)];
        let interval = Wall::from_nanos(interval.as_nanos());
        each_due(
            flow,
            stop,
            || interval,
            || {
                prober.next().write(&mut payload);
                // What finds no room here never comes back either.
                shared.sent.fetch_add(1, Ordering::Relaxed);
                sender.send(&payload).map(|_| ())
            },
        )
    }
}

fn send_back(echo: &UdpSocket, stop: &Stop) {
    each_datagram(echo, stop, |probe| {
        // An answer that finds no room is lost, as any packet may be.
        let _ = echo.send(probe);
    });
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
