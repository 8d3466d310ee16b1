//! Linux's numbers: time in ticks of 1024 ns, and `1 / sqrt(count)` as a 16-bit fraction that one
//! Newton step corrects with each change of `count`.

use goodqueue_base::units::Duration;

/// Linux's unit of time, in bits of a nanosecond.
const TICK: u32 = 10;

/// Mask of the bits of a time that whole ticks consist of.
pub(super) const WHOLE_TICKS: u64 = u64::MAX >> TICK << TICK;

/// Linux's `1 / sqrt(count)` as a fraction of 65536. It lags: it starts at 1, and one step
/// corrects it only in part.
#[derive(Clone, Copy, Debug)]
pub(super) struct InverseRoot(u16);

impl InverseRoot {
    /// The root for a count of 1.
    pub(super) const ONE: Self = Self(u16::MAX);

    /// The root after `count` has changed: one for 1, else one Newton step closer.
    pub(super) const fn at(self, count: u32) -> Self {
        if count == 1 { Self::ONE } else { self.refine(count) }
    }

    /// One Newton step toward the root for `count`: `r (3 - count r^2) / 2`, in 32-bit fixed
    /// point. It may wrap around after a jump of `count`, as it does in Linux.
    const fn refine(self, count: u32) -> Self {
        let root = (self.0 as u64) << 16;
        let square = (root * root) >> 32;
        let factor = (3u64 << 32).wrapping_sub(count as u64 * square) >> 2;
        Self((factor.wrapping_mul(root) >> 31 >> 16) as u16)
    }

    /// `interval` times the root, in ticks as whole nanoseconds.
    pub(super) const fn of(self, interval: Duration) -> Duration {
        let ticks = interval.as_nanos() >> TICK;
        Duration::ns(((ticks * self.0 as u64) >> 16) << TICK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn linux_approaches_the_inverse_root_by_one_step_a_count() {
        let mut root = InverseRoot::ONE;
        let found: Vec<f64> = (2..=5)
            .map(|count| {
                root = root.refine(count);
                f64::from(root.0) / 65536.0
            })
            .collect();
        // By hand: r (3 - n r^2) / 2 from r = 1.
        for (found, expected) in found.iter().zip([0.5, 0.5625, 0.487_793, 0.441_538]) {
            assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
        }
    }
}
