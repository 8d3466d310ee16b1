//! The kinds of fair queue that a file can name, and the scheduler's settings from their
//! parameters.

use super::{ETHERNET, FairQueue, FairQueueParams, Hashing, Share, ShownBacklog, Victim};
use crate::algo::codel::{self, CoDel};
use crate::algo::{Algorithm, AnyAqm};
use crate::arithmetic::ARITHMETIC;
use crate::books::EcnPolicy;
use crate::outline::aside;
use crate::qdisc::Packet;
use crate::sched::{Scheduler, Setup};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Marking, Param, ParamError, ParamValues, Size, Unit};

pub(crate) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Param {
    Param::choice(name, words, default).about(doc).from_source(source)
}

pub(crate) const FLOWS: Param = Param::count("flows", 1024.0)
    .within(1.0, 65536.0)
    .about("queues that packets are hashed into")
    .from_source("RFC 8290 §5.2.4");
pub(crate) const QUANTUM: Param = Param::auto("quantum", Unit::Size, "one MTU and the header")
    .within(1.0, 1e9)
    .about("bytes that a flow may send in its turn")
    .from_source("Linux; RFC 8290 §5.2.3");
pub(crate) const HEADER: Param = Param::size("header", Size::Bytes(ETHERNET.get() as f64))
    .within(0.0, 1e4)
    .about("what a packet counts in a turn besides its own bytes: its Ethernet header; 0 where lengths include it")
    .from_source("Linux");
pub(crate) const MEMORY_LIMIT: Param = Param::size("memory_limit", Size::Bytes((32u32 << 20) as f64))
    .within(1.0, i32::MAX as f64)
    .about("bytes that all flows together may hold")
    .from_source("Linux");
const DROP_BATCH: Param = Param::count("drop_batch", 64.0)
    .within(1.0, 1e6)
    .about("most packets dropped at once from the fattest flow over the limit")
    .from_source("Linux");
pub(crate) const PERTURBATION: Param = Param::auto("perturbation", Unit::Duration, "never")
    .within(1e-3, 1e6)
    .about("how often the hash salt is drawn again")
    .from_source("RFC 8290 §4.1.1");
pub(crate) const HASH: Param = choice(
    "hash",
    &["direct", "set-associative"],
    "direct",
    "how a flow finds its queue: by its hash alone, or a free one of the eight that the hash names",
    "RFC 8290 §4.1.1; Linux sch_cake",
);
const GUARD: Param = choice(
    "guard",
    &["total", "flow"],
    "total",
    "whose backlog must exceed one MTU before CoDel may signal: all flows' or the flow's own",
    "Linux; RFC 8289 §4.4 reads as the flow's own",
);
const OF: Param = Param::auto("of", Unit::Algorithm, "none: it must be named")
    .about("the algorithm of each flow, with its own parameters")
    .from_source("RFC 8290 §4");

/// The kind `fq-codel`.
#[derive(Clone, Copy, Debug)]
pub struct FqCoDelKind;

const FQ_CODEL: KindSpec = KindSpec {
    base: Kind {
        kind: "fq-codel",
        aliases: &["FqCoDelQueueDisc"],
        title: "FQ-CoDel",
        summary: "Fair queueing by deficit round robin, CoDel on each flow",
        params: &[
            Param::on("ecn").about("mark; without, signals drop").from_source("Linux"),
            FLOWS,
            QUANTUM,
            HEADER,
            MEMORY_LIMIT,
            DROP_BATCH,
            PERTURBATION,
            HASH,
            GUARD,
            codel::TARGET,
            codel::INTERVAL,
            codel::CE_THRESHOLD,
            codel::REENTRY,
            ARITHMETIC,
        ],
        source: "RFC 8290",
    },
    family: Family::FlowQueueing,
    signal: "sojourn time, at each flow's head",
    marks: Marking::Possible,
    uses_weights: false,
};

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
        let ecn = if given.switch("ecn") == Some(false) { EcnPolicy::Drop } else { setup.ecn };
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

const FAIR: KindSpec = KindSpec {
    base: Kind {
        kind: "fair",
        aliases: &[],
        title: "Fair queueing",
        summary: "Fair queueing by deficit round robin over the algorithm named in `of`",
        params: &[OF, FLOWS, QUANTUM, HEADER, MEMORY_LIMIT, DROP_BATCH, PERTURBATION, HASH],
        source: "RFC 8290 §4",
    },
    family: Family::FlowQueueing,
    signal: "that of the algorithm, for each flow",
    marks: Marking::Possible,
    uses_weights: false,
};

impl Scheduler for FairKind {
    const KIND: KindSpec = FAIR;
    type Queue<P> = FairQueue<P, AnyAqm>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let Some(inner) = setup.of else {
            let message = "`fair` needs the algorithm of its flows, for instance { kind = \"pie\" }".into();
            return Err(ParamError { param: "of", message });
        };
        let aqm = AnyAqm::build_boxed(&ParamValues::new(inner.kind, &inner.params)?, setup.link)?;
        let params = FairQueueParams::build(given, setup.link)?;
        Ok(aside(|| {
            let mut queue = FairQueue::over(&*aqm, setup.link.limit, params);
            queue.set_up(setup);
            keep(queue)
        }))
    }
}

impl FairQueueParams {
    /// The scheduler's part of the parameters of a kind that has these of them: `flows`, `quantum`,
    /// `header`, `memory_limit`, `drop_batch`, `perturbation`, `hash` and `guard`.
    ///
    /// # Errors
    /// When a size is given as a time and the link's rate is unknown.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self::default();
        let count = |name| given.listed(name).and_then(|name| given.number(name)).map(|n| n as u32);
        let word = |name| given.listed(name).and_then(|name| given.choice(name));
        let bytes = |name| given.listed(name).map_or(Ok(None), |name| given.bytes(name, link.mtu, link.rate));
        let header = bytes("header")?.unwrap_or_default();
        Ok(Self {
            flows: count("flows").unwrap_or(defaults.flows),
            share: Share::Bytes(bytes("quantum")?.unwrap_or(link.mtu + header)),
            header,
            memory_limit: bytes("memory_limit")?.unwrap_or(defaults.memory_limit),
            victim: count("drop_batch").map_or(defaults.victim, |batch| Victim::Fattest { batch }),
            hashing: if word("hash") == Some("set-associative") { Hashing::SetAssociative } else { Hashing::Direct },
            perturbation: given.listed("perturbation").and_then(|name| given.duration(name)),
            shown: if word("guard") == Some("total") { ShownBacklog::Total } else { ShownBacklog::Flow },
        })
    }
}
