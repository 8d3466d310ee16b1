//! Reading the headers of an Ethernet frame that a queue needs, and setting CE in it.
//!
//! Read are: VLAN tags (802.1Q, 802.1ad, up to [`MAX_TAGS`]), PPPoE sessions, IPv4, IPv6 with its
//! extension headers, ports of TCP, UDP, UDP-Lite, SCTP and DCCP, and what is inside IP-in-IP, GRE,
//! VXLAN, Geneve and GTP-U, for the flow only: ECN and class are those of the outermost IP header,
//! which is the one a bottleneck marks (RFC 6040). Frames of any other kind pass as Not-ECT packets
//! of one flow for each pair of stations.
//!
//! A frame is [`Malformed`] when its own headers contradict each other or its length. Checksums are
//! not verified: a bridge that did would hide faults of other devices, and the incremental update
//! keeps a wrong sum wrong.

mod checksum;
mod flow;

pub use checksum::{finish_partial, looks_partial};
pub use flow::FlowKey;

use flow::Walk;
use goodqueue_aqm::FlowHash;
use goodqueue_base::units::{Bytes, Class, Ecn};
use goodqueue_tcp::wire::checksum::updated;

/// Bytes of an Ethernet header without tags.
pub const ETHERNET: usize = 14;
/// More VLAN tags than this are not looked behind.
pub const MAX_TAGS: usize = 3;

pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86DD;
const VLAN: u16 = 0x8100;
const PROVIDER_VLAN: u16 = 0x88A8;
const OLD_PROVIDER_VLAN: u16 = 0x9100;
const PPPOE_SESSION: u16 = 0x8864;

/// IP header that carries the codepoint, if there is any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// IPv4; offset of its header in the frame.
    V4(u16),
    /// IPv6, likewise.
    V6(u16),
    /// Neither: ARP, MPLS and whatever else there is.
    Other,
}

/// Facts from the headers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Version and place of the IP header.
    pub network: Network,
    /// The IP length; of other frames what follows the link header.
    pub len: Bytes,
    /// Codepoint of the outermost IP header.
    pub ecn: Ecn,
    /// Class by the outermost DSCP.
    pub class: Class,
    /// Hash of the flow that the packet belongs to.
    pub flow: FlowHash,
}

/// A frame whose headers cannot be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The frame ends within the link header.
    #[error("the frame ends within its link header")]
    ShortLink,
    /// The frame ends within an IP header.
    #[error("the frame ends within its IP header")]
    ShortNetwork,
    /// The IP version is not that of the link's protocol number.
    #[error("the IP version contradicts the protocol number")]
    Version,
    /// An IPv4 header shorter than it can be.
    #[error("the IPv4 header says it is shorter than 20 bytes")]
    HeaderLength,
    /// The IP length is more than there is, or less than the header.
    #[error("the IP length contradicts the frame's length")]
    Length,
}

/// 16 bits in network order at `at`; `None` past the end.
#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*pair))
}

impl Headers {
    /// Reads a frame.
    ///
    /// # Errors
    /// When its headers cannot be right.
    #[inline]
    pub fn read(frame: &[u8], key: FlowKey) -> Result<Self, Malformed> {
        Self::read_plain(frame, key).map_or_else(|| Self::read_any(frame, key), Ok)
    }

    /// Fast path of [`Headers::read_any`] for most frames: TCP or UDP behind a whole IPv4 header
    /// without options. Returns `None` for all others.
    #[inline]
    pub(crate) fn read_plain(frame: &[u8], key: FlowKey) -> Option<Self> {
        // The link header, the IP header and eight bytes behind it.
        let head = frame.first_chunk::<{ ETHERNET + 28 }>()?;
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        let len = usize::from(word(16));
        let plain = word(12) == IPV4 && head[14] == 0x45 && word(20) & 0x3FFF == 0 && len >= 28 && len <= frame.len() - ETHERNET;
        if !plain {
            return None;
        }
        Some(Self {
            network: Network::V4(ETHERNET as u16),
            len: Bytes::new(len as u64),
            ecn: Ecn::from_bits(head[15]),
            class: Class::from_dscp(head[15] >> 2),
            flow: flow::plain(key, head[14..].first_chunk()?)?,
        })
    }

