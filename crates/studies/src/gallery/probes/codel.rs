//! CoDel's law and its limits, asked of the algorithm through its own queue: the rows without an
//! experiment.

use super::Probe;
use goodqueue_aqm::algo::codel::{CoDel, CoDelParams};
use goodqueue_aqm::{Dropped, Limit, ManagedQueue, Qdisc, SimplePacket, Sink};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

const PACKET: u32 = 1500;
const MTU: Bytes = Bytes::new(PACKET as u64);

pub(super) const PROBES: &[Probe] = &[
    Probe::number("transmission_ms", 1, |given| transmission_ms(given[0])),
    Probe::number("drops_below_mtu", 0, |_| drops_below_mtu()),
    Probe::number("gap_error", 1, |given| gap_error(given[0] as usize)),
    Probe::number("time_above_target_ms", 0, |_| time_above_target_ms()),
    Probe::truth("arrivals_change_nothing", arrivals_change_nothing),
];

fn transmission_ms(rate_bit_s: f64) -> f64 {
    Rate::bit_s(rate_bit_s as u64).transmission_time(MTU).as_secs_f64() * 1000.0
}

type Queue = ManagedQueue<SimplePacket, CoDel>;

fn queue() -> Queue {
    ManagedQueue::new(CoDel::new(CoDelParams::default()), Limit::NONE)
}

/// When packets were dropped.
#[derive(Default)]
struct Drops {
    now: Instant,
    times: Vec<Instant>,
}

impl Sink<SimplePacket> for Drops {
    fn dropped(&mut self, _: SimplePacket, _: Dropped) {
        self.times.push(self.now);
    }
    fn marked(&mut self, _: &SimplePacket, _: goodqueue_aqm::Reason) {}
}

/// One packet at a time to and from a queue on a link of `rate`: arrivals at the gaps given,
/// departures whenever the link is free.
struct Line {
    queue: Queue,
    rate: Rate,
    now: Instant,
    free_at: Instant,
    drops: Drops,
}

impl Line {
    fn new(rate: Rate) -> Self {
        let start = Instant::from_nanos(1);
        Self { queue: queue(), rate, now: start, free_at: start, drops: Drops::default() }
    }

    /// Serves packets until `until`; calls `left` with the time and sojourn time of each departure.
    fn serve(&mut self, until: Instant, left: &mut dyn FnMut(Instant, Duration)) {
        while self.free_at <= until && !self.queue.view().packets.is_zero() {
            let at = self.free_at;
            self.drops.now = at;
            let Some(departure) = self.queue.dequeue(at, &mut self.drops) else { break };
            left(at, departure.sojourn(at));
            self.free_at = at + self.rate.transmission_time(Bytes::new(u64::from(departure.packet.len)));
        }
    }

    /// The next packet comes `gap` later.
    fn arrive(&mut self, gap: Duration, len: u32, left: &mut dyn FnMut(Instant, Duration)) {
        self.advance(gap, left);
        self.queue.enqueue(self.now, SimplePacket::new(len), &mut self.drops);
    }

    fn advance(&mut self, gap: Duration, left: &mut dyn FnMut(Instant, Duration)) {
        self.now += gap;
        self.serve(self.now, left);
        self.free_at = self.free_at.max(self.now);
    }
}

