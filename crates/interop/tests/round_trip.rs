//! Round trips: `gq import tc` reads the output of `gq export tc` back as the same queue with the
//! same parameters.

use goodqueue_aqm::spec::{KindAndParams, ParamValues, Value};
use goodqueue_base::units::{Bytes, Cells, Framing};
use goodqueue_interop::import::{Input, tc};
use goodqueue_interop::router::dialect::Refusal;
use goodqueue_interop::router::setup::{Setup, Shaping};
use goodqueue_interop::router::syntax::{self, Interface, Place};
use goodqueue_lab::scenario::plan::{Plan, Scenario};

fn scenario(queue: &str, buffer: &str, overhead: &str) -> Scenario {
    // The queue's own limit goes to the router; a plain queue does where the link is a shaper.
    let limited = match queue.strip_suffix(" }") {
        Some(table) => format!("{table}, limit = \"{buffer}\" }}"),
        None => format!("{{ kind = {queue}, limit = \"{buffer}\" }}"),
    };
    let burst = if queue == "\"tail-drop\"" { "burst = \"2 kB\"\nburst_up = \"2 kB\"\n" } else { "" };
    let text = format!(
        "goodqueue = 1\nduration = \"10 s\"\n[link.dsl]\nrate = \"50 Mbit/s\"\nrate_up = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
         overhead = \"{overhead}\"\nqueue = {limited}\nqueue_up = {limited}\n{burst}\
         [[traffic]]\nkind = \"bulk\"\n"
    );
    read(&text)
}

