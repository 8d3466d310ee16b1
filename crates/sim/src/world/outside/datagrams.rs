//! Flows whose ends outside exchange datagrams, alongside flows whose ends are simulated.

use super::OutsideWorld;
use super::transfers::Unfolded;
use crate::ids::{FlowId, Ticket};
use crate::spec::{SourceSpec, WorldSpec};
use crate::world::build;
use crate::world::error::{WorldError, WorldFault, fault};
use crate::world::path::FlowEnd;
use goodqueue_base::units::{Duration, Ecn, Instant};

/// A datagram of a host outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsideDatagram {
    /// The flow of the specification to which it belongs.
    pub flow: u32,
    /// Whether it travels from sink to source.
    pub is_reverse: bool,
    /// IP length in bytes.
    pub ip_len: u16,
    /// The datagram's ECN codepoint.
    pub ecn: Ecn,
    /// The owner's number for the datagram.
    pub ticket: Ticket,
}

/// The report of a flow's ends so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Payload that the sink has delivered to its application, each byte once; `None` counts the IP
    /// lengths of the datagrams that arrive there.
    pub delivered_bytes: Option<u64>,
    /// Packets sent for data that had been sent before.
    pub retransmitted_packets: u64,
    /// Whether the flow has done all it had to do.
    pub is_complete: bool,
}

impl OutsideWorld {
    /// Builds the world of a specification in which the ends of TCP flows of these groups are
    /// outside and exchange datagrams; all other hosts are simulated.
    ///
    /// # Errors
    /// When a link, queue, route or simulated sender cannot be built, or a flow of these groups is
    /// no plain TCP flow.
    pub fn with_datagrams(spec: &WorldSpec, groups: &[u32]) -> Result<Self, WorldError> {
        for flow in spec.flows.iter().filter(|flow| groups.contains(&flow.group)) {
            if !matches!(flow.source, SourceSpec::Tcp { .. }) {
                return fault(spec.name_of(flow), WorldFault::NotPlainOutside);
            }
        }
        let (mut world, _) = build::world(spec, build::TcpEnds::Foreign(groups.to_vec()))?;
        world.net.recorder.lost = Some(Vec::new());
        Ok(Self { world, unfolded: Unfolded::identity(spec) })
    }

    /// Injects a datagram at `now`, which is neither before the last event nor after the next one.
    pub fn put_datagram(&mut self, now: Instant, datagram: OutsideDatagram) {
        let OutsideDatagram { flow, is_reverse, ip_len, ecn, ticket } = datagram;
        self.inject(now, flow, (ip_len, ecn, ticket), |ends| ends.datagram(now, is_reverse));
    }

    /// Takes what the ends of a flow say, at `now`: goodput and completion follow from it.
    pub fn report(&mut self, now: Instant, flow: u32, reported: Reported) {
        let world = &mut self.world;
        let flow = FlowId::new(flow);
        let Some(FlowEnd::Outside(outside)) = world.net.routes.get(flow).map(|route| route.end) else { return };
        let ends = &mut world.ends.outside[outside];
        if let Some(bytes) = reported.delivered_bytes {
            ends.is_reported = true;
            ends.delivered_bytes = ends.delivered_bytes.max(bytes);
        }
        ends.retransmitted = ends.retransmitted.max(reported.retransmitted_packets);
        if reported.is_complete && world.ends.flows[flow].completed_at.is_none() {
            world.ends.flows[flow].completed_at = Some(now);
            world.set_flow_active(flow, false);
        }
    }

    /// Adds a round-trip time that the source of a flow has measured.
    pub fn report_rtt(&mut self, flow: u32, rtt: Duration) {
        let world = &mut self.world;
        if world.figures.measuring
            && let Some(route) = world.net.routes.get(FlowId::new(flow))
        {
            world.figures.group_rtt[route.group].add(rtt);
        }
    }

    /// The log of packet events since the last call; empty unless the specification asks for one.
    pub fn take_packets(&mut self) -> Vec<crate::trace::PacketEvent> {
        self.world.take_packets()
    }
}
