//! The bytes that a program writes and reads, and their way through segments.

use super::codec::Packet;
use goodqueue_tcp::{Ending, Segment};
use std::collections::{BTreeMap, VecDeque};

/// The bytes of a connection at one end.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    outgoing: Vec<u8>,
    is_closing: bool,
    incoming: Vec<u8>,
    received: u64,
    has_ended: bool,
}

impl Stream {
    /// Appends bytes to what is to be sent. Nothing bounds it: a program that has much writes as
    /// [`unsent`](Self::unsent) falls.
    ///
    /// # Panics
    /// After [`close`](Self::close).
    pub fn write(&mut self, bytes: &[u8]) {
        assert!(!self.is_closing, "a program writes to a stream that it has closed");
        self.outgoing.extend_from_slice(bytes);
    }

    /// Ends the stream after what was written; reading remains possible.
    pub const fn close(&mut self) {
        self.is_closing = true;
    }

    /// Bytes written that have not begun to be sent.
    #[must_use]
    pub const fn unsent(&self) -> usize {
        self.outgoing.len()
    }

    /// Takes all bytes that have arrived in order since the last call.
    pub fn read(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.incoming)
    }

    /// Bytes that have arrived in order so far.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Whether the other end has closed, and all its bytes have arrived.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Messages under way, by stream offset. Each begins at a new segment; a segment counts as full.
pub(super) struct Outgoing {
    mss: u64,
    messages: VecDeque<(u64, Vec<u8>)>,
    /// One above the highest offset sent.
    sent: u64,
    has_closed: bool,
}

impl Outgoing {
    pub(super) const fn new(mss: u64) -> Self {
        Self { mss, messages: VecDeque::new(), sent: 0, has_closed: false }
    }

    pub(super) const fn mss(&self) -> u64 {
        self.mss
    }

    /// The length of the next message, if there is one and what was `written` to the sender has
    /// left.
    pub(super) fn next_message(&mut self, stream: &mut Stream, written: u64) -> Option<(u64, Ending)> {
        if self.sent < written || self.has_closed {
            return None;
        }
        if !stream.outgoing.is_empty() {
            let bytes = std::mem::take(&mut stream.outgoing);
            let len = bytes.len() as u64;
            self.messages.push_back((written, bytes));
            return Some((len, Ending::More));
        }
        if !stream.is_closing {
            return None;
        }
        // The end is a segment of its own, of one byte that carries no data.
        self.has_closed = true;
        self.messages.push_back((written, Vec::new()));
        Some((1, Ending::Fin))
    }

    /// The packet of a segment.
    pub(super) fn packet(&mut self, segment: Segment) -> Packet {
        let len = u64::from(segment.data_len());
        let mut bytes = Vec::new();
        if len > 0 {
            self.sent = self.sent.max(segment.number + self.mss);
            let message = self.messages.iter().rev().find(|(start, _)| *start <= segment.number);
            if let Some((start, message)) = message {
                let from = ((segment.number - start) as usize).min(message.len());
                let to = (from + len as usize).min(message.len());
                bytes.extend_from_slice(&message[from..to]);
            }
        }
        Packet { segment, bytes }
    }

    /// Forgets messages that the other end has.
    pub(super) fn acknowledged(&mut self, number: u64) {
        while self.messages.get(1).is_some_and(|(next, _)| *next <= number) {
            self.messages.pop_front();
        }
    }
}

/// Data that has arrived beyond a gap, by stream offset.
#[derive(Default)]
pub(super) struct Incoming {
    waiting: BTreeMap<u64, (Vec<u8>, bool)>,
    delivered: u64,
}

impl Incoming {
    pub(super) fn keep(&mut self, packet: &Packet) {
        let number = packet.segment.number;
        if packet.segment.data_len() > 0 && number >= self.delivered {
            let is_end = packet.bytes.is_empty();
            self.waiting.entry(number).or_insert_with(|| (packet.bytes.clone(), is_end));
        }
    }

    /// Everything below `number` has arrived.
    pub(super) fn deliver(&mut self, number: u64, stream: &mut Stream) {
        self.delivered = number;
        let later = self.waiting.split_off(&number);
        for (bytes, is_end) in std::mem::replace(&mut self.waiting, later).into_values() {
            stream.received += bytes.len() as u64;
            stream.incoming.extend(bytes);
            stream.has_ended |= is_end;
        }
    }
}
