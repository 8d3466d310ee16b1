//! Whole packets.

use super::{OptionList, TcpFlags, TcpOption};
use alloc::vec::Vec;
use core::fmt;
use goodqueue_base::units::Ecn;

/// Number of the protocol in IP headers.
const TCP: u8 = 6;
/// Bytes of headers without options and extensions.
const IPV4: usize = 20;
const IPV6: usize = 40;
const HEADER: usize = 20;

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
