//! noq-proto, by the n0 team: of the same family as quinn-proto, with BBR version 3.

use crate::machine::Place;
use noq_proto as proto;
use proto::congestion::{Bbr3Config, Controller, ControllerFactory};
use std::num::NonZeroUsize;

include!("family.rs");

/// Congestion controls.
pub const CONTROLS: &[&str] = &["cubic", "reno", "bbr3"];

/// Factory of noq's third BBR, which draws the seed of its generator from that of the thread, which
/// has none by itself.
struct SeededBbr3(u64);

impl ControllerFactory for SeededBbr3 {
    fn build(self: Arc<Self>, now: std::time::Instant, mtu: u16) -> Box<dyn Controller> {
        // A thread's first use seeds it, too.
        let mut generator = rand::rng();
        Place::new(self.0).within(Instant::ZERO, || {
            generator.reseed().expect("the generator of this program does not fail");
            Arc::new(Bbr3Config::default()).build(now, mtu)
        })
    }
}

fn set_control(transport: &mut TransportConfig, control: &str, seed: u64) {
    match control {
        "reno" => transport.congestion_controller_factory(Arc::new(proto::congestion::NewRenoConfig::default())),
        "bbr3" => transport.congestion_controller_factory(Arc::new(SeededBbr3(seed))),
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
