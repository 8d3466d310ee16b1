//! One packet of IP, also inside a tunnel.

use super::link::{self, Found, Layer, Place, Unread};
use etherparse::{LaxIpPayloadSlice, LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpOptionsIterator};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

/// Address and port; the port is 0 where there is none, or it was not recorded.
pub(super) type End = (IpAddr, u16);

/// One packet of IP.
pub(super) struct Packet {
    /// Nanoseconds since 1970.
    pub(super) at: i64,
    /// Sender.
    pub(super) from: End,
    /// Receiver.
    pub(super) to: End,
    /// IP length.
    pub(super) len: u64,
    /// The fields of the TCP header, if it is TCP.
    pub(super) tcp: Option<Segment>,
    /// Whether it is TCP of which too little was recorded for these fields.
    pub(super) is_cut_tcp: bool,
    /// The place where it was recorded, and the hops that it had left.
    pub(super) seen_at: (Place, u8),
    /// A digest of all that stays the same from place to place, but for the ends.
    pub(super) digest: u64,
    /// Whether the digest tells it from others: it has a number, or was recorded whole.
    pub(super) is_distinct: bool,
    /// Whether the digest tells it from others of all connections: it has numbers of TCP, or enough
    /// of another protocol was recorded.
    pub(super) is_unique: bool,
    /// Whether it was inside a tunnel.
    pub(super) is_tunneled: bool,
    /// Whether it has another packet inside that cannot be read.
    pub(super) is_sealed: bool,
}

/// A segment of TCP.
pub(super) struct Segment {
    pub(super) syn: bool,
    pub(super) ack: bool,
    /// The number of the first byte.
    pub(super) sequence: u32,
    /// Bytes of data.
    pub(super) data: u64,
    /// Time stamps: value and echo.
    pub(super) stamps: Option<(u32, u32)>,
}

/// A frame as it was recorded.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub(super) at: i64,
    /// The bytes that were kept.
    pub(super) data: &'a [u8],
    /// Bytes that it had.
    pub(super) whole: u32,
    /// The interface of the recording.
    pub(super) interface: u32,
}

/// The part of a frame that was not read.
pub(super) struct LeftOut {
    pub(super) is_encrypted: bool,
    pub(super) unread: Option<Unread>,
    /// Packets that are cut or wrong within the header of IP.
    pub(super) broken: u64,
}

/// More tunnels than this are not in one another.
const MAX_TUNNELS: usize = 4;

/// Protocols inside IP (the list of IANA).
const IPV4: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const GRE: u8 = 47;
/// Protocols that begin with two ports: with TCP and UDP, DCCP, SCTP and UDP-Lite.
const WITH_PORTS: [u8; 5] = [TCP, UDP, 33, 132, 136];
const ESP: u8 = 50;
/// Ports of OpenVPN, of ESP through translators of addresses, and of WireGuard.
const SEALED: [u16; 3] = [1_194, 4_500, 51_820];
/// Bytes of a datagram that no other connection's has; QUIC's numbers of connections are shorter.
const MIN_UNIQUE: usize = 16;
/// The port of VXLAN, and the one that Linux took before it had one.
const VXLAN: [u16; 2] = [4_789, 8_472];
/// Bytes of a header of UDP.
const UDP_HEADER: usize = 8;

/// Hands each packet of IP in a frame to `take`.
pub(super) fn each(first: Layer, frame: Frame<'_>, take: &mut impl FnMut(Packet)) -> LeftOut {
    let mut place = Place { interfaces: [frame.interface, 0], direction: 0 };
    let mut found = Found::default();
    let _ = link::peel(first, frame.data, &mut place, &mut found);
    let cut = u64::from(frame.whole).saturating_sub(frame.data.len() as u64);
    let mut broken = 0;
    for ip in found.packets {
        let packet = innermost(ip, place, cut).or_else(|| read(ip, place, cut).map(|(packet, _)| packet));
        match packet {
            Some(packet) => take(Packet { at: frame.at, ..packet }),
            None => broken += 1,
        }
    }
    LeftOut { is_encrypted: found.is_encrypted, unread: found.unread, broken }
}

/// The packet within all tunnels, if it is in one.
fn innermost(ip: &[u8], place: Place, cut: u64) -> Option<Packet> {
    let (mut ip, mut place, mut inner) = (ip, place, None);
    for _ in 0..MAX_TUNNELS {
        let Some((layer, data)) = read(ip, place, cut).and_then(|(_, tunnel)| tunnel) else { break };
        let mut found = Found::default();
        let _ = link::peel(layer, data, &mut place, &mut found);
        let Some(next) = found.packets.first() else { break };
        let Some((packet, _)) = read(next, place, cut) else { break };
        inner = Some(Packet { is_tunneled: true, ..packet });
        ip = next;
    }
    inner
}

