use super::*;
use crate::FlowHash;
use goodqueue_base::units::{Ecn, Rate, Rng};
use std::vec::Vec;

const FULL: QueueView = QueueView { backlog: Bytes::new(100_000), packets: Packets::new(70) };

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::us(micros)
}

fn with_env<R>(now: Instant, rate: Option<Rate>, act: impl FnOnce(&mut Env<'_>) -> R) -> R {
    act(&mut Env { now, link_rate: rate, overhead: Bytes::ZERO, rng: &mut Rng::new(now.as_nanos()) })
}

/// Creates a COBALT at 10 Mbit/s, where a packet takes 1.2 ms.
fn cobalt() -> Cobalt {
    let mut cobalt = Cobalt::default();
    with_env(at(0), Some(Rate::mbit(10)), |env| cobalt.on_rate_change(env));
    cobalt
}

fn judge(cobalt: &mut Cobalt, now: Instant, waited: Duration, ecn: Ecn) -> Verdict {
    let head = PacketView { len: Bytes::new(1500), ecn, flow: FlowHash(0), enqueued_at: now - waited };
    with_env(now, None, |env| cobalt.on_departure(env, head, FULL))
}

#[test]
fn signals_come_ever_faster_under_constant_overload() {
    let mut cobalt = cobalt();
    let found: Vec<f64> = (10_000..15_000)
        .filter(|tenths| judge(&mut cobalt, at(tenths * 100), Duration::ms(50), Ecn::NotEct) != Verdict::Pass)
        .map(|tenths| (tenths as f64 - 10_000.0) / 10.0)
        .collect();
    // The first 100 ms after the episode began, the others 100 / sqrt(count) apart with count from
    // 2: unlike in CoDel, the first signal counts.
    let gaps = [100.0, 70.711, 57.735, 50.0, 44.721];
    let mut expected = 0.0;
    for (found, gap) in found.iter().zip(gaps) {
        expected += gap;
        assert!((found - expected).abs() < 0.11, "{found} is not {expected}");
    }
    assert!(found.len() > gaps.len());
}

#[test]
fn below_target_the_count_fades_at_the_pace_it_rose() {
    let mut cobalt = cobalt();
    let mut now = 1_000_000;
    while cobalt.count < 5 {
        let _ = judge(&mut cobalt, at(now), Duration::ms(50), Ecn::NotEct);
        now += 100;
    }
    assert!(cobalt.dropping);
    let mut fallen = Vec::new();
    for tenths in 0..4_000 {
        let before = cobalt.count;
        assert_eq!(judge(&mut cobalt, at(now + tenths * 100), Duration::ms(1), Ecn::NotEct), Verdict::Pass);
        if cobalt.count < before {
            fallen.push(tenths as f64 / 10.0);
        }
    }
    // The scheduled step comes first, 100 / sqrt(5) ms after the last signal; then 100 / sqrt(4),
    // 3, 2, 1.
    let expected = [44.721, 94.721, 152.456, 223.167, 323.167];
    assert_eq!(fallen.len(), expected.len());
    for (found, expected) in fallen.iter().zip(expected) {
        assert!((found - expected).abs() < 0.3, "{fallen:?}");
    }
    assert_eq!(cobalt.count, 0);
}

#[test]
fn four_packet_times_and_two_per_flow_are_always_acceptable() {
    let over = |sharing, micros| Cobalt { sharing, ..cobalt() }.is_over_target(Duration::us(micros), FULL);
    // The target of 5 ms decides while four packets take less.
    assert_eq!((over(1, 5_000), over(1, 5_001)), (false, true));
    assert_eq!((over(2, 5_000), over(2, 5_001)), (false, true));
    assert_eq!((over(3, 7_200), over(3, 7_201)), (false, true));
    assert_eq!((over(10, 24_000), over(10, 24_001)), (false, true));
}

#[test]
fn target_and_interval_follow_a_slow_link() {
    let mut cobalt = Cobalt::default();
    with_env(at(0), Some(Rate::kbit(1_000)), |env| cobalt.on_rate_change(env));
    // A packet takes 12 ms: the target is 18 ms, the interval 100 ms + 13 ms.
    assert_eq!((cobalt.target, cobalt.interval), (Duration::ms(18), Duration::ms(113)));
    with_env(at(0), Some(Rate::ZERO), |env| cobalt.on_rate_change(env));
    assert_eq!(cobalt.mtu_time, Duration::ms(12), "a link that is down keeps its last rate");
    with_env(at(0), Some(Rate::kbit(50)), |env| cobalt.on_rate_change(env));
    assert_eq!((cobalt.target, cobalt.interval), (Duration::ms(360), Duration::ms(720)));
    with_env(at(0), None, |env| cobalt.on_rate_change(env));
    assert_eq!((cobalt.target, cobalt.interval), (Duration::ms(5), Duration::ms(100)));
}

#[test]
fn with_the_rate_unknown_the_last_packet_passes() {
    let one = QueueView { backlog: Bytes::new(1500), packets: Packets::new(1) };
    let cobalt = Cobalt::default();
    assert!(!cobalt.is_over_target(Duration::secs(1), one));
    assert!(cobalt.is_over_target(Duration::ms(6), FULL));
}

#[test]
fn overflows_raise_the_drop_probability_once_a_target() {
    let mut cobalt = cobalt();
    for tenths in 0..10_000 {
        with_env(at(1_000_000 + tenths * 100), None, |env| cobalt.on_evicted(env, Packets::new(1)));
    }
    // One second with one step per 5.1 ms (a target of 5 ms must have passed).
    assert_eq!(cobalt.p_drop, 197.0 / 256.0);
    let mut steps = 0;
    while cobalt.p_drop > 0.0 {
        cobalt.on_idle(at(2_010_000 + steps * 5_001));
        steps += 1;
    }
    assert_eq!(steps, 197 * 16);
}

#[test]
fn silence_forgives() {
    let arrive = |cobalt: &mut Cobalt, now| {
        let packet = PacketView { len: Bytes::new(1500), ecn: Ecn::NotEct, flow: FlowHash(0), enqueued_at: now };
        let _ = with_env(now, None, |env| cobalt.on_arrival(env, packet, QueueView::default()));
    };
    let mut cobalt = Cobalt { p_drop: 0.5, last_blue: Some(at(0)), ..cobalt() };
    cobalt.on_emptied(at(1_000_000));
    arrive(&mut cobalt, at(1_004_999));
    assert_eq!(cobalt.p_drop, 0.5, "less than a target");
    cobalt.on_emptied(at(2_000_000));
    arrive(&mut cobalt, at(3_000_000));
    assert_eq!(cobalt.p_drop, 0.5 - 200.0 / 4096.0);
    arrive(&mut cobalt, at(9_000_000));
    assert_eq!(cobalt.p_drop, 0.5 - 200.0 / 4096.0, "only while nothing waits");
}

#[test]
fn an_overflow_makes_the_next_departure_a_signal() {
    let mut cobalt = cobalt();
    with_env(at(1_000_000), None, |env| cobalt.on_evicted(env, Packets::new(1)));
    assert_ne!(judge(&mut cobalt, at(1_000_001), Duration::ms(6), Ecn::NotEct), Verdict::Pass);
    assert_eq!(cobalt.count, 2);
}

#[test]
fn the_drop_probability_spares_no_ecn_capable_packet() {
    let mut cobalt = Cobalt { p_drop: 1.0, ..cobalt() };
    assert_eq!(judge(&mut cobalt, at(1_000_000), Duration::ZERO, Ecn::Ect0), Verdict::Drop(Reason::Penalty));
}

#[test]
fn marks_that_are_behind_schedule_are_not_made_up_for() {
    let mut cobalt = cobalt();
    let _ = judge(&mut cobalt, at(1_000_000), Duration::ms(50), Ecn::Ect0);
    assert_eq!(judge(&mut cobalt, at(9_000_000), Duration::ms(50), Ecn::Ect0), Verdict::Signal(Reason::Head));
    assert_eq!(cobalt.drop_next, at(9_000_000));
    let mut cobalt = Cobalt { drop_next: at(0), count: 1, dropping: true, ..cobalt };
    assert_eq!(judge(&mut cobalt, at(9_000_000), Duration::ms(50), Ecn::NotEct), Verdict::Signal(Reason::Head));
    assert!(cobalt.drop_next < at(100_000), "drops are");
}
