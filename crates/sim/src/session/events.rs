//! Events that models of programs are notified of, and the actions with which they answer.

use goodqueue_base::units::{Duration, Instant, Rng};

/// Number of a channel within its session, from zero.
pub(crate) type Channel = u32;

/// The direction of a message on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Sent by the sink, which asks.
    Request,
    /// Sent by the source.
    Data,
}

/// Round trips of a transfer on a new connection, handshake included, and on an open connection.
pub(super) const ROUND_TRIPS_FRESH: u64 = 2;
pub(super) const ROUND_TRIPS_OPEN: u64 = 1;

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
    /// A transfer that began is given up.
    GivenUp,
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
    pub(super) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    pub(super) fn measure(&mut self, measurement: Measurement) {
        self.act(Action::Measure(measurement));
    }

    pub(super) fn send(&mut self, channel: Channel, direction: Payload, bytes: u64, after: After) {
        self.act(Action::Send { channel, direction, bytes: bytes.max(1), after });
    }

    pub(super) fn wake_in(&mut self, span: Duration) {
        self.act(Action::Wake(self.now + span));
    }

    /// Draws uniformly between the two ends of a span.
    pub(super) fn between(&mut self, (low, high): (Duration, Duration)) -> Duration {
        low + Duration::ns(self.rng.below(high.saturating_sub(low).as_nanos().saturating_add(1)))
    }
}

/// Rounds up to a whole number from 1 to `most`.
pub(super) fn round_up(number: f64, most: u64) -> u64 {
    // The cast saturates, and takes a NaN to zero.
    ((number + 0.999_999) as u64).clamp(1, most)
}
