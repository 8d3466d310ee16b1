//! DualPI2's decisions in the arithmetic of Linux: 32-bit probabilities and drawn signals.
//!
//! A probability is a 32-bit number in which `2^32 - 1` stands for 1, a delay is in nanoseconds. At
//! each update `p += (alpha (delay - target) + beta (delay - last delay)) / 64`, with gains of
//! whole numbers for 64 ns. A draw decides about each packet, also while `p` is zero: a classic one
//! is signaled when two draws in a row are at most `p`, an L4S one is marked when one is at most
//! `k p`. After that, and while few bytes wait as well, an L4S packet older than the step is
//! marked. From `k p > 1` on, signals drop classic packets, and L4S packets are dropped as often as
//! those and marked otherwise.

use super::params::{ALPHA, BETA, CLASSIC_WEIGHT, DualPi2Params, ECN, K, MIN_TH, T_UPDATE, TARGET};
use crate::aqm::{Reason, Verdict};
use crate::arithmetic::{LINUX, LinuxDraws, linux_has_only};
use crate::spec::{ParamError, ParamFault, ParamValues, TypedParam};
use goodqueue_base::units::{Duration, Rng};

const ONE: u64 = u32::MAX as u64;
const HAS: [&str; 8] =
    [ECN.name(), TARGET.name(), T_UPDATE.name(), ALPHA.name(), BETA.name(), K.name(), MIN_TH.name(), CLASSIC_WEIGHT.name()];

/// Refuses what Linux cannot be told.
pub(super) fn check(given: &ParamValues<'_>, params: &DualPi2Params) -> Result<(), ParamError> {
    linux_has_only(given, &HAS)?;
    let fault = |param: &TypedParam<Option<f64>>, value: f64, allowed| {
        Err(param.fault(ParamFault::Conflict { value: value.into(), with: &LINUX, allowed }))
    };
    for (param, gain) in [(&ALPHA, params.alpha), (&BETA, params.beta)] {
        let units = gain * 256.0;
        if units < 1.0 || units >= (1u64 << 31) as f64 || f64::from(units as u32) != units {
            return fault(param, gain, "whole numbers of 1/256");
        }
    }
    if params.k < 1.0 || params.k > 255.0 || f64::from(params.k as u8) != params.k {
        return Err(K.fault(ParamFault::Conflict {
            value: params.k.into(),
            with: &LINUX,
            allowed: "whole numbers from 1 to 255",
        }));
    }
    Ok(())
}

/// The controller and the draws.
#[derive(Clone, Debug)]
pub(super) struct LinuxLaw {
    target: i64,
    alpha: i64,
    beta: i64,
    k: u64,
    step: Duration,
    p: u32,
    delay: i64,
    draws: LinuxDraws,
}

/// A gain for delays in units of 64 ns.
const fn scaled(gain: f64) -> i64 {
    (((gain * 256.0) as u64 * ONE) / 4_000_000_000) as i64
}

impl LinuxLaw {
    pub(super) fn new(params: &DualPi2Params) -> Self {
        Self {
            target: params.target.as_nanos() as i64,
            alpha: scaled(params.alpha),
            beta: scaled(params.beta),
            k: params.k as u64,
            step: params.min_th,
            p: 0,
            delay: 0,
            draws: LinuxDraws::default(),
        }
    }

    pub(super) fn update(&mut self, delay: Duration) {
        let delay = delay.as_nanos() as i64;
        let distance = (delay - self.target).wrapping_mul(self.alpha);
        let change = distance.wrapping_add((delay - self.delay).wrapping_mul(self.beta));
        self.delay = delay;
        // Both sums wrap where Linux's do.
        let step = (change.unsigned_abs() >> 6) as u32;
        self.p = if change > 0 {
            let p = self.p.wrapping_add(step);
            if p < self.p { u32::MAX } else { p }
        } else {
            let p = self.p.wrapping_sub(step);
            if p > self.p { 0 } else { p }
        };
    }

    fn coupled(&self) -> u64 {
        u64::from(self.p) * self.k
    }

    fn is_overloaded(&self) -> bool {
        self.coupled() > ONE
    }

    fn rolls(&mut self, rng: &mut Rng, probability: u64) -> bool {
        self.draws.next(rng) >> 32 <= probability
    }

    fn rolls_twice(&mut self, rng: &mut Rng) -> bool {
        let p = u64::from(self.p);
        self.rolls(rng, p) && self.rolls(rng, p)
    }

    /// The verdict on the L4S head.
    pub(super) fn judge_l4s(&mut self, rng: &mut Rng, sojourn: Duration, is_spared: bool) -> Verdict {
        if !is_spared && self.is_overloaded() {
            let drops = self.rolls_twice(rng);
            return if drops { Verdict::Drop(Reason::Head) } else { Verdict::Mark(Reason::Head) };
        }
        if !is_spared && self.rolls(rng, self.coupled()) {
            return Verdict::Mark(Reason::Head);
        }
        if sojourn > self.step { Verdict::Mark(Reason::Threshold) } else { Verdict::Pass }
    }

    /// The verdict on the classic head.
    pub(super) fn judge_classic(&mut self, rng: &mut Rng, is_spared: bool) -> Verdict {
        if is_spared || !self.rolls_twice(rng) {
            Verdict::Pass
        } else if self.is_overloaded() {
            Verdict::Drop(Reason::Head)
        } else {
            Verdict::Signal(Reason::Head)
        }
    }

    /// The base probability and the delay, in seconds.
    pub(super) fn figures(&self) -> (f64, f64) {
        (f64::from(self.p) / ONE as f64, self.delay as f64 / 1e9)
    }
}
