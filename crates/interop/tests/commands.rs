//! Commands of `tc` one after the other, against what a kernel of Linux makes of them: each row was
//! tried with iproute2 6.1 in a network namespace, or follows from the sources that it names.

use goodqueue_interop::import::{Draft, ImportError, Input, config, tc};

type Read = fn(&Input, Option<&str>) -> Result<Draft, ImportError>;

fn made(read: Read, text: &str, dev: Option<&str>) -> String {
    match read(&Input::read("x", text.as_bytes()).unwrap(), dev) {
        Ok(draft) => draft.text(),
        Err(error) => format!("refused: {error}"),
    }
}

/// The beginning of a root, lines that follow, parts that come out, and parts that do not.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

fn check(rows: &[Row], dev: Option<&str>) {
    for (text, wanted, unwanted) in rows {
        let text = text.replace("Q ", "tc qdisc add dev eth0 root ");
        let made = made(tc::import, &text, dev);
        for part in *wanted {
            assert!(made.contains(part), "{text}\nlacks {part}\n{made}");
        }
        for part in *unwanted {
            assert!(!made.contains(part), "{text}\nhas {part}\n{made}");
        }
    }
}

const HTB: &str = "Q handle 1: htb default 20\ntc class add dev eth0 parent 1: classid 1:20 htb rate 12mbit\n\
                   tc qdisc add dev eth0 parent 1:20 handle 20: fq_codel limit 300 target 8ms\n";

#[test]
fn a_change_takes_what_the_kernel_takes() {
    check(
        &[
            // net/sched/sch_netem.c: delay, losses and limit start again; the rate stays.
            (
                "Q netem delay 80ms 5ms loss 3% limit 400 rate 7mbit\ntc qdisc change dev eth0 root netem delay 30ms",
                &["delay = \"30 ms\"", "rate = \"7000000 bit/s\"", "buffer = \"1000 packets\""],
                &["loss =", "jitter"],
            ),
            ("Q codel\nip link del ifb0 type ifb\nip link del dev eth0", &["refused: x: has no queue at its end: line 3"], &[]),
            ("Q netem delay 20ms delay 35ms loss 1% loss 2%", &["delay = \"35 ms\"", "loss = 0.02 "], &[]),
            (
                "Q cake bandwidth 12mbit nat memlimit 6m\ntc qdisc change dev eth0 root cake nonat rtt 60ms",
                &["12000000 bit/s", "6291456 B", "interval = \"60 ms\""],
                &["nat = true"],
            ),
            // tc/q_cake.c: the words of one command add up, and not those of two; what a command
            // does not set stays.
            (
                "Q cake bandwidth 9mbit docsis\ntc qdisc change dev eth0 root cake ethernet",
                &["overhead = \"38 B\"", "mpu = \"84 B\""],
                &[],
            ),
            (
                "Q cake bandwidth 9mbit ethernet pppoe-ptm\ntc qdisc change dev eth0 root cake ether-vlan",
                &["overhead = \"4 B\"", "mpu = \"84 B\"", "cells = \"ptm\""],
                &[],
            ),
            ("Q cake raw\ntc qdisc change dev eth0 root cake overhead 9", &["overhead = \"9 B\""], &[]),
            ("Q cake overhead 9\ntc qdisc change dev eth0 root cake raw rtt 40ms", &["kind = \"cake\""], &["overhead ="]),
            ("Q cake bandwidth 9mbit atm", &["overhead = \"14 B\"", "cells = \"atm\""], &[]),
            ("Q cake lan wash\ntc qdisc change dev eth0 root cake rtt 40ms nowash", &["interval = \"40 ms\""], &["wash of"]),
            ("Q cake bandwidth 9mbit\ntc qdisc change dev eth0 root cake unlimited", &["nothing shapes eth0"], &[]),
            ("Q fq_codel limit 300 ecn\ntc qdisc change dev eth0 root fq_codel noecn", &["300 packets", "ecn = false"], &[]),
            (
                "Q red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.5 ecn\n\
                 tc qdisc change dev eth0 root red limit 300000 min 24000 max 60000 avpkt 1000 burst 40",
                &["min_th = \"24000 B\"", "max_p = 0.02", "ecn = false", "300000 B"],
                &[],
            ),
            // By the handle that the kernel gives, and by a handle alone.
            ("Q cake bandwidth 9mbit\ntc qdisc change dev eth0 handle 8001: cake bandwidth 5mbit", &["5000000 bit/s"], &[]),
            (
                "tc qdisc change dev eth0 root cake bandwidth 5mbit",
                &["5000000 bit/s", "# Line 1 changes what the file does not set"],
                &[],
            ),
        ],
        None,
    );
}

