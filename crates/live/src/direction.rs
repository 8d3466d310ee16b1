//! One direction in virtual time: a queue, a transmitter that is exactly as fast as it should be, and a delay line.
//!
//! It knows no clock. Its host says up to which time everything that arrived is known, and it makes the calls to the queue that
//! were due until then, in their order and with their own times: the host may be late, the queue never notices. At one instant
//! a change of rate comes first, then the queue's timer, then the transmitter that becomes free, then arrivals, as in the
//! simulator.

use crate::flight::Flight;
use crate::flows::{FlowTotal, LargestFlows};
use crate::measure::{Meter, Times};
use crate::packet::LivePacket;
use crate::pool::{Frame, Pool};
use crate::rate::{RateCursor, RateSpec};
use crate::record::{Event, EventKind, Recorder};
use goodqueue_aqm::{Departure, Dropped, Packet, Qdisc, QueueView, Reason, Sink};
use goodqueue_units::{Bytes, Duration, Instant, Packets, Rate};

/// Settings of one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Transmission rate over time.
    pub rate: RateSpec,
    /// Time on the way after transmission.
    pub delay: Duration,
    /// Framing bytes that each packet takes on the line beside its IP length.
    pub overhead: Bytes,
}

/// A frame that left the queue, in the transmitter: no queue will ask for its headers any more.
#[derive(Clone, Copy, Debug)]
struct Transit {
    frame: Frame,
    /// What is still to be sent of it, framing included.
    left: Bytes,
}

/// One direction.
#[derive(Debug)]
pub struct Direction<Q> {
    queue: Q,
    /// [`Qdisc::is_timeless`] of the queue, while there is no other.
    timeless: bool,
    /// Queues from before a change of algorithm, the oldest first: they take nothing in any more and are emptied before the others.
    retired: Vec<Q>,
    rate: RateCursor,
    /// When the rate changes next; never, of a constant one.
    change: Instant,
    delay: Duration,
    overhead: Bytes,
    /// Everything due until then has been done.
    served: Instant,
    /// When the transmitter looks for a packet; never, while it is idle.
    service: Instant,
    busy_until: Instant,
    transit: Option<Transit>,
    flight: Flight,
    next_number: u64,
    pub(crate) meter: Meter,
    flows: LargestFlows,
    pub(crate) recorder: Option<Recorder>,
}

/// Where a queue's drops and marks go: buffers back to the pool, events to the record.
struct Outlet<'a> {
    now: Instant,
    pool: &'a mut Pool,
    recorder: Option<&'a mut Recorder>,
}

impl Sink<LivePacket> for Outlet<'_> {
    fn dropped(&mut self, packet: LivePacket, drop: Dropped) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::new(self.now, &packet, self.pool, EventKind::Dropped(drop.reason)));
        }
        self.pool.give_back(packet.frame().slot);
    }
    fn marked(&mut self, packet: &LivePacket, reason: Reason) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::new(self.now, packet, self.pool, EventKind::Marked(reason)));
        }
    }
}

macro_rules! outlet {
    ($self:ident, $now:expr, $pool:expr) => {
        &mut Outlet { now: $now, pool: $pool, recorder: $self.recorder.as_mut() }
    };
}

impl<Q: Qdisc<LivePacket>> Direction<Q> {
    /// An idle line with this queue before it.
    #[must_use]
    pub fn new(line: &Line, mut queue: Q) -> Self {
        queue.set_link_rate(Instant::ZERO, Some(line.rate.nominal()));
        let rate = RateCursor::new(&line.rate);
        Self {
            timeless: queue.is_timeless(),
            queue,
            retired: Vec::new(),
            change: rate.next_change(Instant::ZERO),
            rate,
            delay: line.delay,
            overhead: line.overhead,
            served: Instant::ZERO,
            service: Instant::MAX,
            busy_until: Instant::ZERO,
            transit: None,
            flight: Flight::with_capacity(1024),
            next_number: 0,
            meter: Meter::new(),
            flows: LargestFlows::default(),
            recorder: None,
        }
    }

    /// Writes down every event of its queue from now on.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Everything due until then has been done.
    #[must_use]
    pub const fn served(&self) -> Instant {
        self.served
    }

    /// The number of the next packet, the first of so many.
    #[inline]
    pub(crate) fn take_numbers(&mut self, count: u32) -> u64 {
        let first = self.next_number;
        self.next_number += u64::from(count);
        first
    }

