use super::*;
use std::collections::BTreeMap;

/// A host made of files and outputs.
#[derive(Clone, Default)]
struct Made {
    files: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
}

const QUIET: &str = "tcp-segmentation-offload: off\ngeneric-segmentation-offload: off\ngeneric-receive-offload: off\n";

impl Made {
    /// A physical eth0 of 1 Gbit/s with these queues, and all else as it should be.
    fn with(queues: &str) -> Self {
        let mut made = Self::default();
        for (path, text) in [
            ("/sys/class/net/eth0/speed", "1000\n"),
            ("/sys/class/net/eth0/tx_queue_len", "1000\n"),
            ("/sys/class/net/eth0/device/uevent", ""),
            ("/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit", "30000\n"),
            ("/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_min", "0\n"),
            ("/sys/class/net/eth0/statistics/tx_bytes", "100000000\n"),
            ("/sys/class/net/lo/mtu", "65536\n"),
            ("/proc/sys/net/core/default_qdisc", "fq_codel\n"),
            (
                "/proc/net/route",
                "Iface Destination Gateway Flags RefCnt Use Metric Mask\neth0 00000000 01 0003 0 0 0 00000000 0 0 0\n",
            ),
            ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n"),
        ] {
            made.files.insert(path.to_owned(), text.to_owned());
        }
        made.outputs.insert("tc -j qdisc show".to_owned(), queues.to_owned());
        made.outputs.insert("tc -j filter show dev eth0 ingress".to_owned(), "[]".to_owned());
        made.outputs.insert("ethtool -k eth0".to_owned(), QUIET.to_owned());
        made
    }

    fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    fn without(mut self, prefix: &str) -> Self {
        self.files.retain(|path, _| !path.starts_with(prefix));
        self.outputs.retain(|words, _| !words.starts_with(prefix));
        self
    }

    fn prints(mut self, words: &str, text: &str) -> Self {
        self.outputs.insert(words.to_owned(), text.to_owned());
        self
    }

    /// Returns the finding of a check: weight, text and commands.
    fn finding(&self, check: &str) -> Option<(Weight, String, Vec<String>)> {
        let report = examine(self, Some("eth0")).unwrap();
        let found = report.findings.into_iter().find(|finding| finding.check == check)?;
        Some((found.weight, found.text, found.mend))
    }
}

impl Source for Made {
    fn file(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let prefix = format!("{path}/");
        let mut names: Vec<String> =
            self.files.keys().filter_map(|known| known.strip_prefix(&prefix)?.split('/').next().map(str::to_owned)).collect();
        names.dedup();
        names
    }

    fn output(&self, words: &[&str]) -> Option<String> {
        self.outputs.get(&words.join(" ")).cloned()
    }
}

fn qdisc(dev: &str, kind: &str, handle: &str, parent: &str, options: &str) -> String {
    let parent = if parent.is_empty() { "\"root\":true".to_owned() } else { format!("\"parent\":\"{parent}\"") };
    format!("{{\"kind\":\"{kind}\",\"handle\":\"{handle}\",\"dev\":\"{dev}\",{parent},\"options\":{{{options}}}}}")
}

fn list(queues: &[String]) -> String {
    format!("[{}]", queues.join(","))
}

const HTB: &str = "class htb 1:1 root leaf 10: prio 0 rate 9500Kbit ceil 9500Kbit burst 1600b cburst 1600b\n";

/// 9.5 Mbit/s of htb over this queue.
fn shaped(leaf: &str) -> Made {
    let queues = [qdisc("eth0", "htb", "1:", "", "\"default\":\"0x1\""), qdisc("eth0", leaf, "10:", "1:1", "")];
    Made::with(&list(&queues)).prints("tc class show dev eth0", HTB)
}

/// eth0 with cake, and an ifb with this queue.
fn with_ifb(queue: &str) -> Made {
    let queues = [
        qdisc("eth0", "cake", "1:", "", "\"bandwidth\":1187500"),
        qdisc("eth0", "ingress", "ffff:", "ffff:fff1", ""),
        queue.to_owned(),
    ];
    Made::with(&list(&queues)).file("/sys/class/net/ifb4eth0/flags", "0x83\n")
}

