//! Applications of both ends, which are the same for every stack.

use bytes::Bytes;
use goodqueue_net::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Activity of the clients of a group.
#[derive(Clone, Debug)]
pub enum Work {
    /// Data without end, or as much as the scenario gives the flow.
    Download,
    /// Responses of this size over one connection, each request this long after the response
    /// before.
    Requests {
        /// Bytes of a response.
        size: u64,
        /// Time between a response and the next request.
        pause: Duration,
        /// Takes the time of each response, in seconds.
        times: Arc<Mutex<Vec<f64>>>,
    },
}

/// Parameters of the ends of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// For random numbers.
    pub seed: u64,
    /// Bytes that it transfers; `None` without end.
    pub size: Option<u64>,
}

/// A request is the number of bytes wanted, in eight bytes.
const REQUEST: usize = 8;
/// A number of bytes for data without end.
const ENDLESS: u64 = u64::MAX;
/// Data of servers.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A connection of a stack, as applications see it.
pub trait Connection {
    /// Identifier of a stream.
    type Stream: Copy + Ord;

    /// Opens a stream for both directions; `None` while it cannot.
    fn open(&mut self) -> Option<Self::Stream>;

    /// Gives what has arrived on a stream to `take`; true when the stream has ended.
    fn read(&mut self, stream: Self::Stream, take: &mut dyn FnMut(&[u8])) -> bool;

    /// Bytes that the stack has taken; 0 when it has no room now.
    fn write(&mut self, stream: Self::Stream, bytes: Bytes) -> usize;

    /// Nothing more follows on this stream.
    fn finish(&mut self, stream: Self::Stream);
}

/// The application at an end.
pub enum Application<S> {
    /// Sends what requests ask for.
    Server {
        /// The request so far, and the bytes that it still wants.
        streams: BTreeMap<S, (Vec<u8>, u64)>,
    },
    /// Asks.
    Client(Client<S>),
}

/// The application that asks.
pub struct Client<S> {
    work: Work,
    wanted: u64,
    /// The open request, and when it was made.
    asked: Option<(S, Instant)>,
    /// When the next request is due.
    next: Option<Instant>,
    received: u64,
    done: bool,
}

impl<S: Copy + Ord> Application<S> {
    pub const fn server() -> Self {
        Self::Server { streams: BTreeMap::new() }
    }

    pub fn client(work: &Work, flow: Flow) -> Self {
        let wanted = match work {
            Work::Download => flow.size.unwrap_or(ENDLESS),
            Work::Requests { size, .. } => *size,
        };
        Self::Client(Client { work: work.clone(), wanted, asked: None, next: None, received: 0, done: false })
    }

    /// The other end has opened a stream.
    pub fn opened(&mut self, stream: S) {
        if let Self::Server { streams } = self {
            streams.entry(stream).or_default();
        }
    }

    /// Reads and writes all there is to.
    pub fn run(&mut self, now: Instant, connection: &mut impl Connection<Stream = S>) {
        match self {
            Self::Server { streams } => streams.retain(|stream, (request, left)| serve(connection, *stream, request, left)),
            Self::Client(client) => client.run(now, connection),
        }
    }

    /// When it runs next by itself.
    pub fn next(&self) -> Option<Instant> {
        match self {
            Self::Client(client) => client.next,
            Self::Server { .. } => None,
        }
    }

    /// Bytes that a client has received.
    pub fn received(&self) -> Option<u64> {
        match self {
            Self::Client(client) => Some(client.received),
            Self::Server { .. } => None,
        }
    }

    pub fn is_done(&self) -> bool {
        matches!(self, Self::Client(Client { done: true, .. }))
    }
}

impl<S: Copy> Client<S> {
    fn run(&mut self, now: Instant, connection: &mut impl Connection<Stream = S>) {
        if let Some((stream, at)) = self.asked
            && connection.read(stream, &mut |bytes| self.received += bytes.len() as u64)
        {
            self.asked = None;
            match &self.work {
                Work::Download => self.done = true,
                Work::Requests { pause, times, .. } => {
                    times.lock().expect("no thread panics with it").push(now.since(at).as_secs_f64());
                    self.next = Some(now + *pause);
                }
            }
        }
        if self.next.is_none_or(|next| now >= next)
            && self.asked.is_none()
            && !self.done
            && let Some(stream) = connection.open()
        {
            // A new stream has room for eight bytes.
            connection.write(stream, Bytes::copy_from_slice(&self.wanted.to_le_bytes()));
            connection.finish(stream);
            (self.asked, self.next) = (Some((stream, now)), None);
        }
    }
}

/// Reads the request of a stream and writes what it wants; false when all is written.
fn serve<C: Connection>(connection: &mut C, stream: C::Stream, request: &mut Vec<u8>, left: &mut u64) -> bool {
    if request.len() < REQUEST {
        connection.read(stream, &mut |bytes| request.extend(bytes));
        let Some(wanted) = request.first_chunk::<REQUEST>() else { return true };
        *left = u64::from_le_bytes(*wanted);
    }
    while *left > 0 {
        let part = ZEROS.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
        let written = connection.write(stream, Bytes::from_static(&ZEROS[..part]));
        if written == 0 {
            return true;
        }
        if *left != ENDLESS {
            *left -= written as u64;
        }
    }
    connection.finish(stream);
    false
}
