//! The clocks of interfaces: each counts for itself, and they are joined to one time.

use crate::import::clock::{self, Clock};
use std::collections::BTreeMap;

/// Clocks that are further apart are not the same one, read early or late.
pub(super) const MAX_APART_NS: i64 = 2_000_000_000;
/// A clock that is set goes back a few times at most; packets that are not in order do so often.
const MAX_RETURNS: u64 = 3;

/// The clocks of a recording.
#[derive(Default)]
pub(super) struct Clocks {
    /// By interface, with the joined time at which each began.
    by_interface: BTreeMap<u32, (Clock, i64)>,
    /// The time stamp of the last packet, and its joined time.
    last: Option<(i64, i64)>,
    /// The interface whose first packet was later than the last one by this much: time that
    /// passed, or another clock.
    doubted: Option<(u32, i64)>,
    /// Interfaces with a clock that is far from the others'.
    apart: u64,
}

/// The time of a packet.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// Nanoseconds of joined time.
    pub(super) ns: i64,
    /// The reading of its interface's clock.
    pub(super) own: Reading,
}

/// The time on one clock.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    interface: u32,
    /// The number of times that the clock was set before.
    pub(super) steps: u32,
    ns: i64,
}

impl Reading {
    /// Nanoseconds since another reading; `None` when that is another clock's, or the clock was set
    /// since.
    pub(super) fn since(self, earlier: Self) -> Option<i64> {
        ((self.interface, self.steps) == (earlier.interface, earlier.steps)).then(|| self.ns - earlier.ns)
    }
}

impl Clocks {
    /// Returns the time of a packet with this time stamp.
    pub(super) fn pass(&mut self, interface: u32, at: i64) -> Moment {
        if !self.by_interface.contains_key(&interface) {
            let start = self.start(interface, at);
            self.by_interface.insert(interface, (Clock::default(), start));
        }
        let (clock, start) = self.by_interface.get_mut(&interface).expect("it was just put there");
        let passed = clock.pass(at);
        let ns = start.saturating_add(passed.ns);
        if let Some((doubted, later)) = self.doubted.filter(|(doubted, _)| *doubted != interface) {
            self.doubted = None;
            let is_other = self.last.is_some_and(|(_, last)| ns < last.saturating_sub(MAX_APART_NS));
            if is_other && let Some((_, start)) = self.by_interface.get_mut(&doubted) {
                *start = start.saturating_sub(later);
                self.apart += 1;
            }
        }
        self.last = Some((at, ns));
        Moment { ns, own: Reading { interface, steps: passed.steps, ns: passed.ns } }
    }

    /// The joined time of an interface's first packet: by the stamps where they are near those of
    /// the others, otherwise by the order in the file.
    fn start(&mut self, interface: u32, at: i64) -> i64 {
        let Some((last_at, last_ns)) = self.last else { return 0 };
        let after = at.saturating_sub(last_at);
        if after < -MAX_APART_NS {
            self.apart += 1;
            return last_ns;
        }
        if after > MAX_APART_NS {
            self.doubted = Some((interface, after));
        }
        last_ns.saturating_add(after)
    }

    fn sum(&self, of: fn(&Clock) -> u64) -> u64 {
        self.by_interface.values().map(|(clock, _)| of(clock)).sum()
    }

    /// Returns the seconds that have passed.
    pub(super) fn seconds(&self) -> f64 {
        let ends = self.by_interface.values().map(|(clock, start)| *start as f64 / 1e9 + clock.seconds());
        let first = self.by_interface.values().map(|(_, start)| *start).min().unwrap_or(0);
        ends.fold(0.0f64, f64::max) - first as f64 / 1e9
    }

    /// Returns the most seconds by which a packet was late on its own clock.
    pub(super) fn late(&self) -> f64 {
        self.by_interface.values().map(|(clock, _)| clock.late_ns()).max().unwrap_or(0) as f64 / 1e9
    }

    /// Returns how many packets are earlier than the one before, of how many, when that is no clock
    /// that was set.
    pub(super) fn disorder(&self) -> Option<(u64, u64)> {
        let (earlier, packets) = (self.sum(Clock::earlier), self.sum(Clock::entries));
        (earlier > packets / 2 || self.sum(Clock::returns) > MAX_RETURNS).then_some((earlier, packets))
    }

    /// Remarks on the times of packets.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = clock::disorder("packets", self.sum(Clock::earlier), self.sum(Clock::leaps));
        if self.apart > 0 {
            let apart = self.apart;
            notes.push(format!(
                "{apart} interfaces have a clock more than 2 s from the others': theirs begin where they are in the file."
            ));
        }
        notes
    }
}
