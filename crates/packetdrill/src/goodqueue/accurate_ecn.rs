//! How accurate ECN writes codepoints and counts into three bits (RFC 9768 §3.1, §3.2.2).

use goodqueue_units::Ecn;

/// The counter of marked packets begins here.
pub(super) const FIRST_COUNT: u8 = 5;

/// The bits with which a SYN-ACK, or the third segment of the handshake, reflects the codepoint
/// that the segment before it had.
pub(super) const fn reflection(of: Ecn) -> u8 {
    match of {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// Whether a SYN-ACK with these bits agrees to accurate ECN. One combination is reserved and
/// agrees, too (RFC 9768 §3.1.2).
pub(super) const fn agrees(bits: u8) -> bool {
    matches!(bits, 0b010..=0b110)
}
