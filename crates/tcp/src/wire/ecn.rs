//! The kind of ECN negotiated by three bits of a SYN and its answer (RFC 9768 §3.1, §3.2.2.1): AE,
//! CWR and ECE, as [`TcpFlags::ace`](super::TcpFlags::ace) has them.

use goodqueue_base::units::Ecn;

/// Kinds of ECN, each of which includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnKind {
    /// No ECN.
    Off,
    /// One echo per window (RFC 3168).
    Classic,
    /// Counts of marked packets and bytes (RFC 9768).
    Accurate,
}

const OFF: u8 = 0b000;
const CLASSIC: u8 = 0b011;
const ACCURATE: u8 = 0b111;
/// ECE alone, with which a SYN-ACK grants classic ECN.
const ECE: u8 = 0b001;

impl EcnKind {
    /// The bits of a SYN that asks for this kind.
    #[must_use]
    pub const fn request(self) -> u8 {
        match self {
            Self::Off => OFF,
            Self::Classic => CLASSIC,
            Self::Accurate => ACCURATE,
        }
    }

    /// The kind that an end which agrees to `most` grants to a SYN with these bits. Combinations
    /// that mean nothing yet ask for accurate ECN (RFC 9768 §3.1.3); an end without it knows only
    /// the two bits of RFC 3168.
    #[must_use]
    pub const fn asked(bits: u8, most: Self) -> Self {
        match (most, bits) {
            (Self::Off, _) | (Self::Accurate, OFF) => Self::Off,
            (Self::Accurate, CLASSIC) => Self::Classic,
            (Self::Accurate, _) => Self::Accurate,
            (Self::Classic, _) if bits & CLASSIC == CLASSIC => Self::Classic,
            (Self::Classic, _) => Self::Off,
        }
    }

    /// The kind that a SYN-ACK with these bits grants to an end that has asked for `asked` (RFC
    /// 9768 table 2). One combination is reserved and agrees, too; all bits set are the SYN's own,
    /// sent back by a host that reflects what it does not know.
    #[must_use]
    pub const fn granted(bits: u8, asked: Self) -> Self {
        match (asked, bits) {
            (Self::Off, _) | (Self::Accurate, OFF | ACCURATE) => Self::Off,
            (Self::Accurate, ECE) => Self::Classic,
            (Self::Accurate, _) => Self::Accurate,
            (Self::Classic, _) if bits & CLASSIC == ECE => Self::Classic,
            (Self::Classic, _) => Self::Off,
        }
    }
}

/// The bits with which a SYN-ACK, or the third segment of the handshake, reflects the codepoint
/// that the segment before it had.
#[must_use]
pub const fn reflection(of: Ecn) -> u8 {
    match of {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The codepoint that these bits reflect; `None` for bits that reflect none.
#[must_use]
pub fn reflected(bits: u8) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().find(|ecn| reflection(*ecn) == bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const KINDS: [EcnKind; 3] = [EcnKind::Off, EcnKind::Classic, EcnKind::Accurate];

    #[test]
    fn answers_to_a_syn_are_those_of_table_2() {
        let granted = |asked| -> Vec<EcnKind> { (0..8).map(|bits| EcnKind::granted(bits, asked)).collect() };
        let [off, classic, accurate] = KINDS;
        assert_eq!(granted(off), [off; 8]);
        // The highest bit is not part of RFC 3168.
        assert_eq!(granted(classic), [off, classic, off, off, off, classic, off, off]);
        assert_eq!(granted(accurate), [off, classic, accurate, accurate, accurate, accurate, accurate, off]);
    }

    #[test]
    fn a_syn_with_bits_that_mean_nothing_yet_asks_for_accurate_ecn() {
        let asked = |most| -> Vec<EcnKind> { (0..8).map(|bits| EcnKind::asked(bits, most)).collect() };
        let [off, classic, accurate] = KINDS;
        assert_eq!(asked(off), [off; 8]);
        assert_eq!(asked(classic), [off, off, off, classic, off, off, off, classic]);
        assert_eq!(asked(accurate), [off, accurate, accurate, classic, accurate, accurate, accurate, accurate]);
    }

    #[test]
    fn a_reflected_codepoint_is_read_as_it_was_meant() {
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(reflected(reflection(ecn)), Some(ecn));
            assert_eq!(EcnKind::granted(reflection(ecn), EcnKind::Accurate), EcnKind::Accurate);
        }
        assert!([0b000, 0b001, 0b101, 0b111].iter().all(|bits| reflected(*bits).is_none()));
    }
}
