//! Web pages: objects of a common list over a few parallel connections; the next page begins when one is complete.
//!
//! Each page opens its connections anew, as pages of different sites do, and keeps them open for all of its objects (RFC 7928 §7.2).

use super::{Action, After, Channel, Desk, Event, Note, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, Way, round_up};
use crate::random::normal;
use crate::spec::PageSpec;
use goodqueue_aqm::math::{exp, log};
use goodqueue_units::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Page {
    spec: PageSpec,
    /// Mean of the logarithm of an object's size.
    log_median: f64,
    began: Instant,
    /// Objects not yet asked for, and not yet complete.
    waiting: u32,
    missing: u32,
    fetches: Vec<Fetch>,
    stopped: bool,
}

/// What one connection is fetching.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    asked: Instant,
    bytes: u64,
    round_trips: u64,
}

/// Standard deviation of the logarithm of an object's size: our choice, heavy enough that a tenth of the objects has half of the bytes.
const LOG_DEVIATION: f64 = 1.0;
/// RFC 7928 §7.2: objects of at least a kilobyte.
const SMALLEST: u64 = 1_000;
const LARGEST: u64 = 1 << 26;

impl Page {
    pub(super) fn new(spec: &PageSpec) -> Self {
        Self {
            spec: *spec,
            log_median: log(spec.object.get() as f64) - LOG_DEVIATION * LOG_DEVIATION / 2.0,
            began: Instant::ZERO,
            waiting: 0,
            missing: 0,
            fetches: vec![Fetch { asked: Instant::ZERO, bytes: 0, round_trips: 0 }; spec.connections as usize],
            stopped: false,
        }
    }

    pub(super) fn handle(&mut self, event: Event, desk: &mut Desk<'_>) {
        match event {
            Event::Start | Event::Alarm if !self.stopped => self.begin(desk),
            Event::Arrived(channel, Way::Request) => {
                if self.spec.server_delay.is_zero() {
                    self.answer(channel, desk);
                } else {
                    desk.act(Action::WakeChannel(channel, desk.now + self.spec.server_delay));
                }
            }
            Event::ChannelAlarm(channel) => self.answer(channel, desk),
            Event::FirstByte(channel) => desk.note(Note::FirstByte { since: self.fetches[channel as usize].asked }),
            Event::Arrived(channel, Way::Data) => self.complete(channel, desk),
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn begin(&mut self, desk: &mut Desk<'_>) {
        self.began = desk.now;
        self.waiting = self.spec.objects;
        self.missing = self.spec.objects;
        for channel in 0..self.spec.connections.min(self.spec.objects) {
            desk.act(Action::Connect(channel));
            self.ask(channel, ROUND_TRIPS_FRESH, desk);
        }
    }

    fn ask(&mut self, channel: Channel, round_trips: u64, desk: &mut Desk<'_>) {
        self.waiting -= 1;
        let bytes = round_up(exp(self.log_median + LOG_DEVIATION * normal(desk.rng)), LARGEST).max(SMALLEST);
        self.fetches[channel as usize] = Fetch { asked: desk.now, bytes, round_trips };
        desk.note(Note::Began);
        desk.send(channel, Way::Request, self.spec.request.get(), After::Keep);
    }

    fn answer(&self, channel: Channel, desk: &mut Desk<'_>) {
        desk.send(channel, Way::Data, self.fetches[channel as usize].bytes, After::Keep);
    }

    fn complete(&mut self, channel: Channel, desk: &mut Desk<'_>) {
        let Fetch { asked, bytes, round_trips } = self.fetches[channel as usize];
        desk.note(Note::Complete { began: asked, bytes, round_trips });
        self.missing -= 1;
        if self.waiting > 0 {
            self.ask(channel, ROUND_TRIPS_OPEN, desk);
        } else if self.missing == 0 {
            desk.note(Note::Page { began: self.began });
            let pause = desk.between(self.spec.pause);
            desk.wake_in(pause);
        }
    }
}
