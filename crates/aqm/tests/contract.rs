//! The contract of every queue, whatever its algorithm. A new kind must be listed here; the last
//! test checks that none is missing.

use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, LinkFacts, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, FlowHash, Limit, NoSink, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Packets, Rate};
use goodqueue_testkit::{CheckedQueue, Load, Mix, Operation, Operations, Order, ScriptedLink};

/// Operations per property: those that the variable `GQ_OPERATIONS` asks for, as CI does (ten
/// million per kind over all properties), or enough for a first answer. `make fuzz-long` runs a
/// thousand million.
fn operations() -> usize {
    #[allow(clippy::disallowed_methods, reason = "scales the test, not what it finds")]
    let asked = std::env::var("GQ_OPERATIONS");
    asked.map_or(50_000, |text| text.parse().expect("GQ_OPERATIONS is a number"))
}

/// One kind of queue: alone, or as the algorithm within a fair queue.
#[derive(Clone, Copy)]
struct Subject {
    name: &'static str,
    fair_over: Option<&'static str>,
}

/// Forgets the past of a flow within a minute, and lets a probability fall as fast as it rises.
const SHORT_MEMORY: &[(&str, Value)] = &[
    ("rehash", Value::Duration(Duration::secs(30))),
    ("warmup", Value::Duration(Duration::secs(5))),
    ("d2", Value::Number(0.001)),
];

/// Parameters with which a kind reacts within the short runs of these tests.
fn lively(kind: &str) -> &'static [(&'static str, Value)] {
    match kind {
        "red" | "ared" | "choke" => &[("w_q", Value::Number(0.02))],
        "pi" => &[("a", Value::Number(1e-3)), ("b", Value::Number(0.9e-3))],
        "rem" => &[("gamma", Value::Number(0.1))],
        "sfb" => SHORT_MEMORY,
        "jobs" => {
            const {
                &[
                    ("delay_bound_0", Value::Duration(Duration::ms(50))),
                    ("projection", Value::Switch(true)),
                    ("b_lim", Value::Number(0.3)),
                ]
            }
        }
        // Slow enough to hold packets back, fast enough for the link of the overload.
        "shaper" => const { &[("rate", Value::Rate(Rate::mbit(100)))] },
        _ => &[],
    }
}

fn facts() -> LinkFacts {
    LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit { packets: Packets::new(100), bytes: Bytes::new(150_000) },
    }
}

/// One class above two leaves, each over `within`. Slow enough to hold packets back, fast enough
/// for the link of the overload.
fn classes(within: Option<KindAndParams>) -> Vec<ClassAndParams> {
    let class = |name: &str, parent, rate: u64, more: &[(&'static str, Value)]| ClassAndParams {
        name: name.to_owned(),
        parent,
        params: [&[("rate", Value::Rate(Rate::mbit(rate)))], more].concat(),
        of: within.clone().filter(|_| parent.is_some()),
    };
    let ceil = ("ceil", Value::Rate(Rate::mbit(100)));
    vec![
        class("all", None, 100, &[]),
        class("urgent", Some(0), 30, &[ceil]),
        class("others", Some(0), 60, &[ceil, ("prio", Value::Number(1.0)), ("default", Value::Switch(true))]),
    ]
}

impl Subject {
    fn build(self, ecn: EcnPolicy) -> AnyQdisc<SimplePacket> {
        let spec = kind(self.name).expect("a listed kind");
        let rng = Rng::stream(42, 7);
        let chosen = |inner| KindAndParams::new(kind(inner).expect("a listed kind"), lively(inner).to_vec());
        let within = self.fair_over.map(chosen);
        let queue = KindAndParams::new(spec, lively(self.name).to_vec());
        let queue = match spec.class {
            Some(_) => KindAndParams { classes: classes(within), ..queue },
            None => queue.over(within),
        };
        let mut queue = AnyQdisc::build_over(&queue, &facts(), ecn, rng).expect("defaults are valid");
        queue.set_leaf(FlowHash(1), "urgent");
        queue
    }

    fn order(self) -> Order {
        if self.algorithm() == "dualpi2" {
            return Order::FifoPerFlowAndCodepoint;
        }
        let is_fair = self.fair_over.is_some()
            || self.name.contains("fq-")
            || ["cake", "cake-mq", "htb", "priority", "jobs"].contains(&self.name);
        if is_fair { Order::FifoPerFlow } else { Order::Fifo }
    }

    fn checked(self, ecn: EcnPolicy) -> CheckedQueue<AnyQdisc<SimplePacket>> {
        let queue = CheckedQueue::new(self.build(ecn), ecn, self.order());
        if ["htb", "shaper"].contains(&self.name) { queue.that_holds_back() } else { queue }
    }

    /// The kind of the algorithm that judges packets.
    fn algorithm(self) -> &'static str {
        let holds_another = kind(self.name).is_some_and(|spec| spec.is_over_another() || spec.class.is_some());
        self.fair_over.unwrap_or(if holds_another { "tail-drop" } else { self.name })
    }

    fn weighs_flows(self) -> bool {
        let within = self.fair_over.map(|inner| KindAndParams::new(kind(inner).expect("a listed kind"), Vec::new()));
        kind(self.name).is_some_and(|spec| KindAndParams::new(spec, Vec::new()).over(within).weighs_flows())
    }

    /// Number of flows in the overload. Some kinds hold a single flow responsible and then need not
    /// mark.
    fn flows(self) -> u32 {
        if self.fair_over.unwrap_or(self.name) == "choke" { 100 } else { 1 }
    }

    /// Whether the algorithm ever drops below the limit of the queue.
    fn drops(self) -> bool {
        !["tail-drop", "phantom-queue"].contains(&self.algorithm())
    }
}

