//! Options of a header.

use alloc::vec::Vec;
use core::fmt;
use goodqueue_base::units::Ecn;

/// Most bytes of options that a TCP header has room for.
pub const OPTION_SPACE: usize = 40;

/// Numbers of options (IANA, TCP Option Kind Numbers).
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NOP: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMP: u8 = 8;
    pub(super) const MD5: u8 = 19;
    pub(super) const FAST_OPEN: u8 = 34;
    /// Accurate ECN with the counter of ECT(0) first, and with that of ECT(1) first.
    pub(super) const ACC_ECN: [u8; 2] = [172, 174];
}

/// An option of a TCP header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TcpOption {
    /// Padding.
    Nop,
    /// End of the list.
    End,
    /// Largest segment that the other end may send.
    Mss(u16),
    /// Shift count of the window (RFC 7323).
    WindowScale(u8),
    /// Selective acknowledgements are welcome (RFC 2018).
    SackPermitted,
    /// Selective acknowledgements: first byte and one above the last byte.
    Sack(Vec<(u32, u32)>),
    /// Timestamp (RFC 7323).
    Timestamp {
        /// The sender's clock.
        value: u32,
        /// The echoed timestamp.
        echo: u32,
    },
    /// Byte counters of accurate ECN (RFC 9768 §3.2.3).
    AccEcn {
        /// The codepoint of the first counter: ECT(0) or ECT(1).
        first: Ecn,
        /// Counters modulo 2^24, of the first codepoint, CE, the other one; as many as there are.
        counters: Vec<u32>,
    },
    /// Fast open (RFC 7413): the cookie, empty in a request for one.
    FastOpen(Vec<u8>),
    /// An MD5 digest (RFC 2385).
    Md5(Vec<u8>),
    /// An option of another kind, or of a length that its kind does not have.
    Other {
        /// Number of the option.
        kind: u8,
        /// Bytes behind its length.
        data: Vec<u8>,
    },
}

impl TcpOption {
    /// Bytes in the header.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no option is empty")]
    pub fn len(&self) -> usize {
        match self {
            Self::Nop | Self::End => 1,
            Self::Mss(_) => 4,
            Self::WindowScale(_) => 3,
            Self::SackPermitted => 2,
            Self::Sack(blocks) => 2 + 8 * blocks.len(),
            Self::Timestamp { .. } => 10,
            Self::AccEcn { counters, .. } => 2 + 3 * counters.len(),
            Self::FastOpen(data) | Self::Md5(data) | Self::Other { data, .. } => 2 + data.len(),
        }
    }

