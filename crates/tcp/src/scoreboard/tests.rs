//! The scoreboard against a model that keeps one plain record a segment and answers every question
//! by a scan.

use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Default)]
struct Plain {
    sent_at: u64,
    sacked: bool,
    lost: bool,
    resent: bool,
    repeated: bool,
}

fn unrepaired(segment: &Plain) -> bool {
    segment.lost && !segment.resent
}

#[derive(Default)]
struct Model {
    una: u64,
    segments: Vec<Plain>,
}

impl Model {
    fn count(&self, which: impl Fn(&Plain) -> bool) -> u32 {
        self.segments[self.una as usize..].iter().filter(|segment| which(segment)).count() as u32
    }

    fn deliver(&mut self, number: u64, latest: &mut Option<(u64, u64)>) -> bool {
        let segment = &mut self.segments[number as usize];
        if segment.sacked {
            return false;
        }
        *latest = (*latest).max(Some((segment.sent_at, number)));
        *segment = Plain { sacked: true, lost: false, resent: false, ..*segment };
        true
    }

    fn lowest(&self, which: impl Fn(&Plain) -> bool) -> Option<u64> {
        (self.una..self.segments.len() as u64).find(|&number| which(&self.segments[number as usize]))
    }

    fn lose_by_time(&mut self, now: u64, latest: (u64, u64), patience: u64) -> u32 {
        let mut lost = 0;
        for number in self.una..self.segments.len() as u64 {
            let segment = &mut self.segments[number as usize];
            let judged = !segment.sacked && (!segment.lost || segment.resent) && (segment.sent_at, number) < latest;
            if judged && segment.sent_at + patience <= now {
                segment.lost = true;
                segment.resent = false;
                lost += 1;
            }
        }
        lost
    }

    fn lose_by_count(&mut self) -> u32 {
        let mut lost = 0;
        for number in self.una as usize..self.segments.len() {
            let above = self.segments[number + 1..].iter().filter(|segment| segment.sacked).count();
            let segment = &mut self.segments[number];
            if above >= 3 && !segment.sacked && !segment.lost && !segment.resent {
                segment.lost = true;
                lost += 1;
            }
        }
        lost
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Send(u8),
    Acknowledge(u8),
    Sack(u8, u8),
    Judge(u8),
    Repair(u8),
    TimeOut(u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1u8..20).prop_map(Operation::Send),
        2 => (1u8..10).prop_map(Operation::Acknowledge),
        6 => (0u8..60, 1u8..8).prop_map(|(from, len)| Operation::Sack(from, len)),
        4 => (0u8..30).prop_map(Operation::Judge),
        3 => (1u8..6).prop_map(Operation::Repair),
        1 => (0u8..40).prop_map(Operation::TimeOut),
    ]
}

