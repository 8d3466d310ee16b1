//! The interface between the runner and a TCP.

pub use crate::packetdrill::error::NotModelled;
use crate::packetdrill::script::{Call, Value};
use crate::packetdrill::shell::Setting;
use goodqueue_base::units::Instant;
use goodqueue_tcp::wire::Packet;

/// A TCP without input and output of its own: segments, calls and time come from the runner,
/// segments and answers go back.
///
/// The runner calls in this order: [`configure`](Self::configure) for the settings before the first
/// event; then, as the script goes, [`call`](Self::call), [`handle_packet`](Self::handle_packet)
/// and [`handle_timeout`](Self::handle_timeout), and after each of them
/// [`poll_transmit`](Self::poll_transmit) until there is nothing more, and
/// [`next_timeout`](Self::next_timeout). Times never go back.
///
/// Whatever a stack does not model it refuses with [`NotModelled`]: the script then does not apply,
/// with that reason. A stack that ignores what it does not know would pass scripts that it has not
/// carried out.
pub trait Stack {
    /// Takes on a setting of the host.
    ///
    /// # Errors
    /// When the setting has no counterpart here.
    fn configure(&mut self, setting: &Setting) -> Result<(), NotModelled>;

    /// Carries out a call of the application. File descriptors among its arguments are those that
    /// this stack has returned.
    ///
    /// The same call comes again, after each event, while it blocks.
    ///
    /// # Errors
    /// When there is no such call here, or an argument has no counterpart.
    fn call(&mut self, now: Instant, call: &Call) -> Result<Returned, NotModelled>;

    /// Takes a segment from the network.
    ///
    /// # Errors
    /// When an answer to it is not modeled.
    fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled>;

    /// The next segment to send now.
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet>;

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    fn next_timeout(&self) -> Option<Instant>;

    /// Handles the time of [`next_timeout`](Self::next_timeout).
    ///
    /// # Errors
    /// When what the timer does is not modeled.
    fn handle_timeout(&mut self, now: Instant) -> Result<(), NotModelled>;

    /// A field of Linux's `tcp_info`, such as `tcpi_snd_cwnd`, of the connection in use, in its
    /// unit there.
    ///
    /// # Errors
    /// When there is no such field here.
    fn info(&self, now: Instant, field: &str) -> Result<f64, NotModelled>;

    /// Whether PSH of outbound segments is compared. A stack without a model of it says
    /// [`Compared::No`].
    fn push(&self) -> Compared {
        Compared::Yes
    }
}

/// Whether a part of a header is compared with the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The part is compared.
    Yes,
    /// The part may have any value.
    No,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// With this result.
    Value(i64),
    /// With a result, and values behind pointers: the index of an argument and its content.
    Values(i64, Vec<(usize, Value)>),
    /// With an error, for instance `EAGAIN`: the result is -1.
    Error(&'static str),
    /// Not yet.
    Blocked,
}
