//! The dialect of Linux's `tc`: kernel 6.12 and iproute2 of the same age.

pub(crate) mod red;

use super::linux::{ISOLATIONS, TINS};
use super::words::{ECN, automatic, key, micros, model, only, word};
use super::{Dialect, Form, Hold, How, Marks, Style, Word, Write};
use goodqueue_aqm::spec::Value;
use red::RED;

/// The words of `tc qdisc`.
pub const TC: Dialect = Dialect { title: "tc", style: &STYLE, forms: FORMS };

/// Quantities as `tc` reads them.
pub const STYLE: Style = Style { rates: [(1_000_000, "mbit"), (1_000, "kbit"), (1, "bit")], switch: ["off", "on"] };

const FORMS: &[Form] = &[
    Form { kind: "tail-drop", word: "pfifo", limit: Hold::Packets("limit"), marks: Marks::Never, words: &[] },
    Form { kind: "tail-drop", word: "bfifo", limit: Hold::Bytes("limit"), marks: Marks::Never, words: &[] },
    Form { kind: "codel", word: "codel", limit: Hold::Packets("limit"), marks: ECN, words: &[CODEL] },
    Form { kind: "fq-codel", word: "fq_codel", limit: Hold::Packets("limit"), marks: ECN, words: &[FQ_CODEL, CODEL] },
    Form { kind: "pie", word: "pie", limit: Hold::Packets("limit"), marks: ECN, words: &[PIE] },
    Form { kind: "fq-pie", word: "fq_pie", limit: Hold::Packets("limit"), marks: ECN, words: &[FQ_PIE, PIE] },
    Form { kind: "red", word: "red", limit: Hold::Needed("limit"), marks: Marks::Flag("ecn"), words: &[RED] },
    Form { kind: "ared", word: "red", limit: Hold::Needed("limit"), marks: Marks::Flag("ecn"), words: &[RED] },
    Form { kind: "sfb", word: "sfb", limit: Hold::Packets("limit"), marks: Marks::Always, words: &[SFB] },
    Form { kind: "cake", word: "cake", limit: Hold::Bytes("memlimit"), marks: Marks::Always, words: &[CAKE] },
    Form { kind: "dualpi2", word: "dualpi2", limit: Hold::Packets("limit"), marks: Marks::Always, words: &[DUALPI2] },
];

/// Disciplines that mark when they are not told.
pub(crate) const MARK_UNTOLD: &[&str] = &["fq_codel", "cake", "sfb", "dualpi2"];

const CODEL: &[Word] = &[
    key("target", "target", Write::Time),
    key("interval", "interval", Write::Time),
    key("ce_threshold", "ce_threshold", Write::Time),
];

const FQ_CODEL: &[Word] = &[
    key("flows", "flows", Write::Number),
    key("quantum", "quantum", Write::Bytes),
    key("memory_limit", "memory_limit", Write::Bytes),
    key("drop_batch", "drop_batch", Write::Number),
];

/// `alpha` and `beta` count sixteenths of a hertz (net/sched/sch_pie.c).
const SIXTEENTHS: Write = Write::Whole(16.0);

const DEPARTURE_RATE: How = How::Flags(&[("timestamp", "no_dq_rate_estimator"), ("departure-rate", "dq_rate_estimator")]);

const PIE: &[Word] = &[
    key("target", "target", Write::Time),
    key("t_update", "tupdate", Write::Time),
    key("alpha", "alpha", SIXTEENTHS),
    key("beta", "beta", SIXTEENTHS),
    word("estimator", DEPARTURE_RATE),
    word("bytes", How::Switch { on: "bytemode", off: "nobytemode" }),
];

const FQ_PIE: &[Word] = &[
    key("flows", "flows", Write::Number),
    key("quantum", "quantum", Write::Bytes),
    key("memory_limit", "memory_limit", Write::Bytes),
    key("mark_ecnth", "ecn_prob", Write::Whole(100.0)),
];

const SFB: &[Word] = &[
    key("bin_size", "target", Write::Number),
    key("max", "max", Write::Number),
    key("d1", "increment", Write::Number),
    key("d2", "decrement", Write::Number),
    key("penalty_rate", "penalty_rate", Write::Number),
    key("penalty_burst", "penalty_burst", Write::Number),
    key("rehash", "rehash", Write::Millis),
    key("warmup", "db", Write::Millis),
];

const CAKE: &[Word] = &[
    word("isolation", How::Flags(ISOLATIONS)),
    word("tins", How::Flags(TINS)),
    word("ack_filter", How::Flags(&[("off", "no-ack-filter"), ("on", "ack-filter"), ("aggressive", "ack-filter-aggressive")])),
    key("interval", "rtt", Write::Time),
    word("ingress", How::Switch { on: "ingress", off: "egress" }),
    word("nat", How::Switch { on: "nat", off: "" }),
];

// Linux's dualpi2 marks L4S packets from a step; options of the patch that is in Linux since 6.17.
const DUALPI2: &[Word] = &[
    key("target", "target", Write::Time),
    key("rtt_max", "max_rtt", Write::Time),
    key("t_update", "tupdate", Write::Time),
    key("alpha", "alpha", Write::Number),
    key("beta", "beta", Write::Number),
    key("k", "coupling_factor", Write::Whole(1.0)),
    key("min_th", "step_thresh", Write::Time),
    only("range", micros(0)),
    key("th_len", "min_qlen_step", Write::Number),
    only("scheduler", Value::Choice("wrr")),
    key("classic_weight", "classic_protection", Write::Whole(100.0)),
    automatic("tshift"),
    model("arithmetic"),
];
