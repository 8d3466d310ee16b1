//! The largest flows of a direction, in a table that never grows.
//!
//! Rows of four places: a flow's packets go to the row of its hash, and one that finds no place there takes that of the flow that has sent the
//! least lately. So a flow that sends much is in the table however many others there are, and every packet costs four comparisons.

use crate::frame::{self, IPV4, IPV6, word};
use crate::packet::LivePacket;
use crate::pool::Pool;
use goodqueue_aqm::{FlowHash, Packet};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const ROWS: usize = 64;
const PLACES: usize = 4;

/// Both ends of a flow, by the outermost IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Who sends.
    pub source: IpAddr,
    /// To whom.
    pub destination: IpAddr,
    /// Number of the protocol over IP.
    pub protocol: u8,
    /// Ports, where the protocol has any and the packet is no fragment.
    pub ports: Option<(u16, u16)>,
}

/// One flow, since it came into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowTotal {
    /// Which.
    pub flow: FlowHash,
    /// Its ends, where it is one of IP.
    pub ends: Option<Ends>,
    /// IP bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    total: FlowTotal,
    /// Bytes sent lately: halved with each report.
    weight: u64,
}

/// The table.
#[derive(Debug)]
pub struct LargestFlows {
    places: Box<[Option<Place>; ROWS * PLACES]>,
}

impl Default for LargestFlows {
    fn default() -> Self {
        Self { places: Box::new([None; ROWS * PLACES]) }
    }
}

impl LargestFlows {
    /// A packet has left.
    #[inline]
    pub fn add(&mut self, packet: &LivePacket, pool: &Pool) {
        let (flow, bytes) = (packet.flow(), packet.len().get());
        let first = flow.0 as usize % ROWS * PLACES;
        let row = &mut self.places[first..first + PLACES];
        if let Some(place) = row.iter_mut().flatten().find(|place| place.total.flow == flow) {
            place.total.bytes += bytes;
            place.total.packets += 1;
            place.weight += bytes;
            return;
        }
        let ends = Ends::read(headers_of(packet, pool));
        let new = Place { total: FlowTotal { flow, ends, bytes, packets: 1 }, weight: bytes };
        // A row has places, so there is a smallest.
        if let Some(smallest) = row.iter_mut().min_by_key(|place| place.as_ref().map_or(0, |place| place.weight)) {
            *smallest = Some(new);
        }
    }

    /// Writes all flows of the table into `into`, and forgets half of what they weigh.
    pub fn report(&mut self, into: &mut Vec<FlowTotal>) {
        into.clear();
        for place in self.places.iter_mut().flatten() {
            into.push(place.total);
            place.weight /= 2;
        }
    }
}

/// The bytes that a packet's headers are in.
fn headers_of<'a>(packet: &LivePacket, pool: &'a Pool) -> &'a [u8] {
    if pool.joined(packet.frame.slot).is_some() { pool.whole(packet.frame.slot) } else { pool.frame(packet.frame) }
}

impl Ends {
    /// Reads them from a frame; `None` where there is no IP header.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let (protocol, at) = frame::link_end(frame).ok()?;
        let ip = frame.get(at..)?;
        match protocol {
            IPV4 => {
                let header = ip.first_chunk::<20>()?;
                let address = |at: usize| IpAddr::V4(Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]));
                let whole = word(header, 6)? & 0x3FFF == 0;
                let ports = if whole { ports(header[9], ip, usize::from(header[0] & 0xF) * 4) } else { None };
                Some(Self { source: address(12), destination: address(16), protocol: header[9], ports })
            }
            IPV6 => {
                let header = ip.first_chunk::<40>()?;
                let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(*header[at..].first_chunk::<16>()?)));
                Some(Self {
                    source: address(8)?,
                    destination: address(24)?,
                    protocol: header[6],
                    ports: ports(header[6], ip, 40),
                })
            }
            _ => None,
        }
    }
}