#[test]
fn a_replacement_of_the_same_kind_is_a_change() {
    let below = |more: &str| format!("{HTB}{more}");
    let rows: Vec<(String, &[&str], &[&str])> = vec![
        ("Q cake bandwidth 12mbit\ntc qdisc replace dev eth0 root cake rtt 60ms".into(), &["12000000 bit/s", "60 ms"], &[]),
        ("Q fq_codel limit 300\ntc qdisc replace dev eth0 root fq_codel target 8ms".into(), &["300 packets", "8 ms"], &[]),
        ("Q cake bandwidth 12mbit\ntc qdisc replace dev eth0 root fq_codel".into(), &["nothing shapes", "fq-codel"], &[]),
        (
            "Q handle 1: cake bandwidth 12mbit rtt 60ms\ntc qdisc replace dev eth0 root handle 2: cake".into(),
            &["nothing shapes"],
            &["60 ms"],
        ),
        (below("tc class replace dev eth0 parent 1: classid 1:20 htb rate 25mbit"), &["25000000 bit/s", "300 packets"], &[]),
        (below("tc class change dev eth0 classid 1:20 htb rate 6mbit"), &["6000000 bit/s", "300 packets"], &[]),
        (below("tc qdisc replace dev eth0 parent 1:20 fq_codel limit 200"), &["200 packets", "8 ms"], &["queues; this"]),
        (below("tc qdisc replace dev eth0 parent 1:20 codel limit 200"), &["kind = \"codel\"", "200 packets"], &["8 ms"]),
        (below("tc qdisc replace dev eth0 parent 1:20 handle 21: codel"), &["kind = \"codel\""], &["300 packets"]),
        (below("tc qdisc del dev eth0 parent 1:20"), &["fifo of htb 1:20", "12000000 bit/s"], &["fq-codel"]),
        (
            below("tc class del dev eth0 classid 1:20\ntc class add dev eth0 parent 1: classid 1:20 htb rate 3mbit"),
            &["3000000 bit/s", "fifo of htb 1:20"],
            &["fq-codel"],
        ),
        // An htb cannot be changed, and what is there is not added.
        (
            below("tc qdisc replace dev eth0 root handle 1: htb default 30"),
            &["12000000 bit/s", "# Line 4: the kernel refuses it"],
            &[],
        ),
        (
            below("tc class add dev eth0 parent 1: classid 1:20 htb rate 3mbit"),
            &["12000000 bit/s", "# Line 4: the kernel refuses it"],
            &[],
        ),
        (
            "Q codel\ntc qdisc add dev eth0 root fq_codel".into(),
            &["kind = \"codel\"", "the kernel refuses it: codel is there."],
            &[],
        ),
        (
            "Q handle 1: tbf rate 9mbit burst 9k latency 40ms\ntc qdisc add dev eth0 parent 1: handle 10: pfifo limit 50\n\
             tc qdisc replace dev eth0 parent 1:1 handle 11: fq_codel limit 70"
                .into(),
            &["70 packets", "fq-codel"],
            &["tail-drop"],
        ),
        (
            "Q handle 1:0 htb default 0x20\ntc class add dev eth0 parent 1:0 classid 1:020 htb rate 4mbit".into(),
            &["4000000 bit/s"],
            &[],
        ),
    ];
    for (text, wanted, unwanted) in rows {
        let made = made(tc::import, &text.replace("Q ", "tc qdisc add dev eth0 root "), None);
        assert!(wanted.iter().all(|part| made.contains(part)), "{text}\n{wanted:?}\n{made}");
        assert!(unwanted.iter().all(|part| !made.contains(part)), "{text}\nnot {unwanted:?}\n{made}");
    }
}

