//! Headers in front of IP, from the kind of a link down to the packet.

use std::fmt;

/// A header; what is behind it follows from its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// IP itself.
    Ip,
    /// Two addresses and a type.
    Ethernet,
    /// The data of this Ethernet type.
    Typed(u16),
    /// LLC and SNAP (IEEE 802.2).
    Llc,
    /// A session of PPPoE (RFC 2516).
    Session,
    /// PPP, with or without address and control (RFC 1661 and 1662).
    Ppp,
    /// Cisco's HDLC, or PPP in frames like those of HDLC.
    Hdlc,
    /// A family of addresses, in either byte order.
    Family,
    /// Linux's cooked header, version 1.
    Cooked,
    /// Linux's cooked header, version 2.
    Cooked2,
    /// A frame of IEEE 802.11.
    Wifi,
    /// Fields of the radio, then a frame of 802.11.
    Radiotap,
}

use Layer::{Cooked, Cooked2, Ethernet, Family, Hdlc, Ip, Llc, Ppp, Radiotap, Session, Typed, Wifi};

/// Kinds of links by number, with their names (the list of tcpdump.org).
const LINKS: &[(u16, &str, Option<Layer>)] = &[
    (0, "NULL", Some(Family)),
    (1, "ETHERNET", Some(Ethernet)),
    (3, "AX25", None),
    (6, "IEEE802_5", None),
    (7, "ARCNET_BSD", None),
    (8, "SLIP", None),
    (9, "PPP", Some(Ppp)),
    (10, "FDDI", None),
    (12, "RAW", Some(Ip)),
    (14, "RAW", Some(Ip)),
    (50, "PPP_HDLC", Some(Hdlc)),
    (51, "PPP_ETHER", Some(Session)),
    (100, "ATM_RFC1483", None),
    (101, "RAW", Some(Ip)),
    (104, "C_HDLC", Some(Hdlc)),
    (105, "IEEE802_11", Some(Wifi)),
    (107, "FRELAY", None),
    (108, "LOOP", Some(Family)),
    (113, "LINUX_SLL", Some(Cooked)),
    (117, "PFLOG", None),
    (119, "IEEE802_11_PRISM", None),
    (122, "IP_OVER_FC", None),
    (123, "SUNATM", None),
    (127, "IEEE802_11_RADIOTAP", Some(Radiotap)),
    (143, "DOCSIS", None),
    (163, "IEEE802_11_AVS", None),
    (166, "PPP_PPPD", None),
    (187, "BLUETOOTH_HCI_H4", None),
    (189, "USB_LINUX", None),
    (192, "PPI", None),
    (195, "IEEE802_15_4_WITHFCS", None),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR", None),
    (204, "PPP_WITH_DIR", None),
    (205, "C_HDLC_WITH_DIR", None),
    (220, "USB_LINUX_MMAPPED", None),
    (226, "IPNET", None),
    (227, "CAN_SOCKETCAN", None),
    (228, "IPV4", Some(Ip)),
    (229, "IPV6", Some(Ip)),
    (230, "IEEE802_15_4_NOFCS", None),
    (239, "NFLOG", None),
    (240, "NETANALYZER", None),
    (242, "IPOIB", None),
    (247, "INFINIBAND", None),
    (249, "USBPCAP", None),
    (252, "WIRESHARK_UPPER_PDU", None),
    (253, "NETLINK", None),
    (254, "BLUETOOTH_LINUX_MONITOR", None),
    (258, "PKTAP", None),
    (276, "LINUX_SLL2", Some(Cooked2)),
];

/// Kinds of links that are read, in words.
pub(super) const READ: &str = "Ethernet, Linux cooked, raw IP, BSD loopback, PPP, PPPoE, HDLC or 802.11";

/// The first header on a kind of link, if it is one that is read.
pub(super) fn first(link: u16) -> Option<Layer> {
    LINKS.iter().find(|(number, ..)| *number == link)?.2
}

/// Name and number of a kind of link.
pub(super) fn name(link: u16) -> String {
    let known = LINKS.iter().find(|(number, ..)| *number == link);
    known.map_or_else(|| format!("link type {link}"), |(_, name, _)| format!("link type {link}, {name},"))
}

/// The place where a packet was recorded, as far as its headers tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The interface of the recording, and that of a cooked header.
    pub(super) interfaces: [u32; 2],
    /// The kind of packet in a cooked header, or the direction and repetition of 802.11.
    pub(super) direction: u16,
}

