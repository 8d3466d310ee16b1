//! quiche, by Cloudflare: sans-I/O, but reads clock and random bytes of the machine by itself,
//! which `machine` provides.

use crate::host::Transport;
use crate::keys::Keys;
use crate::machine::{Place, next};
use crate::work::{Application, Connection, Flow};
use crate::{PAYLOAD, WINDOW, peer};
use boring::pkey::PKey;
use boring::ssl::{SslContext, SslContextBuilder, SslMethod, SslSignatureAlgorithm};
use boring::x509::X509;
use bytes::Bytes;
use goodqueue_net::{Datagram, Duration, Instant, Recovery, Transmit};
use quiche::{Config, ConnectionId, PathStats, RecvInfo};
use std::error::Error;

/// Congestion controls.
pub const CONTROLS: &[&str] = &["cubic", "reno", "bbr2"];
/// Bytes of a connection's name.
const NAME: usize = 16;
/// Streams that a client may open.
const STREAMS: u64 = 1 << 20;

/// A server and a client.
pub fn ends(keys: &Keys, flow: Flow, control: &str) -> Result<[End; 2], Box<dyn Error>> {
    let mut server = SslContext::builder(SslMethod::tls())?;
    server.set_certificate(X509::from_der(&keys.certificate)?.as_ref())?;
    server.set_private_key(PKey::private_key_from_der(&keys.plain_key().ok_or("the key is none of Ed25519")?)?.as_ref())?;
    let mut client = SslContext::builder(SslMethod::tls())?;
    client.cert_store_mut().add_cert(&X509::from_der(&keys.certificate)?)?;
    client.set_verify_algorithm_prefs(&[SslSignatureAlgorithm::ED25519])?;
    let mut seed = flow.seed;
    let mut end = |tls, is_client| -> Result<End, Box<dyn Error>> {
        let mut config = config(tls, control)?;
        config.verify_peer(is_client);
        let mut place = Place::new(next(&mut seed));
        let epoch = place.epoch();
        Ok(End { place, epoch, config, connection: None, streams: 0, is_client })
    };
    Ok([end(server, false)?, end(client, true)?])
}

fn config(tls: SslContextBuilder, control: &str) -> Result<Config, quiche::Error> {
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    config.set_application_protos(&[b"test"])?;
    config.set_cc_algorithm_name(control)?;
    config.set_max_recv_udp_payload_size(PAYLOAD);
    config.set_max_send_udp_payload_size(PAYLOAD);
    config.discover_pmtu(true);
    let window = u64::from(WINDOW);
    config.set_initial_max_data(window);
    config.set_initial_max_stream_data_bidi_local(window);
    config.set_initial_max_stream_data_bidi_remote(window);
    config.set_max_connection_window(window);
    config.set_max_stream_window(window);
    config.set_initial_max_streams_bidi(STREAMS);
    Ok(config)
}

pub struct End {
    place: Place,
    epoch: std::time::Instant,
    config: Config,
    connection: Option<quiche::Connection>,
    /// Streams opened here.
    streams: u64,
    is_client: bool,
}

impl Connection for (&mut quiche::Connection, &mut u64) {
    type Stream = u64;

    fn open(&mut self) -> Option<u64> {
        if !self.0.is_established() || self.0.peer_streams_left_bidi() == 0 {
            return None;
        }
        // Those of clients in both directions are multiples of four.
        let stream = *self.1 * 4;
        *self.1 += 1;
        Some(stream)
    }

    fn read(&mut self, stream: u64, take: &mut dyn FnMut(&[u8])) -> bool {
        let mut buffer = [0; 1 << 14];
        while let Ok((got, ended)) = self.0.stream_recv(stream, &mut buffer) {
            take(&buffer[..got]);
            if ended {
                return true;
            }
        }
        false
    }

    fn write(&mut self, stream: u64, bytes: Bytes) -> usize {
        self.0.stream_send(stream, &bytes, false).unwrap_or(0)
    }

