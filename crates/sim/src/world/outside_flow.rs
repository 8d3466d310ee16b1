//! The network's view of flows whose ends are outside.

use crate::ids::Ticket;
use crate::losses::Numbering;
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::{Flags, Segment};
use std::collections::VecDeque;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet has reached the other end, with this codepoint.
    Arrived {
        /// The packet.
        ticket: Ticket,
        /// Whether it travels from sink to source.
        is_reverse: bool,
        /// The packet's codepoint on arrival.
        ecn: Ecn,
    },
    /// A queue has dropped it, or a wire lost it.
    Lost {
        /// The packet.
        ticket: Ticket,
    },
}

/// Data under way, from which a flow's round-trip times are taken.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    sent_at: Instant,
    /// Sent more than once: an acknowledgement does not tell which copy it is for.
    ambiguous: bool,
    /// Selectively acknowledged.
    reported: bool,
}

/// The network's knowledge of the packets of a flow whose ends are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// TCP segments, of which it takes goodput, round-trip times and retransmissions.
    Segments,
    /// Datagrams, of which it knows the size only.
    Datagrams,
}

impl Content {
    pub(super) const fn numbering(self) -> Numbering {
        match self {
            Self::Segments => Numbering::Bytes,
            Self::Datagrams => Numbering::Packets,
        }
    }
}

/// The network's view of one flow.
#[derive(Clone, Debug)]
pub(super) struct OutsideFlow {
    pub(super) content: Content,
    /// One above the last byte sent.
    highest: u64,
    /// Bytes that the sink has acknowledged.
    pub(super) delivered_bytes: u64,
    pub(super) sent: u64,
    pub(super) retransmitted: u64,
    /// Size of a limited transfer.
    pub(super) size: Option<u64>,
    under_way: VecDeque<Timed>,
    /// Numbers of datagrams, by direction.
    datagrams: [u64; 2],
    /// Whether its owner reports the bytes it has delivered, so that bytes of datagrams do not
    /// count.
    pub(super) is_reported: bool,
}

impl OutsideFlow {
    pub(super) const fn new(content: Content, size: Option<u64>) -> Self {
        Self {
            content,
            highest: 0,
            delivered_bytes: 0,
            sent: 0,
            retransmitted: 0,
            size,
            under_way: VecDeque::new(),
            datagrams: [0; 2],
            is_reported: false,
        }
    }

    /// Takes a segment that one end sends.
    pub(super) fn take(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::ACK) {
            self.delivered_bytes = self.delivered_bytes.max(segment.number.min(self.highest));
        } else {
            self.take_data(now, segment);
        }
    }

    /// The next datagram that one end sends.
    pub(super) fn datagram(&mut self, now: Instant, is_reverse: bool) -> Segment {
        let number = &mut self.datagrams[usize::from(is_reverse)];
        let segment = Segment {
            number: *number,
            timestamp: now,
            // With FIN no queue takes a datagram on the way back for an acknowledgement that the
            // next one makes superfluous.
            flags: if is_reverse { Flags::ACK.with(Flags::FIN) } else { Flags::default() },
            ..Segment::default()
        };
        *number += 1;
        self.sent += u64::from(!is_reverse);
        segment
    }

    fn take_data(&mut self, now: Instant, segment: &Segment) {
        if segment.data_len() == 0 {
            return;
        }
        let end = segment.number + u64::from(segment.payload);
        self.sent += 1;
        if segment.number >= self.highest {
            self.under_way.push_back(Timed { end, sent_at: now, ambiguous: false, reported: false });
            self.highest = end;
            return;
        }
        self.retransmitted += 1;
        self.highest = self.highest.max(end);
        let again = self.under_way.partition_point(|data| data.end <= segment.number);
        self.under_way.range_mut(again..).take_while(|data| data.end <= end).for_each(|data| data.ambiguous = true);
    }

    /// Takes an acknowledgement that has reached the sender. Returns the round-trip time that it
    /// can measure: of the segment sent last of those newly reported, else of those acknowledged.
    pub(super) fn acknowledged(&mut self, now: Instant, ack: &Segment) -> Option<Duration> {
        let reported = self.newly_reported(ack);
        let (mut last, mut ambiguous) = (None, false);
        while let Some(data) = self.under_way.front().filter(|data| data.end <= ack.number) {
            if !data.reported {
                last = Some(data.sent_at);
                ambiguous |= data.ambiguous;
            }
            self.under_way.pop_front();
        }
        reported.or(last.filter(|_| !ambiguous)).map(|sent_at| now.since(sent_at))
    }

    /// Marks what an acknowledgement reports beyond gaps. Returns when the last of it was sent, of
    /// what was sent once. A block grows at its end, so what is new there counts.
    fn newly_reported(&mut self, ack: &Segment) -> Option<Instant> {
        let mut last = None;
        for block in ack.received() {
            let first = self.under_way.partition_point(|data| data.end <= block.start);
            let past = self.under_way.partition_point(|data| data.end <= block.end);
            for data in self.under_way.range_mut(first..past).rev().take_while(|data| !data.reported) {
                data.reported = true;
                last = last.max((!data.ambiguous).then_some(data.sent_at));
            }
        }
        last
    }
}
