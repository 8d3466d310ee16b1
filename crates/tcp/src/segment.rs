//! Segments: what travels between a sender and a receiver.

use core::ops::Range;
use goodqueue_base::units::{Duration, Instant};

/// A run of received bytes above the cumulative acknowledgement (RFC 2018), relative to it so that
/// the numbers stay small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte of the block, counted from the segment's `number`; DSACK blocks below it use
    /// [`Flags::DSACK`].
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
    /// The first SACK block reports a duplicate (RFC 2883) of data below `number`. Its offset is
    /// the distance of its start *below* `number`. A duplicate of data above has no flag: its block
    /// lies within the second one.
    pub const DSACK: Self = Self(32);
    /// In a SYN: requests a count of marked packets, [`Segment::ce`]; in the answer: grants it (RFC
    /// 9768's AE flag).
    pub const AE: Self = Self(64);
    /// In a SYN: requests that `ECE` mirrors each packet's mark (RFC 8257 §3.2). Real hosts have no
    /// such bit: both ends of a DCTCP connection are configured alike.
    pub const MIRROR: Self = Self(128);
    /// In data: a write of the sending application ends here, or the application waits for room.
    pub const PSH: Self = Self(128);

    /// Whether all flags of `other` are set.
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

    /// AE, CWR and ECE as the three bits of a header
    /// ([`TcpFlags::ace`](crate::wire::TcpFlags::ace)).
    #[must_use]
    pub const fn ace(self) -> u8 {
        (self.has(Self::AE) as u8) << 2 | (self.has(Self::CWR) as u8) << 1 | self.has(Self::ECE) as u8
    }

    /// These flags with those of AE, CWR and ECE that three bits of a header set.
    #[must_use]
    pub const fn with_ace(self, bits: u8) -> Self {
        let ae = if bits & 4 == 0 { 0 } else { Self::AE.0 };
        Self(self.0 | ae | (bits & 3) << Self::ECE.0.trailing_zeros())
    }
}

/// A TCP segment as the simulator carries it: 48 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Data: offset of its first byte. Acknowledgement: the next byte expected.
    pub number: u64,
    /// Data: time of transmission (timestamp option, RFC 7323). Acknowledgement: the timestamp it
    /// echoes.
    pub timestamp: Instant,
    /// Acknowledgement: first a range that arrived twice, if any
    /// ([`received_twice`](Self::received_twice)), then blocks received above `number`, the most
    /// recent first; unused blocks are empty and come last.
    pub sack: [SackBlock; Self::BLOCKS],
    /// Acknowledgement: its time of transmission less the timestamp it echoes, in units of
    /// [`DELAY_UNIT`](Self::DELAY_UNIT). A host computes it from the two halves of the timestamp
    /// option; with two clocks it has a constant offset.
    pub delay: u32,
    /// Data bytes carried. An acknowledgement carries none and has the [offered
    /// window](Self::offered) here; zero stands for no window.
    pub payload: u16,
    /// Flags.
    pub flags: Flags,
    /// Acknowledgement: data packets received with CE so far, modulo 256 (RFC 9768 counts modulo 8,
    /// or 2^24 in its option).
    pub ce: u8,
}

impl Segment {
    /// Room for blocks: with timestamps an acknowledgement has no more.
    pub const BLOCKS: usize = 3;
    /// Unit of [`delay`](Self::delay): 1024 ns, good for 73 minutes.
    pub const DELAY_UNIT: Duration = Duration::ns(1024);

    /// Step in bytes of offered windows; large windows have larger steps.
    const OFFER_STEP: u64 = 1024;
    /// Bits of the number of steps, of 16; the other bits are the number of doublings.
    const OFFER_BITS: u32 = 12;

    /// Data bytes carried, in either direction.
    #[inline(always)]
    #[must_use]
    pub const fn data_len(&self) -> u16 {
        if self.flags.has(Flags::ACK) { 0 } else { self.payload }
    }

    /// Acknowledgement: bytes above `number` that the receiver has room for; `None` without a
    /// window.
    #[inline]
    #[must_use]
    pub const fn offered(&self) -> Option<u64> {
        let steps = (self.payload as u64 & ((1 << Self::OFFER_BITS) - 1)) << (self.payload >> Self::OFFER_BITS);
        if self.payload == 0 || !self.flags.has(Flags::ACK) { None } else { Some(steps * Self::OFFER_STEP) }
    }

