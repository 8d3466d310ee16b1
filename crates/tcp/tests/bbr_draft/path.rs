//! One connection over a path that a case changes while it runs: the rate, the application, losses,
//! delays, a policer, acknowledgements that are held together.

use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate, Rng};
use goodqueue_tcp::{CcConfig, CcError, Data, Ending, PathModel, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Payload of a segment and its size on the wire, in bytes.
pub const PAYLOAD: u64 = 1448;
const ON_WIRE: u64 = PAYLOAD + 52;
/// A segment without payload on the wire, in bytes.
const CONTROL: u64 = 60;
/// Segments that a greedy application has ready beyond those sent.
const READY: u64 = 16;

/// The amount of data that the application writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Application {
    /// As much as can be sent.
    Greedy,
    /// Data at this rate.
    Limited(Rate),
    /// Nothing.
    Silent,
}

/// Drops what exceeds a token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    rate: Rate,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Policer {
    /// A full bucket.
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        Self { rate, burst: burst.get() as f64, tokens: burst.get() as f64, at: Instant::ZERO }
    }

    fn lets_through(&mut self, now: Instant) -> bool {
        let earned = self.rate.as_bytes_s_f64() * now.since(self.at).as_secs_f64();
        self.tokens = (self.tokens + earned).min(self.burst);
        self.at = now;
        let passes = self.tokens >= ON_WIRE as f64;
        if passes {
            self.tokens -= ON_WIRE as f64;
        }
        passes
    }
}

/// The connection's state after an event.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// When.
    pub at: Instant,
    /// The control's model of the path.
    pub model: PathModel,
    /// Segments in flight.
    pub in_flight: f64,
    /// Window in segments.
    pub cwnd: f64,
    /// Pacing rate in segments per second.
    pub pacing: f64,
    /// Segments sent again so far.
    pub retransmitted: u64,
    /// Recoveries and timeouts found to be mistakes so far.
    pub undone: u64,
    /// Timeouts so far.
    pub timeouts: u64,
    /// Segments delivered in order so far.
    pub delivered: u64,
}

enum Arrival {
    Data(Segment),
    Ack(Segment),
}

type Fate = Box<dyn FnMut(Instant, u64) -> Option<Duration>>;

/// Sender, path and receiver.
pub struct Flow {
    sender: Sender,
    receiver: Receiver,
    now: Instant,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Duration,
    /// Most segments that wait at the bottleneck.
    pub buffer: u64,
    /// The amount of data that the application writes.
    pub application: Application,
    /// Acknowledgements pass only at multiples of this time.
    pub acks_together: Option<Duration>,
    /// In front of the bottleneck.
    pub policer: Option<Policer>,
    fate: Fate,
    free_at: Instant,
    /// Segments written, segments sent for the first time, and the start of the present limit.
    written: u64,
    sent: u64,
    allowed: f64,
    allowed_at: Instant,
    transmissions: u64,
    /// Segments lost on the path so far.
    pub lost: u64,
    events: BinaryHeap<Reverse<(Instant, usize)>>,
    arrivals: Vec<Option<Arrival>>,
}

impl Flow {
    /// A greedy connection over 10 Mbit/s and 40 ms with a large buffer.
    pub fn new(control: &'static str) -> Result<Self, CcError> {
        let cc = CcConfig { kind: control, params: Vec::new() };
        let config = SenderConfig { cc, data: Data::Messages, ..SenderConfig::default() };
        let start = Instant::ZERO + Duration::ms(1);
        let mut sender = Sender::new(&config, Rng::new(1))?;
        sender.connect(start);
        Ok(Self {
            sender,
            receiver: Receiver::new(&ReceiverConfig::default()),
            now: start,
            rate: Rate::mbit(10),
            delay: Duration::ms(20),
            buffer: 10_000,
            application: Application::Greedy,
            acks_together: None,
            policer: None,
            fate: Box::new(|_, _| Some(Duration::ZERO)),
            free_at: Instant::ZERO,
            written: 0,
            sent: 0,
            allowed: 0.0,
            allowed_at: start,
            transmissions: 0,
            lost: 0,
            events: BinaryHeap::new(),
            arrivals: Vec::new(),
        })
    }

    /// Decides the fate of each transmission from now on, given the time and its number counted
    /// from this call: `None` loses it, else it is late by the time returned.
    pub fn meet(&mut self, mut fate: impl FnMut(Instant, u64) -> Option<Duration> + 'static) {
        let first = self.transmissions;
        self.fate = Box::new(move |now, number| fate(now, number - first));
    }

    /// Segments per second that the bottleneck carries.
    pub fn capacity(&self) -> f64 {
        self.rate.as_bytes_s_f64() / ON_WIRE as f64
    }

    /// Round-trip time without a queue.
    pub fn base_rtt(&self) -> Duration {
        self.delay * 2 + self.rate.transmission_time(Bytes::new(ON_WIRE))
    }

    /// Bandwidth-delay product in segments.
    pub fn bdp(&self) -> f64 {
        self.capacity() * self.base_rtt().as_secs_f64()
    }