/// A packet, and the header inside when it is a tunnel's.
#[expect(clippy::type_complexity, reason = "a packet and a header with its bytes, in one place")]
fn read(ip: &[u8], place: Place, cut: u64) -> Option<(Packet, Option<(Layer, &[u8])>)> {
    let sliced = LaxSlicedPacket::from_ip(ip).ok()?;
    let mut digest = DefaultHasher::new();
    let mut has_number = false;
    // A part of a packet that is not the first has no header of the transport.
    let is_rest;
    let net = sliced.net.as_ref()?;
    let (from, to, said, header, hops): (IpAddr, IpAddr, u64, usize, u8) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            has_number = header.identification() != 0;
            is_rest = header.fragments_offset().value() != 0;
            (header.identification(), header.fragments_offset().value()).hash(&mut digest);
            let ends = (header.source_addr().into(), header.destination_addr().into());
            (ends.0, ends.1, u64::from(header.total_len()), header.slice().len(), header.ttl())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            is_rest = ip.payload().fragmented;
            let ends = (header.source_addr().into(), header.destination_addr().into());
            (ends.0, ends.1, u64::from(header.payload_length()) + 40, 40, header.hop_limit())
        }
        LaxNetSlice::Arp(_) => return None,
    };
    // Segmentation offload leaves a length of zero: the captured packet is as long as it was.
    let whole = (ip.len() as u64 + cut).min(u64::from(u16::MAX) * 4);
    let len = if said <= header as u64 { whole } else { said };
    len.hash(&mut digest);
    let inside = net.ip_payload_ref()?;
    let protocol = if is_rest { None } else { Some(inside.ip_number.0) };
    let bytes = inside.payload;
    let port = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let ports = protocol.filter(|number| WITH_PORTS.contains(number)).and_then(|_| port(0).zip(port(2))).unwrap_or_default();
    let tcp = protocol.filter(|number| *number == TCP).and_then(|_| segment(bytes, len.saturating_sub(header as u64)));
    match protocol {
        // All but ports and checksum, which the translation of addresses changes.
        Some(TCP) => (bytes.get(4..16), bytes.get(18..)).hash(&mut digest),
        Some(UDP) => bytes.get(UDP_HEADER..).hash(&mut digest),
        _ => ip.get(header..).hash(&mut digest),
    }
    let packet = Packet {
        at: 0,
        from: (from, ports.0),
        to: (to, ports.1),
        len,
        is_cut_tcp: protocol == Some(TCP) && tcp.is_none(),
        is_unique: tcp.is_some() || (protocol == Some(UDP) && bytes.len() >= UDP_HEADER + MIN_UNIQUE),
        is_sealed: protocol.is_some_and(|number| number == ESP || (number == UDP && ports_of_tunnel(ports))),
        is_distinct: has_number || tcp.is_some() || ip.len() as u64 >= len,
        tcp,
        seen_at: (place, hops),
        digest: digest.finish(),
        is_tunneled: false,
    };
    Some((packet, tunnel(inside, ports.1)))
}

fn ports_of_tunnel((from, to): (u16, u16)) -> bool {
    SEALED.contains(&from) || SEALED.contains(&to)
}

/// The header inside a packet that is a tunnel's.
fn tunnel<'a>(inside: &LaxIpPayloadSlice<'a>, port: u16) -> Option<(Layer, &'a [u8])> {
    match inside.ip_number.0 {
        _ if inside.fragmented => None,
        UDP if VXLAN.contains(&port) => link::in_vxlan(inside.payload.get(UDP_HEADER..)?),
        GRE => link::in_gre(inside.payload),
        IPV4 | IPV6 => Some((Layer::Ip, inside.payload)),
        _ => None,
    }
}

/// The fields of a header of TCP, of which the options may be cut; `len` with header and data.
fn segment(bytes: &[u8], len: u64) -> Option<Segment> {
    const SYN: u8 = 2;
    const ACK: u8 = 16;
    const OPTIONS: usize = 20;
    let flags = *bytes.get(13)?;
    let header = usize::from(bytes[12] >> 4) * 4;
    let options = bytes.get(OPTIONS..header).unwrap_or_default();
    let stamps = TcpOptionsIterator::from_slice(options).flatten().find_map(|option| match option {
        TcpOptionElement::Timestamp(value, echo) => Some((value, echo)),
        _ => None,
    });
    Some(Segment {
        syn: flags & SYN != 0,
        ack: flags & ACK != 0,
        sequence: u32::from_be_bytes(*bytes.get(4..)?.first_chunk()?),
        data: len.checked_sub(header as u64).filter(|_| header >= OPTIONS)?,
        stamps,
    })
}
