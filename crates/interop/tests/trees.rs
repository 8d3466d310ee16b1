//! Round trips of trees: `gq import tc` reads the classes that `gq export tc` writes as the same
//! queue, from its lines and from what a kernel prints that has been told them.

use goodqueue_aqm::sched::TAIL_DROP;
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, Param, Size, Value};
use goodqueue_base::units::{Bytes, Rng};
use goodqueue_interop::import::{Input, tc};
use goodqueue_interop::router::dialect::Refusal;
use goodqueue_interop::router::setup::{Setup, Shaping};
use goodqueue_interop::router::syntax::{self, Interface, Place};
use goodqueue_lab::scenario::plan::{Plan, Queue, Scenario};
use std::fmt::Write as _;

fn scenario(queue: &str) -> Scenario {
    let text = format!(
        "goodqueue = 1\nduration = \"10 s\"\n[link.line]\nrate = \"10 Gbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1000 packets\"\n\
         queue.kind = \"htb\"\n{queue}[[traffic]]\nkind = \"bulk\"\n"
    );
    read(&text)
}

fn read(text: &str) -> Scenario {
    let plan = Plan::parse_without_files("test", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan.point(0).unwrap().plan
}

fn setup(scenario: &Scenario) -> Result<Setup, Refusal> {
    Setup::new(scenario, None, Shaping::Percent(95.0))
}

fn place() -> Place {
    let dev = Interface::new("eth0").unwrap();
    Place { ifb: dev.ifb(), dev, egress: None }
}

fn exported(scenario: &Scenario) -> Result<String, Refusal> {
    syntax::tc::script(&setup(scenario)?, &place())
}

fn imported(text: &str) -> Scenario {
    let draft = tc::import(&Input::read("lines", text.as_bytes()).unwrap(), Some("eth0"));
    read(&draft.unwrap_or_else(|error| panic!("{error}\n{text}")).text())
}

fn queue(scenario: &Scenario) -> &Queue {
    scenario.main_link().down.queue.as_ref().unwrap()
}

const RATES: [&str; 6] = ["64 kbit/s", "1 Mbit/s", "2.5 Mbit/s", "48 Mbit/s", "300 Mbit/s", "1 Gbit/s"];
const LEAVES: [&str; 7] = [
    "",
    ", limit = \"70 packets\"",
    ", limit = \"60 kB\", of = \"tail-drop\"",
    ", limit = \"1000 packets\", of = { kind = \"codel\", target = \"8 ms\" }",
    ", limit = \"10240 packets\", of = { kind = \"fq-codel\", flows = 64, quantum = \"300 B\" }",
    ", limit = \"900 packets\", of = { kind = \"pie\", target = \"20 ms\", t_update = \"20 ms\" }",
    ", limit = \"4 MB\", of = { kind = \"cake\", tins = \"besteffort\", nat = true }",
];

/// Classes in which each draw of `rng` makes a choice, with a default among the leaves or none.
fn drawn(rng: &mut Rng, leaves: &[&str]) -> String {
    let mut pick = |count: usize| rng.below(count as u64) as usize;
    let mut parents: Vec<Option<usize>> = Vec::new();
    let count = 2 + pick(30);
    let depth = |parents: &[Option<usize>], at: usize| std::iter::successors(Some(at), |at| parents[*at]).count();
    for at in 0..count {
        // Numbers say nothing of the order: a class may be below a later one.
        let above = pick(count);
        let may = above < at && depth(&parents, above) < 4 && pick(4) > 0;
        parents.push(may.then_some(above));
    }
    let is_leaf = |at: usize| parents.iter().all(|parent| *parent != Some(at));
    let default = pick(2 * count);
    let mut text = if pick(2) == 0 { "queue.r2q = 25\n".to_owned() } else { String::new() };
    if pick(2) == 0 {
        text.push_str("queue.direct = 70\n");
    }
    text.push_str("queue.ecn = true\n");
    // Written from the last to the first level, the file's order is still that of the numbers.
    for (at, parent) in parents.iter().enumerate() {
        let (low, high) = (pick(RATES.len()), pick(RATES.len()));
        let _ = write!(text, "queue.class.c{at} = {{ rate = \"{}\"", RATES[low.min(high)]);
        if let Some(parent) = parent {
            let _ = write!(text, ", parent = \"c{parent}\"");
        }
        if low != high {
            let _ = write!(text, ", ceil = \"{}\"", RATES[low.max(high)]);
        }
        for bucket in ["burst", "cburst"] {
            if pick(2) == 0 {
                let _ = write!(text, ", {bucket} = \"{} B\"", 16_000 * (1 + pick(4)));
            }
        }
        if is_leaf(at) {
            if pick(2) == 0 {
                let _ = write!(text, ", quantum = \"{} B\"", 1_514 * (1 + pick(5)));
            }
            if pick(2) == 0 {
                let _ = write!(text, ", prio = {}", 1 + pick(7));
            }
            if at == default {
                text.push_str(", default = true");
            }
            text.push_str(leaves[pick(leaves.len())]);
        }
        text.push_str(" }\n");
    }
    text
}

/// A class with each setting in force, but for its name, and the bytes of its buckets.
fn class(class: &ClassAndParams, whole: &Queue) -> (String, [f64; 2]) {
    let settings = whole.chosen.kind.class.unwrap();
    let is_leaf = whole.chosen.leaves().contains(class.name.as_str());
    let value = |queue: &[(&'static str, Value)], param: &Param| {
        queue.iter().find(|(known, _)| *known == param.name).map(|(_, value)| *value).or(param.default_value())
    };
    let shown = |value: Option<Value>| match value {
        Some(Value::Size(size)) => size.bytes(Bytes::new(1_500), None).unwrap().get().to_string(),
        Some(value) => value.to_string(),
        None => "-".to_owned(),
    };
    let given = |name: &str| value(&class.params, settings.param(name).unwrap());
    let mut text = format!("{:?} rate {} ceil {}", class.parent, shown(given("rate")), shown(given("ceil").or(given("rate"))));
    if is_leaf {
        let held = Value::Size(Size::Packets(whole.limit.packets.get() as f64));
        for name in ["prio", "quantum", "default"] {
            let _ = write!(text, " {name} {}", shown(given(name)));
        }
        let of = class.of.clone().unwrap_or_else(|| KindAndParams::new(TAIL_DROP, Vec::new()));
        let _ = write!(text, " limit {} of {}", shown(given("limit").or(Some(held))), of.kind.kind);
        for param in of.kind.params.iter().filter(|param| param.name != "ingress") {
            let _ = write!(text, " {} {}", param.name, shown(value(&of.params, param)));
        }
    }
    (text, ["burst", "cburst"].map(|name| given(name).map_or(1_600.0, |size| shown(Some(size)).parse().unwrap())))
}

fn tree(scenario: &Scenario) -> Vec<(String, [f64; 2])> {
    let whole = queue(scenario);
    whole.chosen.classes.iter().map(|one| class(one, whole)).collect()
}

fn commands(script: &str) -> Vec<&str> {
    let words = script.lines().filter(|line| line.starts_with("tc "));
    words.map(|line| line.split(" #").next().unwrap_or_default()).collect()
}

#[test]
fn any_tree_comes_back_from_its_lines() {
    for seed in 0..200 {
        let text = drawn(&mut Rng::new(seed), &LEAVES);
        let first = scenario(&text);
        let script = exported(&first).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"));
        if queue(&first).chosen.leaves().len() == 1 {
            continue;
        }
        let second = imported(&script);
        assert_eq!(tree(&first), tree(&second), "{text}\n{script}");
        // From then on nothing changes, numbers neither.
        let again = exported(&second).unwrap();
        assert_eq!(tree(&second), tree(&imported(&again)), "{script}\n{again}");
        assert_eq!(commands(&again), commands(&exported(&imported(&again)).unwrap()), "{again}");
    }
}

/// Lines, and what `tc` prints of the classes that this machine's kernel has been told, in four
/// forms.
#[cfg(target_os = "linux")]
#[test]
fn a_tree_comes_back_from_this_kernel() {
    use std::process::Command;
    let run = |line: &str| {
        let output = Command::new("sh").args(["-c", line]).output().expect("a shell starts");
        (output.status.success(), [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let space = format!("gq-tree-{}", std::process::id());
    let (made, [_, why]) = run(&format!(
        "ip netns add {space} && ip netns exec {space} ip link add eth0 type veth peer name v1 && \
         ip netns exec {space} tc qdisc add dev eth0 root handle 1: htb"
    ));
    let mut faults = Vec::new();
    if !made {
        println!("skipped: no network namespace with tc and htb: {}", why.trim());
    }
    // Each kernel with htb has these queues.
    let trees = (0..12).map(|seed| scenario(&drawn(&mut Rng::new(seed), &LEAVES[..3])));
    for first in trees.filter(|tree| made && queue(tree).chosen.leaves().len() > 1) {
        let script = exported(&first).unwrap();
        let (good, [_, why]) = run(&format!("ip netns exec {space} sh -c '{script}'"));
        if !good {
            faults.push(format!("{why}\n{script}"));
            continue;
        }
        for form in ["-s -d -j", "-d -j -p", "-s -d", "-d"] {
            let show = format!("tc {form} qdisc show; echo dev eth0; tc {form} class show dev eth0");
            let (_, [printed, _]) = run(&format!("ip netns exec {space} sh -c '{show}'"));
            let second = imported(&printed);
            for ((ours, buckets), (theirs, printed_buckets)) in tree(&first).iter().zip(&tree(&second)) {
                if ours != theirs || !buckets.iter().zip(printed_buckets).all(is_printed) {
                    faults.push(format!("{form}\n{ours} {buckets:?}\n{theirs} {printed_buckets:?}\n{printed}"));
                }
            }
        }
    }
    run(&format!("ip netns del {space}"));
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Whether `tc` prints a bucket for one that it was told: it keeps them in whole microseconds, and
/// prints them in tenths of 1024 bytes.
fn is_printed((told, printed): (&f64, &f64)) -> bool {
    const MOST_BIT_S: f64 = 1e9;
    (told - printed).abs() <= 2e-6 * MOST_BIT_S / 8.0 + 52.0
}

#[test]
fn classes_are_written_with_numbers_and_names_or_refused() {
    let text = "queue.header = \"14 B\"\nqueue.ecn = true\nqueue.class.alice = { parent = \"site\", rate = \"50 Mbit/s\", \
                burst = \"1 ms\", of = \"fq-codel\" }\nqueue.class.site = { rate = \"500 Mbit/s\" }\n\
                queue.class.bob = { parent = \"site\", rate = \"40 Mbit/s\", ceil = \"100 Mbit/s\", default = true }\n";
    let script = exported(&scenario(text)).unwrap();
    for line in [
        "# down, leaves by eth0: 10 Gbit/s line, shaped by 3 classes",
        "tc qdisc add dev eth0 root handle 1: htb default 3",
        "tc class add dev eth0 parent 1: classid 1:2 htb rate 500mbit ceil 500mbit # site",
        "tc class add dev eth0 parent 1:2 classid 1:1 htb rate 50mbit ceil 50mbit burst 6250 # alice",
        "tc class add dev eth0 parent 1:2 classid 1:3 htb rate 40mbit ceil 100mbit # bob",
        "tc qdisc add dev eth0 parent 1:3 pfifo",
    ] {
        assert!(script.lines().any(|found| found == line), "{line}\n{script}");
    }
    assert!(script.contains("\ntc qdisc add dev eth0 parent 1:1 fq_codel "), "{script}");
    assert!(
        script.contains("#   Packets find their class by filters (tc filter add dev eth0 parent 1: ... flowid 1:3)"),
        "{script}"
    );
    for (more, refusal) in [
        ("", ""),
        ("queue.header = \"0 B\"\n", "link.line.queue: `header` of htb cannot be 0 B at eth0; the nearest is 14 B"),
        (
            "burst = \"20 kB\"\n",
            "link.line.queue: `burst` of a link with `htb` cannot be exported: its classes shape; \
             the nearest is a class above the others with that rate",
        ),
        (
            "queue.class.c = { rate = \"1 Mbit/s\", of = { kind = \"cake\", rate = \"1 Mbit/s\" } }\n",
            "link.line.queue.class.c.of: `rate` of cake in a class cannot be exported: the class shapes; the nearest is cake without it",
        ),
        (
            "queue.class.c = { rate = \"1 Mbit/s\", of = \"gsp\" }\n",
            "link.line.queue.class.c.of: `gsp` has no counterpart in tc; the nearest is codel",
        ),
        (
            "overhead = \"pppoe-ptm\"\n",
            "link.line.queue: framing in ptm cells around htb has no counterpart in tc; the nearest is cake",
        ),
    ] {
        let made = exported(&scenario(&format!("{}{more}", &text[text.find("queue.ecn").unwrap()..])));
        assert_eq!(made.err().map(|refusal| refusal.to_string()).unwrap_or_default(), refusal);
    }
    let without = Setup::new(&scenario(text), None, Shaping::None).unwrap_err().to_string();
    assert_eq!(without, "link.line.queue: `htb` cannot be exported without a shaper: its classes shape; the nearest is fq-codel");
}

#[test]
fn targets_without_classes_refuse_them_by_name() {
    let text = "queue.ecn = true\nqueue.class.a = { rate = \"5 Mbit/s\", of = \"codel\", default = true }\n";
    let setup = setup(&scenario(text)).unwrap();
    for (title, made) in [
        ("sqm", syntax::sqm::section(&setup, &place())),
        ("networkd", syntax::networkd::files(&setup, &place())),
        ("RouterOS", syntax::routeros::commands(&setup, &place())),
    ] {
        let refusal = made.unwrap_err().to_string();
        assert_eq!(
            refusal,
            format!(
                "link.line.queue: `htb:codel` has classes, which are not exported to {title}; \
                 the nearest is gq export tc, which writes them"
            )
        );
    }
}
