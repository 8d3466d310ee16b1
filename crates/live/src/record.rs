//! A record of everything a queue saw and decided, from which a run can be replayed.
//!
//! A file is one line of text, [`MAGIC`]; one line of the recorder's own (`gq bridge` writes the settings of the line); and then
//! events of [`RECORD`] bytes each, little-endian: time in ns (8), packet number (8), flow hash (4), IP length (4), kind (1), reason (1),
//! codepoint (1), class (1), and for changes of rate the new one in bit/s in place of the packet number.

use crate::packet::LivePacket;
use crate::pool::Pool;
use crate::spool::Spool;
use goodqueue_aqm::{FlowHash, Packet, Reason};
use goodqueue_units::{Bytes, Class, Ecn, Instant, Rate};
use std::io::{self, BufRead, Read};

/// First line of a file, with the version of its format.
pub const MAGIC: &str = "goodqueue.live-events/1";
/// Bytes of an event.
pub const RECORD: usize = 28;
/// A settings line longer than this is none.
const LONGEST_SETTINGS: u64 = 1 << 20;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A packet arrived at the queue.
    Arrived,
    /// It left the queue.
    Departed,
    /// It was dropped.
    Dropped(Reason),
    /// CE was set on it.
    Marked(Reason),
    /// The line's rate changed.
    RateChanged(Rate),
    /// The queue was replaced by another. What comes after cannot be replayed with the settings of the file.
    QueueReplaced,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// Which packet; zero for events of the line.
    pub number: u64,
    /// Its flow.
    pub flow: FlowHash,
    /// Its IP length.
    pub len: Bytes,
    /// Its codepoint, after the event.
    pub ecn: Ecn,
    /// Its class.
    pub class: Class,
    /// What happened.
    pub kind: EventKind,
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

    /// As it stands in a file.
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

    /// From a file; `None` for bytes that are no event.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; RECORD]) -> Option<Self> {
        let eight = |at: usize| bytes[at..].first_chunk::<8>().map(|part| u64::from_le_bytes(*part));
        let four = |at: usize| bytes[at..].first_chunk::<4>().map(|part| u32::from_le_bytes(*part));
        let [kind, reason, ecn, class] = [bytes[24], bytes[25], bytes[26], bytes[27]];
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
    /// What stood in the second line.
    pub settings: String,
    input: R,
}

impl<R: BufRead> Reader<R> {
    /// Reads up to the first event.
    ///
    /// # Errors
    /// When it is no file of events of this version.
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut line = || {
            let mut text = String::new();
            input.by_ref().take(LONGEST_SETTINGS).read_line(&mut text)?;
            Ok::<_, io::Error>(text.trim_end_matches('\n').to_owned())
        };
        let magic = line()?;
        if magic != MAGIC {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("is no file of events: its first line is not {MAGIC}"),
            ));
        }
        let settings = line()?;
        Ok(Self { settings, input })
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = [0; RECORD];
        let mut got = 0;
        while got < RECORD {
            match self.input.read(&mut bytes[got..]) {
                Ok(0) if got == 0 => return None,
                Ok(0) => return Some(Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the last event is cut off"))),
                Ok(more) => got += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
        let fault = || io::Error::new(io::ErrorKind::InvalidData, "bytes that are no event");
        Some(Event::from_bytes(&bytes).ok_or_else(fault))
    }
}