#[test]
fn arriving_packets_wait_where_filters_send_them() {
    let cake = |dev: &str, rate: &str| format!("tc qdisc add dev {dev} root cake bandwidth {rate}\n");
    let to = |dev: &str, ifb: &str| {
        format!(
            "tc qdisc add dev {dev} handle ffff: ingress\n\
             tc filter add dev {dev} parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev {ifb}\n"
        )
    };
    let two = cake("eth0", "11mbit") + &cake("eth1", "22mbit") + &cake("ifb4eth1", "55mbit") + &to("eth1", "ifb4eth1");
    let alone = made(tc::import, &two, Some("eth0"));
    assert!(alone.contains("11000000 bit/s") && !alone.contains("55000000"), "{alone}");
    let both = made(tc::import, &two, Some("eth1"));
    assert!(both.contains("rate = \"55000000 bit/s\"") && both.contains("rate_up = \"22000000 bit/s\""), "{both}");
    for none in ["wlan0", "ifb4eth0"] {
        let refused = made(tc::import, &two, Some(none));
        assert_eq!(refused, format!("refused: x: has no interface {none}: allowed eth0, eth1, ifb4eth1"));
    }
    // The name of another interface is a name, also without a filter.
    let unfiltered = cake("eth0", "11mbit") + &cake("ifb4eth1", "55mbit");
    assert!(!made(tc::import, &unfiltered, None).contains("55000000"), "{}", made(tc::import, &unfiltered, None));
    let numbered = cake("eth0", "11mbit") + &cake("ifb0", "33mbit") + &cake("ifb1", "44mbit");
    let filtered = made(tc::import, &(numbered.clone() + &to("eth0", "ifb1")), None);
    assert!(filtered.contains("rate = \"44000000 bit/s\""), "{filtered}");
    let unknown = made(tc::import, &numbered, None);
    assert!(
        unknown.contains("# No filter in the file says whether packets that arrive at eth0 wait at ifb0, ifb1."),
        "{unknown}"
    );
    let one = made(tc::import, &(cake("eth0", "11mbit") + &cake("ifb0", "33mbit")), None);
    assert!(one.contains("rate = \"33000000 bit/s\""), "{one}");
    for place in ["ingress", "clsact"] {
        let deleted = format!("{place}\ntc qdisc del dev eth0 {place}\n");
        let commands = cake("eth0", "11mbit") + &cake("ifb0", "33mbit") + &to("eth0", "ifb0").replace("ingress\n", &deleted);
        // The deletion comes before the filter: the kernel refuses that, and nothing arrives at
        // ifb0.
        let late = cake("eth0", "11mbit") + &cake("ifb0", "33mbit") + &to("eth0", "ifb0") + "tc qdisc del dev eth0 ingress\n";
        let of_space = late.replace("tc ", "ip netns exec router tc ");
        for text in [&commands, &late, &of_space] {
            let gone = made(tc::import, text, None);
            assert!(!gone.contains("33000000"), "{text}{gone}");
        }
    }
    let elsewhere = made(tc::import, &(cake("eth0", "11mbit") + &to("eth0", "ifb7")), None);
    assert!(elsewhere.contains("are sent to ifb7, whose queue is not known."), "{elsewhere}");
    let printed =
        "qdisc noqueue 0: dev wlan0 root refcnt 2\nqdisc codel 1: dev eth0 root refcnt 2 limit 9p target 5ms interval 100ms\n";
    assert_eq!(made(tc::import, printed, Some("wlan0")), "refused: x: has no queue at wlan0: allowed eth0");
    let policed = "tc qdisc add dev eth0 root codel\ntc filter add dev eth0 parent ffff: protocol ip u32 match u32 0 0 police rate 7mbit burst 9k drop";
    assert!(made(tc::import, policed, None).contains("drops what arrives faster than 7mbit"));
    let files = "[Match]\nName=lan0\n[CAKE]\nBandwidth=9M\n[Match]\nName=ifb4wan0\n[CAKE]\nBandwidth=70M\n";
    assert!(!made(config::networkd, files, Some("lan0")).contains("70000000"));
    assert!(made(config::networkd, files, Some("wan9")).contains("has no interface wan9: allowed ifb4wan0, lan0"));
}

