//! Ramp: signals with a probability that rises with the delay above a target.
//!
//! *Signal*: the sojourn time of the departing packet, judged at the head.
//!
//! *Law*: the probability is zero up to `target` and rises by `slope` per second above it.
//!
//! *Parameters*: see `KINDS`.
//!
//! *Limits*: the law has no memory, so heavy load keeps the delay above `target`.
//!
//! *Source*: this project's tutorial.

use super::Algorithm;
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues, TypedParam};
use crate::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use goodqueue_base::units::Duration;

// Ranges are in the unit of the file: seconds, bytes, bits per second.
const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(5))
    .within(1e-6, 10.0)
    .about("delay up to which nothing is signaled")
    .from_source("tutorial");
const SLOPE: TypedParam<f64> = TypedParam::number("slope", 2.0)
    .within(0.0, 1000.0)
    .about("probability per second of delay above target")
    .from_source("tutorial");

/// State of ramp, one per queue.
#[derive(Clone, Debug)]
pub struct Ramp {
    target: Duration,
    slope: f64,
    probability: f64,
}

impl Aqm for Ramp {
    /// Ramp has no timer.
    fn is_timeless() -> bool {
        true
    }

    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, _: QueueView) -> Verdict {
        let excess_s = head.sojourn(env.now).as_secs_f64() - self.target.as_secs_f64();
        self.probability = (self.slope * excess_s).clamp(0.0, 1.0);
        if env.rng.uniform() < self.probability { Verdict::Signal(Reason::Head) } else { Verdict::Pass }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("probability", self.probability);
    }
}

impl Algorithm for Ramp {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "ramp",
            aliases: &[],
            title: "Ramp",
            summary: "Signals with a probability that rises with the delay above a target",
            params: &[TARGET.param, SLOPE.param],
            source: "tutorial",
        },
        Family::Threshold,
        "sojourn time, at the head",
    )];

    fn build(given: &ParamValues<'_>, _: &LinkFacts) -> Result<Self, ParamError> {
        Ok(Self { target: TARGET.read(given), slope: SLOPE.read(given), probability: 0.0 })
    }
}
