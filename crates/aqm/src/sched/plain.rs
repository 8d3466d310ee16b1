//! Queue disciplines that stand on their own, as against those that put others to work.

use super::cake::{Cake, CakeParams};
use super::dualpi2::{DualPi2, DualPi2Params};
use super::fair_queue::{FairQueue, FairQueueParams};
use super::jobs::{Jobs, JobsParams};
use super::nfq_codel::{self, MCoDel};
use super::weighted::WeightedQueue;
use super::{choose, fq_pie, sfq_codel};
use crate::algo::codel::CoDel;
use crate::algo::pie::Pie;
use crate::algo::tail_drop::TailDrop;
use crate::algo::{Algorithm, AnyAqm};
use crate::aqm::{FlowHash, QueueView};
use crate::counters::Counters;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{EcnPolicy, ManagedQueue};
use crate::spec::{Chosen, Given, KindSpec, LinkFacts, ParamError, Value};
use alloc::boxed::Box;
use goodqueue_units::{Instant, Rate, Rng};

/// A queue discipline over no other, chosen at run time.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one a link; a pointer would cost a cache miss a packet")]
pub enum PlainQdisc<P> {
    /// One queue under one algorithm.
    Managed(ManagedQueue<P, AnyAqm>),
    /// Fair queueing over CoDel.
    FqCoDel(FairQueue<P, CoDel>),
    /// Fair queueing over any algorithm.
    Fair(FairQueue<P, AnyAqm>),
    /// Weighted fair queueing over CoDel by weight.
    NfqCoDel(WeightedQueue<P, MCoDel>),
    /// Fair queueing over PIE.
    FqPie(Box<FairQueue<P, Pie>>),
    /// Tins of fair queues.
    Cake(Box<Cake<P>>),
    /// A coupled dual queue.
    DualPi2(Box<DualPi2<P>>),
    /// Classes under JoBS.
    Jobs(Box<Jobs<P>>),
}

impl<P: Packet> PlainQdisc<P> {
    /// Builds the discipline `spec` names. Its link's rate is still to be set.
    pub(super) fn build(
        spec: &'static KindSpec,
        values: &[(&'static str, Value)],
        of: Option<&Chosen>,
        link: &LinkFacts,
        ecn: EcnPolicy,
        rng: Rng,
    ) -> Result<Self, ParamError> {
        let given = Given::new(spec, values)?;
        Ok(match (spec.kind, of) {
            ("fq-codel", None) => {
                let queue = FairQueue::new(CoDel::build(&given, link)?, link.limit, FairQueueParams::build(&given, link)?);
                Self::FqCoDel(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("sfq-codel", None) => {
                Self::FqCoDel(sfq_codel::build(&given, link)?.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("fq-pie", None) => {
                Self::FqPie(Box::new(fq_pie::build(&given, link)?.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)))
            }
            ("jobs", None) => {
                let queue = Jobs::new(JobsParams::build(&given, link)?, link.limit, link.mtu);
                Self::Jobs(Box::new(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)))
            }
            ("nfq-codel", None) => {
                Self::NfqCoDel(nfq_codel::build(&given, link)?.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("fair", Some(inner)) => {
                let aqm = AnyAqm::build(&Given::new(inner.kind, &inner.params)?, link)?;
                let queue = FairQueue::new(aqm, link.limit, FairQueueParams::build(&given, link)?);
                Self::Fair(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
            ("fair", None) => {
                let message = "`fair` needs the algorithm of its flows, for instance { kind = \"pie\" }".into();
                return Err(ParamError { param: "of", message });
            }
            ("priority" | "shaper", _) => {
                let message = alloc::format!("`{}` can only be the outermost, or `priority` within `shaper`", spec.kind);
                return Err(ParamError { param: "of", message });
            }
            ("cake", None) => {
                let ecn = if given.switch("ecn") == Some(false) { EcnPolicy::Drop } else { ecn };
                let queue = Cake::new(CakeParams::build(&given, link)?, link.limit);
                Self::Cake(Box::new(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)))
            }
            ("dualpi2", None) => {
                let ecn = if given.switch("ecn") == Some(false) { EcnPolicy::Drop } else { ecn };
                let queue = DualPi2::new(DualPi2Params::build(&given, link)?, link.limit);
                Self::DualPi2(Box::new(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)))
            }
            (kind, Some(_)) => {
                return Err(ParamError { param: "of", message: alloc::format!("`{kind}` has no inner algorithm") });
            }
            (_, None) => {
                let aqm = AnyAqm::build(&given, link)?;
                Self::Managed(ManagedQueue::new(aqm, link.limit).with_ecn(ecn).with_rng(rng).with_overhead(link.overhead))
            }
        })
    }

    /// Builds the queue within another: the one chosen, else tail drop.
    pub(super) fn build_within(of: Option<&Chosen>, link: &LinkFacts, ecn: EcnPolicy, rng: Rng) -> Result<Self, ParamError> {
        match of {
            Some(chosen) => Self::build(chosen.kind, &chosen.params, chosen.of.as_deref(), link, ecn, rng),
            None => {
                let queue = ManagedQueue::new(AnyAqm::TailDrop(TailDrop), link.limit);
                Ok(Self::Managed(queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)))
            }
        }
    }
}

choose!(PlainQdisc { Managed, FqCoDel, Fair, NfqCoDel, FqPie, Cake, DualPi2, Jobs });