/// Five percent above the capacity of the link for 20 s: every algorithm must act, and none has to
/// fall back from marks to drops.
fn overload(subject: Subject, policy: EcnPolicy, ecn: Ecn) -> goodqueue_testkit::Observed {
    let link = ScriptedLink {
        rate: Rate::mbit(10),
        overhead: Bytes::new(14),
        packet: 1500,
        ecn,
        flows: subject.flows(),
        load: Load::Poisson(Duration::us(1_150)),
    };
    link.run(&mut subject.build(policy), 3, Duration::secs(1), Duration::secs(20))
}

mod promise {
    use super::*;

    pub fn any_operations(subject: Subject) {
        for (policy, seed) in [(EcnPolicy::Drop, 1), (EcnPolicy::Mark, 2)] {
            let mut queue = subject.checked(policy);
            queue.run(Operations::new(seed, Mix::Everything).take(operations()));
            assert!(queue.queue().counters().departed.packets.get() > operations() as u64 / 20, "hardly anything passed");
            queue.drain();
        }
    }

    pub fn not_ect_is_never_marked(subject: Subject) {
        let mut queue = subject.checked(EcnPolicy::Mark);
        queue.run(Operations::new(5, Mix::NotEct).take(operations()));
        assert_eq!(queue.queue().counters().marked.packets, Packets::ZERO);
    }

    pub fn same_seed_same_verdicts(subject: Subject) {
        let fingerprint = |seed| {
            let mut queue = subject.checked(EcnPolicy::Mark);
            queue.run(Operations::new(seed, Mix::Everything).take(operations() / 5));
            queue.fingerprint()
        };
        assert_eq!(fingerprint(11), fingerprint(11));
        assert_ne!(fingerprint(11), fingerprint(12));
    }

    pub fn an_empty_queue_signals_nothing(subject: Subject) {
        let mut queue = subject.checked(EcnPolicy::Mark);
        queue.run(Operations::new(8, Mix::Everything).take(10_000));
        queue.drain();
        let before = queue.queue().counters();
        for _ in 0..1_000 {
            assert_eq!(queue.dequeue(), None);
            queue.advance(Duration::ms(3));
        }
        assert_eq!(queue.queue().counters(), before);
        // Idle for longer than any memory, then one packet at a time: there is nothing to signal.
        queue.apply(Operation::SetRate(Some(Rate::mbit(10))));
        queue.advance(Duration::secs(1000));
        for _ in 0..1_000 {
            queue.apply(Operation::Enqueue { len: 1500, flow: 1, ecn: Ecn::Ect0 });
            assert_eq!(queue.dequeue().map(|packet| packet.ecn), Some(Ecn::Ect0));
            queue.advance(Duration::ms(2));
        }
    }

