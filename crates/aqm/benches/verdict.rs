//! Cost of a packet: one enqueue and one dequeue at a standing queue of 100 packets, for each kind of queue; and fair queueing at
//! many flows. `cargo bench -p goodqueue-aqm`; divide by [`PACKETS`] for the cost of one.

use goodqueue_aqm::algo::codel::CoDel;
use goodqueue_aqm::algo::cp_aqm::CpAqm;
use goodqueue_aqm::algo::pie::Pie;
use goodqueue_aqm::algo::red::Red;
use goodqueue_aqm::algo::tail_drop::TailDrop;
use goodqueue_aqm::algo::{Algorithm, AnyAqm};
use goodqueue_aqm::sched::{fair_queue, kind, kinds};
use goodqueue_aqm::spec::{Given, LinkFacts};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, FairQueue, FairQueueParams, Limit, ManagedQueue, NoSink, Qdisc, Rng, SimplePacket};
use goodqueue_units::{Bytes, Duration, Instant, Rate};
use std::hint::black_box;

/// Packets a measured call handles.
const PACKETS: u32 = 1_000;
/// Packets that wait all the time.
const STANDING: u32 = 100;
/// Between packets: a link of 1 Gbit/s under packets of 1250 bytes, whose standing queue of 1 ms is below every target.
const GAP: Duration = Duration::us(10);

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

/// A queue at work: packets arrive and leave in turn while others wait.
struct Standing<Q> {
    queue: Q,
    now: Instant,
    flows: u32,
    flow: u32,
}

impl<Q: Qdisc<SimplePacket>> Standing<Q> {
    fn new(queue: Q, flows: u32) -> Self {
        let mut standing = Self { queue, now: Instant::from_nanos(1), flows, flow: 0 };
        (0..STANDING).for_each(|_| standing.enqueue());
        // Past the start: first updates done, storage at its working size, every flow seen.
        (0..20 * flows.max(1_000)).for_each(|_| standing.step());
        standing
    }

    #[inline]
    fn enqueue(&mut self) {
        // A stride without common factor visits the flows in an order that no cache line helps with.
        self.flow += 7_919;
        if self.flow >= self.flows {
            self.flow %= self.flows;
        }
        let packet = SimplePacket { flow: self.flow, ..SimplePacket::new(1250) };
        self.queue.enqueue(self.now, black_box(packet), &mut NoSink);
    }

    #[inline]
    fn step(&mut self) {
        self.now += GAP;
        if self.queue.next_timer().is_some_and(|due| due <= self.now) {
            self.queue.handle_timer(self.now);
        }
        self.enqueue();
        black_box(self.queue.dequeue(self.now, &mut NoSink));
    }

    fn bench(mut self, bencher: divan::Bencher) {
        bencher.counter(divan::counter::ItemsCount::new(PACKETS)).bench_local(|| (0..PACKETS).for_each(|_| self.step()));
    }
}

/// The queue of one algorithm, known at compile time.
#[divan::bench(types = [TailDrop, Red, CoDel, Pie, CpAqm])]
fn one_algorithm<A: Algorithm>(bencher: divan::Bencher) {
    let given = Given::new(&A::KINDS[0], &[]).expect("no parameters");
    let aqm = A::build(&given, &facts()).expect("defaults are valid");
    let mut queue = ManagedQueue::new(aqm, facts().limit);
    queue.set_link_rate(Instant::ZERO, facts().rate);
    Standing::new(queue, 1).bench(bencher);
}

/// The queue as a file names it.
#[divan::bench(args = kinds().map(|spec| spec.kind).filter(|kind| *kind != "fair"))]
fn by_name(bencher: divan::Bencher, name: &str) {
    let spec = kind(name).expect("a listed kind");
    let queue: AnyQdisc<SimplePacket> =
        AnyQdisc::build(spec, &[], &facts(), EcnPolicy::Drop, Rng::new(1)).expect("defaults are valid");
    Standing::new(queue, 1).bench(bencher);
}

/// Fair queueing over CoDel at many flows.
#[divan::bench(args = [1, 100, 1_000, 10_000])]
fn fq_codel(bencher: divan::Bencher, flows: u32) {
    let queue = FairQueue::new(CoDel::default(), facts().limit, FairQueueParams::default());
    Standing::new(queue, flows).bench(bencher);
}

/// Fair queueing over PIE chosen at run time: timers and a larger state.
#[divan::bench(args = [1, 100, 1_000, 10_000])]
fn fair_pie(bencher: divan::Bencher, flows: u32) {
    let pie = kind("pie").expect("a listed kind");
    let aqm = AnyAqm::build(&Given::new(pie, &[]).expect("no parameters"), &facts()).expect("defaults are valid");
    let params = FairQueueParams::build(&Given::new(&fair_queue::KINDS[1], &[]).expect("no parameters"), &facts());
    let queue = FairQueue::new(aqm, facts().limit, params.expect("defaults are valid"));
    Standing::new(queue, flows).bench(bencher);
}
