//! Opening of a connection, by either end or by both at once.

use super::super::accurate_ecn::AccurateEcn;
use super::super::accurate_ecn::negotiation::{self, Kind, reflection};
use super::super::defaults::ConnectionDefaults;
use super::super::ends::{asks, granted, receiver, sender};
use super::super::header::{Offer, WINDOW_SCALE};
use super::super::stream::Stream;
use super::{Connection, Feedback, ISN, MIN_SEGMENT, Opener, Phase, RESERVED, TIMESTAMP, not_modelled};
use crate::packetdrill::packet::{Packet, TcpFlags, TcpOption};
use crate::packetdrill::stack::NotModelled;
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::{Flags, Segment};

/// First wait for the answer to a SYN-ACK (RFC 6298 §2); later ones are twice as long each.
const WAIT: Duration = Duration::secs(1);
/// Maximum number of times that a SYN-ACK is repeated (`tcp_synack_retries` of Linux).
const MAX_REPEATS: usize = 5;

impl Connection {
    /// Opens a connection.
    pub(in super::super) fn connect(now: Instant, host: &ConnectionDefaults, clamp: Option<u16>) -> Result<Self, NotModelled> {
        let mss = host.route_mss.min(clamp.unwrap_or(u16::MAX)).max(MIN_SEGMENT);
        let mut connection = Self::new(now, host, mss, clamp, Phase::SynSent, host.ecn.asks)?;
        connection.sender.connect(now);
        Ok(connection)
    }

    /// Answers a SYN.
    pub(in super::super) fn accept(
        now: Instant,
        syn: &Packet,
        host: &ConnectionDefaults,
        clamp: Option<u16>,
    ) -> Result<Self, NotModelled> {
        if !syn.flags.has(TcpFlags::SYN) || syn.flags.has(TcpFlags::ACK) || syn.flags.has(TcpFlags::RST) {
            return not_modelled("an answer to a segment that opens nothing");
        }
        let mut connection = Self::new(now, host, MIN_SEGMENT, clamp, Phase::SynReceived, Kind::Off)?;
        connection.repeat_at = Some(now + WAIT);
        connection.begin_answering(now, syn, negotiation::asked(syn.flags.ace(), host.ecn.agrees))?;
        Ok(connection)
    }

    /// Answers a SYN that has met this end's own (RFC 9293 §3.5).
    pub(super) fn cross(&mut self, now: Instant, syn: &Packet) -> Result<(), NotModelled> {
        self.phase = Phase::SynReceived;
        // The timer of the SYN runs on, for the SYN-ACK.
        self.repeat_at = Some(self.sender.next_timeout().unwrap_or(now + WAIT));
        let most = self.host.ecn.asks.min(self.host.ecn.agrees);
        self.begin_answering(now, syn, negotiation::asked(syn.flags.ace(), most))
    }

    fn begin_answering(&mut self, now: Instant, syn: &Packet, ecn: Kind) -> Result<(), NotModelled> {
        let opens_fast = syn.options.iter().any(|option| matches!(option, TcpOption::FastOpen(_)));
        if syn.flags.has(TcpFlags::FIN) || syn.len > 0 || opens_fast {
            return not_modelled("fast open");
        }
        self.learn(syn, ecn)?;
        let mark = Segment { timestamp: now, flags: asks(ecn), ..Segment::default() };
        let _ = self.receiver.handle_segment(now, &mark, syn.ecn);
        self.send_answer(now);
        Ok(())
    }

    /// Sends a SYN-ACK. The second one has no byte counters and the third one no ECN, because the
    /// path may drop what has them (RFC 9768 §3.2.3.2.2); when both ends open at once, each has one
    /// more try, as in Linux. After one without ECN, packets are Not-ECT (RFC 9768 §3.1.5).
    fn send_answer(&mut self, now: Instant) {
        let failures = match self.opener {
            Opener::Other => self.answers,
            Opener::This => self.answers.saturating_sub(1),
        };
        let (bits, counters) = match &mut self.feedback {
            Feedback::Nothing => (0, None),
            Feedback::Classic => (TcpFlags::ECE.ace(), None),
            Feedback::Counted(ecn) if failures == 0 => (reflection(self.syn.0), ecn.offer()),
            Feedback::Counted(_) if failures == 1 => (reflection(self.syn.0), None),
            Feedback::Counted(ecn) => {
                ecn.give_up();
                (0, None)
            }
        };
        let flags = TcpFlags::SYN.with(TcpFlags::ACK).with_ace(bits);
        let packet = self.handshake(now, flags, counters);
        self.out.push_back(packet);
        self.answers += 1;
    }