    pub fn a_link_that_stops_and_returns(subject: Subject) {
        let mut queue = subject.checked(EcnPolicy::Drop);
        queue.run(Operations::new(13, Mix::ConstantRate).take(20_000));
        queue.apply(Operation::SetRate(Some(Rate::ZERO)));
        let departed = queue.queue().counters().departed;
        for _ in 0..500 {
            queue.apply(Operation::Enqueue { len: 1500, flow: 3, ecn: Ecn::NotEct });
            queue.advance(Duration::ms(20));
        }
        assert_eq!(queue.queue().counters().departed, departed);
        queue.apply(Operation::SetRate(Some(Rate::mbit(20))));
        let dropped = queue.queue().counters().dropped_total();
        // A shaper without tokens returns nothing although packets wait.
        for _ in 0..1_000_000 {
            if queue.dequeue().is_none() && queue.queue().view().packets == Packets::ZERO {
                break;
            }
            queue.advance(Duration::us(600));
        }
        let waited = queue.queue().counters().dropped_total().since(&dropped).packets
            + queue.queue().counters().departed.since(&departed).packets;
        assert!(waited > Packets::new(1), "{waited} were kept through the outage");
        // One minute later the outage is forgotten, and a lightly loaded link loses nothing.
        queue.advance(Duration::secs(60));
        let dropped = queue.queue().counters().dropped_total();
        for _ in 0..200 {
            queue.apply(Operation::Enqueue { len: 1500, flow: 3, ecn: Ecn::NotEct });
            queue.advance(Duration::ms(1));
            assert!(queue.dequeue().is_some());
            queue.advance(Duration::ms(10));
        }
        assert_eq!(queue.queue().counters().dropped_total(), dropped);
    }

    pub fn a_clock_that_stands_still(subject: Subject) {
        let mut queue = subject.checked(EcnPolicy::Mark);
        queue.run(Operations::new(17, Mix::FrozenClock).take(operations() / 5));
    }

    pub fn packets_of_64_kilobytes(subject: Subject) {
        let mut queue = subject.checked(EcnPolicy::Mark);
        queue.run(Operations::new(19, Mix::Huge).take(operations() / 5));
        let counters = queue.queue().counters();
        assert!(counters.departed.packets.get() > operations() as u64 / 200, "{counters:?}");
    }

    pub fn acts_under_overload(subject: Subject) {
        let drops = overload(subject, EcnPolicy::Drop, Ecn::Ect0).counters;
        assert_eq!(drops.marked.packets, Packets::ZERO, "marked by a queue that must drop");
        assert_eq!(drops.early().packets.get() > 0, subject.drops(), "{drops:?}");
        let marks = overload(subject, EcnPolicy::Mark, Ecn::Ect0);
        let can_mark = kind(subject.algorithm()).expect("a listed kind").marks.is_possible();
        assert_eq!(marks.counters.marked.packets.get() > 0, can_mark, "{:?}", marks.counters);
        assert!(marks.utilization > 0.95, "leaves its link idle: {}", marks.utilization);
    }
}