    /// `packet` arrived at `at`, which is put right when it lies before what was served already.
    #[inline(always)]
    pub fn arrive(&mut self, at: Instant, packet: LivePacket, pool: &mut Pool) {
        let at = at.max(self.served);
        // Departures that were due before come first, or the queue would look fuller than it was.
        self.serve(at, pool);
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::new(at, &packet, pool, EventKind::Arrived));
        }
        self.queue.enqueue(at, packet, outlet!(self, at, pool));
        if self.service == Instant::MAX {
            self.wake(at, pool);
        }
    }

    /// Does everything that is due until `until`.
    #[inline(always)]
    pub fn serve(&mut self, until: Instant, pool: &mut Pool) {
        if self.next_call() <= until {
            self.make_calls(until, pool);
        }
        self.pass(until);
    }

    /// When a call to the queue is due.
    #[inline(always)]
    fn next_call(&self) -> Instant {
        self.next_timer().min(self.change).min(self.service)
    }

    /// Makes the calls that are due until `until`, in their order.
    #[inline(never)]
    fn make_calls(&mut self, until: Instant, pool: &mut Pool) {
        loop {
            let timer = self.next_timer().max(self.served);
            let next = self.change.min(timer).min(self.service);
            if next > until || next == Instant::MAX {
                return;
            }
            self.pass(next);
            if next == self.change {
                self.change = self.rate.next_change(next);
                self.tell_rate(next, self.rate.known(next));
            } else if next == timer {
                self.handle_timer(next);
                if self.service == Instant::MAX && self.view().packets > Packets::ZERO {
                    self.wake(next, pool);
                }
            } else {
                self.transmit(next, pool);
            }
        }
    }

    /// Time goes on to `until`, with what waits now.
    #[inline]
    fn pass(&mut self, until: Instant) {
        if until > self.served {
            self.meter.waited(until.since(self.served), self.view());
            self.served = until;
        }
    }

    #[inline]
    fn next_timer(&self) -> Instant {
        if self.timeless {
            return Instant::MAX;
        }
        let own = self.queue.next_timer().unwrap_or(Instant::MAX);
        if self.retired.is_empty() { own } else { self.retired.iter().filter_map(Qdisc::next_timer).fold(own, Instant::min) }
    }

    fn handle_timer(&mut self, now: Instant) {
        self.queue.handle_timer(now);
        for retired in &mut self.retired {
            retired.handle_timer(now);
        }
    }

    fn tell_rate(&mut self, now: Instant, rate: Rate) {
        self.queue.set_link_rate(now, Some(rate));
        for retired in &mut self.retired {
            retired.set_link_rate(now, Some(rate));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::of_line(now, EventKind::RateChanged(rate)));
        }
    }

    /// Sees to it that an idle transmitter serves what waits.
    #[inline]
    fn wake(&mut self, now: Instant, pool: &mut Pool) {
        if self.rate.is_recorded() {
            self.service = self.rate.next_opportunity(now).0;
        } else if self.transit.is_some() {
            // The line is down for good; only a new rate helps.
        } else if self.busy_until <= now {
            self.transmit(now, pool);
        } else {
            self.service = self.busy_until;
        }
    }

    /// The transmitter is free. One function with all that it calls: the calls would cost more than what they do.
    #[inline(never)]
    fn transmit(&mut self, now: Instant, pool: &mut Pool) {
        if self.rate.is_recorded() {
            self.use_opportunity(now, pool);
            return;
        }
        if !self.retired.is_empty() {
            return self.transmit_retired(now, pool);
        }
        // Read where the queue has written it: a copy in larger pieces would wait for the smaller ones.
        match &self.queue.dequeue(now, outlet!(self, now, pool)) {
            Some(departure) => {
                let next = self.departed(now, departure, pool);
                self.begin(now, next);
            }
            None => self.service = Instant::MAX,
        }
    }

    /// The same with retired queues.
    #[cold]
    fn transmit_retired(&mut self, now: Instant, pool: &mut Pool) {
        match self.dequeue(now, pool) {
            Some(next) => self.begin(now, next),
            None => self.service = Instant::MAX,
        }
    }

    /// Starts sending a frame.
    #[inline(always)]
    fn begin(&mut self, now: Instant, whole: Transit) {
        let end = self.rate.end_of(now, whole.left);
        self.busy_until = end;
        self.service = end;
        if end == Instant::MAX {
            self.transit = Some(whole);
        } else {
            self.fly(end, whole.frame);
        }
    }

    /// A delivery opportunity of a recorded line.
    #[inline(never)]
    fn use_opportunity(&mut self, now: Instant, pool: &mut Pool) {
        // The one at `now` is the first after the instant before.
        let (at, mut budget) = self.rate.next_opportunity(now - Duration::ns(1));
        debug_assert_eq!(at, now, "served at an opportunity");
        loop {
            let Transit { frame, left } = match self.transit.take() {
                Some(partly) => partly,
                None if budget.is_zero() => break,
                None => match self.dequeue(now, pool) {
                    Some(whole) => whole,
                    None => break,
                },
            };
            let sent = left.min(budget);
            budget -= sent;
            if sent < left {
                self.transit = Some(Transit { frame, left: left - sent });
                break;
            }
            self.fly(now, frame);
        }
        let waits = self.transit.is_some() || self.view().packets > Packets::ZERO;
        self.service = if waits { self.rate.next_opportunity(now).0 } else { Instant::MAX };
    }

    /// The next packet, of retired queues as long as they have any.
    fn dequeue(&mut self, now: Instant, pool: &mut Pool) -> Option<Transit> {
        while let Some(oldest) = self.retired.first_mut() {
            if let Some(departure) = oldest.dequeue(now, outlet!(self, now, pool)) {
                return Some(self.departed(now, &departure, pool));
            }
            if oldest.view().packets > Packets::ZERO {
                // It holds its packets back for a while; the others could overtake them.
                return None;
            }
            let empty = self.retired.remove(0);
            self.meter.retire(&empty.counters());
            self.timeless = self.retired.is_empty() && self.queue.is_timeless();
        }
        let departure = self.queue.dequeue(now, outlet!(self, now, pool))?;
        Some(self.departed(now, &departure, pool))
    }

    #[inline(always)]
    fn departed(&mut self, now: Instant, departure: &Departure<LivePacket>, pool: &mut Pool) -> Transit {
        let packet = &departure.packet;
        let frame = packet.carry_out(pool);
        let left = packet.len() + self.overhead;
        self.meter.departed(departure.sojourn(now), left);
        self.flows.add(packet, pool);
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::new(now, packet, pool, EventKind::Departed));
        }
        Transit { frame, left }
    }

    #[inline]
    fn fly(&mut self, end: Instant, frame: Frame) {
        self.flight.push(end + self.delay, frame);
    }

    /// Frames on the way that are due at `now`, the first of them and at most so many; they stay until [`Direction::land`].
    pub(crate) fn due(&self, now: Instant, most: usize) -> &[Frame] {
        self.flight.due(now, most)
    }

    /// The first `count` frames on the way were handed over at `now`.
    pub(crate) fn land(&mut self, count: usize, now: Instant, pool: &mut Pool) {
        self.flight.land(count, |release, frame| {
            self.meter.released(now.since(release));
            pool.give_back(frame.slot);
        });
    }

    /// When there is something to do next.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        let release = self.flight.next().unwrap_or(Instant::MAX);
        self.next_call().min(release)
    }

    /// What waits, in both queues while one is being emptied.
    #[inline]
    #[must_use]
    pub fn view(&self) -> QueueView {
        self.retired.iter().map(Qdisc::view).fold(self.queue.view(), |sum, old| QueueView {
            backlog: sum.backlog + old.backlog,
            packets: sum.packets + old.packets,
        })
    }

    /// Packets in the transmitter and on the way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flight.len() + usize::from(self.transit.is_some())
    }

    /// Counters of all queues this direction has had.
    #[must_use]
    pub fn counters(&self) -> goodqueue_aqm::Counters {
        self.retired.iter().map(Qdisc::counters).fold(self.meter.retired() + self.queue.counters(), |sum, old| sum + old)
    }

    /// The algorithm's state.
    pub fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.queue.gauges(visit);
    }

    /// Times in the queue and of sending.
    #[must_use]
    pub const fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Hands over the times since the last exchange in place of `spare`, which must be empty.
    pub(crate) fn exchange_times(&mut self, spare: &mut Times) {
        self.meter.exchange(spare);
    }

    /// Writes the largest flows into `into`, in no order.
    pub(crate) fn report_flows(&mut self, into: &mut Vec<FlowTotal>) {
        self.flows.report(into);
    }

    /// Forgets times so far, at the end of a warm-up.
    pub fn restart_meter(&mut self) {
        self.meter.restart();
    }

    /// Events left out of the record because its file was too slow.
    #[must_use]
    pub fn record_lost(&self) -> u64 {
        self.recorder.as_ref().map_or(0, Recorder::lost)
    }

    /// Ends the record, if one is being made.
    pub fn take_recorder(&mut self) -> Option<Recorder> {
        self.recorder.take()
    }

    /// The rate that algorithms know now.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate.known(self.served)
    }

    /// Delay of the line.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// From now on at this rate. What is being sent ends as it began, unless it never would.
    pub fn set_rate(&mut self, rate: Rate) {
        let now = self.served;
        self.rate = RateCursor::new(&RateSpec::Constant(rate));
        self.change = Instant::MAX;
        self.tell_rate(now, rate);
        match self.transit.take() {
            Some(stuck) => self.begin(now, stuck),
            // The transmitter may have waited for an opportunity that does not come any more.
            None if self.view().packets > Packets::ZERO => self.service = self.busy_until.max(now),
            None => {}
        }
    }

    /// Packets whose transmission ends from now on take this long.
    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    /// From now on arrivals go to `queue`. What waits in the one before leaves first, by its rules; nothing is lost.
    pub fn replace_queue(&mut self, mut queue: Q) {
        let now = self.served;
        queue.set_link_rate(now, Some(self.rate()));
        self.timeless = false;
        self.retired.push(std::mem::replace(&mut self.queue, queue));
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::of_line(now, EventKind::QueueReplaced));
        }
    }
}
