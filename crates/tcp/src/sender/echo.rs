//! Feedback of congestion marks: once per window, per packet, or as a count.

use super::Sender;
use super::state::Echo;
use crate::config::EcnMode;
use crate::segment::{Flags, Segment};
use goodqueue_base::units::Ecn;

impl Sender {
    /// The flags of a SYN, which asks for ECN. A repeated SYN does not ask, since a path may drop
    /// those that do (RFC 3168 §6.1.1.1, Linux's `tcp_ecn_fallback`); accurate ECN is tried twice
    /// (RFC 9768 §3.1.4.1).
    pub(super) const fn handshake_flags(&self) -> Flags {
        let classic = Flags::SYN.with(Flags::ECE).with(Flags::CWR);
        let tries = if matches!(self.ecn, EcnMode::Accurate | EcnMode::L4s) { 2 } else { 1 };
        if self.timeouts_in_a_row >= tries {
            return Flags::SYN;
        }
        match self.ecn {
            EcnMode::Native | EcnMode::On | EcnMode::Off => Flags::SYN,
            EcnMode::Classic => classic,
            EcnMode::Mirror => classic.with(Flags::MIRROR),
            EcnMode::Accurate | EcnMode::L4s => classic.with(Flags::AE),
        }
    }

    /// The codepoint of all packets, where the mode makes all packets ECN-capable: with feedback
    /// per packet, retransmissions and the handshake may be marked, too.
    pub(super) const fn common_codepoint(&self) -> Ecn {
        match self.ecn {
            EcnMode::Mirror | EcnMode::Accurate => Ecn::Ect0,
            EcnMode::L4s => Ecn::Ect1,
            EcnMode::Native | EcnMode::On | EcnMode::Off | EcnMode::Classic => Ecn::NotEct,
        }
    }

    /// Adopts the feedback that the receiver's answer to the SYN grants, which may be less than
    /// what was asked for.
    pub(super) fn settle_ecn(&mut self, answer: Flags) {
        let granted = answer.has(Flags::ECE);
        self.echo = match self.ecn {
            _ if !granted => Echo::Nothing,
            EcnMode::Native | EcnMode::On | EcnMode::Off => Echo::Nothing,
            EcnMode::Mirror if answer.has(Flags::MIRROR) => Echo::Mirrored,
            EcnMode::Accurate | EcnMode::L4s if answer.has(Flags::AE) => Echo::Counted,
            EcnMode::Classic | EcnMode::Mirror | EcnMode::Accurate | EcnMode::L4s => Echo::Classic,
        };
        if self.echo == Echo::Classic {
            self.ecn = EcnMode::Classic;
        } else if self.echo == Echo::Nothing {
            self.ecn = EcnMode::Off;
        }
        self.codepoint = if self.echo == Echo::Classic { Ecn::Ect0 } else { self.common_codepoint() };
    }

    /// Number of the `delivered` segments that are reported as marked.
    pub(super) fn take_marks(&mut self, segment: &Segment, delivered: u32) -> u32 {
        let echoed = segment.flags.has(Flags::ECE);
        match self.echo {
            Echo::Nothing => 0,
            Echo::Classic | Echo::Mirrored => u32::from(echoed) * delivered.max(1),
            Echo::Counted => {
                let fresh = segment.ce.wrapping_sub(self.marks_seen);
                // An acknowledgement overtaken by a later one has an older count.
                if fresh >= 128 {
                    return 0;
                }
                self.marks_seen = segment.ce;
                u32::from(fresh)
            }
        }
    }
}
