//! Transfers of one size that begin whether or not the ones before have ended, each on a connection of its own.

use super::channels::Pool;
use super::{Action, After, Desk, Event, Note, ROUND_TRIPS_FRESH, Way};
use crate::random::exponential;
use crate::spec::Arrivals;
use goodqueue_units::{Duration, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Short {
    bytes: u64,
    interval: Duration,
    arrivals: Arrivals,
    pool: Pool,
    /// When the transfer on each channel began.
    began: Vec<Instant>,
    stopped: bool,
}

impl Short {
    pub(super) fn new(bytes: u64, interval: Duration, arrivals: Arrivals, most_open: u32) -> Self {
        Self { bytes, interval, arrivals, pool: Pool::new(most_open), began: Vec::new(), stopped: false }
    }

    pub(super) fn handle(&mut self, event: Event, desk: &mut Desk<'_>) {
        match event {
            Event::Start if self.arrivals == Arrivals::Poisson => self.wait(desk),
            Event::Start | Event::Alarm if !self.stopped => {
                self.begin(desk);
                self.wait(desk);
            }
            Event::Acknowledged(channel, _) => {
                let began = self.began[channel as usize];
                desk.note(Note::Complete { began, bytes: self.bytes, round_trips: ROUND_TRIPS_FRESH });
                self.pool.give_back(channel);
            }
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn wait(&self, desk: &mut Desk<'_>) {
        let gap = match self.arrivals {
            Arrivals::Periodic => self.interval,
            Arrivals::Poisson => Duration::from_secs_f64(exponential(desk.rng, self.interval.as_secs_f64())),
        };
        desk.wake_in(gap);
    }

    fn begin(&mut self, desk: &mut Desk<'_>) {
        let Some(channel) = self.pool.take() else {
            desk.note(Note::Refused);
            return;
        };
        let place = channel as usize;
        if place == self.began.len() {
            self.began.push(desk.now);
        }
        self.began[place] = desk.now;
        desk.note(Note::Began);
        desk.act(Action::Connect(channel));
        desk.send(channel, Way::Data, self.bytes, After::Close);
    }
}
