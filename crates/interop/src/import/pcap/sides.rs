//! The two sides of a line: who is the user's, and the bytes of the busiest second each way.

use super::clocks::Moment;
use super::packet::{End, Packet};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// Pairs of addresses beyond this are not counted.
pub(super) const MAX_PAIRS: usize = 50_000;
/// Counts of bytes that wait for the sides to be known.
const MAX_LOG: usize = 1 << 19;
/// Rates are means over this many tenths of a second.
const WINDOW: usize = 10;
/// Nanoseconds in a tenth of a second.
const TENTH_NS: i64 = 100_000_000;
/// A part that matters: of an address's bytes those in which it opened connections or was called
/// (a resolver that a server asks makes it none that does both), of all those of private ones.
const MIN_PART: u64 = 20;
/// Ports below this are those of servers (RFC 6335 §6).
const WELL_KNOWN: u16 = 1_024;
/// The port of NFS, whose clients take well-known ones.
const NFS: u16 = 2_049;
/// From here on hosts take ports for what they open (Linux; others begin higher).
const EPHEMERAL: u16 = 32_768;

/// A side of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The side of clients, toward which is down.
    User,
    /// The side of servers.
    Far,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::User => Self::Far,
            Self::Far => Self::User,
        }
    }
}

/// An address with the side that it is on, once that is known.
struct Host {
    address: IpAddr,
    side: Option<Side>,
    pairs: u32,
    /// Whether it opened connections and was called.
    is_both: bool,
}

/// Two addresses that send to one another.
struct Pair {
    hosts: [u32; 2],
    /// Connections that each opened.
    opened: [u64; 2],
    /// Packets with ports that tell who the client is: well-known ones, and others.
    ports: [[u64; 2]; 2],
    /// Bytes toward each.
    bytes: [u64; 2],
    /// The latest count in the log toward each.
    logged: [Option<u32>; 2],
}

/// Bytes in a tenth of a second toward one end of a pair.
#[derive(Clone, Copy)]
struct Count {
    tenth: i64,
    pair: u32,
    end: u8,
    bytes: u32,
}

/// Addresses that were put on a side for want of better knowledge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    /// Taken for the client, and the other.
    pub(super) ends: [IpAddr; 2],
    /// Bytes between all such pairs, and their number.
    pub(super) bytes: u64,
    pub(super) pairs: u64,
}

/// Both sides.
#[derive(Default)]
pub(super) struct Sides {
    numbers: HashMap<IpAddr, u32>,
    hosts: Vec<Host>,
    by_hosts: HashMap<[u32; 2], u32>,
    pairs: Vec<Pair>,
    log: Vec<Count>,
    /// Bytes toward users and away from them.
    busiest: [Busiest; 2],
    guess: Option<Guess>,
    /// Bytes between addresses on one side.
    within: u64,
    uncounted: u64,
}

/// Evidence of who the client of a pair is, from the weakest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    None,
    Ports,
    Private,
    /// A group has receivers only.
    Group,
    WellKnown,
    Opened,
}

/// A pair with what is known of it.
struct Verdict {
    evidence: Evidence,
    bytes: u64,
    pair: usize,
    /// The end that is the client.
    client: usize,
}

