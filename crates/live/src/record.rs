//! Records of all arrivals and verdicts of a queue, from which a run can be replayed.
//!
//! A file is one line of text, [`MAGIC`]; one line of the recorder's own (`gq bridge` writes the
//! settings of the line); and then events of [`RECORD`] bytes each, little-endian: time in ns (8),
//! packet number (8), flow hash (4), IP length (4), kind (1), reason (1), codepoint (1), class (1),
//! and for changes of rate the new one in bit/s in place of the packet number.

use crate::packet::LivePacket;
use crate::pool::Pool;
use crate::spool::Spool;
use goodqueue_aqm::{FlowHash, Packet, Reason};
use goodqueue_base::units::{Bytes, Class, Ecn, Instant, Rate};
use std::fmt;
use std::io::{self, BufRead, Read};

/// First line of a file, with the version of its format.
pub const MAGIC: &str = "goodqueue.live-events/1";
/// Bytes of an event.
pub const RECORD: usize = 28;
/// Offset of an event's kind; its reason follows.
const KIND_AT: usize = 24;
/// Longest line of settings.
const MAX_SETTINGS: u64 = 1 << 20;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A packet arrived at the queue.
    Arrived,
    /// The packet left the queue.
    Departed,
    /// The packet was dropped.
    Dropped(Reason),
    /// CE was set on it.
    Marked(Reason),
    /// The line's rate changed.
    RateChanged(Rate),
    /// The queue was replaced by another. Later events cannot be replayed with the settings of
    /// the file.
    QueueReplaced,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arrived => f.write_str("arrived"),
            Self::Departed => f.write_str("departed"),
            Self::Dropped(reason) => write!(f, "dropped ({})", reason.name()),
            Self::Marked(reason) => write!(f, "marked ({})", reason.name()),
            Self::RateChanged(rate) => write!(f, "rate changed to {rate}"),
            Self::QueueReplaced => f.write_str("queue replaced"),
        }
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// Number of the packet among those that arrived; zero for events of the line.
    pub number: u64,
    /// Flow of the packet.
    pub flow: FlowHash,
    /// IP length of the packet.
    pub len: Bytes,
    /// Codepoint of the packet, after the event.
    pub ecn: Ecn,
    /// Class of the packet.
    pub class: Class,
    /// Kind of the event.
    pub kind: EventKind,
}

impl fmt::Display for Event {
    /// One line: packet, verdict and time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, number, flow, len, class, kind, .. } = self;
        if matches!(kind, EventKind::RateChanged(_) | EventKind::QueueReplaced) {
            return write!(f, "{kind} at {at}");
        }
        let ecn = match self.ecn {
            Ecn::NotEct => "Not-ECT",
            Ecn::Ect0 => "ECT(0)",
            Ecn::Ect1 => "ECT(1)",
            Ecn::Ce => "CE",
        };
        let (flow, class) = (flow.0, class.number());
        write!(f, "packet {number} (flow {flow:08x}, {} bytes, {ecn}, class {class}) {kind} at {at}", len.get())
    }
}

impl Event {
    pub(crate) fn new(at: Instant, packet: &LivePacket, pool: &Pool, kind: EventKind) -> Self {
        let number = pool.number(packet.frame());
        Self { at, number, flow: packet.flow(), len: packet.len(), ecn: packet.ecn(), class: packet.class(), kind }
    }

    pub(crate) fn of_line(at: Instant, kind: EventKind) -> Self {
        let (ecn, class) = (Ecn::NotEct, Class::DEFAULT);
        Self { at, number: 0, flow: FlowHash(0), len: Bytes::ZERO, ecn, class, kind }
    }

    /// The event in a file.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; RECORD] {
        let (kind, reason, number) = match self.kind {
            EventKind::Arrived => (0, 0, self.number),
            EventKind::Departed => (1, 0, self.number),
            EventKind::Dropped(reason) => (2, reason as u8, self.number),
            EventKind::Marked(reason) => (3, reason as u8, self.number),
            EventKind::RateChanged(rate) => (4, 0, rate.as_bit_s()),
            EventKind::QueueReplaced => (5, 0, 0),
        };
        let mut bytes = [0; RECORD];
        bytes[0..8].copy_from_slice(&self.at.as_nanos().to_le_bytes());
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.flow.0.to_le_bytes());
        bytes[20..24].copy_from_slice(&(self.len.get() as u32).to_le_bytes());
        bytes[24..28].copy_from_slice(&[kind, reason, self.ecn as u8, self.class.number()]);
        bytes
    }

    /// The event that a file has; `None` for bytes that are no event.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; RECORD]) -> Option<Self> {
        let eight = |at: usize| bytes[at..].first_chunk::<8>().map(|part| u64::from_le_bytes(*part));
        let four = |at: usize| bytes[at..].first_chunk::<4>().map(|part| u32::from_le_bytes(*part));
        let [kind, reason, ecn, class] = *bytes[KIND_AT..].first_chunk()?;
        let number = eight(8)?;
        let reason = || Reason::ALL.get(usize::from(reason)).copied();
        let (kind, number) = match kind {
            0 => (EventKind::Arrived, number),
            1 => (EventKind::Departed, number),
            2 => (EventKind::Dropped(reason()?), number),
            3 => (EventKind::Marked(reason()?), number),
            4 => (EventKind::RateChanged(Rate::bit_s(number)), 0),
            5 => (EventKind::QueueReplaced, 0),
            _ => return None,
        };
        Some(Self {
            at: Instant::from_nanos(eight(0)?),
            number,
            flow: FlowHash(four(16)?),
            len: Bytes::new(u64::from(four(20)?)),
            ecn: Ecn::from_bits(ecn),
            class: Class::new(class),
            kind,
        })
    }
}

