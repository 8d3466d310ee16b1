//! What the queue holds of a frame: a record that points to its buffer.

use crate::frame::{self, Headers, Network};
use crate::pool::{Frame, Pool};
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

    /// Writes a mark into the frame.
    #[inline]
    pub fn carry_out(&self, pool: &mut Pool) {
        if self.marked {
            frame::set_ce(pool.frame_mut(self.frame), self.headers.network);
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