impl Sides {
    /// Counts a packet; returns its pair and the end that it goes to, `None` when there are too
    /// many.
    pub(super) fn count(&mut self, packet: &Packet, moment: Moment) -> Option<(u32, usize)> {
        let (number, to) = self.pair(packet.from.0, packet.to.0)?;
        let pair = &mut self.pairs[number as usize];
        match &packet.tcp {
            Some(tcp) if tcp.syn => pair.opened[if tcp.ack { to } else { 1 - to }] += 1,
            _ => {
                for (kind, limit) in [WELL_KNOWN, EPHEMERAL].into_iter().enumerate() {
                    if let Some(is_sender) = is_client(packet.from, packet.to, limit) {
                        pair.ports[kind][if is_sender { 1 - to } else { to }] += 1;
                    }
                }
            }
        }
        pair.bytes[to] += packet.len;
        // No second has bytes from before and after a step of the clock.
        let tenth = moment.ns.div_euclid(TENTH_NS) + i64::from(moment.own.steps) * 2 * WINDOW as i64;
        let bytes = u32::try_from(packet.len).unwrap_or(u32::MAX);
        if let Some(count) = pair.logged[to].and_then(|at| self.log.get_mut(at as usize))
            && count.tenth == tenth
        {
            count.bytes = count.bytes.saturating_add(bytes);
            return Some((number, to));
        }
        pair.logged[to] = Some(self.log.len() as u32);
        self.log.push(Count { tenth, pair: number, end: to as u8, bytes });
        if self.log.len() >= MAX_LOG {
            self.settle();
            self.fold(MAX_LOG / 4);
        }
        Some((number, to))
    }

    /// The number of a pair, and which end of it the receiver is.
    fn pair(&mut self, from: IpAddr, to: IpAddr) -> Option<(u32, usize)> {
        let is_full = self.pairs.len() >= MAX_PAIRS;
        let [from, to] = [from, to].map(|address| {
            let next = self.hosts.len() as u32;
            match self.numbers.get(&address) {
                Some(number) => Some(*number),
                None if is_full => None,
                None => {
                    self.numbers.insert(address, next);
                    self.hosts.push(Host { address, side: None, pairs: 0, is_both: false });
                    Some(next)
                }
            }
        });
        let hosts = from.zip(to).map(|(from, to)| [from.min(to), from.max(to)]);
        let known = hosts.and_then(|hosts| self.by_hosts.get(&hosts).copied());
        let number = match (known, hosts) {
            (Some(number), _) => number,
            (None, Some(hosts)) if !is_full => {
                hosts.iter().for_each(|host| self.hosts[*host as usize].pairs += 1);
                let number = self.pairs.len() as u32;
                self.by_hosts.insert(hosts, number);
                self.pairs.push(Pair { hosts, opened: [0; 2], ports: [[0; 2]; 2], bytes: [0; 2], logged: [None; 2] });
                number
            }
            _ => {
                self.uncounted += 1;
                return None;
            }
        };
        let receiver = usize::from(self.pairs[number as usize].hosts[1] == to?);
        Some((number, receiver))
    }

    fn host(&self, pair: usize, end: usize) -> &Host {
        &self.hosts[self.pairs[pair].hosts[end] as usize]
    }

    fn are_private(&self, pair: usize) -> bool {
        [0, 1].iter().all(|end| is_private(&self.host(pair, *end).address))
    }

    fn verdict(&self, number: usize) -> Verdict {
        let pair = &self.pairs[number];
        let more = |[one, other]: [u64; 2]| (one != other).then(|| usize::from(other > one));
        let ends = [0, 1].map(|end| self.host(number, end).address);
        let only = |is: fn(&IpAddr) -> bool| more(ends.map(|end| u64::from(is(&end))));
        let (evidence, client) = [
            (Evidence::Opened, more(pair.opened)),
            (Evidence::WellKnown, more(pair.ports[0])),
            (Evidence::Group, only(IpAddr::is_multicast)),
            (Evidence::Private, only(is_private)),
            (Evidence::Ports, more(pair.ports[1])),
        ]
        .into_iter()
        .find_map(|(evidence, client)| Some((evidence, client?)))
        // The one with more to talk to, else the one that gets more.
        .unwrap_or_else(|| {
            let peers = more([0, 1].map(|end| u64::from(self.host(number, end).pairs)));
            (Evidence::None, peers.or(more(pair.bytes)).unwrap_or(0))
        });
        Verdict { evidence, bytes: pair.bytes[0] + pair.bytes[1], pair: number, client }
    }

