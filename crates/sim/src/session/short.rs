//! Transfers of one size that begin whether or not the previous ones have ended, each on a
//! connection of its own.

use super::channels::Transfers;
use super::events::{Event, SessionContext};
use crate::random::exponential;
use crate::spec::Arrivals;
use goodqueue_base::units::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Short {
    bytes: u64,
    interval: Duration,
    arrivals: Arrivals,
    transfers: Transfers,
    stopped: bool,
}

impl Short {
    pub(super) fn new(bytes: u64, interval: Duration, arrivals: Arrivals, most_open: u32) -> Self {
        Self { bytes, interval, arrivals, transfers: Transfers::new(most_open), stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start if self.arrivals == Arrivals::Poisson => self.wait(context),
            Event::Start | Event::Alarm if !self.stopped => {
                self.transfers.begin(self.bytes, context);
                self.wait(context);
            }
            Event::Acknowledged(channel, _) => self.transfers.complete(channel, context),
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
}
