//! Checks of the configuration written for each target against the format that the target reads.

use goodqueue_interop::router::dialect::Refusal;
use goodqueue_interop::router::setup::{Setup, Shaping};
use goodqueue_interop::router::syntax::{self, Interface, Place};
use goodqueue_lab::scenario::plan::Plan;
use std::collections::BTreeSet;

const KINDS: &[&str] = &["tail-drop", "codel", "fq-codel", "pie", "fq-pie", "red", "ared", "sfb", "cake", "dualpi2"];

fn setup(queue: &str, overhead: &str, shaping: Shaping) -> Setup {
    let text = format!(
        "goodqueue = 1\nname = \"a\\nb\"\nduration = \"10 s\"\n[link.dsl]\nrate = \"50 Mbit/s\"\nrate_up = \"10 Mbit/s\"\n\
         delay = \"5 ms\"\noverhead = \"{overhead}\"\nbuffer = \"1000 packets\"\nbuffer_up = \"1000 packets\"\n\
         queue = {queue}\nqueue_up = {queue}\n[[traffic]]\nkind = \"bulk\"\n"
    );
    let plan = Plan::parse_without_files("test", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Setup::new(&plan.point(0).unwrap().plan, None, shaping).unwrap()
}

/// The setting of a kind that targets without a word for marking can say.
fn queue(kind: &str) -> String {
    match kind {
        "tail-drop" => "{ kind = \"shaper\", rate = \"9 Mbit/s\" }".to_owned(),
        "sfb" => "{ kind = \"sfb\", ecn = true }".to_owned(),
        "dualpi2" => "{ kind = \"dualpi2\", min_th = \"1 ms\", range = \"0 s\" }".to_owned(),
        kind => format!("{{ kind = \"{kind}\" }}"),
    }
}

fn place(dev: &str) -> Place {
    let dev = Interface::new(dev).unwrap();
    Place { ifb: dev.ifb(), dev, egress: None }
}

fn usual() -> Shaping {
    Shaping::percent(Shaping::USUAL_PERCENT).unwrap()
}

#[test]
fn tc_lines_of_cake_and_fq_codel_are_as_expected() {
    let script = syntax::tc::script(&setup(&queue("cake"), "22 B", usual()), &place("eth0")).unwrap();
    for line in [
        "# a b, by gq export tc.",
        "# up, leaves by eth0: 10 Mbit/s line, shaped to 9.5 Mbit/s (95 %)",
        "ip link show dev ifb4eth0 >/dev/null 2>&1 || ip link add name ifb4eth0 type ifb",
        "tc qdisc add dev eth0 handle ffff: ingress",
        "tc filter add dev eth0 parent ffff: protocol all prio 10 u32 match u32 0 0 action mirred egress redirect dev ifb4eth0",
    ] {
        assert!(script.lines().any(|found| found == line), "{line}\n{script}");
    }
    assert!(script.contains("tc qdisc add dev eth0 root handle 1: cake bandwidth 9500kbit "), "{script}");
    assert!(script.contains("tc qdisc add dev ifb4eth0 root handle 1: cake bandwidth 47500kbit "), "{script}");
    assert!(script.contains(" overhead 22\n"), "{script}");

    let script = syntax::tc::script(&setup(&queue("fq-codel"), "22 B", usual()), &place("eth0")).unwrap();
    // Linux counts the 14 bytes of Ethernet's header already.
    assert!(script.contains("root handle 1: stab overhead 8 linklayer ethernet htb default 1\n"), "{script}");
    assert!(script.contains("htb rate 9500kbit ceil 9500kbit burst 1600 cburst 1600 quantum 1514\n"), "{script}");
    assert!(script.contains("parent 1:1 handle 10: fq_codel flows 1024 "), "{script}");
    for (framing, words) in [
        ("pppoe-llcsnap", "stab overhead 26 linklayer atm htb"),
        ("docsis", "stab mtu 2047 tsize 2048 mpu 64 overhead 4 linklayer ethernet htb"),
    ] {
        let script = syntax::tc::script(&setup(&queue("fq-codel"), framing, usual()), &place("eth0")).unwrap();
        assert!(script.contains(words), "{script}");
    }
    for (framing, words) in
        [("pppoe-ptm", " overhead 30 ptm\n"), ("docsis", " overhead 18 mpu 64\n"), ("conservative", " overhead 48 atm\n")]
    {
        let script = syntax::tc::script(&setup(&queue("cake"), framing, usual()), &place("eth0")).unwrap();
        assert!(script.contains(words), "{script}");
    }
    let plain = syntax::tc::script(&setup(&queue("fq-codel"), "0 B", Shaping::None), &place("eth0")).unwrap();
    assert!(plain.contains("tc qdisc add dev eth0 root handle 1: fq_codel flows 1024 "), "{plain}");
}

/// Framings of lines, and whether the router shapes.
const FRAMINGS: &[(&str, Shaping)] = &[
    ("0 B", Shaping::Percent(95.0)),
    ("22 B", Shaping::Percent(95.0)),
    ("docsis", Shaping::Percent(95.0)),
    ("pppoe-llcsnap", Shaping::Percent(95.0)),
    ("pppoe-ptm", Shaping::Percent(95.0)),
    ("0 B", Shaping::None),
];

/// Tries the lines in a network namespace, where this kernel has the discipline.
#[cfg(target_os = "linux")]
#[test]
fn tc_takes_its_lines() {
    use std::process::Command;
    let run = |line: &str| {
        let output = Command::new("sh").args(["-c", line]).output().expect("a shell starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).trim().to_owned())
    };
    let space = format!("gq-tc-{}", std::process::id());
    let (made, why) = run(&format!(
        "ip netns add {space} && ip netns exec {space} ip link add v0 type veth peer name v1 && ip netns exec {space} tc qdisc show"
    ));
    if !made {
        println!("skipped: no network namespace with tc: {why}");
        run(&format!("ip netns del {space}"));
        return;
    }
    let mut faults = Vec::new();
    for kind in KINDS {
        for (overhead, shaping) in FRAMINGS {
            if *overhead == "pppoe-ptm" && *kind != "cake" {
                continue;
            }
            let script = syntax::tc::script(&setup(&queue(kind), overhead, *shaping), &place("v0")).unwrap();
            for line in script.lines().filter(|line| line.starts_with("tc ") || line.starts_with("ip ")) {
                let (good, why) = run(&format!("ip netns exec {space} sh -c '{line}'"));
                // tc has read the line when the kernel says that it lacks the discipline.
                let is_missing = why.contains("qdisc kind is unknown") || why.contains("TC classifier not found");
                if is_missing || why.starts_with("Unknown qdisc \"dualpi2\"") {
                    println!("skipped: {line}: {}", why.lines().next().unwrap_or_default());
                } else if !good {
                    faults.push(format!("{line}: {why}"));
                }
            }
        }
    }
    run(&format!("ip netns del {space}"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Sections of systemd.network(5) and systemd.netdev(5) that are written, with the keys that each
/// has there.
const NETWORKD: &[(&str, &[&str])] = &[
    ("Match", &["Name"]),
    ("NetDev", &["Name", "Kind"]),
    ("HierarchyTokenBucket", &["Parent", "Handle", "DefaultClass", "RateToQuantum"]),
    (
        "HierarchyTokenBucketClass",
        &[
            "Parent",
            "ClassId",
            "Priority",
            "QuantumBytes",
            "MTUBytes",
            "OverheadBytes",
            "Rate",
            "CeilRate",
            "BufferBytes",
            "CeilBufferBytes",
        ],
    ),
    ("PFIFO", &["Parent", "Handle", "PacketLimit"]),
    ("BFIFO", &["Parent", "Handle", "LimitBytes"]),
    ("PIE", &["Parent", "Handle", "PacketLimit"]),
    ("FlowQueuePIE", &["Parent", "Handle", "PacketLimit"]),
    ("StochasticFairBlue", &["Parent", "Handle", "PacketLimit"]),
    ("ControlledDelay", &["Parent", "Handle", "PacketLimit", "TargetSec", "IntervalSec", "ECN", "CEThresholdSec"]),
    (
        "FairQueueingControlledDelay",
        &[
            "Parent",
            "Handle",
            "PacketLimit",
            "MemoryLimitBytes",
            "Flows",
            "TargetSec",
            "IntervalSec",
            "QuantumBytes",
            "ECN",
            "CEThresholdSec",
        ],
    ),
    (
        "CAKE",
        &[
            "Parent",
            "Handle",
            "Bandwidth",
            "AutoRateIngress",
            "OverheadBytes",
            "MPUBytes",
            "CompensationMode",
            "UseRawPacketSize",
            "FlowIsolationMode",
            "NAT",
            "PriorityQueueingPreset",
            "FirewallMark",
            "Wash",
            "SplitGSO",
            "RTTSec",
            "AckFilter",
        ],
    ),
];

/// Whether systemd reads a value under this key.
fn networkd_reads(key: &str, value: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match key {
        _ if key.ends_with("Sec") => ["us", "ms", "s"].iter().any(|unit| value.strip_suffix(unit).is_some_and(digits)),
        _ if key.ends_with("Bytes") || key.ends_with("Limit") || matches!(key, "Flows" | "DefaultClass") => digits(value),
        "Rate" | "CeilRate" | "Bandwidth" => digits(value.trim_end_matches(['K', 'M', 'G'])),
        "ECN" | "NAT" | "Wash" | "SplitGSO" => matches!(value, "yes" | "no"),
        "CompensationMode" => matches!(value, "none" | "atm" | "ptm"),
        "AckFilter" => matches!(value, "yes" | "no" | "aggressive"),
        "FlowIsolationMode" => {
            ["none", "src-host", "dst-host", "hosts", "flows", "dual-src-host", "dual-dst-host", "triple"].contains(&value)
        }
        "PriorityQueueingPreset" => ["besteffort", "precedence", "diffserv8", "diffserv4", "diffserv3"].contains(&value),
        "Parent" => value == "root" || value == "0001:0001",
        "Handle" => value == "0001",
        "ClassId" => value == "0001:0001",
        "Name" => value == "eth0" || value == "ifb4eth0",
        "Kind" => value == "ifb",
        _ => false,
    }
}

#[test]
fn files_of_networkd_have_its_sections_and_keys() {
    for kind in KINDS.iter().filter(|kind| !["dualpi2", "red", "ared"].contains(*kind)) {
        for (overhead, shaping) in FRAMINGS {
            let files = syntax::networkd::files(&setup(&queue(kind), overhead, *shaping), &place("eth0"));
            if *kind != "cake" && !overhead.ends_with(" B") {
                let refusal = files.unwrap_err().to_string();
                assert!(refusal.ends_with("has no counterpart in networkd; the nearest is cake"), "{refusal}");
                continue;
            }
            let text = files.unwrap();
            let mut keys: &[&str] = &[];
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                    keys =
                        NETWORKD.iter().find(|(known, _)| *known == section).unwrap_or_else(|| panic!("[{section}]\n{text}")).1;
                    continue;
                }
                let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{line}\n{text}"));
                assert!(keys.contains(&key) && networkd_reads(key, value), "{line}\n{text}");
            }
            for file in ["50-eth0.network", "50-ifb4eth0.netdev", "50-ifb4eth0.network"] {
                assert!(text.contains(&format!("# /etc/systemd/network/{file}\n")), "{text}");
            }
        }
    }
    let dsl = syntax::networkd::files(&setup(&queue("cake"), "pppoe-ptm", usual()), &place("eth0")).unwrap();
    assert!(dsl.contains("\nOverheadBytes=30\nCompensationMode=ptm\n"), "{dsl}");
    let cable = syntax::networkd::files(&setup(&queue("cake"), "docsis", usual()), &place("eth0")).unwrap();
    assert!(cable.contains("\nOverheadBytes=18\nMPUBytes=64\nCompensationMode=none\n"), "{cable}");
    let low = syntax::networkd::files(&setup(&queue("codel"), "4 B", usual()), &place("eth0")).unwrap_err();
    assert_eq!(
        low.to_string(),
        "link.dsl.queue_up: framing of 4 B, less than Ethernet's 14 B, has no counterpart in networkd; the nearest is cake"
    );
}

/// Options of a queue in /etc/config/sqm, and which values they take.
fn sqm_reads(option: &str, value: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match option {
        "enabled" | "qdisc_advanced" | "squash_dscp" | "squash_ingress" | "qdisc_really_really_advanced" => {
            matches!(value, "0" | "1")
        }
        "interface" => value == "eth0",
        "download" | "upload" | "ilimit" | "elimit" => digits(value),
        "overhead" => digits(value.trim_start_matches('-')),
        "qdisc" => matches!(value, "cake" | "fq_codel" | "codel" | "pie"),
        "script" => matches!(value, "piece_of_cake.qos" | "layer_cake.qos" | "simplest.qos"),
        "ingress_ecn" | "egress_ecn" => matches!(value, "ECN" | "NOECN"),
        "itarget" | "etarget" => value.strip_suffix("ms").is_some_and(digits),
        "iqdisc_opts" | "eqdisc_opts" => value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -_.".contains(&byte)),
        "linklayer" => matches!(value, "ethernet" | "atm" | "none"),
        "linklayer_advanced" => value == "1",
        "tcMPU" | "tcTSIZE" => digits(value),
        _ => false,
    }
}

fn sqm(queue: &str) -> Result<String, Refusal> {
    sqm_over(queue, "22 B")
}

fn sqm_over(queue: &str, framing: &str) -> Result<String, Refusal> {
    syntax::sqm::section(&setup(queue, framing, usual()), &place("eth0"))
}

#[test]
fn a_section_of_sqm_has_its_options() {
    let each = |kind| ["22 B", "docsis", "pppoe-llcsnap"].map(|framing| (kind, framing));
    for (kind, framing) in ["cake", "fq-codel", "codel", "pie"].map(each).as_flattened() {
        let text = sqm_over(&queue(kind), framing).unwrap();
        let mut seen = BTreeSet::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if line == "config queue 'eth0'" {
                continue;
            }
            let rest = line.strip_prefix("\toption ").unwrap_or_else(|| panic!("{line}"));
            let (option, value) = rest.split_once(' ').unwrap();
            let value = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap();
            assert!(sqm_reads(option, value), "{line}\n{text}");
            assert!(seen.insert(option.to_owned()), "{option} twice\n{text}");
        }
        assert!(text.contains("\toption download '47500'\n\toption upload '9500'\n"), "{text}");
    }
    let cake = sqm(&queue("cake")).unwrap();
    assert!(cake.contains("option script 'layer_cake.qos'") && cake.contains("option overhead '22'"), "{cake}");
    let plain = sqm(r#"{ kind = "cake", tins = "besteffort" }"#).unwrap();
    assert!(plain.contains("option script 'piece_of_cake.qos'"), "{plain}");
    for (kind, framing, options) in [
        ("cake", "pppoe-ptm", &["linklayer 'ethernet'", "overhead '30'"][..]),
        ("cake", "conservative", &["linklayer 'atm'", "overhead '48'"]),
        ("fq-codel", "conservative", &["linklayer 'atm'", "overhead '34'"]),
        ("fq-codel", "docsis", &["linklayer 'ethernet'", "overhead '4'", "tcMPU '64'", "tcTSIZE '2048'"]),
    ] {
        let text = sqm_over(&queue(kind), framing).unwrap();
        for option in options {
            assert!(text.contains(&format!("\toption {option}\n")), "{option}\n{text}");
        }
    }
    // Words of cake's that sqm has no option for are handed on.
    let dsl = sqm_over(&queue("cake"), "pppoe-ptm").unwrap();
    assert!(dsl.contains(" ptm'\n"), "{dsl}");
    let cable = sqm_over(&queue("cake"), "docsis").unwrap();
    assert!(cable.contains(" mpu 64'\n"), "{cable}");
    let codel = sqm(&queue("codel")).unwrap();
    assert!(codel.contains("option etarget '5ms'") && codel.contains("option overhead '8'"), "{codel}");
}

#[test]
fn sqm_refuses_what_its_scripts_do_not_set() {
    let message = |queue: &str| sqm(queue).unwrap_err().to_string();
    let dsl = sqm_over(&queue("fq-codel"), "pppoe-ptm").unwrap_err().to_string();
    let refused = "link.dsl.queue: framing in ptm cells around fq-codel has no counterpart in sqm; the nearest is cake";
    assert_eq!(dsl, refused);
    assert_eq!(message(&queue("sfb")), "link.dsl.queue_up: `sfb` has no counterpart in sqm; the nearest is fq-codel");
    let text = "goodqueue = 1\nduration = \"10 s\"\n[link.l]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 MB\"\nbuffer_up = \"1 MB\"\n\
                queue = \"cake\"\nqueue_up = \"fq-codel\"\n[[traffic]]\nkind = \"bulk\"\n";
    let plan = Plan::parse_without_files("test", text).unwrap();
    let setup = Setup::new(&plan.point(0).unwrap().plan, None, usual()).unwrap();
    let refusal = syntax::sqm::section(&setup, &place("eth0")).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "cake down and fq_codel up have no counterpart in sqm: it has one queue for both; the nearest is cake for both"
    );
}

#[test]
fn queues_that_see_one_host_behind_a_router_are_mentioned() {
    let script = |queue: &str, act: fn(&mut Setup)| {
        let mut setup = setup(queue, "22 B", usual());
        act(&mut setup);
        syntax::tc::script(&setup, &place("eth0")).unwrap()
    };
    let note = "--nat lets it tell the hosts behind it apart";
    let open = script("{ kind = \"cake\" }", Setup::mention_nat);
    assert!(open.contains(note), "{open}");
    let decided = script("{ kind = \"cake\", nat = false }", Setup::mention_nat);
    assert!(!decided.contains(note), "{decided}");
    let behind = script("{ kind = \"cake\" }", Setup::look_behind_nat);
    assert!(behind.contains(" nat ") && !behind.contains(note), "{behind}");
    assert!(!script("{ kind = \"fq-codel\" }", Setup::mention_nat).contains("nat"));
}

/// The text for each target whose words differ.
fn each_target(setup: &Setup) -> [(&'static str, Result<String, Refusal>); 5] {
    let place = place("eth0");
    [
        ("tc", syntax::tc::script(setup, &place)),
        ("sqm", syntax::sqm::section(setup, &place)),
        ("networkd", syntax::networkd::files(setup, &place)),
        ("routeros", syntax::routeros::commands(setup, &place)),
        ("libreqos", syntax::libreqos::row(setup, &[]).map(|circuits| circuits.csv + &circuits.notes.join("\n"))),
    ]
}

#[test]
fn the_buffer_of_a_line_is_no_limit_of_a_queue() {
    for (kind, limits) in [
        ("cake", ["memlimit", "cake-memlimit"].as_slice()),
        ("fq-codel", &[" limit 1000", "option ilimit", "PacketLimit", "fq-codel-limit"]),
    ] {
        for (target, text) in each_target(&setup(&queue(kind), "0 B", usual())) {
            let text = text.unwrap();
            assert!(!limits.iter().any(|limit| text.contains(limit)), "{target}: {text}");
        }
    }
    let own = |table: &str| syntax::tc::script(&setup(table, "0 B", usual()), &place("eth0")).unwrap();
    let limited = own("{ kind = \"fq-codel\", limit = \"700 packets\" }");
    assert_eq!(limited.matches(" fq_codel limit 700 flows ").count(), 2, "{limited}");
    for table in ["{ kind = \"cake\", limit = \"3 MB\" }", "{ kind = \"cake\", memlimit = \"3 MB\" }"] {
        let limited = own(table);
        assert_eq!(limited.matches(" memlimit 3000000 ").count(), 2, "{limited}");
    }
    // tc refuses red without a limit.
    let red = own("{ kind = \"red\", gentle = false, wait = false, queue_in_bytes = true, use_mark_p = false }");
    assert!(red.contains(" red limit 1500000 ") && red.contains("# "), "{red}");
    assert!(red.contains("#   red needs limit: it is what the line's buffer holds.\n"), "{red}");
}

#[test]
fn cake_counts_drops_of_packets_that_arrive() {
    let script = |queue: &str| syntax::tc::script(&setup(queue, "0 B", usual()), &place("eth0")).unwrap();
    let lines = |script: &str| -> [String; 2] {
        ["dev eth0 root handle 1: cake", "dev ifb4eth0 root handle 1: cake"]
            .map(|start| script.lines().find(|line| line.contains(start)).unwrap().to_owned())
    };
    let [leaving, arriving] = lines(&script("{ kind = \"cake\" }"));
    assert!(leaving.contains(" egress") && !leaving.contains(" ingress"), "{leaving}");
    assert!(arriving.contains(" ingress") && !arriving.contains(" egress"), "{arriving}");
    let [_, told] = lines(&script("{ kind = \"cake\", ingress = false }"));
    assert!(told.contains(" egress"), "{told}");
    let section = sqm(&queue("cake")).unwrap();
    let option = |name: &str| section.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(option("iqdisc_opts").contains(" ingress") && !option("eqdisc_opts").contains("gress "), "{section}");
}

#[test]
fn a_plain_queue_is_refused_with_what_to_set() {
    let text = |queues: &str| {
        format!(
            "goodqueue = 1\nduration = \"10 s\"\n[link.line]\nrate = \"50 Mbit/s\"\nrate_up = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"1 MB\"\nbuffer_up = \"1 MB\"\n{queues}[[traffic]]\nkind = \"bulk\"\n"
        )
    };
    let refusal = |queues: &str| {
        let plan = Plan::parse_without_files("test", &text(queues)).unwrap();
        Setup::new(&plan.point(0).unwrap().plan, None, usual()).unwrap_err().to_string()
    };
    let why = "tail-drop on the router keeps packets waiting as the modem does: choose a queue with";
    assert_eq!(refusal(""), format!("link.line.queue: {why} --set link.line.queue=cake --set link.line.queue_up=cake"));
    assert_eq!(refusal("queue = \"cake\"\n"), format!("link.line.queue_up: {why} --set link.line.queue_up=cake"));
    // A router that is a shaper in the scenario has the queue that it was given.
    let shaper = setup(&queue("tail-drop"), "0 B", usual());
    assert!(syntax::tc::script(&shaper, &place("eth0")).unwrap().contains(" pfifo\n"));
}

/// Properties of `/queue type` for each kind.
const ROUTEROS: &[(&str, &[&str])] = &[
    ("pfifo", &["pfifo-limit"]),
    ("bfifo", &["bfifo-limit"]),
    ("codel", &["codel-limit", "codel-target", "codel-interval", "codel-ecn", "codel-ce-threshold"]),
    (
        "fq-codel",
        &[
            "fq-codel-limit",
            "fq-codel-target",
            "fq-codel-interval",
            "fq-codel-quantum",
            "fq-codel-flows",
            "fq-codel-memlimit",
            "fq-codel-ecn",
            "fq-codel-ce-threshold",
        ],
    ),
    (
        "cake",
        &[
            "cake-ack-filter",
            "cake-atm",
            "cake-autorate-ingress",
            "cake-bandwidth",
            "cake-diffserv",
            "cake-flowmode",
            "cake-memlimit",
            "cake-mpu",
            "cake-nat",
            "cake-overhead",
            "cake-overhead-scheme",
            "cake-rtt",
            "cake-rtt-scheme",
            "cake-wash",
        ],
    ),
];

#[test]
fn commands_of_routeros_have_its_properties() {
    let each = |kind| ["22 B", "docsis", "pppoe-ptm"].map(|framing| (kind, framing));
    for (kind, framing) in ["codel", "fq-codel", "cake"].map(each).as_flattened() {
        let text = syntax::routeros::commands(&setup(&queue(kind), framing, usual()), &place("ether1")).unwrap();
        let types: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("/queue type add ")).collect();
        assert_eq!(types.len(), 2, "{text}");
        for line in types {
            let properties: Vec<(&str, &str)> = line.split(' ').map(|word| word.split_once('=').unwrap()).collect();
            let kind = properties.iter().find(|(key, _)| *key == "kind").unwrap().1;
            let known = ROUTEROS.iter().find(|(known, _)| *known == kind).unwrap().1;
            for (key, value) in properties {
                assert!(matches!(key, "name" | "kind") || known.contains(&key) && !value.is_empty(), "{key}={value}\n{text}");
            }
        }
        assert!(text.contains("target=ether1 max-limit=47500k/9500k queue=gq-down/gq-up\n"), "{text}");
    }
    let dsl = syntax::routeros::commands(&setup(&queue("cake"), "pppoe-ptm", usual()), &place("ether1")).unwrap();
    assert!(dsl.contains(" cake-bandwidth=9500k cake-overhead=30 cake-atm=ptm\n"), "{dsl}");
    let refusal = syntax::routeros::commands(&setup(&queue("pie"), "0 B", usual()), &place("ether1")).unwrap_err();
    assert_eq!(refusal.to_string(), "link.dsl.queue: `pie` has no counterpart in RouterOS; the nearest is codel");
}

#[test]
fn a_circuit_of_libreqos_has_its_columns() {
    let addresses = ["100.64.0.2", "fdd7:b724::/56"].map(|text| text.parse().unwrap());
    let setup = setup(r#"{ kind = "fq-codel", ecn = true, limit = "700 packets" }"#, "0 B", usual());
    let circuits = syntax::libreqos::row(&setup, &addresses).unwrap();
    let mut lines = circuits.csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,Download Max Mbps,\
         Upload Max Mbps,Comment,sqm"
    );
    assert_eq!(lines.next().unwrap(), "gq-1,a b,gq-1,a b,,,100.64.0.2,fdd7:b724::/56,1,1,47.5,9.5,gq export libreqos,fq_codel");
    assert_eq!(circuits.notes.len(), 1, "{:?}", circuits.notes);
    for wrong in ["", "100.64.0.2/33", "1.2.3", "host"] {
        assert!(wrong.parse::<syntax::libreqos::Address>().is_err(), "{wrong}");
    }
}

#[test]
fn libreqos_refuses_rates_that_it_would_skip() {
    let slow = |rate_up: &str| {
        let text = format!(
            "goodqueue = 1\nduration = \"10 s\"\n[link.l]\nrate = \"2 Mbit/s\"\nrate_up = \"{rate_up}\"\ndelay = \"5 ms\"\n\
             buffer = \"1 MB\"\nbuffer_up = \"1 MB\"\nqueue = \"cake\"\nqueue_up = \"cake\"\n[[traffic]]\nkind = \"bulk\"\n"
        );
        let plan = Plan::parse_without_files("test", &text).unwrap();
        let setup = Setup::new(&plan.point(0).unwrap().plan, None, usual()).unwrap();
        syntax::libreqos::row(&setup, &[]).map(|circuits| circuits.csv)
    };
    assert!(slow("220 kbit/s").unwrap().contains(",1.9,0.209,"));
    assert_eq!(
        slow("210 kbit/s").unwrap_err().to_string(),
        "link.l.queue_up: a circuit of 199.5 kbit/s has no counterpart in LibreQoS; the nearest is 200 kbit/s"
    );
}

#[test]
fn a_bucket_that_is_lost_is_noted() {
    let shaper = r#"{ kind = "shaper", rate = "9 Mbit/s", burst = "40 kB", of = "fq-codel" }"#;
    let setup = setup(shaper, "0 B", usual());
    let note = " is not kept: the shaper of ";
    for (target, text) in each_target(&setup) {
        let is_kept = matches!(target, "tc" | "networkd");
        assert_eq!(text.unwrap().contains(note), !is_kept, "{target}");
    }
}

#[test]
fn an_interface_of_ppp_counts_no_header() {
    for (dev, overhead) in [("eth0", 30), ("pppoe-wan", 44), ("ppp0", 44)] {
        let setup = setup(r#"{ kind = "fq-codel" }"#, "44 B", usual());
        let tc = syntax::tc::script(&setup, &place(dev)).unwrap();
        assert!(tc.contains(&format!("stab overhead {overhead} linklayer ethernet")), "{tc}");
        assert_eq!(tc.contains("by its name, for an interface without an Ethernet header"), overhead == 44, "{tc}");
        let sqm = syntax::sqm::section(&setup, &place(dev)).unwrap();
        assert!(sqm.contains(&format!("option overhead '{overhead}'")), "{sqm}");
        let networkd = syntax::networkd::files(&setup, &place(dev)).unwrap();
        assert!(networkd.contains(&format!("OverheadBytes={overhead}\n")), "{networkd}");
    }
}

#[test]
fn interfaces_are_checked() {
    for wrong in ["", "a b", "eth0;reboot", "$(x)", "averyveryverylongname", "-x", "..", "a/b", "ä"] {
        assert!(Interface::new(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Interface::new("enp0s31f6.100").unwrap().ifb().as_str(), "ifb4enp0s31f6.1");
}
