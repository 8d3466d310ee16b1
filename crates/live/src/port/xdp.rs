//! A network interface whose frames the kernel hands over before it looks at them (AF_XDP): less
//! work for each frame than a packet socket, tags left in place, but no time stamps of the
//! kernel's, so that a frame counts as arrived when this thread sees it.

use super::tap::{Presence, SharedCapture, Tap};
use super::{Drained, Port, PortCounters, Received};
use crate::frame;
use crate::pool::{Frame, Pool};
use crate::sys::bpf::Mode;
use crate::sys::busy::{self, BusyPolling};
use crate::sys::ethtool;
use crate::sys::socket::{self, PacketSocket};
pub use crate::sys::xdp::Transfer;
use crate::sys::xdp::{self, XdpSocket};
use goodqueue_base::units::{Duration, Instant};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Frames handed over at a time.
const SEND_BATCH: usize = 64;
/// Nothing wakes the thread when an interface goes down or is removed, so it is looked for this
/// often.
const LOOK_EVERY: Duration = Duration::ms(5);

/// A network interface.
#[derive(Debug)]
pub struct XdpPort {
    presence: Presence,
    socket: XdpSocket,
    mode: Mode,
    /// The kernel looks for frames when it is asked to.
    polls: bool,
    /// Takes no frames: it has the interface take those for other stations, and knows when it went
    /// down and whether it is still there.
    guard: PacketSocket,
    looked: Instant,
    longest: u32,
    counters: PortCounters,
    tap: Tap,
}

/// Opens again while the interface is not given back: the kernel takes a while to do so after
/// another has closed it.
#[allow(clippy::disallowed_methods, reason = "the kernel works in real time")]
fn given_back<T>(open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    const TRIES: usize = 50;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
    let is_busy = |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST));
    for _ in 0..TRIES {
        match open() {
            Err(error) if is_busy(&error) => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
    let busy = |error| io::Error::new(io::ErrorKind::ResourceBusy, format!("is in use by another XDP program: {error}"));
    open().map_err(|error| if is_busy(&error) { busy(error) } else { error })
}

impl XdpPort {
    /// Opens the interface `name` of the network namespace that the thread is in, by its driver
    /// where that can; frames get to the program by `transfer`. They come in from now on.
    ///
    /// # Errors
    /// When there is no such Ethernet interface, it has several receive queues or too large frames,
    /// its driver has no zero copy and nothing else will do, or the kernel refuses: `CAP_NET_RAW`,
    /// `CAP_NET_ADMIN` and `CAP_BPF` are needed.
    pub fn open(name: &str, transfer: Transfer) -> io::Result<Self> {
        let interface = socket::ethernet(name)?;
        let unsupported = |why: String| Err(io::Error::new(io::ErrorKind::Unsupported, why));
        let queues = ethtool::receive_queues(name)?;
        if queues > 1 {
            return unsupported(format!("has {queues} receive queues, of which AF_XDP takes one: ethtool -L {name} combined 1"));
        }
        let longest = interface.longest_frame();
        if longest as usize > xdp::MAX {
            return unsupported(format!(
                "has frames of up to {longest} bytes, more than AF_XDP takes here: allowed {}",
                xdp::MAX
            ));
        }
        let guard = PacketSocket::new(interface.index)?;
        guard.open_deaf()?;
        let socket = |mode| XdpSocket::open(interface.index as u32, mode, transfer).map(|socket| (socket, mode));
        let open = |mode| given_back(|| socket(mode));
        let (socket, mode) = match (open(Mode::Native), transfer) {
            (Err(error), Transfer::ZeroCopy) => {
                return unsupported(format!("has no zero copy, which its driver has to support: {error}"));
            }
            (opened, _) => opened.or_else(|_| open(Mode::Generic))?,
        };
        Ok(Self {
            presence: Presence::new(name),
            socket,
            mode,
            polls: false,
            guard,
            looked: Instant::ZERO,
            longest,
            counters: PortCounters::default(),
            tap: Tap::default(),
        })
    }

    /// True if the driver itself hands frames over.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.mode == Mode::Native
    }

    /// True if the card itself puts frames into the program's memory.
    #[must_use]
    pub const fn is_zero_copy(&self) -> bool {
        self.socket.is_zero_copy()
    }

    /// From now on the kernel looks for frames whenever none is there, as far as it grants that.
    pub fn busy_poll(&mut self) -> BusyPolling {
        let granted = busy::ask(self.socket.as_fd());
        self.polls = !granted.time.is_zero();
        granted
    }

    /// The longest frame that it hands over.
    #[must_use]
    pub const fn longest_frame(&self) -> u32 {
        self.longest
    }

    /// Writes every frame sent into `capture`, as of its interface number `interface`.
    pub fn capture(&mut self, interface: u32, capture: SharedCapture) {
        self.tap.open(interface, capture);
    }

    /// Reads the error, if any, that ended a wait.
    ///
    /// # Errors
    /// When the interface is gone.
    pub fn check(&mut self, now: Instant) -> io::Result<()> {
        let exists = self.guard.exists();
        let gone_down = self.guard.take_error().is_some();
        if exists && !gone_down { Ok(()) } else { self.presence.suspect(exists, now, &mut self.counters) }
    }
}