fn read(text: &str) -> Scenario {
    let plan = Plan::parse_without_files("test", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan.point(0).unwrap().plan
}

fn place() -> Place {
    let dev = Interface::new("eth0").unwrap();
    Place { ifb: dev.ifb(), dev, egress: None }
}

fn exported(scenario: &Scenario) -> Result<String, Refusal> {
    syntax::tc::script(&Setup::new(scenario, None, Shaping::Percent(100.0))?, &place())
}

fn imported(text: &str) -> (Scenario, String) {
    let draft =
        tc::import(&Input::read("lines", text.as_bytes()).unwrap(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (read(&draft.text()), draft.text())
}

/// Every parameter with the value in force, but for those that only tell a simulation what to do,
/// and whether packets arrive, which follows from the interface.
fn values(chosen: &KindAndParams) -> Vec<(&'static str, Option<Value>)> {
    let given = ParamValues::new(&chosen.kind.base, &chosen.params).unwrap();
    let is_same = |name: &&str| !matches!(*name, "arithmetic" | "ecn" | "ingress");
    let names = chosen.kind.params.iter().map(|param| param.name).filter(is_same);
    names.map(|name| (name, given.value(name))).collect()
}

#[test]
fn every_kind_that_tc_has_comes_back() {
    for (queue, buffer) in [
        (r#""tail-drop""#, "30 packets"),
        (r#""tail-drop""#, "45 kB"),
        (r#"{ kind = "codel", target = "13 ms", interval = "150 ms", ecn = true }"#, "1000 packets"),
        (r#"{ kind = "codel", ce_threshold = "1 ms" }"#, "1000 packets"),
        (r#"{ kind = "fq-codel", flows = 512, quantum = "300 B", memory_limit = "4 MiB", drop_batch = 32 }"#, "10240 packets"),
        (r#"{ kind = "fq-codel", target = "5 ms", interval = "100 ms", ecn = true }"#, "600 packets"),
        (
            r#"{ kind = "pie", target = "20 ms", t_update = "30 ms", alpha = 0.25, beta = 1.5, active_inactive = false, ecn = true }"#,
            "1000 packets",
        ),
        (r#"{ kind = "pie", bytes = true, estimator = "departure-rate", active_inactive = false }"#, "1000 packets"),
        (r#"{ kind = "fq-pie", flows = 64, mark_ecnth = 0.2, quantum = "600 B" }"#, "10240 packets"),
        (
            r#"{ kind = "red", min_th = "7500 B", max_th = "22500 B", w_q = 0.0078125, gentle = false, wait = false, queue_in_bytes = true, use_mark_p = false, ecn = true }"#,
            "400 kB",
        ),
        (
            r#"{ kind = "red", adaptive = "floyd", min_th = "15 kB", max_th = "45 kB", w_q = 0.001953125, max_p = 0.02, gentle = false, wait = false, queue_in_bytes = true, use_mark_p = false }"#,
            "200 kB",
        ),
        (r#"{ kind = "sfb", bin_size = 30, max = 40, d1 = 0.002, rehash = "100 s", ecn = true }"#, "1000 packets"),
        (r#"{ kind = "cake", isolation = "dual-srchost", tins = "besteffort", ack_filter = "on", ingress = true }"#, "4 MB"),
        (r#"{ kind = "cake", interval = "40 ms", target = "2 ms", nat = true }"#, "4 MB"),
        (
            r#"{ kind = "dualpi2", target = "10 ms", min_th = "1 ms", range = "0 s", classic_weight = 0.2, t_update = "16 ms" }"#,
            "10000 packets",
        ),
    ] {
        for overhead in ["0 B", "22 B", "docsis", "pppoe-llcsnap", "ethernet ether-vlan", "pppoe-ptm"] {
            let first = scenario(queue, buffer, overhead);
            if overhead == "pppoe-ptm" && !queue.contains("cake") {
                let refusal = exported(&first).unwrap_err().to_string();
                assert!(refusal.ends_with(" has no counterpart in tc; the nearest is cake"), "{refusal}");
                continue;
            }
            let script = exported(&first).unwrap_or_else(|refusal| panic!("{queue}: {refusal}"));
            let (second, text) = imported(&script);
            for heading in [goodqueue_lab::scenario::plan::Direction::Down, goodqueue_lab::scenario::plan::Direction::Up] {
                let [a, b] = [&first, &second].map(|scenario| scenario.main_link().direction(heading));
                let [qa, qb] = [a, b].map(|direction| direction.queue.as_ref().unwrap());
                assert_eq!(qa.chosen.kind.kind, qb.chosen.kind.kind, "{script}\n{text}");
                let [ca, cb] = [qa, qb].map(|queue| KindAndParams::new(queue.chosen.kind, queue.chosen.params.clone()));
                assert_eq!(values(&ca), values(&cb), "{script}\n{text}");
                assert_eq!((qa.ecn, qa.limit), (qb.ecn, qb.limit), "{script}\n{text}");
                assert_eq!(a.nominal_rate(), b.nominal_rate(), "{script}\n{text}");
            }
            assert_eq!(first.main_link().framing, second.main_link().framing, "{script}\n{text}");
            // A configuration that came from a router goes back to it unchanged: a shaper keeps its
            // rate.
            let again = syntax::tc::script(&Setup::new(&second, None, Shaping::Percent(95.0)).unwrap(), &place()).unwrap();
            let commands = |script: &str| -> Vec<String> {
                script.lines().filter(|line| line.starts_with("tc ") && line.contains("eth0")).map(str::to_owned).collect()
            };
            assert_eq!(commands(&script), commands(&again));
        }
    }
}

#[test]
fn what_tc_lacks_is_refused_with_the_nearest() {
    for (queue, refusal) in [
        (r#""gsp""#, "link.dsl.queue_up: `gsp` has no counterpart in tc; the nearest is codel"),
        (r#"{ kind = "fair", of = "pie" }"#, "link.dsl.queue_up: `fair:pie` has no counterpart in tc; the nearest is fq-codel"),
        (
            r#"{ kind = "fq-codel", hash = "set-associative" }"#,
            "link.dsl.queue_up: `hash` of fq-codel cannot be set-associative in tc; the nearest is direct",
        ),
        (r#"{ kind = "pie", alpha = 0.13 }"#, "link.dsl.queue_up: `alpha` of pie cannot be 0.13 in tc; the nearest is 0.125"),
        (
            r#"{ kind = "cake", target = "9 ms" }"#,
            "link.dsl.queue_up: `target` of cake cannot be 9 ms in tc; the nearest is 5 ms",
        ),
        (
            r#"{ kind = "cake", ecn = false }"#,
            "link.dsl.queue_up: cake that drops in place of marking has no counterpart in tc; the nearest is ecn = true",
        ),
        (
            r#"{ kind = "cake", rate = "9 Mbit/s", overhead = "300 B" }"#,
            "link.dsl.queue_up: framing with overhead 300 B cannot be expressed for cake; the nearest is 256 B",
        ),
        (
            r#"{ kind = "shaper", rate = "9 Mbit/s", of = { kind = "cake", rate = "8 Mbit/s" } }"#,
            "link.dsl.queue: `rate` of cake within a shaper cannot be exported: export has one shaper; the nearest is cake with rate",
        ),
    ] {
        let found = exported(&scenario(queue, "1000 packets", "0 B")).unwrap_err();
        assert_eq!(found.to_string(), refusal);
    }
}

#[test]
fn what_a_kernel_prints_is_read() {
    // As kernel 6.1 and iproute2 6.1 print it: 5 ms as 4999 us, rates in bytes per second, classes
    // as text only.
    let printed = r#"[{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"refcnt":2,"options":{}},
      {"kind":"htb","handle":"1:","dev":"eth0","root":true,"refcnt":3,"options":{"r2q":10,"default":"0x1","direct_packets_stat":1,"direct_qlen":1000}},
      {"kind":"fq_codel","handle":"10:","dev":"eth0","parent":"1:1","options":{"limit":10240,"flows":1024,"quantum":1514,"target":4999,"interval":99999,"memory_limit":33554432,"ecn":true,"drop_batch":64},"bytes":0,"packets":0},
      {"kind":"ingress","handle":"ffff:","dev":"eth0","parent":"ffff:fff1","options":{}},
      {"kind":"cake","handle":"2:","dev":"ifb4eth0","root":true,"refcnt":2,"options":{"bandwidth":5937500,"diffserv":"besteffort","flowmode":"dual-dsthost","nat":true,"wash":false,"ingress":true,"ack-filter":"disabled","split_gso":true,"rtt":100000,"overhead":18,"mpu":64}}]
class htb 1:1 root leaf 10: prio 0 rate 9500Kbit ceil 9500Kbit burst 1600b cburst 1600b
 Sent 79 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)
"#;
    let (scenario, text) = imported(printed);
    let link = scenario.main_link();
    assert_eq!(link.down.nominal_rate().as_bit_s(), 47_500_000);
    assert_eq!(link.up.nominal_rate().as_bit_s(), 9_500_000);
    assert_eq!(link.framing, Framing::named("docsis").unwrap());
    let (down, up) = (link.down.queue.as_ref().unwrap(), link.up.queue.as_ref().unwrap());
    assert_eq!((down.chosen.kind.kind, up.chosen.kind.kind), ("cake", "fq-codel"));
    assert!(
        text.contains(r#"queue_up = { kind = "fq-codel", quantum = "1514 B", ecn = true, limit = "10240 packets" }"#),
        "{text}"
    );
    assert!(
        text.contains(
            r#"queue = { kind = "cake", isolation = "dual-dsthost", tins = "besteffort", ingress = true, nat = true, ecn = true }"#
        ),
        "{text}"
    );
}

/// The output of `tc -s -d -j qdisc show` and `tc class show` for a queue below htb at both
/// interfaces, with the framing of `pppoe-llcsnap`.
fn printed(kind: &str, options: &str) -> String {
    let interface = |dev: &str| {
        format!(
            r#"{{"kind":"htb","handle":"1:","dev":"{dev}","root":true,"refcnt":3,"options":{{"r2q":10,"default":"0x1","direct_packets_stat":0,"ver":"3.17","direct_qlen":1000}},"stab":{{"linklayer":"atm","overhead":26,"mtu":2047,"tsize":512}},"bytes":0}},
            {{"kind":"{kind}","handle":"10:","dev":"{dev}","parent":"1:1","options":{options},"bytes":0,"packets":0}}"#
        )
    };
    let class = |dev: &str, rate: &str| {
        format!(
            "dev {dev}\nclass htb 1:1 root leaf 10: prio 0 quantum 1514 rate {rate} ceil {rate} linklayer ethernet burst 1600b cburst 1600b\n"
        )
    };
    format!("[{},{}]\n{}{}", interface("eth0"), interface("ifb4eth0"), class("eth0", "10Mbit"), class("ifb4eth0", "50Mbit"))
}

/// Options as iproute2 prints them of kernel 6.12 (its sources, tc/q_*.c), set by what `gq export
/// tc` writes: the scenario comes back from the router.
#[test]
fn what_a_kernel_has_been_told_comes_back() {
    for (queue, buffer, kind, options) in [
        (r#""tail-drop""#, "30 packets", "pfifo", r#"{"limit":30}"#),
        (r#""tail-drop""#, "45 kB", "bfifo", r#"{"limit":45000}"#),
        (
            r#"{ kind = "codel", target = "13 ms", interval = "150 ms", ecn = true }"#,
            "1000 packets",
            "codel",
            r#"{"limit":1000,"target":12999,"interval":149999,"ecn":true}"#,
        ),
        (
            r#"{ kind = "fq-codel", flows = 512, quantum = "300 B", memory_limit = "4 MiB", drop_batch = 32, ecn = true }"#,
            "10240 packets",
            "fq_codel",
            r#"{"limit":10240,"flows":512,"quantum":300,"target":4999,"interval":99999,"memory_limit":4194304,"ecn":true,"drop_batch":32}"#,
        ),
        (
            r#"{ kind = "pie", target = "20 ms", t_update = "30 ms", alpha = 0.25, beta = 1.5, bytes = true, ecn = true }"#,
            "1000 packets",
            "pie",
            r#"{"limit":1000,"target":20000,"tupdate":30000,"alpha":4,"beta":24,"ecn":true,"bytemode":true}"#,
        ),
        (
            r#"{ kind = "fq-pie", flows = 64, mark_ecnth = 0.2, quantum = "600 B", estimator = "departure-rate" }"#,
            "10240 packets",
            "fq_pie",
            r#"{"limit":10240,"flows":64,"target":15000,"tupdate":15000,"alpha":2,"beta":20,"quantum":600,"memory_limit":33554432,"ecn_prob":20,"dq_rate_estimator":true}"#,
        ),
        (
            r#"{ kind = "red", min_th = "7500 B", max_th = "22500 B", w_q = 0.0078125, gentle = false, wait = false, queue_in_bytes = true, use_mark_p = false, ecn = true }"#,
            "400 kB",
            "red",
            r#"{"limit":400000,"min":7500,"max":22500,"ecn":true,"harddrop":false,"adaptive":false,"nodrop":false,"ewma":7,"probability":0.1,"Scell_log":12}"#,
        ),
        (
            r#"{ kind = "sfb", bin_size = 30, max = 40, d1 = 0.002, rehash = "100 s", ecn = true }"#,
            "1000 packets",
            "sfb",
            r#"{"rehash":100000000,"db":60000000,"limit":1000,"max":40,"target":30,"increment":0.002,"decrement":0.0000457771,"penalty_rate":10,"penalty_burst":20}"#,
        ),
        (
            r#"{ kind = "dualpi2", target = "10 ms", t_update = "16 ms", alpha = 0.25, beta = 3.5, min_th = "2 ms", range = "0 s", classic_weight = 0.2, k = 3 }"#,
            "10000 packets",
            "dualpi2",
            r#"{"limit":10000,"target":10000,"tupdate":16000,"alpha":0.25,"beta":3.5,"step-thresh-us":2000,"min-qlen-step":0,"coupling":3,"c-protection":20}"#,
        ),
    ] {
        let first = scenario(queue, buffer, "pppoe-llcsnap");
        let script = exported(&first).unwrap_or_else(|refusal| panic!("{queue}: {refusal}"));
        assert!(script.contains(&format!(" {kind} ")), "{script}");
        let (second, text) = imported(&printed(kind, options));
        assert_eq!(first.main_link().framing, second.main_link().framing, "{text}");
        for heading in [goodqueue_lab::scenario::plan::Direction::Down, goodqueue_lab::scenario::plan::Direction::Up] {
            let [a, b] = [&first, &second].map(|scenario| scenario.main_link().direction(heading));
            assert_eq!(a.nominal_rate(), b.nominal_rate(), "{text}");
            let [qa, qb] = [a, b].map(|direction| direction.queue.as_ref().unwrap());
            assert_eq!((qa.chosen.kind.kind, qa.ecn, qa.limit), (qb.chosen.kind.kind, qb.ecn, qb.limit), "{text}");
            let [ca, cb] = [qa, qb].map(|queue| values(&KindAndParams::new(queue.chosen.kind, queue.chosen.params.clone())));
            for (ours, theirs) in ca.iter().zip(&cb) {
                match (ours.1, theirs.1) {
                    // The kernel's numbers are printed in six digits.
                    (Some(Value::Number(a)), Some(Value::Number(b))) => {
                        assert!((a - b).abs() <= 1e-4 * a.abs(), "{ours:?} {theirs:?}")
                    }
                    (a, b) => assert_eq!(a, b, "{} of {queue}\n{text}", ours.0),
                }
            }
        }
    }
    let cake = r#"[{"kind":"cake","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"bandwidth":1250000,"diffserv":"besteffort","flowmode":"dual-srchost","nat":true,"wash":false,"ingress":false,"ack-filter":"enabled","split_gso":true,"rtt":100000,"raw":false,"atm":"ptm","overhead":30,"memlimit":4000000,"fwmark":"0"}}]"#;
    let queue = r#"{ kind = "cake", rate = "10 Mbit/s", tins = "besteffort", isolation = "dual-srchost", nat = true, ack_filter = "on" }"#;
    let (first, (second, text)) = (scenario(queue, "4 MB", "pppoe-ptm"), imported(cake));
    assert_eq!(first.main_link().framing, second.main_link().framing, "{text}");
    let [a, b] = [&first.main_link().up, &second.main_link().down];
    assert_eq!(a.nominal_rate(), b.nominal_rate());
    let set = |direction: &goodqueue_lab::scenario::plan::LinkDirection| {
        let queue = direction.queue.as_ref().unwrap();
        let shaped = ["rate"];
        let all = values(&KindAndParams::new(queue.chosen.kind, queue.chosen.params.clone()));
        (all.into_iter().filter(|(name, _)| !shaped.contains(name)).collect::<Vec<_>>(), queue.limit)
    };
    assert_eq!(set(a), set(b), "{text}");
}

/// Numbers of a text in four digits: `tc` prints six, of numbers that the kernel keeps in 16 bits.
fn rounded(text: String) -> Vec<String> {
    let round = |part: &str| part.parse::<f64>().map_or_else(|_| part.to_owned(), |number| format!("{number:.3e}"));
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).map(round).collect()
}

/// Compares the lines with the report of this machine's kernel, for the disciplines that it has.
#[cfg(target_os = "linux")]
#[test]
fn what_this_kernel_has_been_told_comes_back() {
    use std::process::Command;
    let run = |line: &str| {
        let output = Command::new("sh").args(["-c", line]).output().expect("a shell starts");
        (output.status.success(), [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let space = format!("gq-back-{}", std::process::id());
    let (made, [_, why]) = run(&format!(
        "ip netns add {space} && ip netns exec {space} ip link add eth0 type veth peer name v1 && ip netns exec {space} tc qdisc show"
    ));
    let mut faults = Vec::new();
    if !made {
        println!("skipped: no network namespace with tc: {}", why.trim());
    }
    for (queue, buffer) in [
        (r#""tail-drop""#, "30 packets"),
        (r#""tail-drop""#, "45 kB"),
        (r#"{ kind = "codel", target = "13 ms" }"#, "1000 packets"),
        (r#"{ kind = "fq-codel", flows = 512, quantum = "300 B", ecn = true }"#, "10240 packets"),
        // Times that are whole ticks of kernels of 100 Hz.
        (r#"{ kind = "pie", target = "20 ms", t_update = "20 ms", ecn = true }"#, "1000 packets"),
        (r#"{ kind = "fq-pie", flows = 64, t_update = "20 ms" }"#, "10240 packets"),
        (r#"{ kind = "sfb", bin_size = 30, max = 40, ecn = true }"#, "1000 packets"),
        (r#"{ kind = "cake", tins = "besteffort", nat = true }"#, "4 MB"),
        (r#"{ kind = "dualpi2", min_th = "2 ms", range = "0 s", alpha = 0.25, beta = 3.5 }"#, "900 packets"),
        (
            r#"{ kind = "red", min_th = "7500 B", max_th = "22500 B", w_q = 0.0625, gentle = false, wait = false, queue_in_bytes = true, use_mark_p = false, ecn = true }"#,
            "400 kB",
        ),
    ] {
        for framing in ["0 B", "docsis", "pppoe-llcsnap"].iter().filter(|_| made) {
            let first = scenario(queue, buffer, framing);
            let script = exported(&first).unwrap();
            let (good, [_, why]) = run(&format!("ip netns exec {space} sh -c '{script}'"));
            if !good {
                println!("skipped: {queue}: {}", why.lines().last().unwrap_or_default());
                continue;
            }
            for form in ["-s -d -j", "-d -j -p", "-s -d", "-d"] {
                let show =
                    format!("tc {form} qdisc show; for d in eth0 ifb4eth0; do echo dev $d; tc {form} class show dev $d; done");
                let (_, [printed, _]) = run(&format!("ip netns exec {space} sh -c '{show}'"));
                let draft = tc::import(&Input::read("router", printed.as_bytes()).unwrap(), Some("eth0"));
                let second = match draft {
                    Ok(draft) => read(&draft.text()),
                    Err(error) => {
                        faults.push(format!("{queue} {form}: {error}\n{printed}"));
                        continue;
                    }
                };
                for heading in [goodqueue_lab::scenario::plan::Direction::Down, goodqueue_lab::scenario::plan::Direction::Up] {
                    let state = |scenario: &Scenario| {
                        let direction = scenario.main_link().direction(heading);
                        let queue = direction.queue.as_ref().unwrap();
                        let values = values(&KindAndParams::new(queue.chosen.kind, queue.chosen.params.clone()));
                        (scenario.main_link().framing, direction.nominal_rate(), queue.ecn, queue.limit, values)
                    };
                    if rounded(format!("{:?}", state(&first))) != rounded(format!("{:?}", state(&second))) {
                        faults.push(format!("{queue} {framing} {form}: {:?}\n{:?}\n{printed}", state(&first), state(&second)));
                    }
                }
            }
        }
    }
    run(&format!("ip netns del {space}"));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// As iproute2 6.1 prints a table of sizes, with `-d` alone.
#[test]
fn tables_of_sizes_are_framing() {
    let json = r#"[{"kind":"htb","handle":"1:","dev":"eth0","root":true,"refcnt":3,"options":{"r2q":10,"default":"0x1","ver":"3.17"},"stab":{"linklayer":"atm","overhead":26,"mpu":96,"mtu":2047,"tsize":512}},
      {"kind":"fq_codel","handle":"10:","dev":"eth0","parent":"1:1","options":{"limit":10240,"flows":1024}}]"#;
    let text = "qdisc htb 1: dev eth0 root refcnt 3 r2q 10 default 0x1 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n \
                linklayer atm overhead 26 mpu 96 mtu 2047 tsize 512 \n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n\
                qdisc fq_codel 10: dev eth0 parent 1:1 limit 10240p flows 1024\n";
    for printed in [json, text] {
        let framing = imported(printed).0.main_link().framing;
        assert_eq!(framing, Framing { overhead: Bytes::new(40), mpu: Bytes::new(96), cells: Cells::Atm });
    }
    let keyword = "tc qdisc add dev eth0 root cake bandwidth 16mbit pppoe-ptm ether-vlan";
    assert_eq!(imported(keyword).0.main_link().framing, Framing::named("pppoe-ptm ether-vlan").unwrap());
    // Hostile numbers are no framing.
    for wrong in ["1e300", "nan", "-5000", "99999999999"] {
        let line = format!("tc qdisc add dev eth0 root cake bandwidth 16mbit overhead {wrong} mpu {wrong}");
        let read = Input::read("x", line.as_bytes()).unwrap();
        assert!(tc::import(&read, None).is_err() || imported(&line).0.main_link().framing.overhead.is_zero(), "{wrong}");
    }
}

/// A tbf keeps what its rate carries in the time that a packet may wait, and its burst.
#[test]
fn the_latency_of_tbf_is_a_limit_in_bytes() {
    for (text, bytes) in [
        // 250,000 B/s for 200 ms, and the burst.
        ("tc qdisc add dev eth0 root tbf rate 2mbit burst 5000 latency 200ms", 55_000),
        ("tc qdisc add dev eth0 root tbf rate 2mbit buffer 5000 lat 200ms", 55_000),
        ("qdisc tbf 1: dev eth0 root refcnt 2 rate 2Mbit burst 5000b lat 200ms", 55_000),
        (
            r#"[{"kind":"tbf","handle":"1:","dev":"eth0","root":true,"options":{"rate":250000,"burst":5000,"lat":200000}}]"#,
            55_000,
        ),
        // The peak rate's own bucket is the lesser one.
        ("tc qdisc add dev eth0 root tbf rate 2mbit burst 50000 latency 20ms peakrate 3mbit mtu 2000", 9_500),
        ("tc qdisc add dev eth0 root tbf rate 2mbit burst 5000 limit 30000", 30_000),
    ] {
        let (scenario, made) = imported(text);
        let limit = scenario.main_link().down.queue.as_ref().unwrap().limit;
        assert_eq!(limit.bytes, Bytes::new(bytes), "{text}\n{made}");
    }
}

/// Own framing of a shaper in the scenario, and a bound on cake's memory.
#[test]
fn a_shaper_with_its_own_framing_comes_back() {
    for (queue, shaped, framing) in [
        (
            r#"{ kind = "cake", rate = "9 Mbit/s", framing = "pppoe-ptm", memlimit = "1 MB" }"#,
            9_000_000,
            Framing::named("pppoe-ptm"),
        ),
        (
            r#"{ kind = "shaper", rate = "8 Mbit/s", framing = "pppoa-llc", of = "fq-codel" }"#,
            8_000_000,
            Framing::named("pppoa-llc"),
        ),
        (
            r#"{ kind = "shaper", rate = "8 Mbit/s", overhead = "18 B", mpu = "64 B", of = "cake" }"#,
            8_000_000,
            Framing::named("docsis"),
        ),
    ] {
        let first = scenario(queue, "4 MB", "0 B");
        let script = exported(&first).unwrap_or_else(|refusal| panic!("{queue}: {refusal}"));
        let (second, text) = imported(&script);
        let link = second.main_link();
        assert_eq!((link.down.nominal_rate().as_bit_s(), Ok(link.framing)), (shaped, framing), "{script}\n{text}");
        if queue.contains("memlimit") {
            assert_eq!(link.down.queue.as_ref().unwrap().limit.bytes, Bytes::new(1_000_000), "{script}");
        }
    }
}

#[test]
fn wrong_lines_get_one_message() {
    let message = |text: &str| tc::import(&Input::read("x", text.as_bytes()).unwrap(), None).unwrap_err().to_string();
    assert_eq!(message(""), "x: has no queue: expected what tc -s -j qdisc show prints, or lines of tc");
    assert!(message("[{").starts_with("x: is not JSON: "));
    assert_eq!(message("[{}]"), "x: line 1: a kind is missing");
    assert_eq!(message("tc qdisc add dev eth0 root"), "x: line 1: a kind is missing");
    assert_eq!(message("tc qdisc add dev eth0 root codel limit"), "x: line 1: limit: a value is missing");
    assert_eq!(message("tc qdisc add dev eth0 root codel limit -5"), "x: line 1: codel: limit: `-5` is not a value of it");
    assert_eq!(
        message("tc qdisc add dev eth0 root codel target 5parsec"),
        "x: line 1: codel: target: `5parsec` is not a value of it"
    );
    let tbf = "tc qdisc add dev eth0 root tbf rate 2mbit burst 5000 latency soon";
    assert_eq!(message(tbf), "x: line 1: tbf: latency: `soon` is not a value of it");
    assert!(message("tc qdisc add dev eth0 root hhf").starts_with("x: `hhf` at eth0 is not a queue that gq has: allowed "));
    let netem = |options: &str| message(&format!("tc qdisc add dev eth0 root handle 1: netem {options}"));
    let times = "allowed 0s to 1000s with its unit, such as 20ms";
    assert_eq!(netem("delay 5"), format!("x: line 1: netem 1:: delay: `5` is not a value of it: {times}"));
    assert_eq!(netem("delay 2000s"), format!("x: line 1: netem 1:: delay: `2000s` is not a value of it: {times}"));
    assert_eq!(netem("delay 5ms loss 100%"), "x: line 1: netem 1:: loss: `100%` is not a value of it: allowed 0% to 99%");
    assert_eq!(
        netem("rate -5mbit"),
        "x: line 1: netem 1:: rate: `-5mbit` is not a rate: allowed 1bit to 10tbit, such as 9500kbit"
    );
    let classes = "tc qdisc add dev eth0 root handle 1: htb\nclass htb 1:1 root rate 1Mbit\nclass htb 1:1 root rate 2Mbit\n";
    assert_eq!(
        message(classes),
        "x: has several classes 1:1 without their interface: put a line `dev NAME` before what tc class show dev NAME prints"
    );
    let two = "tc qdisc add dev eth0 root codel\ntc qdisc add dev eth1 root codel";
    assert_eq!(message(two), "x: has queues at eth0, eth1: name one with --dev");
    // A loop ends.
    let loops = r#"[{"kind":"htb","handle":"1:","dev":"a","root":true,"options":{}},{"kind":"htb","handle":"1:","dev":"a","parent":"1:1","options":{}}]"#;
    assert!(message(loops).starts_with("x: `htb` at a is not a queue that gq has"));
}
