use super::*;
use crate::import::{Draft, ImportError, Input};
use goodqueue_lab::scenario::plan::{Plan, Scenario};

type Read = fn(&Input, Option<&str>) -> Result<Draft, ImportError>;

fn input(text: &str) -> Input {
    Input::read("x", text.as_bytes()).unwrap()
}

fn line(read: Read, text: &str, name: Option<&str>) -> (Scenario, String) {
    let draft = read(&input(text), name).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let text = draft.text();
    let plan = Plan::parse_without_files("test", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (plan.point(0).unwrap().plan, text)
}

/// Version, reader, text, rates down and up, and parts of the scenario.
type Row = (&'static str, Read, &'static str, u64, u64, &'static [&'static str]);

/// Files as their tools write or describe them, with rates of the scenario in bit/s and what must
/// be in it. A rate of zero: the direction is not known.
const CORPUS: &[Row] = &[
    (
        "sqm-scripts 1.6, as LuCI writes it",
        sqm,
        "config queue 'eth1'\n\toption enabled '0'\n\toption interface 'wan'\n\toption download '85000'\n\toption upload '10000'\n\
         \toption qdisc 'cake'\n\toption script 'piece_of_cake.qos'\n\toption linklayer 'ethernet'\n\toption overhead '44'\n\
         \toption shaper_burst '0'\n",
        85_000_000,
        10_000_000,
        &[
            "# The section is not enabled",
            "# Line 10: shaper_burst 0 is not in the scenario.",
            "tins = \"besteffort\"",
            "nat = true",
            "overhead = \"44 B\"",
        ],
    ),
    (
        "sqm-scripts 1.6, edited by hand",
        sqm,
        "config queue\n  option enabled 1\n  option interface \"pppoe-wan\"\n  option download 0\n  option upload 950\n\
         \x20 option script simple.qos\n  option egress_ecn NOECN\n  option linklayer atm\n  option overhead 30\n",
        950_000,
        0,
        &[
            "# Line 4: download 0: the router does not shape that direction.",
            "# simple.qos has a queue for each of several classes of traffic",
            "kind = \"fq-codel\"",
            "ecn = false",
            "limit = \"1001 packets\"",
            // An interface of PPP counts no Ethernet header.
            "overhead = \"30 B\"",
            "cells = \"atm\"",
            "quantum = \"300 B\", target = \"14.728 ms\", interval = \"109.728 ms\"",
            "burst = \"1749 B\"",
        ],
    ),
    (
        "sqm-scripts 1.6, marks of what arrives squashed, as untold",
        sqm,
        "config queue\n\toption enabled '1'\n\toption interface 'wan'\n\toption download '33000'\n\toption upload '7000'\n\
         \toption qdisc 'cake'\n\toption script 'layer_cake.qos'\n\toption iqdisc_opts 'nonat'\n",
        33_000_000,
        7_000_000,
        &[
            "queue = { kind = \"cake\", tins = \"besteffort\", ecn = true } ",
            "queue_up = { kind = \"cake\", nat = true, ecn = true } ",
        ],
    ),
    (
        "RouterOS 7.15, /export",
        routeros,
        "# 2025-01-07 10:00:00 by RouterOS 7.15\n/interface bridge\nadd name=bridge1\n/queue type\nadd cake-nat=yes cake-rtt=40ms \\\n\
         \x20   cake-flowmode=dual-dsthost kind=cake name=\"cake down\"\nadd kind=fq-codel name=fq\n/queue simple\n\
         add max-limit=95M/19500k name=all queue=\"cake down/fq\" target=ether1 priority=2/2\n",
        95_000_000,
        19_500_000,
        &[
            "# The target ether1 is taken to face the line.",
            "# Line 9: priority 2/2 is not",
            "dual-dsthost",
            "interval = \"40 ms\"",
            "kind = \"fq-codel\"",
        ],
    ),
    (
        "RouterOS 7.15, queue of a network",
        routeros,
        "/queue simple add name=home target=192.168.88.0/24 max-limit=8M/40M\n",
        40_000_000,
        8_000_000,
        &["is taken for the users' side", "limit = \"10 packets\"", "tail-drop"],
    ),
    (
        "LibreQoS 2.0",
        libreqos,
        "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,\
         Download Max Mbps,Upload Max Mbps,Comment,sqm\n7,\"A, B\",7,r,,,100.64.0.7,,1,1,94,18.5,,/fq_codel\n",
        94_000_000,
        18_500_000,
        &["tins = \"diffserv4\"", "kind = \"fq-codel\""],
    ),
    (
        "systemd 257",
        networkd,
        "[Match]\nName=enp1s0\n\n[Network]\nDHCP=yes\n\n[CAKE]\nBandwidth=18M\nOverheadBytes=18\nMPUBytes=64\nRTTSec=30ms\n\
         PriorityQueueingPreset=diffserv4\nWash=yes\n",
        18_000_000,
        0,
        &["# Line 13: Wash yes is not in the scenario.", "interval = \"30 ms\"", "diffserv4", "mpu = \"64 B\""],
    ),
    (
        "sqm-scripts 1.6, whose last bandwidth holds",
        sqm,
        "config queue\n\toption enabled '1'\n\toption interface 'wan'\n\toption download '33000'\n\toption upload '10000'\n\
         \toption script 'piece_of_cake.qos'\n\toption eqdisc_opts 'bandwidth 5Mbit'\n",
        33_000_000,
        5_000_000,
        &["rate_up = \"5000000 bit/s\""],
    ),
    (
        "systemd 257, less than an Ethernet header",
        networkd,
        "[Match]\nName=enp1s0\n[CAKE]\nBandwidth=18M\nOverheadBytes=-14\n",
        18_000_000,
        0,
        &["overhead -14 of cake counts less than an IP packet"],
    ),
    (
        "systemd 257, a class",
        networkd,
        "[Match]\nName=lan0\n[HierarchyTokenBucket]\nParent=root\nHandle=2\nDefaultClass=1\n[HierarchyTokenBucketClass]\nParent=root\n\
         ClassId=2:1\nRate=5M\nCeilRate=6500K\n[FairQueueingControlledDelay]\nParent=2:1\nTargetSec=0.01\nECN=no\n\
         [FairQueueing]\nParent=2:2\n",
        6_500_000,
        0,
        &["# [FairQueueing] of lan0 is not in the scenario.", "target = \"10 ms\"", "ecn = false"],
    ),
];

