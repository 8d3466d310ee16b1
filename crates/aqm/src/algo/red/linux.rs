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

use crate::aqm::{Env, QueueView, Reason, Verdict};
use crate::arithmetic::linux_has_only;
use crate::spec::{LinkFacts, ParamError, ParamValues};
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

impl LinuxRedParams {
    /// Reads the settings from the parameters.
    ///
    /// # Errors
    /// When a parameter is given that Linux does not have, a required one is missing, or a value
    /// has no representation in Linux.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        if given.kind() != "red" {
            let message = alloc::format!("`{}` has no Linux form here: allowed exact", given.kind());
            return Err(ParamError { param: "arithmetic", message });
        }
        linux_has_only(given, &["min_th", "max_th", "max_p", "w_q", "harddrop"])?;
        let bytes = |param| {
            let missing =
                || ParamError { param, message: "arithmetic = \"linux\" needs a value: it has no automatic one".into() };
            given.bytes(param, link.mtu, link.rate)?.ok_or_else(missing)
        };
        let (min_th, max_th) = (bytes("min_th")?, bytes("max_th")?);
        if max_th <= min_th {
            let message = alloc::format!("{max_th} is not above min_th: allowed more than {min_th}");
            return Err(ParamError { param: "max_th", message });
        }
        let log = weight_log(given)?;
        let max_p = (given.number("max_p").unwrap_or_default() * (1u64 << 32) as f64) as u32;
        Ok(Self { min_th, max_th, max_p, log, harddrop: given.switch("harddrop").unwrap_or_default() })
    }
}

/// Weight of a sample as an exponent of one half.
pub(crate) fn weight_log(given: &ParamValues<'_>) -> Result<u32, ParamError> {
    let weight = given.number("w_q");
    let log = (1..32).find(|&log| weight == Some(1.0 / (1u64 << log) as f64));
    log.ok_or_else(|| ParamError {
        param: "w_q",
        message: "arithmetic = \"linux\" needs a power of one half: allowed 0.5, 0.25, 0.125 and so on to 2^-31".into(),
    })
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
