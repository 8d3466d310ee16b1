//! A transfer of fixed size, a pause, and again.

use super::{Action, After, Desk, Event, Note, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, Way};
use crate::spec::ConnectionUse;
use goodqueue_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct BulkWithPauses {
    bytes: u64,
    pause: (Duration, Duration),
    connection: ConnectionUse,
    connected: bool,
    round_trips: u64,
    began: Instant,
    stopped: bool,
}

/// It needs one channel.
const CHANNEL: u32 = 0;

impl BulkWithPauses {
    pub(super) fn new(bytes: u64, pause: (Duration, Duration), connection: ConnectionUse) -> Self {
        Self { bytes, pause, connection, connected: false, round_trips: ROUND_TRIPS_FRESH, began: Instant::ZERO, stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, desk: &mut Desk<'_>) {
        match event {
            Event::Start | Event::Alarm if !self.stopped => self.begin(desk),
            Event::Acknowledged(..) => {
                desk.note(Note::Complete { began: self.began, bytes: self.bytes, round_trips: self.round_trips });
                let pause = desk.between(self.pause);
                desk.wake_in(pause);
            }
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn begin(&mut self, desk: &mut Desk<'_>) {
        let fresh = self.connection == ConnectionUse::Fresh;
        self.round_trips = ROUND_TRIPS_OPEN;
        if fresh || !self.connected {
            desk.act(Action::Connect(CHANNEL));
            self.connected = true;
            self.round_trips = ROUND_TRIPS_FRESH;
        }
        self.began = desk.now;
        desk.note(Note::Began);
        desk.send(CHANNEL, Way::Data, self.bytes, if fresh { After::Close } else { After::Keep });
    }
}
