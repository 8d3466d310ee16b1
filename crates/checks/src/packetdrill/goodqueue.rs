//! goodqueue's own sender and receiver as a [`Stack`].
//!
//! The sender and the receiver of `goodqueue-tcp` have no headers, no sockets and no handshake of
//! the passive end. This adapter adds just enough of them to carry a script: options in the order
//! in which Linux writes them, sequence numbers, one connection at a time. What is judged is the
//! sender (slow start, loss recovery, timers, ECN) and the receiver (acknowledgements, SACK, ECN).
//!
//! The sender counts segments, all of one size; a script writes bytes. `stream` maps one to the
//! other, so a short segment takes a number like any other, and so does FIN.
//!
//! What neither the adapter nor the crate models is refused: fast open, urgent data, sending RST,
//! closed windows and their probes, send and receive buffers, corking, ICMP. PSH is not compared:
//! the crate models it for bulk data only.

mod accurate_ecn;
mod calls;
mod connection;
mod defaults;
mod deliveries;
mod ends;
mod header;
mod info;
mod stream;

use crate::packetdrill::packet::Packet;
use crate::packetdrill::script::Call;
use crate::packetdrill::shell::Setting;
use crate::packetdrill::stack::{Compared, NotModelled, Returned, Stack};
use calls::Socket;
use connection::Connection;
use defaults::ConnectionDefaults;
use goodqueue_base::units::Instant;
use std::collections::BTreeMap;

/// First file descriptor that a program without other files gets.
const FIRST_DESCRIPTOR: i64 = 3;

/// A host with goodqueue's TCP.
#[derive(Debug, Default)]
pub struct Goodqueue {
    host: ConnectionDefaults,
    sockets: BTreeMap<i64, Socket>,
    connection: Option<Connection>,
}

impl Goodqueue {
    /// A host with the defaults of Linux, and without fast open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn free_descriptor(&self) -> i64 {
        (FIRST_DESCRIPTOR..).find(|fd| !self.sockets.contains_key(fd)).unwrap_or(i64::MAX)
    }
}

impl Stack for Goodqueue {
    fn configure(&mut self, setting: &Setting) -> Result<(), NotModelled> {
        self.host.set(setting)?;
        if let Some(connection) = &mut self.connection {
            connection.configure(&self.host)?;
        }
        Ok(())
    }

    fn call(&mut self, now: Instant, call: &Call) -> Result<Returned, NotModelled> {
        self.carry_out(now, call)
    }

    fn handle_packet(&mut self, now: Instant, packet: &Packet) -> Result<(), NotModelled> {
        if let Some(connection) = &mut self.connection {
            return connection.handle_packet(now, packet);
        }
        let Some(listener) = self.sockets.values().find(|socket| socket.listens) else {
            return Err(NotModelled::new("a segment without a connection"));
        };
        self.connection = Some(Connection::accept(now, packet, &self.host, listener.largest_segment)?);
        Ok(())
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        self.connection.as_mut()?.poll_transmit(now)
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.connection.as_ref()?.next_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), NotModelled> {
        match &mut self.connection {
            Some(connection) => connection.handle_timeout(now),
            None => Ok(()),
        }
    }

    fn info(&self, now: Instant, field: &str) -> Result<f64, NotModelled> {
        match &self.connection {
            Some(connection) => connection.info(now, field),
            None => Err(NotModelled(format!("{field} without a connection"))),
        }
    }

    fn push(&self) -> Compared {
        Compared::No
    }
}
