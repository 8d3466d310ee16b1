//! Measurement of one link: time averages, sojourn times, sent bits, fingerprints, packet events.

use crate::ids::{FlowId, IdVec, LinkId, Ticket};
use crate::losses::{FlowSignals, LossEvents};
use crate::packet::SimPacket;
use crate::settle::SettleProbe;
use crate::trace::{PacketEvent, PacketEventKind, TimeCounts};
use crate::watch::Watch;
use goodqueue_aqm::{Counters, Dropped, Packet, QueueView, Reason, Sink};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant};

/// The product of any two factors. WebAssembly calls a function for it, so short factors go
/// without.
#[inline]
fn product(one: u64, other: u64) -> u128 {
    if cfg!(target_arch = "wasm32") && (one | other) >> 32 == 0 {
        return u128::from(one * other);
    }
    u128::from(one) * u128::from(other)
}

/// The time average of the backlog: the sum of backlog times duration between changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueIntegral {
    last: Instant,
    packet_nanos: u128,
    byte_nanos: u128,
}

impl QueueIntegral {
    /// Adds the time since the last call, in which `waiting` did not change.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant, waiting: QueueView) {
        let span = now.since(self.last).as_nanos();
        self.last = now;
        self.packet_nanos += product(span, waiting.packets.get());
        self.byte_nanos += product(span, waiting.backlog.get());
    }

    /// Adds packets that have left, and the time until then.
    fn add(&mut self, packet_nanos: u128, byte_nanos: u128) {
        self.packet_nanos += packet_nanos;
        self.byte_nanos += byte_nanos;
    }

    /// Exchanges what was counted of packets that wait for what counts of them by `now`, of all
    /// packets that have left being added since.
    pub(crate) fn replace_part(&mut self, now: Instant, before: (u128, u128), by_now: (u128, u128)) {
        self.last = now;
        self.packet_nanos = self.packet_nanos + by_now.0 - before.0;
        self.byte_nanos = self.byte_nanos + by_now.1 - before.1;
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

/// Packets of one group in one direction at a link, or at several that count as one.
#[derive(Clone, Debug, Default)]
struct Line {
    sojourn: TimeCounts,
    /// Bytes sent in the measured part, framing included.
    bytes: u64,
}

/// The packets at a link, or at several that count as one, by group and direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineTable {
    /// Number of the first line here: of many groups few may cross a link.
    first: usize,
    lines: Vec<Line>,
}

/// The line of a [`LineTable`] for packets of a group.
#[inline]
pub(crate) fn sojourn_line(group: u16, is_reverse: bool) -> usize {
    usize::from(group) << 1 | usize::from(is_reverse)
}

impl LineTable {
    #[inline]
    fn line(&mut self, number: usize) -> &mut Line {
        let at = number.wrapping_sub(self.first);
        if at >= self.lines.len() {
            self.begin(number);
        }
        let first = self.first;
        &mut self.lines[number - first]
    }

    #[cold]
    fn begin(&mut self, number: usize) {
        if self.lines.is_empty() {
            self.first = number;
        }
        let before = self.first.saturating_sub(number);
        self.lines.splice(0..0, (0..before).map(|_| Line::default()));
        self.first -= before;
        self.lines.resize(self.lines.len().max(number - self.first + 1), Line::default());
    }

    /// Adds the data packets of `group` to `sum`.
    pub(crate) fn add_group(&self, group: u16, sum: &mut TimeCounts) {
        let at = sojourn_line(group, false).wrapping_sub(self.first);
        if let Some(line) = self.lines.get(at) {
            sum.merge(&line.sojourn);
        }
    }

    /// The sojourn times of all packets.
    pub(crate) fn total(&self) -> TimeCounts {
        let mut sum = TimeCounts::new();
        self.lines.iter().for_each(|line| sum.merge(&line.sojourn));
        sum
    }

