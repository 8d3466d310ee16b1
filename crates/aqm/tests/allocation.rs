//! Once a queue has grown to its working size, processing packets allocates no memory, whatever the
//! kind.

use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, LinkFacts, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate};
use goodqueue_testkit::{Mix, Operation, Operations};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Allocations of this thread only: the test harness has threads of its own.
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that it holds.
    static HELD: Cell<i64> = const { Cell::new(0) };
}

fn count() {
    // The counter of a thread that is ending no longer exists.
    let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
}

fn hold(bytes: i64) {
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

struct Counting;

#[expect(unsafe_code, reason = "the trait of an allocator is unsafe; this one forwards every call to the system's")]
// SAFETY: every call is forwarded to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size() as i64);
        // SAFETY: the caller's promise is the precondition of the system's allocator.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        hold(size as i64 - layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Enough operations for a queue to have been full, and for every flow to have appeared.
const WARM_UP: usize = 400_000;

/// Runs operations on the queue; the clock and the packets belong to the test, not to the queue.
fn work(queue: &mut AnyQdisc<SimplePacket>, now: &mut Instant, operations: impl Iterator<Item = Operation>) {
    let mut sink = goodqueue_aqm::NoSink;
    for operation in operations {
        match operation {
            Operation::Enqueue { len, flow, ecn } => {
                let packet = SimplePacket { flow, ecn, ..SimplePacket::new(len) };
                queue.enqueue(*now, packet, &mut sink);
            }
            Operation::Dequeue => drop(queue.dequeue(*now, &mut sink)),
            Operation::Advance(span) | Operation::Stall(span) => *now += span,
            Operation::SpuriousTimer => queue.handle_timer(*now),
            Operation::SetRate(rate) => queue.set_link_rate(*now, rate),
        }
        if queue.next_timer().is_some_and(|due| due <= *now) {
            queue.handle_timer(*now);
        }
    }
}

/// Most packets of a queue.
const PACKETS: usize = 100;

const LINK: LinkFacts = LinkFacts {
    rate: Some(Rate::mbit(10)),
    delay: Duration::ms(10),
    mtu: Bytes::new(1500),
    overhead: Bytes::new(14),
    limit: Limit { packets: Packets::new(PACKETS as u64), bytes: Bytes::new(150_000) },
};

/// Every kind with its defaults, those over another one over PIE.
fn queues() -> impl Iterator<Item = (&'static str, AnyQdisc<SimplePacket>)> {
    kinds().map(|spec| {
        let of = spec.is_over_another().then(|| KindAndParams::new(kind("pie").expect("a listed kind"), Vec::new()));
        let queue = AnyQdisc::build_over(&KindAndParams::new(spec, Vec::new()).over(of), &LINK, EcnPolicy::Mark, Rng::new(1));
        (spec.kind, queue.expect("defaults are valid"))
    })
}

#[test]
fn no_queue_asks_for_memory_once_it_has_its_size() {
    for (name, mut queue) in queues() {
        let mut now = Instant::from_nanos(1);
        work(&mut queue, &mut now, Operations::new(3, Mix::Everything).take(WARM_UP));
        let before = REQUESTS.get();
        work(&mut queue, &mut now, Operations::new(4, Mix::Everything).take(100_000));
        let during = REQUESTS.get() - before;
        assert_eq!(during, 0, "{name} allocated memory {during} times in a hundred thousand operations");
        assert!(queue.counters().departed.packets.get() > 1_000, "{name}: too few packets passed");
    }
}

#[test]
fn a_queue_that_reserved_memory_asks_for_none() {
    for (name, mut queue) in queues() {
        let mut now = Instant::from_nanos(1);
        queue.reserve(PACKETS);
        let before = REQUESTS.get();
        work(&mut queue, &mut now, Operations::new(3, Mix::Everything).take(100_000));
        let during = REQUESTS.get() - before;
        assert_eq!(during, 0, "{name} allocated memory {during} times after `reserve`");
        assert!(queue.counters().departed.packets.get() > 1_000, "{name}: too few packets passed");
    }
}

/// A kind with parameters, over others.
fn over(name: &str, params: &[(&'static str, Value)], of: Option<KindAndParams>) -> KindAndParams {
    KindAndParams::new(kind(name).expect("a listed kind"), params.to_vec()).over(of)
}

/// Bytes that a queue holds that has just been built, and with all that it needs besides packets.
fn held(queue: &KindAndParams) -> [u64; 2] {
    let before = HELD.get();
    let built = AnyQdisc::<SimplePacket>::build_boxed(queue, &LINK, EcnPolicy::Drop, Rng::new(1));
    let mut built = built.expect("a good queue");
    let idle = HELD.get() - before;
    built.reserve(0);
    [idle, HELD.get() - before].map(|bytes| bytes as u64)
}

#[test]
fn an_idle_queue_takes_little_memory() {
    for (name, most) in [("tail-drop", 2_000), ("codel", 2_000), ("fq-codel", 16_000), ("cake", 50_000)] {
        let [idle, _] = held(&over(name, &[], None));
        assert!(idle <= most, "{name}: {idle} B");
    }
}

#[test]
fn a_queue_of_ten_thousand_idle_classes_takes_little_memory() {
    let class = |number: u32| ClassAndParams {
        name: number.to_string(),
        parent: None,
        params: vec![("rate", Value::Rate(Rate::mbit(10)))],
        of: Some(over("fq-codel", &[], None)),
    };
    let queue = KindAndParams { classes: (0..10_000).map(class).collect(), ..over("htb", &[], None) };
    let [idle, _] = held(&queue);
    assert!(idle < 10_000 * 16_000, "{idle} B");
}

#[test]
fn memory_of_a_queue_is_known_before_it_is_built() {
    let flows = |count: f64| [("flows", Value::Number(count))];
    let eight = [("bands", Value::Number(8.0))];
    let tins = [("flows", Value::Number(4096.0)), ("tins", Value::Choice("diffserv8"))];
    let fair = |inner| over("fair", &flows(4096.0), Some(over(inner, &[], None)));
    let mut queues: Vec<KindAndParams> =
        kinds().filter(|kind| !kind.needs_another()).map(|kind| over(kind.kind, &[], None)).collect();
    queues.extend(["fq-codel", "fq-pie", "sfq-codel", "nfq-codel", "cake"].map(|kind| over(kind, &flows(8192.0), None)));
    queues.extend(goodqueue_aqm::algo::KINDS.iter().flat_map(|kinds| kinds.iter()).map(|kind| fair(kind.kind)));
    let linux = [("arithmetic", Value::Choice("linux"))];
    queues.push(over("fair", &flows(4096.0), Some(over("sfb", &linux, None))));
    queues.push(over("cake", &tins, None));
    queues.push(over("priority", &eight, Some(over("cake", &tins, None))));
    queues.push(over("shaper", &[], Some(over("priority", &eight, Some(fair("sfb"))))));
    for queue in queues {
        let (told, [_, held]) = (queue.state_bytes().get(), held(&queue));
        let name = queue.name();
        // A queue by itself, with room for its first packets, is the caller's to count.
        assert!(held <= told + 8192, "{name}: {held} B are more than {told} B");
        // The queues of this kind are made when flows come.
        let is_lazy = queue.kind.kind == "nfq-codel";
        assert!(is_lazy || told <= 2 * held + 65_536, "{name}: {told} B are far more than {held} B");
    }
}
