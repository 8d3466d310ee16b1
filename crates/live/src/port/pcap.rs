//! Captures: reading frames from classic pcap files, writing them as pcapng with nanoseconds.

use super::memory::Listed;
use crate::spool::Spool;
use goodqueue_base::units::{Duration, Instant};
use std::collections::VecDeque;
use std::io::{self, Read};

/// A capture that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PcapError {
    /// The file does not begin as a capture does.
    #[error("is no pcap file: it begins with {0:#010x}")]
    Magic(u32),
    /// Frames of another kind of link.
    #[error("holds frames of link type {0}: allowed 1, Ethernet")]
    LinkType(u32),
    /// A frame too long to be one.
    #[error("frame {frame} has {len} bytes: allowed up to {MAX_FRAME_LEN}")]
    TooLong {
        /// Counted from one.
        frame: usize,
        /// The length that the file states.
        len: u32,
    },
    /// More frames than fit in memory.
    #[error("holds more than {MAX_FRAMES} frames")]
    TooMany,
    /// The file ends within a frame, or reading failed.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

const MAX_FRAME_LEN: u32 = 1 << 18;
const MAX_FRAMES: usize = 10_000_000;
const ETHERNET: u32 = 1;
const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;

/// Reads the frames of a classic pcap file of Ethernet; the first one arrives at `start`.
///
/// # Errors
/// When it is no such file, or ends early.
pub fn read(mut input: impl Read, start: Instant) -> Result<Listed, PcapError> {
    let mut header = [0; 24];
    input.read_exact(&mut header)?;
    let magic = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let (swapped, tick) = match (magic, magic.swap_bytes()) {
        (MICROSECONDS, _) => (false, Duration::us(1)),
        (NANOSECONDS, _) => (false, Duration::ns(1)),
        (_, MICROSECONDS) => (true, Duration::us(1)),
        (_, NANOSECONDS) => (true, Duration::ns(1)),
        _ => return Err(PcapError::Magic(magic)),
    };
    let field = |bytes: &[u8], at: usize| {
        let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if swapped { word.swap_bytes() } else { word }
    };
    let link = field(&header, 20) & 0x0FFF_FFFF;
    if link != ETHERNET {
        return Err(PcapError::LinkType(link));
    }
    let mut frames = VecDeque::new();
    let mut first = None;
    let mut latest = start;
    while let Some(head) = read_head(&mut input)? {
        let (seconds, part, len) = (field(&head, 0), field(&head, 4), field(&head, 8));
        if len > MAX_FRAME_LEN {
            return Err(PcapError::TooLong { frame: frames.len() + 1, len });
        }
        if frames.len() == MAX_FRAMES {
            return Err(PcapError::TooMany);
        }
        let mut bytes = vec![0; len as usize];
        input.read_exact(&mut bytes)?;
        let at = Instant::ZERO + Duration::secs(u64::from(seconds)) + tick * u64::from(part);
        let since = at.since(*first.get_or_insert(at));
        // Captures of several processors are not always in order.
        latest = latest.max(start + since);
        frames.push_back((latest, bytes));
    }
    Ok(Listed(frames))
}

/// The header of the next frame; `None` at the end of the file.
fn read_head(input: &mut impl Read) -> io::Result<Option<[u8; 16]>> {
    let mut head = [0; 16];
    let mut got = 0;
    while got < head.len() {
        match input.read(&mut head[got..]) {
            Ok(0) if got == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(head))
}

/// Writes a pcapng file of the frames of two interfaces.
#[derive(Debug)]
pub struct Capture {
    spool: Spool,
    /// Nanoseconds to add to the host's clock to get the time of day.
    wall_offset: i128,
}

impl Capture {
    /// Begins a file. `wall_offset` is what the time of day is ahead of the host's clock, in
    /// nanoseconds.
    #[must_use]
    pub fn new(mut spool: Spool, interfaces: [&str; 2], wall_offset: i128) -> Self {
        // Section header: byte order, version 1.0, length unknown.
        let section = [&0x1A2B_3C4Du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xFF; 8]].concat();
        block(&mut spool, 0x0A0D_0D0A, &[&section]);
        for name in interfaces {
            let mut body = vec![1, 0, 0, 0, 0, 0, 0, 0];
            option(&mut body, 2, name.as_bytes());
            // Time stamps are in units of 10^-9 s.
            option(&mut body, 9, &[9]);
            body.extend([0; 4]);
            block(&mut spool, 1, &[&body]);
        }
        Self { spool, wall_offset }
    }

    /// Writes a frame of interface 0 or 1.
    pub fn write(&mut self, interface: u32, at: Instant, frame: &[u8]) {
        let stamp = (i128::from(at.as_nanos()) + self.wall_offset).max(0) as u64;
        let len = (frame.len() as u32).to_le_bytes();
        let mut head = [0; 20];
        head[0..4].copy_from_slice(&interface.to_le_bytes());
        head[4..8].copy_from_slice(&((stamp >> 32) as u32).to_le_bytes());
        head[8..12].copy_from_slice(&(stamp as u32).to_le_bytes());
        head[12..16].copy_from_slice(&len);
        head[16..20].copy_from_slice(&len);
        let padding = [0; 3];
        block(&mut self.spool, 6, &[&head, frame, &padding[..frame.len().wrapping_neg() % 4]]);
    }

    /// Frames left out because the file was too slow.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.spool.lost()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.spool.finish()
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// A block: type, length, body, length again. Written in one piece.
fn block(spool: &mut Spool, kind: u32, body: &[&[u8]]) {
    let len = (12 + body.iter().map(|part| part.len()).sum::<usize>() as u32).to_le_bytes();
    match body {
        [one] => spool.write(&[&kind.to_le_bytes(), &len, one, &len]),
        [one, two, three] => spool.write(&[&kind.to_le_bytes(), &len, one, two, three, &len]),
        _ => debug_assert!(false, "a block has one part or three"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pcap(big: bool, frames: &[(u32, u32, &[u8])]) -> Vec<u8> {
        let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let mut file = [word(MICROSECONDS), [0; 4], [0; 4], [0; 4], word(65535), word(1)].concat();
        for (seconds, micros, bytes) in frames {
            let len = word(bytes.len() as u32);
            file.extend([word(*seconds), word(*micros), len, len].concat());
            file.extend(*bytes);
        }
        file
    }

    #[test]
    fn both_byte_orders_are_read() {
        for big in [false, true] {
            let file = pcap(big, &[(100, 5, b"first"), (101, 4, b"second"), (101, 3, b"late")]);
            let start = Instant::from_nanos(7);
            let Listed(frames) = read(&file[..], start).unwrap();
            let second = start + Duration::us(999_999);
            let expected = [(start, b"first".to_vec()), (second, b"second".to_vec()), (second, b"late".to_vec())];
            assert_eq!(frames, expected);
        }
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let good = pcap(false, &[(1, 0, b"frame")]);
        assert!(matches!(read(&b"not a capture, but long enough"[..], Instant::ZERO), Err(PcapError::Magic(_))));
        assert!(matches!(read(&good[..good.len() - 1], Instant::ZERO), Err(PcapError::Io(_))));
        let mut wireless = good.clone();
        wireless[20] = 105;
        assert!(matches!(read(&wireless[..], Instant::ZERO), Err(PcapError::LinkType(105))));
        let mut long = good;
        long[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read(&long[..], Instant::ZERO), Err(PcapError::TooLong { frame: 1, .. })));
    }
}
