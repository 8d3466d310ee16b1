//! FQ-PIE: fair queueing by deficit round robin with a separate PIE for each flow.
//!
//! *Signal*: the queueing delay of each flow, sampled by the updates of the flow; acts on arrival.
//!
//! *Law*: the rounds are those of [`super::fair_queue`]. The PIE of its flow judges an arriving
//! packet, with the backlog and delay of that flow; it is the PIE of RFC 8033 without the rest
//! state, so it is always awake. Without room the arriving packet is dropped, whichever flow fills
//! the queue.
//!
//! *Parameters*: see `KINDS`. The defaults are those of the rounds (RFC 8290 §5.2) and of PIE (RFC
//! 8033 §4).
//!
//! *Deviations*: Linux updates all flows at one tick; here the updates of each flow have a phase of
//! their own, drawn with its first packet, and an empty flow at rest schedules none, as they would
//! change nothing. `memory_limit` counts packet bytes and is enforced; Linux only counts how often
//! it was exceeded. At rest the probability decays by 2 % per update, in Linux by 1/64.
//! `fat_flow_drop` makes room as FQ-CoDel does, for comparisons under overload. With
//! `arithmetic = linux` the PIEs of the flows are those of Linux packet by packet, and all flows
//! are updated at the multiples of `t_update`.
//!
//! *Limits*: the target holds for each flow, so the mean delay of the link is above that of PIE.
//! Two flows in one queue share it.
//!
//! *Source*: Linux sch_fq_pie; RFC 8033; RFC 8290 §4.

use super::fair_queue::kinds::{FLOWS, HASH, HEADER, MEMORY_LIMIT, PERTURBATION, QUANTUM};
use super::fair_queue::{FairQueue, FairQueueParams, Victim};
use crate::algo::Algorithm;
use crate::algo::pie::linux::{LinuxPie, LinuxPieParams};
use crate::algo::pie::{Pie, PieParams, params as pie};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::outline::aside;
use crate::qdisc::Packet;
use crate::sched::{Scheduler, Setup};
use crate::spec::{Family, Kind, KindSpec, Param, ParamError, ParamValues, TypedParam, join};
use alloc::boxed::Box;

const FAT_FLOW_DROP: TypedParam<bool> = TypedParam::off("fat_flow_drop")
    .about("without room drop from the fattest flow, as fq-codel does, in place of the arriving packet")
    .from_source("our choice");

/// Parameters of the rounds that Linux has, too.
const LINUX_ROUNDS: [&str; 6] =
    [FLOWS.name(), QUANTUM.name(), HEADER.name(), MEMORY_LIMIT.name(), PERTURBATION.name(), HASH.name()];

const ROUND: [Param; 7] =
    [FLOWS.param, QUANTUM.param, HEADER.param, MEMORY_LIMIT.param, FAT_FLOW_DROP.param, PERTURBATION.param, HASH.param];
const PARAMS: [Param; 20] = join(&[&ROUND, Pie::KINDS[0].base.params], &[pie::ACTIVE_INACTIVE.name()]);

const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "fq-pie",
        aliases: &["FqPieQueueDisc"],
        title: "FQ-PIE",
        summary: "Fair queueing by deficit round robin, PIE on each flow",
        params: &PARAMS,
        source: "Linux sch_fq_pie; RFC 8033",
    },
    Family::FlowQueueing,
    "queueing delay of each flow, on arrival",
)
.with_queue_bytes(384);

/// The kind `fq-pie`.
#[derive(Clone, Copy, Debug)]
pub struct FqPieKind;

impl Scheduler for FqPieKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<FairQueue<P, Pie>>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let params = FairQueueParams::build(given, setup.link)?;
        let is_linux = ARITHMETIC.read(given) == Arithmetic::Linux;
        let pie = if is_linux {
            Pie::linux(LinuxPie::of_flow(LinuxPieParams::build(given, setup.link, &LINUX_ROUNDS)?))
        } else {
            Pie::new(PieParams { dozes: true, ..PieParams::build(given, setup.link)? })
        };
        let drops_fattest = !is_linux && FAT_FLOW_DROP.read(given);
        let victim = if drops_fattest { params.victim } else { Victim::Arriving };
        let params = FairQueueParams { victim, ..params };
        let mut queue = aside(|| Box::write(Box::new_uninit(), FairQueue::over(&pie, setup.link.limit, params)));
        queue.set_up(setup);
        Ok(keep(queue))
    }
}