    /// Puts addresses on sides, each on one: those that opened connections and were called first,
    /// then the others by the evidence of their pairs, the best first.
    pub(super) fn settle(&mut self) {
        let mut verdicts: Vec<Verdict> = (0..self.pairs.len()).map(|number| self.verdict(number)).collect();
        let mut roles = vec![[0u64; 2]; self.hosts.len()];
        for verdict in verdicts.iter().filter(|verdict| verdict.evidence >= Evidence::WellKnown) {
            for end in 0..2 {
                roles[self.pairs[verdict.pair].hosts[end] as usize][usize::from(end == verdict.client)] += verdict.bytes;
            }
        }
        let is_both = |host: u32| {
            let [called, opened] = roles[host as usize];
            called.min(opened).saturating_mul(MIN_PART) >= called + opened && called > 0
        };
        verdicts.sort_by_key(|verdict| std::cmp::Reverse((verdict.bytes, std::cmp::Reverse(verdict.pair))));
        for verdict in &verdicts {
            let hosts = self.pairs[verdict.pair].hosts;
            let totals = hosts.map(|host| roles[host as usize].iter().sum::<u64>());
            let user = match hosts.map(is_both) {
                [false, false] => continue,
                [true, true] => usize::from(totals[1] > totals[0]),
                [_, second] => usize::from(second),
            };
            let [user, other] = [user, 1 - user].map(|end| hosts[end] as usize);
            if self.hosts[user].side.is_none() {
                self.hosts[user].side = Some(Side::User);
                self.hosts[user].is_both = true;
            }
            if !self.are_private(verdict.pair) {
                let side = self.hosts[user].side.map(Side::other);
                self.hosts[other].side = self.hosts[other].side.or(side);
            }
        }
        // Hosts of one home talk to each other as well: who they are shows from their other peers.
        verdicts.sort_by_key(|verdict| std::cmp::Reverse((!self.are_private(verdict.pair), verdict.evidence)));
        for verdict in &verdicts {
            self.place(verdict);
        }
    }

    /// Puts the addresses of a pair on sides.
    fn place(&mut self, verdict: &Verdict) {
        let hosts = self.pairs[verdict.pair].hosts.map(|host| host as usize);
        let sides = hosts.map(|host| self.hosts[host].side);
        let client = match sides {
            [Some(_), Some(_)] => return,
            [Some(side), None] => usize::from(side == Side::Far),
            [None, Some(side)] => usize::from(side == Side::User),
            [None, None] => verdict.client,
        };
        self.hosts[hosts[client]].side = Some(Side::User);
        self.hosts[hosts[1 - client]].side = Some(Side::Far);
        if sides == [None, None] && verdict.evidence == Evidence::None {
            let ends = [client, 1 - client].map(|end| self.hosts[hosts[end]].address);
            let guess = self.guess.get_or_insert(Guess { ends, bytes: 0, pairs: 0 });
            guess.bytes += verdict.bytes;
            guess.pairs += 1;
        }
    }

    /// Adds all counts in the log but the latest ones to the seconds.
    fn fold(&mut self, left: usize) {
        self.log.sort_unstable_by_key(|count| count.tenth);
        let until = self.log.len().saturating_sub(left);
        for count in self.log.drain(..until) {
            let hosts = self.pairs[count.pair as usize].hosts;
            let [to, from] = [count.end, 1 - count.end].map(|end| self.hosts[hosts[usize::from(end)] as usize].side);
            if to == from {
                self.within += u64::from(count.bytes);
                continue;
            }
            self.busiest[usize::from(to == Some(Side::Far))].add(count.tenth, u64::from(count.bytes));
        }
        self.pairs.iter_mut().for_each(|pair| pair.logged = [None; 2]);
    }

    /// Settles the sides and adds all that was counted.
    pub(super) fn finish(&mut self) {
        self.settle();
        self.fold(0);
    }

