//! Ends of the stacks over a socket of the machine, in real time: a server, and a client that
//! downloads.

use crate::keys::Keys;
use crate::machine::next;
use crate::stack::Tested;
use crate::work::{Flow, Work};
use goodqueue_net::{Datagram, Duration, Ecn, Endpoint, Ends, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Connections of a server at once.
const MAX: usize = 100;
/// The longest wait for a datagram.
const WAIT: Duration = Duration::ms(1000);

type Outcome = Result<(), Box<dyn Error>>;

/// Serves downloads until it is killed.
pub fn serve(stack: &str, control: &str, port: &str, path: &Path) -> Outcome {
    let tested = Tested::named(stack, control)?;
    let port: u16 = port.parse().map_err(|_| format!("port {port}: allowed 0 to 65535"))?;
    let keys = if path.exists() {
        Keys::read(path)?
    } else {
        let keys = Keys::new()?;
        keys.write(path)?;
        keys
    };
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    socket.set_nonblocking(true)?;
    let (clock, mut seed) = (Clock::new(), 1);
    let mut sessions: BTreeMap<SocketAddr, Session> = BTreeMap::new();
    loop {
        // A stack panics when its connection is lost; the others go on.
        sessions.retain(|peer, session| {
            let turn = catch_unwind(AssertUnwindSafe(|| session.turn(&clock, &socket, *peer)));
            matches!(turn, Ok(Ok(())))
        });
        let due = sessions.values_mut().map(Session::due).min();
        wait(&socket, clock.until(due))?;
        let mut buffer = [0; 1 << 16];
        while let Ok((got, from)) = socket.recv_from(&mut buffer) {
            if !sessions.contains_key(&from) {
                if sessions.len() >= MAX {
                    continue;
                }
                let flow = Flow { seed: next(&mut seed), size: None };
                sessions.insert(from, Session::new(ends(tested, &keys, flow)?.source));
            }
            let Some(session) = sessions.get_mut(&from) else { continue };
            let now = clock.now();
            if catch_unwind(AssertUnwindSafe(|| session.handle(now, &buffer[..got]))).is_err() {
                sessions.remove(&from);
            }
        }
    }
}

/// Amount that a client downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Bytes(u64),
    /// As much as arrives between two times after its start.
    Within(Instant, Instant),
}

impl Amount {
    fn read(text: &str) -> Result<Self, Box<dyn Error>> {
        let seconds = |text: &str| {
            let seconds = text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
            seconds.map(|seconds: f64| Instant::from_nanos((seconds * 1e9) as u64))
        };
        let amount = match text.split_once("..") {
            Some((from, to)) => {
                seconds(from).zip(seconds(to)).filter(|(from, to)| from < to).map(|(from, to)| Self::Within(from, to))
            }
            None => text.parse().ok().filter(|size| (1..1 << 50).contains(size)).map(Self::Bytes),
        };
        amount.ok_or_else(|| format!("{text}: allowed 1 to 2^50 bytes, or FROM..TO in seconds, 0 to 1e6").into())
    }

    /// The next time after `now` that matters to it.
    fn next(self, now: Instant) -> Instant {
        match self {
            Self::Bytes(_) => Instant::MAX,
            Self::Within(from, to) => {
                if now < from {
                    from
                } else {
                    to
                }
            }
        }
    }
}

