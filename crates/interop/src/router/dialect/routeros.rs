//! The dialect of RouterOS 7 in `/queue type`.

use super::linux::{ISOLATIONS, TINS};
use super::words::{key, word};
use super::{Dialect, Form, Hold, How, Marks, Style, Word, Write};

/// Kinds and properties of queue types.
pub const ROUTEROS: Dialect = Dialect { title: "RouterOS", style: &STYLE, forms: FORMS };

/// Quantities as RouterOS reads them.
pub const STYLE: Style = Style { rates: [(1_000_000, "M"), (1_000, "k"), (1, "")], switch: ["no", "yes"] };

const FORMS: &[Form] = &[
    Form { kind: "tail-drop", word: "pfifo", limit: Hold::Packets("pfifo-limit"), marks: Marks::Never, words: &[] },
    Form { kind: "tail-drop", word: "bfifo", limit: Hold::Bytes("bfifo-limit"), marks: Marks::Never, words: &[] },
    Form { kind: "codel", word: "codel", limit: Hold::Packets("codel-limit"), marks: Marks::Key("codel-ecn"), words: &[CODEL] },
    Form {
        kind: "fq-codel",
        word: "fq-codel",
        limit: Hold::Packets("fq-codel-limit"),
        marks: Marks::Key("fq-codel-ecn"),
        words: &[FQ_CODEL],
    },
    Form { kind: "cake", word: "cake", limit: Hold::Bytes("cake-memlimit"), marks: Marks::Always, words: &[CAKE] },
];

const CODEL: &[Word] = &[
    key("target", "codel-target", Write::Time),
    key("interval", "codel-interval", Write::Time),
    key("ce_threshold", "codel-ce-threshold", Write::Time),
];

const FQ_CODEL: &[Word] = &[
    key("flows", "fq-codel-flows", Write::Number),
    key("quantum", "fq-codel-quantum", Write::Bytes),
    key("memory_limit", "fq-codel-memlimit", Write::Bytes),
    key("target", "fq-codel-target", Write::Time),
    key("interval", "fq-codel-interval", Write::Time),
    key("ce_threshold", "fq-codel-ce-threshold", Write::Time),
];

const CAKE: &[Word] = &[
    word("isolation", How::Choice("cake-flowmode", ISOLATIONS)),
    word("tins", How::Choice("cake-diffserv", TINS)),
    word("ack_filter", How::Choice("cake-ack-filter", &[("off", "none"), ("on", "filter"), ("aggressive", "aggressive")])),
    key("interval", "cake-rtt", Write::Time),
    key("nat", "cake-nat", Write::Switch),
];
