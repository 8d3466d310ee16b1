//! What travels between a sender and a receiver.

use goodqueue_units::Instant;

/// A run of received bytes above the cumulative acknowledgement (RFC 2018), relative to it so that it stays small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte of the block, counted from the segment's `number`; DSACK blocks below it use [`Flags::DSACK`].
    pub offset: u32,
    /// Bytes in the block.
    pub len: u32,
}

/// Header flags and the direction of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Opens a connection.
    pub const SYN: Self = Self(1);
    /// Carries an acknowledgement and no data: travels from receiver to sender.
    pub const ACK: Self = Self(2);
    /// Last data of the stream.
    pub const FIN: Self = Self(4);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(8);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(16);
    /// The first SACK block reports a duplicate (RFC 2883): its offset is the distance of its start *below* `number`.
    pub const DSACK: Self = Self(32);

    /// Are all flags of `other` set?
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A TCP segment as the simulator carries it: 48 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Data: offset of its first byte. Acknowledgement: the next byte expected.
    pub number: u64,
    /// Data: when it was sent (timestamp option, RFC 7323). Acknowledgement: the timestamp it echoes.
    pub timestamp: Instant,
    /// Acknowledgement: blocks received above `number`, most recent first.
    pub sack: [SackBlock; 3],
    /// Data bytes carried.
    pub payload: u32,
    /// Flags.
    pub flags: Flags,
    /// How many of `sack` are in use.
    pub sack_blocks: u8,
}
