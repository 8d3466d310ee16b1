//! What the queue holds of a frame: a record that points to its buffer.

use crate::frame::{self, Headers, Network};
use crate::pool::{Frame, Pool};
use crate::segments::Joined;
use goodqueue_aqm::{FlowHash, Packet};
use goodqueue_units::{Bytes, Class, Ecn};

/// A frame in a buffer, as the queue sees it. The buffer itself is written once, when the packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivePacket {
    /// Counts the packets that arrived at this queue, from zero.
    pub number: u64,
    /// Where its bytes are.
    pub frame: Frame,
    headers: Headers,
    marked: bool,
}

impl LivePacket {
    /// The packet in `frame`.
    #[must_use]
    pub const fn new(number: u64, frame: Frame, headers: Headers) -> Self {
        Self { number, frame, headers, marked: false }
    }

    /// The segment `index` of the joined frame in `whole`, whose headers are `headers`.
    #[must_use]
    pub fn segment(number: u64, whole: Frame, headers: Headers, joined: &Joined, index: u32) -> Self {
        let len = joined.len_of(index, whole.len);
        let ip = Bytes::new(u64::from(joined.ip_headers() + len - u32::from(joined.payload)));
        // A frame has at most 65,535 bytes and a segment at least 48, so the index fits.
        let frame = Frame { slot: whole.slot, len, segment: index as u16, marked: false };
        Self { number, frame, headers: Headers { len: ip, ..headers }, marked: false }
    }

    /// Writes a mark into the frame; of a segment, beside it, since its buffer is shared.
    #[inline]
    pub fn carry_out(&mut self, pool: &mut Pool) {
        if self.marked {
            if pool.joined(self.frame.slot).is_some() {
                self.frame.marked = true;
            } else {
                frame::set_ce(pool.frame_mut(self.frame), self.headers.network);
            }
        }
    }

    /// Is it no IP packet, so that nothing but its length is known?
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.headers.network == Network::Other
    }
}

impl Packet for LivePacket {
    #[inline]
    fn len(&self) -> Bytes {
        self.headers.len
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.headers.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.marked |= self.headers.ecn != Ecn::Ce;
        self.headers.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        self.headers.flow
    }
    #[inline]
    fn class(&self) -> Class {
        self.headers.class
    }
}
