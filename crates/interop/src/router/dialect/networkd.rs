//! The dialect of `.network` files of systemd-networkd (systemd.network(5) of systemd 257).

use super::linux::TINS;
use super::words::{key, word};
use super::{Dialect, Form, Hold, How, Marks, Style, Word, Write};

/// Sections and keys; a kind's word is the name of its section.
pub const NETWORKD: Dialect = Dialect { title: "networkd", style: &STYLE, forms: FORMS };

/// Quantities as systemd reads them: rates with a suffix of factor 1000.
pub const STYLE: Style = Style { rates: [(1_000_000, "M"), (1_000, "K"), (1, "")], switch: ["no", "yes"] };

const PACKETS: Hold = Hold::Packets("PacketLimit");

// Kinds without words have none but the limit: the rest are the kernel's defaults.
const FORMS: &[Form] = &[
    Form { kind: "tail-drop", word: "PFIFO", limit: PACKETS, marks: Marks::Never, words: &[] },
    Form { kind: "tail-drop", word: "BFIFO", limit: Hold::Bytes("LimitBytes"), marks: Marks::Never, words: &[] },
    Form { kind: "codel", word: "ControlledDelay", limit: PACKETS, marks: Marks::Key("ECN"), words: &[CODEL] },
    Form {
        kind: "fq-codel",
        word: "FairQueueingControlledDelay",
        limit: PACKETS,
        marks: Marks::Key("ECN"),
        words: &[FQ_CODEL, CODEL],
    },
    Form { kind: "pie", word: "PIE", limit: PACKETS, marks: Marks::Never, words: &[] },
    Form { kind: "fq-pie", word: "FlowQueuePIE", limit: PACKETS, marks: Marks::Never, words: &[] },
    Form { kind: "sfb", word: "StochasticFairBlue", limit: PACKETS, marks: Marks::Always, words: &[] },
    Form { kind: "cake", word: "CAKE", limit: Hold::Unsaid, marks: Marks::Always, words: &[CAKE] },
];

const CODEL: &[Word] = &[
    key("target", "TargetSec", Write::Time),
    key("interval", "IntervalSec", Write::Time),
    key("ce_threshold", "CEThresholdSec", Write::Time),
];

const FQ_CODEL: &[Word] = &[
    key("flows", "Flows", Write::Number),
    key("quantum", "QuantumBytes", Write::Bytes),
    key("memory_limit", "MemoryLimitBytes", Write::Bytes),
];

const CAKE: &[Word] = &[
    word(
        "isolation",
        How::Choice(
            "FlowIsolationMode",
            &[
                ("triple-isolate", "triple"),
                ("flowblind", "none"),
                ("srchost", "src-host"),
                ("dsthost", "dst-host"),
                ("hosts", "hosts"),
                ("flows", "flows"),
                ("dual-srchost", "dual-src-host"),
                ("dual-dsthost", "dual-dst-host"),
            ],
        ),
    ),
    word("tins", How::Choice("PriorityQueueingPreset", TINS)),
    word("ack_filter", How::Choice("AckFilter", &[("off", "no"), ("on", "yes"), ("aggressive", "aggressive")])),
    key("interval", "RTTSec", Write::Time),
    key("nat", "NAT", Write::Switch),
];
