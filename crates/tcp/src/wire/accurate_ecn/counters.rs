//! Counters of bytes by codepoint, and how the option carries them (RFC 9768 §3.2.3.1, §A.1).

use super::super::TcpOption;
use goodqueue_base::units::Ecn;

/// Counters of an option at most.
pub(super) const FIELDS: usize = 3;
/// Counters in an option have 24 bits.
const MODULUS: u64 = 1 << 24;
/// The order in which they are written, with ECT(1) first: senders of ECT(1) can leave the last one
/// away, and so one order does for all.
const ORDER: [Ecn; FIELDS] = [Ecn::Ect1, Ecn::Ce, Ecn::Ect0];

/// Bytes that arrived with each codepoint, apart from Not-ECT. An option has them with the initial
/// values of RFC 9768 §3.2.1 added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteCounts([u64; FIELDS]);

/// The difference between an option and the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The number of bytes marked since then, possibly zero.
    Marked(u64),
    /// Marked bytes are not in it, or a counter went back: it says nothing about marks.
    Unclear,
}

/// A counter begins at one where zero would show that a node clears the option.
const fn initial(ecn: Ecn) -> u64 {
    match ecn {
        Ecn::Ect0 | Ecn::Ect1 => 1,
        Ecn::Ce | Ecn::NotEct => 0,
    }
}

/// Place of the counter of a codepoint, counted from 0.
pub(super) fn place(ecn: Ecn) -> Option<usize> {
    ORDER.iter().position(|counted| *counted == ecn)
}

/// The codepoints of an option that begins with `first`, in their order.
pub(super) fn fields(first: Ecn, counters: &[u32]) -> impl Iterator<Item = (Ecn, u32)> + '_ {
    let step = move |at: usize| if first == ORDER[0] { ORDER[at] } else { ORDER[FIELDS - 1 - at] };
    counters.iter().take(FIELDS).enumerate().map(move |(at, counter)| (step(at), *counter))
}

impl ByteCounts {
    /// Bytes that arrived with a codepoint; Not-ECT is not counted.
    #[must_use]
    pub fn of(&self, ecn: Ecn) -> u64 {
        place(ecn).map_or(0, |at| self.0[at])
    }

    pub(super) fn add(&mut self, ecn: Ecn, bytes: u64) {
        if let Some(at) = place(ecn) {
            self.0[at] = self.0[at].saturating_add(bytes);
        }
    }

    /// Builds the option with the first `fields` counters.
    pub(super) fn option(&self, fields: usize) -> TcpOption {
        let wire = |ecn: &Ecn| (self.of(*ecn).wrapping_add(initial(*ecn)) % MODULUS) as u32;
        TcpOption::AccEcn { first: ORDER[0], counters: ORDER.iter().take(fields).map(wire).collect() }
    }

    /// Takes the counters of an option. Of two ways round the circle of 24 bits a counter has gone
    /// the shorter one.
    pub(super) fn take(&mut self, first: Ecn, counters: &[u32]) -> Change {
        let (mut marked, mut back) = (None, false);
        for (ecn, wire) in fields(first, counters) {
            let Some(at) = place(ecn) else { continue };
            let known = self.0[at].wrapping_add(initial(ecn));
            let ahead = u64::from(wire).wrapping_sub(known) % MODULUS;
            if ahead < MODULUS / 2 {
                self.0[at] = self.0[at].saturating_add(ahead);
                if ecn == Ecn::Ce {
                    marked = Some(ahead);
                }
            } else {
                self.0[at] = self.0[at].saturating_sub(MODULUS - ahead);
                back = true;
            }
        }
        match marked {
            Some(bytes) if !back => Change::Marked(bytes),
            Some(_) | None => Change::Unclear,
        }
    }
}
