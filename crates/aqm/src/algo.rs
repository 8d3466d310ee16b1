//! The list of algorithms. Adding one is one file and one line here.

mod algorithm;

use crate::aqm::{Aqm, Comparison, Env, PacketView, QueueView, Verdict};
use crate::outline::{aside, finish};
use crate::spec::{KindSpec, LinkFacts, ParamError, ParamFault, ParamValues};
pub use algorithm::Algorithm;
use alloc::boxed::Box;
use goodqueue_base::units::{Instant, Packets};

/// Asks an algorithm for its verdict, out of line, so that it saves no registers for others that
/// need more. A browser loads every byte, so that there the compiler decides.
///
/// Not one generic function: of that, the compiler rewrites the arguments at each call, which costs
/// 27 instructions.
macro_rules! ask {
    ($Type:ty, $hook:ident, $aqm:expr, $env:expr, $packet:expr, $queue:expr) => {{
        #[cfg_attr(not(target_arch = "wasm32"), inline(never))]
        #[cfg_attr(target_arch = "wasm32", inline)]
        fn ask(aqm: &mut $Type, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
            aqm.$hook(env, packet, queue)
        }
        ask($aqm, $env, $packet, $queue)
    }};
}

/// Implements [`Aqm`] for a type whose forms each hold an algorithm: every hook goes to that.
macro_rules! forward_hooks {
    ($Name:ident { $($pattern:pat => $aqm:ident: $Type:ty),+ }) => {
        impl Aqm for $Name {
            #[inline]
            fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
                match self { $($pattern => ask!($Type, on_arrival, $aqm, env, packet, queue),)+ }
            }
            fn on_comparison(
                &mut self,
                env: &mut Env<'_>,
                packet: PacketView,
                queue: QueueView,
                waiting: &dyn Fn(usize) -> Option<PacketView>,
            ) -> Comparison {
                match self { $($pattern => $aqm.on_comparison(env, packet, queue, waiting),)+ }
            }
            #[inline]
            fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {
                match self { $($pattern => $aqm.on_overflow(env, packet, queue),)+ }
            }
            #[inline]
            fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
                match self { $($pattern => ask!($Type, on_departure, $aqm, env, head, queue),)+ }
            }
            #[inline]
            fn on_idle(&mut self, now: Instant) {
                match self { $($pattern => $aqm.on_idle(now),)+ }
            }
            #[inline]
            fn on_emptied(&mut self, now: Instant) {
                match self { $($pattern => $aqm.on_emptied(now),)+ }
            }
            fn on_evicted(&mut self, env: &mut Env<'_>, count: Packets) {
                match self { $($pattern => $aqm.on_evicted(env, count),)+ }
            }
            fn on_weight(&mut self, weight: f64) {
                match self { $($pattern => $aqm.on_weight(weight),)+ }
            }
            #[inline]
            fn on_sharing(&mut self, flows: u32) {
                match self { $($pattern => $aqm.on_sharing(flows),)+ }
            }
            fn on_rate_change(&mut self, env: &mut Env<'_>) {
                match self { $($pattern => $aqm.on_rate_change(env),)+ }
            }
            #[inline]
            fn next_update(&self) -> Option<Instant> {
                match self { $($pattern => $aqm.next_update(),)+ }
            }
            fn on_update(&mut self, env: &mut Env<'_>, head: Option<PacketView>, queue: QueueView) {
                match self { $($pattern => $aqm.on_update(env, head, queue),)+ }
            }
            fn reserve(&mut self, packets: usize) {
                match self { $($pattern => $aqm.reserve(packets),)+ }
            }
            fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
                match self { $($pattern => $aqm.gauges(visit),)+ }
            }
        }
    };
}

macro_rules! algorithms {
    ($($module:ident :: $Type:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Any algorithm, chosen at run time: one `match` a hook, no allocation.
        ///
        /// The tag has a place of its own: in one that it shares with a value, finding it takes
        /// three more instructions a hook.
        #[derive(Clone, Debug)]
        #[repr(u32)]
        #[allow(clippy::large_enum_variant, reason = "one lives inside each queue; a pointer would cost a cache miss a packet")]
        pub enum AnyAqm {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $Type($module::$Type),)+
        }

        /// Every kind of algorithm, in the order of the list.
        pub const KINDS: &[&[KindSpec]] = &[$(<$module::$Type as Algorithm>::KINDS,)+];

        impl AnyAqm {
            /// Builds the algorithm whose kind the parameters name.
            ///
            /// # Errors
            /// When the kind is unknown, or parameters contradict each other or the link.
            pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
                Self::build_boxed(given, link).map(|aqm| *aqm)
            }

            /// Builds the same as [`AnyAqm::build`], in a box: a value that is not returned takes
            /// no room on the stacks of all callers.
            pub(crate) fn build_boxed(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Box<Self>, ParamError> {
                $(if <$module::$Type as Algorithm>::KINDS.iter().any(|spec| spec.kind == given.kind()) {
                    return aside(|| finish(<$module::$Type as Algorithm>::build(given, link), |aqm| Box::new(Self::$Type(aqm))));
                })+
                Err(ParamError::new("kind", ParamFault::NotAnAlgorithm(given.kind())))
            }
        }

        forward_hooks!(AnyAqm { $(Self::$Type(aqm) => aqm: $module::$Type),+ });
    };
}

algorithms! {
    tail_drop::TailDrop,
    codel::CoDel,
    red::Red,
    pie::Pie,
    cp_aqm::CpAqm,
    cobalt::Cobalt,
    docsis_pie::DocsisPie,
    gsp::Gsp,
    blue::Blue,
    gsp_as::GspAs,
    codel_as::CoDelAs,
    pie_as::PieAs,
    rem::Rem,
    pi::Pi,
    avq::Avq,
    phantom_queue::PhantomQueue,
    choke::Choke,
    sfb::Sfb,
}
