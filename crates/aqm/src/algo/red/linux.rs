//! RED in the arithmetic of Linux: integers and fewer options.
//!
//! The average counts bytes and has `log` fractional bits, where `log` is the binary logarithm of
//! `1 / w_q`. Every arrival updates it first. Below `min_th` nothing happens; from `max_th` on
//! every packet is signaled, or dropped with `harddrop`. In between, the `count` of packets since
//! the last signal grows until `(average - min_th) count` reaches a threshold that is drawn after
//! each signal: a 32-bit random number divided by `max_p 2^32 / (max_th - min_th)`.
//!
//! The average does not decay while the queue is empty. Linux has such a decay, but it starts when
//! a departure finds the queue empty, and the usual shapers of Linux check before they ask.

use super::params::{HARDDROP, MAX_P, MAX_TH, MIN_TH, W_Q};
use crate::aqm::{Env, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, LINUX, linux_has_only};
use crate::spec::{LinkFacts, Pair, ParamError, ParamFault, ParamValues, Size, TypedParam};
use goodqueue_base::units::Bytes;

/// Settings of RED in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxRedParams {
    /// Average from which packets are signaled.
    pub min_th: Bytes,
    /// Average from which every packet is signaled.
    pub max_th: Bytes,
    /// Probability reached at `max_th`, times 2^32.
    pub max_p: u32,
    /// Binary logarithm of the inverse weight of a sample.
    pub log: u32,
    /// Whether ECN-capable packets are dropped, too, from `max_th` on.
    pub harddrop: bool,
}

/// State of RED in Linux, one per queue.
#[derive(Clone, Debug)]
pub struct LinuxRed {
    params: LinuxRedParams,
    /// `max_p` divided by the bytes between the thresholds.
    slope: u64,
    /// Average in bytes, scaled.
    average: u64,
    /// Packets since the last signal; `None` outside the band.
    count: Option<u64>,
    /// Value that `(average - min_th) count` must reach for a signal.
    reach: u64,
}

/// Parameters that RED and CHOKe have in Linux.
pub(crate) const HAS: [&str; 5] = [MIN_TH.name(), MAX_TH.name(), MAX_P.name(), W_Q.name(), HARDDROP.name()];

impl LinuxRedParams {
    /// Reads the settings from the parameters.
    ///
    /// # Errors
    /// When a parameter is given that Linux does not have, a required one is missing, or a value
    /// has no representation in Linux.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        if given.kind() != "red" {
            let why = "this kind has no Linux form here";
            return Err(ARITHMETIC.fault(ParamFault::Fixed { allowed: "exact".into(), why }));
        }
        linux_has_only(given, &HAS)?;
        let bytes = |size: &TypedParam<Option<Size>>| {
            size.bytes(given, link.mtu, link.rate)?.ok_or_else(|| size.fault(ParamFault::NoDefault(LINUX)))
        };
        let (min_th, max_th) = (bytes(&MIN_TH)?, bytes(&MAX_TH)?);
        if max_th <= min_th {
            let pair = Pair { value: max_th.into(), other: MIN_TH.name(), bound: min_th.into() };
            return Err(MAX_TH.fault(ParamFault::NotAbove(pair)));
        }
        let log = weight_log(given)?;
        let max_p = (MAX_P.read(given) * (1u64 << 32) as f64) as u32;
        Ok(Self { min_th, max_th, max_p, log, harddrop: HARDDROP.read(given) })
    }
}

/// Weight of a sample as an exponent of one half.
pub(crate) fn weight_log(given: &ParamValues<'_>) -> Result<u32, ParamError> {
    let weight = W_Q.read(given);
    let weight = weight.ok_or_else(|| W_Q.fault(ParamFault::NoDefault(LINUX)))?;
    let allowed = "a power of one half: 0.5, 0.25, 0.125 and so on to 2^-31";
    (1..32)
        .find(|&log| weight == 1.0 / (1u64 << log) as f64)
        .ok_or_else(|| W_Q.fault(ParamFault::Conflict { value: weight.into(), with: LINUX, allowed }))
}

impl LinuxRed {
    /// Creates a RED with these settings.
    #[must_use]
    pub fn new(params: LinuxRedParams) -> Self {
        let band = (params.max_th.get() - params.min_th.get()).max(1);
        Self { params, slope: (u64::from(params.max_p) / band).max(1), average: 0, count: None, reach: 0 }
    }

    /// Average queue length in bytes.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.average as f64 / (1u64 << self.params.log) as f64
    }

    /// Signal probability before spacing: the average's position between the thresholds, times
    /// `max_p`.
    #[must_use]
    pub fn probability(&self) -> f64 {
        let LinuxRedParams { min_th, max_th, max_p, .. } = self.params;
        let (low, high) = (min_th.get() as f64, max_th.get() as f64);
        if self.average() >= high {
            return 1.0;
        }
        ((self.average() - low) / (high - low)).max(0.0) * f64::from(max_p) / (1u64 << 32) as f64
    }

    fn draw(&mut self, env: &mut Env<'_>) {
        self.reach = (env.rng.next_u64() >> 32) / self.slope;
    }

    pub(super) fn on_arrival(&mut self, env: &mut Env<'_>, queue: QueueView) -> Verdict {
        let LinuxRedParams { min_th, max_th, log, harddrop, .. } = self.params;
        // Never negative: the subtrahend is at most the average.
        self.average = self.average - (self.average >> log) + queue.backlog.get();
        if self.average >= max_th.get() << log {
            self.count = None;
            return if harddrop { Verdict::Drop(Reason::Early) } else { Verdict::Signal(Reason::Early) };
        }
        let Some(above) = self.average.checked_sub(min_th.get() << log) else {
            self.count = None;
            return Verdict::Pass;
        };
        match &mut self.count {
            None => {
                self.count = Some(0);
                self.draw(env);
                Verdict::Pass
            }
            Some(count) => {
                *count += 1;
                if (above >> log) * *count < self.reach {
                    return Verdict::Pass;
                }
                *count = 0;
                self.draw(env);
                Verdict::Signal(Reason::Early)
            }
        }
    }
}
