//! What the ports of network interfaces have in common, and either of them as one type.

use super::packet::PacketPort;
use super::pcap::Capture;
use super::xdp::XdpPort;
use super::{Drained, Port, PortCounters, Received};
use crate::pool::{Frame, Pool};
use crate::segments;
use goodqueue_units::{Duration, Instant};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// A capture that both ports write to.
pub type SharedCapture = Arc<Mutex<Capture>>;

/// An interface that is down is looked at so often.
const LOOK_AGAIN: Duration = Duration::ms(20);

/// Whether the interface is there.
#[derive(Debug)]
pub(super) struct Presence {
    pub(super) name: String,
    /// While it is down: when to look again.
    down_until: Option<Instant>,
}

impl Presence {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), down_until: None }
    }

    /// Handles a failed transfer: an interface that still exists counts as down for a while.
    pub(super) fn suspect(&mut self, exists: bool, now: Instant, counters: &mut PortCounters) -> io::Result<()> {
        if !exists {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("interface {} is gone", self.name)));
        }
        if self.down_until.is_none() {
            counters.outages += 1;
        }
        self.down_until = Some(now + LOOK_AGAIN);
        Ok(())
    }

    /// Lets the next transfer try again once the pause of an interface that was down has passed.
    pub(super) fn look(&mut self, now: Instant) {
        self.down_until = self.down_until.filter(|until| now < *until);
    }

    pub(super) const fn is_down(&self) -> bool {
        self.down_until.is_some()
    }
}

/// Where frames are written to that were sent.
#[derive(Debug, Default)]
pub(super) struct Tap(Option<(u32, SharedCapture)>);

impl Tap {
    /// Into `capture`, as of its interface number `interface`.
    pub(super) fn open(&mut self, interface: u32, capture: SharedCapture) {
        self.0 = Some((interface, capture));
    }

    pub(super) fn write(&self, now: Instant, pool: &Pool, frames: &[Frame]) {
        let Some((interface, capture)) = &self.0 else { return };
        let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
        let mut alone = Vec::new();
        for frame in frames {
            if pool.joined(frame.slot).is_none() {
                capture.write(*interface, now, pool.frame(*frame));
                continue;
            }
            alone.clear();
            segments::write_alone(*frame, pool, &mut alone);
            capture.write(*interface, now, &alone);
        }
    }
}

/// A network interface, however its frames are taken.
#[derive(Debug)]
pub enum InterfacePort {
    /// A packet socket.
    Packet(Box<PacketPort>),
    /// By an AF_XDP socket.
    Xdp(Box<XdpPort>),
}

impl From<PacketPort> for InterfacePort {
    fn from(port: PacketPort) -> Self {
        Self::Packet(Box::new(port))
    }
}

impl From<XdpPort> for InterfacePort {
    fn from(port: XdpPort) -> Self {
        Self::Xdp(Box::new(port))
    }
}

/// The same of either.
macro_rules! either {
    ($self:expr, $port:ident => $what:expr) => {
        match $self {
            InterfacePort::Packet($port) => $what,
            InterfacePort::Xdp($port) => $what,
        }
    };
}

impl InterfacePort {
    /// The longest frame that it hands over.
    #[must_use]
    pub fn longest_frame(&self) -> u32 {
        either!(self, port => port.longest_frame())
    }

    /// Writes every frame sent into `capture`, as of its interface number `interface`.
    pub fn capture(&mut self, interface: u32, capture: SharedCapture) {
        either!(self, port => port.capture(interface, capture));
    }

    /// Reads the error, if any, that ended a wait.
    ///
    /// # Errors
    /// When the interface is gone.
    pub fn check(&mut self, now: Instant) -> io::Result<()> {
        either!(self, port => port.check(now))
    }
}

impl Port for InterfacePort {
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained> {
        either!(self, port => port.receive(now, pool, batch))
    }

    fn send(&mut self, now: Instant, pool: &Pool, frames: &[Frame]) -> io::Result<usize> {
        either!(self, port => port.send(now, pool, frames))
    }

    fn most_at_once(&self) -> usize {
        either!(self, port => port.most_at_once())
    }

    fn counters(&mut self) -> PortCounters {
        either!(self, port => port.counters())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        either!(self, port => port.descriptor())
    }
}