/// Downloads, and prints how much arrived in which time.
pub fn get(stack: &str, control: &str, server: &str, path: &Path, amount: &str) -> Outcome {
    let tested = Tested::named(stack, control)?;
    let amount = Amount::read(amount)?;
    let (size, from, to) = match amount {
        Amount::Bytes(size) => (Some(size), Instant::ZERO, Instant::MAX),
        Amount::Within(from, to) => (None, from, to),
    };
    let keys = Keys::read(path)?;
    let peer = server.to_socket_addrs()?.find(SocketAddr::is_ipv4).ok_or_else(|| format!("{server}: has no IPv4 address"))?;
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.set_nonblocking(true)?;
    let clock = Clock::new();
    let mut session = Session::new(ends(tested, &keys, Flow { seed: 1, size })?.sink);
    let mut buffer = [0; 1 << 16];
    let mut before = None;
    while !session.end.is_complete() && clock.now() < to {
        session.turn(&clock, &socket, peer)?;
        let due = session.due().min(amount.next(clock.now()));
        wait(&socket, clock.until(Some(due)))?;
        if clock.now() >= from {
            before.get_or_insert((clock.now(), session.received()));
        }
        while let Ok((got, _)) = socket.recv_from(&mut buffer) {
            session.handle(clock.now(), &buffer[..got]);
        }
    }
    // Tells the server what has arrived.
    session.turn(&clock, &socket, peer)?;
    let (begun, before) = before.filter(|_| size.is_none()).unwrap_or((Instant::ZERO, 0));
    let (bytes, seconds) = (session.received() - before, clock.now().since(begun).as_secs_f64());
    println!("{bytes} B in {seconds:.3} s: {:.2} Mbit/s", bytes as f64 * 8.0 / seconds / 1e6);
    Ok(())
}

/// Makes the ends of a flow.
fn ends(Tested { stack, control }: Tested, keys: &Keys, flow: Flow) -> Result<Ends, Box<dyn Error>> {
    stack.ends(keys, flow, control, &Work::Download)
}

/// Time since the start.
struct Clock(std::time::Instant);

impl Clock {
    fn new() -> Self {
        Self(std::time::Instant::now())
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }

    /// Returns the longest time to wait.
    fn until(&self, due: Option<Instant>) -> Duration {
        let now = self.now();
        due.map_or(WAIT, |due| if due > now { due.since(now).min(WAIT) } else { Duration::ZERO })
    }
}

/// Returns when a datagram has arrived or the time is over.
fn wait(socket: &UdpSocket, time: Duration) -> io::Result<()> {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let nanoseconds = time.as_nanos();
    let time = libc::timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 };
    // SAFETY: both live for the whole call.
    let result = unsafe { libc::ppoll(&raw mut poll, 1, &raw const time, std::ptr::null()) };
    let error = io::Error::last_os_error();
    if result < 0 && error.kind() != io::ErrorKind::Interrupted { Err(error) } else { Ok(()) }
}

/// One end, and what it sends later.
struct Session {
    end: Box<dyn Endpoint>,
    later: VecDeque<(Instant, Vec<u8>)>,
}

impl Session {
    fn new(end: Box<dyn Endpoint>) -> Self {
        Self { end, later: VecDeque::new() }
    }

    /// Bytes that the application has.
    fn received(&self) -> u64 {
        self.end.delivered_bytes().unwrap_or(0)
    }

    fn handle(&mut self, now: Instant, payload: &[u8]) {
        self.end.handle(now, Datagram { payload, ecn: Ecn::NotEct });
    }

    /// Sends what is due.
    fn turn(&mut self, clock: &Clock, socket: &UdpSocket, peer: SocketAddr) -> io::Result<()> {
        let now = clock.now();
        if self.end.poll_timeout().is_some_and(|at| at <= now) {
            self.end.handle_timeout(now);
        }
        let mut buffer = Vec::new();
        while let Some(transmit) = self.end.poll_transmit(now, &mut buffer) {
            let at = transmit.at.unwrap_or(now).max(self.later.back().map_or(Instant::ZERO, |(at, _)| *at));
            for payload in buffer.chunks(transmit.segment_size.unwrap_or(buffer.len()).max(1)) {
                self.later.push_back((at, payload.to_vec()));
            }
            buffer.clear();
        }
        while let Some((_, payload)) = self.later.pop_front_if(|(at, _)| *at <= now) {
            match socket.send_to(&payload, peer) {
                Ok(_) => {}
                // Datagrams that the socket has no room for are lost, as on any path; a peer that
                // refuses may still start to listen.
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionRefused) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// When it is to be called next.
    fn due(&mut self) -> Instant {
        let timeout = self.end.poll_timeout().unwrap_or(Instant::MAX);
        self.later.front().map_or(timeout, |(at, _)| timeout.min(*at))
    }
}
