//! The bytes of messages on connections, and of probes.

use crate::measure::key::Key;

/// Bytes of a message.
pub(crate) const MESSAGE: usize = 128;
/// Bytes of a probe and of its answer, without headers.
pub const PROBE_BYTES: usize = 64;
/// Begins each message and each probe, with the version of the protocol.
const MAGIC: [u8; 4] = *b"gqm1";
/// Bytes of the code at the end of a message.
const CODE: usize = 32;
/// Bytes of the code at the end of a probe.
const PROBE_CODE: usize = 16;
/// Bytes of a message's text.
const TEXT: usize = 40;

/// The meaning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The client's first: it knows the key.
    Hello = 1,
    /// The server's answer, with random bytes of its own.
    Challenge = 2,
    /// The client proves that it is there now.
    Open = 3,
    /// The session has begun: its number, the server's limit in bit/s and congestion control.
    Welcome = 4,
    /// Another client measures.
    Busy = 5,
    /// A further connection of the session, for the purpose in `value`.
    Attach = 6,
    /// The further connection is accepted; the answer of a probe by TCP.
    Attached = 7,
    /// The bytes that have arrived on all connections of the session, and when.
    Tick = 8,
}

const KINDS: [Kind; 8] =
    [Kind::Hello, Kind::Challenge, Kind::Open, Kind::Welcome, Kind::Busy, Kind::Attach, Kind::Attached, Kind::Tick];

/// A message on a connection. Fields that a kind does not have are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The meaning.
    pub kind: Kind,
    /// The session.
    pub session: u64,
    /// Number of the connection in its session.
    pub number: u64,
    /// Time at the sender, in ns.
    pub time: u64,
    /// An amount.
    pub value: u64,
    /// Random bytes.
    pub nonce: [u8; 16],
    /// Words, of which 40 bytes go on the way.
    pub text: String,
}

impl Message {
    /// Bytes of a message.
    pub const BYTES: usize = MESSAGE;

    /// A message of this kind with empty fields.
    #[must_use]
    pub const fn of(kind: Kind) -> Self {
        Self { kind, session: 0, number: 0, time: 0, value: 0, nonce: [0; 16], text: String::new() }
    }

    /// The bytes of the message, with its code.
    #[must_use]
    pub fn sealed(&self, key: &Key) -> [u8; MESSAGE] {
        let mut bytes = [0; MESSAGE];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = self.kind as u8;
        for (place, number) in [self.session, self.number, self.time, self.value].into_iter().enumerate() {
            bytes[8 + 8 * place..][..8].copy_from_slice(&number.to_be_bytes());
        }
        bytes[40..56].copy_from_slice(&self.nonce);
        bytes[56..56 + TEXT].iter_mut().zip(self.text.bytes()).for_each(|(to, from)| *to = from);
        let code = key.code(&[&bytes[..MESSAGE - CODE]]);
        bytes[MESSAGE - CODE..].copy_from_slice(&code);
        bytes
    }

    /// The message in these bytes; `None` without a right code.
    #[must_use]
    pub fn read(bytes: &[u8; MESSAGE], key: &Key) -> Option<Self> {
        let (content, code) = bytes.split_at(MESSAGE - CODE);
        if bytes[..4] != MAGIC || !key.confirms(&[content], code) {
            return None;
        }
        let text = bytes[56..56 + TEXT].split(|byte| *byte == 0).next().unwrap_or_default();
        Some(Self {
            kind: *KINDS.iter().find(|kind| **kind as u8 == bytes[4])?,
            session: number(bytes, 0),
            number: number(bytes, 1),
            time: number(bytes, 2),
            value: number(bytes, 3),
            nonce: *bytes[40..].first_chunk()?,
            text: String::from_utf8_lossy(text).chars().filter(|letter| !letter.is_control()).collect(),
        })
    }

    /// The session that unread bytes name.
    pub(crate) fn session_of(bytes: &[u8]) -> u64 {
        number(bytes, 0)
    }
}

/// The number at a place behind the first eight bytes.
fn number(bytes: &[u8], place: usize) -> u64 {
    bytes.get(8 + 8 * place..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u64::from_be_bytes(*chunk))
}

/// A probe, or its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) session: u64,
    pub(crate) number: u64,
    /// Zero in a probe: the server's time at its arrival, in ns.
    pub(crate) received: u64,
    /// Zero in a probe: the server's time when it answered.
    pub(crate) answered: u64,
    /// Zero in a probe: probes that have arrived, this one included.
    pub(crate) count: u32,
}

impl Datagram {
    /// The bytes with their code, which differs for probe and answer.
    pub(crate) fn sealed(&self, key: &Key) -> [u8; PROBE_BYTES] {
        let mut bytes = [0; PROBE_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.count.to_be_bytes());
        for (place, number) in [self.session, self.number, self.received, self.answered].into_iter().enumerate() {
            bytes[8 + 8 * place..][..8].copy_from_slice(&number.to_be_bytes());
        }
        let code = key.code(&[&bytes[..PROBE_BYTES - PROBE_CODE]]);
        bytes[PROBE_BYTES - PROBE_CODE..].copy_from_slice(&code[..PROBE_CODE]);
        bytes
    }

    /// The datagram in these bytes; `None` without a right code.
    pub(crate) fn read(bytes: &[u8], key: &Key) -> Option<Self> {
        let bytes: &[u8; PROBE_BYTES] = bytes.try_into().ok()?;
        let (content, code) = bytes.split_at(PROBE_BYTES - PROBE_CODE);
        if bytes[..4] != MAGIC || !key.confirms(&[content], code) {
            return None;
        }
        let count = u32::from_be_bytes(*bytes[4..].first_chunk()?);
        let [session, number, received, answered] = [0, 1, 2, 3].map(|place| number(bytes, place));
        Some(Self { session, number, received, answered, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back_and_nothing_else_is() {
        let key = Key::from_random([3; 32]);
        let message = Message {
            session: u64::MAX,
            number: 2,
            time: 3,
            value: 4,
            nonce: [9; 16],
            text: "cubic".to_owned(),
            ..Message::of(Kind::Welcome)
        };
        let bytes = message.sealed(&key);
        assert_eq!(Message::read(&bytes, &key), Some(message));
        assert_eq!(Message::read(&bytes, &Key::from_random([4; 32])), None);
        for place in 0..MESSAGE {
            let mut wrong = bytes;
            wrong[place] ^= 0x40;
            assert_eq!(Message::read(&wrong, &key), None, "byte {place}");
        }
    }

    #[test]
    fn datagrams_are_read_back_and_nothing_else_is() {
        let key = Key::from_random([3; 32]);
        let answer = Datagram { session: 1, number: 2, received: 3, answered: 4, count: 5 };
        let bytes = answer.sealed(&key);
        assert_eq!(Datagram::read(&bytes, &key), Some(answer));
        for place in 0..PROBE_BYTES {
            let mut wrong = bytes;
            wrong[place] ^= 1;
            assert_eq!(Datagram::read(&wrong, &key), None, "byte {place}");
        }
        assert_eq!(Datagram::read(&bytes[..63], &key), None);
    }
}