#[test]
fn each_file_tells_the_line_that_it_sets() {
    for (name, read, text, down, up, parts) in CORPUS {
        let (scenario, text) = line(*read, text, None);
        let link = scenario.main_link();
        assert_eq!(link.down.nominal_rate().as_bit_s(), *down, "{name}: {text}");
        if *up > 0 {
            assert_eq!(link.up.nominal_rate().as_bit_s(), *up, "{name}: {text}");
        } else {
            assert!(!text.contains("rate_up"), "{name}: {text}");
        }
        for part in *parts {
            assert!(text.contains(part), "{name}: {part}\n{text}");
        }
    }
}

#[test]
fn each_mechanism_of_sqm_counts_the_overhead_once() {
    let rows = [
        ("cake", "piece_of_cake.qos", "default", Some("44")),
        ("cake", "piece_of_cake.qos", "cake", Some("44")),
        // A table of sizes, and the classes of htb, add to what Linux counts: 14 B of Ethernet.
        ("cake", "piece_of_cake.qos", "tc_stab", Some("58")),
        ("cake", "piece_of_cake.qos", "htb_private", None),
        ("fq_codel", "simple.qos", "tc_stab", Some("58")),
        ("fq_codel", "simple.qos", "htb_private", Some("58")),
        ("fq_codel", "simplest.qos", "htb_private", Some("58")),
        ("fq_codel", "simplest_tbf.qos", "htb_private", Some("58")),
        ("fq_codel", "simplest.qos", "cake", None),
    ];
    for (qdisc, script, mechanism, overhead) in rows {
        let text = format!(
            "config queue\n option enabled 1\n option interface eth1\n option download 40000\n option upload 9000\n \
             option qdisc {qdisc}\n option script {script}\n option linklayer ethernet\n option overhead 44\n \
             option linklayer_adaptation_mechanism {mechanism}\n"
        );
        let (_, made) = line(sqm, &text, None);
        let counted = made.lines().find_map(|line| line.strip_prefix("overhead = \"")?.split(' ').next());
        assert_eq!(counted, overhead, "{qdisc} {script} {mechanism}: {made}");
    }
}

