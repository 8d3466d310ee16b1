//! TCP segments and UDP datagrams that an offload joined to one frame: judged one by one, and
//! joined again where neighbors survive.
//!
//! A Linux sender hands its network card frames of up to 64 KiB and leaves it to the card to cut
//! them into segments, with `gso_size` bytes of payload each, and to compute their checksums; QUIC
//! programs ask for the same with `UDP_SEGMENT`. Here such a frame stays in one buffer. The queue
//! holds a record for every segment of it, which differ in their number alone; the buffer is free
//! again when the last of them is gone. What leaves
//! together is sent as one frame again: consecutive segments of one flow with the same headers and
//! the same mark, so that the receiver's kernel has as little work as the sender's.
//!
//! A segment's headers follow from those of the frame as a card would make them (Linux
//! `tcp_gso_segment`; RFC 3168 §6.1.2 for CWR): sequence number and IPv4 identification advance,
//! FIN and PSH belong to the last segment, CWR to the first. A datagram's UDP length is its own
//! (Linux `__udp_gso_segment`). Checksums stay partial: the field holds the sum of the
//! pseudo-header, and code that needs the whole one computes it.

use crate::frame::{self, Network};
use crate::pool::{Frame, Pool};
use goodqueue_tcp::wire::checksum::{fold, pseudo_header, sum};

/// Longest headers of a frame that is split: Ethernet, tags and PPPoE, IP and TCP with all
/// options.
pub const HEADERS: usize = 192;
/// The longest joined frame: the most that an IP length can say, and a link header with tags before
/// it.
pub const MAX: usize = 65_535 + 32;
/// More buffers for joined frames are 2 GiB of address space; only what is written takes memory.
pub const MAX_BUFFERS: u32 = 1 << 15;
/// The longest frame that segments are joined to. A kernel cuts one of 64 KiB or more by itself
/// (Linux `netif_skb_features`).
const MAX_OUTGOING: u32 = 65_535;
/// Largest number of buffers whose segments are joined to one frame.
pub const MAX_PARTS: usize = 8;
/// Segments smaller than this are none of TCP's (Linux `TCP_MIN_SND_MSS`); they would make one
/// frame thousands of packets.
const MIN: u16 = 48;
/// More datagrams than this are in no frame of UDP (Linux `UDP_MAX_SEGMENTS`).
const MAX_DATAGRAMS: usize = 128;

const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// Transport protocol of the segments joined in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP segments.
    Tcp,
    /// UDP datagrams.
    Udp,
}

impl Transport {
    /// Returns the protocol's number in IP headers.
    const fn protocol(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }

    /// Returns the offset of the checksum in the protocol's header.
    const fn checksum(self) -> usize {
        match self {
            Self::Tcp => 16,
            Self::Udp => 6,
        }
    }
}

/// Layout of a joined frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The IP header.
    pub network: Network,
    /// Transport protocol of the segments.
    pub kind: Transport,
    /// Offset of the TCP or UDP header.
    pub transport: u16,
    /// Offset of the payload.
    pub payload: u16,
    /// Bytes of payload in each segment but the last.
    pub size: u16,
}

/// Metadata that the kernel gives with each received frame, and needs with each sent one (`struct
/// virtio_net_hdr`, virtio 1.2 §5.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The checksum is partial.
    pub partial_checksum: bool,
    /// Kind of segmentation: 0 none, 1 TCP over IPv4, 4 TCP over IPv6, 5 UDP; with 0x80 added when
    /// CWR is set.
    pub kind: u8,
    /// Bytes of all headers.
    pub headers: u16,
    /// Bytes of payload of a segment.
    pub size: u16,
    /// Offset at which the bytes under the checksum begin, and the offset of the checksum in them.
    pub checksum: (u16, u16),
}

