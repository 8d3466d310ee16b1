//! The kinds of fair queue that a file can name, and the scheduler's settings from their
//! parameters.

use super::{FairQueue, FairQueueParams, Hashing, Share, ShownBacklog, Victim};
use crate::algo::codel::{CoDel, CoDelParams};
use crate::algo::{Algorithm, AnyAqm};
use crate::books::EcnPolicy;
use crate::outline::aside;
use crate::qdisc::Packet;
use crate::sched::{Scheduler, Setup};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, Size, TypedParam, Unit, join};
use goodqueue_base::units::{Bytes, Duration};

pub(crate) const FLOWS: TypedParam<u32> = TypedParam::count("flows", 1024)
    .within(1.0, 65536.0)
    .about("queues that packets are hashed into")
    .as_queues(&[])
    .from_source("RFC 8290 §5.2.4");
pub(crate) const QUANTUM: TypedParam<Option<Size>> = TypedParam::auto("quantum", "one MTU and the header")
    .within(1.0, 1e9)
    .about("bytes that a flow may send in its turn")
    .from_source("Linux; RFC 8290 §5.2.3");
pub(crate) const HEADER: TypedParam<Bytes> = TypedParam::size_in_bytes("header", Bytes::new(14))
    .within(0.0, 1e4)
    .about("what a packet counts in a turn besides its own bytes: its Ethernet header; 0 where lengths include it")
    .from_source("Linux");
pub(crate) const MEMORY_LIMIT: TypedParam<Bytes> = TypedParam::size_in_bytes("memory_limit", Bytes::new(32 << 20))
    .within(1.0, i32::MAX as f64)
    .about("bytes that all flows together may hold")
    .from_source("Linux");
pub(crate) const DROP_BATCH: TypedParam<u32> = TypedParam::count("drop_batch", 64)
    .within(1.0, 1e6)
    .about("most packets dropped at once from the fattest flow over the limit")
    .from_source("Linux");
pub(crate) const PERTURBATION: TypedParam<Option<Duration>> = TypedParam::auto("perturbation", "never")
    .within(1e-3, 1e6)
    .about("how often the hash salt is drawn again")
    .from_source("RFC 8290 §4.1.1");
pub(crate) const HASH: TypedParam<Hashing> = TypedParam::choice("hash", "direct")
    .about("how a flow finds its queue: by its hash alone, or a free one of the eight that the hash names")
    .from_source("RFC 8290 §4.1.1; Linux sch_cake");
const GUARD: TypedParam<&str> = TypedParam::word("guard", &["total", "flow"], "total")
    .about("whose backlog must exceed one MTU before CoDel may signal: all flows' or the flow's own")
    .from_source("Linux; RFC 8289 §4.4 reads as the flow's own");
const ECN: TypedParam<bool> = TypedParam::on("ecn").about("mark; without, signals drop").from_source("Linux");
const OF: Param = Param::auto("of", Unit::Algorithm, "none: it must be named")
    .about("the algorithm of each flow, with its own parameters")
    .from_source("RFC 8290 §4");

/// The parameters of the rounds, whatever judges the flows.
const ROUND: [Param; 7] =
    [FLOWS.param, QUANTUM.param, HEADER.param, MEMORY_LIMIT.param, DROP_BATCH.param, PERTURBATION.param, HASH.param];
const OF_FQ_CODEL: [Param; 14] = join(&[&[ECN.param], &ROUND, &[GUARD.param], &CoDelParams::PARAMS], &[]);
const OF_FAIR: [Param; 8] = join(&[&[OF], &ROUND], &[]);

/// The kind `fq-codel`.
#[derive(Clone, Copy, Debug)]
pub struct FqCoDelKind;

const FQ_CODEL: KindSpec = KindSpec::new(
    Kind {
        kind: "fq-codel",
        aliases: &["FqCoDelQueueDisc"],
        title: "FQ-CoDel",
        summary: "Fair queueing by deficit round robin, CoDel on each flow",
        params: &OF_FQ_CODEL,
        source: "RFC 8290",
    },
    Family::FlowQueueing,
    "sojourn time, at each flow's head",
)
.with_queue_bytes(192);

impl Scheduler for FqCoDelKind {
    const KIND: KindSpec = FQ_CODEL;
    type Queue<P> = FairQueue<P, CoDel>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let codel = CoDel::build(given, setup.link)?;
        let params = FairQueueParams::build(given, setup.link)?;
        let ecn = if ECN.read(given) { setup.ecn } else { EcnPolicy::Drop };
        Ok(aside(|| {
            let mut queue = FairQueue::over(&codel, setup.link.limit, params);
            queue.set_up(Setup { ecn, ..setup });
            keep(queue)
        }))
    }
}

/// The kind `fair`.
#[derive(Clone, Copy, Debug)]
pub struct FairKind;

const FAIR: KindSpec = KindSpec::new(
    Kind {
        kind: "fair",
        aliases: &[],
        title: "Fair queueing",
        summary: "Fair queueing by deficit round robin over the algorithm named in `of`",
        params: &OF_FAIR,
        source: "RFC 8290 §4",
    },
    Family::FlowQueueing,
    "that of the algorithm, for each flow",
)
.with_queue_bytes(size_of::<AnyAqm>() as u64 + 128);

impl Scheduler for FairKind {
    const KIND: KindSpec = FAIR;
    type Queue<P> = FairQueue<P, AnyAqm>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let Some(inner) = setup.chosen.of.as_deref() else {
            return Err(ParamError::new("of", ParamFault::NeedsAnother(given.kind())));
        };
        let aqm = AnyAqm::build_boxed(&ParamValues::new(inner.kind, &inner.params)?, setup.link)?;
        let params = FairQueueParams::build(given, setup.link)?;
        let flows = FairQueue::<P, _>::flows(&*aqm, &params);
        Ok(aside(|| {
            let mut queue = FairQueue::of(flows, setup.link.limit, params);
            queue.set_up(setup);
            keep(queue)
        }))
    }
}

impl FairQueueParams {
    /// The scheduler's part of the parameters of a kind that has `flows`, `quantum`, and some of
    /// `header`, `memory_limit`, `drop_batch`, `perturbation`, `hash` and `guard`.
    ///
    /// # Errors
    /// When a size is given as a time and the link's rate is unknown.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let bytes = |size: &TypedParam<Bytes>, unlisted| {
            if given.lists(size.name()) { size.bytes(given, link.mtu, link.rate) } else { Ok(unlisted) }
        };
        let header = bytes(&HEADER, Bytes::ZERO)?;
        let is_total = given.lists(GUARD.name()) && GUARD.read(given) == "total";
        let quantum = QUANTUM.bytes(given, link.mtu, link.rate)?;
        Ok(Self {
            share: Share::Bytes(quantum.unwrap_or(link.mtu + header)),
            header,
            memory_limit: bytes(&MEMORY_LIMIT, MEMORY_LIMIT.default)?,
            victim: Victim::Fattest { batch: DROP_BATCH.read_if_listed(given) },
            hashing: HASH.read_if_listed(given),
            perturbation: PERTURBATION.read_if_listed(given),
            shown: if is_total { ShownBacklog::Total } else { ShownBacklog::Flow },
            ..Self::read(given)
        })
    }
}
