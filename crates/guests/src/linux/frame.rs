//! Frames of guests: Ethernet, IPv4, TCP. Parses the fields that queues and probes need, and sets
//! the ECN codepoint.

use goodqueue_base::units::Ecn;
use goodqueue_tcp::wire::{Packet, TcpFlags, checksum};
use goodqueue_tcp::{Flags, SackBlock, Segment};

/// Bytes of an Ethernet header.
pub const ETHERNET: usize = 14;
/// Longest frame: a packet of 1500 bytes and the Ethernet header.
pub const MAX: usize = ETHERNET + 1500;

const IPV4: [u8; 2] = [8, 0];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Parses a frame; `None` unless it is a complete TCP packet over IPv4.
#[must_use]
pub fn tcp(frame: &[u8]) -> Option<Packet> {
    ip(frame).and_then(Packet::read)
}

/// The bytes behind the Ethernet header of a frame of IPv4.
fn ip(frame: &[u8]) -> Option<&[u8]> {
    let (ethernet, ip) = frame.split_at_checked(ETHERNET)?;
    (ethernet[12..] == IPV4 && ip.first()? >> 4 == 4).then_some(ip)
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
        let ip = ip(frame)?;
        let half = |at| Some(u16::from_be_bytes(*ip.get(at..)?.first_chunk()?));
        let ip_len = half(2)?;
        let header = usize::from(ip[0] & 15) * 4;
        if header < 20 || usize::from(ip_len) < header || ip.len() < usize::from(ip_len) {
            return None;
        }
        let protocol = *ip.get(9)?;
        let has_ports = protocol == TCP || protocol == UDP;
        let port = |at| if has_ports { half(header + at) } else { None };
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
    pub fn forward(&mut self, packet: &Packet) -> Segment {
        if packet.flags.has(TcpFlags::SYN) {
            let first = Some(packet.seq.wrapping_add(1));
            if self.first != first {
                *self = Self { first, highest: 0 };
            }
        }
        let flags = translated(packet.flags, &[(TcpFlags::SYN, Flags::SYN), (TcpFlags::FIN, Flags::FIN)]);
        let number = self.offset(packet.seq);
        self.highest = self.highest.max(number + u64::from(packet.len));
        Segment { number, payload: packet.len as u16, flags, ..Segment::default() }
    }

    /// Converts a packet from sink to source.
    #[must_use]
    pub fn reverse(&self, packet: &Packet) -> Segment {
        let known =
            [(TcpFlags::SYN, Flags::SYN), (TcpFlags::FIN, Flags::FIN), (TcpFlags::ECE, Flags::ECE), (TcpFlags::CWR, Flags::CWR)];
        let mut flags = Flags::ACK.with(translated(packet.flags, &known));
        let number = self.offset(packet.ack);
        let mut sack = [SackBlock::default(); Segment::BLOCKS];
        for (block, (from, to)) in sack.iter_mut().zip(packet.sack()) {
            *block = SackBlock { offset: from.wrapping_sub(packet.ack), len: to.wrapping_sub(*from) };
        }
        // A first block below the acknowledgement reports a duplicate (RFC 2883).
        if sack[0].len > 0 && sack[0].offset as i32 <= 0 && sack[0].offset != 0 {
            sack[0].offset = sack[0].offset.wrapping_neg();
            flags = flags.with(Flags::DSACK);
        }
        Segment { number, sack, payload: packet.len as u16, flags, ..Segment::default() }
    }

    /// Among all offsets with this sequence number, the one nearest to the highest seen.
    fn offset(&self, sequence: u32) -> u64 {
        let Some(first) = self.first else { return 0 };
        let low = sequence.wrapping_sub(first);
        let away = low.wrapping_sub(self.highest as u32) as i32;
        self.highest.saturating_add_signed(i64::from(away))
    }
}

/// The flags of a segment that stand for flags of a header.
fn translated(header: TcpFlags, known: &[(TcpFlags, Flags)]) -> Flags {
    let set = known.iter().filter(|(flag, _)| header.has(*flag));
    set.fold(Flags::default(), |flags, (_, flag)| flags.with(*flag))
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
    [ip[10], ip[11]] = checksum::updated(u16::from_be_bytes([ip[10], ip[11]]), before, after).to_be_bytes();
}

#[cfg(test)]
mod tests;
