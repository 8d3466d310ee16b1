use super::*;
use goodqueue_base::units::Rng;
use std::cell::Cell;

thread_local! {
    /// Comparisons of packets in heaps.
    pub(super) static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A packet numbered `number`.
fn packet(number: u64) -> SimPacket {
    let mut packet = SimPacket::NONE;
    packet.segment.number = number;
    packet
}

/// A lane and a sorted list of (arrival time, number), which says what the lane must do.
struct Checked {
    lane: Lane,
    sorted: Vec<(u64, u64)>,
    entered: u64,
    now: u64,
}

impl Checked {
    fn new() -> Self {
        Self { lane: Lane::new(), sorted: Vec::new(), entered: 0, now: 0 }
    }

    fn push(&mut self, at: u64) {
        let place = self.sorted.partition_point(|other| other.0 <= at);
        self.sorted.insert(place, (at, self.entered));
        assert_eq!(self.lane.push(Instant::from_nanos(at), 0, || packet(self.entered)), place == 0);
        self.entered += 1;
        assert_eq!(self.lane.len(), self.sorted.len());
    }

    fn pop(&mut self) {
        let (at, number) = self.sorted.remove(0);
        assert_eq!(self.lane.first_at().as_nanos(), at);
        self.now = at;
        let packet = *self.lane.first();
        let next = self.lane.advance();
        assert_eq!(packet.segment.number, number);
        assert_eq!(next, self.sorted.first().map_or(Instant::MAX, |other| Instant::from_nanos(other.0)));
        assert_eq!(self.lane.len(), self.sorted.len());
    }
}

#[test]
fn packets_come_out_in_order_of_time_then_of_entering() {
    // Spread over few and over many arrival times: nearly sorted, and far out of order.
    for (seed, spread) in [(1, 40), (2, 100_000)] {
        let mut rng = Rng::new(seed);
        let mut checked = Checked::new();
        for round in 0..50_000_u64 {
            checked.push(checked.now + rng.below(spread));
            let most = if round % 5000 < 2500 { 2 } else { 4 };
            for _ in 0..rng.below(most).min(checked.sorted.len() as u64) {
                checked.pop();
            }
        }
        while !checked.sorted.is_empty() {
            checked.pop();
        }
        assert!(checked.lane.overflow.is_none(), "an empty lane is a plain ring again");
    }
}

#[test]
fn hosts_that_send_at_one_instant_keep_the_order_of_equal_times() {
    let mut checked = Checked::new();
    for host in 0..700_u64 {
        // Ten packets each, back to back; some hosts begin again where others have ended.
        (0..10).for_each(|number| checked.push(1_000 + 100 * number + host % 3));
    }
    for _ in 0..3_000 {
        checked.pop();
    }
    for host in 0..300_u64 {
        (0..10).for_each(|number| checked.push(checked.now + 70 * number + host % 7));
    }
    while !checked.sorted.is_empty() {
        checked.pop();
    }
}

/// Moves within the ring and comparisons in the heap when `hosts` send ten packets each at one
/// instant and all of them are taken out.
fn work(hosts: u64) -> u64 {
    COMPARISONS.with(|count| count.set(0));
    let mut lane = Lane::new();
    for host in 0..hosts {
        for number in 0..10 {
            let _ = lane.push(Instant::from_nanos(1_000 + 100 * number), 0, || packet(host * 10 + number));
        }
    }
    for _ in 0..10 * hosts {
        lane.advance();
    }
    lane.moved as u64 + COMPARISONS.with(Cell::get)
}

#[test]
fn many_hosts_at_one_instant_cost_little_more_each_than_few() {
    let each = |hosts: u64| work(hosts) / (10 * hosts);
    let (few, many) = (each(100), each(10_000));
    assert!(many < 2 * few && many < MAX_PASSED as u64, "{few} steps per packet of 100 hosts, {many} of 10,000");
}

#[test]
fn the_common_stop_of_different_stops_is_varied() {
    let [third, fourth] = [3, 4].map(|number| LaneExit::Queue(LinkId::new(number)));
    assert_eq!(LaneExit::Unknown.or(LaneExit::End), LaneExit::End);
    assert_eq!(third.or(third), third);
    assert_eq!(third.or(fourth), LaneExit::PerPacket);
    assert_eq!(LaneExit::PerPacket.or(LaneExit::End), LaneExit::PerPacket);
}
