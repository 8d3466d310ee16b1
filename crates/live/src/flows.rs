//! The largest flows of a direction, in a table that never grows.
//!
//! Rows of four places: a flow's packets go to the row of its hash, and one that finds no place
//! there takes that of the flow that has sent the least lately. So a flow that sends much is in the
//! table however many others there are, and every packet costs four comparisons.

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
    /// Address of the sender.
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
    /// Hash of the flow.
    pub flow: FlowHash,
    /// Both ends, if this is a flow of IP packets.
    pub ends: Option<Ends>,
    /// IP bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
}

/// Counters of one place in the table; all zero in a free one.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bytes: u64,
    packets: u64,
    /// Bytes at the last report.
    reported: u64,
    /// Bytes sent lately, as of the last report: halved with each.
    weight: u64,
}

impl Sums {
    /// Bytes sent lately.
    const fn lately(&self) -> u64 {
        self.weight + (self.bytes - self.reported)
    }
}

/// The table. What every packet is held against lies together.
#[derive(Debug)]
pub struct LargestFlows {
    flows: Box<[[FlowHash; PLACES]; ROWS]>,
    sums: Box<[[Sums; PLACES]; ROWS]>,
    ends: Box<[[Option<Ends>; PLACES]; ROWS]>,
}

impl Default for LargestFlows {
    fn default() -> Self {
        Self {
            flows: Box::new([[FlowHash(0); PLACES]; ROWS]),
            sums: Box::new([[Sums::default(); PLACES]; ROWS]),
            ends: Box::new([[None; PLACES]; ROWS]),
        }
    }
}

impl LargestFlows {
    /// A packet has left.
    #[inline]
    pub fn add(&mut self, packet: &LivePacket, pool: &Pool) {
        let (flow, bytes) = (packet.flow(), packet.len().get());
        let row = flow.0 as usize % ROWS;
        let sums = &mut self.sums[row];
        // A free place has the hash of a flow, too, so it must have counted something.
        for (known, sum) in self.flows[row].iter().zip(sums.iter_mut()) {
            if *known == flow && sum.packets > 0 {
                sum.bytes += bytes;
                sum.packets += 1;
                return;
            }
        }
        self.replace(row, packet, pool);
    }

    /// Puts the flow of `packet` in the place of the one that has sent the least lately.
    #[cold]
    fn replace(&mut self, row: usize, packet: &LivePacket, pool: &Pool) {
        let mut smallest = 0;
        for place in 1..PLACES {
            if self.sums[row][place].lately() < self.sums[row][smallest].lately() {
                smallest = place;
            }
        }
        self.flows[row][smallest] = packet.flow();
        self.sums[row][smallest] = Sums { bytes: packet.len().get(), packets: 1, ..Sums::default() };
        self.ends[row][smallest] = Ends::read(headers_of(packet, pool));
    }

    /// Writes all flows of the table into `into`, and forgets half of what they weigh.
    pub fn report(&mut self, into: &mut Vec<FlowTotal>) {
        into.clear();
        for (sum, (flow, ends)) in
            self.sums.as_flattened_mut().iter_mut().zip(self.flows.as_flattened().iter().zip(self.ends.as_flattened()))
        {
            if sum.packets > 0 {
                into.push(FlowTotal { flow: *flow, ends: *ends, bytes: sum.bytes, packets: sum.packets });
                sum.weight = sum.lately() / 2;
                sum.reported = sum.bytes;
            }
        }
    }
}

/// The bytes of a packet's headers.
fn headers_of<'a>(packet: &LivePacket, pool: &'a Pool) -> &'a [u8] {
    let frame = packet.frame();
    if pool.joined(frame.slot).is_some() { pool.whole(frame.slot) } else { pool.frame(frame) }
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
        flows.add(&LivePacket::new(frame, &headers), pool);
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
