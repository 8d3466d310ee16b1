//! The ports of network interfaces as one type.

use super::packet::PacketPort;
pub use super::tap::SharedCapture;
use super::xdp::XdpPort;
use super::{Drained, Port, PortCounters, Received};
use crate::pool::{Frame, Pool};
use crate::sys::busy::BusyPolling;
use goodqueue_base::units::Instant;
use std::io;
use std::os::fd::BorrowedFd;

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

/// Evaluates the same expression for either kind of port.
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

    /// Asks the kernel to look for frames when it is asked for them, and says what it granted.
    pub fn busy_poll(&mut self) -> BusyPolling {
        either!(self, port => port.busy_poll())
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

    fn joins(&self) -> bool {
        either!(self, port => port.joins())
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
