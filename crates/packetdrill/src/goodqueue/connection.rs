//! One connection: handshake, sequence numbers, a sender and a receiver.

use super::accurate_ecn::{self, FIRST_COUNT};
use super::ends::{asks, granted, receiver, sender};
use super::header::{self, Offer, WINDOW_SCALE};
use super::host::{Host, Kind};
use super::stream::{Nagle, Stream};
use crate::packet::{Packet, TcpFlags, TcpOption};
use crate::stack::NotModelled;
use goodqueue_tcp::{Ending, Flags, Receiver, SackBlock, Segment, Sender, Transmit};
use goodqueue_units::{Bytes, Duration, Ecn, Instant};
use std::collections::{BTreeMap, VecDeque};

/// The initial sequence number; scripts count from it.
const ISN: u32 = 0xffff_f000;
/// The clock of timestamps when time begins, in ticks of a millisecond.
const FIRST_TICK: u32 = 1000;
const TICK: u64 = 1_000_000;
/// Bytes of the timestamp option in every segment.
const TIMESTAMP: u16 = 12;
/// First wait for the answer to a SYN-ACK (RFC 6298 §2).
const HANDSHAKE_WAIT: Duration = Duration::secs(1);
const BYTE_COUNTERS: &str = "the byte counters of accurate ECN";
/// Least segment size that senders have.
const SMALLEST_SEGMENT: u16 = 88;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    SynSent,
    SynReceived,
    Established,
}

/// How the other end says what arrived marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    Nothing,
    Classic,
    /// The count that the other end has reported, and modulo 8.
    Counted {
        count: u8,
        bits: u8,
    },
}

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    host: Host,
    pub(super) phase: Phase,
    opened: Instant,
    /// Expiries of the handshake's timer, to repeat them for a sender of the right segment size.
    retries: Vec<Instant>,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) stream: Stream,
    pub(super) nagle: Nagle,
    /// Largest payload of a segment.
    pub(super) mss: u16,
    /// What a socket option allows.
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
    /// ECE, the count of marks and the window of the latest acknowledgement.
    reported: (bool, u8, u16),
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
    codepoint_of_answers: Ecn,
}

fn not_modelled<T>(what: &str) -> Result<T, NotModelled> {
    Err(NotModelled::new(what))
}

impl Connection {
    /// Opens a connection.
    pub(super) fn connect(now: Instant, host: &Host, clamp: Option<u16>) -> Result<Self, NotModelled> {
        let mss = host.route_mss.min(clamp.unwrap_or(u16::MAX)).max(SMALLEST_SEGMENT);
        let mut connection = Self::new(now, host, mss, clamp, Phase::SynSent, host.ecn.asks)?;
        connection.sender.connect(now);
        Ok(connection)
    }

    /// Answers a SYN.
    pub(super) fn accept(now: Instant, syn: &Packet, host: &Host, clamp: Option<u16>) -> Result<Self, NotModelled> {
        if !syn.flags.has(TcpFlags::SYN) || syn.flags.has(TcpFlags::ACK) || syn.flags.has(TcpFlags::RST) {
            return not_modelled("an answer to a segment that opens nothing");
        }
        if syn.flags.has(TcpFlags::FIN)
            || syn.len > 0
            || syn.options.iter().any(|option| matches!(option, TcpOption::FastOpen(_)))
        {
            return not_modelled("fast open");
        }
        let asked = match syn.flags.ace() {
            0b111 => Kind::Accurate,
            0b011 => Kind::Classic,
            _ => Kind::Off,
        };
        let mut connection = Self::new(now, host, SMALLEST_SEGMENT, clamp, Phase::SynReceived, Kind::Off)?;
        let ecn = asked.min(host.ecn.agrees);
        if ecn == Kind::Accurate && host.counts_bytes {
            return not_modelled(BYTE_COUNTERS);
        }
        connection.learn(syn, ecn)?;
        let bits = match ecn {
            Kind::Off => 0,
            Kind::Classic => TcpFlags::ECE.ace(),
            Kind::Accurate => accurate_ecn::reflection(syn.ecn),
        };
        let flags = TcpFlags::SYN.with(TcpFlags::ACK).with_ace(bits);
        let packet = connection.handshake(now, flags, Ecn::NotEct);
        connection.out.push_back(packet);
        let mark = Segment { timestamp: now, flags: asks(ecn), ..Segment::default() };
        let _ = connection.receiver.handle_segment(now, &mark, syn.ecn);
        Ok(connection)
    }

