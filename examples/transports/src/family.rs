// An end of a connection of quinn-proto, and of the stacks of its family, which have the same
// types: each module that includes this file names its crate `proto`, and has the few functions
// that differ.

use crate::keys::Keys;
use crate::work::{ENDLESS, REQUEST, Work};
use bytes::BytesMut;
use goodqueue_net::{Datagram, Duration, Ecn, Endpoint, Ends, FlowFacts, Instant, Recovery, Transmit};
use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, EndpointConfig, Event, ServerConfig, StreamEvent,
    StreamId, TransportConfig, VarInt,
};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Datagrams of one buffer, as these stacks ask their sockets for.
const SEGMENTS: NonZeroUsize = NonZeroUsize::new(10).expect("not zero");
/// Windows beyond every product of bandwidth and delay here: congestion control is the subject.
const WINDOW: u32 = 64 << 20;
/// Data of servers.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The address of the other end.
fn peer() -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, 1), 1).into()
}

/// A server at the source of a flow and a client at its sink.
pub fn ends(keys: &Keys, flow: &FlowFacts<'_>, control: &str, work: &Work) -> Result<Ends, Box<dyn Error>> {
    // Only differences of instants matter.
    let epoch = std::time::Instant::now();
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(WINDOW)).receive_window(VarInt::from_u32(WINDOW));
    transport.send_window(u64::from(WINDOW));
    set_control(&mut transport, control);
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(keys.server.clone())?));
    server.transport_config(transport.clone());
    let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(keys.client.clone())?));
    client.transport_config(transport);
    let end = |number: u8, server, role| {
        let mut seed = [number; 32];
        seed[..8].copy_from_slice(&flow.seed.to_le_bytes());
        let mut config = EndpointConfig::default();
        config.rng_seed(Some(seed));
        End {
            epoch,
            endpoint: endpoint(config, server),
            connection: None,
            answers: VecDeque::new(),
            role,
            failed: None,
        }
    };
    let first = work.first(flow);
    let client_role =
        Role::Client { config: Some(client), work: work.clone(), wanted: first, asked: None, next: None, received: 0, done: false };
    Ok(Ends::new(end(1, Some(Arc::new(server)), Role::Server { streams: BTreeMap::new() }), end(2, None, client_role)))
}

/// What the application at an end does.
enum Role {
    Server {
        /// By stream: the request so far, and the bytes that it still wants.
        streams: BTreeMap<StreamId, (Vec<u8>, u64)>,
    },
    Client {
        /// Until the connection is opened.
        config: Option<ClientConfig>,
        work: Work,
        wanted: u64,
        /// The open request, and when it was made.
        asked: Option<(StreamId, Instant)>,
        /// When the next request is due.
        next: Option<Instant>,
        received: u64,
        done: bool,
    },
}

struct End {
    epoch: std::time::Instant,
    endpoint: proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Datagrams of the endpoint itself.
    answers: VecDeque<Vec<u8>>,
    role: Role,
    failed: Option<String>,
}

impl End {
    fn real(&self, now: Instant) -> std::time::Instant {
        self.epoch + std::time::Duration::from_nanos(now.as_nanos())
    }

    /// Lets endpoint, connection and application exchange what they have for each other.
    fn pump(&mut self, now: Instant) {
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
                        if let Role::Server { streams } = &mut self.role {
                            streams.insert(id, (Vec::new(), 0));
                        }
                    }
                }
                Event::ConnectionLost { reason } => self.failed = Some(reason.to_string()),
                _ => {}
            }
        }
        if let Some(reason) = &self.failed {
            panic!("the connection was lost: {reason}");
        }
        match &mut self.role {
            Role::Server { streams } => streams.retain(|id, (request, left)| serve(connection, *id, request, left)),
            Role::Client { .. } => self.ask(now),
        }
    }

    /// The client reads, and asks when it is time.
    fn ask(&mut self, now: Instant) {
        let Some((_, connection)) = &mut self.connection else { return };
        let Role::Client { work, wanted, asked, next, received, done, .. } = &mut self.role else { return };
        if let Some((id, at)) = *asked
            && read(connection, id, |bytes| *received += bytes.len() as u64)
        {
            *asked = None;
            match work {
                Work::Download => *done = true,
                Work::Requests { pause, times, .. } => {
                    times.lock().expect("no thread panics with it").push(now.since(at).as_secs_f64());
                    *next = Some(now + *pause);
                }
            }
        }
        if next.is_none_or(|next| now >= next)
            && asked.is_none()
            && !*done
            && let Some(id) = connection.streams().open(Dir::Bi)
        {
            let mut stream = connection.send_stream(id);
            let _ = stream.write(&wanted.to_le_bytes());
            let _ = stream.finish();
            (*asked, *next) = (Some((id, now)), None);
        }
    }
}

/// Reads all there is; whether the stream has ended.
fn read(connection: &mut Connection, id: StreamId, mut take: impl FnMut(&[u8])) -> bool {
    let mut stream = connection.recv_stream(id);
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

/// Reads the request of a stream and writes what it wants; false when all is written.
fn serve(connection: &mut Connection, id: StreamId, request: &mut Vec<u8>, left: &mut u64) -> bool {
    if request.len() < REQUEST {
        read(connection, id, |bytes| request.extend(bytes));
        let Some(wanted) = request.first_chunk::<REQUEST>() else { return true };
        *left = u64::from_le_bytes(*wanted);
    }
    let mut stream = connection.send_stream(id);
    while *left > 0 {
        let part = ZEROS.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
        let Ok(written) = stream.write(&ZEROS[..part]) else { return true };
        if *left != ENDLESS {
            *left -= written as u64;
        }
    }
    let _ = stream.finish();
    false
}

impl Endpoint for End {
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
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
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, real, &mut buffer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => panic!("the connection was refused: {}", error.cause),
                }
            }
            Some(DatagramEvent::Response(_)) => self.answers.push_back(buffer),
            None => {}
        }
        self.pump(now);
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let real = self.real(now);
        if let Role::Client { config, .. } = &mut self.role
            && let Some(config) = config.take()
        {
            let opened = self.endpoint.connect(real, config, peer(), "server");
            self.connection = Some(opened.unwrap_or_else(|error| panic!("cannot connect: {error}")));
            self.pump(now);
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

    fn poll_timeout(&mut self) -> Option<Instant> {
        let real = self.connection.as_mut()?.1.poll_timeout();
        let nanos = real.map(|real| real.saturating_duration_since(self.epoch).as_nanos() as u64);
        let stack = nanos.map(Instant::from_nanos);
        let application = match &self.role {
            Role::Client { next, .. } => *next,
            Role::Server { .. } => None,
        };
        [stack, application].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        let real = self.real(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(real);
        }
        self.pump(now);
    }

    fn delivered_bytes(&self) -> Option<u64> {
        match &self.role {
            Role::Client { received, .. } => Some(*received),
            Role::Server { .. } => None,
        }
    }

    fn is_complete(&self) -> bool {
        matches!(self.role, Role::Client { done: true, .. })
    }

    fn recovery(&mut self) -> Recovery {
        let Some((_, connection)) = &mut self.connection else { return Recovery::default() };
        let (cwnd, rtt, lost_packets) = path(connection);
        let srtt = (!connection.is_handshaking()).then(|| Duration::ns(rtt.as_nanos() as u64));
        Recovery { cwnd: Some(cwnd), in_flight: None, srtt, lost_packets }
    }
}