    /// The groups that sent something, and the bits of each.
    pub(crate) fn group_bits(&self) -> Vec<(u32, f64)> {
        let mut groups: Vec<(u32, f64)> = Vec::new();
        for (number, line) in (self.first..).zip(&self.lines).filter(|(_, line)| line.bytes > 0) {
            let (group, bits) = ((number >> 1) as u32, line.bytes as f64 * 8.0);
            match groups.last_mut() {
                Some((known, sum)) if *known == group => *sum += bits,
                _ => groups.push((group, bits)),
            }
        }
        groups
    }
}

/// A packet that leaves a link, or has left it, as its figures need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departed {
    pub(crate) arrived: Instant,
    /// Start and end of its transmission.
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) number: u64,
    pub(crate) flow: FlowId,
    /// The line of its group ([`sojourn_line`]).
    pub(crate) line: u32,
    /// Bytes on the wire.
    pub(crate) wire_bytes: u32,
    /// IP length in bytes.
    pub(crate) len: u16,
}

/// A packet that was dropped on arrival, as the fingerprint needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropRow {
    pub(crate) at: Instant,
    pub(crate) flow: FlowId,
    pub(crate) number: u64,
}

impl Departed {
    #[inline(always)]
    fn sojourn(&self) -> Duration {
        self.start.since(self.arrived)
    }
}

/// Measurements of one link.
#[derive(Clone, Debug)]
pub(crate) struct LinkProbe {
    pub(crate) name: String,
    /// Number among the observed links, of which several equal ones are one; `None` for others.
    pub(crate) observed: Option<u32>,
    pub(crate) integral: QueueIntegral,
    pub(crate) sojourn_nanos: u128,
    /// Bytes whose transmission ended in the measured part, framing included.
    pub(crate) sent_bytes: u64,
    pub(crate) at_warmup: Counters,
    /// Bits that the line had saved up when the measured part began.
    pub(crate) saved_bits: f64,
    measuring_from: Instant,
    measuring_until: Instant,
    /// Sums since the last sample.
    pub(crate) recent_sojourn_nanos: u64,
    pub(crate) recent_departures: u64,
    pub(crate) recent_sent_bytes: u64,
    /// Measurements that few links need, behind one test per packet.
    pub(crate) extras: Option<Box<Extras>>,
}

impl LinkProbe {
    pub(crate) fn new(name: String, observed: Option<u32>, from: Instant, until: Instant) -> Self {
        Self {
            name,
            observed,
            integral: QueueIntegral::default(),
            sojourn_nanos: 0,
            sent_bytes: 0,
            at_warmup: Counters::default(),
            saved_bits: 0.0,
            measuring_from: from,
            measuring_until: until,
            recent_sojourn_nanos: 0,
            recent_departures: 0,
            recent_sent_bytes: 0,
            extras: None,
        }
    }

    /// Begins the measured part.
    pub(crate) fn restart(&mut self, now: Instant, waiting: QueueView, counters: Counters, saved_bits: f64) {
        self.integral.advance(now, waiting);
        self.integral.restart();
        self.at_warmup = counters;
        self.saved_bits = saved_bits;
    }

    /// Records a packet whose transmission starts now, after `sojourn`, with `wire_bytes` on the
    /// wire; `line` is that of its group ([`sojourn_line`]). When its transmission ends,
    /// [`transmitted`](Self::transmitted) follows.
    #[inline(always)]
    pub(crate) fn departed(&mut self, now: Instant, line: usize, sojourn: Duration, wire_bytes: u64, tables: &mut [LineTable]) {
        let Some(observed) = self.observed else { return };
        if now > self.measuring_from {
            tables[observed as usize].line(line).sojourn.add(sojourn);
            self.sojourn_nanos += u128::from(sojourn.as_nanos());
        }
        self.recent_sojourn_nanos += sojourn.as_nanos();
        self.recent_departures += 1;
        self.recent_sent_bytes += wire_bytes;
        if let Some(extras) = &mut self.extras {
            extras.departed(now, sojourn, wire_bytes);
        }
    }