macro_rules! contract {
    ($($module:ident = $subject:expr;)+) => {
        $(mod $module {
            use super::{Subject, promise};

            contract!(@tests $subject; any_operations, not_ect_is_never_marked, same_seed_same_verdicts,
                an_empty_queue_signals_nothing, a_link_that_stops_and_returns, a_clock_that_stands_still,
                packets_of_64_kilobytes, acts_under_overload);
        })+

        const SUBJECTS: &[Subject] = &[$($subject),+];
    };
    (@tests $subject:expr; $($promise:ident),+) => {
        $(#[test] fn $promise() { promise::$promise($subject); })+
    };
}

contract! {
    tail_drop = Subject { name: "tail-drop", fair_over: None };
    codel = Subject { name: "codel", fair_over: None };
    red = Subject { name: "red", fair_over: None };
    ared = Subject { name: "ared", fair_over: None };
    pie = Subject { name: "pie", fair_over: None };
    cp_aqm = Subject { name: "cp-aqm", fair_over: None };
    gsp = Subject { name: "gsp", fair_over: None };
    blue = Subject { name: "blue", fair_over: None };
    docsis_pie = Subject { name: "docsis-pie", fair_over: None };
    cobalt = Subject { name: "cobalt", fair_over: None };
    gsp_as = Subject { name: "gsp-as", fair_over: None };
    codel_as = Subject { name: "codel-as", fair_over: None };
    pie_as = Subject { name: "pie-as", fair_over: None };
    nfq_codel = Subject { name: "nfq-codel", fair_over: None };
    jobs = Subject { name: "jobs", fair_over: None };
    fq_pie = Subject { name: "fq-pie", fair_over: None };
    sfq_codel = Subject { name: "sfq-codel", fair_over: None };
    rem = Subject { name: "rem", fair_over: None };
    pi = Subject { name: "pi", fair_over: None };
    avq = Subject { name: "avq", fair_over: None };
    phantom_queue = Subject { name: "phantom-queue", fair_over: None };
    choke = Subject { name: "choke", fair_over: None };
    sfb = Subject { name: "sfb", fair_over: None };
    fq_codel = Subject { name: "fq-codel", fair_over: None };
    fair_tail_drop = Subject { name: "fair", fair_over: Some("tail-drop") };
    fair_codel = Subject { name: "fair", fair_over: Some("codel") };
    fair_red = Subject { name: "fair", fair_over: Some("red") };
    fair_pie = Subject { name: "fair", fair_over: Some("pie") };
    fair_cp_aqm = Subject { name: "fair", fair_over: Some("cp-aqm") };
    fair_docsis_pie = Subject { name: "fair", fair_over: Some("docsis-pie") };
    fair_cobalt = Subject { name: "fair", fair_over: Some("cobalt") };
    fair_choke = Subject { name: "fair", fair_over: Some("choke") };
    fair_gsp = Subject { name: "fair", fair_over: Some("gsp") };
    fair_blue = Subject { name: "fair", fair_over: Some("blue") };
    fair_rem = Subject { name: "fair", fair_over: Some("rem") };
    fair_pi = Subject { name: "fair", fair_over: Some("pi") };
    fair_avq = Subject { name: "fair", fair_over: Some("avq") };
    fair_phantom_queue = Subject { name: "fair", fair_over: Some("phantom-queue") };
    priority = Subject { name: "priority", fair_over: None };
    priority_codel = Subject { name: "priority", fair_over: Some("codel") };
    priority_pie = Subject { name: "priority", fair_over: Some("pie") };
    priority_fq_codel = Subject { name: "priority", fair_over: Some("fq-codel") };
    shaper = Subject { name: "shaper", fair_over: None };
    shaper_codel = Subject { name: "shaper", fair_over: Some("codel") };
    shaper_pie = Subject { name: "shaper", fair_over: Some("pie") };
    shaper_nfq_codel = Subject { name: "shaper", fair_over: Some("nfq-codel") };
    shaper_fq_codel = Subject { name: "shaper", fair_over: Some("fq-codel") };
    cake = Subject { name: "cake", fair_over: None };
    cake_mq = Subject { name: "cake-mq", fair_over: None };
    priority_cake = Subject { name: "priority", fair_over: Some("cake") };
    shaper_cake = Subject { name: "shaper", fair_over: Some("cake") };
    htb = Subject { name: "htb", fair_over: None };
    htb_codel = Subject { name: "htb", fair_over: Some("codel") };
    htb_fq_codel = Subject { name: "htb", fair_over: Some("fq-codel") };
    htb_cake = Subject { name: "htb", fair_over: Some("cake") };
    dualpi2 = Subject { name: "dualpi2", fair_over: None };
    priority_dualpi2 = Subject { name: "priority", fair_over: Some("dualpi2") };
    shaper_dualpi2 = Subject { name: "shaper", fair_over: Some("dualpi2") };
}

/// Two flows, one with three times the weight, each offering a packet for each that leaves. The
/// result differs from that of equal weights if the kind weighs flows, and only then.
#[test]
fn weights_count_where_a_kind_says_so() {
    for subject in SUBJECTS {
        let sent = |weight: f64| {
            let packet = |flow| SimplePacket { flow, ..SimplePacket::new(1_000) };
            let mut queue = subject.build(EcnPolicy::Drop);
            queue.set_weight(FlowHash(1), weight);
            (0..20).for_each(|number| queue.enqueue(Instant::ZERO, packet(number % 2), &mut NoSink));
            let mut sent = [0_u32; 2];
            for step in 1..400 {
                let now = Instant::ZERO + Duration::us(100) * step;
                if let Some(departure) = queue.dequeue(now, &mut NoSink) {
                    sent[departure.packet.flow as usize] += 1;
                    queue.enqueue(now, packet(departure.packet.flow), &mut NoSink);
                }
            }
            sent
        };
        assert!(sent(1.0).iter().sum::<u32>() > 20, "`{}` sends hardly anything", subject.name);
        assert_eq!(sent(1.0) != sent(3.0), subject.weighs_flows(), "`{}`", subject.name);
    }
}

#[test]
fn every_kind_is_under_contract() {
    for spec in kinds() {
        assert!(SUBJECTS.iter().any(|subject| subject.name == spec.kind), "`{}` has no contract tests", spec.kind);
    }
}
