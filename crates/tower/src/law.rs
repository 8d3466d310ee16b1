//! How it is decided who is turned away, and the queue under it.

use crate::{Counts, Settings};
use goodqueue_aqm::algo::codel::{CoDel, CoDelParams};
use goodqueue_aqm::{
    Aqm, Departure, Ecn, Env, FlowHash, Limit, ManagedQueue, Packet, PacketView, Qdisc, QueueView, Reason, Sink, Verdict,
};
use goodqueue_units::{Bytes, Duration, Instant};

/// How it is decided who is turned away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// A request may wait for the interval, and only for the target once the queue has not been
    /// empty for an interval. For callers that do not slow down.
    #[default]
    Deadline,
    /// CoDel (RFC 8289): from an interval after the wait has risen above the target, one request
    /// after the other is turned away, faster and faster. For callers that slow down.
    CoDel,
}

/// Turns away what has waited too long.
///
/// *Signal*: the time that the request at the head has waited, and when the queue was last empty.
///
/// *Law*: `interval` is the longest wait, `target` while the queue has not been empty for
/// `interval`.
///
/// *Source*: Maurer 2015, "controlled delay", whose M and N are `target` and `interval`.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    target: Duration,
    interval: Duration,
    last_empty: Instant,
}

impl Aqm for Deadline {
    fn is_timeless() -> bool {
        true
    }

    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, _: QueueView) -> Verdict {
        let stands = env.now.since(self.last_empty) > self.interval;
        let longest = if stands { self.target } else { self.interval };
        if head.sojourn(env.now) > longest { Verdict::Drop(Reason::Head) } else { Verdict::Pass }
    }

    fn on_arrival(&mut self, env: &mut Env<'_>, _: PacketView, queue: QueueView) -> Verdict {
        if queue.packets.get() == 0 {
            self.last_empty = env.now;
        }
        Verdict::Pass
    }

    fn on_emptied(&mut self, now: Instant) {
        self.last_empty = now;
    }
}

/// A request or message as the queue has it: one unit of length, of no flow.
#[derive(Debug)]
pub(crate) struct Item<T>(pub(crate) T);

impl<T> Packet for Item<T> {
    fn len(&self) -> Bytes {
        Bytes::new(1)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow(&self) -> FlowHash {
        FlowHash(0)
    }
}

/// A queue under either law.
#[derive(Debug)]
pub(crate) enum Queue<T> {
    Deadline(ManagedQueue<Item<T>, Deadline>),
    CoDel(ManagedQueue<Item<T>, CoDel>),
}

/// The same of either.
macro_rules! either {
    ($self:expr, $queue:ident => $what:expr) => {
        match $self {
            Queue::Deadline($queue) => $what,
            Queue::CoDel($queue) => $what,
        }
    };
}

impl<T> Queue<T> {
    pub(crate) fn new(settings: &Settings) -> Self {
        let span = |wall: std::time::Duration| Duration::ns(u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX));
        let (target, interval) = (span(settings.target), span(settings.interval));
        let limit = Limit::packets(settings.limit as u64);
        match settings.law {
            Law::Deadline => Self::Deadline(ManagedQueue::new(Deadline { target, interval, last_empty: Instant::ZERO }, limit)),
            // The last request that waits may be turned away, too: there is no MTU.
            Law::CoDel => {
                let params = CoDelParams { target, interval, mtu: Bytes::ZERO, ..CoDelParams::default() };
                Self::CoDel(ManagedQueue::new(CoDel::new(params), limit))
            }
        }
    }

    pub(crate) fn enqueue(&mut self, now: Instant, value: T, sink: &mut dyn Sink<Item<T>>) {
        either!(self, queue => queue.enqueue(now, Item(value), sink));
    }

    pub(crate) fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<Item<T>>) -> Option<Departure<Item<T>>> {
        either!(self, queue => queue.dequeue(now, sink))
    }

    pub(crate) fn waiting(&self) -> usize {
        either!(self, queue => queue.view().packets.get() as usize)
    }

    pub(crate) fn counts(&self) -> Counts {
        let counters = either!(self, queue => queue.counters());
        let overflowed = counters.overflow().packets.get();
        Counts {
            passed: counters.departed.packets.get(),
            shed: counters.dropped_total().packets.get() - overflowed,
            overflowed,
            waiting: self.waiting(),
        }
    }
}

/// Differences of the runtime's clock, which tests may stop, as the queue counts time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(tokio::time::Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    pub(crate) fn now(self) -> Instant {
        Instant::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
