//! Transfers from a list with start and size, each on a connection of its own.

use super::channels::Transfers;
use super::events::{Action, Event, SessionContext};
use crate::spec::Transfer;
use goodqueue_base::units::Instant;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct List {
    list: Arc<[Transfer]>,
    /// The first that has not begun.
    next: usize,
    /// Time from which the list's times count.
    origin: Instant,
    transfers: Transfers,
    stopped: bool,
}

impl List {
    pub(super) fn new(list: Arc<[Transfer]>, most_open: u32) -> Self {
        Self { list, next: 0, origin: Instant::ZERO, transfers: Transfers::new(most_open), stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start => {
                self.origin = context.now;
                self.begin_due(context);
            }
            Event::Alarm => self.begin_due(context),
            Event::Acknowledged(channel, _) => self.transfers.complete(channel, context),
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    /// Begins all transfers that are due, and requests an alarm for the next one.
    fn begin_due(&mut self, context: &mut SessionContext<'_>) {
        while let Some(&Transfer { at, size }) = self.list.get(self.next).filter(|_| !self.stopped) {
            let due = self.origin + at;
            if due > context.now {
                context.act(Action::Wake(due));
                return;
            }
            self.next += 1;
            self.transfers.begin(size.get().max(1), context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::events::{After, Measurement, Payload, ROUND_TRIPS_FRESH};
    use goodqueue_base::units::{Bytes, Duration, Rng};

    /// The actions of the model at `now`.
    fn handle(list: &mut List, now: Instant, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        list.handle(event, &mut SessionContext { now, rng: &mut Rng::stream(1, 1), actions: &mut actions });
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
    fn flows_begin_at_listed_times_together_where_listed_together() {
        let mut list = list();
        let start = Instant::ZERO + Duration::secs(1);
        let actions = handle(&mut list, start, Event::Start);
        assert_eq!(sent(&actions), [(0, 10)]);
        assert_eq!(actions.last(), Some(&Action::Wake(start + Duration::ms(5))));
        handle(&mut list, start + Duration::ms(3), Event::Acknowledged(0, Payload::Data));
        let actions = handle(&mut list, start + Duration::ms(5), Event::Alarm);
        assert_eq!(sent(&actions), [(0, 20), (1, 30)], "the channel that is free again comes first");
        let done = handle(&mut list, start + Duration::ms(8), Event::Acknowledged(1, Payload::Data));
        let complete = Measurement::Complete { began: start + Duration::ms(5), bytes: 30, round_trips: ROUND_TRIPS_FRESH };
        assert_eq!(done, [Action::Measure(complete)]);
    }

    #[test]
    fn full_channels_refuse_and_nothing_begins_after_the_stop() {
        let mut list = list();
        handle(&mut list, Instant::ZERO, Event::Start);
        let at_five = Instant::ZERO + Duration::ms(5);
        let actions = handle(&mut list, at_five, Event::Alarm);
        assert!(actions.contains(&Action::Measure(Measurement::Refused)), "two are open already: {actions:?}");
        handle(&mut list, at_five, Event::Stop);
        assert!(handle(&mut list, Instant::ZERO + Duration::ms(9), Event::Alarm).is_empty());
    }
}
