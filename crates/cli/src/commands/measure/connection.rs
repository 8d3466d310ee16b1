//! Connections and clocks, the same for both ends.

use goodqueue_base::units::{Duration as Span, Instant};
use goodqueue_interop::measure::Message;
use goodqueue_live::clock::{Clock as _, MonotonicClock};
use goodqueue_live::sys::{tcp, udp};
use std::io::{self, Read};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

/// Time that a message may take, and that a connection may stand still.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// The congestion control of load: it fills buffers, so that the result tells how deep they are.
const CONTROL: &str = "cubic";
/// Bytes that wait unsent in a connection, as servers of pages keep them.
const UNSENT: u32 = 16 << 10;

/// The clock of one end, for several threads.
#[derive(Clone, Copy, Debug)]
pub struct Clock(MonotonicClock);

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self(MonotonicClock::start())
    }

    /// The time since then.
    pub fn now(self) -> Instant {
        let Self(mut clock) = self;
        clock.now()
    }
}

/// Waits.
#[allow(clippy::disallowed_methods, reason = "what is measured happens in real time")]
pub fn wait(time: Duration) {
    std::thread::sleep(time);
}

/// The time at which the kernel had the datagram that has just been received.
pub fn arrival(clock: Clock, socket: &UdpSocket) -> Instant {
    /// Older stamps are of a clock that was set meanwhile.
    const MAX_AGE: Span = Span::secs(1);
    let age = udp::age_of_last(socket.as_fd()).ok().filter(|age| *age < MAX_AGE);
    clock.now() - age.unwrap_or(Span::ZERO)
}

/// Prepares a connection for load, and returns its congestion control.
pub fn prepare(stream: &TcpStream) -> io::Result<String> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    tcp::keep_unsent(stream.as_fd(), UNSENT)?;
    tcp::use_control(stream.as_fd(), CONTROL)
}

/// Reads a message that may take [`PATIENCE`] in all, however slowly its bytes come.
pub fn message(stream: &mut TcpStream) -> io::Result<[u8; Message::BYTES]> {
    let (mut bytes, mut got, clock) = ([0; Message::BYTES], 0, Clock::start());
    while got < bytes.len() {
        let left = PATIENCE.saturating_sub(clock.now().since(Instant::ZERO).into());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes[got..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => got += more,
        }
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(bytes)
}

/// Whether an error means that nothing came in time.
pub fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// Random bytes of the operating system.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}
