//! Once a queue has grown to its working size, processing packets allocates no memory, whatever the
//! kind.

use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{KindAndParams, LinkFacts};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate};
use goodqueue_testkit::{Mix, Operation, Operations};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Allocations of this thread only: the test harness has threads of its own.
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // The counter of a thread that is ending no longer exists.
    let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
}

struct Counting;

#[expect(unsafe_code, reason = "the trait of an allocator is unsafe; this one forwards every call to the system's")]
// SAFETY: every call is forwarded to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the precondition of the system's allocator.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
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

/// Every kind with its defaults, those over another one over PIE.
fn queues() -> impl Iterator<Item = (&'static str, AnyQdisc<SimplePacket>)> {
    let link = LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit { packets: Packets::new(PACKETS as u64), bytes: Bytes::new(150_000) },
    };
    kinds().map(move |spec| {
        let of = spec.is_over_another().then(|| KindAndParams::new(kind("pie").expect("a listed kind"), Vec::new()));
        let queue = AnyQdisc::build_over(spec, &[], of.as_ref(), &link, EcnPolicy::Mark, Rng::new(1));
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
