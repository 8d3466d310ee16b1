//! One connection: sequence numbers, a sender and a receiver.

mod handshake;

use super::accurate_ecn::negotiation::Kind;
use super::accurate_ecn::{AccurateEcn, Acknowledged, RESERVED, Room};
use super::defaults::ConnectionDefaults;
use super::deliveries::Deliveries;
use super::ends::{codepoint, receiver, sender};
use super::header::{self, WINDOW_SCALE};
use super::stream::{Nagle, Stream};
use crate::packetdrill::packet::{OPTION_SPACE, Packet, TcpFlags, TcpOption};
use crate::packetdrill::stack::NotModelled;
use goodqueue_base::units::{Bytes, Ecn, Instant};
use goodqueue_tcp::{Ending, Flags, Receiver, SackBlock, Segment, Sender, Transmit};
use std::collections::{BTreeMap, VecDeque};

/// The initial sequence number; scripts count from it.
const ISN: u32 = 0xffff_f000;
/// The clock of timestamps when time begins, in ticks of a millisecond.
const FIRST_TICK: u32 = 1000;
const TICK: u64 = 1_000_000;
/// Bytes of the timestamp option in every segment.
const TIMESTAMP: u16 = 12;
/// Least segment size that senders have.
const MIN_SEGMENT: u16 = 88;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    SynSent,
    SynReceived,
    Established,
    /// The other end has sent RST.
    Reset,
}

/// Whether the timestamp of a segment is newer than those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    Same,
    Newer,
}

/// The end that sent the first SYN. If both have, this one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opener {
    This,
    Other,
}

/// The way in which each end reports to the other that packets arrived marked.
#[derive(Clone, Debug)]
enum Feedback {
    Nothing,
    Classic,
    Counted(Box<AccurateEcn>),
}

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    host: ConnectionDefaults,
    pub(super) phase: Phase,
    opener: Opener,
    opened: Instant,
    /// The segment that has ended the handshake, and when, if accurate ECN was agreed on.
    ended: Option<(Instant, Packet)>,
    /// Expiries of the handshake's timer, to repeat them for a sender of the right segment size.
    retries: Vec<Instant>,
    /// SYN-ACKs that have left, and when the next one does.
    answers: u32,
    repeat_at: Option<Instant>,
    /// The codepoint of the other end's latest SYN or SYN-ACK, and its bits for ECN.
    syn: (Ecn, u8),
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) stream: Stream,
    pub(super) nagle: Nagle,
    /// Largest payload of a segment.
    pub(super) mss: u16,
    /// Largest payload of a segment, without the room that is kept free for byte counters.
    full_size: u16,
    /// The largest segment that a socket option allows.
    clamp: Option<u16>,
    irs: u32,
    sack: bool,
    timestamps: bool,
    scaled: bool,
    peer_scale: u8,
    feedback: Feedback,
    /// The latest timestamp of the other end to echo.
    recent: u32,
    /// When the latest segment with each value of our clock left.
    departures: BTreeMap<u32, Instant>,
    /// Segments of the handshake.
    out: VecDeque<Packet>,
    /// An acknowledgement that leaves now, unless data takes it along.
    due: Option<Segment>,
    /// ECE and the window of the latest acknowledgement.
    reported: (bool, u16),
    /// Offset in the peer's stream above its FIN.
    pub(super) peer_end: Option<u64>,
    /// Bytes that the application has read.
    pub(super) read: u64,
    /// Offset acknowledged.
    pub(super) una: u64,
    /// When data arrived last, at first when the connection was established.
    pub(super) last_data: Instant,
    /// The application has closed its socket.
    pub(super) abandoned: bool,
    deliveries: Deliveries,
}

fn not_modelled<T>(what: &str) -> Result<T, NotModelled> {
    Err(NotModelled::new(what))
}

