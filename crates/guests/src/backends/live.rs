//! Kernel senders in real time, and from a plan's link to what forwarders run.

pub mod backend;
mod outcome;
mod translate;

use goodqueue_aqm::spec::{LinkFacts, ParamError};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Packet, sched};
use goodqueue_base::units::{Instant, Rng};
use goodqueue_lab::scenario::plan::{Link, LinkDirection, Queue};
use goodqueue_live::Line;

/// One direction of a link. Steps of its rate count from `start`.
#[must_use]
pub fn line(link: &Link, direction: &LinkDirection, start: Instant) -> Line {
    Line { rate: direction.rate.from_start(start), delay: direction.delay, framing: link.framing }
}

/// The limit of a direction's queue.
#[must_use]
pub fn limit(direction: &LinkDirection) -> Limit {
    direction.queue.as_ref().map_or(Limit::NONE, |queue| queue.limit)
}

/// Returns the name of a direction's queue, as in `gq list aqm`.
#[must_use]
pub fn name(direction: &LinkDirection) -> String {
    direction.queue.as_ref().map_or_else(|| "tail-drop".to_owned(), Queue::name)
}

/// The queue of one direction. One that the plan does not describe never drops.
///
/// # Errors
/// What the algorithm refuses of its parameters.
pub fn queue<P: Packet>(link: &Link, direction: &LinkDirection, rng: Rng) -> Result<AnyQdisc<P>, ParamError> {
    let facts = LinkFacts {
        rate: Some(direction.nominal_rate()),
        delay: direction.delay,
        mtu: link.mtu,
        overhead: link.overhead(),
        limit: limit(direction),
    };
    match &direction.queue {
        Some(Queue { chosen, ecn, .. }) => AnyQdisc::build_over(chosen, &facts, *ecn, rng),
        None => AnyQdisc::build(sched::TAIL_DROP, &[], &facts, EcnPolicy::Drop, rng),
    }
}
