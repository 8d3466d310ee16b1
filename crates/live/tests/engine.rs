//! Tests of the engine's guarantees, with ports in memory and a clock that the test moves.

mod support;

use goodqueue_aqm::{Limit, Reason};
use goodqueue_base::units::{Bytes, Duration, Ecn, Framing, Instant, Packets, Probability, Rate, Rng};
use goodqueue_live::clock::VirtualClock;
use goodqueue_live::forwarder::{Direction, Forwarder};
use goodqueue_live::lane::Line;
use goodqueue_live::port::fault::{Faults, FaultyPort};
use goodqueue_live::port::memory::{Kept, Listed, MemoryPort, Nothing};
use goodqueue_live::record::EventKind;
use goodqueue_live::{Opportunities, RateSpec};
use std::sync::Arc;
use support::*;

const RATE: Rate = Rate::mbit(10);

#[test]
fn one_frame_takes_its_transmission_and_the_delay() {
    let line = line(RATE, Duration::ms(20));
    let frame = udp(1, 1236, 0);
    let mut live = live(&line, vec![(ms(3), frame.clone())], "tail-drop");
    virtual_time::run(&mut live, ms(1000)).unwrap();
    // 1236 + 14 bytes at 10 Mbit/s are 1 ms.
    assert_eq!(live.ports().1.drain.0, [(ms(24), frame)]);
    assert!(live.conserves());
}

#[test]
fn the_rate_is_exact() {
    let line = line(RATE, Duration::ZERO);
    let frames: Vec<_> = (0..2000).map(|n| (Instant::from_nanos(1000 * n), udp(1, 1236, 0))).collect();
    let mut live = live(&line, frames, "tail-drop");
    let down = live.direction_mut(Direction::Down);
    down.replace_queue(queue("tail-drop", RATE, Limit::NONE));
    virtual_time::run(&mut live, ms(10_000)).unwrap();
    let out = &live.ports().1.drain.0;
    assert_eq!(out.len(), 2000);
    assert!(out.iter().zip(1..).all(|((at, _), n)| *at == ms(n)), "one a millisecond");
}

/// Everything a queue saw and did while the thread came round every `pause`.
fn events(frames: &[(Instant, Vec<u8>)], name: &str, pause: Option<Duration>) -> Vec<goodqueue_live::record::Event> {
    let file = Shared::default();
    let mut live = live(&line(RATE, Duration::ms(7)), frames.to_vec(), name);
    live.direction_mut(Direction::Down).record(file.recorder());
    match pause {
        None => {
            virtual_time::run(&mut live, ms(3000)).unwrap();
        }
        Some(pause) => {
            let mut clock = VirtualClock::default();
            while clock.0 < ms(3000) {
                clock.0 += pause;
                // It comes round at once while there is more to do.
                while live.step(&mut clock).unwrap() <= clock.0 {}
            }
        }
    }
    assert!(live.conserves());
    drop(live);
    file.events()
}

/// First bug of an engine that puts arrivals in before it takes out departures that were due: false
/// tail drops, and packets that leave before they came. Second bug, of one whose clock runs ahead
/// of what it has received: sojourn times above what fits into the queue. Neither can be where a
/// late thread gives the very same events as one that is always on time.
#[test]
fn a_late_thread_does_not_show_in_the_queue() {
    for name in ["tail-drop", "codel", "pie", "fq-codel"] {
        let frames = traffic(RATE, ms(2000), 1);
        let on_time = events(&frames, name, None);
        assert!(on_time.iter().any(|event| matches!(event.kind, EventKind::Dropped(_) | EventKind::Marked(_))));
        for pause in [Duration::us(777), Duration::ms(13), Duration::ms(250)] {
            let late = events(&frames, name, Some(pause));
            let common = late.iter().zip(&on_time).position(|(late, on_time)| late != on_time);
            assert_eq!(common, None, "{name} with a thread that comes round every {pause}");
            assert!(late.len() + 200 > on_time.len(), "{name}: {} events of {}", late.len(), on_time.len());
        }
    }
}

fn longest(down: &goodqueue_live::Lane<goodqueue_aqm::AnyQdisc<goodqueue_live::LivePacket>>) -> Duration {
    Duration::from_secs_f64(down.meter().sojourn().max_s)
}

