//! Worlds whose TCP hosts are outside: another program injects their packets and takes out those
//! that arrive.
//!
//! Links, queues, delays and UDP sources are those of every world. The driver asks for the time of
//! the next event, lets it happen, and injects packets in between: both sides share one clock.
//! Either all TCP hosts are outside, and the world sees their segments, or those of some groups of
//! flows are, which exchange [datagrams](OutsideDatagram) that the world cannot look into.

mod datagrams;
mod transfers;

use self::transfers::Unfolded;
use super::path::Host;
use super::{Continue, Progress, World, WorldError, build, measure};
use crate::ids::{FlowId, OutsideId, Ticket};
use crate::losses::Numbering;
use crate::outcome::Outcome;
use crate::packet::{DsField, FlowLabel, SimPacket};
use crate::spec::{SessionSpec, WorldSpec};
use goodqueue_aqm::Packet;
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::{Flags, Segment};
use std::collections::VecDeque;

/// A packet of a host outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsidePacket {
    /// The flow of the specification to which it belongs.
    pub flow: u32,
    /// The packet's content, with [`Flags::ACK`] exactly if it travels from sink to source. Data
    /// counts from zero, without the handshake.
    pub segment: Segment,
    /// IP length in bytes.
    pub ip_len: u16,
    /// The packet's ECN codepoint.
    pub ecn: Ecn,
    /// The owner's number for the packet.
    pub ticket: Ticket,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet has reached the other end, with this codepoint.
    Arrived {
        /// The packet.
        ticket: Ticket,
        /// Whether it travels from sink to source.
        is_reverse: bool,
        /// The packet's codepoint on arrival.
        ecn: Ecn,
    },
    /// A queue has dropped it, or a wire lost it.
    Lost {
        /// The packet.
        ticket: Ticket,
    },
}

/// Data under way, from which a flow's round-trip times are taken.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    sent_at: Instant,
    /// Sent more than once: an acknowledgement does not tell which copy it is for.
    ambiguous: bool,
}

pub use datagrams::{OutsideDatagram, Reported};

/// The network's knowledge of the packets of a flow whose ends are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// TCP segments, of which it takes goodput, round-trip times and retransmissions.
    Segments,
    /// Datagrams, of which it knows the size only.
    Datagrams,
}

impl Content {
    pub(super) const fn numbering(self) -> Numbering {
        match self {
            Self::Segments => Numbering::Bytes,
            Self::Datagrams => Numbering::Packets,
        }
    }
}

/// The network's view of one flow.
#[derive(Clone, Debug)]
pub(super) struct OutsideFlow {
    content: Content,
    /// One above the last byte sent.
    highest: u64,
    /// Bytes that the sink has acknowledged.
    pub(super) delivered_bytes: u64,
    pub(super) sent: u64,
    pub(super) retransmitted: u64,
    /// Size of a limited transfer.
    size: Option<u64>,
    under_way: VecDeque<Timed>,
    /// Numbers of datagrams, by direction.
    datagrams: [u64; 2],
    /// Whether its owner reports the bytes it has delivered, so that bytes of datagrams do not
    /// count.
    is_reported: bool,
}

impl OutsideFlow {
    pub(super) const fn new(content: Content, size: Option<u64>) -> Self {
        Self {
            content,
            highest: 0,
            delivered_bytes: 0,
            sent: 0,
            retransmitted: 0,
            size,
            under_way: VecDeque::new(),
            datagrams: [0; 2],
            is_reported: false,
        }
    }

    fn sent_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.data_len() == 0 {
            return;
        }
        let end = segment.number + u64::from(segment.payload);
        self.sent += 1;
        if segment.number >= self.highest {
            self.under_way.push_back(Timed { end, sent_at: now, ambiguous: false });
            self.highest = end;
            return;
        }
        self.retransmitted += 1;
        self.highest = self.highest.max(end);
        let again = self.under_way.partition_point(|data| data.end <= segment.number);
        self.under_way.range_mut(again..).take_while(|data| data.end <= end).for_each(|data| data.ambiguous = true);
    }

    /// Everything below `number` has been acknowledged. Returns the round-trip time that the sender
    /// can measure.
    fn acknowledged(&mut self, now: Instant, number: u64) -> Option<Duration> {
        let mut last = None;
        while let Some(data) = self.under_way.front().filter(|data| data.end <= number) {
            last = Some(*data);
            self.under_way.pop_front();
        }
        last.filter(|data| !data.ambiguous).map(|data| now.since(data.sent_at))
    }
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
        self.world.net.agenda.next().0
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
        self.world.event(self.world.net.agenda.until(self.world.clock.end))
    }

    /// Injects a packet at `now`, which is neither before the last event nor after the next one.
    pub fn put(&mut self, now: Instant, packet: OutsidePacket) {
        let world = &mut self.world;
        debug_assert!(now >= world.clock.now && now <= world.net.agenda.next().0, "between the last event and the next");
        world.clock.now = now;
        world.inject_outside(packet);
    }

    /// Appends the fates of packets since the last call.
    pub fn fates(&mut self, out: &mut Vec<Fate>) {
        out.append(&mut self.world.hosts.arrived);
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

impl World {
    /// Puts a packet of a host outside on the first hop of its way.
    fn inject_outside(&mut self, packet: OutsidePacket) {
        let OutsidePacket { flow, segment, ip_len, ecn, ticket } = packet;
        let flow = FlowId::new(flow);
        let Some(route) = self.net.routes.get(flow) else {
            debug_assert!(false, "a flow of the specification");
            return;
        };
        let Host::Outside(outside) = route.host else {
            debug_assert!(false, "a flow with ends outside");
            return;
        };
        let ends = &mut self.hosts.outside[outside];
        if segment.flags.has(Flags::ACK) {
            ends.delivered_bytes = ends.delivered_bytes.max(segment.number.min(ends.highest));
        } else {
            ends.sent_segment(self.clock.now, &segment);
        }
        self.net.entered += 1;
        let segment = SimPacket::ticketed(segment, ticket);
        let (flow, ds) = (FlowLabel::new(flow, route.mark), DsField::new(route.class, ecn));
        self.enter_or_deliver(&SimPacket { segment, flow, ip_len, ds, hop: 0 });
    }

    /// A packet has reached an end that is outside.
    #[cold]
    pub(super) fn deliver_outside(&mut self, outside: OutsideId, packet: &SimPacket) {
        let flow = packet.flow.id();
        if self.hosts.outside[outside].content == Content::Datagrams {
            self.count_datagram(outside, packet);
        } else if packet.is_reverse() {
            let number = packet.segment.number;
            let ends = &mut self.hosts.outside[outside];
            let complete = ends.size.is_some_and(|size| number >= size);
            let facts = &mut self.hosts.flows[flow];
            if let Some(rtt) = ends.acknowledged(self.clock.now, number)
                && self.figures.measuring
            {
                self.figures.group_rtt[facts.group].add(rtt);
            }
            if complete && facts.completed_at.is_none() {
                facts.completed_at = Some(self.clock.now);
                self.set_flow_active(flow, false);
            }
        }
        if let Some(ticket) = packet.ticket() {
            self.hosts.arrived.push(Fate::Arrived { ticket, is_reverse: packet.is_reverse(), ecn: packet.ecn() });
        }
    }
}

#[cfg(test)]
mod tests;