    /// The end of a pair on the side of users, when the other is on the other side.
    pub(super) fn user(&self, pair: u32) -> Option<usize> {
        let sides = [0, 1].map(|end| self.host(pair as usize, end).side);
        (sides[0] != sides[1]).then(|| usize::from(sides[1] == Some(Side::User)))
    }

    /// Bytes in the busiest second: 0 toward users, 1 away from them.
    pub(super) fn busiest(&self, heading: usize) -> u64 {
        self.busiest[heading].most()
    }

    /// Bytes of all pairs.
    fn bytes(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.bytes[0] + pair.bytes[1]).sum()
    }

    /// The address that is taken for the client of most bytes without any evidence.
    pub(super) fn guessed(&self) -> Option<IpAddr> {
        self.guess.filter(|guess| guess.bytes * 2 > self.bytes()).map(|guess| guess.ends[0])
    }

    /// Bytes of pairs on both sides, between private addresses and others.
    fn kinds(&self) -> [u64; 2] {
        let mut bytes = [0; 2];
        for (number, pair) in self.pairs.iter().enumerate().filter(|(number, _)| self.user(*number as u32).is_some()) {
            bytes[usize::from(!self.are_private(number))] += pair.bytes[0] + pair.bytes[1];
        }
        bytes
    }

    /// Remarks on sides that are not known, or not of the line.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(Guess { ends: [user, far], pairs, .. }) = self.guess {
            let more = if pairs > 1 { format!(" (and of {} more pairs)", pairs - 1) } else { String::new() };
            notes.push(format!(
                "Nothing tells which of {user} and {far}{more} is the client, no connection's beginning, port or \
                 private address: down is toward {user}."
            ));
        }
        let mut both = self.hosts.iter().filter(|host| host.is_both);
        if let Some(Host { address, .. }) = both.next() {
            let more = match both.count() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            notes.push(format!("{address}{more} opened connections and was called: down is toward it in both."));
        }
        let [private, others] = self.kinds();
        if others > 0 && private.saturating_mul(MIN_PART) >= others {
            notes.push(format!(
                "{private} bytes between private addresses count as well: where they did not cross the line, filter them out."
            ));
        }
        if self.within > 0 {
            notes.push(format!("{} bytes between addresses on one side of the line were not counted.", self.within));
        }
        if self.uncounted > 0 {
            let packets = self.uncounted;
            notes.push(format!("{packets} packets of addresses after the first {MAX_PAIRS} pairs were not counted."));
        }
        notes
    }
}

/// Whether the sender has the port of a client and the receiver that of a server, or the other way
/// round.
fn is_client(from: End, to: End, limit: u16) -> Option<bool> {
    let ports = [from.1, to.1];
    let is_server = ports.map(|port| port == NFS || (port < limit && !ports.contains(&NFS)));
    (from.1 != 0 && to.1 != 0 && is_server[0] != is_server[1]).then_some(is_server[1])
}

/// Whether an address is one of a home, an office or behind a provider's translator.
fn is_private(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private() || address.is_link_local() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    }
}

/// Bytes of the busiest second.
#[derive(Default)]
struct Busiest {
    /// The number of the last tenth of a second.
    last: i64,
    /// Bytes in the last tenths.
    tenths: VecDeque<u64>,
    most: u64,
}

impl Busiest {
    /// Adds bytes of the last tenth or a later one.
    fn add(&mut self, tenth: i64, bytes: u64) {
        if self.tenths.is_empty() || tenth > self.last {
            self.most = self.most();
            let passed = if self.tenths.is_empty() { 1 } else { (tenth - self.last).min(WINDOW as i64) };
            self.tenths.extend((0..passed).map(|_| 0));
            self.tenths.drain(..self.tenths.len().saturating_sub(WINDOW));
            self.last = tenth;
        }
        if let Some(last) = self.tenths.back_mut() {
            *last += bytes;
        }
    }

    fn most(&self) -> u64 {
        self.most.max(self.tenths.iter().sum())
    }
}