    /// Repeats the SYN-ACK when its timer expires.
    pub(super) fn repeat_answer(&mut self, now: Instant) -> Result<(), NotModelled> {
        if self.repeat_at.is_none_or(|due| now < due) {
            return Ok(());
        }
        if self.retries.len() == MAX_REPEATS {
            return not_modelled("a handshake that is given up");
        }
        self.retries.push(now);
        self.repeat_at = Some(now + WAIT * (1 << self.retries.len()));
        self.send_answer(now);
        Ok(())
    }

    /// Answers a repeated SYN. The kind of ECN stays the first one's; if this one asks for none,
    /// packets are Not-ECT (RFC 9768 §3.1.5).
    pub(super) fn answer_again(&mut self, now: Instant, syn: &Packet) -> Result<(), NotModelled> {
        if syn.seq != self.irs {
            return not_modelled("a second SYN with another number");
        }
        let kind = |bits: u8| negotiation::asked(bits, Kind::Accurate);
        let (first, latest) = (kind(self.syn.1), kind(syn.flags.ace()));
        if first != latest && first != Kind::Off && latest != Kind::Off {
            return not_modelled("RST, after SYNs that ask for two kinds of ECN");
        }
        self.syn.0 = syn.ecn;
        if let Feedback::Counted(ecn) = &mut self.feedback
            && latest == Kind::Off
        {
            ecn.give_up();
        }
        self.send_answer(now);
        Ok(())
    }

    /// Acknowledges a SYN of a connection that is open (RFC 5961 §4.2). The acknowledgement of a
    /// repeated SYN-ACK reflects its codepoint, as the first one did.
    pub(super) fn challenge(&mut self, now: Instant, syn: &Packet) {
        let answer = self.latest_answer();
        let mut packet = self.answer(now, &answer, self.stream.sent_end(), 0);
        if self.is_counted() && self.opener == Opener::This && syn.flags.has(TcpFlags::ACK) {
            packet.flags = packet.flags.with_ace(reflection(syn.ecn));
        }
        self.out.push_back(packet);
    }

    /// Takes what the other end announces in its SYN or in the answer, and builds a sender and a
    /// receiver for it.
    fn learn(&mut self, packet: &Packet, ecn: Kind) -> Result<(), NotModelled> {
        self.irs = packet.seq;
        self.syn = (packet.ecn, packet.flags.ace());
        self.sack &= packet.options.contains(&TcpOption::SackPermitted);
        self.timestamps &= packet.timestamp().is_some();
        self.scaled = packet.window_scale().is_some();
        self.peer_scale = packet.window_scale().unwrap_or(0).min(14);
        self.recent = packet.timestamp().map_or(0, |(value, _)| value);
        // RFC 9293 §3.7.1: 536 unless announced.
        let announced = packet.mss().unwrap_or(536).min(self.host.route_mss).min(self.clamp.unwrap_or(u16::MAX));
        self.full_size = announced.max(MIN_SEGMENT) - if self.timestamps { TIMESTAMP } else { 0 };
        self.feedback = match ecn {
            Kind::Off => Feedback::Nothing,
            Kind::Classic => Feedback::Classic,
            Kind::Accurate => Feedback::Counted(Box::new(AccurateEcn::new(self.host.accurate_ecn))),
        };
        self.receiver = receiver(self.full_size, self.sack);
        self.fit(self.full_size, ecn)
    }

    /// Builds a sender of segments of this size.
    fn fit(&mut self, mss: u16, ecn: Kind) -> Result<(), NotModelled> {
        self.mss = mss;
        self.stream = Stream::new(self.mss);
        self.sender = sender(&self.host, self.mss, self.sack, ecn)?;
        Ok(())
    }

    /// The size of segments, which leave room for byte counters if they are going to have them.
    fn fitting(&self) -> u16 {
        let reserved = matches!(&self.feedback, Feedback::Counted(ecn) if ecn.reserves());
        self.full_size - if reserved { RESERVED } else { 0 }
    }

