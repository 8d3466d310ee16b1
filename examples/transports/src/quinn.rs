//! quinn-proto, by the Quinn project: sans-I/O, time is an argument of every call, randomness of a
//! seed.

use quinn_proto as proto;
use std::num::NonZeroUsize;

include!("family.rs");

/// Congestion controls.
pub const CONTROLS: &[&str] = &["cubic", "reno", "bbr"];

fn set_control(transport: &mut TransportConfig, control: &str, _: u64) {
    match control {
        "reno" => transport.congestion_controller_factory(Arc::new(proto::congestion::NewRenoConfig::default())),
        "bbr" => transport.congestion_controller_factory(Arc::new(proto::congestion::BbrConfig::default())),
        _ => transport.congestion_controller_factory(Arc::new(proto::congestion::CubicConfig::default())),
    };
}

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> proto::Endpoint {
    proto::Endpoint::new(Arc::new(config), server, true, None)
}

fn receive(
    endpoint: &mut proto::Endpoint,
    now: std::time::Instant,
    ecn: Option<EcnCodepoint>,
    payload: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, peer(), None, ecn, payload, answer)
}

fn transmit(
    connection: &mut Connection,
    now: std::time::Instant,
    segments: NonZeroUsize,
    buffer: &mut Vec<u8>,
) -> Option<proto::Transmit> {
    connection.poll_transmit(now, segments.get(), buffer)
}

/// Window, round-trip time, packets lost.
fn path(connection: &mut Connection) -> (u64, std::time::Duration, u64) {
    let path = connection.stats().path;
    (path.cwnd, path.rtt, path.lost_packets)
}
