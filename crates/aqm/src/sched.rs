//! Schedulers, and the queue disciplines a file can name.

pub mod fair_queue;
pub(crate) mod flow_table;
pub mod fq_pie;
pub mod sfq_codel;
mod timers;

use crate::algo::codel::CoDel;
use crate::algo::{self, Algorithm, AnyAqm};
use crate::aqm::QueueView;
use crate::counters::Counters;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{EcnPolicy, ManagedQueue};
use crate::spec::{Chosen, Given, KindSpec, LinkFacts, ParamError, Value};
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

/// Fair queues with an algorithm and habits of their own.
const FLOW_KINDS: &[KindSpec] = &[fq_pie::KIND, sfq_codel::KIND];

/// Every kind of queue discipline that a file can name.
pub fn kinds() -> impl Iterator<Item = &'static KindSpec> {
    algo::KINDS.iter().flat_map(|kinds| kinds.iter()).chain(fair_queue::KINDS).chain(FLOW_KINDS)
}

/// The description of `kind`, if there is one.
#[must_use]
pub fn kind(name: &str) -> Option<&'static KindSpec> {
    kinds().find(|spec| spec.kind == name)
}

/// Can a queue of this kind mark? Where it puts another algorithm to work, that one decides.
#[must_use]
pub fn marks(spec: &KindSpec, of: Option<&KindSpec>) -> bool {
    spec.marks && of.is_none_or(|inner| inner.marks)
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
        Self::build_over(spec, values, None, link, ecn, rng)
    }

    /// Builds the discipline `spec` names, which puts the algorithm `of` to work if it is one that does
    /// ([`KindSpec::is_over_another`]).
    ///
    /// # Errors
    /// As [`AnyQdisc::build`]; also when `of` is missing or one too many, or is not an algorithm but a discipline of several queues.
    pub fn build_over(
        spec: &'static KindSpec,
        values: &[(&'static str, Value)],
        of: Option<&Chosen>,
        link: &LinkFacts,
        ecn: EcnPolicy,
        rng: Rng,
    ) -> Result<Self, ParamError> {
        let given = Given::new(spec, values)?;
        let mut queue = match (spec.kind, of) {
            ("fq-codel", None) => {
                let queue = FairQueue::new(CoDel::build(&given, link)?, link.limit, FairQueueParams::build(&given, link)?);
                Self::FqCoDel(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("sfq-codel", None) => {
                Self::FqCoDel(sfq_codel::build(&given, link)?.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("fq-pie", None) => Self::Fair(fq_pie::build(&given, link)?.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)),
            ("fair", Some(inner)) => {
                let aqm = AnyAqm::build(&Given::new(inner.kind, &inner.params)?, link)?;
                let queue = FairQueue::new(aqm, link.limit, FairQueueParams::build(&given, link)?);
                Self::Fair(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("fair", None) => {
                let message = "`fair` needs the algorithm of its flows, for instance { kind = \"pie\" }".into();
                return Err(ParamError { param: "of", message });
            }
            (kind, Some(_)) => {
                return Err(ParamError { param: "of", message: alloc::format!("`{kind}` has no inner algorithm") });
            }
            (_, None) => {
                let aqm = AnyAqm::build(&given, link)?;
                Self::Managed(ManagedQueue::new(aqm, link.limit).with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
        };
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
