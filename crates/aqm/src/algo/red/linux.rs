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
use crate::spec::{BoundedValue, LinkFacts, ParamError, ParamFault, ParamValues, Size, TypedParam};

/// Settings of RED in Linux. Thresholds are in bytes, for CHOKe in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxRedParams {
    /// Average from which packets are signaled.
    pub min_th: u64,
    /// Average from which every packet is signaled.
    pub max_th: u64,
    /// Probability reached at `max_th`, times 2^32.
    pub max_p: u32,
    /// Binary logarithm of the inverse weight of a sample.
    pub log: u32,
    /// Whether ECN-capable packets are dropped, too, from `max_th` on.
    pub harddrop: bool,
}

/// State of RED in Linux, one per queue; CHOKe judges by it, too.
#[derive(Clone, Debug)]
pub struct LinuxRed {
    pub(crate) params: LinuxRedParams,
    /// `max_p` divided by the distance of the thresholds.
    slope: u64,
    /// Average queue length, scaled.
    average: u64,
    /// Packets since the last signal; `None` outside the band.
    count: Option<u64>,
    /// Value that `(average - min_th) count` must reach for a signal.
    reach: u64,
}

/// Parameters that RED and CHOKe have in Linux.
const HAS: [&str; 5] = [MIN_TH.name(), MAX_TH.name(), MAX_P.name(), W_Q.name(), HARDDROP.name()];

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
        let bytes = |size: &TypedParam<Option<Size>>| {
            let bytes = size.bytes(given, link.mtu, link.rate)?.ok_or_else(|| size.fault(ParamFault::NoDefault(LINUX)))?;
            Ok(bytes.get())
        };
        Self::with_thresholds(given, bytes, Size::Bytes)
    }

    /// Reads the settings from the parameters, the thresholds by `read` in this unit.
    pub(crate) fn with_thresholds(
        given: &ParamValues<'_>,
        read: impl Fn(&TypedParam<Option<Size>>) -> Result<u64, ParamError>,
        unit: fn(f64) -> Size,
    ) -> Result<Self, ParamError> {
        linux_has_only(given, &HAS)?;
        let (min_th, max_th) = (read(&MIN_TH)?, read(&MAX_TH)?);
        if max_th <= min_th {
            let (value, bound) = (unit(max_th as f64).into(), unit(min_th as f64).into());
            return Err(MAX_TH.fault(ParamFault::NotAbove(BoundedValue { value, other: MIN_TH.name(), bound })));
        }
        let max_p = (MAX_P.read(given) * (1u64 << 32) as f64) as u32;
        Ok(Self { min_th, max_th, max_p, log: weight_log(given)?, harddrop: HARDDROP.read(given) })
    }
}

/// Weight of a sample as an exponent of one half.
fn weight_log(given: &ParamValues<'_>) -> Result<u32, ParamError> {
    let weight = W_Q.read(given);
    let weight = weight.ok_or_else(|| W_Q.fault(ParamFault::NoDefault(LINUX)))?;
    let allowed = "a power of one half: 0.5, 0.25, 0.125 and so on to 2^-31";
    (1..32)
        .find(|&log| weight == 1.0 / (1u64 << log) as f64)
        .ok_or_else(|| W_Q.fault(ParamFault::Conflict { value: weight.into(), with: &LINUX, allowed }))
}

impl LinuxRed {
    /// Creates a RED with these settings.
    #[must_use]
    pub fn new(params: LinuxRedParams) -> Self {
        let band = (params.max_th - params.min_th).max(1);
        Self { params, slope: (u64::from(params.max_p) / band).max(1), average: 0, count: None, reach: 0 }
    }

    /// Average queue length, in the unit of the thresholds.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.average as f64 / (1u64 << self.params.log) as f64
    }

    /// Signal probability before spacing: the average's position between the thresholds, times
    /// `max_p`.
    #[must_use]
    pub fn probability(&self) -> f64 {
        if self.average() >= self.params.max_th as f64 { 1.0 } else { self.probability_in_band() }
    }

    /// The same as if the average were below `max_th`.
    pub(crate) fn probability_in_band(&self) -> f64 {
        let LinuxRedParams { min_th, max_th, max_p, .. } = self.params;
        let (low, high) = (min_th as f64, max_th as f64);
        ((self.average() - low) / (high - low)).max(0.0) * f64::from(max_p) / (1u64 << 32) as f64
    }

    /// Average queue length times `2^log`.
    pub(crate) const fn scaled_average(&self) -> u64 {
        self.average
    }

    /// Updates the average at an arrival that finds a queue of this length.
    pub(crate) fn take_in(&mut self, length: u64) {
        // Never negative: the subtrahend is at most the average.
        self.average = self.average - (self.average >> self.params.log) + length;
    }

    /// The average lies below `min_th`: no spacing goes on.
    pub(crate) fn leave_band(&mut self) {
        self.count = None;
    }

    /// The average has passed `max_th`.
    pub(crate) fn above_band(&mut self) -> Verdict {
        self.leave_band();
        if self.params.harddrop { Verdict::Drop(Reason::Early) } else { Verdict::Signal(Reason::Early) }
    }

    /// The average is `above` the lower threshold, scaled: spaces signals by numbers of 32 bits
    /// from `draw`.
    pub(crate) fn within_band(&mut self, above: u64, draw: impl FnOnce() -> u64) -> Verdict {
        if let Some(count) = &mut self.count {
            *count += 1;
            if (above >> self.params.log) * *count < self.reach {
                return Verdict::Pass;
            }
        }
        let is_first = self.count.replace(0).is_none();
        self.reach = draw() / self.slope;
        if is_first { Verdict::Pass } else { Verdict::Signal(Reason::Early) }
    }

    pub(super) fn on_arrival(&mut self, env: &mut Env<'_>, queue: QueueView) -> Verdict {
        let LinuxRedParams { min_th, max_th, log, .. } = self.params;
        self.take_in(queue.backlog.get());
        if self.average >= max_th << log {
            return self.above_band();
        }
        let Some(above) = self.average.checked_sub(min_th << log) else {
            self.leave_band();
            return Verdict::Pass;
        };
        self.within_band(above, || env.rng.next_u64() >> 32)
    }
}
