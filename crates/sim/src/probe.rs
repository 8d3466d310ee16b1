//! Measuring one link: time averages, sojourn times, sent bits, fingerprints, packet events.

use crate::losses::{FlowSignals, LossEvents};
use crate::outcome::SojournHistogram;
use crate::packet::SimPacket;
use crate::settle::SettleProbe;
use crate::watch::Watch;
use goodqueue_aqm::{Counters, Dropped, Packet, QueueView, Reason, Sink};
use goodqueue_trace::{PacketEvent, PacketEventKind, TimeCounts, empty_histogram};
use goodqueue_units::{Duration, Instant};

/// The time average of what waits, by adding up value times duration between changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueIntegral {
    last: Instant,
    packet_nanos: u128,
    byte_nanos: u128,
}

impl QueueIntegral {
    /// `waiting` has been the same since the last call.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant, waiting: QueueView) {
        let span = u128::from(now.since(self.last).as_nanos());
        self.last = now;
        self.packet_nanos += span * u128::from(waiting.packets.get());
        self.byte_nanos += span * u128::from(waiting.backlog.get());
    }

    fn restart(&mut self) {
        self.packet_nanos = 0;
        self.byte_nanos = 0;
    }

    /// (packets, bytes) averaged over `span`.
    pub(crate) fn mean(&self, span: Duration) -> (f64, f64) {
        let nanos = span.as_nanos().max(1) as f64;
        (self.packet_nanos as f64 / nanos, self.byte_nanos as f64 / nanos)
    }
}

/// Sojourn times at one link, apart for each group and direction; room for the counts is made when it is first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct SojournTable {
    lines: Vec<Option<TimeCounts>>,
}

/// The line of a [`SojournTable`] that packets of a group use.
#[inline]
pub(crate) fn sojourn_line(group: u16, is_reverse: bool) -> usize {
    usize::from(group) << 1 | usize::from(is_reverse)
}

impl SojournTable {
    #[inline]
    fn record(&mut self, line: usize, sojourn: Duration) {
        match self.lines.get_mut(line) {
            Some(Some(counts)) => counts.add(sojourn),
            _ => self.begin(line, sojourn),
        }
    }

    #[cold]
    fn begin(&mut self, line: usize, sojourn: Duration) {
        if line >= self.lines.len() {
            self.lines.resize(line + 1, None);
        }
        let mut counts = TimeCounts::new();
        counts.add(sojourn);
        self.lines[line] = Some(counts);
    }

    /// Adds the data packets of `group` to `sum`.
    pub(crate) fn add_group(&self, group: u16, sum: &mut SojournHistogram) {
        if let Some(Some(counts)) = self.lines.get(sojourn_line(group, false)) {
            counts.add_to(sum);
        }
    }

    /// Of all packets.
    pub(crate) fn total(&self) -> SojournHistogram {
        let mut sum = empty_histogram();
        self.lines.iter().flatten().for_each(|counts| counts.add_to(&mut sum));
        sum
    }
}

/// What is measured at one link.
#[derive(Clone, Debug)]
pub(crate) struct LinkProbe {
    pub(crate) name: String,
    /// Number among the observed links, if it is one.
    pub(crate) observed: Option<u32>,
    pub(crate) integral: QueueIntegral,
    pub(crate) sojourn: SojournTable,
    pub(crate) sojourn_nanos: u128,
    /// Bytes whose transmission ended in the measured part, framing included; summed from transmission ends.
    pub(crate) sent_bytes: u64,
    pub(crate) at_warmup: Counters,
    measuring_from: Instant,
    measuring_until: Instant,
    /// Since the last sample: sojourn times and departures.
    pub(crate) recent_sojourn_nanos: u64,
    pub(crate) recent_departures: u64,
    pub(crate) recent_sent_bytes: u64,
    /// What few links need; one test a packet for all of it.
    pub(crate) extras: Option<Box<Extras>>,
    /// Bytes on the wire in the measured part, by the same lines as sojourn times.
    pub(crate) line_bytes: Vec<u64>,
}

impl LinkProbe {
    pub(crate) fn new(name: String, observed: Option<u32>, from: Instant, until: Instant) -> Self {
        Self {
            name,
            observed,
            integral: QueueIntegral::default(),
            sojourn: SojournTable::default(),
            sojourn_nanos: 0,
            sent_bytes: 0,
            at_warmup: Counters::default(),
            measuring_from: from,
            measuring_until: until,
            recent_sojourn_nanos: 0,
            recent_departures: 0,
            recent_sent_bytes: 0,
            extras: None,
            line_bytes: Vec::new(),
        }
    }

    /// The measured part begins.
    pub(crate) fn restart(&mut self, now: Instant, waiting: QueueView, counters: Counters) {
        self.integral.advance(now, waiting);
        self.integral.restart();
        self.at_warmup = counters;
    }

