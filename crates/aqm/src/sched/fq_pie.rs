//! FQ-PIE: fair queueing by deficit round robin with a PIE of its own for each flow.
//!
//! *Signal*: queue delay of each flow, sampled by the flow's updates; acts on arrival.
//!
//! *Law*: the rounds are those of [`super::fair_queue`]. An arriving packet is judged by its flow's PIE, with that flow's backlog
//! and delay; PIE is that of RFC 8033 without its time of rest, so always awake. Without room the arriving packet is dropped, whoever
//! fills the queue.
//!
//! *Parameters*: those of the rounds (RFC 8290 §5.2) and of PIE (RFC 8033 §4); `fat_flow_drop` off.
//!
//! *Departures*: Linux walks all flows at one tick; here each flow's updates have a phase of their own, drawn with its first packet, and
//! an empty flow at rest, whose updates would change nothing, asks for none. `memory_limit` counts packet bytes and is kept; Linux
//! only counts how often it was exceeded. The probability decays by 2 % an update at rest, by 1/64 in Linux. `fat_flow_drop` makes room as
//! FQ-CoDel does, for comparisons under overload. With `arithmetic = linux` the flows' PIEs are Linux's, packet by packet, and all flows are updated
//! at the multiples of `t_update`.
//!
//! *Limits*: the target holds for each flow, so the mean delay of the link is above that of PIE. Two flows in one queue share its fate.
//!
//! *Source*: Linux sch_fq_pie; RFC 8033; RFC 8290 §4.

use super::fair_queue::kinds::{FLOWS, HASH, MEMORY_LIMIT, PERTURBATION, QUANTUM};
use super::fair_queue::{FairQueue, FairQueueParams, Victim};
use crate::algo::pie::linux::{LinuxPie, LinuxPieParams};
use crate::algo::pie::{Pie, PieParams, params as pie};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::qdisc::Packet;
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};

/// The kind that a file can name.
pub const KIND: KindSpec = KindSpec {
    kind: "fq-pie",
    summary: "Fair queueing by deficit round robin, PIE on each flow",
    signal: "queue delay of each flow, on arrival",
    marks: true,
    params: &[
        FLOWS,
        QUANTUM,
        MEMORY_LIMIT,
        ParamSpec {
            name: "fat_flow_drop",
            unit: Unit::Switch,
            default: ParamDefault::Value(Value::Switch(false)),
            range: (0.0, 1.0),
            doc: "without room drop from the fattest flow, as fq-codel does, in place of the arriving packet",
            source: "our choice",
        },
        PERTURBATION,
        HASH,
        pie::TARGET,
        pie::T_UPDATE,
        pie::MAX_BURST,
        pie::ALPHA,
        pie::BETA,
        pie::MARK_ECNTH,
        pie::MEAN_PKTSIZE,
        pie::DQ_THRESHOLD,
        pie::ESTIMATOR,
        pie::DERANDOMIZE,
        pie::CAP_DROP,
        pie::BYTES,
        ARITHMETIC,
    ],
    source: "Linux sch_fq_pie; RFC 8033",
};

/// FQ-PIE with the parameters of [`KIND`].
///
/// # Errors
/// When a size is given as a time and the link's rate is unknown.
pub fn build<P: Packet>(given: &Given<'_>, link: &LinkFacts) -> Result<FairQueue<P, Pie>, ParamError> {
    let params = FairQueueParams::build(given, link)?;
    if Arithmetic::of(given) == Arithmetic::Linux {
        let pie = Pie::linux(LinuxPie::of_flow(LinuxPieParams::build(given, link)?));
        return Ok(FairQueue::new(pie, link.limit, FairQueueParams { victim: Victim::Arriving, ..params }));
    }
    let pie = Pie::new(PieParams { dozes: true, ..PieParams::build(given, link)? });
    let victim = if given.switch("fat_flow_drop") == Some(true) { params.victim } else { Victim::Arriving };
    Ok(FairQueue::new(pie, link.limit, FairQueueParams { victim, ..params }))
}
