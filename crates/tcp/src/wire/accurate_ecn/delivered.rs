//! Counts of this end's packets, read from the other end's counters (RFC 9768 §3.2.2.2, §A.2).

use super::counters::{Change, fields};
use super::{ACE, Counts, FIRST_COUNT};
use goodqueue_base::units::Ecn;

/// Segments per acknowledgement, in the mean, above which long acknowledgements are taken for the
/// path's habit and not for a sign that others were lost. Linux has the same number.
const THINNED: u64 = 4;
/// The mean moves by a part of this.
const WEIGHT: u64 = 64;
/// Safety factor: the least count is taken if the safe one would make the mean marked packet
/// smaller than a full segment divided by this factor (RFC 9768 §A.2.2).
const SAFETY: u64 = 2;

/// The segments and bytes that an acknowledgement newly acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// Segments.
    pub segments: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Bytes of a full segment.
    pub mss: u64,
}

/// Whether the other end's options are believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Options {
    #[default]
    Unseen,
    Sound,
    /// The first one had a counter of zero that begins at one: a node clears them (RFC 9768
    /// §3.2.3.2.4).
    Zeroed,
}

/// Counts of this end's packets and bytes as the other end reports them.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivered {
    pub(super) counts: Counts,
    options: Options,
    /// Mean of segments per acknowledgement, times `WEIGHT`.
    mean: Option<u64>,
    /// Marks and segments since the latest option.
    since: (u64, u64),
    /// Whether an option has said that bytes were marked where the header counts no packet (RFC
    /// 9768 §3.2.3.2.5).
    pub(super) contradicts: bool,
}

impl Delivered {
    /// Judges the first option.
    pub(super) fn notice(&mut self, first: Ecn, counters: &[u32]) {
        if self.options == Options::Unseen && !counters.is_empty() {
            let zeroed = fields(first, counters).any(|(ecn, counter)| ecn != Ecn::Ce && counter == 0);
            self.options = if zeroed { Options::Zeroed } else { Options::Sound };
        }
    }

    /// Takes the counter of a header and the option. Returns the marks that are new.
    pub(super) fn take(&mut self, ace: u8, option: Option<(Ecn, &[u32])>, acknowledged: &Acknowledged) -> u64 {
        self.note_length(acknowledged.segments);
        let change = match option {
            Some((first, counters)) if self.options == Options::Sound => self.counts.bytes.take(first, counters),
            Some(_) | None => Change::Unclear,
        };
        let known = FIRST_COUNT.wrapping_add(self.counts.marks);
        let least = u64::from(ace).wrapping_sub(known) % ACE;
        let marks = self.resolve(least, change, acknowledged);
        self.counts.marks += marks;
        self.since = (self.since.0 + marks, self.since.1 + acknowledged.segments);
        if let Change::Marked(bytes) = change {
            // With more segments the counter of three bits may have gone round.
            self.contradicts |= bytes > 0 && self.since.0 == 0 && self.since.1 < ACE;
            self.since = (0, 0);
        }
        marks
    }

    fn note_length(&mut self, segments: u64) {
        if segments > 0 {
            self.mean = Some(self.mean.map_or(segments * WEIGHT, |mean| mean - mean / WEIGHT + segments));
        }
    }

    /// The marks that a difference of three bits stands for. If the acknowledgement covers more
    /// segments than the bits can count, others may have been lost that would have shown a
    /// wrap-around. Then the largest number that fits is the safe one, unless the byte counters or
    /// the habit of the path tell otherwise.
    fn resolve(&self, least: u64, change: Change, acknowledged: &Acknowledged) -> u64 {
        let Acknowledged { segments, bytes, mss } = *acknowledged;
        if segments < ACE {
            return least;
        }
        let most = segments - (segments - least) % ACE;
        match change {
            Change::Marked(0) => least,
            Change::Marked(marked) if marked <= least * mss => {
                if SAFETY * marked < most * mss {
                    least
                } else {
                    most
                }
            }
            // So few packets cannot have carried the marked bytes.
            Change::Marked(marked) => {
                let needed = (u128::from(marked) * u128::from(segments)).div_ceil(u128::from(bytes.max(1)));
                let needed = u64::try_from(needed).unwrap_or(u64::MAX).min(most);
                (least + needed.saturating_sub(least).div_ceil(ACE) * ACE).min(most)
            }
            Change::Unclear if self.mean.is_some_and(|mean| mean > THINNED * WEIGHT) => least,
            Change::Unclear => most,
        }
    }
}
