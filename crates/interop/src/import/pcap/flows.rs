//! Connections of a line, and what of a recording counts.

use super::clocks::{Clocks, Moment, Reading};
use super::packet::{Packet, Segment};
use super::seen::Seen;
use super::sides::Sides;
use std::collections::{BTreeMap, VecDeque};

/// Connections beyond this are counted as bytes only.
pub(super) const MAX: usize = 100_000;

/// Gaps in the data of all connections that are remembered.
const MAX_GAPS: usize = 1 << 20;
/// Gaps in the data of one connection that are remembered, the last ones.
const MAX_GAPS_OF_ONE: usize = 4_096;
/// An opening segment without an answer for so long is sent again (after 1 s since RFC 6298, after
/// 3 s before, as its appendix A tells): a longer round trip is a clock that was set.
const MAX_ROUND_TRIP_NS: i64 = 3_000_000_000;
/// Rates over less than this tell the size of a burst.
pub(super) const MIN_SECONDS: f64 = 0.1;

/// Everything that was seen.
#[derive(Default)]
pub(super) struct Flows {
    clocks: Clocks,
    sides: Sides,
    /// By the pair of addresses, and the ports of its ends.
    connections: BTreeMap<(u32, [u16; 2]), Connection>,
    full: bool,
    seen: Seen,
    packets: u64,
    tunneled: u64,
    /// Packets of tunnels that cannot be read.
    sealed: u64,
    /// Packets that a host sends to itself.
    looped: u64,
    /// Segments of TCP without a whole header.
    cut: u64,
    gaps: usize,
}

/// One connection of TCP.
#[derive(Clone, Default)]
struct Connection {
    /// The data toward each end.
    toward: [Toward; 2],
    /// The end that opened it and when, unless it had to ask again, and whether it was answered.
    opened: Option<(usize, Reading)>,
    answered: bool,
    /// From the opening segment to its confirmation, in nanoseconds.
    handshake: Option<i64>,
    /// For each end, the last stamp from it that waits for its echo, with its time.
    stamped: [Option<(u32, Reading)>; 2],
    /// For each end, the least time from a stamp to its echo.
    echoed: [Option<i64>; 2],
}

/// Data toward one end.
#[derive(Clone, Default)]
struct Toward {
    /// Nanoseconds from the first packet of the recording to the first data.
    start: Option<i64>,
    /// Each byte once.
    data: u64,
    /// Data of segments that had been sent before.
    repeated: u64,
    sent: Sent,
}

impl Flows {
    /// Whether no packet counts.
    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Returns the time of the packets.
    pub(super) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Returns the sides of the line.
    pub(super) fn sides(&self) -> &Sides {
        &self.sides
    }

    /// Bits per second in the busiest second, or over all of a shorter recording: 0 toward users,
    /// 1 away from them.
    pub(super) fn rate(&self, heading: usize) -> f64 {
        self.sides.busiest(heading) as f64 * 8.0 / self.clocks.seconds().clamp(MIN_SECONDS, 1.0)
    }

