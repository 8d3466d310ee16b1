//! Transfers of one size that begin whether or not the previous ones have ended, each on a
//! connection of its own.

use super::channels::ChannelPool;
use super::events::{Action, After, Event, Measurement, Payload, ROUND_TRIPS_FRESH, SessionContext};
use crate::random::exponential;
use crate::spec::Arrivals;
use goodqueue_base::units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Short {
    bytes: u64,
    interval: Duration,
    arrivals: Arrivals,
    pool: ChannelPool,
    /// Start of the transfer on each channel.
    began: Vec<Instant>,
    stopped: bool,
}

impl Short {
    pub(super) fn new(bytes: u64, interval: Duration, arrivals: Arrivals, most_open: u32) -> Self {
        Self { bytes, interval, arrivals, pool: ChannelPool::new(most_open), began: Vec::new(), stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start if self.arrivals == Arrivals::Poisson => self.wait(context),
            Event::Start | Event::Alarm if !self.stopped => {
                self.begin(context);
                self.wait(context);
            }
            Event::Acknowledged(channel, _) => {
                let began = self.began[channel as usize];
                context.measure(Measurement::Complete { began, bytes: self.bytes, round_trips: ROUND_TRIPS_FRESH });
                self.pool.give_back(channel);
            }
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn wait(&self, context: &mut SessionContext<'_>) {
        let gap = match self.arrivals {
            Arrivals::Periodic => self.interval,
            Arrivals::Poisson => Duration::from_secs_f64(exponential(context.rng, self.interval.as_secs_f64())),
        };
        context.wake_in(gap);
    }

    fn begin(&mut self, context: &mut SessionContext<'_>) {
        let Some(channel) = self.pool.take() else {
            context.measure(Measurement::Refused);
            return;
        };
        let place = channel as usize;
        if place == self.began.len() {
            self.began.push(context.now);
        }
        self.began[place] = context.now;
        context.measure(Measurement::Began);
        context.act(Action::Connect(channel));
        context.send(channel, Payload::Data, self.bytes, After::Close);
    }
}
