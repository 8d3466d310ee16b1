//! The random number generator: xoshiro256++ (Blackman and Vigna 2019), seeded and split by
//! splitmix64.
//!
//! Tests pin its output, so a seed always produces the same draws.

/// A small concrete generator. Each queue, flow and source owns one, split from the run's seed, so
/// that adding an element never shifts the draws of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    s: [u64; 4],
}

const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014).
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// Creates the generator of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let mut s = [0; 4];
        let mut state = seed;
        let mut i = 0;
        while i < 4 {
            state = state.wrapping_add(GOLDEN_GAMMA);
            s[i] = mix(state);
            i += 1;
        }
        Self { s }
    }

    /// Creates an independent generator for `stream` of `seed`: a pure function of both.
    #[must_use]
    pub const fn stream(seed: u64, stream: u64) -> Self {
        Self::new(mix(seed.wrapping_add(GOLDEN_GAMMA)) ^ mix(stream.wrapping_mul(GOLDEN_GAMMA).wrapping_add(1)))
    }

    /// Creates a generator whose next draw is `number`, for replaying recorded draws one by one.
    /// Later draws are meaningless.
    #[must_use]
    pub const fn about_to_draw(number: u64) -> Self {
        // The output is rotl(s0 + s3, 23) + s0. The other words only keep the state from being all
        // zeros.
        Self { s: [0, 1, 1, number.rotate_right(23)] }
    }

    /// 64 uniform bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform on `[0, 1)`, a multiple of 2^-53.
    #[inline]
    pub const fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on `0..bound`, unbiased; zero for a bound of zero.
    pub const fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Lemire's multiplication method with rejection.
        loop {
            let wide = self.next_u64() as u128 * bound as u128;
            let low = wide as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (wide >> 64) as u64;
            }
        }
    }

    /// True with probability `p`: never for `p <= 0`, always for `p >= 1`. Consumes exactly one
    /// draw.
    #[inline]
    pub const fn fires(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference sequence of xoshiro256++ from the state (1, 2, 3, 4), computed by its authors'
    /// code.
    #[test]
    fn agrees_with_the_reference_sequence() {
        let mut rng = Rng { s: [1, 2, 3, 4] };
        let first: [u64; 5] = core::array::from_fn(|_| rng.next_u64());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205]);
    }

    #[test]
    fn bounded_draws_stay_below_the_bound_and_reach_every_value() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[rng.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    #[test]
    fn certain_and_impossible_events() {
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| rng.fires(1.0)));
        assert!((0..1000).all(|_| !rng.fires(0.0)));
    }

    #[test]
    fn the_next_draw_can_be_chosen() {
        for number in [0, 1, u64::MAX, GOLDEN_GAMMA] {
            let mut rng = Rng::about_to_draw(number);
            assert_eq!(rng.next_u64(), number);
            assert_ne!(rng, Rng::about_to_draw(number), "a draw shows in the state");
        }
    }

    #[test]
    fn streams_differ() {
        assert_ne!(Rng::stream(1, 1), Rng::stream(1, 2));
        assert_ne!(Rng::stream(1, 2), Rng::stream(2, 1));
    }
}
