// An end of a connection of quinn-proto, and of the stacks of its family, which have the same
// types: each module that includes this file names its crate `proto`, and has the few functions
// that differ.

use crate::host::Transport;
use crate::keys::Keys;
use crate::work::{Application, Flow};
use crate::{WINDOW, peer};
use bytes::{Bytes, BytesMut};
use goodqueue_net::{Datagram, Duration, Ecn, Instant, Recovery, Transmit};
use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, EndpointConfig, Event, ServerConfig,
    StreamEvent, StreamId, TransportConfig, VarInt,
};
use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;

/// Datagrams of one buffer, as these stacks ask their sockets for.
const SEGMENTS: NonZeroUsize = NonZeroUsize::new(10).expect("not zero");

/// A server and a client.
pub fn ends(keys: &Keys, flow: Flow, control: &str) -> Result<[End; 2], Box<dyn Error>> {
    // Only differences of instants matter.
    let epoch = std::time::Instant::now();
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(WINDOW)).receive_window(VarInt::from_u32(WINDOW));
    transport.send_window(u64::from(WINDOW));
    set_control(&mut transport, control, flow.seed);
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(keys.server.clone())?));
    server.transport_config(transport.clone());
    let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(keys.client.clone())?));
    client.transport_config(transport);
    let end = |number: u8, server, connects| {
        let mut seed = [number; 32];
        seed[..8].copy_from_slice(&flow.seed.to_le_bytes());
        let mut config = EndpointConfig::default();
        config.rng_seed(Some(seed));
        End { epoch, endpoint: endpoint(config, server), connects, connection: None, answers: VecDeque::new(), failed: None }
    };
    Ok([end(1, Some(Arc::new(server)), None), end(2, None, Some(client))])
}

pub struct End {
    epoch: std::time::Instant,
    endpoint: proto::Endpoint,
    /// Configuration of a client, until the connection is opened.
    connects: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Datagrams of the endpoint itself.
    answers: VecDeque<Vec<u8>>,
    failed: Option<String>,
}

impl End {
    fn real(&self, now: Instant) -> std::time::Instant {
        self.epoch + std::time::Duration::from_nanos(now.as_nanos())
    }
}

impl crate::work::Connection for Connection {
    type Stream = StreamId;

    fn open(&mut self) -> Option<StreamId> {
        self.streams().open(Dir::Bi)
    }

    fn read(&mut self, id: StreamId, take: &mut dyn FnMut(&[u8])) -> bool {
        let mut stream = self.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return false };
        let mut ended = false;
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => take(&chunk.bytes),
                Ok(None) => {
                    ended = true;
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
        ended
    }

    fn write(&mut self, id: StreamId, bytes: Bytes) -> usize {
        self.send_stream(id).write(&bytes).unwrap_or(0)
    }

    fn finish(&mut self, id: StreamId) {
        let _ = self.send_stream(id).finish();
    }
}

impl Transport for End {
    type Stream = StreamId;

    fn receive(&mut self, now: Instant, datagram: Datagram<'_>) {
        let real = self.real(now);
        let ecn = match datagram.ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some(EcnCodepoint::Ect0),
            Ecn::Ect1 => Some(EcnCodepoint::Ect1),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        let mut buffer = Vec::new();
        let payload = BytesMut::from(datagram.payload);
        match receive(&mut self.endpoint, real, ecn, payload, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => match self.endpoint.accept(incoming, real, &mut buffer, None) {
                Ok(accepted) => self.connection = Some(accepted),
                Err(error) => panic!("the connection was refused: {}", error.cause),
            },
            Some(DatagramEvent::Response(_)) => self.answers.push_back(buffer),
            None => {}
        }
    }

    /// Exchanges what endpoint, connection and application have for each other.
    fn run(&mut self, now: Instant, application: &mut Application<StreamId>) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        application.opened(id);
                    }
                }
                Event::ConnectionLost { reason } => self.failed = Some(reason.to_string()),
                _ => {}
            }
        }
        if let Some(reason) = &self.failed {
            panic!("the connection was lost: {reason}");
        }
        application.run(now, connection);
    }

    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>, application: &mut Application<StreamId>) -> Option<Transmit> {
        let real = self.real(now);
        if let Some(config) = self.connects.take() {
            let opened = self.endpoint.connect(real, config, peer(), "server");
            self.connection = Some(opened.unwrap_or_else(|error| panic!("cannot connect: {error}")));
            self.run(now, application);
        }
        if let Some(answer) = self.answers.pop_front() {
            *buffer = answer;
            return Some(Transmit::NOW);
        }
        let transmit = transmit(&mut self.connection.as_mut()?.1, real, SEGMENTS, buffer)?;
        let ecn = match transmit.ecn {
            None => Ecn::NotEct,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        };
        Some(Transmit { ecn, segment_size: transmit.segment_size, at: None })
    }

    fn timeout(&mut self) -> Option<Instant> {
        let real = self.connection.as_mut()?.1.poll_timeout()?;
        Some(Instant::from_nanos(real.saturating_duration_since(self.epoch).as_nanos() as u64))
    }

    fn expire(&mut self, now: Instant) {
        let real = self.real(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(real);
        }
    }

    fn recovery(&mut self) -> Recovery {
        let Some((_, connection)) = &mut self.connection else { return Recovery::default() };
        let (cwnd, rtt, lost_packets) = path(connection);
        let srtt = (!connection.is_handshaking()).then(|| Duration::ns(rtt.as_nanos() as u64));
        Recovery { cwnd: Some(cwnd), in_flight: None, srtt, lost_packets }
    }
}
