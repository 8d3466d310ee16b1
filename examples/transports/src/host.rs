//! An end of a flow: one end of a stack's connection, and the application above it.

use crate::work::{Application, Flow, Work};
use goodqueue_net::{Datagram, Endpoint, Ends, Instant, Recovery, Transmit};

/// One end of a stack's connection. It lets the application run inside its calls.
pub trait Transport: 'static {
    /// Identifier of a stream.
    type Stream: Copy + Ord;

    /// Takes a datagram.
    fn receive(&mut self, now: Instant, datagram: Datagram<'_>);

    /// Runs the application, which reads and writes, and tells the stack about it.
    fn run(&mut self, now: Instant, application: &mut Application<Self::Stream>);

    /// Writes what is to be sent next to `buffer`.
    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>, application: &mut Application<Self::Stream>) -> Option<Transmit>;

    /// When its next timer expires.
    fn timeout(&mut self) -> Option<Instant>;

    /// Handles timers that have expired.
    fn expire(&mut self, now: Instant);

    /// Returns the sender's view of its path.
    fn recovery(&mut self) -> Recovery;
}

/// A transport with its application.
struct Host<T: Transport> {
    transport: T,
    application: Application<T::Stream>,
}

/// A server at the source of a flow and a client at its sink.
pub fn ends<T: Transport>([server, client]: [T; 2], flow: Flow, work: &Work) -> Ends {
    let host = |transport, application| Host { transport, application };
    Ends::new(host(server, Application::server()), host(client, Application::client(work, flow)))
}

impl<T: Transport> Endpoint for Host<T> {
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.transport.receive(now, datagram);
        self.transport.run(now, &mut self.application);
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.transport.transmit(now, buffer, &mut self.application)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        [self.transport.timeout(), self.application.next()].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.transport.expire(now);
        self.transport.run(now, &mut self.application);
    }

    fn delivered_bytes(&self) -> Option<u64> {
        self.application.received()
    }

    fn is_complete(&self) -> bool {
        self.application.is_done()
    }

    fn recovery(&mut self) -> Recovery {
        self.transport.recovery()
    }
}
