//! One operation on a queue: what property tests draw, fuzzers decode and contract tests generate by the million.

use goodqueue_units::{Duration, Ecn, Rate, Rng};

/// One thing a host does to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A packet arrives.
    Enqueue {
        /// Its size in bytes.
        len: u32,
        /// Its flow.
        flow: u32,
        /// Its codepoint.
        ecn: Ecn,
    },
    /// The link asks for a packet.
    Dequeue,
    /// Time passes; timers run when they are due.
    Advance(Duration),
    /// Time passes while the host is held up: timers run late, once each.
    Stall(Duration),
    /// The host calls the timer without reason.
    SpuriousTimer,
    /// The link's rate changes.
    SetRate(Option<Rate>),
}

impl Operation {
    /// How many bytes [`Operation::decode`] takes.
    pub const ENCODED: usize = 6;

    /// Any six bytes as an operation, for fuzzing.
    #[must_use]
    pub fn decode(bytes: [u8; Self::ENCODED]) -> Self {
        let [what, a, b, c, d, e] = bytes;
        let number = u32::from_le_bytes([a, b, c, d]);
        match what % 8 {
            0..=2 => {
                let len = u32::from(u16::from_le_bytes([a, b]));
                Self::Enqueue { len, flow: u32::from(c), ecn: Ecn::from_bits(d) }
            }
            3 | 4 => Self::Dequeue,
            // At most about 67 ms, in steps of 16 ns.
            5 => Self::Advance(Duration::ns(u64::from(number >> 10) * 16)),
            6 if e & 1 == 0 => Self::Stall(Duration::ns(u64::from(number))),
            6 => Self::SpuriousTimer,
            _ if e == 0 => Self::SetRate(None),
            _ => Self::SetRate(Some(Rate::bit_s(u64::from(number) * u64::from(e & 0x0f)))),
        }
    }
}

/// Which operations [`Operations`] draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mix {
    /// Everything.
    #[default]
    Everything,
    /// Only Not-ECT packets.
    NotEct,
    /// The clock stands still.
    FrozenClock,
    /// Only packets of 64 KB.
    Huge,
    /// The rate never changes.
    ConstantRate,
}

/// Random operations that change their character every few hundred: idle or overloaded, fast or slow, small packets or large, few
/// flows or many.
#[derive(Clone, Debug)]
pub struct Operations {
    rng: Rng,
    mix: Mix,
    left: u64,
    /// Arrivals among a thousand arrivals and departures.
    load: u64,
    /// Gaps are uniform up to this many nanoseconds.
    longest_gap: u64,
    sizes: &'static [u32],
    flows: u64,
    codepoints: &'static [Ecn],
}

const GAPS: &[u64] = &[1, 1_000, 100_000, 1_000_000, 20_000_000, 500_000_000];
const SIZES: &[&[u32]] = &[&[1500], &[64, 1500], &[0, 1, 40, 576, 1500], &[9000, 65_535]];
const CODEPOINTS: &[&[Ecn]] = &[&[Ecn::NotEct], &[Ecn::Ect0], &[Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]];

/// One random number, used up bit by bit: an operation is drawn as often as a queue carries one out, and must cost little beside.
struct Bits(u64);

impl Bits {
    /// A number below `bound` from the next `count` bits, even as far as they can tell.
    #[inline]
    const fn below(&mut self, bound: u64, count: u32) -> u64 {
        let drawn = self.0 >> (u64::BITS - count);
        self.0 <<= count;
        ((drawn as u128 * bound as u128) >> count) as u64
    }

    #[inline]
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64, 8) as usize]
    }
}

impl Operations {
    /// Endless operations, the same for the same seed.
    #[must_use]
    pub fn new(seed: u64, mix: Mix) -> Self {
        Self {
            rng: Rng::new(seed),
            mix,
            left: 0,
            load: 500,
            longest_gap: 1,
            sizes: SIZES[0],
            flows: 1,
            codepoints: CODEPOINTS[0],
        }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len() as u64) as usize]
    }

    #[cold]
    fn change_character(&mut self) {
        self.left = 100 + self.rng.below(900);
        self.load = self.pick(&[300, 480, 520, 700, 950]);
        self.longest_gap = self.pick(GAPS);
        self.sizes = if self.mix == Mix::Huge { &[65_535] } else { self.pick(SIZES) };
        self.flows = self.pick(&[1, 2, 16, 1000]);
        self.codepoints = if self.mix == Mix::NotEct { CODEPOINTS[0] } else { self.pick(CODEPOINTS) };
    }

    fn rate(&mut self) -> Option<Rate> {
        match self.rng.below(8) {
            0 => None,
            1 => Some(Rate::ZERO),
            2 => Some(Rate::bit_s(1)),
            3 => Some(Rate::gbit(400)),
            _ => Some(Rate::kbit(self.rng.below(200_000))),
        }
    }
}

impl Iterator for Operations {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        if self.left == 0 {
            self.change_character();
        }
        self.left -= 1;
        let mut bits = Bits(self.rng.next_u64());
        let what = bits.below(1_000, 16);
        let is_frozen = self.mix == Mix::FrozenClock;
        Some(if what < 340 && !is_frozen {
            Operation::Advance(Duration::ns(bits.below(self.longest_gap, 48)))
        } else if what < 341 && !is_frozen {
            Operation::Stall(Duration::ns(bits.below(20 * self.longest_gap, 48)))
        } else if what < 350 {
            Operation::SpuriousTimer
        } else if what < 351 && self.mix != Mix::ConstantRate {
            Operation::SetRate(self.rate())
        } else if bits.below(1_000, 16) < self.load {
            let len = bits.pick(self.sizes);
            let flow = bits.below(self.flows, 16) as u32;
            Operation::Enqueue { len, flow, ecn: bits.pick(self.codepoints) }
        } else {
            Operation::Dequeue
        })
    }
}