    /// The bytes in the header, numbers in network order.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        let mut put = |kind: u8, data: &[&[u8]]| {
            bytes.push(kind);
            bytes.push(self.len() as u8);
            data.iter().for_each(|part| bytes.extend_from_slice(part));
        };
        match self {
            Self::Nop => return [kind::NOP].to_vec(),
            Self::End => return [kind::END].to_vec(),
            Self::Mss(bytes) => put(kind::MSS, &[&bytes.to_be_bytes()]),
            Self::WindowScale(shift) => put(kind::WINDOW_SCALE, &[&[*shift]]),
            Self::SackPermitted => put(kind::SACK_PERMITTED, &[]),
            Self::Sack(blocks) => {
                put(kind::SACK, &[]);
                blocks.iter().for_each(|(from, to)| bytes.extend([from.to_be_bytes(), to.to_be_bytes()].as_flattened()));
            }
            Self::Timestamp { value, echo } => put(kind::TIMESTAMP, &[&value.to_be_bytes(), &echo.to_be_bytes()]),
            Self::AccEcn { first, counters } => {
                put(kind::ACC_ECN[usize::from(*first == Ecn::Ect1)], &[]);
                counters.iter().for_each(|count| bytes.extend_from_slice(&count.to_be_bytes()[1..]));
            }
            Self::FastOpen(data) => put(kind::FAST_OPEN, &[data]),
            Self::Md5(data) => put(kind::MD5, &[data]),
            Self::Other { kind, data } => put(*kind, &[data]),
        }
        bytes
    }

    /// Reads the options of a header, up to the end of the list or to one that is cut off.
    pub fn read_all(mut bytes: &[u8]) -> impl Iterator<Item = Self> {
        core::iter::from_fn(move || {
            let (&kind, rest) = bytes.split_first()?;
            if kind == kind::NOP {
                bytes = rest;
                return Some(Self::Nop);
            }
            if kind == kind::END {
                bytes = &[];
                return Some(Self::End);
            }
            let len = usize::from(*rest.first()?);
            let data = bytes.get(2..len)?;
            bytes = &bytes[len..];
            Some(Self::read(kind, data))
        })
    }

    fn read(kind: u8, data: &[u8]) -> Self {
        let word = |bytes: &[u8]| bytes.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        match (kind, data) {
            (kind::MSS, [high, low]) => Self::Mss(u16::from_be_bytes([*high, *low])),
            (kind::WINDOW_SCALE, [shift]) => Self::WindowScale(*shift),
            (kind::SACK_PERMITTED, []) => Self::SackPermitted,
            (kind::SACK, _) if data.len().is_multiple_of(8) => {
                Self::Sack(data.chunks(8).map(|block| (word(&block[..4]), word(&block[4..]))).collect())
            }
            (kind::TIMESTAMP, [_, _, _, _, _, _, _, _]) => Self::Timestamp { value: word(&data[..4]), echo: word(&data[4..]) },
            (kind, [] | [_, _, _] | [_, _, _, _, _, _] | [_, _, _, _, _, _, _, _, _]) if kind::ACC_ECN.contains(&kind) => {
                let first = if kind == kind::ACC_ECN[1] { Ecn::Ect1 } else { Ecn::Ect0 };
                Self::AccEcn { first, counters: data.chunks(3).map(word).collect() }
            }
            (kind::FAST_OPEN, _) => Self::FastOpen(data.to_vec()),
            (kind::MD5, _) => Self::Md5(data.to_vec()),
            (kind, _) => Self::Other { kind, data: data.to_vec() },
        }
    }
}

/// In the notation of packetdrill.
impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |f: &mut fmt::Formatter<'_>, name: &str, data: &[u8]| {
            write!(f, "{name} ")?;
            data.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match self {
            Self::Nop => f.write_str("nop"),
            Self::End => f.write_str("eol"),
            Self::Mss(bytes) => write!(f, "mss {bytes}"),
            Self::WindowScale(shift) => write!(f, "wscale {shift}"),
            Self::SackPermitted => f.write_str("sackOK"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(from, to)| write!(f, " {from}:{to}"))
            }
            Self::Timestamp { value, echo } => write!(f, "TS val {value} ecr {echo}"),
            Self::AccEcn { first, counters } => {
                let names = if *first == Ecn::Ect0 { ["e0b", "ceb", "e1b"] } else { ["e1b", "ceb", "e0b"] };
                f.write_str("ECN")?;
                names.iter().zip(counters).try_for_each(|(name, count)| write!(f, " {name} {count}"))
            }
            Self::FastOpen(cookie) => digits(f, "FO", cookie),
            Self::Md5(digest) => digits(f, "md5", digest),
            Self::Other { kind, data } => digits(f, &alloc::format!("option {kind}"), data),
        }
    }
}

/// Options as text, between angle brackets after a blank; nothing if there are none.
#[derive(Clone, Copy, Debug)]
pub struct OptionList<'a>(pub &'a [TcpOption]);

impl fmt::Display for OptionList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, option) in self.0.iter().enumerate() {
            write!(f, "{}{option}", if place == 0 { " <" } else { "," })?;
        }
        if self.0.is_empty() { Ok(()) } else { f.write_str(">") }
    }
}
