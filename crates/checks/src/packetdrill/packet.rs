//! TCP segments: as they travel between a stack and the runner, and how the language writes them.

use goodqueue_base::units::Ecn;
use std::fmt;

/// Most bytes of options that a TCP header has room for.
pub const OPTION_SPACE: usize = 40;

/// Control bits of a TCP header, including the three of ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(u16);

impl TcpFlags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// `F`
    pub const FIN: Self = Self(1);
    /// `S`
    pub const SYN: Self = Self(2);
    /// `R`
    pub const RST: Self = Self(4);
    /// `P`
    pub const PSH: Self = Self(8);
    /// `.`
    pub const ACK: Self = Self(16);
    /// `U`
    pub const URG: Self = Self(32);
    /// `E`: ECN echo (RFC 3168); the lowest bit of the counter of RFC 9768.
    pub const ECE: Self = Self(64);
    /// `W`: congestion window reduced.
    pub const CWR: Self = Self(128);
    /// `A`: accurate ECN (RFC 9768); the highest bit of the counter.
    pub const AE: Self = Self(256);

    /// The letters of the language.
    const LETTERS: [(char, Self); 9] = [
        ('F', Self::FIN),
        ('S', Self::SYN),
        ('R', Self::RST),
        ('P', Self::PSH),
        ('U', Self::URG),
        ('E', Self::ECE),
        ('W', Self::CWR),
        ('A', Self::AE),
        ('.', Self::ACK),
    ];

    /// The bit that a letter stands for.
    pub(crate) fn of_letter(letter: char) -> Option<Self> {
        Self::LETTERS.iter().find(|(known, _)| *known == letter).map(|&(_, flag)| flag)
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These bits without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// `other` if `present`, else nothing more.
    #[must_use]
    pub const fn with_if(self, present: bool, other: Self) -> Self {
        if present { self.with(other) } else { self }
    }

    /// The counter of RFC 9768 in the bits AE, CWR and ECE.
    #[must_use]
    pub const fn ace(self) -> u8 {
        (self.0 >> 6 & 7) as u8
    }

    /// These bits with the counter of RFC 9768 set to `ace` modulo 8.
    #[must_use]
    pub const fn with_ace(self, ace: u8) -> Self {
        Self(self.0 & !(7 << 6) | (ace as u16 & 7) << 6)
    }
}

impl fmt::Display for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("-");
        }
        for (letter, flag) in Self::LETTERS {
            if self.has(flag) {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

/// An option of a TCP header.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Fast open: the cookie as written.
    FastOpen(String),
    /// An MD5 digest, as written.
    Md5(String),
}

impl TcpOption {
    /// Bytes in the header.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Nop | Self::End => 1,
            Self::Mss(_) => 4,
            Self::WindowScale(_) => 3,
            Self::SackPermitted => 2,
            Self::Sack(blocks) => 2 + 8 * blocks.len(),
            Self::Timestamp { .. } => 10,
            Self::AccEcn { counters, .. } => 2 + 3 * counters.len(),
            Self::FastOpen(cookie) => 2 + cookie.len().div_ceil(2),
            Self::Md5(_) => 18,
        }
    }

    /// Whether it has no bytes, which no option has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            Self::FastOpen(cookie) => write!(f, "FO {cookie}"),
            Self::Md5(digest) => write!(f, "md5 {digest}"),
        }
    }
}

/// A TCP segment with the ECN codepoint of its IP header. The payload's content does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// ECN codepoint of the IP header.
    pub ecn: Ecn,
    /// Control bits.
    pub flags: TcpFlags,
    /// Sequence number, as on the wire.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Acknowledgement number, as on the wire; meaningless without [`TcpFlags::ACK`].
    pub ack: u32,
    /// Window, as on the wire: not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in their order.
    pub options: Vec<TcpOption>,
}

impl Packet {
    /// One above the last sequence number it takes, without SYN and FIN.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.seq.wrapping_add(self.len)
    }

    /// The largest segment its options announce.
    #[must_use]
    pub fn mss(&self) -> Option<u16> {
        self.options.iter().find_map(|option| if let TcpOption::Mss(bytes) = option { Some(*bytes) } else { None })
    }

    /// The shift count its options announce.
    #[must_use]
    pub fn window_scale(&self) -> Option<u8> {
        self.options.iter().find_map(|option| if let TcpOption::WindowScale(shift) = option { Some(*shift) } else { None })
    }

    /// Value and echo of its timestamp.
    #[must_use]
    pub fn timestamp(&self) -> Option<(u32, u32)> {
        self.options.iter().find_map(|option| match option {
            TcpOption::Timestamp { value, echo } => Some((*value, *echo)),
            _ => None,
        })
    }

    /// Returns the packet's byte counters: the codepoint of the first one, and as many as there
    /// are.
    #[must_use]
    pub fn byte_counters(&self) -> Option<(Ecn, &[u32])> {
        self.options.iter().find_map(|option| match option {
            TcpOption::AccEcn { first, counters } => Some((*first, &**counters)),
            _ => None,
        })
    }

    /// Returns the packet's selective acknowledgements.
    #[must_use]
    pub fn sack(&self) -> &[(u32, u32)] {
        self.options
            .iter()
            .find_map(|option| if let TcpOption::Sack(blocks) = option { Some(&**blocks) } else { None })
            .unwrap_or(&[])
    }
}

/// In the language's notation.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codepoint = match self.ecn {
            Ecn::NotEct => "",
            Ecn::Ect0 => "[ect0] ",
            Ecn::Ect1 => "[ect1] ",
            Ecn::Ce => "[ce] ",
        };
        write!(f, "{codepoint}{} {}:{}({})", self.flags, self.seq, self.end(), self.len)?;
        if self.flags.has(TcpFlags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        write_options(f, &self.options)
    }
}

/// Options between angle brackets, after a blank; nothing if there are none.
pub(crate) fn write_options(f: &mut fmt::Formatter<'_>, options: &[TcpOption]) -> fmt::Result {
    for (place, option) in options.iter().enumerate() {
        write!(f, "{}{option}", if place == 0 { " <" } else { "," })?;
    }
    if options.is_empty() { Ok(()) } else { f.write_str(">") }
}
