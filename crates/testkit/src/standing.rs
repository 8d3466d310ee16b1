//! A queue under steady load: packets arrive and leave in turn while others wait. Benchmarks and
//! instruction counts measure this.

use goodqueue_aqm::{NoSink, Qdisc, SimplePacket};
use goodqueue_base::units::{Duration, Instant};
use std::hint::black_box;

/// Number of packets that always wait.
const WAITING: u32 = 100;
/// Time between packets: a link of 1 Gbit/s with packets of 1250 bytes, whose standing queue of 1
/// ms is below every target.
const GAP: Duration = Duration::us(10);
/// Coprime with the numbers of flows in use, so that flows are visited in an order that does not
/// favor the cache.
const STRIDE: u32 = 7_919;
/// Packets that are made at once. A processor waits when it reads as one word what was just written
/// as several; packets made one by one would cost that wait, which belongs to no queue.
const BURST: usize = 64;

/// A queue of 100 standing packets over some flows.
#[derive(Clone, Debug)]
pub struct StandingQueue<Q> {
    queue: Q,
    now: Instant,
    flows: u32,
    burst: [SimplePacket; BURST],
    next: usize,
}

impl<Q: Qdisc<SimplePacket>> StandingQueue<Q> {
    /// Fills `queue` and runs it past the start: first updates done, storage at its working size,
    /// every flow seen.
    #[must_use]
    pub fn new(queue: Q, flows: u32) -> Self {
        let burst = [SimplePacket::new(1250); BURST];
        let mut standing = Self { queue, now: Instant::from_nanos(1), flows: flows.max(1), burst, next: BURST };
        (0..WAITING).for_each(|_| standing.enqueue());
        standing.work(20 * flows.max(1_000));
        standing
    }

    /// Makes the next packets.
    #[inline(never)]
    fn refill(&mut self) {
        let (mut flow, step) = (self.burst[BURST - 1].flow, STRIDE % self.flows);
        for packet in &mut self.burst {
            flow += step;
            if flow >= self.flows {
                flow -= self.flows;
            }
            packet.flow = flow;
        }
        self.next = 0;
    }

    #[inline(always)]
    fn enqueue(&mut self) {
        if self.next == BURST {
            self.refill();
        }
        let packet = self.burst[self.next];
        self.next += 1;
        self.queue.enqueue(self.now, packet, &mut NoSink);
    }

    /// Passes `packets` packets, each one in and one out, with timers on time.
    #[inline]
    pub fn work(&mut self, packets: u32) {
        for _ in 0..packets {
            self.now += GAP;
            if self.queue.next_timer().is_some_and(|due| due <= self.now) {
                self.queue.handle_timer(self.now);
            }
            self.enqueue();
            if let Some(departure) = self.queue.dequeue(self.now, &mut NoSink) {
                black_box(departure.packet.len);
                black_box(departure.packet.flow);
                black_box(departure.enqueued_at);
            }
        }
    }

    /// The queue.
    pub const fn queue(&self) -> &Q {
        &self.queue
    }
}