/// The packets of IP in a frame.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// Beginnings of packets; several in an aggregate of 802.11.
    pub(super) packets: Vec<&'a [u8]>,
    /// Whether it is encrypted.
    pub(super) is_encrypted: bool,
    /// The header that is not read, behind which there may be a packet.
    pub(super) unread: Option<Unread>,
}

/// A header that is not read, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unread {
    /// Ethernet's number of a type.
    Type(u16),
    /// PPP's number of a protocol.
    Protocol(u16),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(kind @ (0x8847 | 0x8848)) => write!(f, "Ethernet type {kind:#06x}, MPLS"),
            Self::Type(kind) => write!(f, "Ethernet type {kind:#06x}"),
            Self::Protocol(protocol) => write!(f, "PPP protocol {protocol:#06x}"),
        }
    }
}

/// Types of Ethernet without packets of IP behind them: ARP and RARP, PPPoE's discovery, pauses,
/// 802.1X, LLDP, and the test of a loop.
const WITHOUT_IP: [u16; 7] = [0x0806, 0x8035, 0x8863, 0x8808, 0x888e, 0x88cc, 0x9000];
/// Protocols of PPP from here on control the link or one of its networks (RFC 1661 §2).
const FIRST_CONTROL: u16 = 0x8000;

/// More headers than this are in no frame.
const MAX_LAYERS: usize = 32;

/// Families of IPv4 and IPv6 in the systems that have loopbacks of BSD.
const FAMILIES: [u32; 6] = [2, 10, 23, 24, 28, 30];

/// Looks through the headers of a frame. `None` where it has no IP, or is cut before it.
pub(super) fn peel<'a>(layer: Layer, data: &'a [u8], place: &mut Place, found: &mut Found<'a>) -> Option<()> {
    let (mut layer, mut data) = (layer, data);
    let mut is_padded = false;
    for _ in 0..MAX_LAYERS {
        (layer, data) = match layer {
            Ip => {
                found.packets.push(data);
                return Some(());
            }
            Ethernet => (Typed(be16(data, 12)?), data.get(14..)?),
            Typed(kind) => {
                let next = typed(kind, data);
                found.unread = (next.is_none() && !WITHOUT_IP.contains(&kind)).then_some(Unread::Type(kind));
                next?
            }
            Llc => match data.get(..3)? {
                [0xaa, 0xaa, 3] => (Typed(be16(data, 6)?), data.get(8..)?),
                _ => return None,
            },
            Session => match data.get(..2)? {
                [0x11, 0] => (Ppp, data.get(6..)?),
                _ => return None,
            },
            Ppp => {
                let (protocol, rest) = ppp(data)?;
                let is_ip = matches!(protocol, 0x21 | 0x57);
                found.unread = (!is_ip && protocol < FIRST_CONTROL).then_some(Unread::Protocol(protocol));
                (Ip, is_ip.then_some(rest)?)
            }
            Hdlc => match data.first()? {
                0x0f | 0x8f => (Typed(be16(data, 2)?), data.get(4..)?),
                _ => (Ppp, data),
            },
            Family => {
                let bytes = *data.first_chunk::<4>()?;
                let is_ip = [u32::from_le_bytes(bytes), u32::from_be_bytes(bytes)].iter().any(|one| FAMILIES.contains(one));
                if !is_ip {
                    return None;
                }
                (Ip, data.get(4..)?)
            }
            Cooked => {
                place.direction = be16(data, 0)?;
                (Typed(be16(data, 14)?), data.get(16..)?)
            }
            Cooked2 => {
                place.interfaces[1] = u32::from_be_bytes(*data.get(4..)?.first_chunk()?);
                place.direction = u16::from(*data.get(10)?);
                (Typed(be16(data, 0)?), data.get(20..)?)
            }
            Radiotap => {
                let radio = Radio::read(data)?;
                is_padded = radio.is_padded;
                (Wifi, data.get(radio.len..)?)
            }
            Wifi => return wifi(data, is_padded, place, found),
        };
    }
    None
}

/// The header behind an Ethernet type, or one of the numbers that cooked headers have in its place.
fn typed(kind: u16, data: &[u8]) -> Option<(Layer, &[u8])> {
    /// The longest frame, below which the field is a length (IEEE 802.3).
    const MAX_LENGTH: u16 = 1_500;
    Some(match kind {
        0x0800 | 0x86dd => (Ip, data),
        // 802.1Q, 802.1ad, and what was used before it.
        0x8100 | 0x88a8 | 0x9100 => (Typed(be16(data, 2)?), data.get(4..)?),
        0x8864 => (Session, data),
        0x880b => (Ppp, data),
        0x6558 => (Ethernet, data),
        0..=MAX_LENGTH => (Llc, data),
        _ => return None,
    })
}