/// Drops after which less than one full packet was left waiting, under random traffic of several
/// loads on links so slow that every packet waits for longer than the target.
fn drops_below_mtu() -> f64 {
    let mut wrong = 0.0;
    for (stream, load) in [(1, 0.5), (2, 0.9), (3, 1.1), (4, 1.5)] {
        let rate = Rate::kbit(256);
        let mut rng = Rng::new(stream);
        let mut queue = queue();
        let mean = rate.transmission_time(MTU).as_secs_f64() / load;
        let (mut now, mut free_at) = (Instant::from_nanos(1), Instant::from_nanos(1));
        for _ in 0..20_000 {
            let next = now + Duration::from_secs_f64(-goodqueue_aqm::math::log(1.0 - rng.uniform()) * mean);
            while free_at <= next && !queue.view().packets.is_zero() {
                let at = free_at;
                // The backlog after a departure is the one before, less the bytes that it dropped
                // and took; the last drop saw one packet more.
                let mut drops = Drops::default();
                let Some(departure) = queue.dequeue(at, &mut drops) else { break };
                let taken = Bytes::new(u64::from(departure.packet.len));
                if !drops.times.is_empty() && queue.view().backlog + taken < MTU {
                    wrong += 1.0;
                }
                free_at = at + rate.transmission_time(taken);
            }
            now = next;
            free_at = free_at.max(now);
            let len = if rng.uniform() < 0.5 { PACKET } else { 300 };
            queue.enqueue(now, SimplePacket::new(len), &mut Drops::default());
        }
    }
    wrong
}

/// Under twice the load a link of 100 Mbit/s carries: how far gaps between drops are from interval
/// / sqrt(n), as a part of it, what is due to waiting for the next departure aside.
fn gap_error(gaps: usize) -> f64 {
    let rate = Rate::mbit(100);
    let packet = rate.transmission_time(MTU);
    let mut line = Line::new(rate);
    let interval = CoDelParams::default().interval.as_secs_f64();
    while line.drops.times.len() <= gaps {
        line.arrive(packet.div(2), PACKET, &mut |_, _| {});
    }
    let times = &line.drops.times;
    // The schedule goes from due time to due time; each drop is late by less than a packet, so sums
    // are compared, not gaps with gaps.
    let mut due = 0.0;
    (1..=gaps).fold(0.0, |most: f64, n| {
        let gap = interval / goodqueue_aqm::math::sqrt(n as f64);
        due += gap;
        let late = times[n].since(times[0]).as_secs_f64() - due;
        let beyond = (late.abs() - packet.as_secs_f64()).max(0.0);
        most.max(beyond / gap)
    })
}

/// Under a little more than the link carries: from the first departure that waited for the target
/// or longer to the first drop.
fn time_above_target_ms() -> f64 {
    let rate = Rate::mbit(10);
    let packet = rate.transmission_time(MTU);
    let target = CoDelParams::default().target;
    let mut line = Line::new(rate);
    let mut above: Option<Instant> = None;
    while line.drops.times.is_empty() {
        line.arrive(packet.mul_f64(0.95), PACKET, &mut |at, sojourn| {
            if sojourn >= target {
                above.get_or_insert(at);
            } else {
                above = None;
            }
        });
    }
    above.map_or(0.0, |above| line.drops.times[0].since(above).as_secs_f64() * 1000.0)
}

/// Whether the algorithm's state stays as it is over an arrival, in all its phases: idle,
/// below target, above it, and dropping.
fn arrivals_change_nothing() -> bool {
    let packet = Rate::mbit(10).transmission_time(MTU);
    let mut line = Line::new(Rate::mbit(10));
    let mut same = true;
    for step in 0..3000 {
        let gap = packet.mul_f64(if step % 1000 < 700 { 0.8 } else { 2.0 });
        line.advance(gap, &mut |_, _| {});
        let before = state(&line.queue);
        line.queue.enqueue(line.now, SimplePacket::new(PACKET), &mut line.drops);
        same &= state(&line.queue) == before;
    }
    same && line.drops.times.len() > 10
}

/// All of the algorithm's state, as its own description has it.
fn state(queue: &Queue) -> String {
    format!("{:?}", queue.aqm())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_comes_out_of_the_algorithm() {
        assert_eq!(transmission_ms(3e6), 4.0);
        assert_eq!(drops_below_mtu(), 0.0);
        assert!(gap_error(200) <= 0.02);
        assert!(time_above_target_ms() >= 100.0);
        assert!(arrivals_change_nothing());
    }
}
