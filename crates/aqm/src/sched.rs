//! Schedulers, and the queue disciplines a file can name.

mod apart;
pub mod cake;
pub(crate) mod classifier;
pub mod dualpi2;
pub mod fair_queue;
pub(crate) mod flow_table;
pub mod fq_pie;
pub mod jobs;
pub mod nfq_codel;
mod plain;
pub mod priority;
pub mod sfq_codel;
pub mod shaper;
mod succession;
mod timers;
pub mod weighted;

use crate::algo::codel::CoDel;
use crate::algo::pie::Pie;
use crate::algo::tail_drop::TailDrop;
use crate::algo::{self, AnyAqm};
use crate::aqm::{FlowHash, QueueView};
use crate::counters::Counters;
use crate::own::{Own, OwnKind};
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{EcnPolicy, ManagedQueue};
use crate::spec::{Chosen, Given, KindSpec, LinkFacts, ParamError, Value};
use alloc::boxed::Box;
use alloc::vec::Vec;
pub use apart::{Apart, Within};
use cake::Cake;
use dualpi2::DualPi2;
use fair_queue::FairQueue;
use goodqueue_units::{Instant, Rate, Rng};
use jobs::Jobs;
use nfq_codel::MCoDel;
pub use plain::PlainQdisc;
use priority::Priority;
use shaper::{Shaper, ShaperParams};
pub use succession::Succession;
use weighted::WeightedQueue;

/// Makes of an enum of queue disciplines one itself: one `match` a call.
macro_rules! choose {
    ($Type:ident { $($Variant:ident),+ }) => {
        impl<P: Packet> Qdisc<P> for $Type<P> {
            #[inline]
            fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
                match self { $(Self::$Variant(queue) => queue.enqueue(now, packet, sink),)+ }
            }
            #[inline]
            fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
                match self { $(Self::$Variant(queue) => queue.dequeue(now, sink),)+ }
            }
            #[inline]
            fn next_timer(&self) -> Option<Instant> {
                match self { $(Self::$Variant(queue) => queue.next_timer(),)+ }
            }
            #[inline]
            fn is_timeless(&self) -> bool {
                match self { $(Self::$Variant(queue) => queue.is_timeless(),)+ }
            }
            fn handle_timer(&mut self, now: Instant) {
                match self { $(Self::$Variant(queue) => queue.handle_timer(now),)+ }
            }
            fn set_weight(&mut self, flow: FlowHash, weight: f64) {
                match self { $(Self::$Variant(queue) => queue.set_weight(flow, weight),)+ }
            }
            fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
                match self { $(Self::$Variant(queue) => queue.set_link_rate(now, rate),)+ }
            }
            #[inline]
            fn view(&self) -> QueueView {
                match self { $(Self::$Variant(queue) => queue.view(),)+ }
            }
            fn counters(&self) -> Counters {
                match self { $(Self::$Variant(queue) => queue.counters(),)+ }
            }
            fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
                match self { $(Self::$Variant(queue) => queue.gauges(visit),)+ }
            }
        }
    };
}
use choose;

/// A plain queue within another.
pub type Inner<P> = Apart<PlainQdisc<Within<P>>>;

/// Any queue discipline, chosen at run time: one `match` a call.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one a link; a pointer would cost a cache miss a packet")]
pub enum AnyQdisc<P> {
    /// One queue under one algorithm.
    Managed(ManagedQueue<P, AnyAqm>),
    /// One queue without an algorithm, which most links have: nothing is asked about its packets.
    TailDrop(ManagedQueue<P, TailDrop>),
    /// Fair queueing over CoDel.
    FqCoDel(FairQueue<P, CoDel>),
    /// Fair queueing over any algorithm.
    Fair(FairQueue<P, AnyAqm>),
    /// Weighted fair queueing over CoDel by weight.
    NfqCoDel(WeightedQueue<P, MCoDel>),
    /// Fair queueing over PIE.
    FqPie(Box<FairQueue<P, Pie>>),
    /// One of several queues that are no flows.
    Several(Box<SeveralQdisc<P>>),
}

impl<P: Packet> From<PlainQdisc<P>> for AnyQdisc<P> {
    fn from(plain: PlainQdisc<P>) -> Self {
        match plain {
            PlainQdisc::Managed(queue) if matches!(queue.aqm(), AnyAqm::TailDrop(_)) => {
                Self::TailDrop(queue.map_aqm(|_| TailDrop))
            }
            PlainQdisc::Managed(queue) => Self::Managed(queue),
            PlainQdisc::FqCoDel(queue) => Self::FqCoDel(queue),
            PlainQdisc::Fair(queue) => Self::Fair(queue),
            PlainQdisc::NfqCoDel(queue) => Self::NfqCoDel(queue),
            PlainQdisc::FqPie(queue) => Self::FqPie(queue),
            PlainQdisc::Cake(queue) => Self::Several(Box::new(SeveralQdisc::Cake(*queue))),
            PlainQdisc::DualPi2(queue) => Self::Several(Box::new(SeveralQdisc::DualPi2(*queue))),
            PlainQdisc::Jobs(queue) => Self::Several(Box::new(SeveralQdisc::Jobs(*queue))),
        }
    }
}

choose!(AnyQdisc { Managed, TailDrop, FqCoDel, Fair, NfqCoDel, FqPie, Several });

