//! Accurate ECN on the wire (RFC 9768): what the handshake settles, the counter of three bits and
//! the byte counters that an end keeps and reads, and when it believes neither the path nor the
//! other end.
//!
//! A segment of `goodqueue-tcp` carries an exact count of marks, so all of this is the adapter's.

pub(super) mod negotiation;

mod counters;
mod delivered;
mod emission;

use crate::packetdrill::packet::{Packet, TcpFlags, TcpOption};
use counters::ByteCounts;
use delivered::Delivered;
use emission::Emission;
use goodqueue_base::units::{Ecn, Instant};

pub(super) use delivered::Acknowledged;
pub(super) use emission::{RESERVED, Room, Use};

/// The counter of marked packets begins here (RFC 9768 §3.2.1).
const FIRST_COUNT: u64 = 5;
/// Values of the counter in a header.
const ACE: u64 = 8;
/// Marks after which an end that has nothing else to acknowledge reports them (RFC 9768
/// §3.2.2.5.1).
const MARKS_WITHOUT_DATA: u64 = 3;
/// Most marks that a sender takes from one acknowledgement.
const MAX_MARKS: u64 = 127;

/// Whether an end gives up ECN where a path changes what it should not (`tcp_ecn_fallback`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    On,
    Off,
}

/// The settings of a host for accurate ECN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) usage: Use,
    /// The minimum number of options sent per round trip when the option is used sparingly.
    pub(super) beacons: u32,
    pub(super) fallback: Fallback,
}

impl Default for Policy {
    fn default() -> Self {
        Self { usage: Use::Always, beacons: 3, fallback: Fallback::On }
    }
}

/// Whether packets may be ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Capable {
    Yes,
    /// The path changes ECN fields, or an end may do without ECN. Marks still count (RFC 9768
    /// §3.1.5, §3.2.2.3).
    No,
}

/// Whether the other end's counter is heeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counter {
    /// None has arrived.
    Untested,
    Sound,
    /// The first one was zero: neither are packets ECN-capable, nor do marks count (RFC 9768
    /// §3.2.2.1, §3.2.2.4).
    Zeroed,
}

/// One end of a connection with accurate ECN.
#[derive(Clone, Debug)]
pub(super) struct AccurateEcn {
    policy: Policy,
    capable: Capable,
    counter: Counter,
    /// Marked packets that have arrived.
    marks: u64,
    /// Those of them that no segment has reported.
    unreported: u64,
    received: ByteCounts,
    emission: Emission,
    delivered: Delivered,
    /// Marks handed to the sender, modulo 256.
    handed: u8,
}

