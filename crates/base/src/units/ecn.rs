//! The two ECN bits of the IP header (RFC 3168 §5, RFC 9331 §2).

/// An ECN codepoint, with the value it has on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not support ECN (00); only a drop can signal congestion.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, scalable congestion control (01, L4S).
    Ect1 = 0b01,
    /// ECN-capable, classic congestion control (10).
    Ect0 = 0b10,
    /// Congestion experienced (11).
    Ce = 0b11,
}

impl Ecn {
    /// Whether a queue may mark this packet instead of dropping it: true for ECT(0), ECT(1) and CE.
    #[inline]
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// The codepoint in the two low bits of `bits`.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}
