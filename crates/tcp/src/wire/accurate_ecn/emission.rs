//! When the option with byte counters leaves, and how much of it (RFC 9768 §3.2.3.2, §3.2.3.3).
//!
//! As in Linux, an end is silent until the other end has sent an option; RFC 9768 §3.2.3.2.3 would
//! rather have it begin.

use super::counters::{ByteCounts, FIELDS, place};
use goodqueue_base::units::{Duration, Ecn, Instant};

/// Bytes of an option with all counters, padded to whole words.
pub const RESERVED: u16 = padded(FIELDS) as u16;
/// Bytes after which counters are reported in any case: a quarter of what their 24 bits can hold.
const MAX_SILENCE: u64 = 1 << 22;
/// SACK blocks that do not give way to the option.
const KEPT_BLOCKS: usize = 2;

/// When segments have the option (`tcp_ecn_option` of Linux).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// In no segment.
    Never,
    /// When codepoints change, for marks, and a few times in a round trip.
    Sparing,
    /// Whenever it fits, unless the path seems to drop what has it.
    Always,
    /// Whenever it fits.
    Persistent,
}

/// Room for options in a segment.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes for the option and SACK together, without other options.
    pub space: usize,
    /// Bytes by which a segment may grow until it has the largest size.
    pub growth: usize,
    /// SACK blocks to report.
    pub blocks: usize,
    /// Round-trip time, if known.
    pub rtt: Option<Duration>,
    /// Offsets of the first byte of a duplicate that the first block reports, and above its last.
    pub duplicate: Option<(u64, u64)>,
}

/// Whether the path lets the option through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passage {
    /// Data that had it is not acknowledged yet.
    Unproven,
    Proven,
    /// Segments that carry the option seem to be dropped.
    Blocked,
}

/// Decides on the option.
#[derive(Clone, Debug)]
pub(super) struct Emission {
    usage: Use,
    beacons: u32,
    /// Whether the other end sends the option, which says that it knows it.
    peer_counts: bool,
    passage: Passage,
    /// When an option left last.
    last: Option<Instant>,
    /// Codepoint of the latest data.
    latest: Option<Ecn>,
    /// Reports of counters that the rules ask for.
    owed: u8,
    /// Counters, from the first one, that include all which have changed since the last option.
    required: usize,
    /// The duplicate that the last report with an option named.
    duplicate: Option<(u64, u64)>,
}

impl Emission {
    pub(super) const fn new(usage: Use, beacons: u32) -> Self {
        Self {
            usage,
            beacons,
            peer_counts: false,
            passage: Passage::Unproven,
            last: None,
            latest: None,
            owed: 0,
            required: 0,
            duplicate: None,
        }
    }

    pub(super) const fn configure(&mut self, usage: Use, beacons: u32) {
        (self.usage, self.beacons) = (usage, beacons);
    }

    pub(super) fn offers(&self) -> bool {
        self.usage > Use::Never
    }

    pub(super) fn reserves(&self) -> bool {
        self.is_possible() && self.usage >= Use::Always
    }

    fn is_possible(&self) -> bool {
        let passes = self.usage == Use::Persistent || self.passage != Passage::Blocked;
        self.offers() && self.peer_counts && passes
    }

    /// The other end has sent an option.
    pub(super) const fn notice(&mut self) {
        self.peer_counts = true;
    }

    /// Data has arrived, which is not in the counters yet. A change of codepoints is reported
    /// twice, marks always.
    pub(super) fn arrive(&mut self, ecn: Ecn, bytes: u64, counts: &ByteCounts) {
        let Some(at) = place(ecn) else { return };
        let before = counts.of(ecn);
        let is_long_silent = before / MAX_SILENCE != (before + bytes) / MAX_SILENCE;
        let owed = if self.latest.is_some_and(|latest| latest != ecn) { 2 } else { u8::from(is_long_silent || ecn == Ecn::Ce) };
        self.owed = self.owed.max(owed);
        self.latest = Some(ecn);
        self.required = self.required.max(at + 1);
    }

    /// The option that leaves now: its counters, and the SACK blocks sent with it.
    pub(super) fn take(&mut self, now: Instant, room: &Room) -> Option<(usize, usize)> {
        let is_owed = self.owed > 0 && self.required > 0;
        let is_due = self.usage >= Use::Always || is_owed || self.is_beacon_due(now, room.rtt);
        if !is_due || !self.is_possible() {
            return None;
        }
        let fitting = fit(room, self.required)?;
        self.last = Some(now);
        self.owed = self.owed.saturating_sub(1);
        self.required = 0;
        self.duplicate = room.duplicate;
        Some(fitting)
    }

    /// Whether an option is due so that `beacons` of them leave per round trip, provided that
    /// segments leave.
    fn is_beacon_due(&self, now: Instant, rtt: Option<Duration>) -> bool {
        let Some(last) = self.last else { return true };
        self.beacons > 0 && now.since(last) * u64::from(self.beacons) >= rtt.unwrap_or_default()
    }

    pub(super) fn meet_duplicate(&mut self, duplicate: (u64, u64)) {
        if self.duplicate == Some(duplicate) {
            self.passage = Passage::Blocked;
        }
    }

