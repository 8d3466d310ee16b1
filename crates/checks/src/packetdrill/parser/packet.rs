//! Segments: ECN, flags, sequence range, acknowledgement, window, options.

use super::Parser;
use crate::packetdrill::error::ScriptError;
use crate::packetdrill::lexer::Token;
use crate::packetdrill::script::{Action, EcnCheck, ScriptPacket};
use goodqueue_base::units::Ecn;
use goodqueue_tcp::wire::{OPTION_SPACE, TcpFlags, TcpOption};

/// Largest value of a counter of 24 bits.
const MAX_COUNTER: i64 = (1 << 24) - 1;

impl Parser<'_> {
    /// A packet, of which the direction comes next.
    pub(super) fn packet(&mut self) -> Result<Action, ScriptError> {
        let inbound = self.takes('<');
        if !inbound {
            self.expect('>')?;
        }
        if let Token::Word(word @ ("ipv4" | "ipv6" | "gre" | "GREv0" | "mpls")) = *self.peek() {
            return Ok(self.foreign(&format!("encapsulation in {word}")));
        }
        let ecn = match self.ip_info()? {
            IpInfo::Ecn(ecn) => ecn,
            IpInfo::Other(what) => return Ok(self.foreign(what)),
        };
        if let Token::Word(word @ ("icmp" | "udp" | "encap" | "sctp" | "udplite")) = *self.peek() {
            return Ok(self.foreign(&format!("{word} packets")));
        }
        if matches!(self.peek(), Token::Integer(_)) && *self.look(1) == Token::Sign('>') {
            self.number16("the port")?;
            self.expect('>')?;
            self.number16("the port")?;
        }
        if inbound && ecn == Some(EcnCheck::EitherEct) {
            return Err(self.fault("[ect01] is for outbound packets"));
        }
        let packet = self.segment(ecn)?;
        if !inbound {
            return Ok(Action::Outbound(packet));
        }
        if packet.options.is_none() {
            return Err(self.fault("`<...>` is for outbound packets"));
        }
        Ok(Action::Inbound(packet))
    }

    /// Skips the rest of the line: something the runner has no use for.
    fn foreign(&mut self, what: &str) -> Action {
        let line = self.place().line;
        while self.place().line == line && *self.peek() != Token::End {
            self.next();
        }
        Action::Foreign(what.to_owned())
    }

    fn ip_info(&mut self) -> Result<IpInfo, ScriptError> {
        let close = match self.peek() {
            Token::Sign('[') => ']',
            Token::Sign('(') => ')',
            _ => return Ok(IpInfo::Ecn(None)),
        };
        self.next();
        let place = self.place();
        if let Token::Integer(_) = self.peek() {
            // A number here begins a quotation of an ICMP message.
            return Ok(IpInfo::Other("icmp packets"));
        }
        let word = self.word("a codepoint of ECN")?;
        let Some(&(_, check)) = EcnCheck::WORDS.iter().find(|(known, _)| *known == word) else {
            return match word.as_str() {
                "tos" => Ok(IpInfo::Other("a value of TOS")),
                "ttl" => Ok(IpInfo::Other("a value of TTL")),
                "flowlabel" => Ok(IpInfo::Other("flow labels")),
                _ => {
                    let message = format!("`{word}` is unknown: allowed noecn, ect0, ect1, ce, ect01, tos, ttl, flowlabel");
                    Err(ScriptError::new(place, message))
                }
            };
        };
        if self.takes(',') {
            return Ok(IpInfo::Other("flow labels"));
        }
        self.expect(close)?;
        Ok(IpInfo::Ecn(Some(check)))
    }

    fn segment(&mut self, ecn: Option<EcnCheck>) -> Result<ScriptPacket, ScriptError> {
        let flags = self.flags()?;
        let place = self.place();
        let seq = self.number32("the first sequence number")?;
        self.expect(':')?;
        let end = self.number32("the last sequence number")?;
        self.expect('(')?;
        let len = self.integer("the length", 0, i64::from(u16::MAX))? as u32;
        self.expect(')')?;
        if end != seq.wrapping_add(len) {
            return Err(ScriptError::new(place, format!("{seq}:{end}({len}) is inconsistent: {seq} and {len} is not {end}")));
        }
        let ack = if self.takes_word("ack") { self.number32("the acknowledgement number")? } else { 0 };
        let window = if self.takes_word("win") { Some(self.number16("the window")?) } else { None };
        let urgent = if self.takes_word("urg") { self.number16("the urgent pointer")? } else { 0 };
        let options = self.options()?;
        Ok(ScriptPacket { ecn, flags, seq, len, ack, window, urgent, options })
    }

    /// Letters, a dot for ACK, and perhaps the counter of RFC 9768: `SEW`, `P.`, `.5`, `P5.`, or
    /// `-`.
    fn flags(&mut self) -> Result<TcpFlags, ScriptError> {
        if self.takes('-') {
            return Ok(TcpFlags::NONE);
        }
        let place = self.place();
        let mut flags = TcpFlags::NONE;
        if let Token::Word(word) = *self.peek() {
            let letters = word.trim_end_matches(|c: char| ('0'..='7').contains(&c));
            // At most one digit before the dot is the counter of RFC 9768.
            let (letters, counter) = if word.len() - letters.len() <= 1 { word.split_at(letters.len()) } else { (word, "") };
            if let Ok(counter) = counter.parse() {
                flags = flags.with_ace(counter);
            }
            for letter in letters.chars() {
                let Some(flag) = TcpFlags::of_letter(letter) else {
                    return Err(self.fault(format!("`{letter}` in `{word}` is no flag: allowed F S R P U E W A and `.`")));
                };
                flags = flags.with(flag);
            }
            self.next();
        }
        match *self.peek() {
            Token::Sign('.') => {
                self.next();
                flags = flags.with(TcpFlags::ACK);
            }
            Token::Decimal(text) => {
                let counter = text.strip_prefix('.').and_then(|digits| digits.parse::<u8>().ok()).filter(|ace| *ace < 8);
                let Some(counter) = counter else {
                    return Err(self.fault(format!("`{text}` is no ACE counter: allowed .0 to .7")));
                };
                self.next();
                flags = flags.with(TcpFlags::ACK).with_ace(counter);
            }
            _ if flags == TcpFlags::NONE => return Err(ScriptError::new(place, self.unexpected("flags").message)),
            _ => {}
        }
        Ok(flags)
    }

    fn options(&mut self) -> Result<Option<Vec<TcpOption>>, ScriptError> {
        if *self.peek() != Token::Sign('<') || self.begins_event() {
            return Ok(Some(Vec::new()));
        }
        let place = self.place();
        self.next();
        if *self.peek() == Token::Ellipsis {
            self.next();
            self.expect('>')?;
            return Ok(None);
        }
        let mut options = Vec::new();
        loop {
            options.push(self.option()?);
            if self.takes('>') {
                break;
            }
            if !self.takes(',') {
                return Err(self.unexpected("`,` or `>`"));
            }
        }
        let bytes: usize = options.iter().map(TcpOption::len).sum();
        if bytes > OPTION_SPACE {
            return Err(ScriptError::new(place, format!("the options have {bytes} bytes: allowed are at most {OPTION_SPACE}")));
        }
        Ok(Some(options))
    }

    /// Whether the angle bracket here is the direction of a packet: it follows a time.
    fn begins_event(&self) -> bool {
        self.at > 0 && matches!(self.tokens[self.at - 1].1, Token::Sign('*'))
    }

    fn option(&mut self) -> Result<TcpOption, ScriptError> {
        let place = self.place();
        let word = self.word("the name of an option")?;
        Ok(match word.as_str() {
            "nop" => TcpOption::Nop,
            "eol" => TcpOption::End,
            "mss" => TcpOption::Mss(self.number16("the segment size")?),
            "wscale" => TcpOption::WindowScale(self.integer("the shift count", 0, 255)? as u8),
            "sackOK" => TcpOption::SackPermitted,
            "sack" => TcpOption::Sack(self.blocks()?),
            "TS" => {
                self.key("val")?;
                let value = self.number32("the timestamp")?;
                self.key("ecr")?;
                TcpOption::Timestamp { value, echo: self.number32("the echoed timestamp")? }
            }
            "ECN" => self.counters()?,
            "FO" | "FOEXP" => TcpOption::FastOpen(self.blob()),
            "md5" => TcpOption::Md5(self.blob()),
            _ => {
                let known = "nop, eol, mss, wscale, sackOK, sack, TS, ECN, FO, FOEXP, md5";
                return Err(ScriptError::new(place, format!("the option `{word}` is unknown: allowed {known}")));
            }
        })
    }

    fn key(&mut self, word: &str) -> Result<(), ScriptError> {
        if self.takes_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn blocks(&mut self) -> Result<Vec<(u32, u32)>, ScriptError> {
        let mut blocks = Vec::new();
        while blocks.is_empty() || matches!(self.peek(), Token::Integer(_)) {
            let from = self.number32("the first number of a block")?;
            self.expect(':')?;
            blocks.push((from, self.number32("the last number of a block")?));
            // More blocks than this fill the space for options.
            if blocks.len() > OPTION_SPACE / 8 {
                return Err(self.fault("the option has more than 4 blocks"));
            }
        }
        Ok(blocks)
    }

    /// `e0b 1 ceb 0 e1b 1`, or the other codepoint first; the last ones may be missing.
    fn counters(&mut self) -> Result<TcpOption, ScriptError> {
        let (first, names) = match *self.peek() {
            Token::Word("e0b") => (Ecn::Ect0, ["e0b", "ceb", "e1b"]),
            Token::Word("e1b") => (Ecn::Ect1, ["e1b", "ceb", "e0b"]),
            _ => return Ok(TcpOption::AccEcn { first: Ecn::Ect0, counters: Vec::new() }),
        };
        let mut counters = Vec::new();
        for name in names {
            if !self.takes_word(name) {
                break;
            }
            counters.push(self.integer("the counter", 0, MAX_COUNTER)? as u32);
        }
        Ok(TcpOption::AccEcn { first, counters })
    }

    /// Hexadecimal digits, which may look like a number, a word, or one after the other. A name
    /// that nothing defines stands for its letters.
    fn blob(&mut self) -> Vec<u8> {
        let mut blob = String::new();
        loop {
            match *self.peek() {
                Token::Word(word) => blob.push_str(word),
                Token::Integer(value) => blob.push_str(&value.to_string()),
                _ => break,
            }
            self.next();
        }
        // The value of a number lacks the zero with which it may begin.
        if !blob.len().is_multiple_of(2) {
            blob.insert(0, '0');
        }
        let byte = |at| u8::from_str_radix(blob.get(at..at + 2)?, 16).ok();
        let bytes = (0..blob.len()).step_by(2).map(byte).collect::<Option<_>>();
        bytes.unwrap_or_else(|| blob.into_bytes())
    }
}

/// The content of the brackets after the direction.
enum IpInfo {
    Ecn(Option<EcnCheck>),
    /// Something that is not compared.
    Other(&'static str),
}
