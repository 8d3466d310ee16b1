//! Worlds whose TCP hosts are outside: another program injects their packets and takes out those
//! that arrive.
//!
//! Links, queues, delays and UDP sources are those of every world. The driver asks for the time of
//! the next event, lets it happen, and injects packets in between: both sides share one clock.
//! Either all TCP hosts are outside, and the world sees their segments, or those of some groups of
//! flows are, which exchange [datagrams](OutsideDatagram) that the world cannot look into.

mod carried;
mod datagrams;
mod transfers;

use super::error::WorldError;
use super::outside_flow::{Fate, OutsideFlow};
use super::path::FlowEnd;
use super::state::{Continue, Progress, World};
use super::{build, measure};
use crate::ids::{FlowId, Ticket};
use crate::outcome::Outcome;
use crate::packet::{DsField, FlowLabel, SimPacket};
use crate::spec::{SessionSpec, WorldSpec};
use goodqueue_base::units::{Ecn, Instant};
use goodqueue_tcp::Segment;
use transfers::Unfolded;

pub use carried::{CarriedTransfer, carried_outcomes, planned_transfers};
pub use datagrams::{OutsideDatagram, Reported};

/// A packet of a host outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsidePacket {
    /// The flow of the specification to which it belongs.
    pub flow: u32,
    /// The packet's content, with [`ACK`](goodqueue_tcp::Flags::ACK) exactly if it travels from
    /// sink to source. Data counts from zero, without the handshake.
    pub segment: Segment,
    /// IP length in bytes.
    pub ip_len: u16,
    /// The packet's ECN codepoint.
    pub ecn: Ecn,
    /// The owner's number for the packet.
    pub ticket: Ticket,
}

/// A world whose TCP hosts are outside.
pub struct OutsideWorld {
    world: World,
    unfolded: Unfolded,
}

impl OutsideWorld {
    /// Builds the world of a specification. The ends of its TCP flows are outside, and so are the
    /// settings of their senders and receivers. Each transfer of a session is a flow of its own
    /// here, see [`Self::spec`].
    ///
    /// # Errors
    /// When a link, queue or route cannot be built, or a session waits for answers.
    pub fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        let unfolded = Unfolded::new(spec)?;
        let (mut world, _) = build::world(&unfolded.spec, build::TcpEnds::Outside)?;
        world.net.recorder.lost = Some(Vec::new());
        Ok(Self { world, unfolded })
    }

    /// Whether the ends of this session can be outside. Those of sessions that wait for answers
    /// cannot.
    #[must_use]
    pub const fn takes(session: &SessionSpec) -> bool {
        transfers::is_open_loop(session)
    }

    /// The specification with every transfer of a session as a flow with a start and a size.
    /// Packets use the numbers of these flows; figures at the end use those of the given
    /// specification.
    #[must_use]
    pub fn spec(&self) -> &WorldSpec {
        &self.unfolded.spec
    }

    /// The flow of the given specification, for each flow of [`Self::spec`].
    #[must_use]
    pub fn origins(&self) -> Vec<u32> {
        self.unfolded.origins()
    }

    /// Whether this flow of [`Self::spec`] is a transfer of a session.
    #[must_use]
    pub fn is_transfer(&self, flow: u32) -> bool {
        self.unfolded.is_transfer(flow)
    }

    /// Time of the next event; [`Instant::MAX`] for never.
    #[must_use]
    pub fn next(&self) -> Instant {
        self.world.net.path.agenda.next().0
    }

    /// Simulated time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.world.clock.now
    }

    /// Simulated time at the end.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.world.clock.end
    }

    /// Handles the next event. Returns false when there is none by the end.
    pub fn step(&mut self) -> bool {
        self.world.event(self.world.net.path.agenda.until(self.world.clock.end))
    }

    /// Injects a packet at `now`, which is neither before the last event nor after the next one.
    pub fn put(&mut self, now: Instant, packet: OutsidePacket) {
        let OutsidePacket { flow, segment, ip_len, ecn, ticket } = packet;
        self.inject(now, flow, (ip_len, ecn, ticket), |ends| {
            ends.take(now, &segment);
            segment
        });
    }

    /// Puts a packet of a host outside on the first hop of its way, at `now`.
    fn inject(
        &mut self,
        now: Instant,
        flow: u32,
        (ip_len, ecn, ticket): (u16, Ecn, Ticket),
        segment: impl FnOnce(&mut OutsideFlow) -> Segment,
    ) {
        let world = &mut self.world;
        debug_assert!(now >= world.clock.now && now <= world.net.path.agenda.next().0, "between the last event and the next");
        world.clock.now = now;
        let flow = FlowId::new(flow);
        let Some(route) = world.net.routes.get(flow) else {
            debug_assert!(false, "a flow of the specification");
            return;
        };
        let FlowEnd::Outside(outside) = route.end else {
            debug_assert!(false, "a flow with ends outside");
            return;
        };
        world.net.entered += 1;
        let segment = SimPacket::ticketed(segment(&mut world.ends.outside[outside]), ticket);
        let (flow, ds) = (FlowLabel::new(flow, route.mark), DsField::new(route.class, ecn));
        world.enter_or_deliver(&SimPacket { segment, flow, ip_len, ds, hop: 0 });
    }

    /// Appends the fates of packets since the last call.
    pub fn fates(&mut self, out: &mut Vec<Fate>) {
        out.append(&mut self.world.ends.arrived);
        if let Some(lost) = &mut self.world.net.recorder.lost {
            out.extend(lost.drain(..).map(|ticket| Fate::Lost { ticket }));
        }
    }

    /// The progress of the run.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.world.clock.progress()
    }

    /// The figures. Those of a world that has not reached its end cover the time simulated so far.
    #[must_use]
    pub fn finish(self, wants: Continue) -> Outcome {
        let mut world = self.world;
        let complete = wants == Continue::Yes;
        if !complete {
            world.clock.end = world.clock.now;
        }
        world.clock.now = world.clock.end;
        self.unfolded.count(&mut world);
        self.unfolded.fold(measure::outcome(world, complete))
    }
}

#[cfg(test)]
mod tests;