    /// Data has been acknowledged.
    pub(super) fn prove(&mut self) {
        if self.passage == Passage::Unproven && self.last.is_some() {
            self.passage = Passage::Proven;
        }
    }

    /// The retransmission timer has expired.
    pub(super) fn expire(&mut self) {
        if self.passage == Passage::Unproven && self.last.is_some() {
            self.passage = Passage::Blocked;
        }
    }
}

/// Counters, of which `required` are at least wanted, and SACK blocks that fit together. The third
/// and fourth block give way if counters have changed.
fn fit(room: &Room, required: usize) -> Option<(usize, usize)> {
    let kept = if required > 0 { room.blocks.min(KEPT_BLOCKS) } else { room.blocks };
    (kept..=room.blocks).rev().find_map(|blocks| {
        let space = room.space.saturating_sub(sack(blocks)).min(room.growth);
        (required.max(1)..=FIELDS).rev().find(|fields| padded(*fields) <= space).map(|fields| (fields, blocks))
    })
}

/// Bytes of an option with `fields` counters, padded to whole words.
const fn padded(fields: usize) -> usize {
    (2 + 3 * fields).next_multiple_of(4)
}

/// Bytes of SACK with `blocks` blocks, padded to whole words.
const fn sack(blocks: usize) -> usize {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(space: usize, blocks: usize) -> Room {
        Room { space, growth: 40, blocks, rtt: Some(Duration::ms(30)), duplicate: None }
    }

    #[test]
    fn counters_fit_with_three_blocks_but_not_with_time_stamps_too() {
        assert_eq!(fit(&room(40, 3), 1), Some((3, 3)));
        assert_eq!(fit(&room(28, 1), 1), Some((3, 1)));
        assert_eq!(fit(&room(28, 2), 1), Some((2, 2)));
        assert_eq!(fit(&room(28, 3), 2), Some((2, 2)), "the third block gives way");
        assert_eq!(fit(&room(28, 3), 0), None, "not if nothing has changed");
        assert_eq!(fit(&room(28, 3), 3), None, "the second one does not");
        assert_eq!(fit(&Room { growth: 11, ..room(40, 0) }, 3), None, "a segment has its largest size");
    }

    #[test]
    fn nothing_leaves_before_the_other_end_has_sent_an_option() {
        let mut emission = Emission::new(Use::Always, 3);
        assert_eq!(emission.take(Instant::ZERO, &room(40, 0)), None);
        emission.notice();
        assert_eq!(emission.take(Instant::ZERO, &room(40, 0)), Some((3, 0)));
        emission.configure(Use::Never, 3);
        assert_eq!(emission.take(Instant::ZERO, &room(40, 0)), None);
    }

    #[test]
    fn sparing_end_reports_changes_and_three_times_per_rtt() {
        let at = |ms: u64| Instant::ZERO + Duration::ms(ms);
        let mut emission = Emission::new(Use::Sparing, 3);
        let mut counts = ByteCounts::default();
        emission.notice();
        let mut arrive = |emission: &mut Emission, ecn, bytes| {
            emission.arrive(ecn, bytes, &counts);
            counts.add(ecn, bytes);
        };
        let leaves = |emission: &mut Emission, ms| emission.take(at(ms), &room(40, 0)).is_some();
        assert!(leaves(&mut emission, 0));
        arrive(&mut emission, Ecn::Ect0, 1000);
        assert!(!leaves(&mut emission, 9) && leaves(&mut emission, 10));
        for ms in [11, 12, 13, 14] {
            arrive(&mut emission, Ecn::Ce, 1000);
            assert!(leaves(&mut emission, ms), "marks are reported");
        }
        for (ms, expected) in [(15, true), (16, true), (17, false)] {
            arrive(&mut emission, Ecn::Ect0, 1000);
            assert_eq!(leaves(&mut emission, ms), expected, "a change is reported twice");
        }
        arrive(&mut emission, Ecn::Ect0, MAX_SILENCE);
        assert!(leaves(&mut emission, 18) && !leaves(&mut emission, 19));
    }

    #[test]
    fn repeated_duplicate_after_a_report_disables_the_option() {
        let again = |usage| {
            let mut emission = Emission::new(usage, 3);
            emission.notice();
            let _ = emission.take(Instant::ZERO, &Room { duplicate: Some((0, 1000)), ..room(40, 1) });
            emission.meet_duplicate((1000, 2000));
            let before = emission.take(Instant::ZERO, &Room { duplicate: Some((0, 1000)), ..room(40, 1) });
            emission.meet_duplicate((0, 1000));
            (before.is_some(), emission.take(Instant::ZERO, &room(40, 0)).is_some())
        };
        assert_eq!(again(Use::Always), (true, false));
        assert_eq!(again(Use::Persistent), (true, true));
    }

    #[test]
    fn only_a_timeout_before_any_delivery_stops_the_option() {
        let survives = |delivered: bool| {
            let mut emission = Emission::new(Use::Always, 3);
            emission.notice();
            let _ = emission.take(Instant::ZERO, &room(40, 0));
            if delivered {
                emission.prove();
            }
            emission.expire();
            emission.take(Instant::ZERO, &room(40, 0)).is_some()
        };
        assert!(survives(true) && !survives(false));
    }
}
