use super::*;
use goodqueue_base::units::{Bytes, Ecn, Rng};
use std::vec::Vec;

const FULL: QueueView = QueueView { backlog: Bytes::new(100_000), packets: Packets::new(70) };

/// The verdict on a packet that waited for `waited` at time `now`.
fn judge(codel: &mut CoDel, now: Instant, waited: Duration, queue: QueueView) -> Verdict {
    let mut rng = Rng::new(0);
    let flow = crate::FlowHash(0);
    let head = PacketView { len: Bytes::new(1500), ecn: Ecn::NotEct, flow, enqueued_at: now - waited };
    codel.on_departure(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, head, queue)
}

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::us(micros)
}

#[test]
fn signals_come_ever_faster_under_constant_overload() {
    let mut codel = CoDel::default();
    let mut signals = Vec::new();
    for tenths in 10_000..15_000 {
        let now = at(tenths * 100);
        if judge(&mut codel, now, Duration::ms(50), FULL) != Verdict::Pass {
            signals.push((tenths as f64 - 11_000.0) / 10.0);
        }
    }
    // 100 / sqrt(n) apart; a departure every 0.1 ms comes at most that much late.
    let expected = [0.0, 100.0, 170.7, 228.4, 278.4, 323.2];
    for (found, expected) in signals.iter().zip(expected) {
        assert!((found - expected).abs() < 0.11, "{signals:?}");
    }
    assert!(signals.len() > expected.len());
}

#[test]
fn one_packet_below_target_ends_the_episode() {
    let mut codel = CoDel::default();
    let _ = judge(&mut codel, at(1_000_000), Duration::ms(50), FULL);
    assert_ne!(judge(&mut codel, at(1_100_000), Duration::ms(50), FULL), Verdict::Pass);
    assert!(codel.dropping);
    assert_eq!(judge(&mut codel, at(1_100_100), Duration::ms(4), FULL), Verdict::Pass);
    assert!(!codel.dropping);
    assert_eq!(judge(&mut codel, at(1_300_000), Duration::ms(50), FULL), Verdict::Pass);
}

#[test]
fn never_signals_while_one_mtu_or_less_waits() {
    let mut codel = CoDel::default();
    let little = QueueView { backlog: Bytes::new(1500), packets: Packets::new(1) };
    assert!((0..1000).all(|ms| judge(&mut codel, at(1_000_000 + ms * 1000), Duration::ms(500), little) == Verdict::Pass));
}

#[test]
fn the_threshold_marks_and_changes_nothing_else() {
    let mut codel = CoDel::new(CoDelParams { ce_threshold: Duration::ms(1), ..CoDelParams::default() });
    assert_eq!(judge(&mut codel, at(1_000_000), Duration::ms(1), FULL), Verdict::Pass);
    assert_eq!(judge(&mut codel, at(1_000_000), Duration::us(1001), FULL), Verdict::Mark(Reason::Threshold));
    assert_eq!(codel.first_above_time, Instant::MAX);
}

#[test]
fn the_code_for_ns2_resumes_two_below_within_eight_intervals() {
    for (pause, resumed) in [(Duration::ms(700), 3), (Duration::ms(900), 1)] {
        let mut codel = CoDel::new(CoDelParams { reentry: Reentry::Ns2, ..CoDelParams::default() });
        codel.count = 5;
        codel.drop_next = at(1_000_000);
        let _ = judge(&mut codel, at(1_000_000) + pause - Duration::ms(100), Duration::ms(50), FULL);
        assert_eq!(judge(&mut codel, at(1_000_000) + pause, Duration::ms(50), FULL), Verdict::Signal(Reason::Head));
        assert_eq!(codel.count, resumed);
    }
}

#[test]
fn evictions_make_it_signal_faster() {
    let mut codel = CoDel::default();
    let mut rng = Rng::new(0);
    let mut env = Env { now: at(0), link_rate: None, overhead: Bytes::ZERO, rng: &mut rng };
    codel.on_evicted(&mut env, Packets::new(8));
    assert_eq!(codel.count, 8);
    codel.on_evicted(&mut env, Packets::MAX);
    assert_eq!(codel.count, u32::MAX);
}
