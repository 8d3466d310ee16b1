//! The dialect of the column `sqm` of LibreQoS' `ShapedDevices.csv`: a kind, with the kernel's
//! defaults.

use super::tc::{STYLE, twentieth};
use super::words::{model, only, word};
use super::{Dialect, Fixed, Form, Hold, How, Marks, Word};

/// Kinds for circuits.
pub const LIBREQOS: Dialect = Dialect { title: "LibreQoS", style: &STYLE, forms: FORMS };

const FORMS: &[Form] = &[
    Form { kind: "fq-codel", word: "fq_codel", limit: Hold::Unsaid, marks: Marks::Always, words: FQ_CODEL },
    Form { kind: "cake", word: "cake", limit: Hold::Unsaid, marks: Marks::Always, words: CAKE },
];

const FQ_CODEL: &[Word] = &[
    only("flows", Fixed::Number(1024.0)),
    only("quantum", Fixed::Automatic),
    only("header", Fixed::Bytes(14)),
    only("memory_limit", Fixed::Bytes(32 << 20)),
    only("drop_batch", Fixed::Number(64.0)),
    only("perturbation", Fixed::Automatic),
    only("hash", Fixed::Choice("direct")),
    only("guard", Fixed::Choice("total")),
    only("target", Fixed::Micros(5_000)),
    only("interval", Fixed::Micros(100_000)),
    only("ce_threshold", Fixed::Automatic),
    only("reentry", Fixed::Choice("rfc8289")),
    model("arithmetic"),
];

// The tins are those of `default_sqm` in /etc/lqos.conf, which is for all circuits: diffserv4 as
// LibreQoS comes.
const CAKE: &[Word] = &[
    only("isolation", Fixed::Choice("triple-isolate")),
    only("tins", Fixed::Choice("diffserv4")),
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