    /// Counts a packet whose transmission ends at `end`.
    #[inline(always)]
    pub(crate) fn transmitted(&mut self, end: Instant, line: usize, wire_bytes: u64, tables: &mut [LineTable]) {
        if let Some(observed) = self.observed
            && end > self.measuring_from
            && end <= self.measuring_until
        {
            self.sent_bytes += wire_bytes;
            tables[observed as usize].line(line).bytes += wire_bytes;
        }
    }

    /// Does the work of [`departed`](Self::departed) and [`transmitted`](Self::transmitted), and
    /// with the integral of the backlog, for packets in the order of their departure. For links
    /// without [`Extras`].
    pub(crate) fn departed_all(&mut self, rows: &[Departed], tables: &mut [LineTable]) {
        let (mut sojourns, mut packet_nanos, mut byte_nanos, mut wire_bytes) = (0, 0, 0, 0);
        for row in rows {
            let sojourn = row.sojourn().as_nanos();
            sojourns += sojourn;
            packet_nanos += u128::from(sojourn);
            byte_nanos += product(sojourn, u64::from(row.len));
            wire_bytes += u64::from(row.wire_bytes);
        }
        self.integral.add(packet_nanos, byte_nanos);
        self.recent_sojourn_nanos += sojourns;
        self.recent_departures += rows.len() as u64;
        self.recent_sent_bytes += wire_bytes;
        // Times only rise.
        let begun = if rows.first().is_some_and(|row| row.start > self.measuring_from) {
            rows
        } else {
            &rows[rows.partition_point(|row| row.start <= self.measuring_from)..]
        };
        let table = &mut tables[self.observed.expect("rows are kept of observed links") as usize];
        for row in begun {
            table.line(row.line as usize).sojourn.add(row.sojourn());
            self.sojourn_nanos += u128::from(row.sojourn().as_nanos());
        }
        for row in rows {
            self.transmitted(row.end, row.line as usize, u64::from(row.wire_bytes), tables);
        }
    }

    /// Whether it is observed, and has no extras.
    pub(crate) const fn is_plain(&self) -> bool {
        self.observed.is_some() && self.extras.is_none()
    }

    /// The measurements that few links need.
    pub(crate) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}

/// Measurements of links whose rate changes, and of links that somebody watches.
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

/// Takes the drops and marks of queues; keeps the running fingerprint and the optional packet log.
#[derive(Clone, Debug)]
pub(crate) struct EventRecorder {
    now: Instant,
    link: LinkId,
    /// Number of the link among the observed ones; `None` keeps its packets out of the log.
    observed: Option<u32>,
    pub(crate) flows: IdVec<FlowId, FlowSignals>,
    pub(crate) losses: IdVec<LinkId, LossEvents>,
    /// The packets at each observed link.
    pub(crate) tables: Vec<LineTable>,
    pub(crate) fingerprint: u64,
    pub(crate) log: Option<Vec<PacketEvent>>,
    /// Tickets of packets of hosts outside that will never arrive; `None` in worlds without such
    /// hosts.
    pub(crate) lost: Option<Vec<Ticket>>,
}

const DEPARTED: u64 = 1;
const DROPPED: u64 = 2;
const MARKED: u64 = 3;

impl EventRecorder {
    /// `observed` is the number of observed links.
    pub(crate) fn new(losses: IdVec<LinkId, LossEvents>, observed: u32, log: Option<Vec<PacketEvent>>) -> Self {
        let tables = vec![LineTable::default(); observed as usize];
        let (link, flows) = (LinkId::new(0), IdVec::new());
        Self { now: Instant::ZERO, link, observed: None, flows, losses, tables, fingerprint: 0, log, lost: None }
    }

    /// Sets the time and the link of the events that follow.
    #[inline]
    pub(crate) fn at(&mut self, now: Instant, link: LinkId, observed: Option<u32>) -> &mut Self {
        self.now = now;
        self.link = link;
        self.observed = observed;
        self
    }

    /// Sets the time of the events that follow, at the same link.
    #[inline(always)]
    pub(crate) fn tick(&mut self, now: Instant) {
        self.now = now;
    }

