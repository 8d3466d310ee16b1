//! A world that can be observed and changed while it runs.

use super::build::{self, BuildState};
use super::error::{WorldError, WorldFault, fault};
use super::measure;
use super::path::FlowEnd;
use super::state::World;
use crate::ids::{Id, LinkId};
use crate::outcome::{CallOutcome, Outcome};
use crate::spec::{FlowSpec, LinkSpec, QueueSpec, WorldSpec};
use crate::trace::PacketEvent;
use crate::watch::{Interval, Watch};
use goodqueue_aqm::{Counters, Qdisc, QueueView};
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

/// A world that its owner advances.
///
/// Its results do not depend on the steps: events and fingerprint are those of [`World::run`], and
/// the same changes at the same times always give the same results.
pub struct OpenWorld {
    world: World,
    spec: WorldSpec,
    state: BuildState,
    /// Time of the last observation.
    looked_at: Instant,
    changes: u64,
}

/// The contents of a world at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets that wait or are under way.
    pub packets: u64,
    /// Places for TCP connections, in use or to be used again.
    pub connections: u64,
}

/// A change of a running world. Links have the names of the specification.
#[derive(Clone, Debug)]
pub enum Change {
    /// Changes the rate of a link until a later step of its specification. The packet in
    /// transmission finishes at the old rate, unless it never would. Zero is a link that is down.
    Rate {
        /// The link; it has a queue, and its rate is neither recorded nor that of a token bucket.
        link: String,
        /// The new rate.
        rate: Rate,
    },
    /// Puts a new queue in the place of a link's present one, which is emptied first by its own
    /// rules.
    Queue {
        /// The link; it has a queue.
        link: String,
        /// The new queue.
        queue: QueueSpec,
    },
    /// Adds flows.
    Flows {
        /// New links without queue; they take the numbers after the existing ones.
        links: Vec<LinkSpec>,
        /// The flows; a flow whose start is past starts now.
        flows: Vec<FlowSpec>,
    },
}

/// Whether packet events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketLog {
    /// Keep those at observed links from now on.
    Keep,
    /// Keep none, and discard those kept so far.
    Discard,
}

/// An observation of a world.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Simulated time.
    pub now: Instant,
    /// Time since the previous observation.
    pub span: Duration,
    /// Observed links, in the order of the specification.
    pub links: Vec<LinkView>,
    /// Groups, in the order of the specification.
    pub groups: Vec<GroupView>,
    /// The first flows, as many as requested.
    pub flows: Vec<FlowView>,
}

/// An observation of one link.
#[derive(Clone, Debug)]
pub struct LinkView {
    /// The link rate that its queue sees.
    pub rate: Rate,
    /// The backlog.
    pub waiting: QueueView,
    /// Departures since the previous observation.
    pub interval: Interval,
    /// Bits that the link could have carried since then.
    pub capacity_bits: f64,
    /// Counts of the whole run so far.
    pub counters: Counters,
    /// The algorithm's state.
    pub gauges: Vec<(&'static str, f64)>,
}

/// An observation of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupView {
    /// Number of flows.
    pub flows: u32,
    /// Bytes delivered to receiving applications so far.
    pub delivered: Bytes,
}

/// An observation of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowView {
    /// Index into the specification's groups.
    pub group: u32,
    /// Number within the group.
    pub index: u32,
    /// Bytes delivered to the receiving application so far.
    pub delivered: Bytes,
    /// Congestion window and segment size, of a plain TCP connection.
    pub window: Option<(Bytes, Bytes)>,
    /// Smoothed round-trip time, once there is one; of an echo, the latest one.
    pub rtt: Option<Duration>,
}

/// Random streams of queues that replace others.
const SUCCESSOR_STREAM: u64 = 5 << 32;