#[test]
fn packets_without_a_priority_go_to_their_band() {
    let leaves = "tc qdisc add dev eth0 parent 1:1 handle 10: fq_codel limit 110\ntc qdisc add dev eth0 parent 1:2 handle 20: codel limit 220\n\
                  tc qdisc add dev eth0 parent 1:3 handle 30: tbf rate 30kbit burst 1600 limit 3000\n";
    let text = |head: &str, leaves: &str| format!("tc qdisc add dev eth0 root handle 1: {head}\n{leaves}");
    let third: String = leaves.lines().skip(2).map(|line| format!("{line}\n")).collect();
    for (text, part) in [
        (text("prio", leaves), "buffer = \"220 packets\""),
        (text("prio bands 3 priomap 0 1 2 2 2 2 2 2 2 2 2 2 2 2 2 2", leaves), "buffer = \"110 packets\""),
        (text("prio", &third), "the fifo of prio 1:2 at eth0"),
        (text("prio", &third), "nothing shapes eth0"),
        (
            text("prio", &third) + "tc filter add dev eth0 parent 1: protocol all u32 match u32 0 0 flowid 1:3\n",
            "rate = \"30000 bit/s\"",
        ),
        (
            text("prio", &third) + "tc filter add dev eth0 parent 1: protocol ip u32 match ip dst 192.0.2.1/32 flowid 1:3\n",
            "nothing shapes eth0",
        ),
        (
            "qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n\
             qdisc tbf 30: dev eth0 parent 1:3 rate 30Kbit burst 1600b lat 400ms\n"
                .to_owned(),
            "nothing shapes eth0",
        ),
    ] {
        let made = made(tc::import, &text, None);
        assert!(made.contains(part), "{text}\n{part}\n{made}");
    }
}

#[test]
fn red_has_what_tc_makes_of_its_words() {
    check(
        &[
            // tc/q_red.c: max is a quarter of the limit, min a third of max, and burst follows.
            (
                "Q red limit 400000 avpkt 1000",
                &["min_th = \"33333 B\"", "max_th = \"100000 B\"", "max_p = 0.02", "w_q = 0.03125"],
                &[],
            ),
            ("Q red limit 400000 min 20000 avpkt 1000", &["min_th = \"20000 B\"", "max_th = \"60000 B\""], &[]),
            ("Q red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.1", &["w_q = 0.0"], &["max_p"]),
            (
                "qdisc red 1: dev eth0 root refcnt 2 limit 400000b min 30000b max 90000b",
                &["max_p = 0.02", "# eth0: max_p 0.02 of red is assumed", "The weight of red is not known"],
                &[],
            ),
        ],
        None,
    );
}

