//! Routes of flows and what stands on them.

use crate::ids::{FlowId, GroupId, HopId, Id, LaneId, LinkId, OutsideId, SessionId, TcpId, UdpId, WireId};
use crate::packet::HostMark;
use goodqueue_base::units::Class;

/// The element at a place of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    /// A link with a queue.
    Link(LinkId),
    /// A wire that several elements feed.
    Wire(WireId),
    /// A wire that one other element feeds: a packet's exit time from it is known when the packet
    /// leaves that element.
    FusedWire(WireId),
}

impl Element {
    pub(super) const fn link(self) -> Option<LinkId> {
        if let Self::Link(link) = self { Some(link) } else { None }
    }

    /// The wire, fused or not.
    pub(super) const fn wire(self) -> Option<WireId> {
        match self {
            Self::Wire(wire) | Self::FusedWire(wire) => Some(wire),
            Self::Link(_) => None,
        }
    }
}

/// An [`Element`] in four bytes: routes of ten thousand flows are read from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PackedElement(u32);

impl PackedElement {
    const WIRE: u32 = 1 << 31;
    const FUSED: u32 = 1 << 30;
    const NUMBER: u32 = Self::FUSED - 1;

    const fn new(element: Element) -> Self {
        Self(match element {
            Element::Link(link) => link.get(),
            Element::Wire(wire) => wire.get() | Self::WIRE,
            Element::FusedWire(wire) => wire.get() | Self::WIRE | Self::FUSED,
        })
    }

    #[inline(always)]
    const fn get(self) -> Element {
        let number = self.0 & Self::NUMBER;
        if self.0 & Self::WIRE == 0 {
            Element::Link(LinkId::new(self.0))
        } else if self.0 & Self::FUSED == 0 {
            Element::Wire(WireId::new(number))
        } else {
            Element::FusedWire(WireId::new(number))
        }
    }

    #[inline(always)]
    const fn wire(self) -> Option<WireId> {
        if self.0 & Self::WIRE == 0 { None } else { Some(WireId::new(self.0 & Self::NUMBER)) }
    }
}

/// One place on a route: an element, and the lane that carries packets away from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    element: PackedElement,
    pub(super) lane: LaneId,
    /// The next place is a fused wire.
    pub(super) joined: bool,
}

impl Hop {
    pub(super) const fn new(element: Element, lane: LaneId) -> Self {
        Self { element: PackedElement::new(element), lane, joined: false }
    }

    #[inline(always)]
    pub(super) const fn element(self) -> Element {
        self.element.get()
    }

    /// The wire of this place, fused or not; `None` for a link.
    #[inline(always)]
    pub(super) const fn wire(self) -> Option<WireId> {
        self.element.wire()
    }

    pub(super) const fn set_element(&mut self, element: Element) {
        self.element = PackedElement::new(element);
    }
}

/// The ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowEnd {
    /// A TCP connection.
    Tcp(TcpId),
    /// One direction of a session's channel: TCP connections, one after another.
    Stream(TcpId),
    /// A UDP source.
    Udp(UdpId),
    /// A UDP source whose sink sends everything back.
    Echo(UdpId),
    /// Transfers over connections that come and go. Its packets belong to streams, whose flows have
    /// numbers after those of the specification.
    Session(SessionId),
    /// A TCP connection whose ends are outside of the world.
    Outside(OutsideId),
}

impl FlowEnd {
    /// The simulated ends of a TCP connection.
    #[inline(always)]
    pub(super) const fn tcp(self) -> Option<TcpId> {
        match self {
            Self::Tcp(tcp) | Self::Stream(tcp) => Some(tcp),
            _ => None,
        }
    }

    /// Whether it belongs to a flow of the specification rather than to a session's channel.
    pub(super) const fn is_listed(self) -> bool {
        !matches!(self, Self::Stream(_))
    }
}

/// The direction in which a packet travels along its flow's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathHalf {
    /// The direction from source to sink.
    Forward,
    /// The direction from sink to source.
    Reverse,
}

impl PathHalf {
    pub(super) const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    #[inline(always)]
    pub(super) const fn of(is_reverse: bool) -> Self {
        if is_reverse { Self::Reverse } else { Self::Forward }
    }
}

/// The hops of a flow's packets, and the ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// First hop of the forward direction; the hops of the reverse direction follow.
    pub(super) hops: HopId,
    pub(super) end: FlowEnd,
    /// TCP and IP header bytes.
    pub(super) header: u16,
    pub(super) class: Class,
    pub(super) mark: HostMark,
    pub(super) group: GroupId,
    pub(super) forward: u8,
    pub(super) reverse: u8,
}

/// Keeps routes small: one is read per packet.
const _: () = assert!(size_of::<Route>() <= 28);

impl Route {
    /// First hop and number of hops of one direction.
    #[inline]
    pub(super) fn hops(&self, heading: PathHalf) -> (HopId, u8) {
        match heading {
            PathHalf::Forward => (self.hops, self.forward),
            PathHalf::Reverse => (self.hop(PathHalf::Reverse, 0), self.reverse),
        }
    }

    /// All hops of one direction.
    pub(super) fn hop_ids(&self, heading: PathHalf) -> impl DoubleEndedIterator<Item = HopId> + use<> {
        let (first, count) = self.hops(heading);
        hop_ids(first, usize::from(count))
    }

    /// The hop after `behind` others in one direction.
    #[inline(always)]
    pub(super) fn hop(&self, heading: PathHalf, behind: u8) -> HopId {
        let skipped = if heading == PathHalf::Reverse { u32::from(self.forward) } else { 0 };
        HopId::new(self.hops.get() + skipped + u32::from(behind))
    }
}

/// `count` hops from `first` on.
pub(super) fn hop_ids(first: HopId, count: usize) -> impl DoubleEndedIterator<Item = HopId> + use<> {
    (first.index()..first.index() + count).map(HopId::at)
}

/// The flow `number` places after this one.
pub(super) const fn flow_after(flow: FlowId, number: u32) -> FlowId {
    FlowId::new(flow.get() + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_survive_packing() {
        let largest = PackedElement::NUMBER;
        for number in [0, 7, largest] {
            let (link, wire) = (LinkId::new(number), WireId::new(number));
            for element in [Element::Link(link), Element::Wire(wire), Element::FusedWire(wire)] {
                let packed = PackedElement::new(element);
                assert_eq!((packed.get(), packed.wire()), (element, element.wire()));
            }
        }
    }
}