/// The number of the protocol, and its data.
fn ppp(data: &[u8]) -> Option<(u16, &[u8])> {
    let data = data.strip_prefix(&[0xff, 3]).unwrap_or(data);
    // The first byte of a protocol is even and the last is odd; a first byte of zero may be left
    // out.
    let (protocol, len) = if data.first()? & 1 == 1 { (u16::from(data[0]), 1) } else { (be16(data, 0)?, 2) };
    Some((protocol, data.get(len..)?))
}

/// The part of a radio's header that matters to what is behind it.
struct Radio {
    len: usize,
    /// Whether the header of 802.11 is followed by bytes up to a multiple of four.
    is_padded: bool,
}

impl Radio {
    /// Reads the header. `None` for frames that arrived broken.
    fn read(data: &[u8]) -> Option<Self> {
        const TIME: u32 = 1;
        const FLAGS: u32 = 2;
        const MORE: u32 = 1 << 31;
        const IS_PADDED: u8 = 0x20;
        const IS_BROKEN: u8 = 0x40;
        let word = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
        let len = usize::from(u16::from_le_bytes(*data.get(2..)?.first_chunk()?));
        let present = word(4)?;
        let mut at = 8;
        let mut last = present;
        while last & MORE != 0 {
            last = word(at)?;
            at += 4;
        }
        if present & TIME != 0 {
            at = at.next_multiple_of(8) + 8;
        }
        let flags = if present & FLAGS != 0 { *data.get(at)? } else { 0 };
        (flags & IS_BROKEN == 0).then_some(Self { len, is_padded: flags & IS_PADDED != 0 })
    }
}

/// A data frame of 802.11 (IEEE 802.11-2020 §9.2.4 and §9.3.2).
fn wifi<'a>(data: &'a [u8], is_padded: bool, place: &mut Place, found: &mut Found<'a>) -> Option<()> {
    let [control, flags] = *data.first_chunk::<2>()?;
    let (is_data, has_none, has_qos) = (control & 0x0f == 0x08, control & 0x40 != 0, control & 0x80 != 0);
    if !is_data || has_none {
        return None;
    }
    if flags & 0x40 != 0 {
        found.is_encrypted = true;
        return None;
    }
    // Toward and from the distribution system, and whether it is a repetition.
    place.direction = u16::from(flags & 0x0b);
    let mut len = if flags & 3 == 3 { 30 } else { 24 };
    let mut is_aggregate = false;
    if has_qos {
        is_aggregate = data.get(len)? & 0x80 != 0;
        len += if flags & 0x80 != 0 { 6 } else { 2 };
    }
    if is_padded {
        len = len.next_multiple_of(4);
    }
    let mut rest = data.get(len..)?;
    if !is_aggregate {
        return peel(Llc, rest, place, found);
    }
    while let Some(size) = be16(rest, 12) {
        let end = 14 + usize::from(size);
        let _ = peel(Llc, rest.get(14..end.min(rest.len()))?, place, found);
        rest = rest.get(end.next_multiple_of(4)..)?;
    }
    Some(())
}

/// The header inside a packet of GRE (RFC 2784 and 2890, and version 1 of RFC 2637).
pub(super) fn in_gre(data: &[u8]) -> Option<(Layer, &[u8])> {
    let flags = be16(data, 0)?;
    let (version, has_route) = (flags & 7, flags & 0x4000 != 0);
    let optional: &[u16] = match version {
        0 => &[0x8000, 0x2000, 0x1000],
        1 => &[0x2000, 0x1000, 0x0080],
        _ => return None,
    };
    let len = 4 + 4 * optional.iter().filter(|flag| flags & **flag != 0).count();
    if has_route {
        return None;
    }
    Some((Typed(be16(data, 2)?), data.get(len..)?))
}

/// The frame inside a packet of VXLAN (RFC 7348).
pub(super) fn in_vxlan(data: &[u8]) -> Option<(Layer, &[u8])> {
    let is_valid = data.first()? & 0x08 != 0;
    is_valid.then_some((Ethernet, data.get(8..)?))
}

fn be16(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*data.get(at..)?.first_chunk()?))
}
