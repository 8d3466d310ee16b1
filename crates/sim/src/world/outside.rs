//! Worlds whose TCP hosts are outside: another program puts their packets in and takes out what arrives.
//!
//! Links, queues, delays and UDP sources are those of every world. Whoever drives it asks when something happens next, lets it happen,
//! and puts packets in between: time is one for both sides.

mod transfers;

use self::transfers::Unfolded;
use super::{Continue, HostKind, Progress, World, WorldError, build, measure};
use crate::agenda::Until;
use crate::outcome::Outcome;
use crate::packet::{DsField, FlowId, SimPacket};
use crate::spec::{SessionSpec, WorldSpec};
use goodqueue_aqm::Packet;
use goodqueue_tcp::{Flags, Segment};
use goodqueue_units::{Duration, Ecn, Instant};
use std::collections::VecDeque;

/// What its owner knows a packet by. Numbers from one up; its owner gives each to one packet at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub std::num::NonZeroU32);

/// A packet of a host outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsidePacket {
    /// The flow of the specification it belongs to.
    pub flow: u32,
    /// What it says; [`Flags::ACK`] exactly if it travels from sink to source. Data counts from zero, the handshake not included.
    pub segment: Segment,
    /// IP length in bytes.
    pub ip_len: u16,
    /// Its codepoint.
    pub ecn: Ecn,
    /// What its owner knows it by.
    pub ticket: Ticket,
}

/// What has become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has reached the other end, with this codepoint.
    Arrived {
        /// Which one.
        ticket: Ticket,
        /// Travels from sink to source?
        is_reverse: bool,
        /// Its codepoint now.
        ecn: Ecn,
    },
    /// A queue has dropped it, or a wire lost it.
    Lost {
        /// Which one.
        ticket: Ticket,
    },
}

/// Data under way, for a flow's round-trip times.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    sent_at: Instant,
    /// Sent more than once: an acknowledgement does not say which of them it is for.
    ambiguous: bool,
}

/// What is seen of one flow from between its ends.
#[derive(Clone, Debug, Default)]
pub(super) struct OutsideFlow {
    /// One above the last byte sent.
    highest: u64,
    /// Bytes acknowledged by the sink, as it said.
    pub(super) delivered_bytes: u64,
    pub(super) sent: u64,
    pub(super) retransmitted: u64,
    /// Size of a limited transfer.
    size: Option<u64>,
    under_way: VecDeque<Timed>,
}

impl OutsideFlow {
    pub(super) fn new(size: Option<u64>) -> Self {
        Self { size, ..Self::default() }
    }

    fn sends(&mut self, now: Instant, segment: &Segment) {
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

    /// The sender has been told that all below `number` has arrived: the round-trip time that it can read from this.
    fn told(&mut self, now: Instant, number: u64) -> Option<Duration> {
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
    /// Builds the world a specification describes; its TCP flows have ends outside, with the settings of their senders and receivers left to
    /// these. Each transfer of a session is a flow of its own here, see [`Self::spec`].
    ///
    /// # Errors
    /// When a link, queue or route cannot be built, or a session waits for answers.
    pub fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        let unfolded = Unfolded::new(spec)?;
        let (mut world, _) = build::world(&unfolded.spec, build::Ends::Outside)?;
        world.tap.lost = Some(Vec::new());
        Ok(Self { world, unfolded })
    }

    /// Can the ends of this session be outside? Those of sessions that wait for answers cannot.
    #[must_use]
    pub const fn takes(session: &SessionSpec) -> bool {
        transfers::is_open_loop(session)
    }

    /// The specification with every transfer of a session as a flow with a start and a size. Packets go by the numbers of these flows; figures
    /// at the end by those of the specification that was given.
    #[must_use]
    pub fn spec(&self) -> &WorldSpec {
        &self.unfolded.spec
    }

    /// The flow of the specification that was given, for each of [`Self::spec`].
    #[must_use]
    pub fn origins(&self) -> Vec<u32> {
        self.unfolded.origins()
    }

    /// Is this flow of [`Self::spec`] a transfer of a session?
    #[must_use]
    pub fn is_transfer(&self, flow: u32) -> bool {
        self.unfolded.is_transfer(flow)
    }

    /// When something happens next; [`Instant::MAX`] for never.
    #[must_use]
    pub fn next(&self) -> Instant {
        self.world.agenda.next().0
    }

    /// Where the clock stands.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.world.now
    }

