//! A ring of buckets of time, each a list of flows.

use alloc::vec::Vec;
use goodqueue_base::units::Instant;

/// Nanoseconds of a bucket, as a power of two: with a thousand flows that are updated every 15 ms
/// there is about one in each.
const WIDTH: u32 = 14;
/// Buckets of a ring, 17 ms.
const BUCKETS: u64 = 1024;
const WORD: u64 = u64::BITS as u64;

/// Marks the end of a list.
const END: u32 = u32::MAX;
/// Marks a flow that is in no list.
const OUT: u32 = u32::MAX - 1;

/// The number of the bucket of a time.
#[inline]
pub(super) const fn bucket(time: Instant) -> u64 {
    time.as_nanos() >> WIDTH
}

/// Flows by the bucket of their time.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// The first flow in each bucket; empty before the first one comes.
    heads: Vec<u32>,
    /// Bitmap of the buckets that have any.
    occupied: Vec<u64>,
    /// The flow behind each flow, or [`END`], or [`OUT`].
    links: Vec<u32>,
    /// The earliest bucket that has any.
    first: Option<u64>,
    /// All are in one of the [`BUCKETS`] from here on.
    start: u64,
}

impl Ring {
    /// Puts `flow` into `bucket`, if that is after bucket `now`, within the ring, and the flow is
    /// in none.
    #[inline]
    pub(super) fn takes(&mut self, flow: u32, bucket: u64, now: u64) -> bool {
        if self.first.is_none() {
            self.start = now;
        }
        let index = flow as usize;
        // The clock may not have come as far as the ring has: what is before its start is outside,
        // too.
        if bucket <= now || bucket.wrapping_sub(self.start) >= BUCKETS || self.links.get(index).is_some_and(|&link| link != OUT) {
            return false;
        }
        if index >= self.links.len() {
            self.grow(index);
        }
        let place = (bucket % BUCKETS) as usize;
        self.links[index] = core::mem::replace(&mut self.heads[place], flow);
        self.occupied[place / 64] |= 1 << (place % 64);
        self.first = Some(self.first.map_or(bucket, |first| first.min(bucket)));
        true
    }

    /// Takes memory for `flows` flows.
    pub(super) fn reserve(&mut self, flows: usize) {
        self.links.reserve_exact(flows.saturating_sub(self.links.len()));
        self.heads.reserve_exact((BUCKETS as usize).saturating_sub(self.heads.len()));
        self.occupied.reserve_exact(((BUCKETS / WORD) as usize).saturating_sub(self.occupied.len()));
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.links.resize(index + 1, OUT);
        self.heads.resize(BUCKETS as usize, END);
        self.occupied.resize((BUCKETS / WORD) as usize, 0);
    }

    /// The earliest bucket that has any flow.
    #[inline]
    pub(super) const fn first(&self) -> Option<u64> {
        self.first
    }

    /// Takes all flows out of the first bucket.
    #[inline]
    pub(super) fn empty_first(&mut self, mut each: impl FnMut(u32)) {
        let Some(first) = self.first else { return };
        let place = (first % BUCKETS) as usize;
        let mut flow = core::mem::replace(&mut self.heads[place], END);
        while flow != END {
            each(flow);
            flow = core::mem::replace(&mut self.links[flow as usize], OUT);
        }
        self.occupied[place / 64] &= !(1 << (place % 64));
        self.start = first;
        self.first = self.occupied_from(place).map(|ahead| first + ahead);
    }

    /// The distance from bucket `place` to the next one that has any, going round; 0 for `place`
    /// itself.
    fn occupied_from(&self, place: usize) -> Option<u64> {
        let words = self.occupied.len();
        let in_first = self.occupied[place / 64] >> (place % 64);
        if in_first != 0 {
            return Some(u64::from(in_first.trailing_zeros()));
        }
        // The first word comes last once more, for what is in it before `place`.
        let step = (1..=words).find(|step| self.occupied[(place / 64 + step) % words] != 0)?;
        let bit = self.occupied[(place / 64 + step) % words].trailing_zeros() as usize;
        Some((step * 64 + bit - place % 64) as u64)
    }
}
