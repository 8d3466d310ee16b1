//! s2n-quic, by Amazon Web Services: its endpoint is sans-I/O behind a provider of input and
//! output of one's own, which keeps the endpoint instead of starting an event loop.

use crate::host::Transport;
use crate::keys::Keys;
use crate::machine::next;
use crate::work::{Application, Connection, Flow};
use crate::{PAYLOAD, WINDOW, peer};
use bytes::Bytes;
use goodqueue_net::{Datagram, Duration, Ecn, Instant, Recovery, Transmit};
use s2n_quic::client::{Connect, ConnectionAttempt};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber, events};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls as tls;
use s2n_quic::provider::{congestion_controller as cc, io, random};
use s2n_quic::stream::BidirectionalStream;
use s2n_quic::{Client, Server};
use s2n_quic_core::endpoint::{CloseError, Endpoint as Stack};
use s2n_quic_core::inet::{ExplicitCongestionNotification as Codepoint, SocketAddress, datagram::Header};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::{self, Handle, Tuple};
use s2n_quic_core::time::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Congestion controls.
pub const CONTROLS: &[&str] = &["cubic", "bbr"];
/// IPv4 and UDP headers.
const HEADERS: u16 = 28;
/// A handshake may take this long: losses are what is measured.
const HANDSHAKE: std::time::Duration = std::time::Duration::from_secs(60);
/// Datagrams that it writes in one call.
const AT_ONCE: usize = 64;

/// A server and a client.
pub fn ends(keys: &Keys, flow: Flow, control: &str) -> Result<[End; 2], Box<dyn Error>> {
    match control {
        "bbr" => with(keys, flow, cc::Bbr::default),
        _ => with(keys, flow, cc::Cubic::default),
    }
}

fn with<C: cc::Endpoint>(keys: &Keys, flow: Flow, control: fn() -> C) -> Result<[End; 2], Box<dyn Error>> {
    let mut seed = flow.seed;
    /// An end. The builders of servers and clients are two types with the same methods.
    macro_rules! end {
        ($type:ident, $tls:expr, $side:expr) => {{
            let (kept, metrics) = (Kept::default(), Metrics::default());
            let started = $type::builder()
                .with_tls(tls::$type::from($tls.clone()))?
                .with_io(kept.clone())?
                .with_congestion_controller(control())?
                .with_limits(limits()?)?
                .with_random(Random(next(&mut seed)))?
                .with_event(metrics.clone())?
                .start()?;
            End::new(&kept, $side(started), metrics)?
        }};
    }
    let server = end!(Server, keys.server, Side::Server);
    Ok([server, end!(Client, keys.client, |client| Side::Client(client, None))])
}

fn limits() -> Result<Limits, Box<dyn Error>> {
    let window = u64::from(WINDOW);
    let limits = Limits::new()
        .with_data_window(window)?
        .with_bidirectional_local_data_window(window)?
        .with_bidirectional_remote_data_window(window)?
        .with_max_send_buffer_size(WINDOW)?
        .with_max_handshake_duration(HANDSHAKE)?;
    Ok(limits)
}

/// Random bytes from a seed.
struct Random(u64);

impl random::Provider for Random {
    type Generator = Self;
    type Error = Infallible;

    fn start(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

impl random::Generator for Random {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| next(&mut self.0) as u8);
    }

    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        self.public_random_fill(bytes);
    }
}

/// State of the path, as the stack reports it.
#[derive(Clone, Default)]
struct Metrics(Arc<Mutex<Recovery>>);

