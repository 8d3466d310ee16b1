//! Transfers of one size that begin whether or not the previous ones have ended, each on new
//! connections of its own that share its bytes.

use super::channels::ChannelPool;
use super::events::{Action, After, Channel, Event, Measurement, Payload, ROUND_TRIPS_FRESH, SessionContext};
use crate::random::exponential;
use crate::spec::Arrivals;
use goodqueue_base::units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Short {
    bytes: u64,
    interval: Duration,
    arrivals: Arrivals,
    /// Connections of each transfer.
    connections: u32,
    /// The place of each channel's transfer in `open`.
    channels: ChannelPool<u32>,
    open: ChannelPool<Transfer>,
    stopped: bool,
}

/// A transfer that is not complete.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    began: Instant,
    /// Connections that have not sent their part.
    missing: u32,
}

impl Short {
    pub(super) fn new(bytes: u64, interval: Duration, arrivals: Arrivals, connections: u32, most_open: u32) -> Self {
        Self {
            bytes,
            interval,
            arrivals,
            connections: connections.max(1),
            channels: ChannelPool::new(most_open),
            open: ChannelPool::new(most_open),
            stopped: false,
        }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start if self.arrivals == Arrivals::Poisson => self.wait(context),
            Event::Start | Event::Alarm if !self.stopped => {
                self.begin(context);
                self.wait(context);
            }
            Event::Acknowledged(channel, _) => self.complete(channel, context),
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    /// Begins a transfer now, or has it refused.
    fn begin(&mut self, context: &mut SessionContext<'_>) {
        let transfer = Transfer { began: context.now, missing: self.connections };
        let place = self.channels.has_room(self.connections).then(|| self.open.take(transfer)).flatten();
        let Some(place) = place else {
            context.measure(Measurement::Refused);
            return;
        };
        context.measure(Measurement::Began);
        let parts = u64::from(self.connections);
        for part in 0..parts {
            let Some(channel) = self.channels.take(place) else { break };
            context.act(Action::Connect(channel));
            let bytes = self.bytes / parts + u64::from(part < self.bytes % parts);
            context.send(channel, Payload::Data, bytes, After::Close);
        }
    }

    /// The part of a transfer on a channel is complete.
    fn complete(&mut self, channel: Channel, context: &mut SessionContext<'_>) {
        let place = self.channels[channel];
        self.channels.give_back(channel);
        self.open[place].missing -= 1;
        let Transfer { began, missing } = self.open[place];
        if missing == 0 {
            self.open.give_back(place);
            context.measure(Measurement::Complete { began, bytes: self.bytes, round_trips: ROUND_TRIPS_FRESH });
        }
    }

    fn wait(&self, context: &mut SessionContext<'_>) {
        let gap = match self.arrivals {
            Arrivals::Periodic => self.interval,
            Arrivals::Poisson => Duration::from_secs_f64(exponential(context.rng, self.interval.as_secs_f64())),
        };
        context.wake_in(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Rng;

    #[test]
    fn transfers_end_with_the_last_of_their_connections() {
        let (mut rng, mut actions) = (Rng::new(1), Vec::new());
        let mut model = Short::new(10, Duration::secs(1), Arrivals::Periodic, 4, 7);
        let mut at = |now, event| {
            actions.clear();
            model.handle(event, &mut SessionContext { now: Instant::ZERO + now, rng: &mut rng, actions: &mut actions });
            actions.clone()
        };
        let begun = at(Duration::ZERO, Event::Start);
        let bytes = begun.iter().filter_map(|action| match action {
            Action::Send { bytes, .. } => Some(*bytes),
            _ => None,
        });
        assert_eq!(bytes.collect::<Vec<_>>(), [3, 3, 2, 2]);
        // Three channels are left of seven.
        assert!(at(Duration::secs(1), Event::Alarm).contains(&Action::Measure(Measurement::Refused)));
        for channel in 0..3 {
            assert_eq!(at(Duration::secs(2), Event::Acknowledged(channel, Payload::Data)), []);
        }
        let complete = Measurement::Complete { began: Instant::ZERO, bytes: 10, round_trips: ROUND_TRIPS_FRESH };
        assert_eq!(at(Duration::secs(2), Event::Acknowledged(3, Payload::Data)), [Action::Measure(complete)]);
        let again = at(Duration::secs(3), Event::Alarm);
        assert_eq!(again.iter().filter(|action| matches!(action, Action::Connect(_))).count(), 4);
    }
}