impl Port for XdpPort {
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained> {
        self.presence.look(now);
        if now.since(self.looked) >= LOOK_EVERY {
            self.looked = now;
            self.check(now)?;
        }
        while batch.len() < batch.capacity() {
            if self.polls && self.socket.peek().is_none() {
                self.socket.look();
            }
            let Some(found) = self.socket.peek() else { return Ok(Drained::Empty) };
            if found.len() > self.longest as usize {
                self.counters.oversize += 1;
            } else if let Some(slot) = pool.take() {
                match pool.buffer(slot).get_mut(..found.len()) {
                    Some(room) => {
                        room.copy_from_slice(found);
                        let frame = Frame::whole(slot, found.len() as u32);
                        // The frame itself carries no such information.
                        if frame::looks_partial(pool.frame(frame)) && frame::finish_partial(pool.frame_mut(frame)) {
                            self.counters.partial_checksums += 1;
                        }
                        self.counters.received += 1;
                        batch.push(Received { frame, stamp: None, joined: None });
                    }
                    None => {
                        self.counters.oversize += 1;
                        pool.give_back(slot);
                    }
                }
            } else {
                self.counters.no_buffer += 1;
            }
            self.socket.release();
        }
        Ok(Drained::More)
    }

    fn send(&mut self, now: Instant, pool: &Pool, frames: &[Frame]) -> io::Result<usize> {
        let frames = &frames[..frames.len().min(SEND_BATCH)];
        if self.presence.is_down() {
            // Frames are lost, as on a cable that is not plugged in.
            self.counters.send_failures += frames.len() as u64;
            return Ok(frames.len());
        }
        let mut taken = 0;
        for frame in frames {
            let bytes = pool.frame(*frame);
            if bytes.len() > xdp::MAX {
                self.counters.send_failures += 1;
            } else if self.socket.push(bytes) {
                self.counters.sent += 1;
            } else {
                break;
            }
            taken += 1;
        }
        if self.socket.flush().is_err() {
            // Pushed frames leave when the interface is up again.
            self.presence.suspect(self.guard.exists(), now, &mut self.counters)?;
        }
        self.tap.write(now, pool, &frames[..taken]);
        Ok(taken)
    }

    fn most_at_once(&self) -> usize {
        SEND_BATCH
    }

    fn counters(&mut self) -> PortCounters {
        if let Ok(lost) = self.socket.lost() {
            self.counters.ring_overflows = lost;
        }
        self.counters
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        (!self.presence.is_down()).then(|| self.socket.as_fd())
    }
}
