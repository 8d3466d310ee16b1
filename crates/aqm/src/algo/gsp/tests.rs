use super::*;
use crate::FlowHash;
use crate::sched::kind;
use crate::spec::Value;
use goodqueue_base::units::{Ecn, Packets, Rng};
use std::string::ToString;
use std::vec::Vec;

const WAITING: QueueView = QueueView { backlog: Bytes::new(150_000), packets: Packets::new(100) };
const EMPTY: QueueView = QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO };

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::ms(millis)
}

fn packet(enqueued_at: Instant) -> PacketView {
    PacketView { len: Bytes::new(1500), ecn: Ecn::NotEct, flow: FlowHash(0), enqueued_at }
}

fn with_env<T>(now: Instant, rate: Option<Rate>, act: impl FnOnce(&mut Env<'_>) -> T) -> T {
    let mut rng = Rng::new(0);
    act(&mut Env { now, link_rate: rate, overhead: Bytes::ZERO, rng: &mut rng })
}

const KNOWN: Option<Rate> = Some(Rate::mbit(10));

fn arrive(gsp: &mut Gsp, now: Instant, queue: QueueView) -> bool {
    with_env(now, KNOWN, |env| gsp.on_arrival(env, packet(now), queue)) != Verdict::Pass
}

/// Dequeues a packet that has waited for `sojourn` while others still wait.
fn depart(gsp: &mut Gsp, now: Instant, sojourn: Duration) {
    let verdict = with_env(now, KNOWN, |env| gsp.on_departure(env, packet(now - sojourn), WAITING));
    assert_eq!(verdict, Verdict::Pass);
}

fn basic() -> Gsp {
    Gsp::new(GspParams { adaptation: None, ..GspParams::default() }, KNOWN)
}

#[test]
fn one_signal_then_silence_for_an_interval() {
    let mut gsp = basic();
    depart(&mut gsp, at(1000), Duration::ms(4));
    let signals: Vec<u64> = (1000..1400).filter(|&ms| arrive(&mut gsp, at(ms), WAITING)).collect();
    assert_eq!(signals, [1000, 1101, 1202, 1303]);
}

#[test]
fn the_threshold_itself_is_not_above() {
    let mut gsp = basic();
    depart(&mut gsp, at(1000), Duration::us(2500));
    assert!(!arrive(&mut gsp, at(1001), WAITING));
    depart(&mut gsp, at(1001), Duration::ns(2_500_001));
    assert!(arrive(&mut gsp, at(1002), WAITING));
}

#[test]
fn an_empty_queue_has_no_delay() {
    let mut gsp = basic();
    depart(&mut gsp, at(1000), Duration::ms(50));
    gsp.on_emptied(at(1000));
    assert!(!arrive(&mut gsp, at(1001), EMPTY));
    assert!(!arrive(&mut gsp, at(1002), WAITING));
}

/// Time above counts double, time below once, and the interval follows.
#[test]
fn the_interval_shrinks_with_time_above_and_recovers_below() {
    let mut gsp = Gsp::default();
    depart(&mut gsp, at(1000), Duration::ms(4));
    arrive(&mut gsp, at(1100), WAITING);
    assert_eq!(gsp.surplus(), 200e6);
    assert_eq!(gsp.interval(), Duration::ns(71_428_571));
    depart(&mut gsp, at(1100), Duration::ms(1));
    arrive(&mut gsp, at(1150), WAITING);
    assert_eq!(gsp.surplus(), 150e6);
    arrive(&mut gsp, at(2000), WAITING);
    assert_eq!(gsp.interval(), Duration::ms(100));
}

#[test]
fn the_interval_is_never_below_a_twentieth() {
    let mut gsp = Gsp::default();
    depart(&mut gsp, at(1000), Duration::secs(1));
    arrive(&mut gsp, at(100_000), WAITING);
    assert_eq!(gsp.interval(), Duration::ms(5));
}

#[test]
fn time_below_counts_after_an_overflow_once_empty_and_above() {
    let mut gsp = Gsp::default();
    depart(&mut gsp, at(1000), Duration::ms(4));
    with_env(at(1100), KNOWN, |env| gsp.on_overflow(env, packet(at(1100)), WAITING));
    let surplus = gsp.surplus();
    depart(&mut gsp, at(1100), Duration::ms(1));
    arrive(&mut gsp, at(1200), WAITING);
    assert_eq!((gsp.surplus(), gsp.room), (surplus, Room::Overflowed));
    gsp.on_emptied(at(1200));
    arrive(&mut gsp, at(1300), EMPTY);
    assert_eq!((gsp.surplus(), gsp.room), (surplus, Room::Drained));
    depart(&mut gsp, at(1300), Duration::ms(4));
    arrive(&mut gsp, at(1310), WAITING);
    assert_eq!((gsp.surplus(), gsp.room), (surplus + 20e6, Room::Clear));
    depart(&mut gsp, at(1310), Duration::ZERO);
    arrive(&mut gsp, at(1320), WAITING);
    assert_eq!(gsp.surplus(), surplus + 10e6);
}

#[test]
fn a_stopped_link_is_seen_without_departures() {
    for rate in [Some(Rate::ZERO), None] {
        let mut gsp = basic();
        let mut arrive = |ms, queue| with_env(at(ms), rate, |env| gsp.on_arrival(env, packet(at(ms)), queue));
        assert_eq!(arrive(1000, EMPTY), Verdict::Pass);
        assert_eq!(arrive(1002, WAITING), Verdict::Pass);
        assert_eq!(arrive(1003, WAITING), Verdict::Signal(Reason::Early));
    }
    let mut gsp = basic();
    assert!(!arrive(&mut gsp, at(1000), EMPTY));
    assert!(!arrive(&mut gsp, at(1500), WAITING), "a slow link is not a stopped one");
}

#[test]
fn a_backlog_given_in_time_follows_the_rate() {
    let params = GspParams { threshold: Threshold::Backlog(Size::Time(Duration::ms(12))), ..GspParams::default() };
    let mut gsp = Gsp::new(params, KNOWN);
    assert_eq!(gsp.most_backlog, Bytes::new(15_000));
    for (rate, expected) in [(Rate::mbit(20), 30_000), (Rate::ZERO, 30_000), (Rate::mbit(1), 1_500)] {
        with_env(at(1), Some(rate), |env| gsp.on_rate_change(env));
        assert_eq!(gsp.most_backlog, Bytes::new(expected));
    }
    let queue = |bytes| QueueView { backlog: Bytes::new(bytes), packets: Packets::new(1) };
    assert!(!arrive(&mut gsp, at(1000), queue(1_500)));
    assert!(arrive(&mut gsp, at(1000), queue(1_501)));
}

fn build(values: &[(&'static str, Value)], rate: Option<Rate>) -> Result<Gsp, ParamError> {
    let link = LinkFacts {
        rate,
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::ZERO,
        limit: crate::Limit::packets(100),
    };
    Gsp::build(&ParamValues::new(kind("gsp").expect("a listed kind"), values)?, &link)
}

#[test]
fn thresholds_and_times_follow_the_preset_interval() {
    assert_eq!(build(&[], KNOWN).expect("defaults").params, GspParams::default());
    let gsp = build(&[("preset_interval", Value::Duration(Duration::ms(200)))], KNOWN).expect("valid");
    assert_eq!(gsp.most_delay, Duration::ms(5));
    let adaptation = gsp.params.adaptation.expect("adaptive");
    assert_eq!((adaptation.tau, adaptation.max_time), (Duration::secs(1), Duration::secs(19)));
}

#[test]
fn the_round_trip_time_sets_interval_and_threshold() {
    let rtt = ("rtt", Value::Duration(Duration::ms(10)));
    let gsp = build(&[rtt], KNOWN).expect("valid");
    assert_eq!((gsp.params.preset_interval, gsp.most_delay), (Duration::ms(20), Duration::us(500)));
    assert_eq!(build(&[("rtt", Value::Duration(Duration::ms(50)))], KNOWN).expect("valid").params, GspParams::default());
}

#[test]
fn contradictions_are_refused() {
    let backlog = ("measure", Value::Choice("backlog"));
    let time = ("threshold", Value::Size(Size::Time(Duration::ms(2))));
    let packets = ("threshold", Value::Size(Size::Packets(5.0)));
    let fixed = ("adaptive", Value::Switch(false));
    let rtt = ("rtt", Value::Duration(Duration::ms(10)));
    let interval = ("preset_interval", Value::Duration(Duration::ms(9)));
    for (values, rate, message) in [
        (&[packets][..], KNOWN, "threshold: 5 packets does not go with measure = \"delay\": allowed a time"),
        (&[backlog, time], None, "threshold: a time needs a link of known rate: use bytes or packets"),
        (&[fixed, ("alpha", Value::Number(3.0))], KNOWN, "alpha: has no meaning with adaptive = false"),
        (&[rtt, interval], KNOWN, "preset_interval: has no meaning with rtt = \"10 ms\""),
    ] {
        assert_eq!(build(values, rate).expect_err("a contradiction").to_string(), message);
    }
    for values in [&[backlog, packets][..], &[fixed], &[time]] {
        build(values, None).expect("valid without a rate");
    }
}