impl Connection {
    fn new(
        now: Instant,
        host: &ConnectionDefaults,
        mss: u16,
        clamp: Option<u16>,
        phase: Phase,
        ecn: Kind,
    ) -> Result<Self, NotModelled> {
        Ok(Self {
            host: host.clone(),
            phase,
            opener: if phase == Phase::SynSent { Opener::This } else { Opener::Other },
            opened: now,
            ended: None,
            retries: Vec::new(),
            answers: 0,
            repeat_at: None,
            syn: (Ecn::NotEct, 0),
            sender: sender(host, mss, host.sack, ecn)?,
            receiver: receiver(mss, host.sack),
            stream: Stream::new(mss),
            nagle: Nagle::On,
            mss,
            full_size: mss,
            clamp,
            irs: 0,
            sack: host.sack,
            timestamps: host.timestamps,
            scaled: true,
            peer_scale: 0,
            feedback: Feedback::Nothing,
            recent: 0,
            departures: BTreeMap::new(),
            out: VecDeque::new(),
            due: None,
            reported: (false, u16::MAX),
            peer_end: None,
            read: 0,
            una: 0,
            last_data: now,
            abandoned: false,
            deliveries: Deliveries::default(),
        })
    }

    /// Takes on what an administrator changes while the connection is open.
    pub(super) fn configure(&mut self, host: &ConnectionDefaults) -> Result<(), NotModelled> {
        self.host.accurate_ecn = host.accurate_ecn;
        if let Feedback::Counted(ecn) = &mut self.feedback {
            ecn.configure(host.accurate_ecn);
        }
        self.refit()
    }

    /// The clock of timestamps; remembers when it was read.
    fn tick(&mut self, now: Instant) -> u32 {
        let tick = FIRST_TICK.wrapping_add((now.as_nanos() / TICK) as u32);
        self.departures.insert(tick, now);
        if self.departures.len() > 1 << 16 {
            self.departures.pop_first();
        }
        tick
    }

    /// The time at which the segment left whose timestamp is echoed; zero stands for none.
    fn echoed(&self, packet: &Packet) -> Instant {
        let Some((_, echo)) = packet.timestamp().filter(|_| self.timestamps) else { return Instant::ZERO };
        self.departures.get(&echo).copied().unwrap_or(Instant::ZERO)
    }

    /// Takes a segment.
    pub(super) fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled> {
        if packet.flags.has(TcpFlags::RST) {
            return self.reset(packet);
        }
        if packet.flags.has(TcpFlags::URG) {
            return not_modelled("urgent data");
        }
        if packet.options.iter().any(|option| matches!(option, TcpOption::Md5(_))) {
            return not_modelled("MD5 digests");
        }
        match (self.phase, packet.flags.has(TcpFlags::SYN), packet.flags.has(TcpFlags::ACK)) {
            (Phase::SynSent, true, true) => self.finish_connecting(now, packet),
            (Phase::SynSent, true, false) => self.cross(now, packet),
            (Phase::SynReceived, _, true) => self.finish_accepting(now, packet),
            (Phase::SynReceived, true, false) => self.answer_again(now, packet),
            (Phase::Established, true, _) => {
                self.challenge(now, packet);
                Ok(())
            }
            (Phase::Established, false, true) => self.handle_segment(now, packet),
            (Phase::SynSent, false, _) => not_modelled("a segment other than a SYN-ACK while connecting"),
            (Phase::SynReceived | Phase::Established, false, false) => not_modelled("a segment without ACK"),
            (Phase::Reset, _, _) => not_modelled("an answer to a segment after RST"),
        }
    }

    /// Takes RST, which is believed at the very next number (RFC 5961 §3.2).
    fn reset(&mut self, packet: &Packet) -> Result<(), NotModelled> {
        if self.phase != Phase::Established || packet.seq != self.next_expected() {
            return not_modelled("RST outside of a connection");
        }
        self.phase = Phase::Reset;
        self.out.clear();
        self.due = None;
        Ok(())
    }

    fn next_expected(&self) -> u32 {
        self.irs.wrapping_add(1).wrapping_add(self.receiver.delivered_bytes() as u32)
    }

    /// Returns a window of `window` bytes as the sender takes it, in whole segments.
    fn offer(&self, window: u64) -> (u16, u64) {
        let mss = u64::from(self.mss);
        let segments = window / mss;
        let (payload, room) = Segment::offer(segments * mss);
        if room < (segments + 1) * mss { (payload, room) } else { Segment::offer((segments * mss).saturating_sub(1023)) }
    }