    fn finish(&mut self, stream: u64) {
        let _ = self.0.stream_send(stream, &[], true);
    }
}

impl End {
    /// The next datagram of the connection.
    fn send(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let connection = self.connection.as_mut()?;
        buffer.resize(PAYLOAD, 0);
        let (len, info) = self.place.within(now, || connection.send(buffer)).ok()?;
        buffer.truncate(len);
        let at = Instant::from_nanos(info.at.saturating_duration_since(self.epoch).as_nanos() as u64);
        Some(Transmit { at: Some(at.max(now)), ..Transmit::NOW })
    }

    fn path(&self) -> Option<PathStats> {
        self.connection.as_ref()?.path_stats().next()
    }

    fn connect(&mut self, now: Instant) {
        let mut name = [0; NAME];
        let (place, config) = (&mut self.place, &mut self.config);
        let opened = place.within(now, || {
            boring::rand::rand_bytes(&mut name).expect("never fails");
            quiche::connect(Some("server"), &ConnectionId::from_ref(&name), peer(), peer(), config)
        });
        self.connection = Some(opened.unwrap_or_else(|error| panic!("cannot connect: {error}")));
    }
}

impl Transport for End {
    type Stream = u64;

    fn receive(&mut self, now: Instant, datagram: Datagram<'_>) {
        let mut payload = datagram.payload.to_vec();
        if self.connection.is_none() {
            // As its example of a server does: what begins no connection is ignored.
            let header = quiche::Header::from_slice(&mut payload, NAME);
            if !header.is_ok_and(|header| header.ty == quiche::Type::Initial && quiche::version_is_supported(header.version)) {
                return;
            }
            let mut name = [0; NAME];
            let (place, config) = (&mut self.place, &mut self.config);
            let accepted = place.within(now, || {
                boring::rand::rand_bytes(&mut name).expect("never fails");
                quiche::accept(&ConnectionId::from_ref(&name), None, peer(), peer(), config)
            });
            self.connection = Some(accepted.unwrap_or_else(|error| panic!("cannot accept: {error}")));
        }
        if let Some(connection) = &mut self.connection {
            // A datagram that it cannot use is lost, as on any way.
            let _ = self.place.within(now, || connection.recv(&mut payload, RecvInfo { from: peer(), to: peer() }));
        }
    }

    fn run(&mut self, now: Instant, application: &mut Application<u64>) {
        let Some(connection) = &mut self.connection else { return };
        let streams = &mut self.streams;
        self.place.within(now, || {
            for stream in connection.readable() {
                application.opened(stream);
            }
            application.run(now, &mut (&mut *connection, streams));
        });
        if connection.is_closed() {
            let error = connection.local_error().or(connection.peer_error());
            let timed_out = connection.is_timed_out();
            panic!("the connection was lost: {}", error.map_or(format!("timed out: {timed_out}"), |error| format!("{error:?}")));
        }
    }

    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>, application: &mut Application<u64>) -> Option<Transmit> {
        if self.is_client && self.connection.is_none() {
            self.connect(now);
        }
        if let Some(transmit) = self.send(now, buffer) {
            return Some(transmit);
        }
        // Data that has left makes room for more.
        self.run(now, application);
        self.send(now, buffer)
    }

    fn timeout(&mut self) -> Option<Instant> {
        let real = self.connection.as_ref()?.timeout_instant()?;
        Some(Instant::from_nanos(real.saturating_duration_since(self.epoch).as_nanos() as u64))
    }

    fn expire(&mut self, now: Instant) {
        if let Some(connection) = &mut self.connection {
            self.place.within(now, || connection.on_timeout());
        }
    }

    fn recovery(&mut self) -> Recovery {
        let Some(path) = self.path() else { return Recovery::default() };
        let established = self.connection.as_ref().is_some_and(quiche::Connection::is_established);
        Recovery {
            cwnd: Some(path.cwnd as u64),
            in_flight: None,
            srtt: established.then(|| Duration::ns(path.rtt.as_nanos() as u64)),
            lost_packets: path.lost as u64,
        }
    }
}