    /// A packet's transmission starts now, after `sojourn`, and ends at `end` with `wire_bytes` on the wire; `line` is that of its
    /// group ([`sojourn_line`]).
    #[inline(always)]
    pub(crate) fn departed(&mut self, now: Instant, line: usize, sojourn: Duration, end: Instant, wire_bytes: u64) {
        if self.observed.is_none() {
            return;
        }
        if now > self.measuring_from {
            self.sojourn.record(line, sojourn);
            self.sojourn_nanos += u128::from(sojourn.as_nanos());
        }
        self.recent_sojourn_nanos += sojourn.as_nanos();
        self.recent_departures += 1;
        self.recent_sent_bytes += wire_bytes;
        if end > self.measuring_from && end <= self.measuring_until {
            self.sent_bytes += wire_bytes;
            if let Some(bytes) = self.line_bytes.get_mut(line) {
                *bytes += wire_bytes;
            }
        }
        if let Some(extras) = &mut self.extras {
            extras.departed(now, sojourn, wire_bytes);
        }
    }

    /// What few links need, to be filled in.
    pub(crate) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}

/// What is kept of links whose rate changes, and of links that somebody watches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras {
    pub(crate) settle: Option<SettleProbe>,
    pub(crate) watch: Option<Watch>,
}

impl Extras {
    #[inline(never)]
    fn departed(&mut self, now: Instant, sojourn: Duration, wire_bytes: u64) {
        if let Some(settle) = &mut self.settle {
            settle.departed(now, sojourn, wire_bytes);
        }
        if let Some(watch) = &mut self.watch {
            watch.departed(sojourn, wire_bytes);
        }
    }
}

/// Where queues report drops and marks; also the running fingerprint and the optional packet log.
#[derive(Clone, Debug)]
pub(crate) struct Tap {
    pub(crate) now: Instant,
    pub(crate) link: u32,
    /// Number of the link among the observed ones; `None` keeps its packets out of the log.
    pub(crate) observed: Option<u32>,
    pub(crate) flows: Vec<FlowSignals>,
    /// One for each link with a queue.
    pub(crate) losses: Vec<LossEvents>,
    pub(crate) fingerprint: u64,
    pub(crate) log: Option<Vec<PacketEvent>>,
    /// Packets of hosts outside that will never arrive, by their owners' numbers; `None` in worlds without such hosts.
    pub(crate) lost: Option<Vec<u32>>,
}

const DEPARTED: u64 = 1;
const DROPPED: u64 = 2;
const MARKED: u64 = 3;

impl Tap {
    /// What follows happens now, at link `link`.
    #[inline]
    pub(crate) fn aim(&mut self, now: Instant, link: u32, observed: Option<u32>) {
        self.now = now;
        self.link = link;
        self.observed = observed;
    }

    /// Folds one packet event into the fingerprint.
    #[inline]
    fn stamp(&mut self, kind: u64, packet: &SimPacket) {
        let word = self.now.as_nanos() ^ (u64::from(packet.flow.number()) << 40) ^ (kind << 61) ^ (u64::from(self.link) << 32);
        let mixed = (self.fingerprint ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ packet.segment.number;
        self.fingerprint = mixed.rotate_left(29);
    }

    /// `packet` will never arrive.
    pub(crate) fn forget(&mut self, packet: &SimPacket) {
        if let Some(lost) = &mut self.lost
            && packet.segment.delay != 0
        {
            lost.push(packet.segment.delay);
        }
    }

    #[inline]
    pub(crate) fn departed(&mut self, packet: &SimPacket, sojourn: Duration) {
        self.stamp(DEPARTED, packet);
        if self.log.is_some() {
            self.record(packet, PacketEventKind::Departed { sojourn });
        }
    }

    #[inline]
    pub(crate) fn enqueued(&mut self, packet: &SimPacket) {
        if self.log.is_some() {
            self.record(packet, PacketEventKind::Enqueued);
        }
    }

    #[cold]
    fn record(&mut self, packet: &SimPacket, kind: PacketEventKind) {
        if let (Some(log), Some(link)) = (&mut self.log, self.observed) {
            log.push(PacketEvent {
                at: self.now,
                link,
                flow: packet.flow.number(),
                number: packet.segment.number,
                len: u32::from(packet.ip_len),
                kind,
            });
        }
    }
}

impl Sink<SimPacket> for Tap {
    fn dropped(&mut self, packet: SimPacket, drop: Dropped) {
        self.stamp(DROPPED, &packet);
        self.forget(&packet);
        if !packet.is_reverse() {
            let flow = &mut self.flows[packet.flow.index()];
            // TCP numbers bytes, UDP packets.
            flow.lose(packet.segment.number, packet.segment.number + u64::from(packet.segment.data_len().max(1)));
            self.losses[self.link as usize].lose(self.now, flow);
        }
        if self.log.is_some() {
            let sojourn = self.now.since(drop.enqueued_at);
            self.record(&packet, PacketEventKind::Dropped { reason: drop.reason, sojourn });
        }
    }

    fn marked(&mut self, packet: &SimPacket, reason: Reason) {
        self.stamp(MARKED, packet);
        if !packet.is_reverse() {
            self.flows[packet.flow.index()].marked += 1;
        }
        if self.log.is_some() {
            self.record(packet, PacketEventKind::Marked { reason });
        }
    }
}

/// Link bytes of a packet.
#[inline]
pub(crate) fn wire_bytes(packet: &SimPacket, overhead: goodqueue_units::Bytes) -> goodqueue_units::Bytes {
    packet.len() + overhead
}