#[test]
fn arrivals_after_a_stall_find_the_room_that_departures_made() {
    // Exactly at the line's rate: a queue of one packet never overflows, however late the thread
    // is.
    let gap = Duration::ms(1);
    let frames: Vec<_> = (0..900).map(|n| (ms(1) + gap * n, udp(1, 1236, 0))).collect();
    let mut live = live(&line(RATE, Duration::ZERO), frames, "tail-drop");
    let down = live.direction_mut(Direction::Down);
    down.replace_queue(queue("tail-drop", RATE, Limit::packets(1)));
    let mut clock = VirtualClock(ms(500));
    live.step(&mut clock).unwrap();
    clock.0 = ms(1000);
    live.step(&mut clock).unwrap();
    let down = live.direction(Direction::Down);
    assert_eq!(down.counters().dropped(Reason::Overflow).packets, Packets::ZERO);
    assert!(longest(down) <= gap, "{}", longest(down));
}

#[test]
fn a_full_ring_is_emptied_before_the_clock_moves_on() {
    // More frames than one step takes, all older than the clock: sojourn stays within what the
    // limit holds.
    let frames: Vec<_> = (0..5000u64).map(|n| (Instant::from_nanos(1_000_000 + n * 500_000), udp(1, 1236, 0))).collect();
    let mut live = live(&line(RATE, Duration::ZERO), frames, "tail-drop");
    let down = live.direction_mut(Direction::Down);
    down.replace_queue(queue("tail-drop", RATE, Limit::packets(10)));
    let mut clock = VirtualClock(ms(4000));
    while live.ports().0.source.0.front().is_some() {
        live.step(&mut clock).unwrap();
    }
    let most = Duration::ms(10);
    let down = live.direction(Direction::Down);
    assert!(longest(down) <= most + Duration::us(10), "{}", longest(down));
    assert!(down.counters().dropped(Reason::Overflow).packets > Packets::new(1000));
}

