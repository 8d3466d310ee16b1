//! Models of programs that use connections: transfers, web pages, video. One file per model.
//!
//! A session owns a few *channels*, each of which carries one TCP connection after another. It is
//! notified of rare events only: a timer fired, everything sent on a channel has arrived or has
//! been acknowledged. It answers with actions. It knows no packets and no clock, so that a test of
//! a model is a loop.
//!
//! A channel carries data from source to sink and, for models that ask first, requests in the
//! opposite direction.

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
use goodqueue_base::units::{Duration, Instant, Rng};
use list::List;
use page::Page;
use short::Short;
use video::Video;
use web::Web;

pub(crate) use video::VideoReading;

/// Number of a channel within its session, from zero.
pub(crate) type Channel = u32;

/// Connections that a session may have open at once, however few sessions there are. Transfers
/// beyond are refused and counted.
pub(crate) const MAX_OPEN: u32 = 100_000;

/// The direction of a message on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Sent by the sink, which asks.
    Request,
    /// Sent by the source.
    Data,
}

/// Round trips of a transfer on a new connection, handshake included, and on an open connection.
const ROUND_TRIPS_FRESH: u64 = 2;
const ROUND_TRIPS_OPEN: u64 = 1;

/// The continuation of a connection after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Another message may follow.
    Keep,
    /// Nothing: the sender closes.
    Close,
}

/// An event that a session is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The session may begin.
    Start,
    /// The session must begin nothing new.
    Stop,
    /// The time of an [`Action::Wake`] has come.
    Alarm,
    /// The time of an [`Action::WakeChannel`] has come.
    ChannelAlarm(Channel),
    /// The first byte of the data being sent has arrived.
    FirstByte(Channel),
    /// All of the message being sent has arrived.
    Arrived(Channel, Payload),
    /// Everything sent in this direction has been acknowledged.
    Acknowledged(Channel, Payload),
}

/// An action that a session asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Opens a new connection on a channel, in place of the previous one. An unused channel must be
    /// the next in number.
    Connect(Channel),
    /// Sends a message on a channel.
    Send { channel: Channel, direction: Payload, bytes: u64, after: After },
    /// Requests an [`Event::Alarm`].
    Wake(Instant),
    /// Requests an [`Event::ChannelAlarm`].
    WakeChannel(Channel, Instant),
    /// Something to be recorded.
    Measure(Measurement),
}

/// A measurement of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measurement {
    /// A transfer begins.
    Began,
    /// A transfer of `bytes`, begun at `began`, is complete now. It needed at least `round_trips`.
    Complete { began: Instant, bytes: u64, round_trips: u64 },
    /// The first byte of the response to a request at `since` has arrived.
    FirstByte { since: Instant },
    /// A page begun at `began` is complete now.
    Page { began: Instant },
    /// A video that was requested at `since` begins to play.
    Playing { since: Instant },
    /// A transfer could not begin: too many are open.
    Refused,
}

/// The context of a model that handles an event: the time, random numbers, and room for actions.
pub(crate) struct SessionContext<'a> {
    pub(crate) now: Instant,
    pub(crate) rng: &'a mut Rng,
    pub(crate) actions: &'a mut Vec<Action>,
}

impl SessionContext<'_> {
    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    fn measure(&mut self, measurement: Measurement) {
        self.act(Action::Measure(measurement));
    }

    fn send(&mut self, channel: Channel, direction: Payload, bytes: u64, after: After) {
        self.act(Action::Send { channel, direction, bytes: bytes.max(1), after });
    }

    fn wake_in(&mut self, span: Duration) {
        self.act(Action::Wake(self.now + span));
    }

    /// Draws uniformly between the two ends of a span.
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
    /// The session of a specification, with at most `most_open` connections at once.
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

    /// Whether the sink asks before anything is sent to it.
    pub(crate) const fn is_asked(spec: &SessionSpec) -> bool {
        !matches!(spec, SessionSpec::BulkWithPauses { .. } | SessionSpec::Short { .. } | SessionSpec::List { .. })
    }

    /// Does the same as [`is_asked`](Self::is_asked).
    pub(crate) const fn asks(&self) -> bool {
        !matches!(self, Self::BulkWithPauses(_) | Self::Short(_) | Self::List(_))
    }

    /// Channels that a session of a kind with a fixed number may need at once.
    pub(crate) fn fixed_channels(spec: &SessionSpec) -> u32 {
        match spec {
            SessionSpec::Page(page) => page.connections,
            _ => 1,
        }
    }

    /// Handles an event and adds actions to those of the context.
    pub(crate) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match self {
            Self::BulkWithPauses(model) => model.handle(event, context),
            Self::Short(model) => model.handle(event, context),
            Self::List(model) => model.handle(event, context),
            Self::Web(model) => model.handle(event, context),
            Self::Page(model) => model.handle(event, context),
            Self::Video(model) => model.handle(event, context),
        }
    }

    /// The playback of a video so far; `None` for other models.
    pub(crate) fn video(&mut self, now: Instant) -> Option<VideoReading> {
        match self {
            Self::Video(model) => Some(model.reading(now)),
            _ => None,
        }
    }
}

/// Rounds up to a whole number from 1 to `most`.
fn round_up(number: f64, most: u64) -> u64 {
    // The cast saturates, and takes a NaN to zero.
    ((number + 0.999_999) as u64).clamp(1, most)
}