    /// A SYN or a SYN-ACK.
    pub(super) fn handshake(&mut self, now: Instant, flags: TcpFlags, counters: Option<TcpOption>) -> Packet {
        let timestamp = self.timestamps.then(|| (self.tick(now), self.recent));
        let mss = self.host.mss.min(self.clamp.unwrap_or(u16::MAX));
        let offer = Offer { mss, sack: self.sack, timestamp, scale: self.scaled, counters };
        let ack = if flags.has(TcpFlags::ACK) { self.irs.wrapping_add(1) } else { 0 };
        let options = offer.options();
        Packet { ecn: Ecn::NotEct, flags, seq: ISN, ack, window: u16::MAX, options, ..Packet::default() }
    }

    pub(super) fn finish_connecting(&mut self, now: Instant, answer: &Packet) -> Result<(), NotModelled> {
        if answer.ack != ISN.wrapping_add(1) {
            return not_modelled("RST");
        }
        if answer.len > 0 {
            return not_modelled("data on a SYN-ACK");
        }
        let asked = self.host.ecn.asks;
        let ecn = negotiation::granted(answer.flags.ace(), asked);
        self.learn(answer, ecn)?;
        if let Feedback::Counted(counts) = &mut self.feedback {
            counts.notice(answer);
        }
        self.fit(self.fitting(), asked)?;
        self.establish(now, answer, ecn);
        // The peer's answer sets what is reported from here on.
        let mark = Segment { timestamp: now, flags: asks(ecn), ..Segment::default() };
        let _ = self.receiver.handle_segment(self.opened, &mark, Ecn::NotEct);
        self.send_third(now, answer);
        Ok(())
    }

    /// Sends the acknowledgement of a SYN-ACK, which reflects its codepoint and counts it if it is
    /// marked (RFC 9768 §3.2.2.1).
    fn send_third(&mut self, now: Instant, answer: &Packet) {
        if let Feedback::Counted(counts) = &mut self.feedback {
            counts.check_reflection(answer.flags.ace());
            counts.count(answer.ecn, 0);
        }
        let ack = Segment { flags: Flags::ACK, ..Segment::default() };
        let mut packet = self.answer(now, &ack, 0, 0);
        packet.window = u16::MAX >> WINDOW_SCALE;
        if self.is_counted() {
            packet.flags = packet.flags.with_ace(reflection(answer.ecn));
        }
        self.out.push_back(packet);
    }

    pub(super) fn finish_accepting(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled> {
        if packet.ack != ISN.wrapping_add(1) {
            return not_modelled("an acknowledgement of something else than the SYN-ACK");
        }
        let crossed = packet.flags.has(TcpFlags::SYN);
        if crossed && self.opener == Opener::Other {
            return not_modelled("a SYN-ACK from the end that has opened the connection");
        }
        if let Feedback::Counted(counts) = &mut self.feedback {
            counts.notice(packet);
            if !crossed {
                counts.end_handshake(packet);
            }
        }
        let ecn = match self.feedback {
            Feedback::Nothing => Kind::Off,
            Feedback::Classic => Kind::Classic,
            Feedback::Counted(_) => Kind::Accurate,
        };
        self.fit(self.fitting(), ecn)?;
        let mut window = packet.clone();
        if !crossed {
            window.window = (u32::from(packet.window) << self.peer_scale).min(u32::from(u16::MAX)) as u16;
        }
        self.establish(now, &window, ecn);
        if crossed {
            self.syn.0 = packet.ecn;
            self.send_third(now, packet);
            return Ok(());
        }
        if packet.len > 0 || packet.flags.has(TcpFlags::FIN) {
            return self.handle_segment(now, packet);
        }
        if let Some((value, _)) = packet.timestamp() {
            self.recent = value;
        }
        if let Feedback::Counted(counts) = &mut self.feedback {
            counts.count(packet.ecn, 0);
        }
        Ok(())
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
        // Its third segment is not this adapter's.
        let _ = self.sender.poll_transmit(now);
        self.phase = Phase::Established;
        self.last_data = now;
        self.ended = self.is_counted().then(|| (now, packet.clone()));
    }

    /// Changes the size of segments if byte counters have been switched on or off and nothing has
    /// left yet; later, segments keep their size.
    pub(super) fn refit(&mut self) -> Result<(), NotModelled> {
        let Some((at, packet)) = self.ended.take() else { return Ok(()) };
        if self.fitting() != self.mss && self.stream.is_untouched() {
            self.fit(self.fitting(), Kind::Accurate)?;
            self.establish(at, &packet, Kind::Accurate);
        } else {
            self.ended = Some((at, packet));
        }
        Ok(())
    }
}