impl OpenWorld {
    /// Builds the world of a specification.
    ///
    /// # Errors
    /// When a link, queue, route or sender cannot be built.
    pub fn new(spec: WorldSpec) -> Result<Self, WorldError> {
        let (mut world, state) = build::world(&spec, build::TcpEnds::Simulated)?;
        for link in world.net.links.iter_mut().filter(|link| link.probe.observed.is_some()) {
            link.probe.extras().watch = Some(Watch::default());
        }
        Ok(Self { world, spec, state, looked_at: Instant::ZERO, changes: 0 })
    }

    /// The specification, with what was added to it.
    #[must_use]
    pub const fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// Simulated time so far.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.world.clock.now
    }

    /// Simulated time at the end.
    #[must_use]
    pub const fn end(&self) -> Instant {
        self.world.clock.end
    }

    /// Events handled so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.world.clock.events
    }

    /// Handles events up to and including `until`, but no more than about `most_events`. Returns
    /// whether `until`, or the end, was reached.
    pub fn run_until(&mut self, until: Instant, most_events: u64) -> bool {
        let until = until.min(self.world.clock.end);
        let reached = self.world.run_events(self.world.clock.events.saturating_add(most_events), until);
        if reached {
            self.world.clock.now = until.max(self.world.clock.now);
        }
        reached
    }

    /// The present contents of this world, with which the memory it takes grows.
    #[must_use]
    pub fn held(&self) -> Held {
        let waiting = self.world.net.links.iter().map(|link| link.view().packets.get()).sum::<u64>();
        let under_way = self.world.net.path.lanes.iter().map(|lane| lane.len() as u64).sum::<u64>();
        Held { packets: waiting + under_way, connections: self.world.ends.senders.len() as u64 }
    }

    /// The figures so far.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        let complete = self.world.clock.now >= self.world.clock.end;
        self.world.clock.end = self.world.clock.now;
        measure::outcome(self.world, complete)
    }

    /// Hash of all packet events so far.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.world.net.recorder.fingerprint
    }

    /// Starts or stops keeping packet events.
    pub fn keep_packets(&mut self, log: PacketLog) {
        match log {
            PacketLog::Keep => drop(self.world.net.recorder.log.get_or_insert_default()),
            PacketLog::Discard => self.world.net.recorder.log = None,
        }
    }

    /// Takes the packet events since the last call, or since they are kept.
    pub fn take_packets(&mut self) -> Vec<PacketEvent> {
        self.world.take_packets()
    }

    /// Visits the state of the algorithm at an observed link, which is given by its number among
    /// the observed links.
    pub fn gauges(&self, observed: u32, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(link) = self.world.net.links.iter().find(|link| link.probe.observed == Some(observed)) {
            link.qdisc.gauges(visit);
        }
    }

    /// Observes the world, with at most `most_flows` flows.
    pub fn look(&mut self, most_flows: usize) -> View {
        let (now, since) = (self.world.clock.now, self.looked_at);
        self.looked_at = now;
        let mut view = View { now, span: now.since(since), ..View::default() };
        for link in self.world.net.links.iter_mut().filter(|link| link.probe.observed.is_some()) {
            let mut gauges = Vec::new();
            link.qdisc.gauges(&mut |name, value| gauges.push((name, value)));
            view.links.push(LinkView {
                rate: link.rate.known_rate(now),
                waiting: link.view(),
                interval: link.probe.extras().watch.as_mut().map(Watch::take).unwrap_or_default(),
                capacity_bits: link.rate.capacity_bits(since, now),
                counters: link.counters(),
                gauges,
            });
        }
        self.look_at_flows(&mut view, most_flows);
        view
    }

    fn look_at_flows(&self, view: &mut View, most_flows: usize) {
        let world = &self.world;
        view.groups.resize(self.spec.groups.len(), GroupView::default());
        let listed = world.ends.flows.pairs().filter(|(_, flow)| flow.end.is_listed());
        for ((number, flow), spec) in listed.zip(&self.spec.flows) {
            let delivered = Bytes::new(world.read_flow(number).delivered_bytes);
            let group = &mut view.groups[flow.group.index()];
            group.flows += 1;
            group.delivered += delivered;
            if view.flows.len() < most_flows {
                let sender = match flow.end {
                    FlowEnd::Tcp(tcp) => Some(&world.ends.senders[tcp].sender),
                    _ => None,
                };
                view.flows.push(FlowView {
                    group: u32::from(flow.group.get()),
                    index: flow.index,
                    delivered,
                    window: sender.and_then(|sender| Some((sender.cwnd(), spec.source.tcp()?.0.mss))),
                    rtt: match flow.end {
                        FlowEnd::Echo(udp) => world.ends.sources[udp].probes.as_ref().and_then(|probes| probes.last()),
                        _ => sender.and_then(|sender| sender.srtt()),
                    },
                });
            }
        }
    }

    /// Returns the outcome of each call since this function was last used, with its group's index
    /// into the specification. Calls are listened to from the first time on.
    pub fn take_calls(&mut self) -> Vec<(u32, CallOutcome)> {
        let ends = &mut self.world.ends;
        let mut heard = Vec::new();
        for facts in ends.flows.iter() {
            let FlowEnd::Udp(udp) = facts.end else { continue };
            let source = &mut ends.sources[udp];
            match (&mut source.watcher, &source.listener) {
                (Some(watcher), _) => heard.push((u32::from(facts.group.get()), watcher.take())),
                (watcher @ None, Some(listener)) => *watcher = Some(Box::new(listener.afresh(source.sent))),
                (None, None) => {}
            }
        }
        heard
    }

    /// Changes the world now.
    ///
    /// # Errors
    /// When the change is impossible; the world is then unchanged.
    pub fn change(&mut self, change: Change) -> Result<(), WorldError> {
        self.changes += 1;
        match change {
            Change::Rate { link, rate } => {
                let (_, index) = self.queued_link(&link)?;
                self.change_rate(&link, index, rate)
            }
            Change::Queue { link, queue } => self.change_queue(&link, queue),
            Change::Flows { links, flows } => self.world.add_flows(&mut self.spec, &mut self.state, links, flows),
        }
    }

    /// The number of a link with a queue in the specification, and in the world.
    fn queued_link(&self, name: &str) -> Result<(usize, LinkId), WorldError> {
        let Some(number) = self.spec.links.iter().position(|link| link.name == name) else {
            return fault(name, WorldFault::NoSuchLink);
        };
        match self.state.elements[number].link() {
            None => fault(name, WorldFault::NoQueue),
            Some(link) => Ok((number, link)),
        }
    }

    fn change_rate(&mut self, name: &str, id: LinkId, rate: Rate) -> Result<(), WorldError> {
        let now = self.world.clock.now;
        let net = &mut self.world.net;
        let link = &mut net.links[id];
        if !link.rate.change(now, rate) {
            let what = if matches!(link.rate, RateCursor::Recorded(_)) { "a recording" } else { "that of a token bucket" };
            return fault(name, WorldFault::FixedRate(what));
        }
        net.announce_rate(now, id, rate);
        net.restart_stuck_transmission(now, id);
        Ok(())
    }

    fn change_queue(&mut self, name: &str, queue: QueueSpec) -> Result<(), WorldError> {
        let (number, id) = self.queued_link(name)?;
        if matches!(queue, QueueSpec::Unlimited) {
            return fault(name, WorldFault::NoDiscipline);
        }
        let now = self.world.clock.now;
        let rate = self.world.net.links[id].rate.known_rate(now);
        let stream = Rng::stream(self.spec.seed, SUCCESSOR_STREAM + self.changes);
        let link = LinkSpec { queue, ..self.spec.links[number].clone() };
        let (mut successor, _) = build::discipline(&link, rate, stream)?;
        successor.set_link_rate(now, Some(rate));
        self.world.net.links[id].succeed(successor);
        self.spec.links[number] = link;
        self.world.place_all(&self.spec, &self.state);
        self.world.net.arm_queue_timer(now, id);
        Ok(())
    }
}
