//! Tests of the detection and repair of losses, and of their cost.

mod pipe;

use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use goodqueue_tcp::{CcConfig, Data, EcnMode, LossDetection, ReceiverConfig, SackReports, SenderConfig};
use pipe::{Fate, Pipe};
use std::collections::HashSet;

const MSS: u64 = 1448;
const BOTH: [LossDetection; 2] = [LossDetection::Rack, LossDetection::Rfc6675];

/// Segments leave one by one, so that each acknowledgement has a separate response.
fn reno(segments: u64, detection: LossDetection) -> SenderConfig {
    SenderConfig {
        cc: CcConfig { kind: "reno", params: Vec::new() },
        loss_detection: detection,
        offload: Some(false),
        data: Data::Bytes(Bytes::new(segments * MSS)),
        ..SenderConfig::default()
    }
}

/// A window of 100 segments at once: 100 Mbit/s, 20 ms.
fn wide(segments: u64, detection: LossDetection) -> SenderConfig {
    SenderConfig { initial_window: 100, max_window: Bytes::new(1 << 24), ..reno(segments, detection) }
}

/// Drops the first transmission of each of these segments.
fn first_sending_of(lost: impl IntoIterator<Item = u64>) -> impl FnMut(&goodqueue_tcp::Segment, usize) -> Fate {
    let mut left: HashSet<u64> = lost.into_iter().collect();
    move |segment, _| if left.remove(&(segment.number / MSS)) { Fate::Drop } else { Fate::Deliver }
}

fn transfer(config: &SenderConfig, fate: impl FnMut(&goodqueue_tcp::Segment, usize) -> Fate + 'static) -> Pipe {
    let mut pipe = Pipe::new(config, &ReceiverConfig::default()).with_fate(fate);
    pipe.finish(Duration::secs(60));
    let Data::Bytes(bytes) = config.data else { panic!("these transfers end") };
    assert_eq!(pipe.receiver.delivered_bytes(), bytes.get());
    pipe
}

#[test]
fn one_loss_costs_one_retransmission_and_half_the_window() {
    for detection in BOTH {
        let pipe = transfer(&wide(300, detection), first_sending_of([50]));
        let done = pipe.sender.statistics();
        assert_eq!((done.retransmitted_segments, done.recoveries, done.timeouts), (1, 1, 0), "{detection:?}");
        assert!(pipe.sender.ssthresh() >= Bytes::new(50 * MSS) && pipe.sender.ssthresh() <= Bytes::new(100 * MSS));
        let repeat = pipe.log.iter().find(|sent| sent.retransmission).unwrap();
        assert_eq!(repeat.number / MSS, 50);
        let first = pipe.log.iter().find(|sent| sent.number == repeat.number).unwrap();
        // A round trip, the time in the queue, and three more segments.
        assert!(repeat.at.since(first.at) < Duration::ms(30), "{}", repeat.at.since(first.at));
    }
}

#[test]
fn a_lost_tail_is_repaired_by_a_probe() {
    // The last segment that arrives may wait 40 ms for its pair. The acknowledgement of a single
    // lost one may be delayed in the same way, so its probe waits 200 ms longer, which is still
    // less than the timer.
    for (lost, most) in [(98..100, Duration::ms(170)), (99..100, Duration::ms(318))] {
        let count = lost.end - lost.start;
        let pipe = transfer(&wide(100, LossDetection::Rack), first_sending_of(lost));
        let done = pipe.sender.statistics();
        assert_eq!((done.probes, done.retransmitted_segments, done.timeouts), (1, count, 0));
        let repeat = pipe.log.last().unwrap();
        let first = pipe.log.iter().find(|sent| sent.number == repeat.number).unwrap();
        assert!(repeat.at.since(first.at) < most, "{}", repeat.at.since(first.at));
    }
}

#[test]
fn a_probe_reveals_a_longer_lost_tail() {
    let pipe = transfer(&wide(100, LossDetection::Rack), first_sending_of(90..100));
    let done = pipe.sender.statistics();
    assert_eq!((done.probes, done.retransmitted_segments, done.timeouts), (1, 10, 0));
}

#[test]
fn without_probes_a_lost_tail_waits_for_the_timer() {
    let pipe = transfer(&wide(100, LossDetection::Rfc6675), first_sending_of([99]));
    let done = pipe.sender.statistics();
    assert_eq!((done.probes, done.timeouts), (0, 1));
}

