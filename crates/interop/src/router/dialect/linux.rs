//! Values of Linux's disciplines for parameters that a dialect has no word for, and the names of
//! cake that dialects share.

use super::words::{model, only, word};
use super::{Fixed, How, Word};
use goodqueue_aqm::spec::{ParamValues, Value};
use goodqueue_base::units::Duration;

/// Rows of the kinds that several dialects have.
const KINDS: &[(&str, &[&[Word]])] = &[
    ("codel", &[CODEL]),
    ("fq-codel", &[FLOWS, FQ_CODEL, CODEL]),
    ("pie", &[PIE, &[only("active_inactive", Fixed::Switch(false))]]),
    ("fq-pie", &[FLOWS, PIE, &[only("fat_flow_drop", Fixed::Switch(false))]]),
    ("sfb", &[SFB]),
    ("cake", &[CAKE]),
];

/// Rows of a kind, in which each of its parameters has Linux's value.
pub(super) fn rows(kind: &str) -> impl Iterator<Item = &'static Word> {
    let tables = KINDS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, tables)| tables);
    tables.iter().copied().flatten()
}

// Linux's CoDel begins an episode as RFC 8289 §5.5 does.
const CODEL: &[Word] = &[
    only("target", Fixed::Micros(5_000)),
    only("interval", Fixed::Micros(100_000)),
    only("ce_threshold", Fixed::Automatic),
    only("reentry", Fixed::Choice("rfc8289")),
    model("arithmetic"),
];

const FLOWS: &[Word] = &[
    only("flows", Fixed::Number(1024.0)),
    only("quantum", Fixed::Automatic),
    only("header", Fixed::Bytes(14)),
    only("memory_limit", Fixed::Bytes(32 << 20)),
    only("perturbation", Fixed::Automatic),
    only("hash", Fixed::Choice("direct")),
];

const FQ_CODEL: &[Word] = &[only("drop_batch", Fixed::Number(64.0)), only("guard", Fixed::Choice("total"))];

// Constants and defaults of net/sched/sch_pie.c and include/net/pie.h.
const PIE: &[Word] = &[
    only("target", Fixed::Micros(15_000)),
    only("t_update", Fixed::Micros(15_000)),
    only("max_burst", Fixed::Micros(150_000)),
    only("alpha", Fixed::Number(0.125)),
    only("beta", Fixed::Number(1.25)),
    only("mark_ecnth", Fixed::Number(0.1)),
    only("mean_pktsize", Fixed::Automatic),
    only("dq_threshold", Fixed::Bytes(16_384)),
    only("estimator", Fixed::Choice("timestamp")),
    only("derandomize", Fixed::Switch(true)),
    only("cap_drop", Fixed::Switch(true)),
    only("bytes", Fixed::Switch(false)),
    model("arithmetic"),
];

const SFB: &[Word] = &[
    only("bin_size", Fixed::Number(20.0)),
    only("max", Fixed::Number(25.0)),
    only("d1", Fixed::Number(33.0 / 65535.0)),
    only("d2", Fixed::Number(3.0 / 65535.0)),
    only("penalty_rate", Fixed::Number(10.0)),
    only("penalty_burst", Fixed::Number(20.0)),
    only("rehash", Fixed::Micros(600_000_000)),
    only("warmup", Fixed::Micros(60_000_000)),
    model("arithmetic"),
];

/// cake works its target out from `rtt`: a twentieth of it (net/sched/sch_cake.c).
fn twentieth(given: &ParamValues<'_>) -> Option<Value> {
    Some(Value::Duration(Duration::ns(given.duration("interval")?.as_nanos() / 20)))
}

const CAKE: &[Word] = &[
    only("isolation", Fixed::Choice("triple-isolate")),
    only("tins", Fixed::Choice("diffserv3")),
    only("ack_filter", Fixed::Choice("off")),
    word("target", How::Derived(twentieth)),
    only("interval", Fixed::Micros(100_000)),
    only("p_inc", Fixed::Number(1.0 / 256.0)),
    only("p_dec", Fixed::Number(1.0 / 4096.0)),
    only("flows", Fixed::Number(1024.0)),
    only("quantum", Fixed::Automatic),
    only("ingress", Fixed::Switch(false)),
    model("rate"),
    only("autorate", Fixed::Switch(false)),
    model("framing"),
    model("overhead"),
    model("mpu"),
    model("cells"),
    model("memlimit"),
    only("nat", Fixed::Switch(false)),
    only("split_gso", Fixed::Switch(true)),
    model("arithmetic"),
];

/// Isolations of cake where a dialect's names are ours.
pub(super) const ISOLATIONS: &[(&str, &str)] = &[
    ("triple-isolate", "triple-isolate"),
    ("flowblind", "flowblind"),
    ("srchost", "srchost"),
    ("dsthost", "dsthost"),
    ("hosts", "hosts"),
    ("flows", "flows"),
    ("dual-srchost", "dual-srchost"),
    ("dual-dsthost", "dual-dsthost"),
];

/// Presets of cake's tins, whose names are the same everywhere.
pub(super) const TINS: &[(&str, &str)] = &[
    ("diffserv3", "diffserv3"),
    ("besteffort", "besteffort"),
    ("precedence", "precedence"),
    ("diffserv4", "diffserv4"),
    ("diffserv8", "diffserv8"),
];