    fn new(now: Instant, host: &Host, mss: u16, clamp: Option<u16>, phase: Phase, ecn: Kind) -> Result<Self, NotModelled> {
        Ok(Self {
            host: host.clone(),
            phase,
            opened: now,
            retries: Vec::new(),
            sender: sender(host, mss, host.sack, ecn)?,
            receiver: receiver(mss, host.sack),
            stream: Stream::new(mss),
            nagle: Nagle::On,
            mss,
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
            reported: (false, 0, u16::MAX),
            peer_end: None,
            read: 0,
            una: 0,
            last_data: now,
            abandoned: false,
            codepoint_of_answers: Ecn::NotEct,
        })
    }

    /// Takes what the other end announces in its SYN or in the answer, and builds a sender and a
    /// receiver for it.
    fn learn(&mut self, packet: &Packet, ecn: Kind) -> Result<(), NotModelled> {
        self.irs = packet.seq;
        self.sack &= packet.options.contains(&TcpOption::SackPermitted);
        self.timestamps &= packet.timestamp().is_some();
        self.scaled = packet.window_scale().is_some();
        self.peer_scale = packet.window_scale().unwrap_or(0).min(14);
        self.recent = packet.timestamp().map_or(0, |(value, _)| value);
        // RFC 9293 §3.7.1: 536 unless announced.
        let announced = packet.mss().unwrap_or(536).min(self.host.route_mss).min(self.clamp.unwrap_or(u16::MAX));
        self.mss = announced.max(SMALLEST_SEGMENT) - if self.timestamps { TIMESTAMP } else { 0 };
        self.stream = Stream::new(self.mss);
        self.sender = sender(&self.host, self.mss, self.sack, ecn)?;
        self.receiver = receiver(self.mss, self.sack);
        self.feedback = match ecn {
            Kind::Off => Feedback::Nothing,
            Kind::Classic => Feedback::Classic,
            Kind::Accurate => Feedback::Counted { count: 0, bits: FIRST_COUNT },
        };
        if ecn == Kind::Accurate {
            self.codepoint_of_answers = Ecn::Ect0;
        }
        Ok(())
    }

