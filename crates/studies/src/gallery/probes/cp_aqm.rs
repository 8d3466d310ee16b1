//! CP-AQM's arithmetic and bucket design, asked of the algorithm itself through its own queue: CP-4
//! and CP-9.

use super::probe::{Probe, gauge};
use goodqueue_aqm::algo::cp_aqm::{CpAqm, CpAqmParams, Tokens};
use goodqueue_aqm::spec::Size;
use goodqueue_aqm::{Limit, ManagedQueue, NoSink, Qdisc, Reason, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

/// The study's link and packets: 10 Mbit/s, 1500 bytes of IP with 7 of framing, a buffer of 30 of
/// them.
const RATE: Rate = Rate::mbit(10);
const PACKET: u32 = 1500;
const OVERHEAD: Bytes = Bytes::new(7);
const WIRE: f64 = 1507.0;
const LIMIT: Bytes = Bytes::new(45_000);

pub(super) const PROBES: &[Probe] = &[
    Probe::number("bucket", 1, |given| fill(&queue(given[0], 1.2, 1.0))),
    Probe::number("hold_time", 4, |given| hold_time(given[0], given[1], given[2], given[3])),
    Probe::number("bucket_gain", 1, |given| bucket_gain(given[0])),
    Probe::number("missing_beyond_queued", 0, |_| missing_beyond_queued()),
    Probe::number("burst_drops", 1, |given| burst_drops(given[0])),
    Probe::number("policed_share", 1, |given| policed_share(given[0])),
];

type Queue = ManagedQueue<SimplePacket, CpAqm>;

fn queue(threshold_packets: f64, c_max: f64, rate_factor: f64) -> Queue {
    let params = CpAqmParams {
        limit: LIMIT,
        capacity: None,
        threshold: Size::Packets(threshold_packets),
        c_max,
        rate_factor,
        rate: None,
        tokens: Tokens::Time,
        bucket: None,
        mtu: Bytes::new(u64::from(PACKET)),
        overhead: OVERHEAD,
    };
    let limit = Limit { bytes: LIMIT, ..Limit::NONE };
    ManagedQueue::new(CpAqm::new(params, Some(RATE)), limit).with_overhead(OVERHEAD)
}

fn fill(queue: &Queue) -> f64 {
    gauge(queue, &["fill"])
}

fn arrive(queue: &mut Queue, now: Instant) {
    queue.enqueue(now, SimplePacket::new(PACKET), &mut NoSink);
}

/// Tokens that one packet costs above its own size when `standing` packets wait, as a part of its
/// size.
fn extra_cost(threshold: f64, c_max: f64, standing: u32) -> f64 {
    let mut queue = queue(threshold, c_max, 1.0);
    let now = Instant::from_nanos(1);
    (0..standing).for_each(|_| arrive(&mut queue, now));
    let before = fill(&queue);
    arrive(&mut queue, now);
    (before - fill(&queue)) / WIRE - 1.0
}

/// Returns the time in seconds that the queue can stay at `above` packets on the tokens of a dip of
/// `below` seconds.
fn hold_time(below: f64, threshold: f64, above: f64, c_max: f64) -> f64 {
    below / extra_cost(threshold, c_max, above as u32)
}

/// Tokens that come in during a dip of `below` seconds: from the fill before it to that after it.
fn bucket_gain(below: f64) -> f64 {
    let mut queue = queue(10.0, 1.2, 1.0);
    let dip = Instant::from_nanos(1);
    // Fourteen packets wait, of which four cost tokens; then all leave, and one arrives free of
    // cost at either end of the dip.
    (0..14).for_each(|_| arrive(&mut queue, dip));
    while queue.dequeue(dip, &mut NoSink).is_some() {}
    arrive(&mut queue, dip);
    let before = fill(&queue);
    arrive(&mut queue, dip + Duration::from_secs_f64(below));
    fill(&queue) - before
}

/// At c_max = 1: the most by which the tokens missing from the bucket exceed the wire bytes that
/// wait, under Poisson traffic of several loads and thresholds.
fn missing_beyond_queued() -> f64 {
    let mut most = f64::NEG_INFINITY;
    for threshold in [0.0, 5.0, 15.0, 29.0] {
        for load in [0.9, 1.2, 2.0] {
            let mut queue = queue(threshold, 1.0, 1.0);
            let bucket = fill(&queue);
            let mut seen = |queue: &Queue| {
                let waiting = queue.view();
                let queued = waiting.backlog.get() as f64 + OVERHEAD.get() as f64 * waiting.packets.get() as f64;
                most = most.max(bucket - fill(queue) - queued);
            };
            drive(&mut queue, load, Gaps::Exponential, &mut |queue, _| seen(queue));
        }
    }
    most
}

/// The most packets the policer drops of a burst that just fills the buffer, over all thresholds.
fn burst_drops(c_max: f64) -> f64 {
    let mut most = 0.0_f64;
    for threshold in 0..30 {
        let mut queue = queue(f64::from(threshold), c_max, 1.0);
        (0..30).for_each(|_| arrive(&mut queue, Instant::from_nanos(1)));
        most = most.max(queue.counters().dropped_total().packets.get() as f64);
    }
    most
}

/// The least share of arrivals that the policer drops while the bucket cannot pay for two packets
/// at a full queue, over several loads of periodic traffic, with every packet to be paid for
/// (threshold 0).
fn policed_share(rate_factor: f64) -> f64 {
    const C_MAX: f64 = 1.2;
    let mut least = f64::INFINITY;
    for load in [1.0, 1.2, 1.5, 2.0] {
        let mut queue = queue(0.0, C_MAX, rate_factor);
        let (mut arrivals, mut policed) = (0.0, 0.0);
        drive(&mut queue, load, Gaps::Equal, &mut |queue, before| {
            if before < 2.0 * WIRE * C_MAX {
                arrivals += 1.0;
                policed = queue.counters().dropped(Reason::Policer).packets.get() as f64;
            }
        });
        least = least.min(policed / arrivals);
    }
    least
}

#[derive(Clone, Copy)]
enum Gaps {
    Equal,
    Exponential,
}

/// Offers `load` times the link's rate for 20 s; calls `seen` with the queue after each arrival,
/// and the bucket's fill before it.
fn drive(queue: &mut Queue, load: f64, gaps: Gaps, seen: &mut dyn FnMut(&Queue, f64)) {
    let mean = Duration::from_secs_f64(WIRE / RATE.as_bytes_s_f64() / load);
    let mut rng = Rng::new(1);
    let (mut now, mut free_at) = (Instant::from_nanos(1), Instant::from_nanos(1));
    let end = now + Duration::secs(20);
    while now < end {
        while free_at <= now {
            match queue.dequeue(free_at, &mut NoSink) {
                Some(departure) => {
                    free_at += RATE.transmission_time(Bytes::new(u64::from(departure.packet.len)) + OVERHEAD);
                }
                None => free_at = now + Duration::ns(1),
            }
        }
        let before = fill(queue);
        arrive(queue, now);
        if free_at == now + Duration::ns(1) {
            free_at = now;
        }
        seen(queue, before);
        now += match gaps {
            Gaps::Equal => mean,
            Gaps::Exponential => mean.mul_f64(-goodqueue_aqm::math::log(1.0 - rng.uniform())),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_comes_out_of_the_algorithm() {
        assert!((hold_time(2.4e-3, 10.0, 15.0, 1.2) - 48e-3).abs() < 1e-9);
        assert!((bucket_gain(2.4e-3) - 3000.0).abs() < 1e-6);
    }
}