#[test]
fn heavy_losses_within_a_window_are_repaired_without_a_timeout() {
    for detection in BOTH {
        for (percent, lost) in [(30, 30u64), (60, 60), (90, 90)] {
            // Spread over the window; the last ten are delivered.
            let numbers = (0..100u64).filter(move |number| number * lost / 100 != (number + 1) * lost / 100);
            let lost_count = numbers.clone().filter(|&n| n < 97).count() as u64;
            let pipe = transfer(&wide(400, detection), first_sending_of(numbers.filter(|&n| n < 97)));
            let done = pipe.sender.statistics();
            assert_eq!(done.retransmitted_segments, lost_count, "{detection:?} {percent} %");
            assert_eq!((done.recoveries, done.timeouts), (1, 0), "{detection:?} {percent} %");
        }
    }
}

#[test]
fn a_whole_lost_window_needs_a_probe_or_one_timeout() {
    for (detection, timeouts) in [(LossDetection::Rack, 0), (LossDetection::Rfc6675, 1)] {
        // Ten segments arrive and release twenty more, which are lost with the rest of the window.
        let pipe = transfer(&wide(400, detection), first_sending_of(10..120));
        let done = pipe.sender.statistics();
        assert_eq!((done.timeouts, done.retransmitted_segments), (timeouts, 110), "{detection:?}: {done:?}");
    }
}

