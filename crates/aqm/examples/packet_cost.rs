//! Runs one kind of queue with 100 standing packets and nothing else, to count the instructions of
//! a packet: `packet_cost NAME FLOWS PACKETS`, where `fair:pie` names an inner algorithm.
//! `packet_cost --list` prints every name with the numbers of flows worth measuring.
//!
//! `cargo xtask cost` runs it under valgrind: the difference between two runs with different
//! numbers of packets is the cost of those packets.

use goodqueue_aqm::algo;
use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, KindSpec, LinkFacts, Size, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Packet, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Rate};
use goodqueue_testkit::StandingQueue;
use std::error::Error;

const LINK: LinkFacts = LinkFacts {
    rate: Some(Rate::gbit(1)),
    delay: Duration::ms(10),
    mtu: Bytes::new(1500),
    overhead: Bytes::new(14),
    limit: Limit::packets(1000),
};

fn known(name: &str) -> Result<&'static KindSpec, Box<dyn Error>> {
    kind(name).ok_or_else(|| format!("`{name}` is not a kind of queue").into())
}

/// Most leaves of a kind with classes; more flows share them.
const MAX_LEAVES: u32 = 1_000;

/// A site, and below it a leaf for each flow, which has half of what it sends to itself and borrows
/// the rest.
fn classes(of: Option<&KindAndParams>, flows: u32) -> Vec<ClassAndParams> {
    let leaves = flows.clamp(1, MAX_LEAVES);
    let site = Rate::gbit(2);
    let half = Rate::bit_s(Rate::gbit(1).as_bit_s() / 2 / u64::from(leaves));
    let leaf = |number: u32| ClassAndParams {
        name: number.to_string(),
        parent: Some(0),
        params: vec![("rate", Value::Rate(half)), ("ceil", Value::Rate(site)), ("quantum", Value::Size(Size::Bytes(1_514.0)))],
        of: of.cloned(),
    };
    let root = ClassAndParams { name: "site".to_owned(), parent: None, params: vec![("rate", Value::Rate(site))], of: None };
    std::iter::once(root).chain((0..leaves).map(leaf)).collect()
}

fn build(name: &str, flows: u32) -> Result<AnyQdisc<SimplePacket>, Box<dyn Error>> {
    let (outer, inner) = name.split_once(':').map_or((name, None), |(outer, inner)| (outer, Some(inner)));
    let inner = inner.map(known).transpose()?.map(|kind| KindAndParams::new(kind, Vec::new()));
    let outer = KindAndParams::new(known(outer)?, Vec::new());
    if outer.kind.class.is_none() {
        return Ok(AnyQdisc::build_over(&outer.over(inner), &LINK, EcnPolicy::Drop, Rng::new(1))?);
    }
    let classes = classes(inner.as_ref(), flows);
    let mut queue = AnyQdisc::build_over(&KindAndParams { classes, ..outer }, &LINK, EcnPolicy::Drop, Rng::new(1))?;
    for flow in 0..flows {
        queue.set_leaf(SimplePacket { flow, ..SimplePacket::new(0) }.flow(), &(flow % MAX_LEAVES).to_string());
    }
    Ok(queue)
}

fn run(name: &str, flows: u32, packets: u32) -> Result<(), Box<dyn Error>> {
    let mut standing = StandingQueue::new(build(name, flows)?, flows);
    standing.work(packets);
    println!("{} departed", standing.queue().counters().departed.packets);
    Ok(())
}

/// Lists kinds with a single queue at one flow, and kinds with flow queues at up to ten thousand.
fn list() {
    for spec in kinds() {
        let is_one_queue = algo::KINDS.iter().any(|kinds| kinds.iter().any(|one| one.kind == spec.kind));
        let flows: &[u32] = if is_one_queue { &[1] } else { &[1, 100, 1_000, 10_000] };
        let names: &[&str] = match spec.class {
            Some(_) => &[":fq-codel"],
            None if spec.is_over_another() => &[":codel", ":pie"],
            None => &[""],
        };
        for name in names {
            flows.iter().for_each(|flows| println!("{}{name} {flows}", spec.kind));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [option] if option == "--list" => {
            list();
            Ok(())
        }
        [name, flows, packets] => {
            let number = |text: &str| text.parse::<u32>().map_err(|error| format!("`{text}`: {error}"));
            run(name, number(flows)?, number(packets)?)
        }
        _ => Err("takes NAME FLOWS PACKETS, or --list".into()),
    }
}
