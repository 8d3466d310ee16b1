//! Assignment of packets to flows.

use super::{ETHERNET, IPV4, IPV6, word};
use goodqueue_aqm::FlowHash;

/// The key of the hash over flows. Unknown to senders, so that none can choose whom to share a
/// queue with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowKey(pub u64);

impl FlowKey {
    fn start(self) -> Hash {
        Hash(self.0 ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A frame that is no IP: the stations and the protocol.
    pub(super) fn stations(self, frame: &[u8], protocol: u16) -> FlowHash {
        let hash = self.start().with(u64::from(protocol));
        frame.first_chunk::<12>().map_or(hash, |stations| hash.with_bytes(stations)).finish()
    }
}

/// Multiplication and folding of the 128-bit product, a word at a time.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    #[inline]
    fn with(self, word: u64) -> Self {
        let wide = u128::from(self.0 ^ word) * 0xD6E8_FEB8_6659_FD93;
        Self((wide as u64) ^ (wide >> 64) as u64 ^ word.rotate_left(32).wrapping_mul(0xA076_1D64_78BD_642F))
    }

    #[inline]
    fn with_bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let whole = words.iter().fold(self, |hash, word| hash.with(u64::from_le_bytes(*word)));
        if rest.is_empty() {
            return whole;
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        whole.with(u64::from_le_bytes(last))
    }

    #[inline]
    fn finish(self) -> FlowHash {
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        FlowHash((mixed >> 32) as u32)
    }
}

/// Headers within headers beyond this are not looked at.
const MAX_TUNNELS: u8 = 2;
const MAX_EXTENSIONS: usize = 8;

const HOP_BY_HOP: u8 = 0;
const IP_IN_IP: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const DCCP: u8 = 33;
const IPV6_IN_IP: u8 = 41;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const DESTINATION: u8 = 60;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

const VXLAN: u16 = 4789;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
const ETHERNET_IN: u16 = 0x6558;

/// The way from the outermost header to the one that tells flows apart. Whatever does not read as
/// expected ends it: an inner header that makes no sense is payload.
pub(super) struct Walk {
    hash: Hash,
    tunnels: u8,
}

/// Protocol and ports in one word.
#[inline]
fn with_ports(protocol: u8, ports: u32) -> u64 {
    u64::from(ports) << 8 | u64::from(protocol)
}

/// The flow of a packet without a tunnel, as [`Walk::v4`] has it, from its IPv4 header of 20 bytes
/// and eight bytes behind it; nothing where that has to look further. The packet is no fragment.
#[inline]
pub(super) fn plain(key: FlowKey, head: &[u8; 28]) -> Option<FlowHash> {
    let addresses = u64::from_le_bytes(*head[12..].first_chunk()?);
    let ports = u32::from_be_bytes(*head[20..].first_chunk()?);
    let is_plain = match head[9] {
        TCP => true,
        UDP => !matches!(ports as u16, VXLAN | GENEVE | GTP_U),
        _ => false,
    };
    is_plain.then(|| key.start().with(addresses).with(with_ports(head[9], ports)).finish())
}

impl Walk {
    pub(super) fn new(key: FlowKey) -> Self {
        Self { hash: key.start(), tunnels: 0 }
    }

    /// Reads a complete IPv4 header, whose length field is that of `ip`.
    pub(super) fn v4(mut self, ip: &[u8]) -> FlowHash {
        self.hash = self.hash.with_bytes(&ip[12..20]);
        let is_fragment = word(ip, 6).is_some_and(|field| field & 0x3FFF != 0);
        let header = usize::from(ip[0] & 0xF) * 4;
        // Only the first fragment shows ports, so none of them counts by its ports.
        if is_fragment {
            self.hash.with(u64::from(ip[9])).finish()
        } else {
            self.transport(ip[9], ip.get(header..).unwrap_or(&[]))
        }
    }

    /// From an IPv6 header, which is whole.
    pub(super) fn v6(mut self, ip: &[u8]) -> FlowHash {
        self.hash = self.hash.with_bytes(&ip[8..40]);
        let label = u32::from_be_bytes([0, ip[1] & 0xF, ip[2], ip[3]]);
        if label != 0 {
            // The sender defines the flow (RFC 6437).
            return self.hash.with(u64::from(label) << 8).finish();
        }
        let (mut next, mut at) = (ip[6], 40);
        for _ in 0..MAX_EXTENSIONS {
            let Some(&[following, len]) = ip.get(at..).and_then(|rest| rest.first_chunk::<2>()) else { break };
            match next {
                HOP_BY_HOP | ROUTING | DESTINATION => at += (usize::from(len) + 1) * 8,
                FRAGMENT => return self.hash.with(u64::from(following)).finish(),
                _ => break,
            }
            next = following;
        }
        self.transport(next, ip.get(at..).unwrap_or(&[]))
    }