impl Metrics {
    fn update(&self, change: impl FnOnce(&mut Recovery)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Subscriber for Metrics {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {}

    fn on_recovery_metrics(&mut self, (): &mut (), _: &ConnectionMeta, event: &events::RecoveryMetrics) {
        self.update(|recovery| {
            recovery.cwnd = Some(event.congestion_window.into());
            recovery.in_flight = Some(event.bytes_in_flight.into());
            recovery.srtt = Some(Duration::ns(event.smoothed_rtt.as_nanos() as u64));
        });
    }

    fn on_packet_lost(&mut self, (): &mut (), _: &ConnectionMeta, event: &events::PacketLost) {
        self.update(|recovery| recovery.lost_packets += u64::from(!event.is_mtu_probe));
    }
}

/// An endpoint, whatever its providers are.
trait Driven {
    fn receive(&mut self, arrived: &mut Arrived, now: Timestamp);
    fn transmit(&mut self, leaving: &mut Leaving, now: Timestamp);
    fn poll_wakeups(&mut self, context: &mut Context<'_>, now: Timestamp) -> Poll<Result<usize, CloseError>>;
    fn timeout(&self) -> Option<Timestamp>;
}

impl<E: Stack<PathHandle = Tuple>> Driven for E {
    fn receive(&mut self, arrived: &mut Arrived, now: Timestamp) {
        Stack::receive(self, arrived, &now);
    }

    fn transmit(&mut self, leaving: &mut Leaving, now: Timestamp) {
        Stack::transmit(self, leaving, &now);
    }

    fn poll_wakeups(&mut self, context: &mut Context<'_>, now: Timestamp) -> Poll<Result<usize, CloseError>> {
        Stack::poll_wakeups(self, context, &now)
    }

    fn timeout(&self) -> Option<Timestamp> {
        Stack::timeout(self)
    }
}

/// The provider of input and output: keeps the endpoint for its caller.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<Box<dyn Driven + Send>>>>);

impl io::Provider for Kept {
    type PathHandle = Tuple;
    type Error = path::MtuError;

    fn start<E: Stack<PathHandle = Tuple>>(self, mut endpoint: E) -> Result<SocketAddress, path::MtuError> {
        endpoint.set_mtu_config(path::Config::builder().with_max_mtu(PAYLOAD as u16 + HEADERS)?.build()?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(endpoint));
        Ok(peer().into())
    }
}

/// The path of all datagrams.
fn tuple() -> Tuple {
    let mut tuple = Tuple::from_remote_address(SocketAddress::from(peer()).into());
    tuple.set_local_address(SocketAddress::from(peer()).into());
    tuple
}

/// One datagram that has arrived.
struct Arrived(Option<(Codepoint, Vec<u8>)>);

impl rx::Queue for Arrived {
    type Handle = Tuple;

    fn for_each<F: FnMut(Header<Tuple>, &mut [u8])>(&mut self, mut take: F) {
        if let Some((ecn, mut payload)) = self.0.take() {
            take(Header { path: tuple(), ecn }, &mut payload);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Datagrams that it has written.
#[derive(Default)]
struct Leaving(VecDeque<(Codepoint, Vec<u8>)>);

impl tx::Queue for Leaving {
    type Handle = Tuple;

    const SUPPORTS_ECN: bool = true;

    fn push<M: tx::Message<Handle = Tuple>>(&mut self, mut message: M) -> Result<tx::Outcome, tx::Error> {
        if self.0.len() >= AT_ONCE {
            return Err(tx::Error::AtCapacity);
        }
        let ecn = message.ecn();
        let mut payload = vec![0; PAYLOAD];
        let len = message.write_payload(tx::PayloadBuffer::new(&mut payload), 0)?;
        payload.truncate(len);
        self.0.push_back((ecn, payload));
        Ok(tx::Outcome { len, index: self.0.len() - 1 })
    }

    fn capacity(&self) -> usize {
        AT_ONCE - self.0.len()
    }
}

enum Side {
    Server(Server),
    Client(Client, Option<ConnectionAttempt>),
}

pub struct End {
    endpoint: Box<dyn Driven + Send>,
    side: Side,
    connection: Option<s2n_quic::Connection>,
    streams: BTreeMap<u64, BidirectionalStream>,
    leaving: Leaving,
    metrics: Metrics,
}

/// Converts a time to one of s2n-quic, whose times are multiples of a microsecond, none of them
/// zero.
fn timestamp(now: Instant) -> Timestamp {
    let since = std::time::Duration::from_nanos(now.as_nanos());
    // SAFETY: this is the source of its time.
    unsafe { Timestamp::from_duration(since + std::time::Duration::from_micros(1)) }
}

impl Connection for (&mut s2n_quic::Connection, &mut BTreeMap<u64, BidirectionalStream>) {
    type Stream = u64;

    fn open(&mut self) -> Option<u64> {
        match self.0.poll_open_bidirectional_stream(&mut context()) {
            Poll::Ready(Ok(stream)) => {
                let id = stream.id();
                self.1.insert(id, stream);
                Some(id)
            }
            Poll::Ready(Err(error)) => panic!("the connection was lost: {error}"),
            Poll::Pending => None,
        }
    }

    fn read(&mut self, stream: u64, take: &mut dyn FnMut(&[u8])) -> bool {
        let Some(open) = self.1.get_mut(&stream) else { return true };
        loop {
            match open.poll_receive(&mut context()) {
                Poll::Ready(Ok(Some(bytes))) => take(&bytes),
                Poll::Ready(Ok(None)) => return true,
                Poll::Ready(Err(error)) => panic!("the connection was lost: {error}"),
                Poll::Pending => return false,
            }
        }
    }

    fn write(&mut self, stream: u64, mut bytes: Bytes) -> usize {
        let Some(open) = self.1.get_mut(&stream) else { return 0 };
        let room = match open.poll_send_ready(&mut context()) {
            Poll::Ready(Ok(room)) => room,
            Poll::Ready(Err(error)) => panic!("the connection was lost: {error}"),
            Poll::Pending => 0,
        };
        bytes.truncate(room);
        let len = bytes.len();
        if len > 0 && open.send_data(bytes).is_err() {
            return 0;
        }
        len
    }

    fn finish(&mut self, stream: u64) {
        if let Some(open) = self.1.get_mut(&stream) {
            let _ = open.finish();
        }
    }
}

/// Nobody sleeps: after each call all applications run.
fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

impl End {
    fn new(kept: &Kept, side: Side, metrics: Metrics) -> Result<Self, Box<dyn Error>> {
        let endpoint = kept.0.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or("s2n-quic has started no endpoint")?;
        Ok(Self { endpoint, side, connection: None, streams: BTreeMap::new(), leaving: Leaving::default(), metrics })
    }

    fn connect(&mut self) -> Option<s2n_quic::Connection> {
        let connected = match &mut self.side {
            Side::Server(server) => return if let Poll::Ready(new) = server.poll_accept(&mut context()) { new } else { None },
            Side::Client(client, attempt) => {
                let connect = || client.connect(Connect::new(peer()).with_server_name("server"));
                Pin::new(attempt.get_or_insert_with(connect)).poll(&mut context())
            }
        };
        match connected {
            Poll::Ready(Ok(connection)) => Some(connection),
            Poll::Ready(Err(error)) => panic!("cannot connect: {error}"),
            Poll::Pending => None,
        }
    }
}

impl Transport for End {
    type Stream = u64;

    fn receive(&mut self, now: Instant, datagram: Datagram<'_>) {
        let ecn = match datagram.ecn {
            Ecn::NotEct => Codepoint::NotEct,
            Ecn::Ect0 => Codepoint::Ect0,
            Ecn::Ect1 => Codepoint::Ect1,
            Ecn::Ce => Codepoint::Ce,
        };
        self.endpoint.receive(&mut Arrived(Some((ecn, datagram.payload.to_vec()))), timestamp(now));
    }

    fn run(&mut self, now: Instant, application: &mut Application<u64>) {
        loop {
            if self.connection.is_none() {
                self.connection = self.connect();
            }
            if let Some(connection) = &mut self.connection {
                while let Poll::Ready(Ok(Some(stream))) = connection.poll_accept_bidirectional_stream(&mut context()) {
                    application.opened(stream.id());
                    self.streams.insert(stream.id(), stream);
                }
                application.run(now, &mut (connection, &mut self.streams));
            }
            match self.endpoint.poll_wakeups(&mut context(), timestamp(now)) {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => panic!("the endpoint was closed: {error:?}"),
                Poll::Pending => break,
            }
        }
    }

    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>, application: &mut Application<u64>) -> Option<Transmit> {
        if self.leaving.0.is_empty() {
            self.run(now, application);
            self.endpoint.transmit(&mut self.leaving, timestamp(now));
        }
        let (ecn, payload) = self.leaving.0.pop_front()?;
        *buffer = payload;
        let ecn = match ecn {
            Codepoint::NotEct => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
            Codepoint::Ce => Ecn::Ce,
        };
        Some(Transmit { ecn, ..Transmit::NOW })
    }

    fn timeout(&mut self) -> Option<Instant> {
        // SAFETY: this is the source of its time.
        let at = unsafe { self.endpoint.timeout()?.as_duration() };
        Some(Instant::from_nanos(at.as_nanos() as u64))
    }

    fn expire(&mut self, now: Instant) {
        // Timers are looked at when it transmits.
        self.endpoint.transmit(&mut self.leaving, timestamp(now));
    }

    fn recovery(&mut self) -> Recovery {
        *self.metrics.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
