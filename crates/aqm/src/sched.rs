//! Schedulers, and the queue disciplines that a file can name.
//!
//! Adding a scheduler is one file and one line in the list below. What may contain what follows
//! from the two parts of that list: a [`Nested`] discipline holds no other and may stand alone or
//! within another; a standalone one holds others and is never within them, except where its own
//! type allows it. Hence no call is recursive.

pub(crate) mod classifier;
mod flow_index;
pub(crate) mod flow_table;
mod places;
mod succession;
mod timers;
pub mod weighted;

use crate::algo::tail_drop::TailDrop;
use crate::algo::{self, Algorithm, AnyAqm};
use crate::aqm::{FlowHash, QueueView};
use crate::books::EcnPolicy;
use crate::counters::Counters;
use crate::custom::{CustomKind, Own};
use crate::external::{ExternalQueueKind, ExternalScheduler};
use crate::outline::aside;
use crate::qdisc::{Departure, Packet, Qdisc, QueueStatus, Sink};
use crate::queue::ManagedQueue;
use crate::spec::{KindAndParams, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Value};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use goodqueue_base::units::{Instant, Rate, Rng};
pub use succession::Succession;

/// A scheduler that a file can name: its description, and how it is built from parameters.
pub trait Scheduler {
    /// The kind in files and on the command line.
    const KIND: KindSpec;

    /// The queue discipline, holding packets of type `P`. In a box if it is large or rare: all
    /// disciplines share one enum, which is as large as its largest variant.
    type Queue<P>;

    /// Builds the discipline and hands it to `keep`, by a call of its own. Its link's rate is set
    /// afterward.
    ///
    /// It is not returned, since each of the functions that it were returned through would have
    /// room for it on the stack while it is built. Stacks of kernels and of small machines have few
    /// kilobytes.
    ///
    /// # Errors
    /// When parameters contradict each other or the link; single values are already checked
    /// against their ranges.
    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError>;
}

/// The facts that a queue discipline is built from besides its own parameters.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The discipline as it is given, with what is within.
    pub chosen: &'a KindAndParams,
    /// The link before which it stands, with framing and the queue's limit.
    pub link: &'a LinkFacts,
    /// Whether signals mark.
    pub ecn: EcnPolicy,
    /// The discipline's random stream.
    pub rng: Rng,
}

/// Implements [`Qdisc`] for an enum of queue disciplines by one `match` per call. What packets come
/// and go by is compiled into the caller: of a call that is not, the departure is written twice. A
/// browser loads every byte, so that there the compiler decides.
macro_rules! choose {
    ($Type:ident { $($Variant:ident),+ $(,)? }) => {
        impl<P: Packet> Qdisc<P> for $Type<P> {
            #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
            #[cfg_attr(target_arch = "wasm32", inline)]
            fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
                match self { $(Self::$Variant(queue) => queue.enqueue(now, packet, sink),)+ }
            }
            #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
            #[cfg_attr(target_arch = "wasm32", inline)]
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
            #[inline]
            fn held_until(&self) -> Instant {
                match self { $(Self::$Variant(queue) => queue.held_until(),)+ }
            }
            #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
            #[cfg_attr(target_arch = "wasm32", inline)]
            fn status(&self) -> QueueStatus {
                match self { $(Self::$Variant(queue) => queue.status(),)+ }
            }
            fn handle_timer(&mut self, now: Instant) {
                match self { $(Self::$Variant(queue) => queue.handle_timer(now),)+ }
            }
            fn set_weight(&mut self, flow: FlowHash, weight: f64) {
                match self { $(Self::$Variant(queue) => queue.set_weight(flow, weight),)+ }
            }
            fn set_leaf(&mut self, flow: FlowHash, leaf: &str) {
                match self { $(Self::$Variant(queue) => queue.set_leaf(flow, leaf),)+ }
            }
            fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
                match self { $(Self::$Variant(queue) => queue.set_link_rate(now, rate),)+ }
            }
            fn reserve(&mut self, packets: usize) {
                match self { $(Self::$Variant(queue) => queue.reserve(packets),)+ }
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
            fn rng_mut(&mut self) -> Option<&mut Rng> {
                match self { $(Self::$Variant(queue) => queue.rng_mut(),)+ }
            }
        }
    };
}

