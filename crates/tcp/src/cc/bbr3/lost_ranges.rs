//! Losses that end startup before the pipe is full.

/// Counts the ranges of segments lost in the present round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct LostRanges {
    pub(super) count: u32,
    next: Option<u64>,
}

impl LostRanges {
    pub(super) fn take(&mut self, number: u64) {
        if self.next != Some(number) {
            self.count += 1;
        }
        self.next = Some(number + 1);
    }
}
