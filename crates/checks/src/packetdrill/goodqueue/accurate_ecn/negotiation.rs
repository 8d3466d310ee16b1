//! The kind of ECN negotiated by three bits of a SYN and its answer (RFC 9768 §3.1, §3.2.2.1).

use goodqueue_base::units::Ecn;

/// Kinds of ECN, each of which includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Kind {
    Off,
    Classic,
    Accurate,
}

const OFF: u8 = 0b000;
const CLASSIC: u8 = 0b011;
const BROKEN: u8 = 0b111;
/// ECE alone, with which a SYN-ACK grants classic ECN.
const ECE: u8 = 0b001;

/// The kind of ECN that an end which agrees to `most` grants to a SYN with these bits. Combinations
/// that mean nothing yet ask for accurate ECN (RFC 9768 §3.1.3); an end without it knows only the
/// two bits of RFC 3168.
pub(in super::super) const fn asked(bits: u8, most: Kind) -> Kind {
    match (most, bits) {
        (Kind::Off, _) | (Kind::Accurate, OFF) => Kind::Off,
        (Kind::Accurate, CLASSIC) => Kind::Classic,
        (Kind::Accurate, _) => Kind::Accurate,
        (Kind::Classic, _) if bits & CLASSIC == CLASSIC => Kind::Classic,
        (Kind::Classic, _) => Kind::Off,
    }
}

/// The kind of ECN that a SYN-ACK with these bits grants to an end that has asked for `asked` (RFC
/// 9768 table 2). One combination is reserved and agrees, too; all bits set are the SYN's own, sent
/// back by a host that reflects what it does not know.
pub(in super::super) const fn granted(bits: u8, asked: Kind) -> Kind {
    match (asked, bits) {
        (Kind::Off, _) | (Kind::Accurate, OFF | BROKEN) => Kind::Off,
        (Kind::Accurate, ECE) => Kind::Classic,
        (Kind::Accurate, _) => Kind::Accurate,
        (Kind::Classic, _) if bits & CLASSIC == ECE => Kind::Classic,
        (Kind::Classic, _) => Kind::Off,
    }
}

/// The bits with which a SYN-ACK, or the third segment of the handshake, reflects the codepoint
/// that the segment before it had.
pub(in super::super) const fn reflection(of: Ecn) -> u8 {
    match of {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The codepoint that these bits reflect; `None` for bits that reflect none.
pub(super) fn reflected(bits: u8) -> Option<Ecn> {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().find(|ecn| reflection(*ecn) == bits)
}

/// Whether a path that treats ECN properly can turn one codepoint into the other (RFC 9768
/// §3.2.2.3).
pub(super) fn survives(sent: Ecn, seen: Ecn) -> bool {
    match sent {
        Ecn::NotEct | Ecn::Ce => seen == sent,
        Ecn::Ect0 | Ecn::Ect1 => seen != Ecn::NotEct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 3] = [Kind::Off, Kind::Classic, Kind::Accurate];

    #[test]
    fn answers_to_a_syn_are_those_of_table_2() {
        let granted = |asked| -> Vec<Kind> { (0..8).map(|bits| granted(bits, asked)).collect() };
        let [off, classic, accurate] = KINDS;
        assert_eq!(granted(off), [off; 8]);
        // The highest bit is not part of RFC 3168.
        assert_eq!(granted(classic), [off, classic, off, off, off, classic, off, off]);
        assert_eq!(granted(accurate), [off, classic, accurate, accurate, accurate, accurate, accurate, off]);
    }

    #[test]
    fn a_syn_with_bits_that_mean_nothing_yet_asks_for_accurate_ecn() {
        let asked = |most| -> Vec<Kind> { (0..8).map(|bits| asked(bits, most)).collect() };
        let [off, classic, accurate] = KINDS;
        assert_eq!(asked(off), [off; 8]);
        assert_eq!(asked(classic), [off, off, off, classic, off, off, off, classic]);
        assert_eq!(asked(accurate), [off, accurate, accurate, classic, accurate, accurate, accurate, accurate]);
    }

    #[test]
    fn a_reflected_codepoint_is_read_as_it_was_meant() {
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(reflected(reflection(ecn)), Some(ecn));
            assert_eq!(granted(reflection(ecn), Kind::Accurate), Kind::Accurate);
            assert_eq!(survives(Ecn::NotEct, ecn), ecn == Ecn::NotEct);
            assert_eq!(survives(Ecn::Ect1, ecn), ecn != Ecn::NotEct);
            assert_eq!(survives(Ecn::Ce, ecn), ecn == Ecn::Ce);
        }
        assert!([0b000, 0b001, 0b101, 0b111].iter().all(|bits| reflected(*bits).is_none()));
    }
}