#[test]
fn wrong_settings_are_named_with_their_line() {
    let fault = |read: Read, text: &str| read(&input(text), None).unwrap_err().to_string();
    for (read, text, message) in [
        (sqm as Read, "config defaults\n", "x: has no section `config queue` with an interface"),
        (
            sqm,
            "config queue\noption interface a\nconfig queue\noption interface b\n",
            "x: has several of section `config queue` with an interface: a, b: name one with --dev",
        ),
        (
            sqm,
            "config queue\noption interface a\noption upload fast\n",
            "x: line 3: upload: `fast` is not a value of it: allowed 0 to 10000000000",
        ),
        (sqm, "config queue\nupload 5\n", "x: line 2: is not an option: expected option KEY VALUE"),
        (
            networkd,
            "[Match]\nName=a\n[CAKE]\nRTTSec=soon\n",
            "x: line 4: RTTSec: `soon` is not a value of it: allowed a time such as 5ms",
        ),
        (
            networkd,
            "[CAKE]\nBandwidth=1T\n",
            "x: line 2: Bandwidth: `1T` is not a value of it: allowed a rate such as 9500k, 1 kbit/s to 10 Tbit/s",
        ),
        (routeros, "/queue simple add target=ether1 max-limit=1M/1M queue=a/b\n", "x: has no /queue type b"),
        (routeros, "/ip address\nadd address=1.2.3.4\n", "x: has no queue of an interface or simple queue"),
        (
            sqm,
            "config queue\noption interface eth1\nconfig queue\noption interface eth1\n",
            "x: has several sections for eth1: leave one of them",
        ),
        (
            sqm,
            "config queue\noption enabled 1\noption interface a\noption script simplest.qos\noption download 0\noption upload 0\n",
            "x: sets no queue that gq has. Line 6: upload 0: the router does not shape that direction. \
             Line 5: download 0: the router does not shape that direction",
        ),
        (
            routeros,
            "/queue simple add target=ether1 max-limit=0/0\n",
            "x: sets no queue that gq has. The target ether1 is taken to face the line. \
             Line 1: max-limit 0: that direction is not shaped. Line 1: max-limit 0: that direction is not shaped",
        ),
        (
            networkd,
            "[Match]\nName=a\n[TokenBucketFilter]\nRate=5M\n",
            "x: sets no queue that gq has. [TokenBucketFilter] of a is not in the scenario",
        ),
        (
            networkd,
            "[Match]\nName=a\n[CAKE]\nOverheadBytes=-65\n",
            "x: line 4: OverheadBytes: `-65` is not a value of it: allowed -64 to 256",
        ),
        (libreqos, "a,b\n", "x: has no columns Circuit ID, Download Max Mbps and Upload Max Mbps"),
        (
            libreqos,
            "Circuit ID,Download Max Mbps,Upload Max\n7,25,5\n8,25,5\n7,50,5\n",
            "x: line 4: Circuit ID: `7` has other rates than in line 2",
        ),
        (libreqos, "Circuit ID,Upload Max Mbps\n", "x: has no column Download Max Mbps"),
        (libreqos, "circuit_id,Download Max,Upload Max\n", "x: has no column Circuit ID"),
        (
            libreqos,
            "Circuit ID;Circuit Name;Download Max Mbps;Upload Max Mbps\n",
            "x: has no columns Circuit ID, Download Max Mbps and Upload Max Mbps; its fields stand between semicolons: save it with commas",
        ),
    ] {
        assert_eq!(fault(read, text), message);
    }
}

#[test]
fn no_bytes_make_a_reader_panic() {
    for (_, read, text, ..) in CORPUS {
        for (at, _) in text.char_indices().step_by(3) {
            for change in ["", "\"", "\\", "=", "9", "\n", "ä"] {
                let changed = format!("{}{change}{}", &text[..at], &text[at + 1..]);
                let _ = read(&input(&changed), Some("ether1"));
                let _ = read(&input(&changed), None).map(|draft| draft.text());
            }
        }
    }
}
