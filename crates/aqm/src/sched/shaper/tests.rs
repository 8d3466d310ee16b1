use super::*;
use crate::algo::tail_drop::TailDrop;
use crate::{Limit, ManagedQueue, NoSink, SimplePacket};
use alloc::string::ToString;
use goodqueue_base::units::Rng;
use std::vec::Vec;

const FULL: Bytes = Bytes::new(1500);

fn params(rate: Rate, burst: u64) -> ShaperParams {
    ShaperParams { rate, burst: Bytes::new(burst), peak: None, mtu: FULL, largest: FULL, framing: Framing::NONE }
}

fn shaper(params: ShaperParams) -> Shaper<ManagedQueue<SimplePacket, TailDrop>> {
    Shaper::new(ManagedQueue::new(TailDrop, Limit::NONE), params)
}

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::us(micros)
}

/// Everything that leaves until `end` when the host asks whenever it may: (time, length).
fn departures(
    queue: &mut Shaper<ManagedQueue<SimplePacket, TailDrop>>,
    arrivals: &[(Instant, u32)],
    end: Instant,
) -> Vec<(Instant, u64)> {
    let (mut out, mut now, mut next) = (Vec::new(), Instant::ZERO, 0);
    while now < end {
        while next < arrivals.len() && arrivals[next].0 <= now {
            queue.enqueue(now, SimplePacket::new(arrivals[next].1), &mut NoSink);
            next += 1;
        }
        queue.handle_timer(now);
        while let Some(departure) = queue.dequeue(now, &mut NoSink) {
            out.push((now, departure.packet.len().get()));
        }
        let arrival = arrivals.get(next).map(|arrival| arrival.0);
        now = queue.next_timer().into_iter().chain(arrival).min().unwrap_or(end);
    }
    out
}

#[test]
fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
    // 12 Mbit/s: a full packet a millisecond. Four packets' worth of tokens.
    let mut queue = shaper(params(Rate::mbit(12), 6000));
    let out = departures(&mut queue, &[(at(0), 1500); 7], at(10_000));
    let times: Vec<Instant> = out.iter().map(|departure| departure.0).collect();
    assert_eq!(times, [0, 0, 0, 0, 1000, 2000, 3000].map(at));
}

#[test]
fn peak_rate_spreads_a_burst() {
    let settings = ShaperParams { peak: Some(Rate::mbit(120)), ..params(Rate::mbit(12), 6000) };
    let out = departures(&mut shaper(settings), &[(at(0), 1500); 7], at(10_000));
    let times: Vec<Instant> = out.iter().map(|departure| departure.0).collect();
    // A packet takes 100 us at the peak rate; meanwhile the large bucket gains a tenth of a packet,
    // and the fifth packet finds it at 400 us with 0.4 of what it needs.
    assert_eq!(times, [0, 100, 200, 300, 1000, 2000, 3000].map(at));
}

#[test]
fn framing_counts() {
    let settings =
        ShaperParams { framing: Framing::header(Bytes::new(500)), largest: Bytes::new(2000), ..params(Rate::mbit(16), 2000) };
    let out = departures(&mut shaper(settings), &[(at(0), 1500); 3], at(10_000));
    assert_eq!(out.iter().map(|departure| departure.0).collect::<Vec<_>>(), [0, 1000, 2000].map(at));
}

#[test]
fn next_release_time_is_named_only_while_packets_wait() {
    let mut queue = shaper(params(Rate::mbit(12), 1500));
    (0..2).for_each(|_| queue.enqueue(at(0), SimplePacket::new(1500), &mut NoSink));
    assert!(queue.dequeue(at(0), &mut NoSink).is_some());
    assert_eq!(queue.next_timer(), Some(at(1000)));
    assert_eq!(queue.dequeue(at(999), &mut NoSink), None);
    queue.handle_timer(at(1000));
    assert_eq!(queue.next_timer(), None, "the host knows, and asks when its link is free");
    assert!(queue.dequeue(at(1700), &mut NoSink).is_some());
    assert_eq!(queue.next_timer(), None, "nothing waits");
    queue.enqueue(at(1800), SimplePacket::new(1500), &mut NoSink);
    assert_eq!(queue.next_timer(), Some(at(2700)));
}

