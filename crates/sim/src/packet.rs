//! Packets: 56 bytes of metadata, no payload.

use crate::ids::{FlowId, Ticket};
use crate::spec::{HostNumber, SharedHost};
use goodqueue_aqm::{Endpoints, FlowHash, HostHash, Packet, PureAck, SackRange};
use goodqueue_base::units::{Bytes, Class, Ecn, Instant};
use goodqueue_tcp::{Flags, SackBlock, Segment};
use std::num::NonZeroU32;

/// The ECN codepoint and the class of a packet in one byte: the class in the upper three bits, the
/// codepoint in the lower two, as in an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DsField(u8);

impl DsField {
    pub(crate) const fn new(class: Class, ecn: Ecn) -> Self {
        Self(class.number() << 5 | ecn as u8)
    }
}

/// The host that a flow shares with other flows, in the bits of a [`FlowLabel`] beside the flow's
/// number; zero without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostMark(u32);

impl HostMark {
    const AT_SOURCE: u32 = 1 << 31;

    pub(crate) const fn of(host: Option<SharedHost>) -> Self {
        match host {
            None => Self(0),
            Some(SharedHost::Source(host)) => Self((host.get() as u32) << FlowLabel::BITS | Self::AT_SOURCE),
            Some(SharedHost::Sink(host)) => Self((host.get() as u32) << FlowLabel::BITS),
        }
    }

    /// Returns the mark of the same host for a flow in the opposite direction.
    pub(crate) const fn turned(self) -> Self {
        Self(self.0 ^ Self::AT_SOURCE)
    }
}

/// The flow of a packet and the host that this flow shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowLabel(u32);

impl FlowLabel {
    /// Enough for four generations of as many streams as timers can tell apart, and for the flows
    /// of a specification.
    const BITS: u32 = 24;
    const NUMBER: u32 = (1 << Self::BITS) - 1;

    #[inline]
    pub(crate) const fn new(flow: FlowId, host: HostMark) -> Self {
        debug_assert!(flow.get() <= Self::NUMBER);
        Self(flow.get() | host.0)
    }

    #[inline]
    pub(crate) const fn id(self) -> FlowId {
        FlowId::new(self.0 & Self::NUMBER)
    }

    /// The hosts at source and sink. A host of one flow has the flow's number, beyond those of
    /// shared hosts.
    const fn ends(self) -> (HostHash, HostHash) {
        let own = HostHash(self.id().get() + 1 + HostNumber::MAX as u32);
        match self.0 >> Self::BITS & HostNumber::MAX as u32 {
            0 => (own, own),
            host if self.0 & HostMark::AT_SOURCE != 0 => (HostHash(host), own),
            host => (own, HostHash(host)),
        }
    }
}

/// A packet. UDP packets use the segment's `number` and `timestamp` and no flags; answers of an
/// echo, which travel from sink to source, have the flags of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SimPacket {
    pub(crate) segment: Segment,
    pub(crate) flow: FlowLabel,
    /// IP length in bytes.
    pub(crate) ip_len: u16,
    pub(crate) ds: DsField,
    /// Hops of its route that lie behind it.
    pub(crate) hop: u8,
}

impl SimPacket {
    /// Fills places without a packet.
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
        flow: FlowLabel(0),
        ip_len: 0,
        ds: DsField(0),
        hop: 0,
    };

    /// Whether it travels from sink to source.
    #[inline]
    pub(crate) fn is_reverse(&self) -> bool {
        self.segment.flags.has(Flags::ACK)
    }

    /// The ticket of a packet of a host outside. Meaningless for packets of simulated hosts.
    ///
    /// It travels in the segment's delay field: a packet has no room for another field, and only
    /// simulated senders, which never see this packet, read that one.
    #[inline]
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        NonZeroU32::new(self.segment.delay).map(Ticket)
    }

    /// The segment of a host outside with its ticket; see [`ticket`](Self::ticket).
    pub(crate) const fn ticketed(segment: Segment, ticket: Ticket) -> Segment {
        Segment { delay: ticket.0.get(), ..segment }
    }
}

/// Tells flows apart in queues. The two directions of a flow differ, as a hash over addresses and
/// ports would.
#[inline]
pub(crate) const fn flow_hash(flow: FlowId, is_reverse: bool) -> FlowHash {
    FlowHash(flow.get() << 1 | is_reverse as u32)
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
        flow_hash(self.flow.id(), self.is_reverse())
    }
    #[inline]
    fn class(&self) -> Class {
        Class::new(self.ds.0 >> 5)
    }
    fn endpoints(&self) -> Endpoints {
        let (source, sink) = self.flow.ends();
        if self.is_reverse() { Endpoints { source: sink, destination: source } } else { Endpoints { source, destination: sink } }
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
    // The count of marked packets as the three bits of accurate ECN show it. It is kept on
    // connections with the classic echo, too.
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
            let flow = FlowLabel::new(FlowId::new(7), HostMark::of(shared));
            let segment = Segment { flags, ..Segment::default() };
            let ds = DsField::new(Class::DEFAULT, Ecn::NotEct);
            let packet = SimPacket { segment, flow, ip_len: 100, ds, hop: 0 };
            assert_eq!(packet.flow.id(), FlowId::new(7));
            let Endpoints { source, destination } = packet.endpoints();
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
        let mut packet = SimPacket {
            segment: Segment::default(),
            flow: FlowLabel::new(FlowId::new(0), HostMark::default()),
            ip_len: 100,
            ds,
            hop: 0,
        };
        assert_eq!((packet.class(), packet.ecn()), (Class::new(5), Ecn::Ect1));
        packet.set_ce();
        assert_eq!((packet.class(), packet.ecn()), (Class::new(5), Ecn::Ce));
    }
}