/// Runs both through a life; `by_count` replaces judging by time.
fn compare(life: Vec<Operation>, by_count: bool) -> Result<(), TestCaseError> {
    let mut board = Scoreboard::new();
    let mut model = Model::default();
    // The newest delivered segment, as (time, number).
    let mut latest = (0, 0);
    let mut now = 1_000;
    for step in life {
        now += 1;
        let mut delivery = Delivery::default();
        let mut newest = None;
        let mut expected = 0;
        match step {
            Operation::Send(count) => {
                for _ in 0..count {
                    board.push(now);
                    model.segments.push(Plain { sent_at: now, ..Plain::default() });
                }
            }
            Operation::Acknowledge(count) => {
                let una = (model.una + u64::from(count)).min(board.nxt());
                if una > model.una {
                    for number in model.una..una {
                        expected += u32::from(model.deliver(number, &mut newest));
                    }
                    board.acknowledge(now, una, 0, now, &mut delivery);
                    model.una = una;
                }
                prop_assert_eq!(delivery.delivered, expected);
            }
            Operation::Sack(from, len) => {
                let start = model.una + 1 + u64::from(from);
                let past = (start + u64::from(len)).min(board.nxt());
                // Receivers report whole runs: reach to both ends of the run.
                let taken = |number: u64| model.segments.get(number as usize).is_some_and(|segment| segment.sacked);
                if start < past {
                    let first = (model.una + 1..=start).rev().find(|&number| !taken(number - 1)).unwrap_or(start);
                    let end = (past..=board.nxt()).find(|&number| !taken(number)).unwrap_or(past);
                    for number in first..end {
                        expected += u32::from(model.deliver(number, &mut newest));
                    }
                    let prior = board.highest_sacked();
                    board.sack(now, first, end, 0, prior, &mut delivery);
                    prop_assert_eq!(delivery.sacked, expected);
                }
            }
            Operation::Judge(_) if by_count => {
                prop_assert_eq!(board.find_losses_by_count().lost, model.lose_by_count());
            }
            Operation::Judge(patience) => {
                let patience = u64::from(patience);
                let seen = LastDelivered { sent_at: latest.0, number: latest.1, rtt: patience };
                let verdict = board.find_losses_by_time(now, seen, 0);
                prop_assert_eq!(verdict.lost, model.lose_by_time(now, latest, patience));
                if let Some(at) = verdict.wait_until {
                    prop_assert!(at > now && at <= latest.0 + patience);
                }
            }
            Operation::Repair(count) => {
                for _ in 0..count {
                    let number = board.next_repair();
                    prop_assert_eq!(number.is_some(), model.lowest(unrepaired).is_some());
                    let Some(number) = number else { break };
                    prop_assert!(unrepaired(&model.segments[number as usize]));
                    // First repairs go in order and before higher repeated ones; repeated ones in
                    // order of discovery.
                    let first = model.lowest(|segment| unrepaired(segment) && !segment.repeated);
                    prop_assert!(first.is_none_or(|first| number <= first));
                    prop_assert!(model.segments[number as usize].repeated || first == Some(number));
                    board.resend(now, number);
                    let segment = &mut model.segments[number as usize];
                    *segment = Plain { sent_at: now, resent: true, repeated: true, ..*segment };
                }
            }
            Operation::TimeOut(patience) => {
                board.time_out(now, u64::from(patience));
                for number in model.una..model.segments.len() as u64 {
                    let segment = &mut model.segments[number as usize];
                    if !segment.sacked && (number == model.una || segment.sent_at + u64::from(patience) <= now) {
                        segment.lost = true;
                        segment.resent = false;
                    }
                }
            }
        }
        latest = latest.max(newest.unwrap_or_default());
        prop_assert_eq!(board.una(), model.una);
        prop_assert_eq!(board.nxt(), model.segments.len() as u64);
        prop_assert_eq!(board.sacked(), model.count(|segment| segment.sacked));
        prop_assert_eq!(board.lost(), model.count(|segment| segment.lost));
        prop_assert_eq!(board.retransmitted(), model.count(|segment| segment.resent));
        prop_assert_eq!(board.awaits_repair(), model.lowest(unrepaired).is_some());
        let flying = model.count(|segment| segment.resent || !segment.sacked && !segment.lost);
        prop_assert_eq!(board.in_flight(), flying);
        if board.outstanding() > 0 {
            let head = model.segments[model.una as usize];
            prop_assert_eq!(board.head_was_repeated(), head.repeated);
            prop_assert_eq!(board.head_sent_at(now), (!head.sacked).then_some(head.sent_at));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_a_plain_list_does_when_judging_by_time(life in proptest::collection::vec(operation(), 1..120)) {
        compare(life, false)?;
    }

    #[test]
    fn it_answers_as_a_plain_list_does_when_counting(life in proptest::collection::vec(operation(), 1..120)) {
        compare(life, true)?;
    }
}

#[test]
fn a_forgiven_board_has_lost_nothing() {
    let mut board = Scoreboard::new();
    for number in 0..40 {
        board.push(1_000 + number);
    }
    let mut delivery = Delivery::default();
    board.sack(2_000, 20, 30, 0, 0, &mut delivery);
    assert_eq!(board.find_losses_by_count().lost, 20);
    for expected in 0..5 {
        let number = board.next_repair().unwrap();
        assert_eq!(number, expected);
        board.resend(2_001, number);
    }
    board.forgive();
    assert_eq!((board.lost(), board.retransmitted(), board.in_flight()), (0, 5, 35));
    assert_eq!(board.next_repair(), None);
    assert_eq!(board.find_losses_by_count().lost, 15, "found again unless repeated");
}

#[test]
fn times_beyond_two_years_still_give_short_ages() {
    let mut board = Scoreboard::new();
    let now = (1 << 56) + 12_345;
    board.push(now - 345);
    assert_eq!(board.head_sent_at(now), Some(now - 345));
}