    /// Encodes an offer of `bytes` bytes. Returns the `payload` and the room that it stands for,
    /// which is not less.
    #[inline]
    #[must_use]
    pub const fn offer(bytes: u64) -> (u16, u64) {
        let steps = bytes.div_ceil(Self::OFFER_STEP);
        let doubled = (u64::BITS - steps.leading_zeros()).saturating_sub(Self::OFFER_BITS);
        let kept = steps.div_ceil(1 << doubled);
        // Rounding up may have filled all bits.
        let (kept, doubled) = if kept >> Self::OFFER_BITS == 0 { (kept, doubled) } else { (kept >> 1, doubled + 1) };
        ((doubled << Self::OFFER_BITS) as u16 | kept as u16, (kept << doubled) * Self::OFFER_STEP)
    }

    /// The blocks in use.
    #[must_use]
    pub fn blocks(&self) -> &[SackBlock] {
        let used = self.sack.iter().take_while(|block| block.len > 0).count();
        &self.sack[..used]
    }

    /// The bytes that the first block reports as received twice (RFC 2883 §4): either it lies below
    /// `number`, or the second block contains it.
    #[must_use]
    pub fn received_twice(&self) -> Option<Range<u64>> {
        let first = self.sack[0];
        if self.flags.has(Flags::DSACK) {
            let start = self.number.saturating_sub(u64::from(first.offset));
            return (first.len > 0).then(|| start..start.saturating_add(u64::from(first.len)));
        }
        let [first, second] = [0, 1].map(|place| self.above(self.sack[place]));
        (!first.is_empty() && second.start <= first.start && first.end <= second.end).then_some(first)
    }

    /// Ranges of bytes received above `number`, the most recent first.
    pub fn received(&self) -> impl Iterator<Item = Range<u64>> {
        let skipped = usize::from(self.received_twice().is_some());
        self.blocks().iter().skip(skipped).map(|&block| self.above(block))
    }

    fn above(&self, block: SackBlock) -> Range<u64> {
        let start = self.number.saturating_add(u64::from(block.offset));
        start..start.saturating_add(u64::from(block.len))
    }

    /// Whether it has selective reports.
    #[inline]
    #[must_use]
    pub const fn has_blocks(&self) -> bool {
        self.sack[0].len > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_block_below_or_within_the_second_one_arrived_twice() {
        let block = |offset, len| SackBlock { offset, len };
        let ack = |flags, sack| Segment { number: 5000, flags, sack, ..Segment::default() };
        let below = ack(Flags::DSACK, [block(2000, 1000), block(3000, 1000), SackBlock::default()]);
        assert_eq!(below.received_twice(), Some(3000..4000));
        assert!(below.received().eq(core::iter::once(8000..9000)));
        let within = ack(Flags::ACK, [block(1000, 1000), block(1000, 2000), block(5000, 10)]);
        assert_eq!(within.received_twice(), Some(6000..7000));
        assert!(within.received().eq([6000..8000, 10_000..10_010]));
        let apart = ack(Flags::ACK, [block(5000, 1000), block(1000, 2000), SackBlock::default()]);
        assert_eq!(apart.received_twice(), None);
        assert_eq!(apart.received().count(), 2);
        let single = ack(Flags::ACK, [block(5000, 1000), SackBlock::default(), SackBlock::default()]);
        assert_eq!((single.received_twice(), single.received().count()), (None, 1));
    }

    #[test]
    fn three_bits_of_a_header_are_read_as_set() {
        for bits in 0..8 {
            assert_eq!(Flags::SYN.with_ace(bits).ace(), bits);
        }
        assert_eq!(Flags::default().with_ace(0b110), Flags::AE.with(Flags::CWR));
    }

    proptest! {
        #[test]
        fn an_offer_is_read_as_it_was_meant(bytes in 1u64..1 << 36) {
            let (payload, room) = Segment::offer(bytes);
            let ack = Segment { payload, flags: Flags::ACK, ..Segment::default() };
            prop_assert_eq!(ack.offered(), Some(room));
            prop_assert!(room >= bytes && room - bytes < Segment::OFFER_STEP.max(bytes >> 10), "{room} for {bytes}");
            prop_assert_eq!(ack.data_len(), 0);
        }
    }
}
