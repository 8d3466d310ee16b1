//! The kinds of fair queue that a file can name, and the scheduler's settings from their parameters.

use super::{FairQueueParams, Hashing, Share, ShownBacklog, Victim};
use crate::algo::codel;
use crate::arithmetic::ARITHMETIC;
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Size, Unit, Value};

pub(crate) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> ParamSpec {
    let default = ParamDefault::Value(Value::Choice(default));
    ParamSpec { name, unit: Unit::Choice(words), default, range: (0.0, 0.0), doc, source }
}

pub(crate) const FLOWS: ParamSpec = ParamSpec {
    name: "flows",
    unit: Unit::Count,
    default: ParamDefault::Value(Value::Number(1024.0)),
    range: (1.0, 65536.0),
    doc: "queues that packets are hashed into",
    source: "RFC 8290 §5.2.4",
};
pub(crate) const QUANTUM: ParamSpec = ParamSpec {
    name: "quantum",
    unit: Unit::Size,
    default: ParamDefault::Value(Value::Size(Size::Bytes(1514.0))),
    range: (1.0, 1e9),
    doc: "bytes a flow may send in its turn",
    source: "RFC 8290 §5.2.3",
};
pub(crate) const MEMORY_LIMIT: ParamSpec = ParamSpec {
    name: "memory_limit",
    unit: Unit::Size,
    default: ParamDefault::Value(Value::Size(Size::Bytes((32u32 << 20) as f64))),
    range: (1.0, i32::MAX as f64),
    doc: "bytes that all flows together may hold",
    source: "Linux",
};
const DROP_BATCH: ParamSpec = ParamSpec {
    name: "drop_batch",
    unit: Unit::Count,
    default: ParamDefault::Value(Value::Number(64.0)),
    range: (1.0, 1e6),
    doc: "most packets dropped at once from the fattest flow over the limit",
    source: "Linux",
};
pub(crate) const PERTURBATION: ParamSpec = ParamSpec {
    name: "perturbation",
    unit: Unit::Duration,
    default: ParamDefault::Auto("never"),
    range: (1e-3, 1e6),
    doc: "how often the hash salt is drawn anew",
    source: "RFC 8290 §4.1.1",
};
pub(crate) const HASH: ParamSpec = choice(
    "hash",
    &["direct", "set-associative"],
    "direct",
    "how a flow finds its queue: by its hash alone, or a free one of the eight that the hash names",
    "RFC 8290 §4.1.1; Linux sch_cake",
);
const GUARD: ParamSpec = choice(
    "guard",
    &["total", "flow"],
    "total",
    "whose backlog must exceed one MTU before CoDel may signal: all flows' or the flow's own",
    "Linux; RFC 8289 §4.4 reads as the flow's own",
);
const OF: ParamSpec = ParamSpec {
    name: "of",
    unit: Unit::Algorithm,
    default: ParamDefault::Auto("none: it must be named"),
    range: (0.0, 0.0),
    doc: "the algorithm of each flow, with its own parameters",
    source: "RFC 8290 §4",
};

/// The kinds of fair queue that a file can name.
pub const KINDS: &[KindSpec] = &[
    KindSpec {
        kind: "fq-codel",
        summary: "Fair queueing by deficit round robin, CoDel on each flow",
        signal: "sojourn time, at each flow's head",
        marks: true,
        params: &[
            FLOWS,
            QUANTUM,
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
    KindSpec {
        kind: "fair",
        summary: "Fair queueing by deficit round robin over the algorithm named in `of`",
        signal: "that of the algorithm, for each flow",
        marks: true,
        params: &[OF, FLOWS, QUANTUM, MEMORY_LIMIT, DROP_BATCH, PERTURBATION, HASH],
        source: "RFC 8290 §4",
    },
];

impl FairQueueParams {
    /// The scheduler's part of the parameters of a kind that has these of them: `flows`, `quantum`, `memory_limit`,
    /// `drop_batch`, `perturbation`, `hash` and `guard`.
    ///
    /// # Errors
    /// When a size is given as a time and the link's rate is unknown.
    pub fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = Self::default();
        let count = |name| given.listed(name).and_then(|name| given.number(name)).map(|n| n as u32);
        let word = |name| given.listed(name).and_then(|name| given.choice(name));
        let bytes = |name| given.listed(name).map_or(Ok(None), |name| given.bytes(name, link));
        Ok(Self {
            flows: count("flows").unwrap_or(defaults.flows),
            share: bytes("quantum")?.map_or(defaults.share, Share::Bytes),
            memory_limit: bytes("memory_limit")?.unwrap_or(defaults.memory_limit),
            victim: count("drop_batch").map_or(defaults.victim, |batch| Victim::Fattest { batch }),
            hashing: if word("hash") == Some("set-associative") { Hashing::SetAssociative } else { Hashing::Direct },
            perturbation: given.listed("perturbation").and_then(|name| given.duration(name)),
            shown: if word("guard") == Some("total") { ShownBacklog::Total } else { ShownBacklog::Flow },
        })
    }
}
