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
mod events;
mod list;
mod packmime;
mod page;
mod short;
mod video;
mod web;

use crate::outcome::VideoOutcome;
use crate::spec::SessionSpec;
use bulk_with_pauses::BulkWithPauses;
use goodqueue_base::units::Instant;
use list::List;
use page::Page;
use short::Short;
use video::Video;
use web::Web;

pub(crate) use events::{Action, After, Channel, Event, Measurement, Payload, SessionContext};

/// Connections that a session may have open at once, however few sessions there are. Transfers
/// beyond are refused and counted.
pub(crate) const MAX_OPEN: u32 = 100_000;

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
            SessionSpec::Short { size, interval, arrivals, connections } => {
                Self::Short(Short::new(size.get(), *interval, *arrivals, *connections, most_open))
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
    pub(crate) fn video(&mut self, now: Instant) -> Option<VideoOutcome> {
        match self {
            Self::Video(model) => Some(model.reading(now)),
            _ => None,
        }
    }
}
