//! Transmitters: plain wires whose exit times are arithmetic, and links with a queue discipline, a rate over time and a probe.

use crate::packet::SimPacket;
use crate::probe::LinkProbe;
use crate::rate::RateProcess;
use goodqueue_aqm::AnyQdisc;
use goodqueue_units::{Bytes, Duration, Instant, Rate, Rng};

/// What many wires have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WireClass {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) overhead: Bytes,
    /// The size sent last and how long it took: most packets are of one size.
    last: (u16, Duration),
}

impl WireClass {
    pub(crate) fn new(rate: Rate, delay: Duration, overhead: Bytes) -> Self {
        Self { rate, delay, overhead, last: (0, Duration::ZERO) }
    }

    #[inline]
    fn transmission_time(&mut self, ip_len: u16) -> Duration {
        if self.last.0 != ip_len || ip_len == 0 {
            self.last = (ip_len, self.rate.transmission_time(Bytes::new(u64::from(ip_len)) + self.overhead));
        }
        self.last.1
    }
}

/// A FIFO without limit and at constant rate. Packets are given in order of arrival, so the time each one leaves is known at
/// once and no event is needed inside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    busy_until: Instant,
    pub(crate) class: u32,
}

impl Wire {
    pub(crate) fn new(class: u32) -> Self {
        Self { busy_until: Instant::ZERO, class }
    }

    /// When a packet that arrives at `arrival` reaches the far end.
    #[inline]
    pub(crate) fn pass(&mut self, class: &mut WireClass, arrival: Instant, ip_len: u16) -> Instant {
        self.busy_until = self.busy_until.max(arrival) + class.transmission_time(ip_len);
        self.busy_until + class.delay
    }
}

/// A link with a queue.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) qdisc: AnyQdisc<SimPacket>,
    pub(crate) rate: RateProcess,
    pub(crate) delay: Duration,
    pub(crate) overhead: Bytes,
    /// The transmitter is busy until then.
    pub(crate) busy_until: Instant,
    /// When its service event is due; `MAX` when none is pending.
    pub(crate) service_at: Instant,
    /// When its queue's timer event is due; `MAX` when none is pending.
    pub(crate) timer_at: Instant,
    /// The queue has not yet been told that the transmitter found it empty.
    pub(crate) idle_unsaid: bool,
    /// A packet partly sent by earlier delivery opportunities, and its bytes still to go.
    pub(crate) transit: Option<(SimPacket, Bytes)>,
    pub(crate) loss: f64,
    pub(crate) rng: Rng,
    pub(crate) probe: LinkProbe,
}
