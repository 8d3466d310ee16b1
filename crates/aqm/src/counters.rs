//! Counters of arrivals, departures, drops and marks, and the identities between them.

use crate::aqm::{QueueView, Reason};
use goodqueue_base::units::{Bytes, Ecn, Packets};

/// Packets and bytes of one kind of event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of packets.
    pub packets: Packets,
    /// Bytes of these packets, framing not counted.
    pub bytes: Bytes,
}

impl Tally {
    /// Counts one packet.
    #[inline]
    pub fn add(&mut self, len: Bytes) {
        // Far from what 64 bits hold: plain sums, which are on every packet's way three times.
        self.packets = Packets::new(self.packets.get() + 1);
        self.bytes = Bytes::new(self.bytes.get() + len.get());
    }

    /// The difference to an earlier reading of the same tally.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self { packets: self.packets - earlier.packets, bytes: self.bytes - earlier.bytes }
    }
}

impl core::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// Counters of a queue or of a scheduler over all its queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// OfferedPacket to the queue, dropped ones included.
    pub arrived: Tally,
    /// Handed to the link.
    pub departed: Tally,
    /// CE newly set.
    pub marked: Tally,
    /// OfferedPacket packets that were ECN-capable.
    pub arrived_ect: Tally,
    dropped: [Tally; Reason::ALL.len()],
}

impl core::ops::Add for Counters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            arrived: self.arrived + other.arrived,
            departed: self.departed + other.departed,
            marked: self.marked + other.marked,
            arrived_ect: self.arrived_ect + other.arrived_ect,
            dropped: core::array::from_fn(|i| self.dropped[i] + other.dropped[i]),
        }
    }
}

impl Counters {
    /// Dropped for `reason`.
    #[must_use]
    pub const fn dropped(&self, reason: Reason) -> Tally {
        self.dropped[reason as usize]
    }

    /// Counts an offered packet.
    #[inline]
    pub fn arrive(&mut self, len: Bytes, ecn: Ecn) {
        self.arrived.add(len);
        if ecn.is_capable() {
            self.arrived_ect.add(len);
        }
    }

    /// Counts a drop.
    #[inline]
    pub fn drop_for(&mut self, reason: Reason, len: Bytes) {
        self.dropped[reason as usize].add(len);
    }

    /// Dropped for want of room.
    #[must_use]
    pub fn overflow(&self) -> Tally {
        self.sum(Reason::is_overflow)
    }

    /// Dropped by an algorithm's decision.
    #[must_use]
    pub fn early(&self) -> Tally {
        self.sum(|r| !r.is_overflow())
    }

    /// Dropped for any reason.
    #[must_use]
    pub fn dropped_total(&self) -> Tally {
        self.sum(|_| true)
    }

    fn sum(&self, wanted: impl Fn(Reason) -> bool) -> Tally {
        Reason::ALL.into_iter().filter(|&r| wanted(r)).map(|r| self.dropped(r)).fold(Tally::default(), |a, b| a + b)
    }

    /// The differences to an earlier reading of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            arrived: self.arrived.since(&earlier.arrived),
            departed: self.departed.since(&earlier.departed),
            marked: self.marked.since(&earlier.marked),
            arrived_ect: self.arrived_ect.since(&earlier.arrived_ect),
            dropped: core::array::from_fn(|i| self.dropped[i].since(&earlier.dropped[i])),
        }
    }

    /// True if arrived = departed + dropped + waiting, in packets and in bytes.
    #[must_use]
    pub fn conserves(&self, waiting: QueueView) -> bool {
        let out = self.departed + self.dropped_total();
        self.arrived.packets == out.packets + waiting.packets && self.arrived.bytes == out.bytes + waiting.backlog
    }
}
