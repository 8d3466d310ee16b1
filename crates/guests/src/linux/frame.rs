//! Frames of guests: Ethernet, IPv4, TCP. Parses the fields that queues and probes need, and sets
//! the ECN codepoint.

use goodqueue_base::units::Ecn;
use goodqueue_tcp::{Flags, SackBlock, Segment};

/// Bytes of an Ethernet header.
pub const ETHERNET: usize = 14;
/// Longest frame: a packet of 1500 bytes and the Ethernet header.
pub const MAX: usize = ETHERNET + 1500;

const IPV4: [u8; 2] = [8, 0];
const TCP: u8 = 6;
const UDP: u8 = 17;
const FIN: u8 = 1;
const SYN: u8 = 2;
const OPTION_END: u8 = 0;
const OPTION_NOTHING: u8 = 1;
const OPTION_SACK: u8 = 5;

/// The fields of a TCP packet that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket<'a> {
    /// Length of the IP packet.
    pub ip_len: u16,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Source port.
    pub source: u16,
    /// Destination port.
    pub destination: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    flags: u8,
    /// Data bytes.
    pub payload: u16,
    options: &'a [u8],
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl<'a> TcpPacket<'a> {
    /// Parses a frame; `None` unless it is a complete TCP packet over IPv4.
    #[must_use]
    pub fn read(frame: &'a [u8]) -> Option<Self> {
        let (ethernet, ip) = frame.split_at_checked(ETHERNET)?;
        let first = *ip.first()?;
        let ip_len = half(ip, 2)?;
        let header = usize::from(first & 15) * 4;
        let fragment = half(ip, 6)? & 0x3FFF;
        if ethernet[12..14] != IPV4 || first >> 4 != 4 || header < 20 || *ip.get(9)? != TCP || fragment != 0 {
            return None;
        }
        let tcp = ip.get(header..usize::from(ip_len))?;
        let offset = usize::from(*tcp.get(12)? >> 4) * 4;
        let options = tcp.get(20..offset)?;
        Some(Self {
            ip_len,
            ecn: Ecn::from_bits(ip[1]),
            source: half(tcp, 0)?,
            destination: half(tcp, 2)?,
            sequence: word(tcp, 4)?,
            acknowledgement: word(tcp, 8)?,
            flags: *tcp.get(13)?,
            payload: (tcp.len() - offset) as u16,
            options,
        })
    }

    /// Whether it opens a connection (SYN or SYN-ACK).
    #[must_use]
    pub fn is_syn(&self) -> bool {
        self.flags & SYN != 0
    }

    /// SACK blocks relative to the cumulative acknowledgement.
    fn sack(&self) -> [SackBlock; 3] {
        let mut blocks = [SackBlock::default(); 3];
        let mut rest = self.options;
        while let Some((&kind, after)) = rest.split_first() {
            if kind == OPTION_END {
                break;
            }
            if kind == OPTION_NOTHING {
                rest = after;
                continue;
            }
            let Some(body) = after.first().and_then(|len| rest.get(2..usize::from(*len).max(2))) else { break };
            if kind == OPTION_SACK {
                for (block, edges) in blocks.iter_mut().zip(body.chunks_exact(8)) {
                    let (Some(left), Some(right)) = (word(edges, 0), word(edges, 4)) else { break };
                    *block = SackBlock { offset: left.wrapping_sub(self.acknowledgement), len: right.wrapping_sub(left) };
                }
            }
            rest = &rest[2 + body.len()..];
        }
        blocks
    }
}

/// An IPv4 packet of any protocol, for traffic without a connection of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket {
    /// Length of the IP packet.
    pub ip_len: u16,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Protocol and ports, which identify a conversation.
    pub conversation: (u8, u16, u16),
}

impl IpPacket {
    /// Parses a frame; `None` unless it is a complete packet over IPv4.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let (ethernet, ip) = frame.split_at_checked(ETHERNET)?;
        let first = *ip.first()?;
        let ip_len = half(ip, 2)?;
        let header = usize::from(first & 15) * 4;
        if ethernet[12..14] != IPV4
            || first >> 4 != 4
            || header < 20
            || usize::from(ip_len) < header
            || ip.len() < usize::from(ip_len)
        {
            return None;
        }
        let protocol = *ip.get(9)?;
        let has_ports = protocol == TCP || protocol == UDP;
        let port = |at| if has_ports { half(ip, header + at) } else { None };
        Some(Self { ip_len, ecn: Ecn::from_bits(ip[1]), conversation: (protocol, port(0).unwrap_or(0), port(2).unwrap_or(0)) })
    }
}

/// State per connection that turns its sequence numbers into offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Sequence number of the source's first data byte.
    first: Option<u32>,
    /// Highest offset seen.
    highest: u64,
}

impl Connection {
    /// Converts a packet from source to sink into a segment of the simulated world.
    #[must_use]
    pub fn forward(&mut self, packet: &TcpPacket<'_>) -> Segment {
        let mut flags = Flags::default();
        if packet.is_syn() {
            flags = flags.with(Flags::SYN);
            if self.first.is_none_or(|first| first != packet.sequence.wrapping_add(1)) {
                *self = Self { first: Some(packet.sequence.wrapping_add(1)), highest: 0 };
            }
        }
        if packet.flags & FIN != 0 {
            flags = flags.with(Flags::FIN);
        }
        let number = self.offset(packet.sequence);
        self.highest = self.highest.max(number + u64::from(packet.payload));
        Segment { number, payload: packet.payload, flags, ..Segment::default() }
    }

    /// Converts a packet from sink to source.
    #[must_use]
    pub fn reverse(&self, packet: &TcpPacket<'_>) -> Segment {
        let mut flags = Flags::ACK;
        for (bit, flag) in [(SYN, Flags::SYN), (FIN, Flags::FIN), (0x40, Flags::ECE), (0x80, Flags::CWR)] {
            if packet.flags & bit != 0 {
                flags = flags.with(flag);
            }
        }
        let number = self.offset(packet.acknowledgement);
        let mut sack = packet.sack();
        // A first block below the acknowledgement reports a duplicate (RFC 2883).
        if sack[0].len > 0 && sack[0].offset as i32 <= 0 && sack[0].offset != 0 {
            sack[0].offset = sack[0].offset.wrapping_neg();
            flags = flags.with(Flags::DSACK);
        }
        Segment { number, sack, payload: packet.payload, flags, ..Segment::default() }
    }

    /// Among all offsets with this sequence number, the one nearest to the highest seen.
    fn offset(&self, sequence: u32) -> u64 {
        let Some(first) = self.first else { return 0 };
        let low = sequence.wrapping_sub(first);
        let away = low.wrapping_sub(self.highest as u32) as i32;
        self.highest.saturating_add_signed(i64::from(away))
    }
}

/// Sets the codepoint of a frame and updates the header checksum.
pub fn set_ecn(frame: &mut [u8], ecn: Ecn) {
    let Some(ip) = frame.get_mut(ETHERNET..) else { return };
    if ip.len() < 20 || ip[1] & 3 == ecn as u8 {
        return;
    }
    let before = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] = ip[1] & !3 | ecn as u8;
    let after = u16::from_be_bytes([ip[0], ip[1]]);
    // RFC 1624: the new checksum from the old one and the changed word.
    let old = u16::from_be_bytes([ip[10], ip[11]]);
    let mut sum = u32::from(!old) + u32::from(!before) + u32::from(after);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    [ip[10], ip[11]] = (!(sum as u16)).to_be_bytes();
}

#[cfg(test)]
mod tests;