#[test]
fn names_of_interfaces_tell_whether_they_count_a_header() {
    for (dev, overhead) in [("eth0", 58), ("ppp0", 44), ("pppoe-wan", 44), ("ifb4pppoe-wan", 44), ("wg0", 44), ("wwan0", 44)] {
        let text = format!(
            "tc qdisc add dev {dev} root handle 1: stab overhead 44 linklayer atm htb default 1\n\
             tc class add dev {dev} parent 1: classid 1:1 htb rate 2mbit\n"
        );
        let made = made(tc::import, &text, None);
        assert!(made.contains(&format!("overhead = \"{overhead} B\"")), "{made}");
        assert_eq!(made.contains("by its name, for an interface without an Ethernet header"), overhead == 44, "{made}");
    }
    let over = "tc qdisc add dev eth0 root stab overhead 38 linklayer ethernet cake bandwidth 2mbit";
    assert!(made(tc::import, over, None).contains("overhead = \"52 B\""));
    let text = "tc qdisc add dev eth0 root cake bandwidth 2mbit\ntc qdisc add dev ppp0 root cake bandwidth 2mbit";
    assert!(made(tc::import, text, Some("eth0")).contains("burst = \"1514 B\""));
    assert!(made(tc::import, text, Some("ppp0")).contains("burst = \"1500 B\""));
}

#[test]
fn classes_of_networkd_are_those_of_their_queue() {
    let file = "[Match]\nName=lan0\n[HierarchyTokenBucket]\nParent=root\nHandle=0001\nDefaultClass=30\n\
                [HierarchyTokenBucketClass]\nParent=root\nClassId=0001:0010\nRate=5M\n\
                [HierarchyTokenBucketClass]\nParent=root\nClassId=0001:0030\nRate=2M\nCeilRate=7M\nCeilBufferBytes=20K\n\
                [FairQueueingControlledDelay]\nParent=0001:0030\nPacketLimit=400\n";
    let made = made(config::networkd, file, None);
    for part in [
        "queue.class.1-10 = { rate = \"5000000 bit/s\" }",
        "queue.class.1-30 = { rate = \"2000000 bit/s\", ceil = \"7000000 bit/s\", cburst = \"20480 B\", limit = \"400 packets\", \
         default = true, of = \"fq-codel\" }",
    ] {
        assert!(made.contains(part), "{part}\n{made}");
    }
}

fn sqm(options: &str, dev: &str) -> String {
    let head = format!("config queue\n option enabled 1\n option interface {dev}\n option download 30000\n option upload 800\n");
    let (queue, rest) = options.split_once(' ').unwrap();
    let script = format!("script {rest}, qdisc {queue}");
    let options: String = script.split(", ").map(|option| format!(" option {option}\n")).collect();
    made(config::sqm, &(head + &options), None)
}

