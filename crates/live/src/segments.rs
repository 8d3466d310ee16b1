//! TCP segments that an offload joined to one frame: judged one by one, and joined again where
//! neighbors survive.
//!
//! A Linux sender hands its network card frames of up to 64 KiB and leaves it to the card to cut
//! them into segments, with `gso_size` bytes of payload each, and to compute their checksums. Here
//! such a frame stays in one buffer. The queue holds a record for every segment of it, which differ
//! in their number alone; the buffer is free again when the last of them is gone. What leaves
//! together is sent as one frame again: neighbors of one frame with the same mark, so that the
//! receiver's kernel has as little work as the sender's.
//!
//! A segment's headers follow from those of the frame as a card would make them (Linux
//! `tcp_gso_segment`; RFC 3168 §6.1.2 for CWR): sequence number and IPv4 identification advance,
//! FIN and PSH belong to the last segment, CWR to the first. Checksums stay partial: the field
//! holds the sum of the pseudo-header, and whoever needs the whole one computes it.

use crate::frame::checksum::{fold, sum};
use crate::frame::{self, Network};
use crate::pool::{Frame, Pool};
use std::ops::Range;

/// Longest headers of a frame that is split: Ethernet, tags and PPPoE, IP and TCP with all
/// options.
pub const HEADERS: usize = 192;
/// The longest joined frame: the most that an IP length can say, and a link header with tags before
/// it.
pub const LONGEST: usize = 65_535 + 32;
/// More buffers for joined frames are 2 GiB of address space; only what is written takes memory.
pub const MOST_BUFFERS: u32 = 1 << 15;
/// Segments smaller than this are none of TCP's (Linux `TCP_MIN_SND_MSS`); they would make one
/// frame thousands of packets.
const SMALLEST: u16 = 48;

const TCP: u8 = 6;
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// Where the parts of a joined frame lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The IP header.
    pub network: Network,
    /// Where the TCP header begins.
    pub transport: u16,
    /// Where the payload begins.
    pub payload: u16,
    /// Bytes of payload in each segment but the last.
    pub size: u16,
}

/// What the kernel says beside a frame, and needs to be told (`struct virtio_net_hdr`, virtio 1.2
/// §5.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The checksum is partial.
    pub partial_checksum: bool,
    /// How the frame is to be cut: 0 not at all, 1 TCP over IPv4, 4 TCP over IPv6; 0x80 beside it
    /// when CWR is set.
    pub kind: u8,
    /// Bytes of all headers.
    pub headers: u16,
    /// Bytes of payload of a segment.
    pub size: u16,
    /// Where the bytes under the checksum begin, and where in them it stands.
    pub checksum: (u16, u16),
}

impl Offload {
    /// Bytes before each frame.
    pub const BYTES: usize = 10;
    const WITH_CWR: u8 = 0x80;

    /// As the kernel reads and writes it, on this machine's byte order.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = u8::from(self.partial_checksum);
        bytes[1] = self.kind;
        for (place, value) in [(2, self.headers), (4, self.size), (6, self.checksum.0), (8, self.checksum.1)] {
            bytes[place..place + 2].copy_from_slice(&value.to_ne_bytes());
        }
        bytes
    }

    /// The other way round.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            partial_checksum: bytes[0] & 1 != 0,
            kind: bytes[1],
            headers: word(2),
            size: word(4),
            checksum: (word(6), word(8)),
        }
    }

    /// True if the frame consists of several segments.
    #[must_use]
    pub const fn is_joined(self) -> bool {
        self.kind & !Self::WITH_CWR != 0
    }
}

impl Joined {
    /// Reads a frame of which the kernel says that it is several TCP segments of `size` bytes of
    /// payload; `None` when it is not, or is a fragment, or has IPv6 extension headers.
    #[must_use]
    pub fn read(bytes: &[u8], offload: Offload) -> Option<Self> {
        let (protocol, at) = frame::link_end(bytes).ok()?;
        let ip = bytes.get(at..)?;
        let (network, transport) = match (protocol, offload.kind & !Offload::WITH_CWR) {
            (frame::IPV4, 1) => {
                let header = ip.first_chunk::<20>()?;
                let whole = header[6] & 0x3F == 0 && header[7] == 0;
                let tcp = at + usize::from(header[0] & 0xF) * 4;
                (whole && header[9] == TCP && header[0] & 0xF >= 5).then_some((Network::V4(at as u16), tcp))?
            }
            (frame::IPV6, 4) => {
                let header = ip.first_chunk::<40>()?;
                (header[6] == TCP).then_some((Network::V6(at as u16), at + 40))?
            }
            _ => return None,
        };
        let payload = transport + usize::from(bytes.get(transport + 12)? >> 4) * 4;
        let fits = payload >= transport + 20 && payload < bytes.len() && payload <= HEADERS && bytes.len() <= LONGEST;
        (fits && offload.size >= SMALLEST).then_some(Self {
            network,
            transport: transport as u16,
            payload: payload as u16,
            size: offload.size,
        })
    }

    /// Segments in a frame of `len` bytes.
    #[must_use]
    pub fn count(&self, len: u32) -> u32 {
        (len - u32::from(self.payload)).div_ceil(u32::from(self.size))
    }