    fn handshake(&mut self, now: Instant, flags: TcpFlags, ecn: Ecn) -> Packet {
        let timestamp = self.timestamps.then(|| (self.tick(now), self.recent));
        let mss = self.host.mss.min(self.clamp.unwrap_or(u16::MAX));
        let offer = Offer { mss, sack: self.sack, timestamp, scale: self.scaled };
        let ack = if flags.has(TcpFlags::ACK) { self.irs.wrapping_add(1) } else { 0 };
        Packet { ecn, flags, seq: ISN, ack, window: u16::MAX, options: offer.options(), ..Packet::default() }
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
            return not_modelled("RST");
        }
        if packet.flags.has(TcpFlags::URG) {
            return not_modelled("urgent data");
        }
        if packet.options.iter().any(|option| matches!(option, TcpOption::Md5(_))) {
            return not_modelled("MD5 digests");
        }
        match (self.phase, packet.flags.has(TcpFlags::SYN), packet.flags.has(TcpFlags::ACK)) {
            (Phase::SynSent, true, true) => self.finish_connecting(now, packet),
            (Phase::SynReceived, false, true) => self.finish_accepting(now, packet),
            (Phase::Established, false, true) => self.handle_segment(now, packet),
            (Phase::SynSent, true, false) => not_modelled("a simultaneous open"),
            (Phase::SynSent, false, _) => not_modelled("a segment other than a SYN-ACK while connecting"),
            (Phase::SynReceived | Phase::Established, true, _) => not_modelled("a repeated SYN"),
            (Phase::SynReceived | Phase::Established, false, false) => not_modelled("a segment without ACK"),
        }
    }

    fn finish_connecting(&mut self, now: Instant, answer: &Packet) -> Result<(), NotModelled> {
        if answer.ack != ISN.wrapping_add(1) {
            return not_modelled("RST");
        }
        if answer.len > 0 {
            return not_modelled("data on a SYN-ACK");
        }
        let bits = answer.flags.ace();
        let ecn = match self.host.ecn.asks {
            Kind::Accurate if accurate_ecn::agrees(bits) => Kind::Accurate,
            Kind::Accurate | Kind::Classic if bits == TcpFlags::ECE.ace() => Kind::Classic,
            Kind::Accurate | Kind::Classic | Kind::Off => Kind::Off,
        };
        if ecn == Kind::Accurate
            && self.host.counts_bytes
            && answer.options.iter().any(|option| matches!(option, TcpOption::AccEcn { .. }))
        {
            return not_modelled(BYTE_COUNTERS);
        }
        let asked = self.host.ecn.asks;
        self.learn(answer, ecn)?;
        self.sender = sender(&self.host, self.mss, self.sack, asked)?;
        self.establish(now, answer, ecn);
        // The peer's answer sets what is reported from here on.
        let mark = Segment { timestamp: now, flags: asks(ecn), ..Segment::default() };
        let _ = self.receiver.handle_segment(self.opened, &mark, self.codepoint_of_answers);
        // The third segment of the handshake.
        let _ = self.sender.poll_transmit(now);
        let bits = if ecn == Kind::Accurate { accurate_ecn::reflection(answer.ecn) } else { 0 };
        let timestamp = self.timestamps.then(|| (self.tick(now), self.recent));
        self.out.push_back(Packet {
            ecn: self.codepoint_of_answers,
            flags: TcpFlags::ACK.with_ace(bits),
            seq: ISN.wrapping_add(1),
            ack: self.irs.wrapping_add(1),
            window: u16::MAX >> WINDOW_SCALE,
            options: header::options(timestamp, Vec::new()),
            ..Packet::default()
        });
        Ok(())
    }

    fn finish_accepting(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled> {
        if packet.ack != ISN.wrapping_add(1) {
            return not_modelled("an acknowledgement of something else than the SYN-ACK");
        }
        let ecn = match self.feedback {
            Feedback::Nothing => Kind::Off,
            Feedback::Classic => Kind::Classic,
            Feedback::Counted { .. } => Kind::Accurate,
        };
        if ecn == Kind::Accurate && packet.len > 0 {
            return not_modelled("accurate ECN whose handshake ends with data");
        }
        let mut window = packet.clone();
        window.window = (u32::from(packet.window) << self.peer_scale).min(u32::from(u16::MAX)) as u16;
        self.establish(now, &window, ecn);
        // This end has sent the SYN-ACK, and no third segment.
        let _ = self.sender.poll_transmit(now);
        if packet.len > 0 || packet.flags.has(TcpFlags::FIN) { self.handle_segment(now, packet) } else { Ok(()) }
    }

    /// Leads the sender through the handshake as it was, with the window and the timestamp of the
    /// segment that ends it.
    fn establish(&mut self, now: Instant, packet: &Packet, ecn: Kind) {
        self.sender.connect(self.opened);
        while self.sender.poll_transmit(self.opened).is_some() {}
        for &at in &self.retries {
            self.sender.handle_timeout(at);
            while self.sender.poll_transmit(at).is_some() {}
        }
        let flags = Flags::SYN.with(Flags::ACK).with(granted(ecn));
        let (payload, _) = self.offer(u64::from(packet.window));
        let answer = Segment { timestamp: self.echoed(packet), flags, payload, ..Segment::default() };
        self.sender.handle_ack(now, &answer);
        self.phase = Phase::Established;
        self.last_data = now;
    }

    /// A window of so many bytes as the sender takes it, in whole segments.
    fn offer(&self, window: u64) -> (u16, u64) {
        let mss = u64::from(self.mss);
        let segments = window / mss;
        let (payload, room) = Segment::offer(segments * mss);
        if room < (segments + 1) * mss { (payload, room) } else { Segment::offer((segments * mss).saturating_sub(1023)) }
    }

    fn handle_segment(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled> {
        let fin = packet.flags.has(TcpFlags::FIN);
        let next = self.irs.wrapping_add(1).wrapping_add(self.receiver.delivered_bytes() as u32);
        let ahead = packet.seq.wrapping_sub(next) as i32;
        if let Some((value, _)) = packet.timestamp()
            && ahead <= 0
        {
            self.recent = value;
        }
        let carries = packet.len > 0 || fin;
        self.take_acknowledgement(now, packet, carries)?;
        if !carries {
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

    fn is_counted(&self) -> bool {
        matches!(self.feedback, Feedback::Counted { .. })
    }

    /// Hands the acknowledgement in a segment to the sender.
    fn take_acknowledgement(&mut self, now: Instant, packet: &Packet, carries_data: bool) -> Result<(), NotModelled> {
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
        let marks = self.take_marks(packet);
        let mut flags = Flags::ACK;
        if packet.flags.has(TcpFlags::ECE) && !self.is_counted() {
            flags = flags.with(Flags::ECE);
        }
        let mss = u64::from(self.mss);
        let (payload, _) = self.offer(window);
        let mut segment =
            Segment { number: number * mss, timestamp: self.echoed(packet), payload, flags, ce: marks, ..Segment::default() };
        if self.sack {
            self.take_blocks(packet, offset, &mut segment);
        }
        self.una = self.una.max(offset);
        // Data of the other direction with an old acknowledgement says nothing new.
        if !carries_data || advanced || segment.has_blocks() {
            self.sender.handle_ack(now, &segment);
        }
        self.give();
        Ok(())
    }

    /// The number of marks that the other end has counted, modulo 256.
    fn take_marks(&mut self, packet: &Packet) -> u8 {
        let Feedback::Counted { count, bits } = &mut self.feedback else { return 0 };
        let now = packet.flags.ace();
        *count = count.wrapping_add(now.wrapping_sub(*bits) & 7);
        *bits = now;
        *count
    }

    /// Translates selective blocks to numbers of segments. The first one may report a duplicate
    /// (RFC 2883): it lies below the acknowledgement, or within the second one.
    fn take_blocks(&self, packet: &Packet, offset: u64, segment: &mut Segment) {
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
            let (first, past) = (self.stream.from(from) * mss, self.stream.below(to) * mss);
            let is_duplicate = duplicate && index == 0;
            let offset = if is_duplicate { segment.number.checked_sub(first) } else { first.checked_sub(segment.number) };
            let (Some(offset), Some(len)) = (offset, past.checked_sub(first).filter(|len| *len > 0)) else { continue };
            if used == segment.sack.len() {
                break;
            }
            if is_duplicate {
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
        if self.phase != Phase::SynReceived {
            while let Some(sent) = self.sender.poll_transmit(now) {
                if let Some(packet) = self.packet(now, &sent) {
                    return Some(packet);
                }
            }
        }
        let answer = self.due.take()?;
        Some(self.answer(now, &answer, self.stream.sent_end()))
    }

    fn packet(&mut self, now: Instant, sent: &Transmit) -> Option<Packet> {
        if sent.segment.flags.has(Flags::SYN) {
            let mut flags = TcpFlags::SYN;
            for (flag, letter) in [(Flags::ECE, TcpFlags::ECE), (Flags::CWR, TcpFlags::CWR), (Flags::AE, TcpFlags::AE)] {
                flags = flags.with_if(sent.segment.flags.has(flag), letter);
            }
            return Some(self.handshake(now, flags, Ecn::NotEct));
        }
        let part = self.stream.take(sent.segment.number / u64::from(self.mss))?;
        // Data takes the acknowledgement along that would leave otherwise.
        let waiting = self.due.take();
        let answer = waiting.or_else(|| self.receiver.flush(now)).unwrap_or_else(|| self.latest_answer());
        let mut packet = self.answer(now, &answer, part.start);
        packet.len = part.len;
        // With classic ECN only data is ECN-capable (RFC 3168 §6.1.4).
        packet.ecn = if part.len > 0 || self.is_counted() { sent.ecn } else { Ecn::NotEct };
        packet.flags = packet
            .flags
            .with_if(part.fin, TcpFlags::FIN)
            .with_if(sent.segment.flags.has(Flags::CWR) && !self.is_counted(), TcpFlags::CWR);
        Some(packet)
    }

    /// What the latest acknowledgement has said, without selective blocks.
    fn latest_answer(&self) -> Segment {
        let (echo, ce, payload) = self.reported;
        let flags = if echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        Segment { number: self.receiver.delivered_bytes(), flags, ce, payload, ..Segment::default() }
    }

    /// The segment that an acknowledgement becomes, at an offset of our stream.
    fn answer(&mut self, now: Instant, answer: &Segment, offset: u64) -> Packet {
        let first = self.irs.wrapping_add(1);
        let at = |offset: u64| first.wrapping_add(offset as u32);
        let duplicate = answer.flags.has(Flags::DSACK);
        let blocks = answer.blocks().iter().enumerate().map(|(index, block)| {
            let from = if duplicate && index == 0 {
                answer.number.saturating_sub(u64::from(block.offset))
            } else {
                answer.number + u64::from(block.offset)
            };
            (at(from), at(from + u64::from(block.len)))
        });
        let blocks: Vec<_> = blocks.collect();
        let echo = answer.flags.has(Flags::ECE);
        self.reported = (echo, answer.ce, answer.payload);
        let mut flags = TcpFlags::ACK.with_if(echo && !self.is_counted(), TcpFlags::ECE);
        if self.is_counted() {
            flags = flags.with_ace(FIRST_COUNT.wrapping_add(answer.ce));
        }
        let shift = if self.scaled { WINDOW_SCALE } else { 0 };
        let window = (answer.offered().unwrap_or(u64::from(u16::MAX)) >> shift).min(u64::from(u16::MAX)) as u16;
        let timestamp = self.timestamps.then(|| (self.tick(now), self.recent));
        Packet {
            ecn: self.codepoint_of_answers,
            flags,
            seq: ISN.wrapping_add(1).wrapping_add(offset as u32),
            len: 0,
            ack: at(answer.number),
            window,
            urgent: 0,
            options: header::options(timestamp, blocks),
        }
    }

    /// When a timer expires.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let sender =
            if self.phase == Phase::SynReceived { Some(self.opened + HANDSHAKE_WAIT) } else { self.sender.next_timeout() };
        [sender, self.receiver.next_timeout()].into_iter().flatten().min()
    }

    /// Lets timers expire that are due.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Result<(), NotModelled> {
        match self.phase {
            Phase::SynReceived if now >= self.opened + HANDSHAKE_WAIT => return not_modelled("a repeated SYN-ACK"),
            Phase::SynSent => self.retries.push(now),
            Phase::SynReceived | Phase::Established => {}
        }
        if self.phase != Phase::SynReceived {
            let probes = self.sender.statistics().probes;
            self.sender.handle_timeout(now);
            if self.host.refuses_probes && self.sender.statistics().probes > probes {
                return not_modelled("a host without loss probes");
            }
        }
        if let Some(answer) = self.receiver.handle_timeout(now) {
            self.due = Some(answer);
        }
        Ok(())
    }
}