    /// Reads the headers of any frame.
    pub(crate) fn read_any(frame: &[u8], key: FlowKey) -> Result<Self, Malformed> {
        let (protocol, at) = link_end(frame)?;
        match protocol {
            IPV4 => Self::read_v4(frame, at, key),
            IPV6 => Self::read_v6(frame, at, key),
            _ => Ok(Self {
                network: Network::Other,
                len: Bytes::new((frame.len() - at.min(frame.len())) as u64),
                ecn: Ecn::NotEct,
                class: Class::DEFAULT,
                flow: key.stations(frame, protocol),
            }),
        }
    }

    fn read_v4(frame: &[u8], at: usize, key: FlowKey) -> Result<Self, Malformed> {
        let ip = &frame[at..];
        let header = ip.first_chunk::<20>().ok_or(Malformed::ShortNetwork)?;
        if header[0] >> 4 != 4 {
            return Err(Malformed::Version);
        }
        let header_len = usize::from(header[0] & 0xF) * 4;
        if header_len < 20 {
            return Err(Malformed::HeaderLength);
        }
        let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if len < header_len || len > ip.len() {
            return Err(Malformed::Length);
        }
        Ok(Self {
            network: Network::V4(at as u16),
            len: Bytes::new(len as u64),
            ecn: Ecn::from_bits(header[1]),
            class: Class::from_dscp(header[1] >> 2),
            flow: Walk::new(key).v4(&ip[..len]),
        })
    }

    fn read_v6(frame: &[u8], at: usize, key: FlowKey) -> Result<Self, Malformed> {
        let ip = &frame[at..];
        let header = ip.first_chunk::<40>().ok_or(Malformed::ShortNetwork)?;
        if header[0] >> 4 != 6 {
            return Err(Malformed::Version);
        }
        let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
        // A payload length of zero with a hop-by-hop header is a jumbogram (RFC 2675): its length
        // is the frame's.
        let len = if payload == 0 && header[6] == 0 { ip.len() } else { 40 + payload };
        if len > ip.len() {
            return Err(Malformed::Length);
        }
        let traffic_class = header[0] << 4 | header[1] >> 4;
        Ok(Self {
            network: Network::V6(at as u16),
            len: Bytes::new(len as u64),
            ecn: Ecn::from_bits(traffic_class),
            class: Class::from_dscp(traffic_class >> 2),
            flow: Walk::new(key).v6(&ip[..len]),
        })
    }
}

/// The protocol behind the link header, its tags and PPPoE, and where it begins.
#[inline]
pub(crate) fn link_end(frame: &[u8]) -> Result<(u16, usize), Malformed> {
    let mut protocol = word(frame, 12).ok_or(Malformed::ShortLink)?;
    let mut at = ETHERNET;
    let mut tags = 0;
    while matches!(protocol, VLAN | PROVIDER_VLAN | OLD_PROVIDER_VLAN) && tags < MAX_TAGS {
        protocol = word(frame, at + 2).ok_or(Malformed::ShortLink)?;
        at += 4;
        tags += 1;
    }
    if protocol == PPPOE_SESSION {
        // Version, code, session and length in six bytes, then the PPP protocol.
        return match word(frame, at + 6).ok_or(Malformed::ShortLink)? {
            0x0021 => Ok((IPV4, at + 8)),
            0x0057 => Ok((IPV6, at + 8)),
            _ => Ok((PPPOE_SESSION, at)),
        };
    }
    Ok((protocol, at))
}

/// Sets CE in the IP header of a frame, with IPv4's header checksum brought up to date (RFC 1624).
/// Other frames stay unchanged.
#[inline]
pub fn set_ce(frame: &mut [u8], network: Network) {
    match network {
        Network::V4(at) => {
            let at = usize::from(at);
            let Some(header) = frame.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<12>()) else { return };
            let before = u16::from_be_bytes([header[0], header[1]]);
            header[1] |= Ecn::Ce as u8;
            let after = u16::from_be_bytes([header[0], header[1]]);
            let sum = updated(u16::from_be_bytes([header[10], header[11]]), before, after);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Network::V6(at) => {
            // The codepoint is the low half of the traffic class, which lies across the first two
            // bytes.
            if let Some(byte) = frame.get_mut(usize::from(at) + 1) {
                *byte |= (Ecn::Ce as u8) << 4;
            }
        }
        Network::Other => {}
    }
}

#[cfg(test)]
mod tests;
