//! Transfers as somebody has listed them: when each begins and how much it is, each on a connection of its own.

use super::channels::Pool;
use super::{Action, After, Desk, Event, Note, ROUND_TRIPS_FRESH, Way};
use crate::spec::Transfer;
use goodqueue_units::Instant;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct List {
    transfers: Arc<[Transfer]>,
    /// The first that has not begun.
    next: usize,
    /// Where the list's times count from.
    origin: Instant,
    pool: Pool,
    /// What is on each channel: when it began, and its bytes.
    begun: Vec<(Instant, u64)>,
    stopped: bool,
}

impl List {
    pub(super) fn new(transfers: Arc<[Transfer]>, most_open: u32) -> Self {
        Self { transfers, next: 0, origin: Instant::ZERO, pool: Pool::new(most_open), begun: Vec::new(), stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, desk: &mut Desk<'_>) {
        match event {
            Event::Start => {
                self.origin = desk.now;
                self.begin_due(desk);
            }
            Event::Alarm => self.begin_due(desk),
            Event::Acknowledged(channel, _) => {
                let (began, bytes) = self.begun[channel as usize];
                desk.note(Note::Complete { began, bytes, round_trips: ROUND_TRIPS_FRESH });
                self.pool.give_back(channel);
            }
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    /// Begins everything whose time has come, and asks to be woken for what comes next.
    fn begin_due(&mut self, desk: &mut Desk<'_>) {
        while let Some(&Transfer { at, size }) = self.transfers.get(self.next).filter(|_| !self.stopped) {
            let due = self.origin + at;
            if due > desk.now {
                desk.act(Action::Wake(due));
                return;
            }
            self.next += 1;
            self.begin(size.get().max(1), desk);
        }
    }

    fn begin(&mut self, bytes: u64, desk: &mut Desk<'_>) {
        let Some(channel) = self.pool.take() else {
            desk.note(Note::Refused);
            return;
        };
        let place = channel as usize;
        if place == self.begun.len() {
            self.begun.push((desk.now, bytes));
        }
        self.begun[place] = (desk.now, bytes);
        desk.note(Note::Began);
        desk.act(Action::Connect(channel));
        desk.send(channel, Way::Data, bytes, After::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::{Bytes, Duration, Rng};

    /// What the model does at `now`.
    fn tell(list: &mut List, now: Instant, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        list.handle(event, &mut Desk { now, rng: &mut Rng::stream(1, 1), actions: &mut actions });
        actions
    }

    fn sent(actions: &[Action]) -> Vec<(u32, u64)> {
        let sent = actions.iter().filter_map(|action| match action {
            Action::Send { channel, bytes, after: After::Close, .. } => Some((*channel, *bytes)),
            _ => None,
        });
        sent.collect()
    }

    fn list() -> List {
        let at = |ms, bytes| Transfer { at: Duration::ms(ms), size: Bytes::new(bytes) };
        List::new([at(0, 10), at(5, 20), at(5, 30), at(9, 40)].into(), 2)
    }

    #[test]
    fn each_begins_at_its_time_after_the_start_and_together_where_they_are_listed_together() {
        let mut list = list();
        let start = Instant::ZERO + Duration::secs(1);
        let actions = tell(&mut list, start, Event::Start);
        assert_eq!(sent(&actions), [(0, 10)]);
        assert_eq!(actions.last(), Some(&Action::Wake(start + Duration::ms(5))));
        tell(&mut list, start + Duration::ms(3), Event::Acknowledged(0, Way::Data));
        let actions = tell(&mut list, start + Duration::ms(5), Event::Alarm);
        assert_eq!(sent(&actions), [(0, 20), (1, 30)], "the channel that is free again comes first");
        let done = tell(&mut list, start + Duration::ms(8), Event::Acknowledged(1, Way::Data));
        let complete = Note::Complete { began: start + Duration::ms(5), bytes: 30, round_trips: ROUND_TRIPS_FRESH };
        assert_eq!(done, [Action::Note(complete)]);
    }

    #[test]
    fn what_finds_no_channel_is_refused_and_nothing_begins_after_the_stop() {
        let mut list = list();
        tell(&mut list, Instant::ZERO, Event::Start);
        let at_five = Instant::ZERO + Duration::ms(5);
        let actions = tell(&mut list, at_five, Event::Alarm);
        assert!(actions.contains(&Action::Note(Note::Refused)), "two are open already: {actions:?}");
        tell(&mut list, at_five, Event::Stop);
        assert!(tell(&mut list, Instant::ZERO + Duration::ms(9), Event::Alarm).is_empty());
    }
}
