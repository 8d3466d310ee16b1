//! What travels through the simulated network: 56 bytes of metadata, no payload.

use goodqueue_aqm::{FlowHash, Packet};
use goodqueue_tcp::{Flags, Segment};
use goodqueue_units::{Bytes, Class, Ecn};

/// The ECN codepoint and the class of a packet in one byte, the class in the upper three bits and the codepoint in the lower two,
/// as in an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DsField(u8);

impl DsField {
    pub(crate) const fn new(class: Class, ecn: Ecn) -> Self {
        Self(class.number() << 5 | ecn as u8)
    }
}

/// A packet. UDP packets use the segment's `number` and `timestamp` and no flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimPacket {
    pub(crate) segment: Segment,
    pub(crate) flow: u32,
    /// IP length in bytes.
    pub(crate) ip_len: u16,
    pub(crate) ds: DsField,
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

/// What queues tell flows apart by. Both directions of a flow differ, as a hash over addresses and ports would.
#[inline]
pub(crate) const fn flow_hash(flow: u32, is_reverse: bool) -> FlowHash {
    FlowHash(flow << 1 | is_reverse as u32)
}

impl Packet for SimPacket {
    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.ip_len))
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.ds.0)
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ds.0 |= Ecn::Ce as u8;
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        flow_hash(self.flow, self.is_reverse())
    }
    #[inline]
    fn class(&self) -> Class {
        Class::new(self.ds.0 >> 5)
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

    #[test]
    fn marking_keeps_the_class() {
        let ds = DsField::new(Class::new(5), Ecn::Ect1);
        let mut packet = SimPacket { segment: Segment::default(), flow: 0, ip_len: 100, ds, hop: 0 };
        assert_eq!((packet.class(), packet.ecn()), (Class::new(5), Ecn::Ect1));
        packet.set_ce();
        assert_eq!((packet.class(), packet.ecn()), (Class::new(5), Ecn::Ce));
    }
}
