//! Connections, and bytes over time.

use super::packet::{End, Packet, Segment};
use super::seen::Seen;
use crate::import::clock::Clock;
use std::collections::{BTreeMap, VecDeque};

/// Connections beyond this are counted as bytes only.
pub(super) const MAX: usize = 100_000;

/// Rates are means over this many tenths of a second.
const WINDOW: usize = 10;
/// Nanoseconds in a tenth of a second.
const TENTH_NS: i64 = 100_000_000;

/// Gaps in the data of all connections that are remembered.
const MAX_GAPS: usize = 1 << 20;
/// Gaps in the data of one connection that are remembered, the last ones.
const MAX_GAPS_OF_ONE: usize = 4_096;

/// Everything that was seen.
#[derive(Default)]
pub(super) struct Flows {
    clock: Clock,
    /// Bytes toward clients and toward servers.
    busiest: [Busiest; 2],
    /// By client and server.
    connections: BTreeMap<(End, End), Connection>,
    full: bool,
    seen: Seen,
    tunneled: u64,
    /// Data of segments that had been sent before.
    repeated: u64,
    gaps: usize,
}

/// Bytes of the busiest second.
#[derive(Default)]
struct Busiest {
    /// The number of the last tenth of a second.
    last: i64,
    /// Bytes in the last tenths, one more than a second has: packets may be late by one.
    tenths: VecDeque<u64>,
    most: u64,
}

impl Busiest {
    fn add(&mut self, tenth: i64, bytes: u64) {
        if self.tenths.is_empty() {
            self.last = tenth;
            self.tenths.push_back(0);
        }
        if tenth > self.last {
            self.most = self.most();
            for _ in 0..(tenth - self.last).min(WINDOW as i64 + 1) {
                self.tenths.push_back(0);
            }
            self.tenths.drain(..self.tenths.len().saturating_sub(WINDOW + 1));
            self.last = tenth;
        }
        let late = (self.last - tenth).clamp(0, self.tenths.len() as i64 - 1) as usize;
        let place = self.tenths.len() - 1 - late;
        self.tenths[place] += bytes;
    }

    /// Ends a stretch of steady time: no second has bytes of two of them.
    fn close(&mut self) {
        self.most = self.most();
        self.tenths.clear();
    }

    fn most(&self) -> u64 {
        let before = self.tenths.iter().take(WINDOW).sum::<u64>();
        let last = self.tenths.iter().rev().take(WINDOW).sum::<u64>();
        self.most.max(before).max(last)
    }
}

/// One connection of TCP, or ports of UDP.
#[derive(Clone, Default)]
struct Connection {
    /// Seconds from the first packet to the first data toward the client.
    start: Option<f64>,
    /// Data toward the client, each byte once.
    data: u64,
    sent: Sent,
    /// When the opening segment passed, and whether its answer came after.
    opened: Option<f64>,
    answered: bool,
    /// From the opening segment to its confirmation.
    handshake: Option<f64>,
    /// For each side, the last stamp from it that waits for its echo, with its time.
    stamped: [Option<(u32, f64)>; 2],
    /// For each side, the least time from a stamp to its echo.
    echoed: [Option<f64>; 2],
}

