//! Accurate ECN after the handshake (RFC 9768): the counter of three bits and the byte counters
//! that an end keeps and reads, and when it believes neither the path nor the other end.
//!
//! A [`Segment`](crate::Segment) carries an exact count of marks; a host that meets other TCPs has
//! an [`AccurateEcn`] for each connection, which gives the sender that count.

mod counters;
mod delivered;
mod emission;

use super::{Packet, TcpFlags, TcpOption, reflected};
use delivered::Delivered;
use emission::Emission;
use goodqueue_base::units::{Ecn, Instant};

pub use counters::ByteCounts;
pub use delivered::Acknowledged;
pub use emission::{RESERVED, Room, Use};

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
pub enum Fallback {
    /// The end gives up ECN.
    On,
    /// The end goes on.
    Off,
}

/// The settings of a host for accurate ECN.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// When segments have the option.
    pub usage: Use,
    /// The minimum number of options sent per round trip when the option is used sparingly.
    pub beacons: u32,
    /// The reaction to ECN fields that a path has changed.
    pub fallback: Fallback,
}

impl Default for Policy {
    fn default() -> Self {
        Self { usage: Use::Always, beacons: 3, fallback: Fallback::On }
    }
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

/// Counts of packets and bytes by codepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Marked packets.
    pub marks: u64,
    /// Bytes of data.
    pub bytes: ByteCounts,
}

/// One end of a connection with accurate ECN.
#[derive(Clone, Debug)]
pub struct AccurateEcn {
    policy: Policy,
    /// Whether the path changes ECN fields, or an end may do without ECN. Marks still count (RFC
    /// 9768 §3.1.5, §3.2.2.3).
    gave_up: bool,
    counter: Counter,
    received: Counts,
    /// Marked packets that have arrived and that no segment has reported.
    unreported: u64,
    emission: Emission,
    delivered: Delivered,
    /// Marks handed to the sender, modulo 256.
    handed: u8,
}

impl AccurateEcn {
    /// The end of a connection that has agreed on accurate ECN.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            gave_up: false,
            counter: Counter::Untested,
            received: Counts::default(),
            unreported: 0,
            emission: Emission::new(policy.usage, policy.beacons),
            delivered: Delivered::default(),
            handed: 0,
        }
    }

    /// Takes on what an administrator changes while the connection is open.
    pub fn configure(&mut self, policy: Policy) {
        self.policy = policy;
        self.emission.configure(policy.usage, policy.beacons);
    }

    /// Whether packets may be ECN-capable.
    pub fn is_capable(&self) -> bool {
        !self.gave_up && self.counter != Counter::Zeroed
    }

    /// Packets are Not-ECT from here on.
    pub fn give_up(&mut self) {
        self.gave_up = true;
    }

    /// The counter for a header.
    pub const fn ace(&self) -> u8 {
        ((FIRST_COUNT + self.received.marks) % ACE) as u8
    }

    /// The option of a SYN-ACK: the other end's may follow. `None` where the host uses none.
    pub fn offer(&self) -> Option<TcpOption> {
        self.emission.offers().then(|| self.received.bytes.option(counters::FIELDS))
    }

    /// Whether each segment has room kept free for the option.
    pub fn reserves(&self) -> bool {
        self.emission.reserves()
    }

    /// Judges the bits that reflect the codepoint with which this end's SYN or SYN-ACK left, which
    /// is always Not-ECT.
    pub fn check_reflection(&mut self, bits: u8) {
        // No path that treats ECN properly turns Not-ECT into anything else (RFC 9768 §3.2.2.3).
        if self.policy.fallback == Fallback::On && reflected(bits).is_some_and(|seen| seen != Ecn::NotEct) {
            self.give_up();
        }
    }

    /// Takes the segment that ends the handshake of a passive end. Without data and SACK it
    /// reflects the codepoint of the SYN-ACK; one that arrived marked is the first mark (RFC 9768
    /// §3.2.2.1).
    pub fn end_handshake(&mut self, packet: &Packet) {
        let bits = packet.flags.ace();
        self.test_zeroing(bits);
        if packet.len > 0 || !packet.sack().is_empty() {
            return;
        }
        self.check_reflection(bits);
        if reflected(bits) == Some(Ecn::Ce) {
            self.delivered.counts.marks = 1;
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
    pub fn notice(&mut self, packet: &Packet) {
        if let Some((first, counters)) = packet.byte_counters() {
            self.emission.notice();
            self.delivered.notice(first, counters);
        }
    }

    /// Counts a packet that has arrived after the handshake.
    pub fn arrive(&mut self, packet: &Packet) {
        self.count(packet.ecn, packet.len);
        self.notice(packet);
        self.test_zeroing(packet.flags.ace());
    }

    /// Counts a codepoint and the bytes that came with it.
    pub fn count(&mut self, ecn: Ecn, bytes: u32) {
        if ecn == Ecn::Ce {
            self.received.marks += 1;
            self.unreported += 1;
        }
        if bytes > 0 {
            self.emission.arrive(ecn, u64::from(bytes), &self.received.bytes);
            self.received.bytes.add(ecn, u64::from(bytes));
        }
    }

    /// Whether the marks received without data are numerous enough to be reported on their own.
    pub const fn owes_report(&self) -> bool {
        self.unreported >= MARKS_WITHOUT_DATA
    }

    /// Writes the counters into a segment that leaves now: the counter into its flags, and the
    /// option if it is due and fits. Returns how many SACK blocks it leaves room for.
    pub fn report(&mut self, now: Instant, room: &Room, flags: &mut TcpFlags) -> (Option<TcpOption>, usize) {
        self.unreported = 0;
        *flags = flags.with_ace(self.ace());
        match self.emission.take(now, room) {
            Some((fields, blocks)) => (Some(self.received.bytes.option(fields)), blocks),
            None => (None, room.blocks),
        }
    }

    /// A segment that this end has reported as a duplicate, from its first byte to its last, came
    /// again. If the report had the option, nodes may drop what has it (RFC 9768 §3.2.3.2.2).
    pub fn meet_duplicate(&mut self, duplicate: (u64, u64)) {
        self.emission.meet_duplicate(duplicate);
    }

    /// The retransmission timer has expired.
    pub fn expire(&mut self) {
        self.emission.expire();
    }

    /// Takes the counters of an acknowledgement that makes progress. Returns the count of marks for
    /// the sender, modulo 256.
    pub fn take(&mut self, packet: &Packet, acknowledged: &Acknowledged) -> u8 {
        if acknowledged.segments > 0 {
            self.emission.prove();
        }
        if self.counter != Counter::Zeroed {
            let marks = self.delivered.take(packet.flags.ace(), packet.byte_counters(), acknowledged);
            self.handed = self.handed.wrapping_add(marks.min(MAX_MARKS) as u8);
            if self.delivered.contradicts {
                self.give_up();
            }
        }
        self.handed
    }

    /// The count of marks for the sender, when an acknowledgement says nothing new.
    pub const fn handed(&self) -> u8 {
        self.handed
    }

    /// Packets that have arrived here.
    #[must_use]
    pub const fn received(&self) -> &Counts {
        &self.received
    }

    /// Packets that have arrived at the other end, as it reports them.
    #[must_use]
    pub const fn delivered(&self) -> &Counts {
        &self.delivered.counts
    }
}

#[cfg(test)]
mod tests;
