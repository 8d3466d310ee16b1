//! What travels through the simulated network: 56 bytes of metadata, no payload.

use goodqueue_aqm::{FlowHash, Packet};
use goodqueue_tcp::{Flags, Segment};
use goodqueue_units::{Bytes, Ecn};

/// A packet. UDP packets use the segment's `number` and `timestamp` and no flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimPacket {
    pub(crate) segment: Segment,
    pub(crate) flow: u32,
    /// IP length in bytes.
    pub(crate) ip_len: u16,
    pub(crate) ecn: Ecn,
    /// How many links of its route lie behind it.
    pub(crate) hop: u8,
}

impl SimPacket {
    /// Travels from sink to source?
    #[inline]
    pub(crate) fn is_reverse(&self) -> bool {
        self.segment.flags.has(Flags::ACK)
    }
}

impl Packet for SimPacket {
    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.ip_len))
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        // Both directions of a flow are told apart, as a hash over addresses and ports would.
        FlowHash(self.flow << 1 | u32::from(self.is_reverse()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_its_arrival_time_fill_one_cache_line() {
        assert_eq!(size_of::<SimPacket>(), 56);
        assert_eq!(size_of::<(u64, SimPacket)>(), 64);
    }
}
