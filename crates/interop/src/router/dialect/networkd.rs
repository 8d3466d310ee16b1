//! The dialect of `.network` files of systemd-networkd (systemd.network(5) of systemd 257).

use super::tc::twentieth;
use super::words::{key, model, only, word};
use super::write::in_whole_units;
use super::{Dialect, Fixed, Form, Hold, How, Marks, Style, Word, Write};
use goodqueue_base::units::{Bytes, Rate};

/// Sections and keys; a kind's word is the name of its section.
pub const NETWORKD: Dialect = Dialect { title: "networkd", style: &STYLE, forms: FORMS };

/// Quantities as systemd reads them: rates with a suffix of factor 1000.
pub const STYLE: Style = Style {
    micros: |micros| in_whole_units(micros, &[(1_000_000, "s"), (1_000, "ms"), (1, "us")]),
    bytes: |bytes: Bytes| bytes.get().to_string(),
    rate: |rate: Rate| in_whole_units(rate.as_bit_s(), &[(1_000_000, "M"), (1_000, "K"), (1, "")]),
    switch: |on| if on { "yes" } else { "no" },
};

const PACKETS: Hold = Hold::Packets("PacketLimit");

const FORMS: &[Form] = &[
    Form { kind: "tail-drop", word: "PFIFO", limit: PACKETS, marks: Marks::Never, words: &[] },
    Form { kind: "tail-drop", word: "BFIFO", limit: Hold::Bytes("LimitBytes"), marks: Marks::Never, words: &[] },
    Form { kind: "codel", word: "ControlledDelay", limit: PACKETS, marks: Marks::Key("ECN"), words: CODEL },
    Form { kind: "fq-codel", word: "FairQueueingControlledDelay", limit: PACKETS, marks: Marks::Key("ECN"), words: FQ_CODEL },
    Form { kind: "pie", word: "PIE", limit: PACKETS, marks: Marks::Never, words: PIE },
    Form { kind: "fq-pie", word: "FlowQueuePIE", limit: PACKETS, marks: Marks::Never, words: FQ_PIE },
    Form { kind: "sfb", word: "StochasticFairBlue", limit: PACKETS, marks: Marks::Always, words: SFB },
    Form { kind: "cake", word: "CAKE", limit: Hold::Unsaid, marks: Marks::Always, words: CAKE },
];

const CODEL: &[Word] = &[
    key("target", "TargetSec", Write::Time),
    key("interval", "IntervalSec", Write::Time),
    key("ce_threshold", "CEThresholdSec", Write::Time),
    only("reentry", Fixed::Choice("rfc8289")),
    model("arithmetic"),
];

const FQ_CODEL: &[Word] = &[
    key("flows", "Flows", Write::Number),
    key("quantum", "QuantumBytes", Write::Bytes),
    only("header", Fixed::Bytes(14)),
    key("memory_limit", "MemoryLimitBytes", Write::Bytes),
    only("drop_batch", Fixed::Number(64.0)),
    only("perturbation", Fixed::Automatic),
    only("hash", Fixed::Choice("direct")),
    only("guard", Fixed::Choice("total")),
    key("target", "TargetSec", Write::Time),
    key("interval", "IntervalSec", Write::Time),
    key("ce_threshold", "CEThresholdSec", Write::Time),
    only("reentry", Fixed::Choice("rfc8289")),
    model("arithmetic"),
];

// networkd has no word but the limit: the rest are the kernel's defaults.
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
    only("active_inactive", Fixed::Switch(false)),
    only("bytes", Fixed::Switch(false)),
    model("arithmetic"),
];

const FQ_PIE: &[Word] = &[
    only("flows", Fixed::Number(1024.0)),
    only("quantum", Fixed::Automatic),
    only("header", Fixed::Bytes(14)),
    only("memory_limit", Fixed::Bytes(32 << 20)),
    only("fat_flow_drop", Fixed::Switch(false)),
    only("perturbation", Fixed::Automatic),
    only("hash", Fixed::Choice("direct")),
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
    word(
        "tins",
        How::Choice(
            "PriorityQueueingPreset",
            &[
                ("diffserv3", "diffserv3"),
                ("besteffort", "besteffort"),
                ("precedence", "precedence"),
                ("diffserv4", "diffserv4"),
                ("diffserv8", "diffserv8"),
            ],
        ),
    ),
    word("ack_filter", How::Choice("AckFilter", &[("off", "no"), ("on", "yes"), ("aggressive", "aggressive")])),
    word("target", How::Derived(twentieth)),
    key("interval", "RTTSec", Write::Time),
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
    key("nat", "NAT", Write::Switch),
    only("split_gso", Fixed::Switch(true)),
    model("arithmetic"),
];