impl Flows {
    pub(super) fn is_empty(&self) -> bool {
        self.clock.entries() == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Returns the time of the packets.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Bits per second in the busiest second, or over all of a shorter recording: 0 toward clients,
    /// 1 toward servers.
    pub(super) fn rate(&self, heading: usize) -> f64 {
        self.busiest[heading].most() as f64 * 8.0 / self.clock.seconds().clamp(0.1, WINDOW as f64 / 10.0)
    }

    /// Records of packets that had been recorded before.
    pub(super) fn again(&self) -> u64 {
        self.seen.again()
    }

    /// Packets that were inside of tunnels.
    pub(super) fn tunneled(&self) -> u64 {
        self.tunneled
    }

    /// Bytes of data toward clients that had been sent before.
    pub(super) fn repeated(&self) -> u64 {
        self.repeated
    }

    pub(super) fn take(&mut self, packet: Packet) {
        self.tunneled += u64::from(packet.is_tunneled);
        if let Some(packet) = self.seen.take(packet) {
            self.count(&packet);
        }
    }

    fn count(&mut self, packet: &Packet) {
        let passed = self.clock.pass(packet.at);
        if passed.is_after_step {
            self.busiest.iter_mut().for_each(Busiest::close);
        }
        let at = passed.ns as f64 / 1e9;
        let forward = (packet.from, packet.to);
        let backward = (packet.to, packet.from);
        let opens = packet.tcp.as_ref().is_some_and(|tcp| tcp.syn && !tcp.ack);
        let answers = packet.tcp.as_ref().is_some_and(|tcp| tcp.syn && tcp.ack);
        // Who opened is the client; of a connection that was open before, who has the higher port.
        let from_client = if opens || self.connections.contains_key(&forward) {
            true
        } else if answers || self.connections.contains_key(&backward) {
            false
        } else {
            packet.from.1 >= packet.to.1
        };
        self.busiest[usize::from(from_client)].add(passed.ns / TENTH_NS, packet.len);
        let Some(tcp) = &packet.tcp else { return };
        let key = if from_client { forward } else { backward };
        if !self.connections.contains_key(&key) && self.connections.len() >= MAX {
            self.full = true;
            return;
        }
        let connection = self.connections.entry(key).or_default();
        let before = connection.sent.gaps.len();
        self.repeated += connection.take(at, tcp, from_client, self.gaps < MAX_GAPS);
        self.gaps = self.gaps + connection.sent.gaps.len() - before;
    }

    /// Round-trip times of connections in seconds: of their handshakes, else of their time stamps.
    pub(super) fn round_trips(&self) -> Vec<f64> {
        let of = |connection: &Connection| {
            let echoes = connection.echoed[0].zip(connection.echoed[1]).map(|(client, server)| client + server);
            connection.handshake.or(echoes).filter(|rtt| (0.0..60.0).contains(rtt))
        };
        self.connections.values().filter_map(of).collect()
    }

    /// Beginning in seconds and bytes of what went toward each client, in the order of time.
    pub(super) fn transfers(&self) -> Vec<(f64, u64)> {
        let mut all: Vec<(f64, u64)> =
            self.connections.values().filter_map(|one| Some((one.start?, one.data)).filter(|(_, data)| *data > 0)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }
}

impl Connection {
    /// Takes a segment; returns the data toward the client that had been sent before.
    fn take(&mut self, at: f64, tcp: &Segment, from_client: bool, may_grow: bool) -> u64 {
        let mut repeated = 0;
        if from_client && tcp.syn {
            self.opened = Some(at);
            self.answered = false;
        } else if !from_client && tcp.syn {
            self.answered = true;
        } else if from_client && tcp.ack && self.answered && self.handshake.is_none() {
            self.handshake = self.opened.map(|opened| at - opened);
        }
        if !from_client && (tcp.syn || tcp.data > 0) {
            let new = self.sent.take(tcp, may_grow);
            repeated = tcp.data - new;
            self.data += new;
            if new > 0 {
                self.start.get_or_insert(at);
            }
        }
        let Some((value, echo)) = tcp.stamps else { return repeated };
        let (own, other) = if from_client { (0, 1) } else { (1, 0) };
        if let Some((waiting, since)) = self.stamped[other]
            && waiting == echo
        {
            let took = at - since;
            self.echoed[other] = Some(self.echoed[other].map_or(took, |least: f64| least.min(took)));
            self.stamped[other] = None;
        }
        // A stamp is taken when it is first seen: later segments with the same one would seem
        // answered too soon.
        if self.stamped[own].is_none_or(|(waiting, _)| waiting != value) {
            self.stamped[own] = Some((value, at));
        }
        repeated
    }
}

/// The data that one side has sent, by its numbers.
#[derive(Clone, Default)]
struct Sent {
    /// The number of the opening segment.
    opened: Option<u32>,
    /// The number after the last byte.
    next: Option<u32>,
    /// Numbers that were left out: first, and the one after the last.
    gaps: VecDeque<(u32, u32)>,
}

/// Whether a number follows another, over the end of the numbers as well.
fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

impl Sent {
    /// Takes a segment; returns how many of its bytes are new.
    fn take(&mut self, tcp: &Segment, may_grow: bool) -> u64 {
        let len = tcp.data.min(u64::from(u32::MAX >> 1)) as u32;
        // The opening segment has a number of its own.
        let first = tcp.sequence.wrapping_add(u32::from(tcp.syn));
        let end = first.wrapping_add(len);
        if tcp.syn && self.opened != Some(tcp.sequence) {
            *self = Self { opened: Some(tcp.sequence), ..Self::default() };
        }
        let Some(next) = self.next else {
            self.next = Some(end);
            return u64::from(len);
        };
        let mut new = 0;
        if is_after(next, first) {
            new += self.fill(first, end, may_grow);
        } else if is_after(first, next) && may_grow {
            self.gaps.push_back((next, first));
            if self.gaps.len() > MAX_GAPS_OF_ONE {
                self.gaps.pop_front();
            }
        }
        if is_after(end, next) {
            let from = if is_after(first, next) { first } else { next };
            new += end.wrapping_sub(from);
            self.next = Some(end);
        }
        u64::from(new)
    }

    /// Fills the gap that has some of these numbers, and leaves one before and one behind them.
    fn fill(&mut self, first: u32, end: u32, may_grow: bool) -> u32 {
        let hit = self.gaps.iter().position(|(from, to)| is_after(end, *from) && is_after(*to, first));
        let Some((from, to)) = hit.and_then(|at| self.gaps.remove(at)) else { return 0 };
        let start = if is_after(first, from) { first } else { from };
        let stop = if is_after(to, end) { end } else { to };
        let left = [(from, start), (stop, to)].into_iter().filter(|(from, to)| from != to);
        self.gaps.extend(left.take(if may_grow { 2 } else { 1 }));
        stop.wrapping_sub(start)
    }
}
