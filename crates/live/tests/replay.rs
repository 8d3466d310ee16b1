//! A recorded run gives the same verdicts again, packet by packet, whatever the algorithm.

mod support;

use goodqueue_aqm::sched::kinds;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_live::clock::VirtualClock;
use goodqueue_live::forwarder::Direction;
use goodqueue_live::record::{Event, EventKind};
use goodqueue_live::replay::{ReplayLine, first_difference, replay};
use goodqueue_live::{Line, RateSpec};
use support::*;

const RATE: Rate = Rate::mbit(10);

/// Runs by a thread that comes round now and then, and records.
fn recorded(line: &Line, name: &str, change: Option<Rate>) -> Vec<Event> {
    let file = Shared::default();
    let mut live = live(line, traffic(RATE, ms(3000), 11), name);
    live.direction_mut(Direction::Down).record(file.recorder());
    let mut clock = VirtualClock::default();
    let mut turn = 0;
    while clock.0 < ms(3500) {
        turn += 1;
        clock.0 += Duration::us(1 + turn % 3 * 800);
        live.step(&mut clock).unwrap();
        if let Some(rate) = change.filter(|_| turn == 1000) {
            live.direction_mut(Direction::Down).set_rate(rate);
        }
    }
    assert!(live.conserves());
    drop(live);
    file.events()
}

#[test]
fn every_algorithm_repeats_every_verdict() {
    for spec in kinds() {
        let line = line(RATE, Duration::ms(5));
        let events = recorded(&line, spec.kind, None);
        let signals = events.iter().filter(|event| matches!(event.kind, EventKind::Dropped(_) | EventKind::Marked(_)));
        assert!(signals.count() > 10, "{} has something to decide", spec.kind);
        let again = ReplayLine::new(&line).expect("a constant rate");
        assert_eq!(first_difference(queue(spec.kind, RATE, limit()), again, &events), None, "{}", spec.kind);
    }
}

#[test]
fn steps_and_changes_of_rate_are_part_of_it() {
    let steps = RateSpec::Steps(vec![(ms(0), RATE), (ms(700), Rate::mbit(3)), (ms(1500), Rate::mbit(12))]);
    let stepped = Line { rate: steps, ..line(RATE, Duration::ms(5)) };
    for name in ["tail-drop", "codel", "pie", "cp-aqm", "fq-codel"] {
        for (line, change) in [(&stepped, None), (&line(RATE, Duration::ZERO), Some(Rate::mbit(6)))] {
            let events = recorded(line, name, change);
            assert!(events.iter().any(|event| matches!(event.kind, EventKind::RateChanged(_))));
            let again = ReplayLine::new(line).expect("a stepped rate");
            assert_eq!(first_difference(queue(name, RATE, limit()), again, &events), None, "{name}");
        }
    }
}

#[test]
fn another_queue_gives_itself_away() {
    let line = line(RATE, Duration::ZERO);
    let events = recorded(&line, "codel", None);
    let again = ReplayLine::new(&line).expect("a constant rate");
    let difference = first_difference(queue("pie", RATE, limit()), again.clone(), &events).expect("PIE is not CoDel");
    assert_eq!(difference.recorded, Some(events[difference.after]));
    assert_eq!(replay(queue("codel", RATE, limit()), again, &events).len(), events.len());
}
