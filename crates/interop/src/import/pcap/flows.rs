//! Connections, and bytes over time.

use super::file::{Packet, Segment};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Connections beyond this are counted as bytes only.
pub(super) const MAX: usize = 100_000;

/// Longest recording: a day in tenths of a second. What is later counts as the end.
const MAX_BINS: usize = 864_000;

type End = (IpAddr, u16);

/// Everything that was seen.
#[derive(Default)]
pub(super) struct Flows {
    /// Time of the first packet.
    first: Option<f64>,
    last: f64,
    /// Bytes in each tenth of a second, toward clients and toward servers.
    bins: [Vec<u64>; 2],
    /// By client and server.
    connections: BTreeMap<(End, End), Connection>,
    full: bool,
}

/// One connection of TCP, or ports of UDP.
#[derive(Clone, Copy, Default)]
struct Connection {
    /// Seconds from the first packet to the first data toward the client.
    start: Option<f64>,
    /// Data toward the client.
    data: u64,
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
        self.first.is_none()
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Seconds from the first packet to the last.
    pub(super) fn span(&self) -> f64 {
        self.last
    }

    /// Bytes in each tenth of a second: 0 toward clients, 1 toward servers.
    pub(super) fn bins(&self, heading: usize) -> &[u64] {
        &self.bins[heading]
    }

    pub(super) fn take(&mut self, packet: &Packet) {
        let first = *self.first.get_or_insert(packet.at);
        // Recordings of several interfaces are not in order; a time before the first counts as the
        // first.
        let at = (packet.at - first).clamp(0.0, (MAX_BINS - 1) as f64 / 10.0);
        self.last = self.last.max(at);
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
        let heading = usize::from(from_client);
        let bins = &mut self.bins[heading];
        let bin = (at * 10.0) as usize;
        if bins.len() <= bin {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += packet.len;
        let Some(tcp) = &packet.tcp else { return };
        let key = if from_client { forward } else { backward };
        if !self.connections.contains_key(&key) && self.connections.len() >= MAX {
            self.full = true;
            return;
        }
        self.connections.entry(key).or_default().take(at, tcp, from_client);
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
    fn take(&mut self, at: f64, tcp: &Segment, from_client: bool) {
        if from_client && tcp.syn {
            self.opened = Some(at);
            self.answered = false;
        } else if !from_client && tcp.syn {
            self.answered = true;
        } else if from_client && tcp.ack && self.answered && self.handshake.is_none() {
            self.handshake = self.opened.map(|opened| at - opened);
        }
        if !from_client && tcp.data > 0 {
            self.start.get_or_insert(at);
            self.data += tcp.data;
        }
        let Some((value, echo)) = tcp.stamps else { return };
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
    }
}
