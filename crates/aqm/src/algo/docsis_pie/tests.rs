use super::*;
use crate::FlowHash;
use goodqueue_base::units::{Ecn, Packets, Rng};

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::us(micros)
}

fn pie_at(p: f64) -> DocsisPie {
    let limit = Limit::bytes(30_000);
    DocsisPie { p, ..DocsisPie::new(DocsisPieParams { limit, ..DocsisPieParams::default() }) }
}

fn with_env<R>(now: Instant, rate: Option<Rate>, act: impl FnOnce(&mut Env<'_>) -> R) -> R {
    act(&mut Env { now, link_rate: rate, overhead: Bytes::ZERO, rng: &mut Rng::new(1) })
}

fn holding(backlog: u64) -> QueueView {
    QueueView { backlog: Bytes::new(backlog), packets: Packets::new(backlog.div_ceil(1500)) }
}

fn arrive(pie: &mut DocsisPie, now: Instant, backlog: u64) -> Verdict {
    let packet = PacketView { len: Bytes::new(1500), ecn: Ecn::NotEct, flow: FlowHash(0), enqueued_at: now };
    with_env(now, Some(Rate::mbit(10)), |env| pie.on_arrival(env, packet, holding(backlog)))
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn a_step_by_hand() {
    // 0.25 x 5 ms + 2.5 x 5 ms, scaled.
    near(pie_at(0.0).stepped(Duration::ms(10), Duration::ms(15)), 0.013_75 / 2048.0);
    near(pie_at(0.05).stepped(Duration::ms(10), Duration::ms(15)), 0.05 + 0.013_75 / 2.0);
    // Doubled from 0.1 on, and capped.
    near(pie_at(0.5).stepped(Duration::ms(10), Duration::ms(15)), 0.52);
    near(pie_at(0.5).stepped(Duration::ms(15), Duration::ms(10)), 0.5 - 2.0 * 0.0125);
    near(pie_at(5.0).stepped(Duration::ms(15), Duration::ms(10)), 5.0 - 8.0 * 0.0125);
    near(pie_at(12.0).stepped(Duration::ms(15), Duration::ms(10)), 12.0 - 32.0 * 0.0125);
}

#[test]
fn long_delays_push_and_short_ones_let_go() {
    near(pie_at(0.5).stepped(Duration::ms(300), Duration::ms(300)), 0.5 + 0.02 + 0.02);
    near(pie_at(0.5).stepped(Duration::ms(4), Duration::ms(4)), (0.5 - 2.0 * 0.25 * 0.006) * 0.98);
}

#[test]
fn probability_ends_where_small_packets_are_dropped_with_85_pct() {
    near(MAX, 13.6);
    near(pie_at(13.59).stepped(Duration::ms(300), Duration::ms(300)), 13.6);
    near(MAX * 64.0 / MEAN_PACKET, PROB_LOW);
}

#[test]
fn the_delay_is_that_of_the_shaper() {
    let shaped = DocsisPieParams {
        sustained_rate: Some(Rate::mbit(8)),
        peak_rate: Some(Rate::mbit(80)),
        burst: Bytes::new(20_000),
        ..DocsisPieParams::default()
    };
    let mut pie = DocsisPie::new(shaped);
    let delay = |pie: &mut DocsisPie, backlog| with_env(at(0), None, |env| pie.measure(env, holding(backlog)));
    // 1000 bytes take 1 ms, or 0.1 ms while there are tokens.
    assert_eq!(delay(&mut pie, 10_000), Some(Duration::ms(1)));
    assert_eq!(delay(&mut pie, 30_000), Some(Duration::ms(12)));
    let head = PacketView { len: Bytes::new(15_000), ecn: Ecn::NotEct, flow: FlowHash(0), enqueued_at: at(0) };
    let _ = with_env(at(0), None, |env| pie.on_departure(env, head, holding(0)));
    assert_eq!(delay(&mut pie, 10_000), Some(Duration::us(5_500)));
    let refilled = with_env(at(5_000), None, |env| pie.measure(env, holding(10_000)));
    assert_eq!(refilled, Some(Duration::ms(1)), "5 ms bring 5000 bytes");
}

#[test]
fn without_a_rate_the_delay_keeps_its_value() {
    let mut pie = pie_at(0.5);
    assert_eq!(with_env(at(0), None, |env| pie.measure(env, holding(9_000))), None);
    assert_eq!(with_env(at(0), Some(Rate::ZERO), |env| pie.measure(env, holding(9_000))), None);
}

#[test]
fn nothing_is_dropped_until_a_third_of_the_buffer_was_full() {
    let mut pie = DocsisPie { qdelay: Duration::ms(50), ..pie_at(5.0) };
    assert!((0..100).all(|n| arrive(&mut pie, at(n), 9_999) == Verdict::Pass));
    assert_eq!(pie.state, State::Inactive);
    assert!((0..100).any(|n| arrive(&mut pie, at(200 + n), 10_000) == Verdict::Drop(Reason::Early)));
    assert_eq!(pie.state, State::Active);
}

#[test]
fn the_first_drop_holds_the_probability_at_zero() {
    let mut pie = DocsisPie { qdelay: Duration::ms(50), state: State::Quiescent, accu: PROB_HIGH, ..pie_at(5.0) };
    assert_eq!(arrive(&mut pie, at(0), 20_000), Verdict::Drop(Reason::Early));
    assert_eq!((pie.state, pie.burst_allowance, pie.accu), (State::Active, Duration::ms(142), 0.0));
    let mut updates = 0;
    loop {
        let due = pie.next_update().expect("awake");
        with_env(due, Some(Rate::mbit(10)), |env| pie.on_update(env, None, holding(20_000)));
        updates += 1;
        if pie.p > 0.0 {
            break;
        }
    }
    // 142 ms are nine updates of 16 ms.
    assert_eq!(updates, 10);
}

#[test]
fn a_second_of_quiet_ends_the_busy_time() {
    let mut pie = DocsisPie { state: State::Active, ..pie_at(0.0) };
    let _ = arrive(&mut pie, at(0), 0);
    let mut updates = 0;
    while pie.state != State::Inactive {
        let due = pie.next_update().expect("awake");
        with_env(due, Some(Rate::mbit(10)), |env| pie.on_update(env, None, holding(0)));
        updates += 1;
    }
    // One update to Quiescent; 63 intervals of 16 ms exceed one second.
    assert_eq!(updates, 64);
    assert_eq!(pie.next_update(), None, "at rest");
}
