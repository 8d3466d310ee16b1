//! One packet of IP, also inside a tunnel.

use super::link::{self, Found, Layer, Place};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TcpSlice, TransportSlice};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

/// Address and port.
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
    /// The place where it was recorded, and the hops that it had left.
    pub(super) seen_at: (Place, u8),
    /// A digest of all that stays the same from place to place, but for the ends.
    pub(super) digest: u64,
    /// Whether it was inside a tunnel.
    pub(super) is_tunneled: bool,
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

/// More tunnels than this are not in one another.
const MAX_TUNNELS: usize = 4;

/// Protocols inside IP (the list of IANA).
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
/// The port of VXLAN, and the one that Linux took before it had one.
const VXLAN: [u16; 2] = [4_789, 8_472];

/// Hands each packet of IP in a frame to `take`; returns whether the frame is encrypted.
pub(super) fn each(first: Layer, frame: Frame<'_>, take: &mut impl FnMut(Packet)) -> bool {
    let mut place = Place { interfaces: [frame.interface, 0], direction: 0 };
    let mut found = Found::default();
    let _ = link::peel(first, frame.data, &mut place, &mut found);
    let cut = u64::from(frame.whole).saturating_sub(frame.data.len() as u64);
    for ip in found.packets {
        let packet = innermost(ip, place, cut).or_else(|| read(ip, place, cut).map(|(packet, _)| packet));
        if let Some(packet) = packet {
            take(Packet { at: frame.at, ..packet });
        }
    }
    found.is_encrypted
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
    let (from, to, said, header, hops): (IpAddr, IpAddr, u64, usize, u8) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            header.identification().hash(&mut digest);
            let ends = (header.source_addr().into(), header.destination_addr().into());
            (ends.0, ends.1, u64::from(header.total_len()), header.slice().len(), header.ttl())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let ends = (header.source_addr().into(), header.destination_addr().into());
            (ends.0, ends.1, u64::from(header.payload_length()) + 40, 40, header.hop_limit())
        }
        LaxNetSlice::Arp(_) => return None,
    };
    // Segmentation offload leaves a length of zero: the captured packet is as long as it was.
    let whole = (ip.len() as u64 + cut).min(u64::from(u16::MAX) * 4);
    let len = if said <= header as u64 { whole } else { said };
    len.hash(&mut digest);
    let (ports, tcp) = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            let headers = (header + tcp.slice().len()).saturating_sub(tcp.payload().len()) as u64;
            digest_of(tcp, &mut digest);
            ((tcp.source_port(), tcp.destination_port()), Some(segment(tcp, len.saturating_sub(headers))))
        }
        Some(TransportSlice::Udp(udp)) => {
            udp.payload().hash(&mut digest);
            ((udp.source_port(), udp.destination_port()), None)
        }
        Some(_) | None => {
            ip.get(header..).hash(&mut digest);
            ((0, 0), None)
        }
    };
    let tunnel = match (&sliced.transport, sliced.net.as_ref()?.ip_payload_ref()) {
        (Some(TransportSlice::Udp(udp)), _) if VXLAN.contains(&ports.1) => link::in_vxlan(udp.payload()),
        (None, Some(inside)) if !inside.fragmented => match inside.ip_number.0 {
            GRE => link::in_gre(inside.payload),
            IPV4 | IPV6 => Some((Layer::Ip, inside.payload)),
            _ => None,
        },
        _ => None,
    };
    let (from, to) = ((from, ports.0), (to, ports.1));
    let digest = digest.finish();
    Some((Packet { at: 0, from, to, len, tcp, seen_at: (place, hops), digest, is_tunneled: false }, tunnel))
}

fn segment(tcp: &TcpSlice<'_>, data: u64) -> Segment {
    let stamps = tcp.options_iterator().flatten().find_map(|option| match option {
        TcpOptionElement::Timestamp(value, echo) => Some((value, echo)),
        _ => None,
    });
    Segment { syn: tcp.syn(), ack: tcp.ack(), sequence: tcp.sequence_number(), data, stamps }
}

/// Adds all of a segment but its ports and checksum, which the translation of addresses changes.
fn digest_of(tcp: &TcpSlice<'_>, digest: &mut DefaultHasher) {
    let bytes = tcp.slice();
    bytes.get(4..16).hash(digest);
    bytes.get(18..).hash(digest);
}
