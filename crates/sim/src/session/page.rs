//! Web pages: objects of a common list over a few parallel connections. The next page begins when
//! one is complete.
//!
//! Each page opens new connections, as pages of different sites do, and keeps them open for
//! all of its objects (RFC 7928 §7.2).

use super::events::{
    Action, After, Channel, Event, Measurement, Payload, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, SessionContext, round_up,
};
use crate::random::normal;
use crate::spec::PageSpec;
use goodqueue_aqm::math::{exp, log};
use goodqueue_base::units::Instant;

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

/// The object that one connection fetches.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    asked: Instant,
    bytes: u64,
    round_trips: u64,
}

/// Standard deviation of the logarithm of an object's size: our choice, large enough that a tenth
/// of the objects have half of the bytes.
const LOG_DEVIATION: f64 = 1.0;
/// RFC 7928 §7.2: objects of at least a kilobyte.
const MIN: u64 = 1_000;
const MAX: u64 = 1 << 26;

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

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start | Event::Alarm if !self.stopped => self.begin(context),
            Event::Arrived(channel, Payload::Request) => {
                if self.spec.server_delay.is_zero() {
                    self.answer(channel, context);
                } else {
                    context.act(Action::WakeChannel(channel, context.now + self.spec.server_delay));
                }
            }
            Event::ChannelAlarm(channel) => self.answer(channel, context),
            Event::FirstByte(channel) => context.measure(Measurement::FirstByte { since: self.fetches[channel as usize].asked }),
            Event::Arrived(channel, Payload::Data) => self.complete(channel, context),
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn begin(&mut self, context: &mut SessionContext<'_>) {
        self.began = context.now;
        self.waiting = self.spec.objects;
        self.missing = self.spec.objects;
        for channel in 0..self.spec.connections.min(self.spec.objects) {
            context.act(Action::Connect(channel));
            self.ask(channel, ROUND_TRIPS_FRESH, context);
        }
    }

    fn ask(&mut self, channel: Channel, round_trips: u64, context: &mut SessionContext<'_>) {
        self.waiting -= 1;
        let bytes = round_up(exp(self.log_median + LOG_DEVIATION * normal(context.rng)), MAX).max(MIN);
        self.fetches[channel as usize] = Fetch { asked: context.now, bytes, round_trips };
        context.measure(Measurement::Began);
        context.send(channel, Payload::Request, self.spec.request.get(), After::Keep);
    }

    fn answer(&self, channel: Channel, context: &mut SessionContext<'_>) {
        context.send(channel, Payload::Data, self.fetches[channel as usize].bytes, After::Keep);
    }

    fn complete(&mut self, channel: Channel, context: &mut SessionContext<'_>) {
        let Fetch { asked, bytes, round_trips } = self.fetches[channel as usize];
        context.measure(Measurement::Complete { began: asked, bytes, round_trips });
        self.missing -= 1;
        if self.waiting > 0 {
            self.ask(channel, ROUND_TRIPS_OPEN, context);
        } else if self.missing == 0 {
            context.measure(Measurement::Page { began: self.began });
            let pause = context.between(self.spec.pause);
            context.wake_in(pause);
        }
    }
}
