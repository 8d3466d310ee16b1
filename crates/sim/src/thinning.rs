//! An evenly spread selection of samples, whatever their number.

/// Samples seen, and the share of them that is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Thinning {
    seen: u64,
    /// One of how many is kept is two to this power.
    power: u32,
}

impl Thinning {
    /// Adds a sample to those `kept`, which are at most `MAX`, or passes it over.
    pub(crate) fn add<const MAX: usize, T>(&mut self, kept: &mut Vec<T>, sample: T) {
        if self.keeps() {
            if kept.len() == MAX {
                // Every other one goes, and from here on only half as many come.
                let mut place = 0;
                kept.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                self.power += 1;
            }
            if self.keeps() {
                kept.push(sample);
            }
        }
        self.seen += 1;
    }

    const fn keeps(self) -> bool {
        self.seen.is_multiple_of(1 << self.power)
    }
}