impl Offload {
    /// Bytes before each frame.
    pub const BYTES: usize = 10;
    const WITH_CWR: u8 = 0x80;
    const TCP_V4: u8 = 1;
    const TCP_V6: u8 = 4;
    const UDP: u8 = 5;

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
    /// Reads a frame of which the kernel says that it is several TCP segments or UDP datagrams of
    /// `size` bytes of payload; `None` when it is not, or is a fragment, or has IPv6 extension
    /// headers.
    #[must_use]
    pub fn read(bytes: &[u8], offload: Offload) -> Option<Self> {
        let (protocol, at) = frame::link_end(bytes).ok()?;
        let ip = bytes.get(at..)?;
        let kind = match offload.kind & !Offload::WITH_CWR {
            Offload::TCP_V4 if protocol == frame::IPV4 => Transport::Tcp,
            Offload::TCP_V6 if protocol == frame::IPV6 => Transport::Tcp,
            Offload::UDP => Transport::Udp,
            _ => return None,
        };
        let (network, transport) = match protocol {
            frame::IPV4 => {
                let header = ip.first_chunk::<20>()?;
                let whole = header[6] & 0x3F == 0 && header[7] == 0;
                let transport = at + usize::from(header[0] & 0xF) * 4;
                let right = whole && header[9] == kind.protocol() && header[0] & 0xF >= 5;
                right.then_some((Network::V4(at as u16), transport))?
            }
            frame::IPV6 => {
                let header = ip.first_chunk::<40>()?;
                (header[6] == kind.protocol()).then_some((Network::V6(at as u16), at + 40))?
            }
            _ => return None,
        };
        let (payload, sized) = match kind {
            Transport::Tcp => {
                let payload = transport + usize::from(bytes.get(transport + 12)? >> 4) * 4;
                (payload, payload >= transport + 20 && offload.size >= MIN)
            }
            Transport::Udp => {
                let payload = transport + 8;
                let count = bytes.len().saturating_sub(payload).div_ceil(usize::from(offload.size).max(1));
                (payload, offload.size > 0 && count <= MAX_DATAGRAMS)
            }
        };
        let fits = payload < bytes.len() && payload <= HEADERS && bytes.len() <= MAX;
        (fits && sized).then_some(Self {
            network,
            kind,
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

/// Consecutive segments of one flow that can leave as one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    last: Frame,
    /// Bytes of the frame that they would make, headers included.
    bytes: u32,
    count: u16,
    /// Buffers that they lie in.
    buffers: u8,
}

impl Run {
    /// Begins a run with this segment; `None` for a whole frame, which leaves as it is.
    #[inline]
    pub(crate) fn of(first: Frame, pool: &Pool) -> Option<Self> {
        pool.joined(first.slot)?;
        Some(Self { last: first, bytes: first.len, count: 1, buffers: 1 })
    }

    /// Appends `frame` if it is the next segment, as GRO of a receiver's kernel would: with the
    /// same headers and mark, after one of full size that ends nothing.
    #[inline]
    pub(crate) fn extend(&mut self, frame: Frame, pool: &Pool) -> bool {
        let last = self.last;
        let same_buffer = frame.slot == last.slot;
        if frame.marked != last.marked || same_buffer && frame.segment != last.segment.wrapping_add(1) {
            return false;
        }
        let Some(joined) = pool.joined(frame.slot) else { return false };
        let bytes = self.bytes + (frame.len - u32::from(joined.payload));
        let many = joined.kind == Transport::Udp && usize::from(self.count) >= MAX_DATAGRAMS;
        if bytes > MAX_OUTGOING || many {
            return false;
        }
        if !same_buffer {
            // Half of another frame would only shift where frames begin, and save none.
            let fits = self.bytes as usize + pool.whole(frame.slot).len() <= MAX_OUTGOING as usize;
            if !fits || usize::from(self.buffers) == MAX_PARTS || !continues(last, frame, &joined, pool) {
                return false;
            }
            self.buffers += 1;
        }
        *self = Self { last: frame, bytes, count: self.count + 1, ..*self };
        true
    }
}

/// True if `frame`, a segment of the frame that `joined` is of, follows on `last`, which is of
/// another frame.
fn continues(last: Frame, frame: Frame, joined: &Joined, pool: &Pool) -> bool {
    let (before, after) = (pool.whole(last.slot), pool.whole(frame.slot));
    let (begin, transport, at) = (usize::from(joined.payload), usize::from(joined.transport), joined.network_at());
    let sent = usize::from(last.segment) * usize::from(joined.size) + usize::from(joined.size);
    let whole = pool.joined(last.slot) == Some(*joined) && frame.segment == 0 && begin + sent == before.len();
    if !whole {
        return false;
    }
    let (Some(before), Some(after)) = (before.get(..begin), after.get(..begin)) else { return false };
    let word = |header: &[u8], at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |header: &[u8], at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    // Up to the IP length, and from behind the checksum on; IPv6 has no more than a length.
    let (network, rest) = match joined.network {
        Network::V4(_) => {
            let next = word(before, at + 4).wrapping_add(last.segment).wrapping_add(1);
            let same = before[at + 6..at + 10] == after[at + 6..at + 10] && word(after, at + 4) == next;
            (same && before[..at + 2] == after[..at + 2], at + 12)
        }
        _ => (before[..at + 4] == after[..at + 4], at + 6),
    };
    if !network || before[rest..transport + 4] != after[rest..transport + 4] {
        return false;
    }
    match joined.kind {
        Transport::Udp => true,
        Transport::Tcp => {
            let (flags, next_flags) = (before[transport + 13], after[transport + 13]);
            // FIN and PSH are set in a frame's last segment only, CWR in its first.
            flags & FIN_PSH == 0
                && next_flags & CWR == 0
                && flags & !CWR == next_flags & !FIN_PSH
                && long(after, transport + 4) == long(before, transport + 4).wrapping_add(sent as u32)
                && before[transport + 8..transport + 13] == after[transport + 8..transport + 13]
                && before[transport + 14..transport + 16] == after[transport + 14..transport + 16]
                && before[transport + 18..] == after[transport + 18..]
        }
    }
}

/// Returns the number of `frames`, from the first on, that leave as one.
#[must_use]
pub fn run_of(frames: &[Frame], pool: &Pool) -> usize {
    let Some((first, rest)) = frames.split_first() else { return 0 };
    let Some(mut run) = Run::of(*first, pool) else { return 1 };
    1 + rest.iter().take_while(|frame| run.extend(**frame, pool)).count()
}

/// The payload of `run`, a run of [`run_of`], in at most [`MAX_PARTS`] parts.
pub fn payload<'a>(run: &'a [Frame], pool: &'a Pool) -> impl Iterator<Item = &'a [u8]> {
    run.chunk_by(|frame, next| frame.slot == next.slot).map(|part| {
        let (Some(first), Some(last), Some(joined)) = (part.first(), part.last(), pool.joined(part[0].slot)) else {
            return &[][..];
        };
        let (whole, begin, size) = (pool.whole(first.slot), usize::from(joined.payload), usize::from(joined.size));
        let from = begin + usize::from(first.segment) * size;
        let to = (begin + (usize::from(last.segment) + 1) * size).min(whole.len());
        whole.get(from..to).unwrap_or_default()
    })
}

/// The headers of one or several consecutive segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The header for the kernel.
    pub offload: Offload,
    /// Bytes of the headers.
    pub headers: usize,
}

/// Writes the headers of `run`, a run of [`run_of`], into `headers`. `None` for a whole frame,
/// which is sent as it is.
pub fn compose(run: &[Frame], pool: &Pool, headers: &mut [u8; HEADERS]) -> Option<Outgoing> {
    let (first, last) = (run.first()?, run.last()?);
    let joined = pool.joined(first.slot)?;
    let (at, transport, size) = (joined.network_at(), usize::from(joined.transport), usize::from(joined.size));
    let begin = usize::from(joined.payload);
    let offset = usize::from(first.segment) * size;
    // All but the last are of full size.
    let bytes = (run.len() - 1) * size + (last.len as usize).checked_sub(begin)?;
    let head = headers.get_mut(..begin)?;
    head.copy_from_slice(pool.whole(first.slot).get(..begin)?);

    let segment = begin - transport + bytes;
    let mut with_cwr = 0;
    match joined.kind {
        Transport::Tcp => {
            let tcp = &mut head[transport..];
            let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
            tcp[4..8].copy_from_slice(&sequence.wrapping_add(offset as u32).to_be_bytes());
            let last_whole = pool.whole(last.slot);
            let ends = begin + (usize::from(last.segment) + 1) * size >= last_whole.len();
            let ending = if ends { last_whole.get(transport + 13)? & FIN_PSH } else { 0 };
            tcp[13] = tcp[13] & !FIN_PSH | ending;
            if first.segment > 0 {
                tcp[13] &= !CWR;
            }
            if tcp[13] & CWR != 0 {
                with_cwr = Offload::WITH_CWR;
            }
        }
        Transport::Udp => head[transport + 4..transport + 6].copy_from_slice(&(segment as u16).to_be_bytes()),
    }
    let (kind, addresses) = match joined.network {
        Network::V4(_) => {
            head[at + 2..at + 4].copy_from_slice(&((begin - at + bytes) as u16).to_be_bytes());
            let id = u16::from_be_bytes([head[at + 4], head[at + 5]]).wrapping_add(first.segment);
            head[at + 4..at + 6].copy_from_slice(&id.to_be_bytes());
            head[at + 10..at + 12].fill(0);
            let header_sum = !fold(sum(&head[at..transport]));
            head[at + 10..at + 12].copy_from_slice(&header_sum.to_be_bytes());
            (Offload::TCP_V4, at + 12..at + 20)
        }
        _ => {
            head[at + 4..at + 6].copy_from_slice(&((begin - at - 40 + bytes) as u16).to_be_bytes());
            (Offload::TCP_V6, at + 8..at + 40)
        }
    };
    let kind = if joined.kind == Transport::Udp { Offload::UDP } else { kind };
    if first.marked {
        frame::set_ce(head, joined.network);
    }
    let pseudo = fold(pseudo_header(&head[addresses], joined.kind.protocol(), segment));
    let checksum = joined.kind.checksum();
    head[transport + checksum..transport + checksum + 2].copy_from_slice(&pseudo.to_be_bytes());
    let several = bytes > size;
    Some(Outgoing {
        offload: Offload {
            partial_checksum: true,
            kind: if several { kind | with_cwr } else { 0 },
            headers: begin as u16,
            size: if several { joined.size } else { 0 },
            checksum: (joined.transport, checksum as u16),
        },
        headers: begin,
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
            payload(&[frame], pool).for_each(|part| to.extend_from_slice(part));
            let finished = frame::finish_partial(&mut to[start..]);
            debug_assert!(finished, "a segment has a checksum");
        }
    }
}
