//! Whole packets.

use super::checksum::{fold, pseudo_header, sum};
use super::{OptionList, TcpFlags, TcpOption};
use alloc::vec::Vec;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};
use goodqueue_base::units::Ecn;

/// Number of the protocol in IP headers.
const TCP: u8 = 6;
/// Bytes of headers without options and extensions.
const IPV4: usize = 20;
const IPV6: usize = 40;
const HEADER: usize = 20;
/// Hops that packets have left when they are written.
const HOPS: u8 = 64;

/// IP addresses of the source and of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// IPv4.
    V4([Ipv4Addr; 2]),
    /// IPv6.
    V6([Ipv6Addr; 2]),
}

/// A TCP segment with the ECN codepoint of its IP header. Its payload is a number of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// ECN codepoint of the IP header.
    pub ecn: Ecn,
    /// Ports of the source and of the destination.
    pub ports: [u16; 2],
    /// Control bits.
    pub flags: TcpFlags,
    /// Sequence number, as on the wire.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Acknowledgement number, as on the wire; meaningless without [`TcpFlags::ACK`].
    pub ack: u32,
    /// Window, as on the wire: not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in their order.
    pub options: Vec<TcpOption>,
}

impl Packet {
    /// Reads a packet of IPv4 or IPv6 with the payload behind its IP length left out; `None` unless
    /// it is a complete TCP segment right behind its IP header. Checksums are not verified.
    #[must_use]
    pub fn read(ip: &[u8]) -> Option<Self> {
        let half = |bytes: &[u8], at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let word = |bytes: &[u8], at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let first = *ip.first()?;
        let (header, end, protocol, bits) = match first >> 4 {
            4 if half(ip, 6)? & 0x3FFF == 0 => (usize::from(first & 0xF) * 4, usize::from(half(ip, 2)?), *ip.get(9)?, ip[1]),
            6 => (IPV6, IPV6 + usize::from(half(ip, 4)?), *ip.get(6)?, ip[1] >> 4),
            _ => return None,
        };
        if header < IPV4 || protocol != TCP {
            return None;
        }
        let tcp = ip.get(header..end)?;
        let offset = usize::from(*tcp.get(12)? >> 4) * 4;
        let options = tcp.get(HEADER..offset)?;
        Some(Self {
            ecn: Ecn::from_bits(bits),
            ports: [half(tcp, 0)?, half(tcp, 2)?],
            flags: TcpFlags::from_bits(half(tcp, 12)?),
            seq: word(tcp, 4)?,
            len: (tcp.len() - offset) as u32,
            ack: word(tcp, 8)?,
            window: half(tcp, 14)?,
            urgent: half(tcp, 18)?,
            options: TcpOption::read_all(options).collect(),
        })
    }

    /// Appends the packet with checksums: an IP header without options, the TCP header, whose
    /// options are padded to whole words, and zeros for the payload. An IPv4 packet has the bit
    /// that forbids fragments.
    pub fn write(&self, addresses: &Addresses, buffer: &mut Vec<u8>) {
        let mut tcp = Vec::new();
        self.ports.iter().for_each(|port| tcp.extend(port.to_be_bytes()));
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([0; 2]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 2]);
        tcp.extend(self.urgent.to_be_bytes());
        self.options.iter().for_each(|option| option.write(&mut tcp));
        tcp.resize(tcp.len().next_multiple_of(4), 0);
        let offset = (tcp.len() / 4) as u16;
        tcp[12..14].copy_from_slice(&(offset << 12 | self.flags.bits()).to_be_bytes());
        tcp.resize(tcp.len() + self.len as usize, 0);

        let start = buffer.len();
        let addresses = match addresses {
            Addresses::V4(ends) => {
                buffer.extend([0x45, self.ecn as u8]);
                buffer.extend(((IPV4 + tcp.len()) as u16).to_be_bytes());
                buffer.extend([0, 0, 0x40, 0, HOPS, TCP, 0, 0]);
                ends.iter().for_each(|end| buffer.extend(end.octets()));
                let checksum = !fold(sum(&buffer[start..]));
                buffer[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
                &buffer[start + 12..]
            }
            Addresses::V6(ends) => {
                buffer.extend([0x60, (self.ecn as u8) << 4, 0, 0]);
                buffer.extend((tcp.len() as u16).to_be_bytes());
                buffer.extend([TCP, HOPS]);
                ends.iter().for_each(|end| buffer.extend(end.octets()));
                &buffer[start + 8..]
            }
        };
        let checksum = !fold(pseudo_header(addresses, TCP, tcp.len()) + sum(&tcp));
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        buffer.extend(tcp);
    }

    /// One above the last sequence number it takes, without SYN and FIN.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.seq.wrapping_add(self.len)
    }

    /// The largest segment its options announce.
    #[must_use]
    pub fn mss(&self) -> Option<u16> {
        self.options.iter().find_map(|option| if let TcpOption::Mss(bytes) = option { Some(*bytes) } else { None })
    }

    /// The shift count its options announce.
    #[must_use]
    pub fn window_scale(&self) -> Option<u8> {
        self.options.iter().find_map(|option| if let TcpOption::WindowScale(shift) = option { Some(*shift) } else { None })
    }

    /// Value and echo of its timestamp.
    #[must_use]
    pub fn timestamp(&self) -> Option<(u32, u32)> {
        self.options.iter().find_map(|option| match option {
            TcpOption::Timestamp { value, echo } => Some((*value, *echo)),
            _ => None,
        })
    }

    /// Returns the packet's byte counters: the codepoint of the first one, and as many as there
    /// are.
    #[must_use]
    pub fn byte_counters(&self) -> Option<(Ecn, &[u32])> {
        self.options.iter().find_map(|option| match option {
            TcpOption::AccEcn { first, counters } => Some((*first, &**counters)),
            _ => None,
        })
    }

    /// Returns the packet's selective acknowledgements.
    #[must_use]
    pub fn sack(&self) -> &[(u32, u32)] {
        self.options
            .iter()
            .find_map(|option| if let TcpOption::Sack(blocks) = option { Some(&**blocks) } else { None })
            .unwrap_or(&[])
    }
}

/// In the notation of packetdrill, without ports.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codepoint = match self.ecn {
            Ecn::NotEct => "",
            Ecn::Ect0 => "[ect0] ",
            Ecn::Ect1 => "[ect1] ",
            Ecn::Ce => "[ce] ",
        };
        write!(f, "{codepoint}{} {}:{}({})", self.flags, self.seq, self.end(), self.len)?;
        if self.flags.has(TcpFlags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        OptionList(&self.options).fmt(f)
    }
}

#[cfg(test)]
mod tests;