    /// The present state; `None` for controls without a model.
    pub fn seen(&self) -> Option<Seen> {
        Some(Seen {
            at: self.now,
            model: self.sender.path_model()?,
            in_flight: self.sender.in_flight().get() as f64 / PAYLOAD as f64,
            cwnd: self.sender.cwnd().get() as f64 / PAYLOAD as f64,
            pacing: self.sender.pacing_rate().map_or(0.0, |rate| rate.as_bytes_s_f64() / PAYLOAD as f64),
            retransmitted: self.sender.statistics().retransmitted_segments,
            undone: self.sender.statistics().undone,
            timeouts: self.sender.statistics().timeouts,
            delivered: self.receiver.delivered_bytes() / PAYLOAD,
        })
    }

    /// Writes the data that the application may write by now.
    fn write(&mut self) {
        let wanted = match self.application {
            Application::Greedy => self.sent + READY,
            Application::Limited(rate) => {
                let earned = rate.as_bytes_s_f64() / PAYLOAD as f64 * self.now.since(self.allowed_at).as_secs_f64();
                self.allowed += earned;
                self.written + self.allowed as u64
            }
            Application::Silent => self.written,
        };
        self.allowed_at = self.now;
        if wanted > self.written {
            self.allowed = (self.allowed - (wanted - self.written) as f64).max(0.0);
            self.sender.write(Bytes::new((wanted - self.written) * PAYLOAD), Ending::More);
            self.written = wanted;
        }
    }

    /// When a limited application writes next.
    fn next_write(&self) -> Option<Instant> {
        let Application::Limited(rate) = self.application else { return None };
        let missing = (1.0 - self.allowed).max(0.0) * PAYLOAD as f64 / rate.as_bytes_s_f64();
        Some(self.allowed_at + Duration::from_secs_f64(missing) + Duration::ns(1))
    }

    fn schedule(&mut self, at: Instant, arrival: Arrival) {
        self.events.push(Reverse((at, self.arrivals.len())));
        self.arrivals.push(Some(arrival));
    }

    fn transmit(&mut self) {
        self.write();
        while let Some(out) = self.sender.poll_transmit(self.now) {
            if out.segment.payload == 0 {
                self.free_at = self.free_at.max(self.now) + self.rate.transmission_time(Bytes::new(CONTROL));
                self.schedule(self.free_at + self.delay, Arrival::Data(out.segment));
                continue;
            }
            if !out.retransmission {
                self.sent += 1;
                self.write();
            }
            let fate = (self.fate)(self.now, self.transmissions);
            self.transmissions += 1;
            let service = self.rate.transmission_time(Bytes::new(ON_WIRE));
            let waiting = self.free_at.since(self.now).as_nanos() / service.as_nanos().max(1);
            let policed = self.policer.as_mut().is_some_and(|policer| !policer.lets_through(self.now));
            match fate {
                Some(late) if !policed && waiting < self.buffer => {
                    self.free_at = self.free_at.max(self.now) + service;
                    self.schedule(self.free_at + self.delay + late, Arrival::Data(out.segment));
                }
                _ => self.lost += 1,
            }
        }
    }

    fn acknowledge(&mut self, ack: Option<Segment>) {
        let Some(ack) = ack else { return };
        let mut at = self.now + self.delay;
        if let Some(together) = self.acks_together {
            at = Instant::from_nanos(at.as_nanos().div_ceil(together.as_nanos()) * together.as_nanos());
        }
        self.schedule(at, Arrival::Ack(ack));
    }

    /// Handles the next event; `false` when there is none before `end`.
    fn step(&mut self, end: Instant) -> bool {
        self.transmit();
        let arrival = self.events.peek().map(|Reverse((at, _))| *at);
        let timers = [arrival, self.sender.next_timeout(), self.receiver.next_timeout(), self.next_write()];
        let Some(next) = timers.into_iter().flatten().min() else { return false };
        if next > end {
            return false;
        }
        self.now = self.now.max(next);
        if arrival == Some(next) {
            let event = self.events.pop().and_then(|Reverse((_, number))| self.arrivals[number].take());
            match event {
                Some(Arrival::Data(segment)) => {
                    let ack = self.receiver.handle_segment(self.now, &segment, Ecn::NotEct);
                    self.acknowledge(ack);
                }
                Some(Arrival::Ack(ack)) => self.sender.handle_ack(self.now, &ack),
                None => {}
            }
        } else if self.receiver.next_timeout() == Some(next) {
            let ack = self.receiver.handle_timeout(self.now);
            self.acknowledge(ack);
        } else if self.sender.next_timeout() == Some(next) {
            self.sender.handle_timeout(self.now);
        }
        true
    }

    /// Runs for a while and passes on each state.
    pub fn run(&mut self, span: Duration, mut watch: impl FnMut(&mut Self, &Seen)) {
        let end = self.now + span;
        while self.step(end) {
            if let Some(seen) = self.seen() {
                watch(self, &seen);
            }
        }
        self.now = end;
    }

    /// Runs until a state meets the condition, which is returned; `None` after the limit.
    pub fn until(&mut self, limit: Duration, mut met: impl FnMut(&Seen) -> bool) -> Option<Seen> {
        let end = self.now + limit;
        while self.step(end) {
            if let Some(seen) = self.seen()
                && met(&seen)
            {
                return Some(seen);
            }
        }
        None
    }
}
