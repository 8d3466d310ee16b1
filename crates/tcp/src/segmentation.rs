//! Conversion between byte offsets and segment numbers: every segment but the last has the same
//! size.

/// Larger offsets than this are divided the slow way.
const FAST: u64 = 1 << 48;

/// Segment size with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segmentation {
    mss: u32,
    /// 2^64 / mss, rounded up: multiplication by it is exact below 2^48 bytes for sizes below 2^16.
    reciprocal: u64,
}

impl Segmentation {
    /// `mss` lies in 2..=65535.
    pub(crate) const fn new(mss: u32) -> Self {
        Self { mss, reciprocal: u64::MAX / mss as u64 + 1 }
    }

    #[inline]
    pub(crate) const fn mss(self) -> u32 {
        self.mss
    }

    /// Number of whole segments in `bytes`.
    #[inline]
    pub(crate) const fn whole(self, bytes: u64) -> u64 {
        if bytes < FAST { ((bytes as u128 * self.reciprocal as u128) >> 64) as u64 } else { bytes / self.mss as u64 }
    }

    /// The offset of a segment's first byte.
    #[inline]
    pub(crate) const fn start_of(self, number: u64) -> u64 {
        number * self.mss as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn multiplying_by_the_reciprocal_divides(mss in 2u32..=65_535, bytes in 0u64..1 << 50, near in 0u64..1 << 32) {
            let segmentation = Segmentation::new(mss);
            prop_assert_eq!(segmentation.whole(bytes), bytes / u64::from(mss));
            let multiple = near * u64::from(mss);
            prop_assert_eq!(segmentation.whole(multiple), near);
            prop_assert_eq!(segmentation.whole(multiple.saturating_sub(1)), multiple.saturating_sub(1) / u64::from(mss));
        }
    }
}
