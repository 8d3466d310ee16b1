//! Byte streams over our TCP, for programs that need one: an application protocol in the network of
//! a scenario, with the congestion control that the scenario names.
//!
//! A connection is two one-way connections of [`goodqueue_tcp`], which both ends open at the flow's
//! start. A datagram has a header of 24 bytes, and 8 more for each reported block, so that with
//! IPv4 and UDP its length is that of a TCP segment with timestamps.

mod codec;
mod stream;

use crate::endpoint::{Datagram, Endpoint, Ends, FlowFacts, Recovery, Transmit};
use codec::Packet;
use goodqueue_base::units::{Bytes, Instant, Rng};
use goodqueue_tcp::{CcError, Data, Receiver, Segment, Sender, SenderConfig};
use std::collections::VecDeque;
pub use stream::Stream;
use stream::{Incoming, Outgoing};

/// An application at one end of a connection.
pub trait Program {
    /// Reads and writes what it wants to; called at the flow's start, whenever something has
    /// arrived or been sent, and at the time that it returns.
    fn run(&mut self, now: Instant, stream: &mut Stream) -> Option<Instant>;

    /// Whether it has done all it had to do.
    fn is_complete(&self) -> bool {
        false
    }
}

impl<F: FnMut(Instant, &mut Stream) -> Option<Instant>> Program for F {
    fn run(&mut self, now: Instant, stream: &mut Stream) -> Option<Instant> {
        self(now, stream)
    }
}

/// The two ends of a connection with the scenario's settings for the flow.
///
/// # Errors
/// When its congestion control cannot be built.
pub fn connect(flow: &FlowFacts<'_>, source: impl Program + 'static, sink: impl Program + 'static) -> Result<Ends, CcError> {
    Ok(Ends::new(ConnectionEnd::new(flow, 0, source)?, ConnectionEnd::new(flow, 1, sink)?))
}

/// One end of a connection.
struct ConnectionEnd<P> {
    program: P,
    stream: Stream,
    sender: Sender,
    receiver: Receiver,
    outgoing: Outgoing,
    incoming: Incoming,
    acks: VecDeque<Segment>,
    is_open: bool,
    /// When the program wants to run next.
    next: Option<Instant>,
}

impl<P: Program> ConnectionEnd<P> {
    fn new(flow: &FlowFacts<'_>, end: u64, program: P) -> Result<Self, CcError> {
        let config = SenderConfig { data: Data::Messages, ..flow.sender.clone() };
        Ok(Self {
            program,
            stream: Stream::default(),
            sender: Sender::new(&config, Rng::stream(flow.seed, end))?,
            receiver: Receiver::new(flow.receiver),
            outgoing: Outgoing::new(config.mss.get()),
            incoming: Incoming::default(),
            acks: VecDeque::new(),
            is_open: false,
            next: None,
        })
    }

    fn run(&mut self, now: Instant) {
        self.next = self.program.run(now, &mut self.stream);
    }

    /// Hands what the program has written to the sender, when what it had has left.
    fn flush(&mut self) -> bool {
        let Some((bytes, ending)) = self.outgoing.next_message(&mut self.stream, self.sender.written()) else { return false };
        self.sender.write(Bytes::new(bytes), ending);
        true
    }
}

impl<P: Program> Endpoint for ConnectionEnd<P> {
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        let Some(packet) = Packet::read(datagram.payload) else { return };
        if packet.is_ack() {
            self.sender.handle_ack(now, &packet.segment);
            self.outgoing.acknowledged(packet.segment.number);
        } else {
            self.incoming.keep(&packet);
            let segment = packet.as_full(self.outgoing.mss());
            self.acks.extend(self.receiver.handle_segment(now, &segment, datagram.ecn));
            self.incoming.deliver(self.receiver.delivered_bytes(), &mut self.stream);
        }
        self.run(now);
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if !self.is_open {
            self.is_open = true;
            self.sender.connect(now);
            self.run(now);
        }
        if let Some(segment) = self.acks.pop_front() {
            Packet::acknowledgement(segment).write(buffer);
            return Some(Transmit::NOW);
        }
        loop {
            if let Some(out) = self.sender.poll_transmit(now) {
                self.outgoing.packet(out.segment).write(buffer);
                return Some(Transmit { ecn: out.ecn, ..Transmit::NOW });
            }
            if !self.flush() {
                return None;
            }
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        [self.sender.next_timeout(), self.receiver.next_timeout(), self.next].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        // Early calls are harmless to both.
        self.sender.handle_timeout(now);
        self.acks.extend(self.receiver.handle_timeout(now));
        self.run(now);
    }

    fn delivered_bytes(&self) -> Option<u64> {
        Some(self.stream.received())
    }

    fn is_complete(&self) -> bool {
        self.program.is_complete()
    }

    fn recovery(&mut self) -> Recovery {
        Recovery {
            cwnd: Some(self.sender.cwnd().get()),
            in_flight: Some(self.sender.in_flight().get()),
            srtt: self.sender.srtt(),
            lost_packets: self.sender.statistics().retransmitted_segments,
        }
    }
}

#[cfg(test)]
mod tests;
