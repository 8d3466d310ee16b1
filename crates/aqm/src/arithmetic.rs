//! The choice between an algorithm's own arithmetic and Linux's.

use crate::spec::{ParamError, ParamFault, ParamValues, Setting, TypedParam, Value};
use goodqueue_base::units::{Rng, mix};
use goodqueue_base::words;

words! {
    /// The arithmetic that an algorithm uses.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Arithmetic {
        /// That of its source: nanoseconds, and floating point where the source has real numbers.
        Exact = "exact",
        /// Linux's integers and units of time, and everything else that its queue disciplines do in
        /// another way than the source.
        Linux = "linux",
    }
}

pub(crate) const ARITHMETIC: TypedParam<Arithmetic> = TypedParam::choice("arithmetic", "exact")
    .about("whose numbers: the source's, or Linux's integers and ticks for the very same verdicts")
    .from_source("recordings of Linux 6.12 and 7.3");

/// The setting that chooses Linux's arithmetic.
pub(crate) const LINUX: Setting = Setting { name: ARITHMETIC.name(), value: Value::Choice("linux") };

/// Refuses parameters that Linux's form of an algorithm does not have; `has` names the others.
pub(crate) fn linux_has_only(given: &ParamValues<'_>, has: &[&'static str]) -> Result<(), ParamError> {
    match given.values().iter().map(|(name, _)| *name).find(|name| *name != ARITHMETIC.name() && !has.contains(name)) {
        None => Ok(()),
        Some(param) => {
            let allowed = has.iter().copied().filter(|name| given.lists(name)).collect();
            Err(ParamError::new(param, ParamFault::NotAmong { with: LINUX, allowed }))
        }
    }
}

/// Draws as narrow as Linux's: a splitmix64 that goes on from the first number of the queue's own
/// stream. A recording whose draws are those of such a generator can so be followed from its first
/// number.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinuxDraws {
    /// The generator's state; `None` before the first draw.
    state: Option<u64>,
}

impl LinuxDraws {
    const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Draws from `number` on, which is the next one.
    pub(crate) const fn from(number: u64) -> Self {
        Self { state: Some(unmix(number).wrapping_sub(Self::GAMMA)) }
    }

    /// 64 bits.
    pub(crate) fn next(&mut self, rng: &mut Rng) -> u64 {
        let state = match self.state {
            Some(state) => state.wrapping_add(Self::GAMMA),
            None => unmix(rng.next_u64()),
        };
        self.state = Some(state);
        mix(state)
    }

    /// The next number of a generator that has begun.
    pub(crate) fn go_on(&mut self) -> u64 {
        let state = self.state.unwrap_or_default().wrapping_add(Self::GAMMA);
        self.state = Some(state);
        mix(state)
    }
}

/// Inverts `mix`: each of its steps is undone by shifts and by the inverse factor modulo 2^64.
const fn unmix(mut z: u64) -> u64 {
    z = (z ^ (z >> 31) ^ (z >> 62)).wrapping_mul(0x3196_42B2_D24D_8EC3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96DE_1B17_3F11_9089);
    z ^ (z >> 30) ^ (z >> 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        for number in [0, 1, u64::MAX, 0x0123_4567_89AB_CDEF] {
            assert_eq!(unmix(mix(number)), number);
        }
    }

    #[test]
    fn draws_go_on_from_the_first_number() {
        let first = mix(1u64.wrapping_add(LinuxDraws::GAMMA));
        let mut draws = LinuxDraws::default();
        assert_eq!(draws.next(&mut Rng::about_to_draw(first)), first);
        let second = mix(1u64.wrapping_add(LinuxDraws::GAMMA.wrapping_mul(2)));
        assert_eq!(draws.go_on(), second);
        let mut known = LinuxDraws::from(first);
        assert_eq!([known.go_on(), known.go_on()], [first, second]);
    }
}
