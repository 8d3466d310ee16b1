//! A comparison of the defaults of kinds with those of the implementation that is deployed: Linux's
//! discipline of that name as `tc qdisc add` makes it, and ns-3's where Linux has none.
//!
//! Kinds that neither has are not here; their defaults are those of their papers.

use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindSpec, Marking};

/// The deployed counterpart of a kind, and each of its settings.
#[derive(Clone, Copy, Debug)]
pub struct Deployed {
    /// The kind of queue here.
    pub ours: &'static str,
    /// The discipline that it is compared with.
    pub discipline: &'static str,
    /// Settings there, each with what it is here.
    pub settings: &'static [Setting],
}

/// A setting of the deployed discipline.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The setting's name there.
    pub name: &'static str,
    /// The setting's default there, as this crate writes values.
    pub value: &'static str,
    /// The setting's counterpart here.
    pub here: Here,
}

/// The counterpart here of a setting of the deployed discipline.
#[derive(Clone, Copy, Debug)]
pub enum Here {
    /// A parameter of the same default.
    Same(&'static str),
    /// A parameter of another default, and the reason.
    Other(&'static str, &'static str),
    /// No parameter: what takes its place.
    None(&'static str),
}

use Here::{None, Other, Same};

const fn setting(name: &'static str, value: &'static str, here: Here) -> Setting {
    Setting { name, value, here }
}

const BUFFER: Here = None("`limit`, the buffer of the link by default: a comparison gives all queues the same");
const NEEDED: &str = "tc adds no such discipline without it, so there is no default to follow: ns-2's and ns-3's automatic one";

/// Every kind that has a deployed counterpart.
pub const DEPLOYED: &[Deployed] = &[
    Deployed {
        ours: "tail-drop",
        discipline: "Linux pfifo",
        settings: &[setting("limit", "txqueuelen of the device, mostly 1000 packets", BUFFER)],
    },
    Deployed {
        ours: "codel",
        discipline: "Linux codel",
        settings: &[
            setting("limit", "1000 packets", BUFFER),
            setting("target", "5 ms", Same("target")),
            setting("interval", "100 ms", Same("interval")),
            setting("ecn", "false", Same("ecn")),
            setting("ce_threshold", "automatic: never", Same("ce_threshold")),
        ],
    },
    Deployed {
        ours: "fq-codel",
        discipline: "Linux fq_codel",
        settings: &[
            setting("limit", "10240 packets", BUFFER),
            setting("flows", "1024", Same("flows")),
            setting("quantum", "automatic: one MTU and the header", Same("quantum")),
            setting("target", "5 ms", Same("target")),
            setting("interval", "100 ms", Same("interval")),
            setting("ce_threshold", "automatic: never", Same("ce_threshold")),
            setting("memory_limit", "33554432 B", Same("memory_limit")),
            setting("drop_batch", "64", Same("drop_batch")),
            setting("ecn", "true", Same("ecn")),
        ],
    },
    Deployed {
        ours: "pie",
        discipline: "Linux pie",
        settings: &[
            setting("limit", "1000 packets", BUFFER),
            setting("target", "15 ms", Same("target")),
            setting("tupdate", "15 ms", Same("t_update")),
            setting("alpha", "0.125", Same("alpha")),
            setting("beta", "1.25", Same("beta")),
            setting("ecn", "false", Same("ecn")),
            setting("bytemode", "false", Same("bytes")),
            setting("dq_rate_estimator", "timestamp", Same("estimator")),
            setting("rest of RFC 8033 §5.3", "false", Same("active_inactive")),
            setting("burst allowance", "150 ms", Same("max_burst")),
        ],
    },
    Deployed {
        ours: "fq-pie",
        discipline: "Linux fq_pie",
        settings: &[
            setting("limit", "10240 packets", BUFFER),
            setting("flows", "1024", Same("flows")),
            setting("quantum", "automatic: one MTU and the header", Same("quantum")),
            setting("target", "15 ms", Same("target")),
            setting("tupdate", "15 ms", Same("t_update")),
            setting("alpha", "0.125", Same("alpha")),
            setting("beta", "1.25", Same("beta")),
            setting("memory_limit", "33554432 B", Same("memory_limit")),
            setting("ecn_prob", "0.1", Same("mark_ecnth")),
            setting("ecn", "false", Same("ecn")),
            setting("bytemode", "false", Same("bytes")),
            setting("dq_rate_estimator", "timestamp", Same("estimator")),
        ],
    },
    Deployed {
        ours: "red",
        discipline: "Linux red",
        settings: &[
            setting("limit", "none: it must be given", BUFFER),
            setting("avpkt", "none: it must be given", Other("mean_pktsize", NEEDED)),
            setting("min", "a third of max", Other("min_th", NEEDED)),
            setting("max", "a quarter of limit", Other("max_th", NEEDED)),
            setting("burst", "(2 min + max) / (3 avpkt)", Other("w_q", NEEDED)),
            setting("probability", "0.02", Other("max_p", "ns-2's and ns-3's for automatic thresholds")),
            setting("adaptive", "off", Same("adaptive")),
            setting("harddrop", "false", Same("harddrop")),
            setting("ecn", "false", Same("ecn")),
            setting("gentle", "false", Other("gentle", "ns-2's and ns-3's; Floyd recommends it; Linux does not have it")),
        ],
    },
    Deployed {
        ours: "ared",
        discipline: "ns-3 RedQueueDisc with ARED",
        settings: &[
            setting("MinTh, MaxTh", "automatic: max(5, targetdelay ptc / 2) packets", Same("min_th")),
            setting("QW", "automatic: by auto_w_q", Same("w_q")),
            setting("TargetDelay", "5 ms", Same("targetdelay")),
            setting("Interval", "500 ms", Same("interval")),
            setting("Top", "0.5", Same("top")),
            setting("Alpha", "0.01", Same("alpha")),
            setting("Beta", "0.9", Same("beta")),
            setting("MeanPktSize", "500 B", Same("mean_pktsize")),
            setting("Gentle", "true", Same("gentle")),
            setting("Wait", "true", Same("wait")),
        ],
    },
    Deployed {
        ours: "choke",
        discipline: "Linux choke",
        settings: &[
            setting("limit", "none: it must be given", BUFFER),
            setting("min", "a third of max", Other("min_th", NEEDED)),
            setting("max", "a quarter of limit", Other("max_th", NEEDED)),
            setting("burst", "(2 min + max) / 3", Other("w_q", NEEDED)),
            setting("probability", "0.02", Same("max_p")),
            setting("ecn", "false", Same("ecn")),
        ],
    },
    Deployed {
        ours: "sfb",
        discipline: "Linux sfb",
        settings: &[
            setting("limit", "1000 packets", BUFFER),
            setting("rehash", "600 s", Same("rehash")),
            setting("db", "60 s", Same("warmup")),
            setting("max", "25", Same("max")),
            setting("target", "20", Same("bin_size")),
            setting("increment", "0.000503547722590982", Same("d1")),
            setting("decrement", "0.000045777065690089265", Same("d2")),
            setting("penalty_rate", "10", Same("penalty_rate")),
            setting("penalty_burst", "20", Same("penalty_burst")),
            setting("ecn", "true", Other("ecn", "Linux has no switch for it; here a queue marks where the scenario asks for it")),
        ],
    },
    Deployed {
        ours: "cake",
        discipline: "Linux cake",
        settings: &[
            setting("bandwidth", "automatic: unlimited", Same("rate")),
            setting("autorate-ingress", "false", Same("autorate")),
            setting(
                "quantum without bandwidth",
                "1514 B",
                Other("quantum", "the queue knows the rate of the link that it stands before, and COBALT uses it, too"),
            ),
            setting("overhead", "raw", Other("framing", "the link's own framing")),
            setting("memlimit", "4 MiB, or the bytes of four times rtt at the rate", BUFFER),
            setting("nat", "false", Same("nat")),
            setting("split-gso", "true", Same("split_gso")),
            setting("flow isolation", "triple-isolate", Same("isolation")),
            setting("priority queue", "diffserv3", Same("tins")),
            setting("ack-filter", "off", Same("ack_filter")),
            setting("ingress", "false", Same("ingress")),
            setting("rtt", "100 ms", Same("interval")),
            setting("target", "5 ms", Same("target")),
            setting("flows of a tin", "1024", Same("flows")),
            setting("ecn", "true", Same("ecn")),
        ],
    },
    Deployed {
        ours: "cobalt",
        discipline: "COBALT in Linux cake",
        settings: &[
            setting("interval", "100 ms", Same("interval")),
            setting("target", "5 ms", Same("target")),
            setting("p_inc", "0.00390625", Same("p_inc")),
            setting("p_dec", "0.000244140625", Same("p_dec")),
            setting("ecn", "true", Other("ecn", "cake marks always; this kind is the algorithm alone")),
        ],
    },
    Deployed {
        ours: "dualpi2",
        discipline: "Linux dualpi2 (since 6.17)",
        settings: &[
            setting("limit", "10000 packets", BUFFER),
            setting("target", "15 ms", Same("target")),
            setting(
                "tupdate",
                "automatic: 16 ms; with target or rtt_max given the smaller of target and rtt_max / 3",
                Same("t_update"),
            ),
            setting("alpha", "automatic: 41/256; with target or rtt_max given 0.1 t_update / rtt_max^2", Same("alpha")),
            setting("beta", "automatic: 819/256; with target or rtt_max given 0.3 / rtt_max", Same("beta")),
            setting("coupling_factor", "2", Same("k")),
            setting("step_thresh", "1 ms", Same("min_th")),
            setting("ramp above step_thresh", "0 s", Same("range")),
            setting("min_qlen_step", "0", Same("th_len")),
            setting("classic_protection", "0.1", Same("classic_weight")),
            setting("ecn", "true", Same("ecn")),
            setting("drop_on_overload", "drop", None("always")),
            setting("drop_enqueue", "false", None("never: signals come on departure")),
        ],
    },
    Deployed {
        ours: "shaper",
        discipline: "Linux tbf",
        settings: &[
            setting("rate", "none: it must be given", Other("rate", "the link's rate, so that a bucket alone can be tried")),
            setting("burst", "none: it must be given", Other("burst", "the least that lets a full packet pass")),
            setting("limit or latency", "none: it must be given", BUFFER),
            setting("peakrate", "automatic: no bound but the link's", Same("peak")),
        ],
    },
    Deployed {
        ours: "htb",
        discipline: "Linux htb",
        settings: &[
            setting("r2q", "10", Same("r2q")),
            setting("default", "0, no class", None("the class with `default = true`; none by default")),
            setting(
                "direct_qlen",
                "automatic: that of the interface, 1000",
                Other("direct", "queues are compared at one buffer"),
            ),
        ],
    },
    Deployed {
        ours: "priority",
        discipline: "Linux prio",
        settings: &[
            setting("bands", "3", Same("bands")),
            setting("priomap", "1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", None("the class of a packet is its DSCP's class selector")),
        ],
    },
];

/// The deployed counterpart of `kind`, if it has one.
pub fn of(kind: &str) -> Option<&'static Deployed> {
    DEPLOYED.iter().find(|deployed| deployed.ours == kind)
}

/// The default of a parameter; that of `ecn` where it is none of the kind's own.
fn default_of(spec: &KindSpec, name: &str) -> String {
    match spec.param(name) {
        Some(param) => param.default_text(),
        Option::None => {
            assert!(name == "ecn" && spec.marks != Marking::Never, "{}: {name}", spec.kind);
            "false".into()
        }
    }
}

#[test]
fn every_default_is_the_deployed_one_or_has_a_reason() {
    for Deployed { ours: kind, settings, .. } in DEPLOYED {
        let spec = sched::kinds().find(|spec| spec.kind == *kind).expect("a kind");
        for Setting { name, value, here } in *settings {
            match here {
                Same(param) => assert_eq!(default_of(spec, param), *value, "{kind}: {name}"),
                Other(param, why) => {
                    assert_ne!(default_of(spec, param), *value, "{kind}: {name}");
                    assert!(!why.is_empty());
                }
                None(why) => assert!(!why.is_empty()),
            }
        }
    }
}
