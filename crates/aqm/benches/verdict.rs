//! Cost of a packet: one enqueue and one dequeue at a standing queue of 100 packets, for each kind
//! of queue; and fair queueing at many flows. `cargo bench -p goodqueue-aqm`; divide by [`PACKETS`]
//! for the cost of one.

use goodqueue_aqm::algo::cobalt::Cobalt;
use goodqueue_aqm::algo::codel::CoDel;
use goodqueue_aqm::algo::cp_aqm::CpAqm;
use goodqueue_aqm::algo::docsis_pie::DocsisPie;
use goodqueue_aqm::algo::gsp::Gsp;
use goodqueue_aqm::algo::pie::Pie;
use goodqueue_aqm::algo::red::Red;
use goodqueue_aqm::algo::tail_drop::TailDrop;
use goodqueue_aqm::algo::{Algorithm, AnyAqm};
use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{LinkFacts, ParamValues};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, FairQueue, FairQueueParams, Limit, ManagedQueue, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use goodqueue_testkit::StandingQueue;

/// Packets a measured call handles.
const PACKETS: u32 = 1_000;

fn main() {
    divan::main();
}

fn facts() -> LinkFacts {
    LinkFacts {
        rate: Some(Rate::gbit(1)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit::packets(1000),
    }
}

fn measure<Q: Qdisc<SimplePacket>>(bencher: divan::Bencher, queue: Q, flows: u32) {
    let mut standing = StandingQueue::new(queue, flows);
    bencher.counter(divan::counter::ItemsCount::new(PACKETS)).bench_local(|| standing.work(PACKETS));
}

/// The queue of one algorithm, known at compile time.
#[divan::bench(types = [TailDrop, Red, CoDel, Pie, CpAqm, Gsp, Cobalt, DocsisPie])]
fn one_algorithm<A: Algorithm>(bencher: divan::Bencher) {
    let given = ParamValues::new(&A::KINDS[0], &[]).expect("no parameters");
    let aqm = A::build(&given, &facts()).expect("defaults are valid");
    let mut queue = ManagedQueue::new(aqm, facts().limit);
    queue.set_link_rate(Instant::ZERO, facts().rate);
    measure(bencher, queue, 1);
}

/// The queue as a file names it.
#[divan::bench(args = kinds().map(|spec| spec.kind).filter(|kind| *kind != "fair"))]
fn by_name(bencher: divan::Bencher, name: &str) {
    let spec = kind(name).expect("a listed kind");
    let queue: AnyQdisc<SimplePacket> =
        AnyQdisc::build(spec, &[], &facts(), EcnPolicy::Drop, Rng::new(1)).expect("defaults are valid");
    measure(bencher, queue, 1);
}

/// Fair queueing over CoDel at many flows.
#[divan::bench(args = [1, 100, 1_000, 10_000])]
fn fq_codel(bencher: divan::Bencher, flows: u32) {
    let queue = FairQueue::new(CoDel::default(), facts().limit, FairQueueParams::default());
    measure(bencher, queue, flows);
}

/// Fair queueing over PIE chosen at run time: timers and a larger state.
#[divan::bench(args = [1, 100, 1_000, 10_000])]
fn fair_pie(bencher: divan::Bencher, flows: u32) {
    let pie = kind("pie").expect("a listed kind");
    let aqm = AnyAqm::build(&ParamValues::new(pie, &[]).expect("no parameters"), &facts()).expect("defaults are valid");
    let params =
        FairQueueParams::build(&ParamValues::new(kind("fair").expect("a listed kind"), &[]).expect("no parameters"), &facts());
    let queue = FairQueue::new(aqm, facts().limit, params.expect("defaults are valid"));
    measure(bencher, queue, flows);
}