#[test]
fn lost_retransmission_is_found_by_time_and_missed_by_counting() {
    for (detection, timeouts) in [(LossDetection::Rack, 0), (LossDetection::Rfc6675, 1)] {
        let mut drops = 2;
        let pipe = transfer(&wide(400, detection), move |segment, _| {
            if segment.number == 50 * MSS && drops > 0 {
                drops -= 1;
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        let done = pipe.sender.statistics();
        assert_eq!(done.timeouts, timeouts, "{detection:?}");
        assert!(done.retransmitted_segments >= 2);
    }
}

#[test]
fn the_window_is_halved_smoothly() {
    let mut config = wide(0, LossDetection::Rack);
    config.data = Data::Unlimited;
    let mut pipe = Pipe::new(&config, &ReceiverConfig::default())
        .with_path(Rate::mbit(10), Duration::ms(10), usize::MAX)
        .with_fate(first_sending_of([150]));
    while pipe.sender.statistics().recoveries == 0 {
        assert!(pipe.step());
    }
    let start = pipe.log.len();
    let began_at = pipe.now;
    let window = pipe.sender.in_flight().get() / MSS;
    pipe.run(Duration::ms(300));
    // During the reduction there are no bursts: at most two segments at one time, about one per two
    // deliveries.
    let during: Vec<_> = pipe.log[start..].iter().take_while(|sent| sent.at.since(began_at) < Duration::ms(100)).collect();
    let largest_burst = during.iter().map(|sent| during.iter().filter(|other| other.at == sent.at).count()).max();
    assert!(largest_burst <= Some(2), "{largest_burst:?}");
    assert_eq!(pipe.sender.statistics().timeouts, 0);
    let after = pipe.sender.cwnd().get() / MSS;
    assert!(after.abs_diff(window / 2) <= window / 20 + 3, "{window} to {after}");
}

#[test]
fn timeouts_double_and_a_new_sample_takes_the_doubling_back() {
    let mut config = reno(20, LossDetection::Rack);
    config.initial_window = 1;
    // The first segment and its retransmissions are lost; the sixth copy arrives.
    let mut copies = 0;
    let pipe = transfer(&config, move |segment, _| {
        if segment.number == 0 {
            copies += 1;
            if copies <= 5 {
                return Fate::Drop;
            }
        }
        Fate::Deliver
    });
    let at: Vec<Instant> = pipe.log.iter().filter(|sent| sent.number == 0).map(|sent| sent.at).collect();
    let gaps: Vec<u64> = at.windows(2).map(|pair| pair[1].since(pair[0]).as_nanos() / 1_000_000).collect();
    // A probe after two round trips and 200 ms, then the timer: srtt + 200 ms, doubling; rounded up
    // to the granularity of the timer wheel, 8 ms, and 64 ms from half a second on.
    assert_eq!(gaps.len(), 5);
    assert!((235..258).contains(&gaps[0]), "{gaps:?}");
    assert!((215..238).contains(&gaps[1]), "{gaps:?}");
    for (doubling, gap) in gaps[1..].iter().enumerate() {
        let exact = 220 << doubling;
        assert!((exact..exact + if exact < 504 { 18 } else { 66 }).contains(gap), "{gaps:?}");
    }
    // Afterward the transfer continues normally: the doubled timer does not delay it.
    let last = pipe.log.last().unwrap();
    assert!(last.at.since(at[5]) < Duration::ms(300));
}

#[test]
fn a_copy_gives_no_round_trip_time_without_its_timestamp() {
    // The first segment is lost once and repaired by the timer. The acknowledgement echoes the
    // timestamp of the copy, so the estimate stays at the path's round-trip time, although more
    // than 200 ms have passed since the first transmission.
    let mut config = reno(3, LossDetection::Rfc6675);
    config.initial_window = 1;
    let pipe = transfer(&config, first_sending_of([0]));
    assert_eq!(pipe.sender.statistics().timeouts, 1);
    assert!(pipe.sender.srtt().unwrap() < Duration::ms(25), "{:?}", pipe.sender.srtt());
}

#[test]
fn reordering_costs_nothing_lasting() {
    // A run of segments is late by 12 ms, more than a quarter of the round-trip time.
    let mut config = wide(2_000, LossDetection::Rack);
    config.initial_window = 40;
    let pipe =
        transfer(
            &config,
            |segment, _| {
                if (60..62).contains(&(segment.number / MSS)) { Fate::Late(Duration::ms(12)) } else { Fate::Deliver }
            },
        );
    let done = pipe.sender.statistics();
    assert!(done.recoveries >= 1 && done.undone >= 1, "{done:?}");
    assert_eq!(done.timeouts, 0);
    assert!(pipe.sender.cwnd() > Bytes::new(80 * MSS), "{}", pipe.sender.cwnd());
}

#[test]
fn a_network_known_to_reorder_is_given_time() {
    // From the second hundred on, every tenth segment is 4 ms late: less than a quarter of 20 ms.
    let config = wide(2_000, LossDetection::Rack);
    let pipe = transfer(&config, |segment, _| {
        let number = segment.number / MSS;
        if number >= 100 && number.is_multiple_of(10) { Fate::Late(Duration::ms(4)) } else { Fate::Deliver }
    });
    let done = pipe.sender.statistics();
    assert!(done.retransmitted_segments <= 12, "{done:?}");
}

#[test]
fn a_needless_timeout_is_undone() {
    // The path stalls for a second; then everything arrives in the order of sending.
    let mut config = wide(1_000, LossDetection::Rack);
    config.initial_window = 50;
    let (from, until) = (Instant::from_nanos(60_000_000), Instant::from_nanos(1_060_000_000));
    let hold = move |segment: &goodqueue_tcp::Segment, sent: usize| {
        if segment.timestamp < from {
            Fate::Deliver
        } else {
            Fate::Late(until.since(segment.timestamp) + Duration::us(2) * sent as u64)
        }
    };
    let path = (Rate::gbit(1_000), Duration::ms(10), usize::MAX);
    let mut pipe = Pipe::new(&config, &ReceiverConfig::default()).with_path(path.0, path.1, path.2).with_fate(hold);
    pipe.finish(Duration::secs(60));
    let done = pipe.sender.statistics();
    assert!(done.timeouts >= 1 && done.undone >= 1, "{done:?}");
    assert!(done.retransmitted_segments <= 10, "{done:?}");
    assert!(pipe.sender.cwnd() >= Bytes::new(50 * MSS), "{}", pipe.sender.cwnd());
}

#[test]
fn an_early_or_repeated_timeout_changes_nothing() {
    let mut pipe = Pipe::new(&wide(300, LossDetection::Rack), &ReceiverConfig::default()).with_fate(first_sending_of([50, 51]));
    let mut nagged = Pipe::new(&wide(300, LossDetection::Rack), &ReceiverConfig::default()).with_fate(first_sending_of([50, 51]));
    while !pipe.sender.is_finished() {
        assert!(pipe.step());
        assert!(nagged.step());
        if nagged.sender.next_timeout().is_some_and(|due| due > nagged.now) {
            let before = nagged.sender.next_timeout();
            nagged.sender.handle_timeout(nagged.now);
            nagged.sender.handle_timeout(nagged.now);
            assert_eq!(nagged.sender.next_timeout(), before);
        }
        if nagged.receiver.next_timeout().is_some_and(|due| due > nagged.now) {
            assert_eq!(nagged.receiver.handle_timeout(nagged.now), None);
        }
    }
    assert_eq!(pipe.log, nagged.log);
    assert_eq!(pipe.acks, nagged.acks);
}

#[test]
fn a_stopped_sender_delivers_what_it_sent_and_no_more() {
    let config = SenderConfig { data: Data::Unlimited, ..wide(0, LossDetection::Rack) };
    let mut pipe = Pipe::new(&config, &ReceiverConfig::default()).with_fate(first_sending_of([70]));
    pipe.run(Duration::ms(100));
    let sent = pipe.log.iter().map(|sent| sent.number + MSS).max().unwrap();
    pipe.sender.stop(pipe.now);
    pipe.finish(Duration::secs(5));
    assert_eq!(pipe.receiver.delivered_bytes(), sent);
    assert!(!pipe.step(), "a finished connection is silent");
}

#[test]
fn lost_handshake_backs_off_and_asks_for_ecn_once() {
    let config = SenderConfig { ecn: EcnMode::Classic, ..reno(10, LossDetection::Rack) };
    let mut sender = goodqueue_tcp::Sender::new(&config, goodqueue_base::units::Rng::new(1)).unwrap();
    let mut now = Instant::from_nanos(5);
    sender.connect(now);
    let mut waits = Vec::new();
    let mut next = sender.poll_transmit(now);
    for sent in 0..7 {
        let syn = next.take().expect("a SYN");
        assert!(syn.segment.flags.has(goodqueue_tcp::Flags::SYN) && syn.segment.payload == 0);
        assert_eq!(syn.segment.flags.has(goodqueue_tcp::Flags::ECE), sent == 0);
        assert_eq!(sender.poll_transmit(now), None);
        let sent_at = now;
        while next.is_none() {
            now = sender.next_timeout().unwrap();
            sender.handle_timeout(now);
            next = sender.poll_transmit(now);
        }
        waits.push(now.since(sent_at));
    }
    // One, two and four seconds are in the level of the timer wheel with a granularity of 64 ms.
    assert_eq!(waits[1..], [1024, 1024, 1024, 1024, 2048, 4032].map(Duration::ms));
}

#[test]
fn hystart_plus_plus_ends_slow_start_before_an_overflow() {
    use goodqueue_tcp::SlowStartExit;
    let mut losses = Vec::new();
    for exit in [SlowStartExit::LossOnly, SlowStartExit::HystartPlusPlus, SlowStartExit::Native] {
        let config = SenderConfig {
            cc: CcConfig { kind: "cubic", params: Vec::new() },
            slow_start_exit: exit,
            data: Data::Unlimited,
            ..SenderConfig::default()
        };
        let mut pipe = Pipe::new(&config, &ReceiverConfig::default()).with_path(Rate::mbit(50), Duration::ms(25), 1_500);
        while pipe.sender.ssthresh() == Bytes::MAX {
            assert!(pipe.step());
        }
        losses.push(pipe.dropped);
    }
    assert!(losses[0] > 100, "doubling overshoots: {losses:?}");
    assert_eq!(losses[1..], [0, 0]);
}

/// RFC 3042: each of the first two duplicates releases one new segment; the third triggers the
/// retransmission.
#[test]
fn the_first_duplicates_let_new_segments_leave() {
    use goodqueue_tcp::{Flags, SackBlock, Segment, Sender};
    let config = SenderConfig { data: Data::Unlimited, initial_window: 20, ..reno(0, LossDetection::Rfc6675) };
    let mut sender = Sender::new(&config, goodqueue_base::units::Rng::new(1)).unwrap();
    let mut now = Instant::from_nanos(1_000_000);
    sender.connect(now);
    let syn = sender.poll_transmit(now).unwrap().segment;
    now += Duration::ms(20);
    sender.handle_ack(now, &Segment { timestamp: syn.timestamp, flags: Flags::SYN.with(Flags::ACK), ..Segment::default() });
    let all = |sender: &mut Sender, now| {
        let data = |out: &goodqueue_tcp::Transmit| out.segment.payload > 0;
        std::iter::from_fn(|| sender.poll_transmit(now)).filter(data).collect::<Vec<_>>()
    };
    assert_eq!(all(&mut sender, now).len(), 20);
    now += Duration::ms(20);
    let mut answers = Vec::new();
    for received in 1..=3 {
        let mut ack = Segment { flags: Flags::ACK, timestamp: now, ..Segment::default() };
        ack.sack[0] = SackBlock { offset: MSS as u32, len: received * MSS as u32 };
        sender.handle_ack(now, &ack);
        answers.push(all(&mut sender, now).iter().map(|out| (out.segment.number / MSS, out.retransmission)).collect::<Vec<_>>());
    }
    assert_eq!(answers, [vec![(20, false)], vec![(21, false)], vec![(0, true)]]);
}

/// Both ends without selective acknowledgements.
fn without_sack(segments: u64, fate: impl FnMut(&goodqueue_tcp::Segment, usize) -> Fate + 'static) -> Pipe {
    let receiver = ReceiverConfig { sack: SackReports::Off, ..ReceiverConfig::default() };
    let mut pipe = Pipe::new(&wide(segments, LossDetection::Duplicates), &receiver).with_fate(fate);
    pipe.finish(Duration::secs(60));
    assert_eq!(pipe.receiver.delivered_bytes(), segments * MSS);
    assert!(pipe.acks.iter().all(|(_, ack)| !ack.has_blocks()));
    pipe
}

#[test]
fn without_sack_three_duplicates_tell_of_a_loss() {
    let pipe = without_sack(300, first_sending_of([50]));
    let done = pipe.sender.statistics();
    assert_eq!((done.retransmitted_segments, done.recoveries, done.timeouts), (1, 1, 0));
    assert!(pipe.sender.ssthresh() >= Bytes::new(50 * MSS) && pipe.sender.ssthresh() <= Bytes::new(100 * MSS));
    let repeat = pipe.log.iter().find(|sent| sent.retransmission).unwrap();
    let first = pipe.log.iter().find(|sent| sent.number == repeat.number).unwrap();
    assert!(repeat.number == 50 * MSS && repeat.at.since(first.at) < Duration::ms(32), "{}", repeat.at.since(first.at));
}

#[test]
fn without_sack_recovery_repairs_one_loss_per_round_trip() {
    let lost = [20, 40, 60, 80];
    let pipe = without_sack(400, first_sending_of(lost));
    let done = pipe.sender.statistics();
    assert_eq!((done.retransmitted_segments, done.recoveries, done.timeouts), (4, 1, 0), "{done:?}");
    let repeats: Vec<_> = pipe.log.iter().filter(|sent| sent.retransmission).collect();
    assert_eq!(repeats.iter().map(|sent| sent.number / MSS).collect::<Vec<_>>(), lost);
    for pair in repeats.windows(2) {
        let gap = pair[1].at.since(pair[0].at);
        assert!(gap >= Duration::ms(20) && gap < Duration::ms(40), "a round trip each: {gap}");
    }
}

#[test]
fn without_sack_many_losses_of_a_window_end_in_a_timeout() {
    // Sixty round trips of repair exceed a retransmission timer that only the first of them
    // restarts.
    let pipe = without_sack(400, first_sending_of((20..80).filter(|n| n % 2 == 0)));
    let done = pipe.sender.statistics();
    assert_eq!(done.timeouts, 1, "{done:?}");
}

#[test]
fn without_sack_duplicates_of_a_repair_begin_no_other() {
    // Everything from 10 on is lost except the last few: the timeout retransmits segments that had
    // arrived, which causes duplicates.
    let pipe = without_sack(400, first_sending_of((10..120).filter(|n| n % 10 != 9)));
    let done = pipe.sender.statistics();
    assert!(done.recoveries <= 1 && done.timeouts >= 1, "{done:?}");
}

/// The window that receivers offer is some 64 kB at first; it must also hold segments of that size.
#[test]
fn segments_of_any_size_fit_into_the_window_that_is_offered() {
    for mss in [100, 536, 1448, 8948, 32_000, 44_000, 65_495] {
        let config =
            SenderConfig { mss: Bytes::new(mss), data: Data::Bytes(Bytes::new(300 * mss)), ..reno(0, LossDetection::Rack) };
        let receiver = ReceiverConfig { mss: Bytes::new(mss), ..ReceiverConfig::default() };
        let mut pipe = Pipe::new(&config, &receiver).with_fate(first_sending_of([7 * mss / MSS]));
        pipe.finish(Duration::secs(60));
        assert_eq!(pipe.receiver.delivered_bytes(), 300 * mss, "{mss}");
    }
}