    /// Packets that count.
    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// Numbers of packets that were recorded in a way to be told, with what happened to them.
    pub(super) fn counts(&self) -> [(u64, &'static str); 6] {
        let sealed = if self.sealed < self.packets { self.sealed } else { 0 };
        [
            (sealed, "packets are of encrypted tunnels: where their contents were recorded as well, those count twice."),
            (self.seen.again(), "packets were recorded more than once and count once."),
            (
                self.seen.alike(),
                "packets are alike, or cut too short to tell whether they were recorded more than once: each counts.",
            ),
            (self.looped, "packets from an address to itself or of the loopback were not counted."),
            (self.cut, "segments of TCP are cut within their header: they count as bytes and not as transfers."),
            (self.tunneled, "packets were in tunnels: they count without the tunnel's headers."),
        ]
    }

    /// Packets that a host sent to itself.
    pub(super) fn looped(&self) -> u64 {
        self.looped
    }

    /// Bytes of data toward users that had been sent before.
    pub(super) fn repeated(&self) -> u64 {
        self.toward_users().map(|toward| toward.repeated).sum()
    }

    pub(super) fn take(&mut self, packet: Packet) {
        if packet.from.0.is_loopback() || packet.to.0.is_loopback() || packet.from.0 == packet.to.0 {
            self.looped += 1;
            return;
        }
        self.tunneled += u64::from(packet.is_tunneled);
        let moment = self.clocks.pass(packet.seen_at.0.interfaces[0], packet.at);
        if let Some(packet) = self.seen.take(packet, moment.ns) {
            self.packets += 1;
            self.count(&packet, moment);
        }
    }

    fn count(&mut self, packet: &Packet, moment: Moment) {
        self.sealed += u64::from(packet.is_sealed);
        self.cut += u64::from(packet.is_cut_tcp);
        let Some((pair, to)) = self.sides.count(packet, moment) else { return };
        let Some(tcp) = &packet.tcp else { return };
        let ports = if to == 0 { [packet.to.1, packet.from.1] } else { [packet.from.1, packet.to.1] };
        let key = (pair, ports);
        if !self.connections.contains_key(&key) && self.connections.len() >= MAX {
            self.full = true;
            return;
        }
        let connection = self.connections.entry(key).or_default();
        let before = connection.toward[to].sent.gaps();
        connection.take(moment, tcp, to, self.gaps < MAX_GAPS);
        self.gaps = self.gaps + connection.toward[to].sent.gaps() - before;
    }

    /// Ends the recording.
    pub(super) fn finish(&mut self) {
        self.sides.finish();
    }

    /// Round-trip times of connections in seconds: of their handshakes, else of their time stamps.
    pub(super) fn round_trips(&self) -> Vec<f64> {
        let of = |connection: &Connection| {
            let echoes = connection.echoed[0].zip(connection.echoed[1]).map(|(one, other)| one + other);
            let rtt = connection.handshake.or(echoes).filter(|rtt| (0..=MAX_ROUND_TRIP_NS).contains(rtt));
            rtt.map(|rtt| rtt as f64 / 1e9)
        };
        self.connections.values().filter_map(of).collect()
    }

    fn toward_users(&self) -> impl Iterator<Item = &Toward> {
        self.connections.iter().filter_map(|((pair, _), one)| Some(&one.toward[self.sides.user(*pair)?]))
    }

    /// Beginning in seconds and bytes of what went toward each user, in the order of time.
    pub(super) fn transfers(&self) -> Vec<(f64, u64)> {
        let mut all: Vec<(f64, u64)> = self
            .toward_users()
            .filter_map(|one| Some((one.start?.max(0) as f64 / 1e9, one.data)).filter(|(_, data)| *data > 0))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }
}

impl Connection {
    /// Takes a segment toward an end.
    fn take(&mut self, moment: Moment, tcp: &Segment, to: usize, may_grow: bool) {
        let (at, from) = (moment.own, 1 - to);
        if tcp.syn && !tcp.ack {
            // An answer to one of two opening segments does not tell which (Karn's rule).
            let is_again = self.toward[to].sent.opened == Some(tcp.sequence);
            self.opened = (!is_again).then_some((from, at));
            self.answered = false;
        } else if tcp.syn {
            self.answered = true;
        } else if let Some((opener, opened)) = self.opened
            && opener == from
            && tcp.ack
            && self.answered
            && self.handshake.is_none()
        {
            self.handshake = at.since(opened);
            self.opened = None;
        }
        if tcp.syn || tcp.data > 0 {
            let toward = &mut self.toward[to];
            let new = toward.sent.take(tcp, may_grow);
            toward.repeated += tcp.data - new;
            toward.data += new;
            if new > 0 {
                toward.start.get_or_insert(moment.ns);
            }
        }
        let Some((value, echo)) = tcp.stamps else { return };
        if let Some((waiting, since)) = self.stamped[to]
            && waiting == echo
        {
            if let Some(took) = at.since(since) {
                self.echoed[to] = Some(self.echoed[to].map_or(took, |least: i64| least.min(took)));
            }
            self.stamped[to] = None;
        }
        // A stamp is taken when it is first seen: later segments with the same one would seem
        // answered too soon.
        if self.stamped[from].is_none_or(|(waiting, _)| waiting != value) {
            self.stamped[from] = Some((value, at));
        }
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
    #[expect(clippy::box_collection, reason = "an empty one of 100,000 takes 8 bytes and not 32")]
    gaps: Option<Box<VecDeque<(u32, u32)>>>,
}

/// Whether a number follows another, over the end of the numbers as well.
fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

impl Sent {
    /// The number of its gaps.
    fn gaps(&self) -> usize {
        self.gaps.as_ref().map_or(0, |gaps| gaps.len())
    }

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
            let gaps = self.gaps.get_or_insert_default();
            gaps.push_back((next, first));
            if gaps.len() > MAX_GAPS_OF_ONE {
                gaps.pop_front();
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
        let Some(gaps) = &mut self.gaps else { return 0 };
        let hit = gaps.iter().position(|(from, to)| is_after(end, *from) && is_after(*to, first));
        let Some((from, to)) = hit.and_then(|at| gaps.remove(at)) else { return 0 };
        let start = if is_after(first, from) { first } else { from };
        let stop = if is_after(to, end) { end } else { to };
        let left = [(from, start), (stop, to)].into_iter().filter(|(from, to)| from != to);
        gaps.extend(left.take(if may_grow { 2 } else { 1 }));
        stop.wrapping_sub(start)
    }
}
