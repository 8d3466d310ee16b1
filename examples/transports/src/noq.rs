//! noq-proto, by the n0 team: of the same family as quinn-proto, with BBR version 3.

use noq_proto as proto;
use std::num::NonZeroUsize;

include!("family.rs");

/// Congestion controls.
pub const CONTROLS: &[&str] = &["cubic", "reno", "bbr3"];

fn set_control(transport: &mut TransportConfig, control: &str) {
    match control {
        "reno" => transport.congestion_controller_factory(Arc::new(proto::congestion::NewRenoConfig::default())),
        "bbr3" => transport.congestion_controller_factory(Arc::new(proto::congestion::Bbr3Config::default())),
        _ => transport.congestion_controller_factory(Arc::new(proto::congestion::CubicConfig::default())),
    };
}

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> proto::Endpoint {
    proto::Endpoint::new(Arc::new(config), server, true)
}

fn receive(
    endpoint: &mut proto::Endpoint,
    now: std::time::Instant,
    ecn: Option<EcnCodepoint>,
    payload: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, peer().into(), ecn, payload, answer)
}

fn transmit(
    connection: &mut Connection,
    now: std::time::Instant,
    segments: NonZeroUsize,
    buffer: &mut Vec<u8>,
) -> Option<proto::Transmit> {
    connection.poll_transmit(now, segments, buffer)
}

/// Window, round-trip time, packets lost.
fn path(connection: &mut Connection) -> (u64, std::time::Duration, u64) {
    let path = connection.path_stats(proto::PathId::ZERO).unwrap_or_default();
    (path.cwnd, path.rtt, path.lost_packets)
}
