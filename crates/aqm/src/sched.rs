//! Schedulers, and the queue disciplines a file can name.

pub mod fair_queue;

use crate::algo::codel::CoDel;
use crate::algo::{self, Algorithm, AnyAqm};
use crate::aqm::QueueView;
use crate::counters::Counters;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{EcnPolicy, ManagedQueue};
use crate::spec::{Given, KindSpec, LinkFacts, ParamError, Value};
use fair_queue::{FairQueue, FairQueueParams};
use goodqueue_units::{Instant, Rate, Rng};

/// Any queue discipline, chosen at run time: one `match` a call.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one a link; a pointer would cost a cache miss a packet")]
pub enum AnyQdisc<P> {
    /// One queue under one algorithm.
    Managed(ManagedQueue<P, AnyAqm>),
    /// Fair queueing over CoDel.
    FqCoDel(FairQueue<P, CoDel>),
    /// Fair queueing over any algorithm.
    Fair(FairQueue<P, AnyAqm>),
}

/// Every kind of queue discipline that a file can name.
pub fn kinds() -> impl Iterator<Item = &'static KindSpec> {
    algo::KINDS.iter().flat_map(|kinds| kinds.iter()).chain(fair_queue::KINDS)
}

/// The description of `kind`, if there is one.
#[must_use]
pub fn kind(name: &str) -> Option<&'static KindSpec> {
    kinds().find(|spec| spec.kind == name)
}

impl<P: Packet> AnyQdisc<P> {
    /// Builds the discipline `spec` names for a link.
    ///
    /// # Errors
    /// When a parameter is unknown, of the wrong unit, out of range, or contradicts another or the link.
    pub fn build(
        spec: &'static KindSpec,
        values: &[(&'static str, Value)],
        link: &LinkFacts,
        ecn: EcnPolicy,
        rng: Rng,
    ) -> Result<Self, ParamError> {
        let given = Given::new(spec, values)?;
        let mut queue = match spec.kind {
            "fq-codel" => {
                let params = FairQueueParams::build(&given, link)?.guarded(&given);
                let queue = FairQueue::new(CoDel::build(&given, link)?, link.limit, params);
                Self::FqCoDel(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            "fair" => {
                return Err(ParamError {
                    param: "of",
                    message: "`fair` needs the algorithm of its flows, for instance of = { kind = \"pie\" }".into(),
                });
            }
            _ => {
                let aqm = AnyAqm::build(&given, link)?;
                Self::Managed(ManagedQueue::new(aqm, link.limit).with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
        };
        queue.set_link_rate(Instant::ZERO, link.rate);
        Ok(queue)
    }

    /// Builds fair queueing over the algorithm `inner` names: kind `fair`, which is what `spec` and `values` describe.
    ///
    /// # Errors
    /// As [`AnyQdisc::build`]; also when `inner` is not an algorithm but a discipline of several queues.
    pub fn build_fair(
        spec: &'static KindSpec,
        values: &[(&'static str, Value)],
        inner: &'static KindSpec,
        inner_values: &[(&'static str, Value)],
        link: &LinkFacts,
        ecn: EcnPolicy,
        rng: Rng,
    ) -> Result<Self, ParamError> {
        if spec.kind != "fair" {
            return Err(ParamError { param: "of", message: alloc::format!("`{}` has no inner algorithm", spec.kind) });
        }
        let given = Given::new(spec, values)?;
        let aqm = AnyAqm::build(&Given::new(inner, inner_values)?, link)?;
        let params = FairQueueParams::build(&given, link)?;
        let queue = FairQueue::new(aqm, link.limit, params);
        let mut queue = Self::Fair(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead));
        queue.set_link_rate(Instant::ZERO, link.rate);
        Ok(queue)
    }
}

macro_rules! each {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            Self::Managed($queue) => $call,
            Self::FqCoDel($queue) => $call,
            Self::Fair($queue) => $call,
        }
    };
}

impl<P: Packet> Qdisc<P> for AnyQdisc<P> {
    #[inline]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        each!(self, queue => queue.enqueue(now, packet, sink));
    }
    #[inline]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        each!(self, queue => queue.dequeue(now, sink))
    }
    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        each!(self, queue => queue.next_timer())
    }
    fn handle_timer(&mut self, now: Instant) {
        each!(self, queue => queue.handle_timer(now));
    }
    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        each!(self, queue => queue.set_link_rate(now, rate));
    }
    #[inline]
    fn view(&self) -> QueueView {
        each!(self, queue => queue.view())
    }
    fn counters(&self) -> Counters {
        each!(self, queue => queue.counters())
    }
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        each!(self, queue => queue.gauges(visit));
    }
}