#[test]
fn a_section_of_sqm_is_what_its_script_sets() {
    // src/functions.sh and the scripts of sqm-scripts 1.6.0 and of 2024.
    for (options, wanted, unwanted) in [
        ("fq_codel simplest.qos", "target = \"17.49 ms\", interval = \"112.49 ms\"", "quantum"),
        ("fq_codel simplest.qos, etarget auto", "target = \"17.49 ms\", interval = \"112.49 ms\"", "quantum"),
        ("fq_codel simplest.qos, etarget default", "queue_up = { kind = \"fq-codel\", ecn = true", "target"),
        ("fq_codel simplest.qos, etarget 10", "# etarget 10 is no time with a unit", "target = \"10"),
        ("fq_codel simplest.qos, etarget 12ms", "target = \"12 ms\"", "interval"),
        ("pie simplest.qos, itarget default", "queue_up = { kind = \"pie\", target = \"17.49 ms\"", "interval"),
        ("pie simplest.qos", "queue = { kind = \"pie\", target = \"5 ms\"", "interval"),
        ("any piece_of_cake.qos, linklayer ethernet, overhead 38, tcMPU 90", "mpu = \"90 B\"", "cells"),
        ("fq_codel simple.qos", "queue_up = { kind = \"fq-codel\", quantum = \"300 B\"", "quantum = \"1500"),
        ("fq_codel simple.qos, squash_ingress 0", "quantum = \"1500 B\"", "cells"),
        (
            "fq_codel simplest.qos, linklayer ethernet, overhead 38, linklayer_adaptation_mechanism cake",
            "# fq_codel with the mechanism cake counts no framing.",
            "overhead = ",
        ),
        (
            "any piece_of_cake.qos, linklayer ethernet, overhead 38, linklayer_adaptation_mechanism tc_stab",
            "overhead = \"52 B\"",
            "cells",
        ),
        (
            "fq_codel simplest.qos, linklayer ethernet, overhead 38, linklayer_adaptation_mechanism htb_private",
            "overhead = \"52 B\"",
            "cells",
        ),
        ("cake simplest.qos", "kind = \"cake\", tins = \"besteffort\", ecn = true", "nat = true"),
        ("any piece_of_cake.qos", "# The scripts add nat to cake since 2024", "cells"),
        ("fq_codel simplest.qos", "burst_up = \"1749 B\"", "1514"),
        ("fq_codel simplest_tbf.qos", "burst_up = \"1749 B\"", "1514"),
    ] {
        let made = sqm(options, "wan");
        let of_up = made.split("queue_up").nth(1).unwrap_or_default();
        assert!(made.contains(wanted), "{options}\n{wanted}\n{made}");
        let there =
            if options.contains("etarget") || options.contains("pie") { of_up.split(" #").next().unwrap() } else { &made };
        assert!(!there.contains(unwanted), "{options}\nhas {unwanted}\n{made}");
    }
    let stab = "fq_codel simplest.qos, linklayer atm, overhead 32";
    assert!(sqm(stab, "wan").contains("overhead = \"46 B\"") && sqm(stab, "pppoe-wan").contains("overhead = \"32 B\""));
    let missing =
        "config queue\n option enabled 1\n option interface wan\n option upload 900\n option script piece_of_cake.qos\n";
    assert!(made(config::sqm, missing, None).contains("# download is not in the section: the scripts take 14698 kbit/s."));
}

#[test]
fn commands_are_read_behind_other_words() {
    check(
        &[
            ("TC=/sbin/tc\n$TC qdisc add dev eth0 root cake bandwidth 3mbit", &["3000000 bit/s"], &["(line 2)"]),
            ("$TC qdisc add dev eth0 root cake bandwidth 3mbit", &["3000000 bit/s", "(line 1)"], &[]),
            (
                "if [ -n \"$X\" ]; then tc qdisc replace dev eth0 root cake bandwidth 3mbit; fi",
                &["3000000 bit/s", "(line 1)"],
                &[],
            ),
            (
                "iface eth0 inet dhcp\n  post-up tc qdisc add dev eth0 root cake bandwidth 3mbit\n  down tc qdisc del dev eth0 root",
                &["3000000 bit/s", "# Commands for the end are left out (line 3)."],
                &[],
            ),
            ("doas tc qdisc add dev eth0 root cake bandwidth \"3mbit\"", &["3000000 bit/s"], &["not followed"]),
            ("sudo -u root tc qdisc add dev 'eth0' root cake bandwidth 3mbit", &["3000000 bit/s"], &[]),
            ("tc -n lab -s q add dev eth0 root cake bandwidth 3mbit", &["3000000 bit/s", "queues of eth0"], &[]),
            ("tc -n a q add dev eth0 root codel\ntc -n b q add dev eth0 root codel", &["has queues at a/eth0, b/eth0"], &[]),
            (
                "[Service]\nExecStart=/sbin/tc qdisc add dev eth0 root cake bandwidth 3mbit\nExecStop=/sbin/tc qdisc del dev eth0 root",
                &["3000000 bit/s", "(line 3)"],
                &[],
            ),
            (
                "test -f x && tc qdisc replace dev eth0 root cake bandwidth 3mbit",
                &["3000000 bit/s", "# The shell is not followed (line 1)"],
                &[],
            ),
            ("Q cake bandwidth 3mbit || tc qdisc change dev eth0 root cake bandwidth 4mbit", &["3000000 bit/s"], &[]),
            (
                "Q cake bandwidth 3mbit\nQ cake bandwidth 4mbit || tc qdisc change dev eth0 root cake bandwidth 5mbit",
                &["5000000 bit/s"],
                &[],
            ),
            (
                "Q codel\nssh router tc qdisc replace dev eth0 root cake bandwidth 4mbit",
                &["kind = \"codel\"", "in words that gq does not read are left out (line 2)"],
                &[],
            ),
            ("Q codel\ntc -batch /etc/more", &["in words that gq does not read are left out (line 2)"], &[]),
            ("Q codel\nsh -c 'tc qdisc change dev eth0 root codel limit 9'", &["does not read are left out (line 2)"], &[]),
            (
                "Q codel\nsleep 9; tc qdisc del dev eth0 root",
                &["refused: x: has no queue at its end: line 2 deletes the last one"],
                &[],
            ),
            ("f()\n{\n  tc qdisc del dev eth0 root\n}\nQ cake bandwidth 3mbit\nf", &["3000000 bit/s", "lines 2, 4"], &[]),
            (
                "case $1 in\nfast) tc qdisc add dev eth0 root cake bandwidth 8mbit rtt 40ms;;\nslow) tc qdisc add dev eth0 root cake bandwidth 3mbit;;\nesac",
                &["3000000 bit/s", "the last one holds"],
                &["40 ms"],
            ),
        ],
        None,
    );
}

