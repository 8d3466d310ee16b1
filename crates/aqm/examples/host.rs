//! A host with packets of its own type: a link under FQ-CoDel that uses only this library.
//! `cargo run -p goodqueue-aqm --example host`

use goodqueue_aqm::algo::codel::CoDel;
use goodqueue_aqm::{Dropped, Ecn, FairQueue, FairQueueParams, FlowHash, Limit, Packet, Qdisc, Reason, Sink};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

/// A packet as this host stores it. The queue moves it and never reads its bytes.
struct Frame {
    bytes: Vec<u8>,
    flow: u32,
}

impl Packet for Frame {
    fn len(&self) -> Bytes {
        Bytes::new(self.bytes.len() as u64)
    }
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.bytes[1])
    }
    fn set_ce(&mut self) {
        self.bytes[1] |= Ecn::Ce as u8;
    }
    fn flow(&self) -> FlowHash {
        FlowHash(self.flow)
    }
}

/// Collects dropped frames so that their memory is reused.
#[derive(Default)]
struct Pool(Vec<Frame>);

impl Sink<Frame> for Pool {
    fn dropped(&mut self, frame: Frame, _: Dropped) {
        self.0.push(frame);
    }
    fn marked(&mut self, _: &Frame, _: Reason) {}
}

fn main() {
    let rate = Rate::mbit(10);
    let mut queue = FairQueue::new(CoDel::default(), Limit::packets(1000), FairQueueParams::default());
    let mut pool = Pool::default();
    let (mut now, mut free_at, mut next_arrival) = (Instant::from_nanos(1), Instant::ZERO, Instant::from_nanos(1));
    let (mut sent, mut waited, mut number) = (0u64, Duration::ZERO, 0u32);
    while now < Instant::ZERO + Duration::secs(10) {
        if let Some(due) = queue.next_timer().filter(|&due| due <= now) {
            queue.handle_timer(due);
        }
        if now >= next_arrival {
            // A fifth more than the link carries; every fourth frame belongs to a small flow.
            let mut frame = pool.0.pop().unwrap_or_else(|| Frame { bytes: Vec::new(), flow: 0 });
            frame.flow = u32::from(number.is_multiple_of(4));
            frame.bytes.clear();
            frame.bytes.resize(if frame.flow == 0 { 1500 } else { 200 }, 0);
            queue.enqueue(now, frame, &mut pool);
            number += 1;
            next_arrival += Duration::us(780);
        }
        if now >= free_at
            && let Some(departure) = queue.dequeue(now, &mut pool)
        {
            waited += departure.sojourn(now);
            sent += 1;
            free_at = now + rate.transmission_time(departure.packet.len());
            pool.0.push(departure.packet);
        }
        now = if free_at > now { next_arrival.min(free_at) } else { next_arrival };
    }
    let counters = queue.counters();
    println!("{} arrived, {sent} sent, {} dropped", counters.arrived.packets, counters.dropped_total().packets);
    println!("mean time in the queue {}", waited.div(sent.max(1)));
}