    fn handle_segment(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled> {
        let fin = packet.flags.has(TcpFlags::FIN);
        let ahead = packet.seq.wrapping_sub(self.next_expected()) as i32;
        let newer = self.timestamps && packet.timestamp().is_some_and(|(value, _)| value.wrapping_sub(self.recent) as i32 > 0);
        if let Some((value, _)) = packet.timestamp()
            && ahead <= 0
        {
            self.recent = value;
        }
        if let Feedback::Counted(ecn) = &mut self.feedback {
            ecn.arrive(packet);
        }
        let carries = packet.len > 0 || fin;
        self.take_acknowledgement(now, packet, if newer { Clock::Newer } else { Clock::Same })?;
        if !carries {
            self.report_marks(now);
            return if ahead < 0 { not_modelled("an answer to a segment below the window") } else { Ok(()) };
        }
        if self.abandoned && (packet.len > 0 || self.peer_is_done()) {
            return not_modelled("RST, after data for a closed socket");
        }
        self.last_data = now;
        let Some(number) = self.receiver.delivered_bytes().checked_add_signed(i64::from(ahead)) else {
            return not_modelled("a segment below the first byte");
        };
        // FIN takes a number, as a byte does.
        let whole = packet.len + u32::from(fin);
        let Ok(payload) = u16::try_from(whole) else { return not_modelled("a segment of more than 65535 bytes") };
        if number + u64::from(whole) <= self.receiver.delivered_bytes()
            && let Feedback::Counted(ecn) = &mut self.feedback
        {
            ecn.meet_duplicate((number, number + u64::from(whole)));
        }
        if fin {
            self.peer_end = Some(number + u64::from(whole));
        }
        let mut flags = Flags::default();
        for (letter, flag) in [(TcpFlags::PSH, Flags::PSH), (TcpFlags::FIN, Flags::FIN), (TcpFlags::CWR, Flags::CWR)] {
            // With counted marks that bit is part of the count.
            if packet.flags.has(letter) && !(letter == TcpFlags::CWR && self.is_counted()) {
                flags = flags.with(flag);
            }
        }
        let segment = Segment { number, timestamp: now, payload, flags, ..Segment::default() };
        if let Some(answer) = self.receiver.handle_segment(now, &segment, packet.ecn) {
            self.due = Some(answer);
        }
        Ok(())
    }

    /// Reports marks that came without data, when they are many.
    fn report_marks(&mut self, now: Instant) {
        if let Feedback::Counted(ecn) = &self.feedback
            && ecn.owes_report()
            && self.due.is_none()
        {
            self.due = self.receiver.flush(now).or_else(|| Some(self.latest_answer()));
        }
    }

    fn is_counted(&self) -> bool {
        matches!(self.feedback, Feedback::Counted(_))
    }

    /// Hands the acknowledgement in a segment to the sender.
    fn take_acknowledgement(&mut self, now: Instant, packet: &Packet, clock: Clock) -> Result<(), NotModelled> {
        let una = ISN.wrapping_add(1).wrapping_add(self.una as u32);
        let ahead = packet.ack.wrapping_sub(una) as i32;
        let Some(offset) = self.una.checked_add_signed(i64::from(ahead)) else { return Ok(()) };
        if offset > self.stream.sent_end() {
            return not_modelled("an acknowledgement of what was not sent");
        }
        let window = u64::from(packet.window) << self.peer_scale;
        if window < u64::from(self.mss) && !self.stream.is_closed() {
            return not_modelled("a closed window, its probes and its opening");
        }
        let advanced = offset > self.una;
        let number = self.stream.below(offset);
        let mut flags = Flags::ACK;
        if packet.flags.has(TcpFlags::ECE) && !self.is_counted() {
            flags = flags.with(Flags::ECE);
        }
        let mss = u64::from(self.mss);
        let (payload, _) = self.offer(window);
        let mut segment = Segment { number: number * mss, timestamp: self.echoed(packet), payload, flags, ..Segment::default() };
        let mut added = self.deliveries.acknowledge(number);
        if self.sack {
            self.take_blocks(packet, offset, &mut segment, &mut added);
        }
        segment.ce = self.take_marks(packet, &added, if advanced { Clock::Newer } else { clock });
        self.una = self.una.max(offset);
        // Data of the other direction with an old acknowledgement says nothing new.
        let carries_data = packet.len > 0 || packet.flags.has(TcpFlags::FIN);
        if !carries_data || advanced || segment.has_blocks() {
            self.sender.handle_ack(now, &segment);
        }
        self.give();
        Ok(())
    }

    /// The number of marks that the other end has counted, modulo 256. An acknowledgement that
    /// neither delivers anything nor is newer may be an old one, and before data has left it may
    /// repeat the handshake.
    fn take_marks(&mut self, packet: &Packet, added: &[(u64, u64)], clock: Clock) -> u8 {
        let Feedback::Counted(ecn) = &mut self.feedback else { return 0 };
        if added.is_empty() && clock == Clock::Same || self.stream.sent_end() == 0 {
            return ecn.handed();
        }
        let acknowledged = Acknowledged {
            segments: added.iter().map(|(first, past)| past - first).sum(),
            bytes: added.iter().map(|(first, past)| self.stream.bytes(*first, *past)).sum(),
            mss: u64::from(self.mss),
        };
        ecn.take(packet, &acknowledged)
    }

    /// Translates selective blocks to numbers of segments. The first one may report a duplicate
    /// (RFC 2883): it lies below the acknowledgement, or within the second one.
    fn take_blocks(&mut self, packet: &Packet, offset: u64, segment: &mut Segment, added: &mut Vec<(u64, u64)>) {
        let mss = u64::from(self.mss);
        let place = |number: u32| {
            let ahead = number.wrapping_sub(packet.ack) as i32;
            offset.checked_add_signed(i64::from(ahead)).unwrap_or(0)
        };
        let blocks: Vec<(u64, u64)> = packet.sack().iter().map(|&(from, to)| (place(from), place(to))).collect();
        let duplicate = blocks.first().is_some_and(|&(from, to)| {
            to <= offset || blocks.get(1).is_some_and(|&(outer_from, outer_to)| outer_from <= from && to <= outer_to)
        });
        let mut used = 0;
        for (index, &(from, to)) in blocks.iter().enumerate() {
            let (first, past) = (self.stream.from(from), self.stream.below(to));
            let is_duplicate = duplicate && index == 0;
            if !is_duplicate {
                added.extend(self.deliveries.report(first, past));
            }
            let (first, past) = (first * mss, past * mss);
            let is_below = is_duplicate && first < segment.number;
            let offset = if is_below { segment.number.checked_sub(first) } else { first.checked_sub(segment.number) };
            let (Some(offset), Some(len)) = (offset, past.checked_sub(first).filter(|len| *len > 0)) else { continue };
            if used == segment.sack.len() {
                break;
            }
            if is_below {
                segment.flags = segment.flags.with(Flags::DSACK);
            }
            segment.sack[used] = SackBlock { offset: offset as u32, len: len as u32 };
            used += 1;
        }
    }

    /// Appends to the stream.
    pub(super) fn write(&mut self, bytes: u64) {
        self.stream.write(bytes);
        self.give();
    }

    /// Ends the stream.
    pub(super) fn close(&mut self) {
        self.stream.close();
        self.give();
    }

    /// Gives the sender what the stream has in segments.
    pub(super) fn give(&mut self) {
        self.stream.release_tail(self.una, self.nagle);
        let mss = u64::from(self.mss);
        let more = self.stream.segments().saturating_sub(self.sender.written() / mss);
        if more > 0 {
            self.sender.write(Bytes::new(more * mss), Ending::More);
        }
    }

    /// The next segment to send.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        if let Some(packet) = self.out.pop_front() {
            return Some(packet);
        }
        if self.phase == Phase::Reset {
            return None;
        }
        if self.phase != Phase::SynReceived {
            while let Some(sent) = self.sender.poll_transmit(now) {
                if let Some(packet) = self.packet(now, &sent) {
                    return Some(packet);
                }
            }
        }
        let answer = self.due.take()?;
        Some(self.answer(now, &answer, self.stream.sent_end(), 0))
    }

    fn packet(&mut self, now: Instant, sent: &Transmit) -> Option<Packet> {
        if sent.segment.flags.has(Flags::SYN) {
            let mut flags = TcpFlags::SYN;
            for (flag, letter) in [(Flags::ECE, TcpFlags::ECE), (Flags::CWR, TcpFlags::CWR), (Flags::AE, TcpFlags::AE)] {
                flags = flags.with_if(sent.segment.flags.has(flag), letter);
            }
            return Some(self.handshake(now, flags, None));
        }
        let part = self.stream.take(sent.segment.number / u64::from(self.mss))?;
        // Data takes the acknowledgement along that would leave otherwise.
        let waiting = self.due.take();
        let answer = waiting.or_else(|| self.receiver.flush(now)).unwrap_or_else(|| self.latest_answer());
        let mut packet = self.answer(now, &answer, part.start, part.len);
        // With classic ECN only data is ECN-capable (RFC 3168 §6.1.4).
        if part.len > 0 && !self.is_counted() {
            packet.ecn = sent.ecn;
        }
        packet.flags = packet
            .flags
            .with_if(part.fin, TcpFlags::FIN)
            .with_if(sent.segment.flags.has(Flags::CWR) && !self.is_counted(), TcpFlags::CWR);
        Some(packet)
    }

    /// The content of the latest acknowledgement, without selective blocks.
    fn latest_answer(&self) -> Segment {
        let (echo, payload) = self.reported;
        let flags = if echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        Segment { number: self.receiver.delivered_bytes(), flags, payload, ..Segment::default() }
    }

    /// The segment that an acknowledgement becomes, at offset `offset` of our stream and with `len`
    /// bytes of data.
    fn answer(&mut self, now: Instant, answer: &Segment, offset: u64, len: u32) -> Packet {
        let first = self.irs.wrapping_add(1);
        let at = |offset: u64| first.wrapping_add(offset as u32);
        let duplicate = answer.received_twice();
        let blocks = duplicate.clone().into_iter().chain(answer.received());
        let mut blocks: Vec<_> = blocks.map(|range| (at(range.start), at(range.end))).collect();
        let echo = answer.flags.has(Flags::ECE);
        self.reported = (echo, answer.payload);
        let mut flags = TcpFlags::ACK.with_if(echo && !self.is_counted(), TcpFlags::ECE);
        let timestamp = self.timestamps.then(|| (self.tick(now), self.recent));
        let mut counters = None;
        if let Feedback::Counted(ecn) = &mut self.feedback {
            let room = Room {
                space: OPTION_SPACE - if timestamp.is_some() { usize::from(TIMESTAMP) } else { 0 },
                growth: usize::from(self.full_size).saturating_sub(len as usize),
                blocks: blocks.len(),
                rtt: self.sender.srtt(),
                duplicate: duplicate.map(|range| (range.start, range.end)),
            };
            let (option, kept) = ecn.report(now, &room, &mut flags);
            blocks.truncate(kept);
            counters = option;
        }
        let shift = if self.scaled { WINDOW_SCALE } else { 0 };
        let window = (answer.offered().unwrap_or(u64::from(u16::MAX)) >> shift).min(u64::from(u16::MAX)) as u16;
        Packet {
            ecn: self.codepoint(),
            flags,
            seq: ISN.wrapping_add(1).wrapping_add(offset as u32),
            len,
            ack: at(answer.number),
            window,
            urgent: 0,
            options: header::options(timestamp, counters, blocks),
        }
    }

    /// The codepoint of segments after the handshake, apart from data with classic ECN.
    fn codepoint(&self) -> Ecn {
        match &self.feedback {
            Feedback::Counted(ecn) if ecn.is_capable() => codepoint(&self.host),
            Feedback::Counted(_) | Feedback::Nothing | Feedback::Classic => Ecn::NotEct,
        }
    }

    /// When a timer expires.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match self.phase {
            Phase::Reset => None,
            Phase::SynReceived => self.repeat_at,
            Phase::SynSent | Phase::Established => {
                [self.sender.next_timeout(), self.receiver.next_timeout()].into_iter().flatten().min()
            }
        }
    }

    /// Handles the timers that are due.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Result<(), NotModelled> {
        match self.phase {
            Phase::Reset => return Ok(()),
            Phase::SynReceived => return self.repeat_answer(now),
            Phase::SynSent => self.retries.push(now),
            Phase::Established => {}
        }
        let before = *self.sender.statistics();
        self.sender.handle_timeout(now);
        let after = self.sender.statistics();
        if self.host.refuses_probes && after.probes > before.probes {
            return not_modelled("a host without loss probes");
        }
        if let Feedback::Counted(ecn) = &mut self.feedback
            && after.timeouts > before.timeouts
        {
            ecn.expire();
        }
        if let Some(answer) = self.receiver.handle_timeout(now) {
            self.due = Some(answer);
        }
        Ok(())
    }

    /// A field of `tcp_info` about accurate ECN, all of which are zero without ECN.
    pub(super) fn counted(&self, field: &str) -> Option<f64> {
        match &self.feedback {
            Feedback::Counted(ecn) => ecn.info(field),
            Feedback::Nothing => AccurateEcn::new(self.host.accurate_ecn).info(field),
            Feedback::Classic => None,
        }
    }
}