/// Writes events.
#[derive(Debug)]
pub struct Recorder {
    spool: Spool,
}

impl Recorder {
    /// Begins a file with these settings, which must be one line.
    #[must_use]
    pub fn new(mut spool: Spool, settings: &str) -> Self {
        debug_assert!(!settings.contains('\n'), "settings are one line");
        spool.write(&[MAGIC.as_bytes(), b"\n", settings.as_bytes(), b"\n"]);
        Self { spool }
    }

    #[inline]
    pub(crate) fn write(&mut self, event: &Event) {
        self.spool.write(&[&event.to_bytes()]);
    }

    /// Events left out because the file was too slow.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.spool.lost()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.spool.finish()
    }
}

/// Reads a file of events.
#[derive(Debug)]
pub struct Reader<R> {
    /// The second line of the file.
    pub settings: String,
    input: R,
    /// Bytes read so far.
    offset: u64,
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

impl<R: BufRead> Reader<R> {
    /// Reads up to the first event.
    ///
    /// # Errors
    /// When it is no file of events of this version; the message says where.
    pub fn new(input: R) -> io::Result<Self> {
        let mut reader = Self { settings: String::new(), input, offset: 0 };
        let magic = reader.line()?;
        if magic != MAGIC.as_bytes() {
            return Err(invalid(format!("is no file of events: its first line is not {MAGIC}")));
        }
        let start = reader.offset;
        let settings = reader.line()?;
        reader.settings = String::from_utf8(settings).map_err(|error| {
            let at = start + error.utf8_error().valid_up_to() as u64;
            invalid(format!("byte {at}, in the settings of line 2, is not UTF-8"))
        })?;
        Ok(reader)
    }

    /// The next line, without its end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.offset += self.input.by_ref().take(MAX_SETTINGS).read_until(b'\n', &mut line)? as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(line)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.offset;
        let mut bytes = [0; RECORD];
        let mut got = 0;
        while got < RECORD {
            match self.input.read(&mut bytes[got..]) {
                Ok(0) if got == 0 => return None,
                Ok(0) => {
                    let message = format!("the event at byte {start} is cut off: {got} of {RECORD} bytes");
                    return Some(Err(io::Error::new(io::ErrorKind::UnexpectedEof, message)));
                }
                Ok(more) => got += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
        self.offset += RECORD as u64;
        let fault = || {
            let [kind, reason] = [bytes[KIND_AT], bytes[KIND_AT + 1]];
            invalid(format!("the bytes from {start} on are no event: kind {kind}, reason {reason}"))
        };
        Some(Event::from_bytes(&bytes).ok_or_else(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Duration;

    fn event(kind: EventKind) -> Event {
        let at = Instant::ZERO + Duration::ms(1500);
        let (ecn, class) = (Ecn::Ect0, Class::DEFAULT);
        Event { at, number: 7, flow: FlowHash(0x1F), len: Bytes::new(1500), ecn, class, kind }
    }

    /// The first error of a file with this second line and these events.
    fn error(settings: &[u8], events: &[u8]) -> String {
        let file = [MAGIC.as_bytes(), b"\n", settings, b"\n", events].concat();
        match Reader::new(&file[..]) {
            Err(error) => error.to_string(),
            Ok(reader) => reader.collect::<io::Result<Vec<_>>>().expect_err("a fault").to_string(),
        }
    }

    #[test]
    fn faults_of_a_file_say_where() {
        assert_eq!(error(b"{\"a\": \xff}", &[]), "byte 30, in the settings of line 2, is not UTF-8");
        let good = event(EventKind::Arrived).to_bytes();
        let mut bad = good;
        bad[KIND_AT] = 9;
        let both = [good, bad].concat();
        assert_eq!(error(b"{}", &both), "the bytes from 55 on are no event: kind 9, reason 0");
        assert_eq!(error(b"{}", &both[..30]), "the event at byte 55 is cut off: 2 of 28 bytes");
    }

    #[test]
    fn events_read_as_sentences() {
        let shown = |kind| event(kind).to_string();
        let packet = "packet 7 (flow 0000001f, 1500 bytes, ECT(0), class 0)";
        assert_eq!(shown(EventKind::Dropped(Reason::Head)), format!("{packet} dropped (head) at 1.5 s"));
        assert_eq!(shown(EventKind::Departed), format!("{packet} departed at 1.5 s"));
        assert_eq!(shown(EventKind::RateChanged(Rate::mbit(3))), "rate changed to 3 Mbit/s at 1.5 s");
    }
}