macro_rules! schedulers {
    (
        nested { $($nested:ident :: { $($NestedKind:ident as $Nested:ident),+ }),+ $(,)? }
        standalone { $($outer:ident :: { $($OuterKind:ident as $Outer:ident),+ }),+ $(,)? }
    ) => {
        $(pub mod $nested;)+
        $(pub mod $outer;)+

        /// Any queue discipline, chosen at run time by one `match` per call.
        #[derive(Clone, Debug)]
        #[repr(u32)]
        #[allow(clippy::large_enum_variant, reason = "one per link; a pointer would cost a cache miss per packet")]
        pub enum AnyQdisc<P> {
            /// One queue under one algorithm.
            Managed(ManagedQueue<P, AnyAqm>),
            /// One queue without an algorithm. Most links have this one, so it is not asked about
            /// its packets.
            TailDrop(ManagedQueue<P, TailDrop>),
            $($(#[doc = concat!("See [`", stringify!($nested), "`].")] $Nested(<$nested::$NestedKind as Scheduler>::Queue<P>),)+)+
            $($(#[doc = concat!("See [`", stringify!($outer), "`].")] $Outer(<$outer::$OuterKind as Scheduler>::Queue<P>),)+)+
            /// One queue under a program's own algorithm.
            Own(Box<ManagedQueue<P, Own>>),
            /// A queue of another program.
            ExternalScheduler(Box<ExternalScheduler<P>>),
            /// A queue that replaced earlier ones.
            Succession(Box<Succession<P>>),
        }

        choose!(AnyQdisc { Managed, TailDrop, $($($Nested,)+)+ $($($Outer,)+)+ Own, ExternalScheduler, Succession });

        /// A queue discipline that holds no other, chosen at run time.
        #[derive(Clone, Debug)]
        #[repr(u32)]
        #[allow(clippy::large_enum_variant, reason = "a pointer would cost a cache miss per packet")]
        pub enum Nested<P> {
            /// One queue under one algorithm.
            Managed(ManagedQueue<P, AnyAqm>),
            $($(#[doc = concat!("See [`", stringify!($nested), "`].")] $Nested(<$nested::$NestedKind as Scheduler>::Queue<P>),)+)+
        }

        choose!(Nested { Managed, $($($Nested),+),+ });

        /// Every scheduler, in the order of the list.
        const SCHEDULERS: &[KindSpec] =
            &[$($(<$nested::$NestedKind as Scheduler>::KIND,)+)+ $($(<$outer::$OuterKind as Scheduler>::KIND,)+)+];

        /// Schedulers with other queues within.
        const STANDALONE: &[KindSpec] = &[$($(<$outer::$OuterKind as Scheduler>::KIND,)+)+];

        impl<P: Packet> AnyQdisc<P> {
            fn of_kind(given: &ParamValues<'_>, setup: Setup<'_>) -> Result<Box<Self>, ParamError> {
                let place = Box::new_uninit();
                $($(if given.kind() == <$nested::$NestedKind as Scheduler>::KIND.base.kind {
                    return aside(|| {
                        <$nested::$NestedKind as Scheduler>::build(given, setup, |queue| Box::write(place, Self::$Nested(queue)))
                    });
                })+)+
                $($(if given.kind() == <$outer::$OuterKind as Scheduler>::KIND.base.kind {
                    return aside(|| {
                        <$outer::$OuterKind as Scheduler>::build(given, setup, |queue| Box::write(place, Self::$Outer(queue)))
                    });
                })+)+
                if TailDrop::KINDS.iter().any(|spec| spec.kind == given.kind()) {
                    let aqm = TailDrop::build(given, setup.link)?;
                    return Ok(aside(|| Box::write(place, Self::TailDrop(managed(aqm, setup)))));
                }
                let aqm = AnyAqm::build_boxed(given, setup.link)?;
                Ok(aside(|| Box::write(place, Self::Managed(managed(*aqm, setup)))))
            }
        }

        impl<P: Packet> Nested<P> {
            /// Builds a queue within another.
            fn of_kind(given: &ParamValues<'_>, setup: Setup<'_>) -> Result<Box<Self>, ParamError> {
                if STANDALONE.iter().any(|spec| spec.kind == given.kind()) {
                    return Err(ParamError::new("of", ParamFault::NotWithinAnother(given.kind())));
                }
                let place = Box::new_uninit();
                $($(if given.kind() == <$nested::$NestedKind as Scheduler>::KIND.base.kind {
                    return aside(|| {
                        <$nested::$NestedKind as Scheduler>::build(given, setup, |queue| {
                            Box::write(place, Self::$Nested(queue))
                        })
                    });
                })+)+
                let aqm = AnyAqm::build_boxed(given, setup.link)?;
                Ok(aside(|| Box::write(place, Self::Managed(managed(*aqm, setup)))))
            }
        }
    };
}

schedulers! {
    nested {
        fair_queue::{FqCoDelKind as FqCoDel, FairKind as Fair},
        fq_pie::{FqPieKind as FqPie},
        sfq_codel::{SfqCoDelKind as SfqCoDel},
        nfq_codel::{NfqCoDelKind as NfqCoDel},
        cake::{CakeKind as Cake},
        dualpi2::{DualPi2Kind as DualPi2},
        jobs::{JobsKind as Jobs},
    }
    standalone {
        cake_mq::{CakeMqKind as CakeMq},
        priority::{PriorityKind as Priority},
        shaper::{ShaperKind as Shaper},
        htb::{HtbKind as Htb},
    }
}

/// Every kind of queue discipline that a file can name: algorithms, then schedulers.
pub fn kinds() -> impl Iterator<Item = &'static KindSpec> + Clone {
    algo::KINDS.iter().flat_map(|kinds| kinds.iter()).chain(SCHEDULERS)
}

/// The kind of queues for which none is named.
pub const TAIL_DROP: &KindSpec = &<TailDrop as Algorithm>::KINDS[0];

/// The description of the kind `name`, if there is one. Aliases and other spellings of a name count
/// ([`Kind::is_called`](crate::spec::Kind::is_called)).
#[must_use]
pub fn kind(name: &str) -> Option<&'static KindSpec> {
    kinds().find(|spec| spec.is_called(name))
}

/// Disciplines of Linux that are none of the kinds, and the kind nearest to each.
const NEAR: [(&str, &str); 6] =
    [("pfifo_fast", "priority"), ("sfq", "sfq-codel"), ("fq", "fq-codel"), ("hfsc", "htb"), ("gred", "red"), ("drr", "fair")];

/// The description of the kind `name`.
///
/// # Errors
/// When there is no such kind: a sentence with the name of the nearest one, if one is near.
pub fn find(name: &str) -> Result<&'static KindSpec, UnknownKind> {
    goodqueue_base::spec::find(name, kinds()).map_err(|near| {
        let akin = NEAR.iter().find(|(other, _)| goodqueue_base::spec::is_same_name(other, name)).map(|(_, kind)| *kind);
        UnknownKind { name: goodqueue_base::spec::quantity::excerpt(name), near: akin.or(near) }
    })
}

/// A name that no kind of queue has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownKind {
    /// The name, cut to a readable length.
    pub name: String,
    /// The kind that was probably meant.
    pub near: Option<&'static str>,
}

impl UnknownKind {
    /// The description of the fault.
    #[must_use]
    pub fn message(&self) -> String {
        alloc::format!("`{}` is not a queue algorithm of this version", self.name)
    }

    /// The advice that goes with the message.
    #[must_use]
    pub fn help(&self) -> String {
        self.near.map_or_else(|| "`gq list aqm` names those there are".into(), |near| alloc::format!("did you mean `{near}`?"))
    }
}

impl core::fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

impl core::error::Error for UnknownKind {}

/// Bytes of a queue within another, with room for its first packets.
const NESTED_BYTES: u64 = 16 << 10;

/// The parameters of a queue; refused where it has an inner algorithm or queue, or classes, and its
/// kind has none.
fn read(chosen: &KindAndParams) -> Result<ParamValues<'_>, ParamError> {
    let given = ParamValues::new(chosen.kind, &chosen.params)?;
    if chosen.of.is_some() && !chosen.kind.is_over_another() {
        return Err(ParamError::new("of", ParamFault::NotOverAnother(chosen.kind.kind)));
    }
    if !chosen.classes.is_empty() && chosen.kind.class.is_none() {
        return Err(ParamError::new("class", ParamFault::Refused("belongs to `htb`".into())));
    }
    Ok(given)
}

/// One queue under one algorithm.
fn managed<P: Packet, A: crate::Aqm>(aqm: A, setup: Setup<'_>) -> ManagedQueue<P, A> {
    let Setup { link, ecn, rng, .. } = setup;
    ManagedQueue::new(aqm, link.limit).with_ecn(ecn).with_rng(rng).with_overhead(link.overhead)
}

impl<P: Packet> AnyQdisc<P> {
    /// Builds the discipline that `spec` names for a link.
    ///
    /// # Errors
    /// When a parameter is unknown, of the wrong unit, out of range, or contradicts another one or
    /// the link.
    pub fn build(
        spec: &'static KindSpec,
        values: &[(&'static str, Value)],
        link: &LinkFacts,
        ecn: EcnPolicy,
        rng: Rng,
    ) -> Result<Self, ParamError> {
        Self::build_over(&KindAndParams::new(spec, values.to_vec()), link, ecn, rng)
    }

    /// Builds a discipline with the algorithm, queue or classes within.
    ///
    /// # Errors
    /// As [`AnyQdisc::build`]; also when what is within is missing, superfluous or not allowed
    /// there.
    pub fn build_over(chosen: &KindAndParams, link: &LinkFacts, ecn: EcnPolicy, rng: Rng) -> Result<Self, ParamError> {
        Self::build_boxed(chosen, link, ecn, rng).map(|queue| *queue)
    }

    /// Builds the same as [`AnyQdisc::build_over`], in a box: for hosts whose stack is small, since
    /// a queue has a kilobyte and would be moved.
    ///
    /// # Errors
    /// As there.
    pub fn build_boxed(chosen: &KindAndParams, link: &LinkFacts, ecn: EcnPolicy, rng: Rng) -> Result<Box<Self>, ParamError> {
        let given = read(chosen)?;
        aside(|| chosen.check_memory())?;
        let setup = Setup { chosen, link, ecn, rng };
        let mut queue = Self::of_kind(&given, setup)?;
        queue.set_link_rate(Instant::ZERO, link.rate);
        Ok(queue)
    }

    /// Builds one queue under a program's own algorithm.
    ///
    /// # Errors
    /// When it cannot be built for this link.
    pub fn build_own(kind: &dyn CustomKind, link: &LinkFacts, ecn: EcnPolicy, rng: Rng) -> Result<Self, ParamError> {
        let chosen = &KindAndParams::new(kind.spec(), Vec::new());
        let queue = managed(Own(kind.build(link)?), Setup { chosen, link, ecn, rng });
        let mut queue = Self::Own(Box::new(queue));
        queue.set_link_rate(Instant::ZERO, link.rate);
        Ok(queue)
    }

    /// Opens a queue of another program.
    ///
    /// # Errors
    /// When the other program refuses it.
    pub fn open(kind: &dyn ExternalQueueKind, link: &LinkFacts, rng: Rng) -> Result<Self, ParamError> {
        Ok(Self::ExternalScheduler(Box::new(ExternalScheduler::new(kind.open(link, rng)?, link.limit))))
    }

    /// Replaces this queue by `queue`: arrivals go to the new one, and packets that wait here leave
    /// first.
    #[cold]
    pub fn succeed(&mut self, queue: Self) {
        if let Self::Succession(succession) = self {
            succession.succeed(queue);
            return;
        }
        let successor = Self::Succession(Box::new(Succession::new(queue)));
        let before = core::mem::replace(self, successor);
        if let Self::Succession(succession) = self {
            succession.retire(before);
        }
    }
}

impl<P: Packet> Nested<P> {
    /// Builds the queue `of` within that of `setup`, tail drop where there is none. In a
    /// box, for the reason of [`Scheduler::build`].
    fn build(of: Option<&KindAndParams>, setup: Setup<'_>) -> Result<Box<Self>, ParamError> {
        let Some(chosen) = of else {
            return Ok(aside(|| Box::new(Self::Managed(managed(AnyAqm::TailDrop(TailDrop), setup)))));
        };
        Self::of_kind(&read(chosen)?, Setup { chosen, ..setup })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn kinds_go_by_the_names_of_tc_and_ns3() {
        let cases = [
            ("fq_codel", "fq-codel"),
            ("FQ-CoDel", "fq-codel"),
            ("FqCoDelQueueDisc", "fq-codel"),
            ("fq_pie", "fq-pie"),
            ("pfifo", "tail-drop"),
            ("bfifo", "tail-drop"),
            ("SFB", "sfb"),
            ("cake_mq", "cake-mq"),
            ("DualPI2", "dualpi2"),
            ("tbf", "shaper"),
            ("prio", "priority"),
        ];
        for (name, expected) in cases {
            assert_eq!(kind(name).map(|spec| spec.kind), Some(expected), "{name}");
        }
    }

    #[test]
    fn no_name_is_that_of_two_kinds() {
        let names: Vec<&str> = kinds().flat_map(|spec| core::iter::once(spec.kind).chain(spec.aliases.iter().copied())).collect();
        for (number, name) in names.iter().enumerate() {
            let clash = names[..number].iter().find(|other| goodqueue_base::spec::is_same_name(name, other));
            assert_eq!(clash, None, "{name}");
        }
        assert!(NEAR.iter().all(|(name, near)| kind(name).is_none() && kind(near).is_some()));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let say = |name: &str| find(name).expect_err("unknown").to_string();
        assert_eq!(say("codle"), "`codle` is not a queue algorithm of this version; did you mean `codel`?");
        assert_eq!(
            say("FqCodelQueueDsc"),
            "`FqCodelQueueDsc` is not a queue algorithm of this version; did you mean `fq-codel`?"
        );
        assert_eq!(say("pfifo_fast"), "`pfifo_fast` is not a queue algorithm of this version; did you mean `priority`?");
        assert!(say("banana").ends_with("; `gq list aqm` names those there are"));
        assert!(say(&"x".repeat(100_000)).len() < 200);
    }
}