#[test]
fn marks_reach_the_bytes() {
    let frames: Vec<_> = (0..3000u64).map(|n| (Instant::from_nanos(1_000_000 * n), udp(1, 1500, 2))).collect();
    let mut live = live(&line(RATE, Duration::ZERO), frames, "codel");
    virtual_time::run(&mut live, ms(5000)).unwrap();
    let marked = live.direction(Direction::Down).counters().marked.packets.get();
    let out = &live.ports().1.drain.0;
    let ce = out.iter().filter(|(_, frame)| Ecn::from_bits(frame[15]) == Ecn::Ce).count() as u64;
    assert!(marked > 10, "{marked}");
    assert_eq!(ce, marked);
    for (_, frame) in out {
        let sum: u32 = frame[14..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        assert_eq!((sum & 0xFFFF) + (sum >> 16), 0xFFFF, "the header's checksum is right");
    }
}

#[test]
fn steps_and_recorded_rates() {
    let frames: Vec<_> = (0..400).map(|n| (Instant::from_nanos(n), udp(1, 1236, 0))).collect();
    let unlimited = |line: &Line| {
        let mut live = live(line, frames.clone(), "tail-drop");
        let down = live.direction_mut(Direction::Down);
        down.replace_queue(queue("tail-drop", RATE, Limit::NONE));
        virtual_time::run(&mut live, ms(2000)).unwrap();
        live.ports().1.drain.0.iter().map(|(at, _)| at.as_nanos() / 1000).collect::<Vec<_>>()
    };
    // 1250 bytes: 1 ms at 10 Mbit/s, nothing for 50 ms, then 10 ms each.
    let steps = RateSpec::Steps(vec![(ms(0), RATE), (ms(100), Rate::ZERO), (ms(150), Rate::mbit(1))]);
    let out = unlimited(&Line { rate: steps, delay: Duration::ZERO, framing: Framing::header(OVERHEAD) });
    assert_eq!((out[99], out[100], out[101]), (100_000, 160_000, 170_000));
    // Half a packet every 2 ms.
    let at = vec![(Duration::ms(2), Bytes::new(625))];
    let trace = RateSpec::Recorded(Arc::new(Opportunities::new(at, Duration::ms(2)).unwrap()));
    let out = unlimited(&Line { rate: trace, delay: Duration::ms(1), framing: Framing::header(OVERHEAD) });
    assert_eq!(out[..3], [5_000, 9_000, 13_000]);
}

#[test]
fn a_change_of_queue_or_rate_loses_nothing() {
    let frames = traffic(RATE, ms(2000), 3);
    let mut live = live(&line(RATE, Duration::ms(5)), frames, "tail-drop");
    let mut clock = VirtualClock::default();
    let mut changes = 0;
    while clock.0 < ms(4000) {
        clock.0 += Duration::us(500);
        live.step(&mut clock).unwrap();
        let waiting = live.direction(Direction::Down).view();
        let dropped = live.direction(Direction::Down).counters().dropped_total();
        if changes < 150 && waiting.packets > Packets::new(20) {
            changes += 1;
            let names = ["codel", "pie", "fq-codel", "tail-drop"];
            let down = live.direction_mut(Direction::Down);
            // Two changes in quick succession as well.
            for _ in 0..=changes % 2 {
                down.replace_queue(queue(names[changes % names.len()], RATE, limit()));
            }
            down.set_rate(Rate::mbit(8 + changes as u64 % 5));
            if changes % 2 == 0 {
                assert_eq!(down.view(), waiting, "every packet is still there");
            }
            assert_eq!(down.counters().dropped_total(), dropped, "none was dropped by the change");
        }
        assert!(live.conserves());
    }
    assert!(changes > 30, "{changes} changes under load");
    assert_eq!(live.direction(Direction::Down).view().packets, Packets::ZERO);
}

#[test]
fn a_line_that_was_down_goes_on_where_it_stopped() {
    let frames: Vec<_> = (0..10).map(|n| (Instant::from_nanos(n), udp(1, 1236, 0))).collect();
    let down_for_good = RateSpec::Steps(vec![(ms(0), RATE), (ms(3), Rate::ZERO)]);
    let mut live =
        live(&Line { rate: down_for_good, delay: Duration::ZERO, framing: Framing::header(OVERHEAD) }, frames, "tail-drop");
    virtual_time::run(&mut live, ms(100)).unwrap();
    assert_eq!(live.ports().1.drain.0.len(), 3);
    live.direction_mut(Direction::Down).set_rate(RATE);
    virtual_time::run(&mut live, ms(200)).unwrap();
    assert_eq!(live.ports().1.drain.0.len(), 10);
    assert!(live.conserves());
}

#[test]
fn faults_are_counted_and_survived() {
    let often = Probability::new(0.1).unwrap();
    let faults = Faults { loss: often, duplication: often, reordering: often, corruption: often, truncation: often };
    let frames = traffic(RATE, ms(5000), 4);
    let offered = frames.len() as u64;
    let line = line(RATE, Duration::ms(5));
    let port = MemoryPort::new(Listed(frames.into()), Nothing);
    let port = FaultyPort::new(port, faults, Rng::new(9));
    let queues = (queue("fq-codel", RATE, limit()), queue("tail-drop", RATE, limit()));
    let mut live = Forwarder::new(&settings(&line), (port, MemoryPort::new(Nothing, Kept::default())), queues);
    virtual_time::run(&mut live, ms(10_000)).unwrap();
    let counted = live.ports().0.faults();
    let frames = live.frames(Direction::Down);
    let held = offered - counted.lost + counted.duplicated - frames.received;
    assert!(held <= 1, "at most the one that the next would overtake is missing");
    assert_eq!(live.pool().in_use() as u64, held);
    for count in [counted.lost, counted.duplicated, counted.reordered, counted.corrupted, counted.truncated] {
        assert!((offered / 20..offered / 5).contains(&count), "{counted:?} of {offered}");
    }
    assert!(frames.malformed_total() > counted.truncated / 2, "{frames:?}");
}

#[test]
fn malformed_frames_are_all_accounted_for() {
    use goodqueue_live::port::fuzz::Fuzz;
    const FRAMES: u64 = 100_000;
    let line = line(Rate::mbit(100), Duration::ms(2));
    let port = MemoryPort::new(Fuzz::new(Rng::new(1), FRAMES, Duration::us(10)), Nothing);
    let queues = (queue("fq-codel", RATE, limit()), queue("tail-drop", RATE, limit()));
    let mut live = Forwarder::new(&settings(&line), (port, MemoryPort::new(Nothing, Nothing)), queues);
    virtual_time::run(&mut live, ms(60_000)).unwrap();
    let frames = live.frames(Direction::Down);
    let (port, _) = live.port_counters();
    assert_eq!(frames.received + port.oversize, FRAMES);
    assert!(frames.malformed.iter().all(|count| *count > 50), "every kind: {frames:?}");
    assert!(frames.sent > FRAMES / 10 && port.oversize > 100, "{frames:?} {port:?}");
    assert!(live.conserves());
    assert_eq!(live.pool().in_use(), 0);
}
