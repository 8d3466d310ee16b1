//! Kinds with their own arithmetic and defaults, compared with recordings of Linux's disciplines
//! with theirs: the same packets and requests, and how many packets were dropped or marked.
//!
//! `tests/vectors.rs` compares verdict by verdict with `arithmetic = "linux"`, which takes the same
//! defaults; what differs here is the law's numbers alone.

use goodqueue_aqm::{AnyQdisc, EcnPolicy, NoSink, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::Class;
use goodqueue_checks::conformance::{Event, Operation, Vector, What};
use std::path::Path;

fn recording(name: &str) -> Vector {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/linux").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).expect("a readable recording");
    Vector::parse(name, &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Packets dropped and marked in a recording.
fn recorded(vector: &Vector) -> (u64, u64) {
    let count = |what: What| {
        let is = |event: &&Event| event.what == what;
        vector.steps.iter().flat_map(|step| &step.events).filter(is).count() as u64
    };
    (count(What::Drop), count(What::Mark))
}

/// Packets dropped and marked by the kind's own arithmetic, in the place of Linux's.
fn played(vector: &Vector) -> (u64, u64) {
    let params: Vec<_> = vector.queue.params.iter().filter(|(name, _)| *name != "arithmetic").copied().collect();
    let policy = if vector.ecn { EcnPolicy::Mark } else { EcnPolicy::Drop };
    let mut queue =
        AnyQdisc::<SimplePacket>::build(vector.queue.kind, &params, &vector.link.facts(), policy, Rng::new(1)).expect("a queue");
    for (id, step) in vector.steps.iter().enumerate() {
        let now = step.operation.at();
        while let Some(due) = queue.next_timer().filter(|&due| due <= now) {
            queue.handle_timer(due);
        }
        match step.operation {
            Operation::Enqueue { len, flow, ecn, .. } => {
                queue.enqueue(now, SimplePacket { id: id as u64, len, flow, ecn, class: Class::new(flow as u8) }, &mut NoSink);
            }
            Operation::Dequeue { .. } => drop(queue.dequeue(now, &mut NoSink)),
            Operation::Timer { .. } | Operation::Rate { .. } => {}
        }
    }
    let counters = queue.counters();
    (counters.dropped_total().packets.get(), counters.marked.packets.get())
}

#[track_caller]
fn agrees(name: &str, percent: u64) {
    let vector = recording(name);
    let (there, here) = (recorded(&vector), played(&vector));
    // A mark in one that is a drop in the other is a signal in both.
    let (signals_there, signals_here) = (there.0 + there.1, here.0 + here.1);
    let most = signals_there * percent / 100;
    let is_near = signals_here.abs_diff(signals_there) <= most;
    assert!(is_near, "{name}: (drops, marks) {here:?}, in Linux {there:?}: allowed {most} signals apart");
    assert_eq!(there.1 > 0, here.1 > 0, "{name}: marks");
}

macro_rules! recordings {
    ($($test:ident: $name:literal within $percent:literal;)+) => {
        $(#[test] fn $test() { agrees($name, $percent); })+
    };
}

recordings! {
    tail_drop: "tail-drop" within 0;
    codel_drops: "codel-drops" within 5;
    codel_marks: "codel-marks" within 5;
    fq_codel_1_flow: "fq-codel-1-flow" within 5;
    fq_codel_8_flows: "fq-codel-8-flows" within 5;
    pie_drops: "pie-drops" within 5;
    pie_marks: "pie-marks" within 5;
    fq_pie_1_flow: "fq-pie-1-flow" within 5;
    fq_pie_8_flows: "fq-pie-8-flows" within 5;
    fq_pie_marks: "fq-pie-marks" within 5;
    sfb_drops: "sfb-drops" within 5;
    sfb_marks: "sfb-marks" within 5;
    cake_flows: "cake-flows" within 5;
    cake_tins: "cake-tins" within 5;
    // Linux's COBALT gives a queue's first signal without waiting for an interval.
    cake_marks: "cake-marks" within 10;
    dualpi2_both: "../linux-7.3/dualpi2-both" within 5;
    dualpi2_classic: "../linux-7.3/dualpi2-classic" within 5;
}