    /// When it is over.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.world.end
    }

    /// Lets the next thing happen, if it is due by the end; false when there is none.
    pub fn step(&mut self) -> bool {
        self.world.event(Until::new(self.world.end))
    }

    /// Puts a packet on its way at `now`, which is neither before what has happened nor after what happens next.
    pub fn put(&mut self, now: Instant, packet: OutsidePacket) {
        let world = &mut self.world;
        debug_assert!(now >= world.now && now <= world.agenda.next().0, "between what was and what is to come");
        world.now = now;
        world.launch_outside(packet);
    }

    /// What has become of packets since the last call.
    pub fn fates(&mut self, out: &mut Vec<Fate>) {
        out.append(&mut self.world.arrived);
        if let Some(lost) = &mut self.world.tap.lost {
            out.extend(lost.drain(..).filter_map(|number| Some(Fate::Lost { ticket: Ticket(number.try_into().ok()?) })));
        }
    }

    /// For a progress display.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { now: self.world.now, end: self.world.end, events: self.world.handled }
    }

    /// The figures. A world that has not reached its end has them for the time it has seen.
    #[must_use]
    pub fn finish(self, wants: Continue) -> Outcome {
        let mut world = self.world;
        let complete = wants == Continue::Yes;
        if !complete {
            world.end = world.now;
        }
        world.now = world.end;
        self.unfolded.count(&mut world);
        self.unfolded.fold(measure::outcome(world, complete))
    }
}

impl World {
    /// The number by which a packet's owner knows it travels in a field that is the end hosts' own.
    fn launch_outside(&mut self, packet: OutsidePacket) {
        let OutsidePacket { flow, segment, ip_len, ecn, ticket } = packet;
        let Some(route) = self.routes.get(flow as usize).copied().filter(|route| route.kind == HostKind::Outside) else {
            debug_assert!(false, "a flow with ends outside");
            return;
        };
        let segment = Segment { delay: ticket.0.get(), ..segment };
        let ends = &mut self.outside[route.slot as usize];
        if segment.flags.has(Flags::ACK) {
            ends.delivered_bytes = ends.delivered_bytes.max(segment.number.min(ends.highest));
        } else {
            ends.sends(self.now, &segment);
        }
        self.launched += 1;
        let ds = DsField::new(route.class, ecn);
        self.arrive(&SimPacket { segment, flow: FlowId::new(flow, route.host), ip_len, ds, hop: 0 });
    }

    /// A packet has reached an end that is outside.
    #[cold]
    pub(super) fn outside_takes(&mut self, slot: u32, packet: &SimPacket) {
        let flow = packet.flow.number();
        if packet.is_reverse() {
            let number = packet.segment.number;
            let ends = &mut self.outside[slot as usize];
            let complete = ends.size.is_some_and(|size| number >= size);
            if let Some(rtt) = ends.told(self.now, number)
                && self.measuring
            {
                self.group_rtt[self.flows[flow as usize].group as usize].add(rtt);
            }
            if complete && self.flows[flow as usize].completed_at.is_none() {
                self.flows[flow as usize].completed_at = Some(self.now);
                self.count_active(flow, false);
            }
        }
        if let Ok(number) = packet.segment.delay.try_into() {
            self.arrived.push(Fate::Arrived { ticket: Ticket(number), is_reverse: packet.is_reverse(), ecn: packet.ecn() });
        }
    }
}

#[cfg(test)]
mod tests;
