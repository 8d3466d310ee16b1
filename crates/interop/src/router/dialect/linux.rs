//! Values of Linux's disciplines for parameters that a dialect has no word for, and the names of
//! cake that dialects share.

use super::words::{automatic, bytes, micros, model, only, word};
use super::{How, Word};
use goodqueue_aqm::spec::{ParamValues, Value};
use goodqueue_base::units::Duration;

/// Rows of the kinds that several dialects have.
const KINDS: &[(&str, &[&[Word]])] = &[
    ("codel", &[CODEL]),
    ("fq-codel", &[FLOWS, FQ_CODEL, CODEL]),
    ("pie", &[PIE, &[only("active_inactive", Value::Switch(false))]]),
    ("fq-pie", &[FLOWS, PIE, &[only("fat_flow_drop", Value::Switch(false))]]),
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
    only("target", micros(5_000)),
    only("interval", micros(100_000)),
    automatic("ce_threshold"),
    only("reentry", Value::Choice("rfc8289")),
    model("arithmetic"),
];

const FLOWS: &[Word] = &[
    only("flows", Value::Number(1024.0)),
    automatic("quantum"),
    only("header", bytes(14)),
    only("memory_limit", bytes(32 << 20)),
    automatic("perturbation"),
    only("hash", Value::Choice("direct")),
];

const FQ_CODEL: &[Word] = &[only("drop_batch", Value::Number(64.0)), only("guard", Value::Choice("total"))];

// Constants and defaults of net/sched/sch_pie.c and include/net/pie.h.
const PIE: &[Word] = &[
    only("target", micros(15_000)),
    only("t_update", micros(15_000)),
    only("max_burst", micros(150_000)),
    only("alpha", Value::Number(0.125)),
    only("beta", Value::Number(1.25)),
    only("mark_ecnth", Value::Number(0.1)),
    automatic("mean_pktsize"),
    only("dq_threshold", bytes(16_384)),
    only("estimator", Value::Choice("timestamp")),
    only("derandomize", Value::Switch(true)),
    only("cap_drop", Value::Switch(true)),
    only("bytes", Value::Switch(false)),
    model("arithmetic"),
];

const SFB: &[Word] = &[
    only("bin_size", Value::Number(20.0)),
    only("max", Value::Number(25.0)),
    only("d1", Value::Number(33.0 / 65535.0)),
    only("d2", Value::Number(3.0 / 65535.0)),
    only("penalty_rate", Value::Number(10.0)),
    only("penalty_burst", Value::Number(20.0)),
    only("rehash", micros(600_000_000)),
    only("warmup", micros(60_000_000)),
    model("arithmetic"),
];

/// cake works its target out from `rtt`: a twentieth of it (net/sched/sch_cake.c).
fn twentieth(given: &ParamValues<'_>) -> Option<Value> {
    Some(Value::Duration(Duration::ns(given.duration("interval")?.as_nanos() / 20)))
}

const CAKE: &[Word] = &[
    only("isolation", Value::Choice("triple-isolate")),
    only("tins", Value::Choice("diffserv3")),
    only("ack_filter", Value::Choice("off")),
    word("target", How::Derived(twentieth)),
    only("interval", micros(100_000)),
    only("p_inc", Value::Number(1.0 / 256.0)),
    only("p_dec", Value::Number(1.0 / 4096.0)),
    only("flows", Value::Number(1024.0)),
    automatic("quantum"),
    only("ingress", Value::Switch(false)),
    model("rate"),
    only("autorate", Value::Switch(false)),
    model("framing"),
    model("overhead"),
    model("mpu"),
    model("cells"),
    model("memlimit"),
    only("nat", Value::Switch(false)),
    only("split_gso", Value::Switch(true)),
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
