//! One direction in virtual time: a queue, a transmitter of exact speed,
//! and a delay line.
//!
//! It reads no clock. Its host states up to which time all arrivals are known, and it makes
//! the calls to the queue that were due until then, in their order and with their own times: the
//! host may be late, the queue never notices. At one instant a change of rate comes first, then the
//! queue's timer, then the transmitter that becomes free, then arrivals, as in the simulator.

use crate::flight::Flight;
use crate::flows::{FlowTotal, LargestFlows};
use crate::joiner::Joiner;
use crate::measure::{Meter, Times};
use crate::packet::LivePacket;
use crate::pool::{Frame, Pool};
use crate::record::{Event, EventKind, Recorder};
use goodqueue_aqm::{AnyQdisc, Departure, Dropped, Packet, Qdisc, QueueView, Reason, Sink};
use goodqueue_base::line::{RateCursor, RateSpec};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Packets, Rate};

/// Settings of one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Transmission rate over time.
    pub rate: RateSpec,
    /// Propagation delay after transmission.
    pub delay: Duration,
    /// Bytes that the line adds to each packet, besides its IP length.
    pub framing: Framing,
}

/// A frame in the transmitter, which has left the queue: its headers are no longer needed.
#[derive(Clone, Copy, Debug)]
struct Transit {
    frame: Frame,
    /// Bytes of it that remain to be sent, framing included.
    left: Bytes,
}

/// One direction.
#[derive(Debug)]
pub struct Lane<Q> {
    queue: Q,
    /// [`Qdisc::is_timeless`] of the queue.
    timeless: bool,
    rate: RateCursor,
    /// When the rate changes next; [`Instant::MAX`] for a constant one.
    change: Instant,
    delay: Duration,
    framing: Framing,
    /// All events up to this time have been processed.
    served: Instant,
    /// When the transmitter looks for a packet; [`Instant::MAX`] while it is idle.
    service: Instant,
    busy_until: Instant,
    transit: Option<Transit>,
    flight: Flight,
    next_number: u64,
    pub(crate) meter: Meter,
    flows: LargestFlows,
    pub(crate) recorder: Option<Recorder>,
}

/// Sink of a queue's drops and marks: buffers go back to the pool, events to the record.
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

impl<Q: Qdisc<LivePacket>> Lane<Q> {
    /// An idle line behind `queue`.
    #[must_use]
    pub fn new(line: &Line, mut queue: Q) -> Self {
        queue.set_link_rate(Instant::ZERO, Some(line.rate.nominal()));
        let rate = RateCursor::new(&line.rate);
        Self {
            timeless: queue.is_timeless(),
            queue,
            change: rate.next_change(Instant::ZERO),
            rate,
            delay: line.delay,
            framing: line.framing,
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

    /// Records every event of its queue from now on.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// All events up to this time have been processed.
    #[must_use]
    pub const fn served(&self) -> Instant {
        self.served
    }

    /// Takes `count` consecutive packet numbers and returns the first.
    #[inline]
    pub(crate) fn take_numbers(&mut self, count: u32) -> u64 {
        let first = self.next_number;
        self.next_number += u64::from(count);
        first
    }

    /// Adds `packet`, which arrived at `at`, or now if `at` lies in time that was served already.
    #[inline(always)]
    pub fn arrive(&mut self, at: Instant, packet: LivePacket, pool: &mut Pool) {
        let at = at.max(self.served);
        // Earlier departures come first, or the queue would look fuller than it was.
        self.serve(at, pool);
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::new(at, &packet, pool, EventKind::Arrived));
        }
        self.queue.enqueue(at, packet, outlet!(self, at, pool));
        if self.service == Instant::MAX {
            self.wake(at, pool);
        }
    }

    /// Processes all events up to `until`.
    #[inline(always)]
    pub fn serve(&mut self, until: Instant, pool: &mut Pool) {
        if self.next_call() <= until {
            self.run_due_events(until, pool);
        }
        self.pass(until);
    }

    /// When a call to the queue is due.
    #[inline(always)]
    fn next_call(&self) -> Instant {
        self.next_timer().min(self.change).min(self.service)
    }

    /// Makes all calls due until `until` in order.
    #[inline(never)]
    fn run_due_events(&mut self, until: Instant, pool: &mut Pool) {
        loop {
            let timer = self.next_timer().max(self.served);
            let next = self.change.min(timer).min(self.service);
            if next > until || next == Instant::MAX {
                return;
            }
            self.pass(next);
            if next == self.change {
                self.change = self.rate.next_change(next);
                self.tell_rate(next, self.rate.known_rate(next));
            } else if next == timer {
                self.queue.handle_timer(next);
                if self.service == Instant::MAX && self.view().packets > Packets::ZERO {
                    self.wake(next, pool);
                }
            } else {
                self.transmit(next, pool);
            }
        }
    }