    /// Folds one packet event into the fingerprint.
    #[inline]
    fn fold(&mut self, kind: u64, packet: &SimPacket) {
        self.fingerprint = self.folded(self.fingerprint, (kind, self.now), packet.flow.id(), packet.segment.number);
    }

    /// The fingerprint after an event of a kind at a time.
    #[inline(always)]
    fn folded(&self, before: u64, (kind, at): (u64, Instant), flow: FlowId, number: u64) -> u64 {
        let (flow, link) = (u64::from(flow.get()), u64::from(self.link.get()));
        let word = at.as_nanos() ^ (flow << 40) ^ (kind << 61) ^ (link << 32);
        let mixed = (before ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number;
        mixed.rotate_left(29)
    }

    /// Folds departures and drops in the order of time; at one instant packets leave before others
    /// are dropped. For worlds without a log.
    pub(crate) fn fold_all(&mut self, rows: &[Departed], drops: &[DropRow]) {
        debug_assert!(self.log.is_none(), "events are logged one by one");
        let mut fingerprint = self.fingerprint;
        let mut rows = rows;
        for drop in drops {
            let before = rows.iter().take_while(|row| row.start <= drop.at).count();
            let (left, rest) = rows.split_at(before);
            fingerprint = self.fold_departures(fingerprint, left);
            fingerprint = self.folded(fingerprint, (DROPPED, drop.at), drop.flow, drop.number);
            rows = rest;
        }
        self.fingerprint = self.fold_departures(fingerprint, rows);
    }

    #[inline(always)]
    fn fold_departures(&self, before: u64, rows: &[Departed]) -> u64 {
        rows.iter().fold(before, |fingerprint, row| self.folded(fingerprint, (DEPARTED, row.start), row.flow, row.number))
    }

    /// Counts a drop among the losses of its flow and of the link.
    #[inline]
    pub(crate) fn lose(&mut self, packet: &SimPacket) {
        if !packet.is_reverse() {
            let flow = &mut self.flows[packet.flow.id()];
            flow.lose(&packet.segment);
            self.losses[self.link].lose(self.now, flow);
        }
    }

    /// The wire loses `packet`: it counts among the losses of its flow, but not of the link, whose
    /// queue let it pass.
    pub(crate) fn lose_on_the_wire(&mut self, packet: &SimPacket) {
        self.record_loss(packet);
        if !packet.is_reverse() {
            self.flows[packet.flow.id()].lose(&packet.segment);
        }
    }

    /// `packet` will never arrive.
    pub(crate) fn record_loss(&mut self, packet: &SimPacket) {
        if let Some(lost) = &mut self.lost
            && self.flows[packet.flow.id()].has_tickets
        {
            lost.extend(packet.ticket());
        }
    }

    #[inline]
    pub(crate) fn departed(&mut self, packet: &SimPacket, sojourn: Duration) {
        self.fold(DEPARTED, packet);
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
                flow: packet.flow.id().get(),
                number: packet.segment.number,
                len: u32::from(packet.ip_len),
                kind,
            });
        }
    }
}

impl Sink<SimPacket> for EventRecorder {
    fn dropped(&mut self, packet: SimPacket, drop: Dropped) {
        self.fold(DROPPED, &packet);
        self.record_loss(&packet);
        self.lose(&packet);
        if self.log.is_some() {
            let sojourn = self.now.since(drop.enqueued_at);
            self.record(&packet, PacketEventKind::Dropped { reason: drop.reason, sojourn });
        }
    }

    fn marked(&mut self, packet: &SimPacket, reason: Reason) {
        self.fold(MARKED, packet);
        if !packet.is_reverse() {
            self.flows[packet.flow.id()].mark(&packet.segment);
        }
        if self.log.is_some() {
            self.record(packet, PacketEventKind::Marked { reason });
        }
    }
}

/// Bytes of a packet on the link, framing included.
#[inline]
pub(crate) fn wire_bytes(packet: &SimPacket, framing: Framing) -> Bytes {
    framing.wire(packet.len())
}
