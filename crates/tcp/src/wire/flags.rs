//! Control bits.

use core::fmt;

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

    /// All bits of a header.
    const ALL: u16 = (1 << 9) - 1;

    /// The letters of packetdrill.
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

    /// The bits of a header, from the word that has them below the length of the header.
    #[must_use]
    pub const fn from_bits(word: u16) -> Self {
        Self(word & Self::ALL)
    }

    /// The bit that a letter of packetdrill stands for.
    #[must_use]
    pub fn of_letter(letter: char) -> Option<Self> {
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
