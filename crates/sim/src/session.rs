//! What programs do with connections: transfers, web pages, video. One file a model.
//!
//! A session owns a few *channels*, each carrying one TCP connection after another, and hears of rare events only: a timer fired, everything
//! sent on a channel has arrived or has been acknowledged. It answers with actions. It knows no packets and no clock, so a test of a model is a loop.
//!
//! A channel carries data from source to sink and, for models that ask first, requests the other way.

mod bulk_with_pauses;
mod channels;
mod list;
mod packmime;
mod page;
mod short;
mod video;
mod web;

use crate::spec::SessionSpec;
use bulk_with_pauses::BulkWithPauses;
use goodqueue_units::{Duration, Instant, Rng};
use list::List;
use page::Page;
use short::Short;
use video::Video;
use web::Web;

pub(crate) use video::VideoReading;

/// Number of a channel within its session, from zero.
pub(crate) type Channel = u32;

/// Connections a session may have open at once, however few sessions there are; what comes on top is refused and counted.
pub(crate) const MOST_OPEN: u32 = 100_000;

/// Which way something is sent on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the sink, which asks.
    Request,
    /// From the source.
    Data,
}

/// Round trips of a transfer on a new connection, handshake included, and on an open one.
const ROUND_TRIPS_FRESH: u64 = 2;
const ROUND_TRIPS_OPEN: u64 = 1;

/// What follows a message on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Perhaps another message.
    Keep,
    /// Nothing: the sender closes.
    Close,
}

/// What a session is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// It may begin.
    Start,
    /// It must begin nothing new.
    Stop,
    /// The time it asked for with [`Action::Wake`] has come.
    Alarm,
    /// The time it asked for with [`Action::WakeChannel`] has come.
    ChannelAlarm(Channel),
    /// The first byte of the data being sent has arrived.
    FirstByte(Channel),
    /// All of the message being sent has arrived.
    Arrived(Channel, Way),
    /// All that was sent this way has been acknowledged.
    Acknowledged(Channel, Way),
}

/// What a session wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A new connection on a channel, in place of the one before. A channel not used before must be the next one in number.
    Connect(Channel),
    /// A message on a channel.
    Send { channel: Channel, way: Way, bytes: u64, after: After },
    /// To be told [`Event::Alarm`].
    Wake(Instant),
    /// To be told [`Event::ChannelAlarm`].
    WakeChannel(Channel, Instant),
    /// Something to be measured.
    Note(Note),
}

/// Something worth measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// A transfer begins.
    Began,
    /// A transfer of so many bytes, begun at `began`, is complete now. At least so many round trips were needed.
    Complete { began: Instant, bytes: u64, round_trips: u64 },
    /// The first byte of what was asked for at `since` is here.
    FirstByte { since: Instant },
    /// A page begun at `began` is complete now.
    Page { began: Instant },
    /// Playing begins, of what was asked for at `since`.
    Playing { since: Instant },
    /// A transfer could not begin: too many are open.
    Refused,
}

/// What a model works with while it handles an event.
pub(crate) struct Desk<'a> {
    pub(crate) now: Instant,
    pub(crate) rng: &'a mut Rng,
    pub(crate) actions: &'a mut Vec<Action>,
}

impl Desk<'_> {
    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    fn note(&mut self, note: Note) {
        self.act(Action::Note(note));
    }

    fn send(&mut self, channel: Channel, way: Way, bytes: u64, after: After) {
        self.act(Action::Send { channel, way, bytes: bytes.max(1), after });
    }

    fn wake_in(&mut self, span: Duration) {
        self.act(Action::Wake(self.now + span));
    }

    /// Uniform between the two ends of a span.
    fn between(&mut self, (low, high): (Duration, Duration)) -> Duration {
        low + Duration::ns(self.rng.below(high.saturating_sub(low).as_nanos().saturating_add(1)))
    }
}

/// One session of any model.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    BulkWithPauses(BulkWithPauses),
    Short(Short),
    List(List),
    Web(Box<Web>),
    Page(Page),
    Video(Box<Video>),
}

impl Session {
    /// The session a specification describes, with at most `most_open` connections at once.
    pub(crate) fn new(spec: &SessionSpec, most_open: u32) -> Self {
        match spec {
            SessionSpec::BulkWithPauses { size, pause, connection } => {
                Self::BulkWithPauses(BulkWithPauses::new(size.get(), *pause, *connection))
            }
            SessionSpec::Short { size, interval, arrivals } => {
                Self::Short(Short::new(size.get(), *interval, *arrivals, most_open))
            }
            SessionSpec::List { transfers } => Self::List(List::new(transfers.clone(), most_open)),
            SessionSpec::Web(spec) => Self::Web(Box::new(Web::new(spec, most_open))),
            SessionSpec::Page(spec) => Self::Page(Page::new(spec)),
            SessionSpec::Video(spec) => Self::Video(Box::new(Video::new(spec))),
        }
    }

    /// Does it ask before anything is sent to it?
    pub(crate) fn asks(&self) -> bool {
        !matches!(self, Self::BulkWithPauses(_) | Self::Short(_) | Self::List(_))
    }

    /// Channels it may need at once, of kinds that need a fixed number.
    pub(crate) fn fixed_channels(spec: &SessionSpec) -> u32 {
        match spec {
            SessionSpec::Page(page) => page.connections,
            _ => 1,
        }
    }

    /// Tells it what happened; what it wants is added to the desk's actions.
    pub(crate) fn handle(&mut self, event: Event, desk: &mut Desk<'_>) {
        match self {
            Self::BulkWithPauses(model) => model.handle(event, desk),
            Self::Short(model) => model.handle(event, desk),
            Self::List(model) => model.handle(event, desk),
            Self::Web(model) => model.handle(event, desk),
            Self::Page(model) => model.handle(event, desk),
            Self::Video(model) => model.handle(event, desk),
        }
    }

    /// What a video has played so far; `None` for other models.
    pub(crate) fn video(&mut self, now: Instant) -> Option<VideoReading> {
        match self {
            Self::Video(model) => Some(model.reading(now)),
            _ => None,
        }
    }
}

/// A whole number from 1 to `most`.
fn round_up(number: f64, most: u64) -> u64 {
    // The cast saturates, and takes a NaN to zero.
    ((number + 0.999_999) as u64).clamp(1, most)
}