    /// Advances the time to `until` while the backlog stays as it is.
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
        self.queue.next_timer().unwrap_or(Instant::MAX)
    }

    fn tell_rate(&mut self, now: Instant, rate: Rate) {
        self.queue.set_link_rate(now, Some(rate));
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::of_line(now, EventKind::RateChanged(rate)));
        }
    }

    /// Starts or schedules an idle transmitter.
    #[inline]
    fn wake(&mut self, now: Instant, pool: &mut Pool) {
        if let Some(opportunities) = self.rate.opportunities() {
            self.service = opportunities.next_after(now).0;
        } else if self.transit.is_some() {
            // The line stays down until its rate is set.
        } else if self.busy_until <= now {
            self.transmit(now, pool);
        } else {
            self.service = self.busy_until;
        }
    }

    /// The transmitter is free. One function with all that it calls: the calls would cost more than
    /// what they do.
    #[inline(never)]
    fn transmit(&mut self, now: Instant, pool: &mut Pool) {
        if self.rate.is_recorded() {
            self.use_opportunity(now, pool);
            return;
        }
        // Read where the queue has written it: a copy in larger pieces would wait for the smaller
        // ones.
        match &self.queue.dequeue(now, outlet!(self, now, pool)) {
            Some(departure) => {
                let next = self.departed(now, departure, pool);
                self.begin(now, next);
            }
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
            self.start_propagation(end, whole.frame);
        }
    }

    /// A delivery opportunity of a recorded line.
    #[inline(never)]
    fn use_opportunity(&mut self, now: Instant, pool: &mut Pool) {
        let mut budget = self.rate.opportunities().map_or(Bytes::ZERO, |opportunities| opportunities.bytes_at(now));
        debug_assert!(!budget.is_zero(), "served at an opportunity");
        loop {
            let Transit { frame, left } = match self.transit.take() {
                Some(partly) => partly,
                None if budget.is_zero() => break,
                None => match self.queue.dequeue(now, outlet!(self, now, pool)) {
                    Some(departure) => self.departed(now, &departure, pool),
                    None => break,
                },
            };
            let sent = left.min(budget);
            budget -= sent;
            if sent < left {
                self.transit = Some(Transit { frame, left: left - sent });
                break;
            }
            self.start_propagation(now, frame);
        }
        let waits = self.transit.is_some() || self.view().packets > Packets::ZERO;
        self.service = match self.rate.opportunities() {
            Some(opportunities) if waits => opportunities.next_after(now).0,
            _ => Instant::MAX,
        };
    }

    #[inline(always)]
    fn departed(&mut self, now: Instant, departure: &Departure<LivePacket>, pool: &mut Pool) -> Transit {
        let packet = &departure.packet;
        let frame = packet.carry_out(pool);
        let left = self.framing.wire(packet.len());
        self.meter.departed(departure.sojourn(now), left);
        self.flows.add(packet, pool);
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::new(now, packet, pool, EventKind::Departed));
        }
        Transit { frame, left }
    }

    #[inline]
    fn start_propagation(&mut self, end: Instant, frame: Frame) {
        self.flight.push(end + self.delay, frame);
    }

    /// The first frames in flight that are due at `now`, at most `most`; they stay
    /// until [`Lane::complete_send`].
    pub(crate) fn due(&self, now: Instant, most: usize) -> &[Frame] {
        self.flight.due(now, most)
    }

    /// Like [`Lane::due`], with consecutive segments of each flow side by side.
    pub(crate) fn due_joined(&mut self, now: Instant, most: usize, joiner: &mut Joiner, pool: &Pool) -> &[Frame] {
        self.flight.due_joined(now, most, joiner, pool)
    }

    /// The first `count` frames on the way were handed over at `now`.
    pub(crate) fn complete_send(&mut self, count: usize, now: Instant, pool: &mut Pool) {
        self.flight.complete_send(count, |release, frame| {
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

    /// Backlog of the queue and of queues that it replaced.
    #[inline]
    #[must_use]
    pub fn view(&self) -> QueueView {
        self.queue.view()
    }

    /// Packets in the transmitter and in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flight.len() + usize::from(self.transit.is_some())
    }

    /// Counters of the queue, and of all queues that it replaced.
    #[must_use]
    pub fn counters(&self) -> goodqueue_aqm::Counters {
        self.queue.counters()
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

    /// Exchanges the times since the last exchange for `spare`, which must be empty.
    pub(crate) fn exchange_times(&mut self, spare: &mut Times) {
        self.meter.exchange(spare);
    }

    /// Writes the largest flows into `into`, in no order.
    pub(crate) fn report_flows(&mut self, into: &mut Vec<FlowTotal>) {
        self.flows.report(into);
    }

    /// Ends the record, if one is being made.
    pub fn take_recorder(&mut self) -> Option<Recorder> {
        self.recorder.take()
    }

    /// The rate that algorithms know now.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate.known_rate(self.served)
    }

    /// Delay of the line.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Sets the rate. The packet in transmission finishes at the old rate, unless the old rate was
    /// zero.
    pub fn set_rate(&mut self, rate: Rate) {
        let now = self.served;
        self.rate = RateCursor::constant(rate);
        self.change = Instant::MAX;
        self.tell_rate(now, rate);
        match self.transit.take() {
            Some(stuck) => self.begin(now, stuck),
            // The transmitter may have waited for an opportunity that does not come any more.
            None if self.view().packets > Packets::ZERO => self.service = self.busy_until.max(now),
            None => {}
        }
    }

    /// Sets the delay of packets whose transmission ends from now on.
    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }
}

impl Lane<AnyQdisc<LivePacket>> {
    /// Replaces the queue. Packets that wait in the old one leave first, by its rules; none is
    /// lost.
    pub fn replace_queue(&mut self, mut queue: AnyQdisc<LivePacket>) {
        let now = self.served;
        queue.set_link_rate(now, Some(self.rate()));
        self.queue.succeed(queue);
        self.timeless = self.queue.is_timeless();
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&Event::of_line(now, EventKind::QueueReplaced));
        }
    }
}
