//! The words that `tc` has for the options of each kind: those that stand alone, and those that a
//! value follows.

use crate::router::dialect::tc::TC;
use crate::router::dialect::{Hold, How, Marks};
use goodqueue_base::units::Framing;

/// Whether a word of a kind has a value behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A word of its own.
    Flag,
    /// A word with a value.
    Key,
    /// A curve of HFSC, of which the next words are members.
    Curve,
}

/// The words of a kind besides those that the dialect writes: flags, then keys (tc/q_*.c).
const MORE: &[(&str, &[&str], &[&str])] = &[
    (
        "cake",
        &[
            "unlimited",
            "autorate-ingress",
            "nonat",
            "wash",
            "nowash",
            "split-gso",
            "no-split-gso",
            "ptm",
            "atm",
            "noatm",
            "raw",
            "datacentre",
            "lan",
            "metro",
            "regional",
            "internet",
            "oceanic",
            "satellite",
            "interplanetary",
        ],
        &["bandwidth", "overhead", "mpu", "fwmark"],
    ),
    (
        "dualpi2",
        &["drop_on_overload", "overflow", "drop_enqueue", "drop_dequeue", "split_gso", "no_split_gso", "l4s_ect", "any_ect"],
        &["memlimit", "typical_rtt"],
    ),
    ("hfsc", &[], &["default", "m1", "d", "m2", "umax", "dmax", "rate"]),
    (
        "htb",
        &["offload"],
        &[
            "default",
            "r2q",
            "direct_packets_stat",
            "direct_qlen",
            "ver",
            "prio",
            "quantum",
            "rate",
            "ceil",
            "burst",
            "buffer",
            "maxburst",
            "cburst",
            "cbuffer",
            "cmaxburst",
            "overhead",
            "mpu",
            "mtu",
            "linklayer",
            "level",
        ],
    ),
    ("red", &["nodrop", "adaptative"], &["min", "max", "avpkt", "burst", "bandwidth", "ewma", "Scell_log"]),
    (
        "tbf",
        &[],
        &[
            "rate",
            "burst",
            "buffer",
            "maxburst",
            "limit",
            "lat",
            "latency",
            "peakrate",
            "mtu",
            "minburst",
            "mpu",
            "overhead",
            "linklayer",
        ],
    ),
];

/// The curves of an HFSC class.
const CURVES: [&str; 4] = ["rt", "ls", "sc", "ul"];

/// The kind whose words another kind has, too.
pub(super) fn like(kind: &str) -> &str {
    match kind {
        "cake_mq" => "cake",
        // Alone netem holds packets, those on their way and those that wait for its rate.
        "pfifo_fast" | "netem" => "pfifo",
        kind => kind,
    }
}

/// The shape of a word of a kind; `None` where neither the dialect nor a shaper has it.
pub(super) fn shape(kind: &str, word: &str) -> Option<Shape> {
    let kind = like(kind);
    if kind == "hfsc" && CURVES.contains(&word) {
        return Some(Shape::Curve);
    }
    let is_framing = kind == "cake" && Framing::KEYWORDS.iter().any(|(name, _)| *name == word);
    let more = MORE.iter().find(|(known, ..)| *known == kind);
    if is_framing || more.is_some_and(|(_, flags, _)| flags.contains(&word)) {
        return Some(Shape::Flag);
    }
    if more.is_some_and(|(_, _, keys)| keys.contains(&word)) {
        return Some(Shape::Key);
    }
    let said = |how| match how {
        How::Key(key, _) if key == word => Some(Shape::Key),
        How::Flags(pairs) if pairs.iter().any(|(_, theirs)| *theirs == word) => Some(Shape::Flag),
        How::Switch { on, off } if on == word || off == word => Some(Shape::Flag),
        _ => None,
    };
    TC.forms.iter().filter(|form| form.word == kind).find_map(|form| {
        let is_limit = matches!(form.limit, Hold::Packets(key) | Hold::Bytes(key) | Hold::Needed(key) if key == word);
        let is_mark = match form.marks {
            Marks::Flags { on, off } => on == word || off == word,
            Marks::Flag(on) => on == word,
            Marks::Key(_) | Marks::Always | Marks::Never => false,
        };
        let own = form.words.iter().copied().flatten().find_map(|known| said(known.how));
        own.or(is_limit.then_some(Shape::Key)).or(is_mark.then_some(Shape::Flag))
    })
}

/// Words of cake for its `rtt`, in microseconds (man tc-cake).
pub(super) const RTTS: &[(&str, u64)] = &[
    ("datacentre", 100),
    ("lan", 1_000),
    ("metro", 10_000),
    ("regional", 30_000),
    ("internet", 100_000),
    ("oceanic", 300_000),
    ("satellite", 1_000_000),
    ("interplanetary", 3_600_000_000),
];

/// Whether each word counts on its own: those of cake's framing follow one another.
pub(super) fn is_one_of_several(kind: &str, word: &str) -> bool {
    let is_word = |known: &str| known == word;
    like(kind) == "cake"
        && (["raw", "overhead", "mpu", "atm", "ptm", "noatm"].into_iter().any(is_word)
            || Framing::KEYWORDS.iter().any(|(name, _)| is_word(name)))
}

/// The subject of a word, which words that exclude one another share.
pub(super) fn subject<'a>(kind: &str, word: &'a str) -> &'a str {
    let kind = like(kind);
    if kind == "cake" && RTTS.iter().any(|(name, _)| *name == word) {
        return "rtt";
    }
    if kind == "cake" && word == "unlimited" {
        return "bandwidth";
    }
    if shape(kind, word).is_none() {
        return word;
    }
    let rows = TC.forms.iter().filter(|form| form.word == kind).flat_map(|form| form.rows());
    for row in rows {
        let first = match row.how {
            How::Flags(pairs) if pairs.iter().any(|(_, theirs)| *theirs == word) => {
                pairs.iter().map(|(_, theirs)| *theirs).find(|theirs| !theirs.is_empty())
            }
            How::Switch { on, off } if on == word || off == word => Some(on),
            _ => None,
        };
        if let Some(first) = first {
            return first;
        }
    }
    // `nonat`, `no-split-gso` and `noecn`.
    let positive = word.strip_prefix("no-").or_else(|| word.strip_prefix("no")).unwrap_or(word);
    if shape(kind, positive) == Some(Shape::Flag) { positive } else { word }
}
