//! The queue's record of a frame, which points to its buffer.

use crate::frame::{self, Headers, Network};
use crate::pool::{Frame, Pool, Slot};
use crate::segments::Joined;
use goodqueue_aqm::{FlowHash, Packet};
use goodqueue_base::units::{Bytes, Class, Ecn};

/// A frame in a buffer, as the queue sees it. The buffer itself is written once, when the packet
/// leaves.
///
/// In two words, which travel in two registers: a queue copies packets several times, and what was
/// written to memory in small pieces waits when it is read in large ones. The first word has the
/// buffer and the flow (32 bits each), the second everything small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivePacket(u64, u64);

/// A part of the second word: its lowest bit, and how many there are.
struct Field(u32, u32);

impl Field {
    /// The IP length; no buffer holds a longer frame.
    const LEN: Self = Self(0, 17);
    /// Length of the frame.
    const FRAME_LEN: Self = Self(17, 17);
    /// Index of the segment within a joined frame.
    const SEGMENT: Self = Self(34, 11);
    const ECN: Self = Self(45, 2);
    const CLASS: Self = Self(47, 3);
    /// The queue has set CE.
    const MARKED: Self = Self(50, 1);
    /// Version of the IP header, zero without one.
    const VERSION: Self = Self(51, 3);
    /// Offset of the IP header: behind the link header, at most three tags and a session.
    const NETWORK: Self = Self(54, 6);

    const fn mask(&self) -> u64 {
        (1 << self.1) - 1
    }

    #[inline]
    const fn put(&self, value: u64) -> u64 {
        debug_assert!(value <= self.mask(), "the part has room for the value");
        value << self.0
    }

    #[inline]
    const fn of(&self, word: u64) -> u64 {
        word >> self.0 & self.mask()
    }
}

impl LivePacket {
    /// The packet in `frame`.
    #[inline]
    #[must_use]
    pub fn new(frame: Frame, headers: &Headers) -> Self {
        let (version, network) = match headers.network {
            Network::V4(at) => (4, at),
            Network::V6(at) => (6, at),
            Network::Other => (0, 0),
        };
        let rest = Field::LEN.put(headers.len.get())
            | Field::FRAME_LEN.put(u64::from(frame.len))
            | Field::SEGMENT.put(u64::from(frame.segment))
            | Field::ECN.put(headers.ecn as u64)
            | Field::CLASS.put(u64::from(headers.class.number()))
            | Field::VERSION.put(version)
            | Field::NETWORK.put(u64::from(network));
        Self(u64::from(frame.slot) << 32 | u64::from(headers.flow.0), rest)
    }

    /// The segment `index` of the joined frame in `whole`, whose headers are `headers`.
    #[must_use]
    pub fn segment(whole: Frame, headers: &Headers, joined: &Joined, index: u32) -> Self {
        let len = joined.len_of(index, whole.len);
        // A frame has at most 65,535 bytes and a segment at least 48, so the index fits.
        let frame = Frame { slot: whole.slot, len, segment: index as u16, marked: false };
        let ip = Bytes::new(u64::from(joined.ip_headers() + len - u32::from(joined.payload)));
        Self::new(frame, &Headers { len: ip, ..*headers })
    }

    const fn slot(&self) -> Slot {
        (self.0 >> 32) as Slot
    }

    /// Returns the place of the packet's bytes.
    #[inline]
    #[must_use]
    pub const fn frame(&self) -> Frame {
        let (len, segment) = (Field::FRAME_LEN.of(self.1) as u32, Field::SEGMENT.of(self.1) as u16);
        Frame { slot: self.slot(), len, segment, marked: false }
    }

    /// The frame, with a mark written into it; of a segment, next to it, since its buffer is
    /// shared.
    #[inline(always)]
    pub fn carry_out(&self, pool: &mut Pool) -> Frame {
        let marked = Field::MARKED.of(self.1) != 0 && self.write_mark(pool);
        Frame { marked, ..self.frame() }
    }

    /// Sets CE in the buffer of a whole frame. Returns true for a segment, which is marked when it
    /// is sent.
    #[cold]
    fn write_mark(&self, pool: &mut Pool) -> bool {
        let is_segment = pool.joined(self.slot()).is_some();
        if !is_segment {
            frame::set_ce(pool.frame_mut(self.frame()), self.network());
        }
        is_segment
    }

    const fn network(&self) -> Network {
        let at = Field::NETWORK.of(self.1) as u16;
        match Field::VERSION.of(self.1) {
            4 => Network::V4(at),
            6 => Network::V6(at),
            _ => Network::Other,
        }
    }

    /// True if it is no IP packet, of which only the length is known.
    #[inline]
    #[must_use]
    pub const fn is_opaque(&self) -> bool {
        Field::VERSION.of(self.1) == 0
    }
}

impl Packet for LivePacket {
    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(Field::LEN.of(self.1))
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(Field::ECN.of(self.1) as u8)
    }
    #[inline]
    fn set_ce(&mut self) {
        if self.ecn() != Ecn::Ce {
            self.1 |= Field::ECN.put(Ecn::Ce as u64) | Field::MARKED.put(1);
        }
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        FlowHash(self.0 as u32)
    }
    #[inline]
    fn class(&self) -> Class {
        Class::new(Field::CLASS.of(self.1) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_comes_back_also_the_largest() {
        let frame = Frame { slot: u32::MAX, len: 65_567, segment: 1365, marked: false };
        for (network, ecn, opaque) in
            [(Network::V4(34), Ecn::Ect0, false), (Network::V6(14), Ecn::Ect1, false), (Network::Other, Ecn::NotEct, true)]
        {
            let (len, class, flow) = (Bytes::new(65_553), Class::new(7), FlowHash(u32::MAX - 1));
            let mut packet = LivePacket::new(frame, &Headers { network, len, ecn, class, flow });
            assert_eq!((packet.frame(), packet.network(), packet.is_opaque()), (frame, network, opaque));
            assert_eq!((packet.len(), packet.ecn(), packet.class(), packet.flow()), (len, ecn, class, flow));
            assert_eq!(Field::MARKED.of(packet.1), 0);
            packet.set_ce();
            assert_eq!((packet.ecn(), packet.len(), packet.class(), packet.frame()), (Ecn::Ce, len, class, frame));
            assert_eq!(Field::MARKED.of(packet.1), 1);
        }
    }

    #[test]
    fn what_came_marked_was_not_marked_here() {
        let headers =
            Headers { network: Network::V4(14), len: Bytes::new(40), ecn: Ecn::Ce, class: Class::DEFAULT, flow: FlowHash(1) };
        let mut packet = LivePacket::new(Frame::whole(0, 54), &headers);
        packet.set_ce();
        assert_eq!(Field::MARKED.of(packet.1), 0);
    }
}