#[test]
fn an_oversized_packet_is_paid_for_afterwards() {
    let mut queue = shaper(params(Rate::mbit(12), 1500));
    let out = departures(&mut queue, &[(at(0), 9000), (at(0), 1500)], at(10_000));
    assert_eq!(out.iter().map(|departure| departure.0).collect::<Vec<_>>(), [at(0), at(6000)]);
}

/// RFC 2212: in any span `t` no more than `min(M + p t, b + r t)` leaves, and under lasting load no
/// less than that less one packet.
#[test]
fn no_span_exceeds_the_bound_and_none_is_wasted() {
    let mut rng = Rng::new(5);
    for (rate, burst, peak) in [(7_777_777, 1500, None), (1_000_003, 20_000, None), (3_333_333, 15_000, Some(9_999_999))] {
        let settings = ShaperParams { peak: peak.map(Rate::bit_s), mtu: Bytes::new(3000), ..params(Rate::bit_s(rate), burst) };
        let mut arrivals = Vec::new();
        let (mut now, mut offered) = (0, 0);
        while now < 2_000_000 {
            // Bursts and pauses, half as much again as the rate on the whole.
            let len = 40 + rng.below(1461) as u32;
            arrivals.push((at(now), len));
            offered += u64::from(len);
            let packet_time = 770 * 8_000_000 / rate;
            now += if rng.fires(0.02) { rng.below(packet_time * 25) } else { rng.below(packet_time * 5 / 6) };
        }
        let out = departures(&mut shaper(settings), &arrivals, at(2_000_000));
        assert!(offered * 8 > 2 * rate, "the load lasts");
        for first in 0..out.len() {
            let mut sum = 0;
            for &(time, len) in out[first..].iter().take(400) {
                sum += len;
                let span = time.since(out[first].0).as_secs_f64();
                let sustained = burst as f64 + rate as f64 * span / 8.0;
                let bound = peak.map_or(sustained, |peak| sustained.min(3000.0 + peak as f64 * span / 8.0));
                assert!(sum as f64 <= bound, "{sum} bytes in {span} s where {bound} are allowed");
            }
        }
        let sent: u64 = out.iter().map(|departure| departure.1).sum();
        let fair = burst as f64 + rate as f64 * 2.0 / 8.0;
        assert!(sent as f64 > fair - 1500.0 - burst as f64, "{sent} of {fair}");
        assert!(sent as f64 <= fair);
    }
}

#[test]
fn refuses_what_cannot_work() {
    let link =
        LinkFacts { rate: Some(Rate::mbit(10)), delay: Duration::ms(1), mtu: FULL, overhead: Bytes::new(14), limit: Limit::NONE };
    use crate::spec::{Size, Value};
    let refusal = |values: &[(&'static str, Value)], link: &LinkFacts| {
        ShaperParams::build(&ParamValues::new(&KIND, values).expect("within range"), link).expect_err("refused").to_string()
    };
    let burst = refusal(&[("burst", Value::Size(Size::Bytes(1500.0)))], &link);
    assert_eq!(burst, "burst: 1500 B cannot hold one full packet: allowed from 1514 B");
    let peak = refusal(&[("peak", Value::Rate(Rate::mbit(9)))], &link);
    assert_eq!(peak, "peak: 9 Mbit/s is below rate (10 Mbit/s): allowed from rate");
    let rate = refusal(&[], &LinkFacts { rate: None, ..link });
    assert_eq!(rate, "rate: the link's rate is unknown: give one above zero");
}

#[test]
fn a_host_that_asks_at_the_release_need_not_call_the_timer() {
    let mut queue = shaper(params(Rate::mbit(12), 1500));
    (0..3).for_each(|_| queue.enqueue(at(0), SimplePacket::new(1500), &mut NoSink));
    for packet in 0..3 {
        let status = queue.status();
        assert_eq!(status.timer, Instant::MAX, "tail drop has none");
        assert_eq!(status.held_until, at(packet * 1000));
        assert!(queue.dequeue(status.held_until, &mut NoSink).is_some());
    }
    assert_eq!(queue.status().held_until, Instant::ZERO, "nothing waits");
}
