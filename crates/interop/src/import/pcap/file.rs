//! Packets out of a file.

use crate::import::{ImportError, Input};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};
use pcap_parser::{Block, PcapBlockOwned, PcapError, create_reader};
use std::net::IpAddr;

/// One packet of IP.
pub(super) struct Packet {
    /// Seconds since 1970.
    pub(super) at: f64,
    /// Sender.
    pub(super) from: (IpAddr, u16),
    /// Receiver.
    pub(super) to: (IpAddr, u16),
    /// IP length.
    pub(super) len: u64,
    /// The fields of the TCP header, if it is TCP.
    pub(super) tcp: Option<Segment>,
}

/// A segment of TCP.
pub(super) struct Segment {
    pub(super) syn: bool,
    pub(super) ack: bool,
    /// Bytes of data.
    pub(super) data: u64,
    /// Time stamps: value and echo.
    pub(super) stamps: Option<(u32, u32)>,
}

/// The result of reading a file.
pub(super) struct Kept {
    /// Whether it ends within a packet.
    pub(super) cut: bool,
}

/// No packet is larger, with its block around it.
const MAX_BLOCK: usize = 1 << 20;
/// More interfaces than this are not a host's.
const MAX_INTERFACES: usize = 1_000;

/// The format of an interface's packets: kind of link, offset and units of time stamps.
#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    offset: f64,
    per_second: f64,
}

/// Hands each packet of IP to `take`.
///
/// # Errors
/// When the file is no recording of packets, or wrong before its end.
pub(super) fn each_packet(input: &Input, mut take: impl FnMut(Packet)) -> Result<Kept, ImportError> {
    let unknown = || input.fault("is no recording of packets: expected pcap or pcapng");
    let mut reader = create_reader(MAX_BLOCK, input.bytes.as_slice()).map_err(|_| unknown())?;
    let mut interfaces: Vec<Interface> = Vec::new();
    loop {
        let offset = match reader.next() {
            Ok((offset, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        let per_second = if header.is_nanosecond_precision() { 1e9 } else { 1e6 };
                        interfaces = vec![Interface { link: header.network.0, offset: 0.0, per_second }];
                    }
                    PcapBlockOwned::Legacy(block) => {
                        let interface = *interfaces.first().ok_or_else(unknown)?;
                        let at = f64::from(block.ts_sec) + f64::from(block.ts_usec) / interface.per_second;
                        let data = block.data.get(..block.caplen as usize).unwrap_or(block.data);
                        packet(interface.link, at, data, block.origlen).map(&mut take);
                    }
                    PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
                    PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                        if interfaces.len() >= MAX_INTERFACES {
                            return Err(input.fault(format!("has too many interfaces: allowed up to {MAX_INTERFACES}")));
                        }
                        let per_second = block.ts_resolution().unwrap_or(1_000_000).max(1) as f64;
                        interfaces.push(Interface { link: block.linktype.0, offset: block.ts_offset() as f64, per_second });
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
                        if let Some(interface) = interfaces.get(block.if_id as usize) {
                            let ticks = (u64::from(block.ts_high) << 32) | u64::from(block.ts_low);
                            let at = ticks as f64 / interface.per_second + interface.offset;
                            let data = block.data.get(..block.caplen as usize).unwrap_or(block.data);
                            packet(interface.link, at, data, block.origlen).map(&mut take);
                        }
                    }
                    // Statistics, names and blocks of programs have no packets.
                    PcapBlockOwned::NG(_) => {}
                }
                offset
            }
            Err(PcapError::Eof) => return Ok(Kept { cut: false }),
            Err(PcapError::UnexpectedEof) => return Ok(Kept { cut: true }),
            Err(PcapError::Incomplete(_)) => {
                let before = (reader.position(), reader.data().len());
                let is_filled = reader.refill().is_ok();
                if is_filled && (reader.position(), reader.data().len()) != before {
                    continue;
                }
                return Ok(Kept { cut: true });
            }
            Err(_) if interfaces.is_empty() => return Err(unknown()),
            Err(error) => {
                let message: String = error.to_string().chars().take(80).filter(|c| !c.is_control()).collect();
                return Err(input.fault(format!("byte {}: cannot be read: {message}", reader.consumed())));
            }
        };
        reader.consume(offset);
    }
}

/// Kinds of links (the list of tcpdump.org), and bytes before the IP header.
const LINKS: &[(i32, usize)] = &[(0, 4), (12, 0), (14, 0), (101, 0), (108, 4), (113, 16), (228, 0), (229, 0), (276, 20)];
const ETHERNET: i32 = 1;

fn packet(link: i32, at: f64, data: &[u8], whole: u32) -> Option<Packet> {
    let sliced = if link == ETHERNET {
        LaxSlicedPacket::from_ethernet(data).ok()?
    } else {
        let (_, header) = LINKS.iter().find(|(known, _)| *known == link)?;
        LaxSlicedPacket::from_ip(data.get(*header..)?).ok()?
    };
    let (from, to, said, header) = match sliced.net? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let ends: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
            (ends.0, ends.1, u64::from(header.total_len()), header.slice().len())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let ends: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
            (ends.0, ends.1, u64::from(header.payload_length()) + 40, 40)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    // Segmentation offload leaves a length of zero: the captured packet is as long as it was.
    let len = if said <= header as u64 { u64::from(whole).saturating_sub(14).min(u64::from(u16::MAX) * 4) } else { said };
    let (ports, tcp) = match &sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            let stamps = tcp.options_iterator().flatten().find_map(|option| match option {
                TcpOptionElement::Timestamp(value, echo) => Some((value, echo)),
                _ => None,
            });
            let headers = header as u64 + tcp.slice().len().saturating_sub(tcp.payload().len()) as u64;
            let segment = Segment { syn: tcp.syn(), ack: tcp.ack(), data: len.saturating_sub(headers), stamps };
            ((tcp.source_port(), tcp.destination_port()), Some(segment))
        }
        Some(TransportSlice::Udp(udp)) => ((udp.source_port(), udp.destination_port()), None),
        Some(_) | None => ((0, 0), None),
    };
    Some(Packet { at, from: (from, ports.0), to: (to, ports.1), len, tcp })
}
