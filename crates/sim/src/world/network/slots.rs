//! The slots of the agenda.

use crate::ids::{Id, LaneId, LinkId, SlotId};

/// The slots of the agenda.
///
/// Their order decides what comes first at one instant: timers of ends and control events, queues'
/// own timers, transmitters that become free, and packets that arrive.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Slots {
    services: usize,
    lanes: usize,
}

/// The purpose of a slot of the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Slot {
    /// The earliest timer of an end or control event.
    Timers,
    QueueTimer(LinkId),
    Service(LinkId),
    Lane(LaneId),
}

impl Slots {
    pub(super) const TIMERS: SlotId = SlotId::new(0);
    const QUEUE_TIMERS: usize = 1;

    pub(in crate::world) const fn new(links: usize) -> Self {
        Self { services: Self::QUEUE_TIMERS + links, lanes: Self::QUEUE_TIMERS + 2 * links }
    }

    #[inline]
    pub(super) const fn queue_timer(self, link: LinkId) -> SlotId {
        SlotId::new(Self::QUEUE_TIMERS + link.get() as usize)
    }

    #[inline]
    pub(super) const fn service(self, link: LinkId) -> SlotId {
        SlotId::new(self.services + link.get() as usize)
    }

    #[inline]
    pub(in crate::world) const fn lane(self, lane: LaneId) -> SlotId {
        SlotId::new(self.lanes + lane.get() as usize)
    }

    #[inline(always)]
    pub(in crate::world) fn get(self, slot: SlotId) -> Slot {
        let number = slot.get();
        if number >= self.lanes {
            Slot::Lane(LaneId::at(number - self.lanes))
        } else if slot == Self::TIMERS {
            Slot::Timers
        } else if number >= self.services {
            Slot::Service(LinkId::at(number - self.services))
        } else {
            Slot::QueueTimer(LinkId::at(number - Self::QUEUE_TIMERS))
        }
    }
}