/// Source and destination port of TCP, UDP, DCCP, SCTP and UDP-Lite.
fn ports(protocol: u8, ip: &[u8], at: usize) -> Option<(u16, u16)> {
    matches!(protocol, 6 | 17 | 33 | 132 | 136).then(|| Some((word(ip, at)?, word(ip, at + 2)?))).flatten()
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.protocol {
            1 | 58 => "icmp",
            4 | 41 => "ip in ip",
            6 => "tcp",
            17 => "udp",
            33 => "dccp",
            47 => "gre",
            50 => "esp",
            132 => "sctp",
            136 => "udp-lite",
            _ => "",
        };
        let end = |f: &mut fmt::Formatter<'_>, address: IpAddr, port: Option<u16>| match (address, port) {
            (IpAddr::V6(address), Some(port)) => write!(f, "[{address}]:{port}"),
            (address, Some(port)) => write!(f, "{address}:{port}"),
            (address, None) => write!(f, "{address}"),
        };
        end(f, self.source, self.ports.map(|ports| ports.0))?;
        f.write_str(" → ")?;
        end(f, self.destination, self.ports.map(|ports| ports.1))?;
        if name.is_empty() { write!(f, " protocol {}", self.protocol) } else { write!(f, " {name}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FlowKey, Headers};
    use crate::pool::Frame;

    fn udp(source: u16) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0];
        frame.extend([0x45, 0, 0, 128, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend(source.to_be_bytes());
        frame.extend([0, 53, 0, 108, 0, 0]);
        frame.resize(14 + 128, 0);
        frame
    }

    fn send(flows: &mut LargestFlows, pool: &mut Pool, source: u16) {
        let bytes = udp(source);
        let slot = pool.take().expect("a buffer");
        let frame = Frame::whole(slot, bytes.len() as u32);
        pool.frame_mut(frame).copy_from_slice(&bytes);
        let headers = Headers::read(&bytes, FlowKey(7)).expect("a good frame");
        flows.add(&LivePacket::new(0, frame, headers), pool);
        pool.give_back(slot);
    }

    #[test]
    fn who_sends_much_is_there_however_many_others_there_are() {
        let (mut flows, mut pool) = (LargestFlows::default(), Pool::new(4, 2048));
        for round in 0..2000_u16 {
            // Three large ones among thousands that send one packet each.
            for large in 1..=3 {
                send(&mut flows, &mut pool, large);
            }
            send(&mut flows, &mut pool, 1000 + round);
        }
        let mut all = Vec::new();
        flows.report(&mut all);
        all.sort_by_key(|total| std::cmp::Reverse(total.bytes));
        assert!(all.len() <= ROWS * PLACES && all.len() > 100, "{}", all.len());
        let names: Vec<String> = all[..3].iter().filter_map(|total| total.ends.map(|ends| ends.to_string())).collect();
        assert!((1..=3).all(|large| names.contains(&format!("10.0.0.1:{large} → 10.0.0.2:53 udp"))), "{names:?}");
        assert!(all[..3].iter().all(|total| total.packets == 2000 && total.bytes == 256_000), "{:?}", &all[..3]);
    }

    #[test]
    fn who_has_stopped_makes_room() {
        let (mut flows, mut pool, mut all) = (LargestFlows::default(), Pool::new(4, 2048), Vec::new());
        for port in 1..=2000 {
            for _ in 0..50 {
                send(&mut flows, &mut pool, port);
            }
        }
        for _ in 0..20 {
            flows.report(&mut all);
        }
        for _ in 0..10 {
            send(&mut flows, &mut pool, 5000);
            send(&mut flows, &mut pool, 5001);
        }
        flows.report(&mut all);
        for port in [5000, 5001] {
            let found = all.iter().find(|total| total.ends.and_then(|ends| ends.ports) == Some((port, 53)));
            assert_eq!(found.map(|total| total.packets), Some(10), "port {port}");
        }
    }

    #[test]
    fn ends_are_read_from_what_is_there() {
        let mut frame = udp(9);
        assert_eq!(Ends::read(&frame).map(|ends| ends.to_string()).as_deref(), Some("10.0.0.1:9 → 10.0.0.2:53 udp"));
        frame[14 + 6] = 0x20;
        assert_eq!(Ends::read(&frame).map(|ends| ends.to_string()).as_deref(), Some("10.0.0.1 → 10.0.0.2 udp"));
        frame[12..14].copy_from_slice(&0x0806_u16.to_be_bytes());
        assert_eq!(Ends::read(&frame), None);
        let mut six = vec![0; 12];
        six.extend([0x86, 0xDD, 0x60, 0, 0, 0, 0, 8, 6, 64]);
        six.extend([0x20; 16]);
        six.extend([0x30; 16]);
        six.extend([0, 80, 1, 187, 0, 0, 0, 0]);
        let told = "[2020:2020:2020:2020:2020:2020:2020:2020]:80 → [3030:3030:3030:3030:3030:3030:3030:3030]:443 tcp";
        assert_eq!(Ends::read(&six).map(|ends| ends.to_string()).as_deref(), Some(told));
        for len in 0..six.len() {
            let _ = Ends::read(&six[..len]);
        }
    }
}