    /// Bytes of the segment `index` of a frame of `len` bytes, its own headers included.
    #[must_use]
    pub fn len_of(&self, index: u32, len: u32) -> u32 {
        let (headers, size) = (u32::from(self.payload), u32::from(self.size));
        headers + size.min(len - headers - index * size)
    }

    const fn network_at(&self) -> usize {
        match self.network {
            Network::V4(at) | Network::V6(at) => at as usize,
            Network::Other => 0,
        }
    }

    /// Bytes of the IP header and what follows it up to the payload.
    #[must_use]
    pub fn ip_headers(&self) -> u32 {
        u32::from(self.payload) - self.network_at() as u32
    }
}

/// How many of `frames`, from the first on, leave as one.
#[must_use]
pub fn run_of(frames: &[Frame], pool: &Pool) -> usize {
    let Some(first) = frames.first() else { return 0 };
    if pool.joined(first.slot).is_none() {
        return 1;
    }
    let follows = |(place, frame): &(usize, &Frame)| {
        frame.slot == first.slot
            && frame.marked == first.marked
            && usize::from(frame.segment) == usize::from(first.segment) + place
    };
    frames.iter().enumerate().take_while(follows).count()
}

/// The headers of one or several neighboring segments, and where their payload is in the buffer.
#[derive(Debug)]
pub struct Outgoing {
    /// The header for the kernel.
    pub offload: Offload,
    /// Bytes of the headers.
    pub headers: usize,
    /// The payload, in the buffer.
    pub payload: Range<usize>,
}

/// Writes the headers of `run`, a run of [`run_of`], into `headers`. `None` for a whole frame,
/// which is sent as it is.
pub fn compose(run: &[Frame], pool: &Pool, headers: &mut [u8; HEADERS]) -> Option<Outgoing> {
    let (first, last) = (run.first()?, run.last()?);
    let joined = pool.joined(first.slot)?;
    let whole = pool.whole(first.slot);
    let (at, tcp, size) = (joined.network_at(), usize::from(joined.transport), usize::from(joined.size));
    let begin = usize::from(joined.payload);
    let from = begin + usize::from(first.segment) * size;
    let to = (begin + (usize::from(last.segment) + 1) * size).min(whole.len());
    let head = headers.get_mut(..begin)?;
    head.copy_from_slice(whole.get(..begin)?);

    let sequence = u32::from_be_bytes([head[tcp + 4], head[tcp + 5], head[tcp + 6], head[tcp + 7]]);
    head[tcp + 4..tcp + 8].copy_from_slice(&sequence.wrapping_add((from - begin) as u32).to_be_bytes());
    if to < whole.len() {
        head[tcp + 13] &= !FIN_PSH;
    }
    if first.segment > 0 {
        head[tcp + 13] &= !CWR;
    }
    let segment = begin - tcp + (to - from);
    let (kind, addresses) = match joined.network {
        Network::V4(_) => {
            head[at + 2..at + 4].copy_from_slice(&((begin - at + to - from) as u16).to_be_bytes());
            let id = u16::from_be_bytes([head[at + 4], head[at + 5]]).wrapping_add(first.segment);
            head[at + 4..at + 6].copy_from_slice(&id.to_be_bytes());
            head[at + 10..at + 12].fill(0);
            let header_sum = !fold(sum(&head[at..tcp]));
            head[at + 10..at + 12].copy_from_slice(&header_sum.to_be_bytes());
            (1, at + 12..at + 20)
        }
        _ => {
            head[at + 4..at + 6].copy_from_slice(&((begin - at - 40 + to - from) as u16).to_be_bytes());
            (4, at + 8..at + 40)
        }
    };
    if first.marked {
        frame::set_ce(head, joined.network);
    }
    let pseudo = fold(sum(&head[addresses]) + u64::from(TCP) + segment as u64);
    head[tcp + 16..tcp + 18].copy_from_slice(&pseudo.to_be_bytes());
    let several = to - from > size;
    let with_cwr = if head[tcp + 13] & CWR != 0 { Offload::WITH_CWR } else { 0 };
    Some(Outgoing {
        offload: Offload {
            partial_checksum: true,
            kind: if several { kind | with_cwr } else { 0 },
            headers: begin as u16,
            size: if several { joined.size } else { 0 },
            checksum: (joined.transport, 16),
        },
        headers: begin,
        payload: from..to,
    })
}

/// The bytes of `frame` as they would be on a wire, with a whole checksum, appended to `to`.
pub fn write_alone(frame: Frame, pool: &Pool, to: &mut Vec<u8>) {
    let mut headers = [0; HEADERS];
    let start = to.len();
    match compose(&[frame], pool, &mut headers) {
        None => to.extend_from_slice(pool.frame(frame)),
        Some(outgoing) => {
            to.extend_from_slice(&headers[..outgoing.headers]);
            to.extend_from_slice(&pool.whole(frame.slot)[outgoing.payload]);
            let finished = frame::finish_partial(&mut to[start..]);
            debug_assert!(finished, "a TCP segment has a checksum");
        }
    }
}
