//! Works one kind of queue with 100 standing packets and nothing else, for counting instructions:
//!
//! `valgrind --tool=callgrind --toggle-collect='*StandingQueue*work*' target/release/examples/packet_cost codel 1 100000`
//!
//! counts the packets of the warm-up too: 100 and the greater of 20000 and 20 a flow.

use goodqueue_aqm::sched::kind;
use goodqueue_aqm::spec::LinkFacts;
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Qdisc, Rng, SimplePacket};
use goodqueue_testkit::StandingQueue;
use goodqueue_units::{Bytes, Duration, Rate};

#[expect(clippy::disallowed_methods, reason = "measuring wall time is what this program is for")]
fn run(name: &str, flows: u32, packets: u32) -> Result<(), String> {
    let link = LinkFacts {
        rate: Some(Rate::gbit(1)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit::packets(1000),
    };
    let spec = kind(name).ok_or_else(|| format!("`{name}` is not a kind of queue"))?;
    let queue: AnyQdisc<SimplePacket> =
        AnyQdisc::build(spec, &[], &link, EcnPolicy::Drop, Rng::new(1)).map_err(|error| error.to_string())?;
    let mut standing = StandingQueue::new(queue, flows);
    let start = std::time::Instant::now();
    standing.work(packets);
    let nanos = start.elapsed().as_nanos() as f64 / f64::from(packets);
    println!("{name}: {nanos:.1} ns a packet, {} departed", standing.queue().counters().departed.packets);
    Ok(())
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse::<u32>().map_err(|e| e.to_string()));
    run(arguments.first().map_or("codel", String::as_str), number(1, 1)?, number(2, 1_000_000)?)
}
