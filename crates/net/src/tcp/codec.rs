//! Segments and their bytes as datagrams. A header of TCP (`goodqueue_tcp::wire`) has no room for
//! offsets of 64 bits and times of a nanosecond, which both ends need to get what the simulator's
//! own flows have.

use goodqueue_base::units::Instant;
use goodqueue_tcp::{Flags, SackBlock, Segment};

/// A segment with the bytes that it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) segment: Segment,
    /// Data; shorter than the segment's payload where that is filled up.
    pub(super) bytes: Vec<u8>,
}

/// Header without blocks.
const HEADER: usize = 24;
const BLOCK: usize = 8;

impl Packet {
    pub(super) fn acknowledgement(segment: Segment) -> Self {
        Self { segment, bytes: Vec::new() }
    }

    pub(super) fn is_ack(&self) -> bool {
        self.segment.flags.has(Flags::ACK)
    }

    /// The segment with the length that it has in stream offsets.
    pub(super) fn as_full(&self, mss: u64) -> Segment {
        let payload = if self.segment.data_len() == 0 { 0 } else { mss as u16 };
        Segment { payload, ..self.segment }
    }

    /// Appends the datagram: number, timestamp, flags, marks, payload, then the delay of an
    /// acknowledgement or the length of the data, then blocks or data.
    pub(super) fn write(&self, buffer: &mut Vec<u8>) {
        let Self { segment, bytes } = self;
        buffer.extend(segment.number.to_be_bytes());
        buffer.extend(segment.timestamp.as_nanos().to_be_bytes());
        buffer.extend([segment.flags.0, segment.ce]);
        buffer.extend(segment.payload.to_be_bytes());
        if self.is_ack() {
            buffer.extend(segment.delay.to_be_bytes());
            for block in segment.sack.iter().filter(|block| block.len > 0) {
                buffer.extend(block.offset.to_be_bytes());
                buffer.extend(block.len.to_be_bytes());
            }
        } else {
            buffer.extend((bytes.len() as u32).to_be_bytes());
            buffer.extend(bytes);
            buffer.resize(HEADER + usize::from(segment.payload), 0);
        }
    }

    /// `None` for what [`write`](Self::write) does not write.
    pub(super) fn read(datagram: &[u8]) -> Option<Self> {
        let (header, rest) = datagram.split_at_checked(HEADER)?;
        let u64_at = |at: usize| Some(u64::from_be_bytes(*header.get(at..)?.first_chunk()?));
        let last = u32::from_be_bytes(*header.get(20..)?.first_chunk()?);
        let mut segment = Segment {
            number: u64_at(0)?,
            timestamp: Instant::from_nanos(u64_at(8)?),
            flags: Flags(header[16]),
            ce: header[17],
            payload: u16::from_be_bytes(*header.get(18..)?.first_chunk()?),
            ..Segment::default()
        };
        if !segment.flags.has(Flags::ACK) {
            let bytes = rest.get(..last as usize)?.to_vec();
            return (rest.len() == usize::from(segment.payload)).then_some(Self { segment, bytes });
        }
        segment.delay = last;
        if !rest.len().is_multiple_of(BLOCK) || rest.len() / BLOCK > segment.sack.len() {
            return None;
        }
        for (block, bytes) in segment.sack.iter_mut().zip(rest.chunks(BLOCK)) {
            let half = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
            *block = SackBlock { offset: half(0)?, len: half(4)? };
        }
        Some(Self::acknowledgement(segment))
    }
}