    fn transport(mut self, protocol: u8, rest: &[u8]) -> FlowHash {
        match protocol {
            TCP | UDP | DCCP | SCTP | UDP_LITE => {
                let Some(ports) = rest.first_chunk::<4>() else { return self.hash.with(u64::from(protocol)).finish() };
                self.hash = self.hash.with(with_ports(protocol, u32::from_be_bytes(*ports)));
                if protocol == UDP { self.udp(u16::from_be_bytes([ports[2], ports[3]]), &rest[4..]) } else { self.hash.finish() }
            }
            IP_IN_IP => self.inner(IPV4, rest),
            IPV6_IN_IP => self.inner(IPV6, rest),
            GRE => self.gre(rest),
            _ => self.hash.with(u64::from(protocol)).finish(),
        }
    }

    /// Behind the ports of a UDP packet.
    fn udp(self, port: u16, rest: &[u8]) -> FlowHash {
        // Length and checksum come first.
        let payload = rest.get(4..).unwrap_or(&[]);
        match (port, payload) {
            // Flags with the bit for an identifier.
            (VXLAN, [flags, ..]) if flags & 0x08 != 0 => self.inner(ETHERNET_IN, payload.get(8..).unwrap_or(&[])),
            (GENEVE, [first, _, high, low, ..]) if first >> 6 == 0 => {
                let options = usize::from(first & 0x3F) * 4;
                self.inner(u16::from_be_bytes([*high, *low]), payload.get(8 + options..).unwrap_or(&[]))
            }
            // Version 1, GTP rather than GTP', a packet of a user. Optional fields and extension
            // headers are four bytes and more.
            (GTP_U, [flags, 0xFF, ..]) if flags >> 4 == 0b0011 => self.gtp(*flags, payload),
            _ => self.hash.finish(),
        }
    }

    fn gtp(self, flags: u8, payload: &[u8]) -> FlowHash {
        let mut at = 8;
        if flags & 0b111 != 0 {
            at += 4;
            let mut next = if flags & 0b100 != 0 { payload.get(11).copied().unwrap_or(0) } else { 0 };
            for _ in 0..MAX_EXTENSIONS {
                if next == 0 {
                    break;
                }
                let len = usize::from(payload.get(at).copied().unwrap_or(0)) * 4;
                if len == 0 {
                    return self.hash.finish();
                }
                next = payload.get(at + len - 1).copied().unwrap_or(0);
                at += len;
            }
        }
        let inner = payload.get(at..).unwrap_or(&[]);
        match inner.first().map(|first| first >> 4) {
            Some(4) => self.inner(IPV4, inner),
            Some(6) => self.inner(IPV6, inner),
            _ => self.hash.finish(),
        }
    }

    fn gre(self, rest: &[u8]) -> FlowHash {
        let (Some(flags), Some(protocol)) = (word(rest, 0), word(rest, 2)) else { return self.hash.finish() };
        if flags & 0x0007 != 0 {
            // Only version 0 carries packets as they are (RFC 2784, RFC 2890).
            return self.hash.finish();
        }
        let optional = [0x8000, 0x2000, 0x1000].into_iter().filter(|bit| flags & bit != 0).count() * 4;
        self.inner(protocol, rest.get(4 + optional..).unwrap_or(&[]))
    }

    /// A whole packet or frame within this one.
    fn inner(mut self, protocol: u16, bytes: &[u8]) -> FlowHash {
        if self.tunnels == MAX_TUNNELS {
            return self.hash.finish();
        }
        self.tunnels += 1;
        match protocol {
            ETHERNET_IN => match word(bytes, 12) {
                Some(inner @ (IPV4 | IPV6)) => self.inner_ip(inner, &bytes[ETHERNET..]),
                _ => self.hash.finish(),
            },
            IPV4 | IPV6 => self.inner_ip(protocol, bytes),
            _ => self.hash.finish(),
        }
    }

    fn inner_ip(self, protocol: u16, ip: &[u8]) -> FlowHash {
        match (protocol, ip.first().map(|first| (first >> 4, usize::from(first & 0xF) * 4))) {
            (IPV4, Some((4, header))) if header >= 20 && ip.len() >= header => self.v4(ip),
            (IPV6, Some((6, _))) if ip.len() >= 40 => self.v6(ip),
            _ => self.hash.finish(),
        }
    }
}