fn redirect(protocol: &str) -> String {
    format!(
        "[{{\"protocol\":\"{protocol}\",\"kind\":\"u32\"}},{{\"protocol\":\"{protocol}\",\"kind\":\"u32\",\"options\":{{\"actions\":\
         [{{\"kind\":\"mirred\",\"mirred_action\":\"redirect\",\"to_dev\":\"ifb4eth0\"}}]}}}}]"
    )
}

fn text(found: Option<(Weight, String, Vec<String>)>) -> (Weight, String, String) {
    let (weight, text, mend) = found.expect("the check found something");
    (weight, text, mend.join(" && "))
}

#[test]
fn a_host_that_is_set_up_has_nothing_to_mend() {
    let filter = redirect("all");
    let host = with_ifb(&qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500"))
        .prints("tc -j filter show dev eth0 ingress", &filter);
    let report = examine(&host, None).unwrap();
    assert_eq!(report.dev, "eth0");
    let weights: Vec<Weight> = report.findings.iter().map(|finding| finding.weight).collect();
    assert_eq!(weights, [Weight::Good], "{report:?}");
}

#[test]
fn a_queue_without_management_is_a_problem() {
    let host = Made::with(&list(&[qdisc("eth0", "pfifo_fast", "0:", "", "\"bands\":3")]));
    let (weight, said, mend) = text(host.finding("queue"));
    assert_eq!((weight, mend.as_str()), (Weight::Problem, "tc qdisc replace dev eth0 root fq_codel"));
    assert!(said.starts_with("pfifo_fast at eth0 has no queue management"), "{said}");
}

#[test]
fn queue_management_at_the_speed_of_the_interface_is_noted() {
    let host = Made::with(&list(&[qdisc("eth0", "mq", "0:", "", ""), qdisc("eth0", "fq_codel", "0:", ":1", "")]));
    let (weight, said, mend) = text(host.finding("queue"));
    assert_eq!(weight, Weight::Note);
    assert!(said.starts_with("mq over fq_codel at eth0 acts when more than 1 Gbit/s are to leave."), "{said}");
    assert_eq!(mend, "gq export tc SCENARIO.toml --dev eth0");
}

#[test]
fn a_shaper_over_a_plain_queue_is_a_problem() {
    let (weight, said, mend) = text(shaped("pfifo").finding("shaper's queue"));
    assert_eq!(weight, Weight::Problem);
    assert_eq!(said, "Packets wait below htb 1: at eth0, in pfifo: no queue management sees them.");
    assert_eq!(mend, "tc qdisc replace dev eth0 parent 1:1 fq_codel");
    assert_eq!(shaped("fq_codel").finding("shaper's queue"), None);
    let tbf = Made::with(&list(&[qdisc("eth0", "tbf", "8001:", "", "\"rate\":1187500,\"burst\":5000")]));
    assert_eq!(text(tbf.finding("shaper's queue")).2, "tc qdisc replace dev eth0 parent 8001:1 fq_codel");
}

#[test]
fn a_shaper_that_is_faster_than_its_interface_is_a_problem() {
    let host = shaped("fq_codel")
        .file("/sys/class/net/eth0/speed", "10\n")
        .prints("tc class show dev eth0", &HTB.replace("9500", "20000"));
    let (_, said, _) = text(host.finding("shaper's rate"));
    assert_eq!(
        said,
        "ceil of htb 1:1 at eth0 is 20 Mbit/s, and eth0 itself carries 10 Mbit/s: packets wait below the shaper, not in its queue."
    );
    assert_eq!(shaped("fq_codel").finding("shaper's rate"), None);
}

#[test]
fn large_packets_under_a_shaper_are_a_problem() {
    let on = QUIET.replace(": off", ": on");
    let (weight, said, mend) = text(shaped("fq_codel").prints("ethtool -k eth0", &on).finding("offloads"));
    assert_eq!(weight, Weight::Problem);
    assert_eq!(
        said,
        "tso, gso, gro at eth0 make packets of up to 64 KiB, which take 55 ms at 9.5 Mbit/s; all others wait so long."
    );
    assert_eq!(mend, "ethtool -K eth0 tso off gso off gro off");
    // cake splits them.
    let cake = Made::with(&list(&[qdisc("eth0", "cake", "1:", "", "\"bandwidth\":1187500")])).prints("ethtool -k eth0", &on);
    assert_eq!(cake.finding("offloads"), None);
}

#[test]
fn interface_that_never_waits_needs_its_lower_one_or_a_shaper() {
    let bridge = |queue: &str| {
        Made::with(&list(&[qdisc("eth0", queue, "0:", "", "")]))
            .without("/sys/class/net/eth0/device")
            .file("/sys/class/net/eth0/lower_lan1/mtu", "1500")
    };
    let (weight, said, mend) = text(bridge("fq_codel").finding("interface"));
    assert_eq!((weight, mend.as_str()), (Weight::Problem, "gq doctor --dev lan1"));
    let lower = list(&[qdisc("eth0", "fq_codel", "0:", "", ""), qdisc("lan1", "pfifo_fast", "0:", "", "")]);
    let over_plain = bridge("fq_codel").prints("tc -j qdisc show", &lower);
    assert_eq!(text(over_plain.finding("interface")).2, "tc qdisc replace dev lan1 root fq_codel");
    assert!(said.ends_with("without a shaper none ever waits there. It sends through lan1."), "{said}");
    assert_eq!(text(bridge("noqueue").finding("interface")).0, Weight::Note);
    assert_eq!(shaped("fq_codel").without("/sys/class/net/eth0/device").finding("interface"), None);
}

#[test]
fn a_driver_without_byte_queue_limits_is_noted() {
    let plain = || Made::with(&list(&[qdisc("eth0", "fq_codel", "0:", "", "")]));
    let limit = "/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit";
    assert_eq!(plain().finding("driver's queue"), None);
    assert_eq!(text(plain().file(limit, "0").finding("driver's queue")).0, Weight::Note);
    let queue = "/sys/class/net/eth0/queues";
    let without = plain().without(queue).file(&format!("{queue}/tx-0/tx_timeout"), "0");
    assert_eq!(text(without.finding("driver's queue")).2, "ethtool -G eth0 tx 64");
    // Of queues that nothing is known of, nothing is missing.
    assert_eq!(plain().without(queue).finding("driver's queue"), None);
    // Before there was traffic, limits say nothing.
    let idle = plain().file(limit, "0").file("/sys/class/net/eth0/statistics/tx_bytes", "500");
    assert_eq!(idle.finding("driver's queue"), None);
    let floor = plain().file("/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_min", "200000");
    assert!(text(floor.finding("driver's queue")).2.ends_with("echo 0 > $q/byte_queue_limits/limit_min; done"));
}

#[test]
fn a_radio_without_a_queue_has_no_ring_to_shorten() {
    let noqueue = list(&[qdisc("eth0", "noqueue", "0:", "", "")]);
    let radio = Made::with(&noqueue).without("/sys/class/net/eth0/queues").file("/sys/class/net/eth0/phy80211/name", "phy0");
    let (weight, said, mend) = text(radio.finding("driver's queue"));
    assert_eq!((weight, mend.as_str()), (Weight::Note, ""));
    assert!(said.contains("mac80211 keeps packets in FQ-CoDel for each station"), "{said}");
}

#[test]
fn mq_gets_another_handle_and_sfq_no_praise() {
    // tc 6.1 takes `root mq` over one with a handle for a change, and changes nothing.
    let queues = [qdisc("eth0", "mq", "1:", "", ""), qdisc("eth0", "pfifo_fast", "0:", "1:1", "")];
    let (weight, _, mend) = text(Made::with(&list(&queues)).finding("queue"));
    let set = "sysctl -w net.core.default_qdisc=fq_codel && tc qdisc replace dev eth0 root handle 2: mq";
    assert_eq!((weight, mend.as_str()), (Weight::Problem, set));
    let (weight, said, mend) = text(shaped("sfq").finding("queue"));
    assert_eq!((weight, mend.as_str()), (Weight::Note, "tc qdisc replace dev eth0 parent 1:1 fq_codel"));
    assert!(said.starts_with("sfq 10: at eth0 shares the rate between flows, but has no queue management"), "{said}");
}

#[test]
fn ingress_queue_without_redirected_packets_is_a_problem() {
    let host = with_ifb(&qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500"));
    let (weight, said, mend) = text(host.finding("arriving packets"));
    assert_eq!(weight, Weight::Problem);
    assert_eq!(said, "ifb4eth0 has a queue for packets that arrive at eth0, and nothing sends them there.");
    assert!(mend.ends_with("u32 match u32 0 0 action mirred egress redirect dev ifb4eth0"), "{mend}");
}

#[test]
fn arriving_packets_need_a_managed_queue_behind_a_shaper() {
    let sent = |queue: &str| with_ifb(queue).prints("tc -j filter show dev eth0 ingress", &redirect("all"));
    let said = |host: Made| text(host.finding("arriving packets' queue")).1;
    let plain = said(sent(&qdisc("ifb4eth0", "pfifo_fast", "0:", "", "")));
    assert_eq!(plain, "ifb4eth0, where packets arriving at eth0 wait, has pfifo_fast and no queue management.");
    let unshaped = said(sent(&qdisc("ifb4eth0", "fq_codel", "0:", "", "")));
    assert_eq!(unshaped, "The queue of ifb4eth0 is not shaped, so no arriving packet ever waits there.");
    let cake = qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500");
    let (_, down, mend) = text(sent(&cake).file("/sys/class/net/ifb4eth0/flags", "0x82").finding("arriving packets' queue"));
    assert_eq!(down, "Packets that arrive at eth0 are sent to ifb4eth0, which is down: they are lost.");
    assert_eq!(mend, "ip link set dev ifb4eth0 up");
    // Of an interface that nothing is known of, nothing is said.
    let gone = Made::with(&list(&[qdisc("eth0", "cake", "1:", "", "\"bandwidth\":1187500")]))
        .prints("tc -j filter show dev eth0 ingress", &redirect("all"));
    let (weight, said, mend) = text(gone.finding("arriving packets' queue"));
    assert_eq!((weight, mend.as_str()), (Weight::Note, "ip link show dev ifb4eth0"));
    assert_eq!(said, "Packets that arrive at eth0 are sent to ifb4eth0, of which nothing is known.");
    assert_eq!(sent(&cake).without("/sys/class/net/ifb4eth0").finding("arriving packets' queue"), None);
    assert_eq!(sent(&cake).finding("arriving packets' queue"), None);
}

#[test]
fn a_redirection_of_one_protocol_leaves_the_other() {
    let host = |protocol: &str| {
        with_ifb(&qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500"))
            .prints("tc -j filter show dev eth0 ingress", &redirect(protocol))
    };
    assert_eq!(text(host("ip").finding("arriving protocols")).1, "Packets of IPv6 that arrive at eth0 pass the queue by.");
    assert_eq!(text(host("ipv6").finding("arriving protocols")).1, "Packets of IPv4 that arrive at eth0 pass the queue by.");
    assert_eq!(host("all").finding("arriving protocols"), None);
}

#[test]
fn settings_of_the_host_are_noted() {
    let plain = || Made::with(&list(&[qdisc("eth0", "fq_codel", "0:", "", "")]));
    let host = plain().file("/proc/sys/net/core/default_qdisc", "pfifo_fast\n");
    assert_eq!(text(host.finding("default queue")).2, "sysctl -w net.core.default_qdisc=fq_codel");
    let host = plain().file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    let (_, said, mend) = text(host.finding("clock"));
    assert!(said.starts_with("The kernel reads its time from hpet"), "{said}");
    assert_eq!(mend, "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource");
    assert_eq!(plain().finding("clock"), None);
}

#[test]
fn the_length_of_a_plain_queue_is_judged() {
    let plain = |length: &str| {
        Made::with(&list(&[qdisc("eth0", "pfifo_fast", "0:", "", "")])).file("/sys/class/net/eth0/tx_queue_len", length)
    };
    let (weight, said, mend) = text(plain("0").finding("queue length"));
    assert_eq!((weight, mend.as_str()), (Weight::Problem, "ip link set dev eth0 txqueuelen 1000"));
    assert_eq!(said, "txqueuelen of eth0 is 0: pfifo_fast holds one packet and drops the rest.");
    let said = text(plain("10000").finding("queue length")).1;
    assert_eq!(said, "txqueuelen of eth0 is 10000: pfifo_fast may hold so many packets, 120 ms at its rate.");
    assert_eq!(plain("1000").finding("queue length"), None);
}

#[test]
fn missing_tools_are_named() {
    let plain = || Made::with(&list(&[qdisc("eth0", "fq_codel", "0:", "", "")]));
    assert_eq!(text(plain().without("tc ").finding("tools")).2, "apt install iproute2");
    assert_eq!(text(plain().without("ethtool").finding("tools")).2, "apt install ethtool");
}

#[test]
fn bands_of_prio_without_a_queue_are_fifos() {
    let prio = || qdisc("eth0", "prio", "1:", "", "\"bands\":2,\"priomap\":[1,1,1,1]");
    let (weight, said, mend) = Made::with(&list(&[prio()])).finding("queue").unwrap();
    assert_eq!(weight, Weight::Problem);
    assert_eq!(said, "prio 1: at eth0 has a fifo in each band: no queue management sees its packets.");
    assert_eq!(mend, [1, 2].map(|band| format!("tc qdisc replace dev eth0 parent 1:{band} fq_codel")));
    let managed = Made::with(&list(&[prio(), qdisc("eth0", "fq_codel", "20:", "1:2", "")]));
    assert_ne!(managed.finding("queue").map(|(weight, ..)| weight), Some(Weight::Problem));
}

/// eth0 with htb of these options, one class of 1 Mbit/s and fq_codel below it.
fn htb(options: &str) -> Made {
    let queues = [qdisc("eth0", "htb", "1:", "", options), qdisc("eth0", "fq_codel", "20:", "1:2", "")];
    let class = "class htb 1:2 root leaf 20: prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n";
    Made::with(&list(&queues)).prints("tc class show dev eth0", class)
}

#[test]
fn packets_that_pass_a_shaper_by_are_a_problem() {
    let (weight, said, mend) = text(htb("\"default\":\"0x9\",\"direct_packets_stat\":4711").finding("shaper's classes"));
    assert_eq!(weight, Weight::Problem);
    assert_eq!(
        said,
        "htb 1: at eth0 has no default class 1:9: packets that no filter puts into a class pass its shaper and queues by; \
         4711 did (direct_packets_stat)."
    );
    assert_eq!(mend, "tc filter add dev eth0 parent 1: protocol all prio 65535 u32 match u32 0 0 flowid 1:2");
    for (options, evidence) in
        [("\"default\":\"0x9\",\"direct_packets_stat\":0", "none has yet."), ("\"default\":\"0\"", "how many did is not known.")]
    {
        let (weight, said, _) = text(htb(options).finding("shaper's classes"));
        assert!(weight == Weight::Note && said.ends_with(evidence), "{said}");
    }
    let whole = "\"default\":\"0x2\",\"direct_packets_stat\":4711";
    assert_eq!(htb(whole).finding("shaper's classes"), None);
    // Classes that are not known are not missing.
    let unknown = htb("\"default\":\"0x9\",\"direct_packets_stat\":4711").without("tc class");
    assert_eq!(unknown.finding("shaper's classes"), None);
    assert_eq!(
        text(unknown.finding("not known")).1,
        "The classes of the shaper at eth0 are not known: tc class show dev eth0 printed none."
    );
}

#[test]
fn an_emulator_on_the_way_is_a_problem() {
    let netem = qdisc("eth0", "netem", "1:", "", "\"limit\":1000,\"delay\":{\"delay\":0.1}");
    let (weight, said, mend) = text(Made::with(&list(std::slice::from_ref(&netem))).finding("emulator"));
    assert_eq!(weight, Weight::Problem);
    assert!(said.starts_with("netem 1: at eth0 emulates a line (") && said.contains("delay 0.1s"), "{said}");
    assert_eq!(mend, "tc qdisc replace dev eth0 root fq_codel");
    // Below it may be what a test still needs.
    let chain = [netem, qdisc("eth0", "tbf", "10:", "1:1", "\"rate\":1187500,\"burst\":5000")];
    assert_eq!(text(Made::with(&list(&chain)).finding("emulator")).2, "");
}

#[test]
fn a_bucket_that_lasts_long_is_a_problem() {
    let tbf = |burst: u32| {
        let options = format!("\"rate\":250000,\"burst\":{burst},\"lat\":50000");
        Made::with(&list(&[qdisc("eth0", "tbf", "1:", "", &options)])).finding("shaper's bucket")
    };
    let (weight, said, _) = text(tbf(64_000));
    assert_eq!(weight, Weight::Problem);
    assert!(said.contains("(rate of tbf 1: at eth0) lasts 256 ms at 2 Mbit/s"), "{said}");
    assert_eq!(tbf(12_000), None);
}

#[test]
fn two_shapers_one_after_the_other_are_a_problem() {
    let inner = |bandwidth: &str| {
        let queues = [
            qdisc("eth0", "htb", "1:", "", "\"default\":\"0x1\""),
            qdisc("eth0", "cake", "10:", "1:1", &format!("\"bandwidth\":{bandwidth}")),
        ];
        Made::with(&list(&queues)).prints("tc class show dev eth0", HTB).finding("shapers")
    };
    let (weight, said, mend) = text(inner("1000000"));
    assert_eq!((weight, mend.as_str()), (Weight::Problem, "tc qdisc change dev eth0 parent 1:1 cake unlimited"));
    assert!(said.starts_with("cake 10: at eth0 shapes below htb 1:, which shapes, too"), "{said}");
    assert_eq!(inner("\"unlimited\""), None);
    let below = |rate: &str| {
        let queues = [
            qdisc("eth0", "cake", "1:", "", "\"bandwidth\":1250000"),
            qdisc("lan1", "cake", "1:", "", &format!("\"bandwidth\":{rate}")),
        ];
        Made::with(&list(&queues)).file("/sys/class/net/eth0/lower_lan1/mtu", "1500").finding("shapers")
    };
    assert!(text(below("1000000")).1.starts_with("eth0 is shaped to 10 Mbit/s, and lan1"));
    assert_eq!(below("2000000"), None);
}

/// Filters as iproute2 5.9 prints them: half of it is no JSON.
const OLD_FILTERS: &str = "[{\"protocol\":\"ip\",\"kind\":\"u32\",\"options\":{fh 800: ht divisor 1 }},{\"protocol\":\"all\",\"kind\":\
    \"u32\",\"options\":{fh 800::800 order 2048 key ht 800 bkt 0 terminal flowid ??? not_in_hw \n  match 00000000/00000000 at 0\n\
    \"actions\":[{\"kind\":\"mirred\",\"mirred_action\":\"redirect\",\"to_dev\":\"ifb4eth0\"}]}}]";

#[test]
fn filters_that_are_not_understood_are_not_missing() {
    let host = |filters: &str| {
        with_ifb(&qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500"))
            .prints("tc -j filter show dev eth0 ingress", filters)
    };
    assert_eq!(host(OLD_FILTERS).finding("not known"), None);
    assert_eq!(host(OLD_FILTERS).finding("arriving packets"), None);
    let text_of_tc = "filter parent ffff: protocol all pref 10 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 terminal\n\
                      action order 1: mirred (Egress Redirect to device ifb4eth0) stolen\n";
    assert_eq!(host(text_of_tc).finding("arriving protocols"), None);
    for unclear in ["", "Cannot talk", &OLD_FILTERS[..150], "[{\"protocol\":\"all\",\"kind\":\"bpf\",\"options\":{}}]"] {
        let report = examine(&host(unclear), None).unwrap();
        assert!(report.findings.iter().all(|finding| finding.weight != Weight::Problem), "{unclear}: {report:?}");
        assert!(report.findings.iter().any(|finding| finding.check == "not known"), "{unclear}: {report:?}");
    }
}

/// Hosts of which one fact after the other is not known.
#[test]
fn no_missing_fact_is_a_problem_and_no_advice_deletes() {
    let hosts = || {
        [
            with_ifb(&qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500"))
                .prints("tc -j filter show dev eth0 ingress", &redirect("all")),
            shaped("fq_codel"),
        ]
    };
    for which in 0..hosts().len() {
        let [files, outputs] =
            [&hosts()[which].files, &hosts()[which].outputs].map(|facts| facts.keys().cloned().collect::<Vec<_>>());
        for gone in files.iter().chain(&outputs) {
            let Ok(report) = examine(&hosts()[which].clone().without(gone), Some("eth0")) else { continue };
            for finding in report.findings {
                assert_ne!(finding.weight, Weight::Problem, "without {gone}: {finding:?}");
            }
        }
    }
    let nothing_sent = with_ifb(&qdisc("ifb4eth0", "cake", "2:", "", "\"bandwidth\":5937500"));
    let one_protocol = hosts()[0].clone().prints("tc -j filter show dev eth0 ingress", &redirect("ip"));
    for host in [nothing_sent, one_protocol] {
        for finding in examine(&host, None).unwrap().findings {
            assert!(finding.mend.iter().all(|line| !line.contains(" del ")), "{finding:?}");
        }
    }
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    let host = Made::with("[]");
    let said = |host: &Made, dev| examine(host, dev).unwrap_err().to_string();
    assert_eq!(said(&host, Some("eth\u{1b}9")), "`eth\u{fffd}9` is no interface of this host: allowed eth0, lo");
    let lost = Made::with("[]").without("/proc/net/route");
    assert_eq!(said(&lost, None), "no default route says which interface: name one with --dev: eth0, lo");
    assert_eq!(said(&Made::default(), None), "there is no /sys/class/net: gq doctor is for Linux");
}

#[test]
fn a_folder_stands_for_a_host() {
    let dir = tempfile::tempdir().unwrap();
    let made = Made::with(&list(&[qdisc("eth0", "pfifo_fast", "0:", "", "")]));
    for (path, text) in &made.files {
        let path = dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir(dir.path().join("commands")).unwrap();
    for (words, text) in &made.outputs {
        std::fs::write(dir.path().join("commands").join(words.replace(' ', "_")), text).unwrap();
    }
    let folder = Folder::new(dir.path().to_owned());
    assert_eq!(examine(&folder, None), examine(&made, None));
    let said = || examine(&Folder::new(dir.path().to_owned()), None).unwrap_err().to_string();
    let queues = dir.path().join("commands/tc_-j_qdisc_show");
    std::fs::write(&queues, b"[\xff]").unwrap();
    assert_eq!(said(), format!("{}: byte 2 is not UTF-8", queues.display()));
    std::fs::remove_file(&queues).unwrap();
    std::fs::create_dir(&queues).unwrap();
    assert_eq!(said(), format!("{}: it is a directory", queues.display()));
    let nowhere = Folder::new(dir.path().join("nowhere"));
    let said = examine(&nowhere, None).unwrap_err().to_string();
    assert!(
        said.ends_with("/nowhere: has no sys/class/net: expected a folder with files of a machine that runs Linux"),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sys/class/net/eth0")).unwrap();
    std::fs::create_dir(dir.path().join("commands")).unwrap();
    let pipe = dir.path().join("commands/tc_-j_qdisc_show");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = examine(&Folder::new(dir.path().to_owned()), Some("eth0")).unwrap_err().to_string();
    assert_eq!(said, format!("{}: it is a named pipe, which may never end", pipe.display()));
}