impl AccurateEcn {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            capable: Capable::Yes,
            counter: Counter::Untested,
            marks: 0,
            unreported: 0,
            received: ByteCounts::default(),
            emission: Emission::new(policy.usage, policy.beacons),
            delivered: Delivered::default(),
            handed: 0,
        }
    }

    /// Takes on what an administrator changes while the connection is open.
    pub(super) fn configure(&mut self, policy: Policy) {
        self.policy = policy;
        self.emission.configure(policy.usage, policy.beacons);
    }

    /// Whether packets may be ECN-capable.
    pub(super) fn is_capable(&self) -> bool {
        self.capable == Capable::Yes && self.counter != Counter::Zeroed
    }

    /// Packets are Not-ECT from here on.
    pub(super) fn give_up(&mut self) {
        self.capable = Capable::No;
    }

    /// The counter for a header.
    pub(super) const fn ace(&self) -> u8 {
        ((FIRST_COUNT + self.marks) % ACE) as u8
    }

    /// The option of a SYN-ACK: the other end's may follow. `None` where the host uses none.
    pub(super) fn offer(&self) -> Option<TcpOption> {
        self.emission.offers().then(|| self.received.option(counters::FIELDS))
    }

    /// Whether each segment has room kept free for the option.
    pub(super) fn reserves(&self) -> bool {
        self.emission.reserves()
    }

    /// Judges the bits that reflect the codepoint with which this end's SYN or SYN-ACK left, which
    /// is always Not-ECT.
    pub(super) fn check_reflection(&mut self, bits: u8) {
        let Some(seen) = negotiation::reflected(bits) else { return };
        if self.policy.fallback == Fallback::On && !negotiation::survives(Ecn::NotEct, seen) {
            self.give_up();
        }
    }

    /// Takes the segment that ends the handshake of a passive end. Without data and SACK it
    /// reflects the codepoint of the SYN-ACK; one that arrived marked is the first mark (RFC 9768
    /// §3.2.2.1).
    pub(super) fn end_handshake(&mut self, packet: &Packet) {
        let bits = packet.flags.ace();
        self.test_zeroing(bits);
        if packet.len > 0 || !packet.sack().is_empty() {
            return;
        }
        self.check_reflection(bits);
        if negotiation::reflected(bits) == Some(Ecn::Ce) {
            self.delivered.marks = 1;
            self.handed = 1;
        }
    }

    /// The first counter after the handshake is not zero, unless a node clears the bits (RFC 9768
    /// §3.2.2.4).
    fn test_zeroing(&mut self, bits: u8) {
        if self.counter == Counter::Untested {
            self.counter = if bits == 0 { Counter::Zeroed } else { Counter::Sound };
        }
    }

    /// Learns from its option whether the other end counts bytes.
    pub(super) fn notice(&mut self, packet: &Packet) {
        if let Some((first, counters)) = packet.byte_counters() {
            self.emission.notice();
            self.delivered.notice(first, counters);
        }
    }

    /// Counts a packet that has arrived after the handshake.
    pub(super) fn arrive(&mut self, packet: &Packet) {
        self.count(packet.ecn, packet.len);
        self.notice(packet);
        self.test_zeroing(packet.flags.ace());
    }

    /// Counts a codepoint and the bytes that came with it.
    pub(super) fn count(&mut self, ecn: Ecn, bytes: u32) {
        if ecn == Ecn::Ce {
            self.marks += 1;
            self.unreported += 1;
        }
        if bytes > 0 {
            self.emission.arrive(ecn, u64::from(bytes), &self.received);
            self.received.add(ecn, u64::from(bytes));
        }
    }

    /// Whether the marks received without data are numerous enough to be reported on their own.
    pub(super) const fn owes_report(&self) -> bool {
        self.unreported >= MARKS_WITHOUT_DATA
    }

    /// Writes the counters into a segment that leaves now: the counter into its flags, and the
    /// option if it is due and fits. Returns how many SACK blocks it leaves room for.
    pub(super) fn report(&mut self, now: Instant, room: &Room, flags: &mut TcpFlags) -> (Option<TcpOption>, usize) {
        self.unreported = 0;
        *flags = flags.with_ace(self.ace());
        match self.emission.take(now, room) {
            Some((fields, blocks)) => (Some(self.received.option(fields)), blocks),
            None => (None, room.blocks),
        }
    }

    /// A segment that this end has reported as a duplicate, from its first byte to its last, came
    /// again. If the report had the option, nodes may drop what has it (RFC 9768 §3.2.3.2.2).
    pub(super) fn meet_duplicate(&mut self, duplicate: (u64, u64)) {
        self.emission.meet_duplicate(duplicate);
    }

    /// The retransmission timer has expired.
    pub(super) fn expire(&mut self) {
        self.emission.expire();
    }

    /// Takes the counters of an acknowledgement that makes progress. Returns the count of marks for
    /// the sender, modulo 256.
    pub(super) fn take(&mut self, packet: &Packet, acknowledged: &Acknowledged) -> u8 {
        if acknowledged.segments > 0 {
            self.emission.prove();
        }
        if self.counter != Counter::Zeroed {
            let marks = self.delivered.take(packet.flags.ace(), packet.byte_counters(), acknowledged);
            self.handed = self.handed.wrapping_add(marks.min(MAX_MARKS) as u8);
            if self.delivered.contradicts() {
                self.give_up();
            }
        }
        self.handed
    }

    /// The count of marks for the sender, when an acknowledgement says nothing new.
    pub(super) const fn handed(&self) -> u8 {
        self.handed
    }

    /// The value of a field of `tcp_info`.
    pub(super) fn info(&self, field: &str) -> Option<f64> {
        let count = match field {
            "tcpi_delivered_ce" => self.delivered.marks,
            "tcpi_received_ce" => self.marks,
            "tcpi_delivered_ce_bytes" => self.delivered.bytes.of(Ecn::Ce),
            "tcpi_delivered_e0_bytes" => self.delivered.bytes.of(Ecn::Ect0),
            "tcpi_delivered_e1_bytes" => self.delivered.bytes.of(Ecn::Ect1),
            "tcpi_received_ce_bytes" => self.received.of(Ecn::Ce),
            "tcpi_received_e0_bytes" => self.received.of(Ecn::Ect0),
            "tcpi_received_e1_bytes" => self.received.of(Ecn::Ect1),
            _ => return None,
        };
        Some(count as f64)
    }
}

#[cfg(test)]
mod tests;
