//! Web traffic of PackMime-HTTP: connections begin at a given rate; each sends a request, the
//! server thinks and answers.
//!
//! With HTTP/1.0 every connection carries one request. With HTTP/1.1 one connection in eleven
//! persists for several pages of several objects, with gaps in between.

use super::channels::ChannelPool;
use super::events::{Action, After, Channel, Event, Measurement, Payload, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, SessionContext};
use super::packmime::{LogNormal, LogNormalLaw, WebLaws, response_bytes};
use crate::random::weibull;
use crate::spec::{HttpVersion, WebSpec};
use goodqueue_base::units::{Duration, Instant, Rng};

/// Share of persistent connections; of those, the share with one page; of the pages of the others,
/// the share with one object.
const KEPT: f64 = 0.09;
const ONE_PAGE: f64 = 0.82;
const ONE_OBJECT: f64 = 0.69;
/// Scales of the exponential distributions of the numbers of pages and of objects, where there are
/// several.
const MORE_PAGES: f64 = 0.417;
const MORE_OBJECTS: f64 = 1.578;
/// Seconds between pages, seconds between objects, bytes of later responses.
const PAGE_GAP: LogNormalLaw = LogNormalLaw(3.22, 0.73, 1.85, 1.21);
const OBJECT_GAP: LogNormalLaw = LogNormalLaw(-4.15, 3.12, 2.35, 1.57);
const LATER_BYTES: LogNormalLaw = LogNormalLaw(10.62, 0.94, 3.22, 2.43);
/// Connections whose first response is not larger repeat its size.
const LARGE_FIRST: u64 = 275;
/// Longest gap within a connection: the law has no end, runs have.
const MAX_GAP_S: f64 = 3_600.0;

#[derive(Clone, Debug)]
pub(crate) struct Web {
    laws: WebLaws,
    version: HttpVersion,
    visits: ChannelPool<Visit>,
    stopped: bool,
}

/// One connection.
#[derive(Clone, Debug)]
struct Visit {
    stage: Stage,
    /// Time at which the present request was sent, the first one with the connection.
    asked: Instant,
    round_trips: u64,
    request: u64,
    response: u64,
    kept: Option<Box<Plan>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The request or the response is on its way, or the server thinks.
    Exchange,
    Pause,
    /// The last response has arrived.
    Over,
}

/// The remaining requests of a persistent connection.
#[derive(Clone, Debug)]
struct Plan {
    /// Objects left in this page, and in each later one.
    objects: u64,
    later_pages: Vec<u64>,
    page_gap: LogNormal,
    object_gap: LogNormal,
    /// Sizes of later responses; `None`: as the first.
    sizes: Option<LogNormal>,
}

impl Web {
    pub(super) fn new(spec: &WebSpec, most_open: u32) -> Self {
        Self {
            laws: WebLaws::new(spec.connections_per_s, spec.server_delay_scale),
            version: spec.version,
            visits: ChannelPool::new(most_open),
            stopped: false,
        }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start => self.wait(context),
            Event::Alarm if !self.stopped => {
                self.begin(context);
                self.wait(context);
            }
            Event::Arrived(channel, Payload::Request) => {
                let delay = self.laws.server_delay(context.rng);
                context.act(Action::WakeChannel(channel, context.now + delay));
            }
            Event::ChannelAlarm(channel) => match self.visits[channel].stage {
                Stage::Pause => self.ask(channel, context),
                Stage::Exchange => self.answer(channel, context),
                Stage::Over => {}
            },
            Event::FirstByte(channel) => context.measure(Measurement::FirstByte { since: self.visits[channel].asked }),
            Event::Arrived(channel, Payload::Data) => self.complete(channel, context),
            Event::Acknowledged(channel, Payload::Data) if self.visits[channel].stage == Stage::Over => {
                self.visits.give_back(channel);
            }
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    fn wait(&mut self, context: &mut SessionContext<'_>) {
        let gap = self.laws.gap(context.rng);
        context.wake_in(gap);
    }

    fn begin(&mut self, context: &mut SessionContext<'_>) {
        let request = self.laws.request(context.rng);
        let response = self.laws.response(context.rng);
        let kept = match self.version {
            HttpVersion::Http10 => None,
            HttpVersion::Http11 => plan(context.rng, response),
        };
        let visit = Visit { stage: Stage::Exchange, asked: context.now, round_trips: ROUND_TRIPS_FRESH, request, response, kept };
        let Some(channel) = self.visits.take(visit) else {
            context.measure(Measurement::Refused);
            return;
        };
        context.act(Action::Connect(channel));
        self.ask(channel, context);
    }

    fn ask(&mut self, channel: Channel, context: &mut SessionContext<'_>) {
        let visit = &mut self.visits[channel];
        visit.stage = Stage::Exchange;
        visit.asked = context.now;
        context.measure(Measurement::Began);
        let after = if visit.is_last() { After::Close } else { After::Keep };
        context.send(channel, Payload::Request, visit.request, after);
    }

    fn answer(&self, channel: Channel, context: &mut SessionContext<'_>) {
        let visit = &self.visits[channel];
        let after = if visit.is_last() { After::Close } else { After::Keep };
        context.send(channel, Payload::Data, visit.response, after);
    }

    fn complete(&mut self, channel: Channel, context: &mut SessionContext<'_>) {
        let visit = &mut self.visits[channel];
        context.measure(Measurement::Complete { began: visit.asked, bytes: visit.response, round_trips: visit.round_trips });
        visit.round_trips = ROUND_TRIPS_OPEN;
        match visit.next_gap(context.rng) {
            Some(gap) => {
                visit.stage = Stage::Pause;
                context.act(Action::WakeChannel(channel, context.now + gap));
            }
            None => visit.stage = Stage::Over,
        }
    }
}

impl Visit {
    fn is_last(&self) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.objects == 0 && kept.later_pages.is_empty())
    }

    /// Goes on to the next object: how long until it is asked for; `None` after the last.
    fn next_gap(&mut self, rng: &mut Rng) -> Option<Duration> {
        let kept = self.kept.as_mut()?;
        let law = if kept.objects > 0 {
            kept.objects -= 1;
            kept.object_gap
        } else {
            kept.objects = kept.later_pages.pop()? - 1;
            kept.page_gap
        };
        if let Some(sizes) = kept.sizes {
            self.response = response_bytes(sizes, rng);
        }
        Some(Duration::from_secs_f64(law.draw(rng).min(MAX_GAP_S)))
    }
}

/// The plan of a new connection whose first response has `first` bytes; `None` for a single
/// request.
fn plan(rng: &mut Rng, first: u64) -> Option<Box<Plan>> {
    if !rng.fires(KEPT) {
        return None;
    }
    let several = |rng: &mut Rng, scale: f64| 2 + weibull(rng, 1.0, scale) as u64;
    let pages = if rng.fires(ONE_PAGE) { 1 } else { several(rng, MORE_PAGES) };
    let objects = |rng: &mut Rng| if pages > 1 && rng.fires(ONE_OBJECT) { 1 } else { several(rng, MORE_OBJECTS) };
    let first_page = objects(rng);
    let later_pages = (1..pages).map(|_| objects(rng)).collect();
    Some(Box::new(Plan {
        objects: first_page - 1,
        later_pages,
        page_gap: PAGE_GAP.draw(rng),
        object_gap: OBJECT_GAP.draw(rng),
        sizes: (first > LARGE_FIRST).then(|| LATER_BYTES.draw(rng)),
    }))
}