#[test]
fn output_is_no_shell_and_needs_no_name() {
    let json = "[ {\n  \"kind\": \"codel\",\n  \"handle\": \"1:\",\n  \"dev\": \"eth0\",\n  \"root\": true,\n  \"options\": {\n }\n} ]\n";
    assert!(!made(tc::import, json, None).contains("not followed"));
    let nameless = "qdisc pfifo 20: dev lan7 root refcnt 2 limit 77p\n".replace("dev lan7 ", "");
    let text = made(tc::import, &nameless, None);
    assert!(text.contains("set: pfifo 20:\n") && !text.contains(" at \n"), "{text}");
    assert!(made(tc::import, &nameless, Some("lan7")).contains("pfifo 20: at lan7"));
    let peak = r#"[{"kind":"tbf","handle":"1:","dev":"eth0","root":true,"options":{"rate":250000,"burst":5000,"lat":50000,"minburst":1540}}]"#;
    assert!(made(tc::import, peak, None).contains("# assumed: the limit of tbf 1: at eth0 is not in the file"));
}

#[test]
fn long_lines_and_lists_are_refused() {
    let words = "1 ".repeat(5_000);
    let refused = made(tc::import, &format!("\ntc qdisc add dev eth0 root cake {words}"), None);
    assert_eq!(refused, "refused: x: line 2: has too many words: allowed up to 1000, and 300 options");
    let object = format!(r#"[{{"kind":"codel","dev":"a","options":{{"x":"{}"}}}}]"#, "y".repeat(70_000));
    assert!(made(tc::import, &object, None).contains("allowed up to 65536 B"));
    let list = format!("[{}]", "{},".repeat(20_000).trim_end_matches(','));
    assert_eq!(
        made(tc::import, &list, None),
        "refused: x: line 1: has too many queues: allowed up to 10000, set by up to 20000 lines"
    );
}

#[test]
fn disabled_queues_of_routeros_are_none() {
    let file = "/queue type add kind=fq-codel name=fq\n/queue simple add name=a target=ether1 max-limit=3M/30M queue=fq/fq\n\
                /queue simple add name=b target=ether2 max-limit=1M/1M queue=fq/fq disabled=yes\n";
    assert!(made(config::routeros, file, None).contains("rate = \"3000000 bit/s\""));
    let off = file.replace("queue=fq/fq\n", "queue=fq/fq disabled=yes\n");
    assert!(made(config::routeros, &off, Some("ether1")).contains("# The queue is disabled"));
}
