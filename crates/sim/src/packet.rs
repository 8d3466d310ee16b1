//! What travels through the simulated network: 56 bytes of metadata, no payload.

use crate::spec::{HostNumber, SharedHost};
use goodqueue_aqm::{FlowHash, HostHash, Hosts, Packet, PureAck, SackRange};
use goodqueue_tcp::{Flags, SackBlock, Segment};
use goodqueue_units::{Bytes, Class, Ecn, Instant};

/// The ECN codepoint and the class of a packet in one byte, the class in the upper three bits and the codepoint in the lower two,
/// as in an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DsField(u8);

impl DsField {
    pub(crate) const fn new(class: Class, ecn: Ecn) -> Self {
        Self(class.number() << 5 | ecn as u8)
    }
}

/// Which host a flow shares with others, in the bits beside its number: none when zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostMark(u32);

impl HostMark {
    const AT_SOURCE: u32 = 1 << 31;

    pub(crate) const fn of(host: Option<SharedHost>) -> Self {
        match host {
            None => Self(0),
            Some(SharedHost::Source(host)) => Self((host.get() as u32) << FlowId::BITS | Self::AT_SOURCE),
            Some(SharedHost::Sink(host)) => Self((host.get() as u32) << FlowId::BITS),
        }
    }

    /// The same host for a flow that goes the other way.
    pub(crate) const fn turned(self) -> Self {
        Self(self.0 ^ Self::AT_SOURCE)
    }
}

/// Which flow a packet belongs to, by its number among the routes, and which host that flow shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowId(u32);

impl FlowId {
    /// Four generations of as many streams as timers can tell apart, and the flows of a specification.
    const BITS: u32 = 24;
    const NUMBER: u32 = (1 << Self::BITS) - 1;

    #[inline]
    pub(crate) const fn new(number: u32, host: HostMark) -> Self {
        debug_assert!(number <= Self::NUMBER);
        Self(number | host.0)
    }

    #[inline]
    pub(crate) const fn number(self) -> u32 {
        self.0 & Self::NUMBER
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.number() as usize
    }

    /// The hosts at source and sink. One that is not shared has the flow's number, beyond those of shared ones.
    const fn ends(self) -> (HostHash, HostHash) {
        let own = HostHash(self.number() + 1 + HostNumber::MOST as u32);
        match self.0 >> Self::BITS & HostNumber::MOST as u32 {
            0 => (own, own),
            host if self.0 & HostMark::AT_SOURCE != 0 => (HostHash(host), own),
            host => (own, HostHash(host)),
        }
    }
}

/// A packet. UDP packets use the segment's `number` and `timestamp` and no flags, but for answers, which travel from sink to source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimPacket {
    pub(crate) segment: Segment,
    pub(crate) flow: FlowId,
    /// IP length in bytes.
    pub(crate) ip_len: u16,
    pub(crate) ds: DsField,
    /// How many links of its route lie behind it.
    pub(crate) hop: u8,
}

impl SimPacket {
    /// Stands where there is no packet.
    pub(crate) const NONE: Self = Self {
        segment: Segment {
            number: 0,
            timestamp: Instant::ZERO,
            sack: [SackBlock { offset: 0, len: 0 }; 3],
            delay: 0,
            payload: 0,
            flags: Flags(0),
            ce: 0,
        },
        flow: FlowId(0),
        ip_len: 0,
        ds: DsField(0),
        hop: 0,
    };

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
        flow_hash(self.flow.number(), self.is_reverse())
    }
    #[inline]
    fn class(&self) -> Class {
        Class::new(self.ds.0 >> 5)
    }
    fn hosts(&self) -> Hosts {
        let (source, sink) = self.flow.ends();
        if self.is_reverse() { Hosts { source: sink, destination: source } } else { Hosts { source, destination: sink } }
    }
    fn pure_ack(&self) -> Option<PureAck> {
        let segment = &self.segment;
        let only_acks = segment.data_len() == 0 && !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::FIN);
        (only_acks && segment.flags.has(Flags::ACK)).then(|| pure_ack(segment))
    }
}

#[cold]
fn pure_ack(segment: &Segment) -> PureAck {
    let mut sack = [SackRange::default(); 3];
    for (place, (range, block)) in sack.iter_mut().zip(segment.blocks()).enumerate() {
        let offset = u64::from(block.offset);
        let is_below = place == 0 && segment.flags.has(Flags::DSACK);
        let start = if is_below { segment.number.saturating_sub(offset) } else { segment.number + offset };
        *range = SackRange { start, end: start + u64::from(block.len) };
    }
    // The count of marked packets as the three bits of accurate ECN show it. Connections with the classic echo only count, too.
    let [ece, cwr] = [Flags::ECE, Flags::CWR].map(|flag| u8::from(segment.flags.has(flag)));
    let echo = segment.ce << 2 & 0b1_1100 | ece << 1 | cwr;
    PureAck { number: segment.number, echoed: segment.timestamp, echo, sack }
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
    fn hosts_follow_the_direction() {
        let host = HostNumber::new(127).expect("in range");
        let with = |shared: Option<SharedHost>, flags| {
            let flow = FlowId::new(7, HostMark::of(shared));
            let segment = Segment { flags, ..Segment::default() };
            let ds = DsField::new(Class::DEFAULT, Ecn::NotEct);
            let packet = SimPacket { segment, flow, ip_len: 100, ds, hop: 0 };
            assert_eq!(packet.flow.number(), 7);
            let Hosts { source, destination } = packet.hosts();
            (source.0, destination.0)
        };
        assert_eq!(with(None, Flags::default()), (135, 135));
        assert_eq!(with(Some(SharedHost::Sink(host)), Flags::default()), (135, 127));
        assert_eq!(with(Some(SharedHost::Sink(host)), Flags::ACK), (127, 135));
        assert_eq!(with(Some(SharedHost::Source(host)), Flags::default()), (127, 135));
        assert_eq!(with(Some(SharedHost::Source(host)), Flags::ACK), (135, 127));
    }

    #[test]
    fn pure_acknowledgements_show_what_they_say() {
        let sack = [SackBlock { offset: 1000, len: 500 }, SackBlock { offset: 4000, len: 100 }, SackBlock::default()];
        let segment = Segment { number: 5000, sack, flags: Flags::ACK.with(Flags::ECE), ce: 9, ..Segment::default() };
        let ack = pure_ack(&segment);
        assert_eq!((ack.number, ack.echo), (5000, 0b0_0110));
        assert_eq!(ack.sack.map(|range| (range.start, range.end)), [(6000, 6500), (9000, 9100), (0, 0)]);
        let doubled = Segment { flags: Flags::ACK.with(Flags::DSACK), ..segment };
        assert_eq!(pure_ack(&doubled).sack[0].start, 4000);
    }

    #[test]
    fn marking_keeps_the_class() {
        let ds = DsField::new(Class::new(5), Ecn::Ect1);
        let mut packet =
            SimPacket { segment: Segment::default(), flow: FlowId::new(0, HostMark::default()), ip_len: 100, ds, hop: 0 };
        assert_eq!((packet.class(), packet.ecn()), (Class::new(5), Ecn::Ect1));
        packet.set_ce();
        assert_eq!((packet.class(), packet.ecn()), (Class::new(5), Ecn::Ce));
    }
}
