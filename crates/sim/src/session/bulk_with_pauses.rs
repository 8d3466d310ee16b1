//! A transfer of fixed size, a pause, and again.

use super::events::{Action, After, Event, Measurement, Payload, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, SessionContext};
use crate::spec::ConnectionUse;
use goodqueue_base::units::{Duration, Instant};

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

/// The only channel that it needs.
const CHANNEL: u32 = 0;

impl BulkWithPauses {
    pub(super) fn new(bytes: u64, pause: (Duration, Duration), connection: ConnectionUse) -> Self {
        Self { bytes, pause, connection, connected: false, round_trips: ROUND_TRIPS_FRESH, began: Instant::ZERO, stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start | Event::Alarm if !self.stopped => self.begin(context),
            Event::Acknowledged(..) => {
                context.measure(Measurement::Complete { began: self.began, bytes: self.bytes, round_trips: self.round_trips });
                let pause = context.between(self.pause);
                context.wake_in(pause);
            }
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn begin(&mut self, context: &mut SessionContext<'_>) {
        let fresh = self.connection == ConnectionUse::Fresh;
        self.round_trips = ROUND_TRIPS_OPEN;
        if fresh || !self.connected {
            context.act(Action::Connect(CHANNEL));
            self.connected = true;
            self.round_trips = ROUND_TRIPS_FRESH;
        }
        self.began = context.now;
        context.measure(Measurement::Began);
        context.send(CHANNEL, Payload::Data, self.bytes, if fresh { After::Close } else { After::Keep });
    }
}