/// A queue discipline of several queues: by class, by codepoint, or one within another. What may be within what is fixed, so that no
/// call ends up where it began.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one a link; a pointer would cost a cache miss a packet")]
pub enum SeveralQdisc<P> {
    /// Tins of fair queues.
    Cake(Cake<P>),
    /// A coupled dual queue.
    DualPi2(DualPi2<P>),
    /// Classes under JoBS.
    Jobs(Jobs<P>),
    /// Strict priority.
    Priority(Priority<Inner<P>>),
    /// A shaper.
    Shaper(Shaper<Inner<P>>),
    /// A shaper over strict priority.
    ShapedPriority(Shaper<Priority<Inner<P>>>),
    /// One queue under an algorithm of a program's own.
    Own(ManagedQueue<P, Own>),
    /// A queue in the place of another.
    Succession(Succession<P>),
}

choose!(SeveralQdisc { Cake, DualPi2, Jobs, Priority, Shaper, ShapedPriority, Own, Succession });

/// Fair queues with an algorithm and habits of their own.
const FLOW_KINDS: &[KindSpec] = &[fq_pie::KIND, sfq_codel::KIND, nfq_codel::KIND];

/// Every kind of queue discipline that a file can name.
pub fn kinds() -> impl Iterator<Item = &'static KindSpec> {
    algo::KINDS.iter().flat_map(|kinds| kinds.iter()).chain(fair_queue::KINDS).chain(FLOW_KINDS).chain([
        &cake::KIND,
        &dualpi2::KIND,
        &jobs::KIND,
        &priority::KIND,
        &shaper::KIND,
    ])
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
        Self::build_over(spec, values, None, link, ecn, rng)
    }

    /// Builds the discipline `spec` names, which puts the algorithm or queue `of` to work if it is one that does
    /// ([`KindSpec::is_over_another`]).
    ///
    /// # Errors
    /// As [`AnyQdisc::build`]; also when `of` is missing or one too many, or cannot stand there.
    pub fn build_over(
        spec: &'static KindSpec,
        values: &[(&'static str, Value)],
        of: Option<&Chosen>,
        link: &LinkFacts,
        ecn: EcnPolicy,
        rng: Rng,
    ) -> Result<Self, ParamError> {
        let mut queue = match spec.kind {
            "priority" | "shaper" => {
                Self::Several(Box::new(SeveralQdisc::build(&Given::new(spec, values)?, of, link, ecn, rng)?))
            }
            _ => Self::from(PlainQdisc::build(spec, values, of, link, ecn, rng)?),
        };
        queue.set_link_rate(Instant::ZERO, link.rate);
        Ok(queue)
    }

    /// Builds one queue under an algorithm of the program's own.
    ///
    /// # Errors
    /// When it cannot be built for this link.
    pub fn build_own(kind: &dyn OwnKind, link: &LinkFacts, ecn: EcnPolicy, rng: Rng) -> Result<Self, ParamError> {
        let queue = ManagedQueue::new(Own(kind.build(link)?), link.limit);
        let queue = queue.with_ecn(ecn).with_rng(rng).with_overhead(link.overhead);
        let mut queue = Self::Several(Box::new(SeveralQdisc::Own(queue)));
        queue.set_link_rate(Instant::ZERO, link.rate);
        Ok(queue)
    }

    /// The random stream, for hosts that replay recorded draws; `None` for kinds that draw while they are made, or that hold several queues.
    #[must_use]
    pub fn rng_mut(&mut self) -> Option<&mut Rng> {
        match self {
            Self::Managed(queue) => Some(queue.rng_mut()),
            Self::TailDrop(queue) => Some(queue.rng_mut()),
            Self::FqCoDel(queue) => Some(queue.rng_mut()),
            Self::Fair(queue) => Some(queue.rng_mut()),
            Self::FqPie(queue) => Some(queue.rng_mut()),
            Self::NfqCoDel(_) | Self::Several(_) => None,
        }
    }

    /// `queue` takes the place of this one: arrivals go to it, what waits here leaves first.
    #[cold]
    pub fn succeed(&mut self, queue: Self) {
        let first = Self::Several(Box::new(SeveralQdisc::Succession(Succession::new(queue))));
        let before = core::mem::replace(self, first);
        if let Self::Several(several) = self
            && let SeveralQdisc::Succession(succession) = &mut **several
        {
            succession.after(before);
        }
    }
}

impl<P: Packet> SeveralQdisc<P> {
    fn build(given: &Given<'_>, of: Option<&Chosen>, link: &LinkFacts, ecn: EcnPolicy, rng: Rng) -> Result<Self, ParamError> {
        if given.kind() == "priority" {
            return Ok(Self::Priority(priority(given, of, link, ecn, rng)?));
        }
        let params = ShaperParams::build(given, link)?;
        let within = params.facts_within(link);
        if let Some(chosen) = of.filter(|chosen| chosen.kind.kind == "priority") {
            let given = Given::new(chosen.kind, &chosen.params)?;
            let queue = priority(&given, chosen.of.as_deref(), &within, ecn, rng)?;
            return Ok(Self::ShapedPriority(Shaper::new(queue, params)));
        }
        let queue = Apart(PlainQdisc::build_within(of, &within, ecn, rng)?);
        Ok(Self::Shaper(Shaper::new(queue, params)))
    }
}

/// Strict priority between queues as `of` says, each with a random stream of its own.
fn priority<P: Packet>(
    given: &Given<'_>,
    of: Option<&Chosen>,
    link: &LinkFacts,
    ecn: EcnPolicy,
    mut rng: Rng,
) -> Result<Priority<Inner<P>>, ParamError> {
    let bands = given.number("bands").map_or(1, |bands| bands as usize);
    let mut band = || PlainQdisc::build_within(of, link, ecn, Rng::new(rng.next_u64())).map(Apart);
    let most_urgent = band()?;
    let others = (1..bands).map(|_| band()).collect::<Result<Vec<_>, _>>()?;
    Ok(Priority::new(most_urgent, others))
}
