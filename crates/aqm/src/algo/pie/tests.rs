use super::*;

fn pie_at(p: f64) -> Pie {
    Pie { p, ..Pie::new(PieParams::default()) }
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn a_step_from_rest() {
    near(pie_at(0.0).step(Duration::ms(15), Duration::ms(30)), 0.020_625 / 2048.0);
    near(0.020_625 / 2048.0, 1.007_080_078_125e-5);
}

#[test]
fn a_large_step_is_capped_once_p_is_large() {
    near(pie_at(0.2).step(Duration::ms(15), Duration::ms(60)), 0.02);
    let mut uncapped = pie_at(0.2);
    uncapped.params.cap_drop = false;
    near(uncapped.step(Duration::ms(15), Duration::ms(60)), 0.125 * 0.045 + 1.25 * 0.045);
    near(pie_at(0.2).step(Duration::ms(60), Duration::ms(15)), -1.25 * 0.045);
}

#[test]
fn the_meter_averages_the_time_of_sixteen_kibibytes() {
    let mut meter = Meter::default();
    let threshold = Bytes::new(1 << 14);
    let packet = Bytes::new(1 << 12);
    let mut depart = |micros| meter.departure(Instant::ZERO + Duration::us(micros), packet, threshold, threshold);
    (0..=4).for_each(|n| depart(n * 1000));
    (1..=4).for_each(|n| depart(4000 + n * 2000));
    near(meter.mean_time, 0.75 * 0.004 + 0.25 * 0.008);
}

#[test]
fn a_dozing_queue_asks_for_no_updates_and_keeps_its_grid() {
    let mut pie = Pie::new(PieParams { dozes: true, ..PieParams::default() });
    let mut rng = goodqueue_base::units::Rng::new(1);
    let mut arrive = |pie: &mut Pie, now| {
        let packet = PacketView {
            len: Bytes::new(1500),
            ecn: goodqueue_base::units::Ecn::NotEct,
            flow: crate::FlowHash(0),
            enqueued_at: now,
        };
        let mut env = Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng };
        assert_eq!(pie.on_arrival(&mut env, packet, QueueView::default()), Verdict::Pass);
    };
    let update = |pie: &mut Pie, now| {
        let mut env = Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut goodqueue_base::units::Rng::new(1) };
        pie.on_update(&mut env, None, QueueView::default());
    };
    arrive(&mut pie, Instant::from_nanos(1));
    let first = pie.next_update().expect("awake");
    update(&mut pie, first);
    assert_eq!(pie.next_update(), None);
    arrive(&mut pie, first + Duration::ms(100));
    assert_eq!(pie.next_update(), Some(first + Duration::ms(15) * 7));
}

/// Load that comes and goes, by both estimators: updates that are skipped make no difference.
#[test]
fn dozing_changes_nothing() {
    use crate::{ManagedQueue, NoSink, Qdisc, SimplePacket};
    let mut rng = goodqueue_base::units::Rng::new(5);
    let mut signals = 0;
    for round in 0..40 {
        let estimator = if round % 2 == 0 { Estimator::Timestamp } else { Estimator::DepartureRate };
        let params = PieParams { dozes: true, estimator, ..PieParams::default() };
        let mut dozing = ManagedQueue::new(Pie::new(params), Limit::packets(100));
        let mut awake = ManagedQueue::new(Pie::new(params).without_dozing(), Limit::packets(100));
        let (mut now, mut share, mut skipped) = (Instant::ZERO, 0.5, 0);
        for step in 0..4000 {
            if step % 400 == 0 {
                share = [0.1, 0.4, 0.55, 0.9][rng.below(4) as usize];
            }
            now += Duration::us(1 + rng.below(4000));
            for queue in [&mut dozing, &mut awake] {
                while let Some(due) = queue.next_timer().filter(|due| *due <= now) {
                    queue.handle_timer(due);
                }
            }
            let state = |queue: &ManagedQueue<SimplePacket, Pie>| (queue.aqm().p, queue.aqm().qdelay, queue.aqm().accu);
            assert_eq!(state(&dozing), state(&awake), "{round} {step}");
            assert_eq!(dozing.aqm().lenient, awake.aqm().lenient, "{round} {step}");
            skipped += u32::from(dozing.next_timer().is_none());
            if rng.fires(share) {
                let packet = SimplePacket { id: step, ..SimplePacket::new(1500) };
                [&mut dozing, &mut awake].into_iter().for_each(|queue| queue.enqueue(now, packet, &mut NoSink));
            } else {
                assert_eq!(dozing.dequeue(now, &mut NoSink), awake.dequeue(now, &mut NoSink));
            }
        }
        assert_eq!(dozing.counters(), awake.counters());
        assert!(skipped > 0);
        signals += awake.counters().early().packets.get();
    }
    assert!(signals > 0);
}

#[test]
fn de_randomising_spaces_signals() {
    let mut pie = pie_at(0.1);
    let mut rng = goodqueue_base::units::Rng::new(4);
    let mut env = Env { now: Instant::ZERO, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng };
    let (mut gap, mut gaps) = (0, std::vec::Vec::new());
    for _ in 0..100_000 {
        gap += 1;
        if pie.picks(&mut env, Bytes::new(1500)) {
            pie.accu = 0.0;
            gaps.push(core::mem::take(&mut gap));
        }
    }
    // 0.85 / 0.1 and 8.5 / 0.1 packets; sums of tenths fall short of whole numbers by rounding,
    // at most once.
    assert!(gaps.iter().all(|gap| (9..=86).contains(gap)), "{:?}", gaps.iter().max());
    assert_eq!(gaps.iter().min(), Some(&9));
}
