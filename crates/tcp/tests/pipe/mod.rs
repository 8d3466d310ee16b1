#![allow(dead_code, reason = "each test program uses a part of it")]
//! Two endpoints joined by a bottleneck, a propagation delay and a loss script; virtual time jumps
//! from event to event.

use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate, Rng};
use goodqueue_tcp::{Flags, Receiver, ReceiverConfig, Segment, Sender, SenderConfig, Transmit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Fate of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Deliver,
    Drop,
    Mark,
    /// Arrives later by this time.
    Late(Duration),
    /// Arrives twice, the copy later by this time.
    Twice(Duration),
}

/// Decides the fate of a data segment; the second argument counts the segments sent before.
type FateOf = Box<dyn FnMut(&Segment, usize) -> Fate>;

/// A sent data segment: time, offset, and whether it is a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    pub at: Instant,
    pub number: u64,
    pub retransmission: bool,
    pub cwr: bool,
    pub pushed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Data(Segment, Ecn),
    Ack(Segment),
}

/// The network and both ends.
pub struct Pipe {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Instant,
    pub log: Vec<Log>,
    pub acks: Vec<(Instant, Segment)>,
    pub rate: Rate,
    pub delay: Duration,
    /// Capacity of the bottleneck queue in packets.
    pub limit: usize,
    /// Number of waiting packets from which arriving ones are marked.
    pub mark_from: usize,
    /// Maximum of waiting packets since it was last reset.
    pub most_waiting: usize,
    free_at: Instant,
    events: BinaryHeap<Reverse<(u64, u64)>>,
    arrivals: Vec<Arrival>,
    fate: FateOf,
    lose_ack: Box<dyn FnMut(usize) -> bool>,
    pub dropped: usize,
}

pub const HEADER: u64 = 52;

impl Pipe {
    pub fn new(sender: &SenderConfig, receiver: &ReceiverConfig) -> Self {
        let mut pipe = Self {
            sender: Sender::new(sender, Rng::new(1)).expect("valid settings"),
            receiver: Receiver::new(receiver),
            now: Instant::from_nanos(1_000_000),
            log: Vec::new(),
            acks: Vec::new(),
            rate: Rate::mbit(100),
            delay: Duration::ms(10),
            limit: usize::MAX,
            mark_from: usize::MAX,
            most_waiting: 0,
            free_at: Instant::ZERO,
            events: BinaryHeap::new(),
            arrivals: Vec::new(),
            fate: Box::new(|_, _| Fate::Deliver),
            lose_ack: Box::new(|_| false),
            dropped: 0,
        };
        pipe.sender.connect(pipe.now);
        pipe
    }

    /// Sets the function that decides the fate of each data segment; its second argument counts the
    /// data segments sent before.
    pub fn with_fate(mut self, fate: impl FnMut(&Segment, usize) -> Fate + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    pub fn with_lost_acks(mut self, lose: impl FnMut(usize) -> bool + 'static) -> Self {
        self.lose_ack = Box::new(lose);
        self
    }

    pub fn with_path(mut self, rate: Rate, delay: Duration, limit: usize) -> Self {
        (self.rate, self.delay, self.limit) = (rate, delay, limit);
        self
    }

    fn schedule(&mut self, at: Instant, arrival: Arrival) {
        self.events.push(Reverse((at.as_nanos(), self.arrivals.len() as u64)));
        self.arrivals.push(arrival);
    }

    fn send(&mut self, out: Transmit) {
        let segment = out.segment;
        let mut fate = Fate::Deliver;
        if segment.payload > 0 {
            fate = (self.fate)(&segment, self.log.len());
            self.log.push(Log {
                at: self.now,
                number: segment.number,
                retransmission: out.retransmission,
                cwr: segment.flags.has(Flags::CWR),
                pushed: segment.flags.has(Flags::PSH),
            });
        }
        let service = self.rate.transmission_time(Bytes::new(u64::from(segment.payload) + HEADER));
        let waiting = self.free_at.since(self.now).as_nanos() / service.as_nanos().max(1);
        if fate == Fate::Drop || waiting as usize >= self.limit {
            self.dropped += 1;
            return;
        }
        self.most_waiting = self.most_waiting.max(waiting as usize);
        self.free_at = self.free_at.max(self.now) + service;
        let mut at = self.free_at + self.delay;
        let mut ecn = out.ecn;
        if waiting as usize >= self.mark_from && ecn != Ecn::NotEct {
            ecn = Ecn::Ce;
        }
        match fate {
            Fate::Mark if ecn != Ecn::NotEct => ecn = Ecn::Ce,
            Fate::Late(extra) => at += extra,
            Fate::Twice(extra) => self.schedule(at + extra, Arrival::Data(segment, ecn)),
            _ => {}
        }
        self.schedule(at, Arrival::Data(segment, ecn));
    }

    fn acknowledge(&mut self, ack: Option<Segment>) {
        let Some(ack) = ack else { return };
        if (self.lose_ack)(self.acks.len()) {
            self.acks.push((self.now, ack));
            return;
        }
        self.acks.push((self.now, ack));
        self.schedule(self.now + self.delay, Arrival::Ack(ack));
    }

    /// Handles the next event; returns false if there is none.
    pub fn step(&mut self) -> bool {
        while let Some(out) = self.sender.poll_transmit(self.now) {
            self.send(out);
        }
        let arrival = self.events.peek().map_or(Instant::MAX, |Reverse((at, _))| Instant::from_nanos(*at));
        let sender_timer = self.sender.next_timeout().unwrap_or(Instant::MAX);
        let receiver_timer = self.receiver.next_timeout().unwrap_or(Instant::MAX);
        let next = arrival.min(sender_timer).min(receiver_timer);
        if next == Instant::MAX {
            return false;
        }
        self.now = self.now.max(next);
        if next == arrival {
            let Some(Reverse((_, index))) = self.events.pop() else { return false };
            match self.arrivals[index as usize] {
                Arrival::Data(segment, ecn) => {
                    let before = self.receiver.delivered_bytes();
                    let ack = self.receiver.handle_segment(self.now, &segment, ecn);
                    assert!(self.receiver.delivered_bytes() >= before);
                    self.acknowledge(ack);
                }
                Arrival::Ack(ack) => self.sender.handle_ack(self.now, &ack),
            }
        } else if next == receiver_timer {
            let ack = self.receiver.handle_timeout(self.now);
            self.acknowledge(ack);
        } else {
            self.sender.handle_timeout(self.now);
        }
        true
    }

    /// Runs until the sender has finished; panics if that takes longer than `limit` of virtual
    /// time.
    pub fn finish(&mut self, limit: Duration) {
        let end = self.now + limit;
        while !self.sender.is_finished() {
            assert!(self.step(), "nothing will ever happen again at {}: {:?}", self.now, self.sender.statistics());
            assert!(self.now <= end, "not finished after {limit}: {:?}", self.sender.statistics());
        }
    }

    /// Runs for `span` of virtual time.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end && self.step() {}
    }
}
