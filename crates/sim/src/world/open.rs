//! A world that can be looked at, and changed, on the way.

use super::build::{self, Ground};
use super::{HostKind, World, WorldError, measure};
use crate::outcome::Outcome;
use crate::rate::RateProcess;
use crate::spec::{FlowSpec, LinkSpec, QueueSpec, WorldSpec};
use crate::watch::{Interval, Watch};
use goodqueue_aqm::{Counters, Qdisc, QueueView};
use goodqueue_trace::PacketEvent;
use goodqueue_units::{Bytes, Duration, Instant, Rate, Rng};

/// A world that is advanced from outside. Nobody sees from its results in which steps: what happens, and the fingerprint, are those of
/// [`World::run`], and of changes those that the same changes at the same times always give.
pub struct OpenWorld {
    world: World,
    spec: WorldSpec,
    ground: Ground,
    /// Time of the last look.
    looked_at: Instant,
    changes: u64,
}

/// Something that is changed while a world runs. Links are named as in the specification.
#[derive(Clone, Debug)]
pub enum Change {
    /// A link sends at this rate from now on, until a later step of its specification. The packet in transmission ends as it began,
    /// unless it never would. Zero is a link that is down.
    Rate {
        /// Which link; it has a queue, and a rate that is neither recorded nor that of a token bucket.
        link: String,
        /// Its rate.
        rate: Rate,
    },
    /// A new queue in the place of a link's present one, which is emptied first, by its own rules.
    Queue {
        /// Which link; it has a queue.
        link: String,
        /// What waits in front of its transmitter from now on.
        queue: QueueSpec,
    },
    /// More flows.
    Flows {
        /// Links of theirs, without queue; they take the numbers after those there are.
        links: Vec<LinkSpec>,
        /// The flows; one whose start is past starts now.
        flows: Vec<FlowSpec>,
    },
}

/// Are packet events kept?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketLog {
    /// Those at observed links, from now on.
    Keep,
    /// None; what was kept is gone.
    Discard,
}

/// What a world shows.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Now.
    pub now: Instant,
    /// Time since the look before.
    pub span: Duration,
    /// Observed links, in the order of the specification.
    pub links: Vec<LinkView>,
    /// Groups, in the order of the specification.
    pub groups: Vec<GroupView>,
    /// The first flows, as many as were asked for.
    pub flows: Vec<FlowView>,
}

/// What one observed link shows.
#[derive(Clone, Debug)]
pub struct LinkView {
    /// The rate that its queue knows.
    pub rate: Rate,
    /// What waits.
    pub waiting: QueueView,
    /// What left it since the look before.
    pub interval: Interval,
    /// Bits that it could have carried since then.
    pub capacity_bits: f64,
    /// Counts of the whole run so far.
    pub counters: Counters,
    /// The algorithm's state.
    pub gauges: Vec<(&'static str, f64)>,
}

/// What one group shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupView {
    /// Its flows.
    pub flows: u32,
    /// Bytes delivered to receiving applications so far.
    pub delivered: Bytes,
}

/// What one flow shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowView {
    /// Index into the specification's groups.
    pub group: u32,
    /// Number within its group.
    pub index: u32,
    /// Bytes delivered to the receiving application so far.
    pub delivered: Bytes,
    /// Congestion window and segment size, of a plain TCP connection.
    pub window: Option<(Bytes, Bytes)>,
    /// Its smoothed round-trip time, once it has one; of an echo, the latest.
    pub rtt: Option<Duration>,
}

/// Random streams of queues that come in the place of others.
const SUCCESSOR_STREAM: u64 = 5 << 32;

impl OpenWorld {
    /// Builds the world a specification describes.
    ///
    /// # Errors
    /// When a link, queue, route or sender cannot be built.
    pub fn new(spec: WorldSpec) -> Result<Self, WorldError> {
        let (mut world, ground) = build::world(&spec, build::Ends::Simulated)?;
        for link in world.links.iter_mut().filter(|link| link.probe.observed.is_some()) {
            link.probe.extras().watch = Some(Watch::default());
        }
        Ok(Self { world, spec, ground, looked_at: Instant::ZERO, changes: 0 })
    }

    /// The specification, with what was added.
    #[must_use]
    pub const fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// Simulated time so far.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.world.now
    }

    /// Simulated time at the end.
    #[must_use]
    pub const fn end(&self) -> Instant {
        self.world.end
    }

    /// Events handled so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.world.handled
    }

    /// Lets everything happen up to and including `until`, but no more than about `most_events`; true when it is `until`, or the end.
    pub fn run_until(&mut self, until: Instant, most_events: u64) -> bool {
        let until = until.min(self.world.end);
        let reached = self.world.run_events(self.world.handled.saturating_add(most_events), until);
        if reached {
            self.world.now = until.max(self.world.now);
        }
        reached
    }

    /// The figures so far.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        let complete = self.world.now >= self.world.end;
        self.world.end = self.world.now;
        measure::outcome(self.world, complete)
    }

    /// Hash of what has happened so far.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.world.tap.fingerprint
    }

    /// Keeps packet events, or keeps none.
    pub fn keep_packets(&mut self, log: PacketLog) {
        match log {
            PacketLog::Keep => drop(self.world.tap.log.get_or_insert_default()),
            PacketLog::Discard => self.world.tap.log = None,
        }
    }

    /// Packet events since the last call, or since they are kept.
    pub fn take_packets(&mut self) -> Vec<PacketEvent> {
        self.world.take_packets()
    }

    /// State of the algorithm at an observed link, by its number among those.
    pub fn gauges(&self, observed: u32, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(link) = self.world.links.iter().find(|link| link.probe.observed == Some(observed)) {
            link.qdisc.gauges(visit);
        }
    }

    /// What there is to be seen, with `most_flows` flows at most.
    pub fn look(&mut self, most_flows: usize) -> View {
        let (now, since) = (self.world.now, self.looked_at);
        self.looked_at = now;
        let mut view = View { now, span: now.since(since), ..View::default() };
        for link in self.world.links.iter_mut().filter(|link| link.probe.observed.is_some()) {
            let mut gauges = Vec::new();
            link.qdisc.gauges(&mut |name, value| gauges.push((name, value)));
            view.links.push(LinkView {
                rate: link.rate.known_rate(now),
                waiting: link.qdisc.view(),
                interval: link.probe.extras().watch.as_mut().map(Watch::take).unwrap_or_default(),
                capacity_bits: link.rate.capacity_bits(since, now),
                counters: link.qdisc.counters(),
                gauges,
            });
        }
        self.look_at_flows(&mut view, most_flows);
        view
    }

    fn look_at_flows(&self, view: &mut View, most_flows: usize) {
        let world = &self.world;
        view.groups.resize(self.spec.groups.len(), GroupView::default());
        let numbers = (0..world.flows.len()).filter(|&flow| world.flows[flow].kind != HostKind::Stream);
        for (number, spec) in numbers.zip(&self.spec.flows) {
            let facts = &world.flows[number];
            let delivered = Bytes::new(world.read_flow(number).delivered_bytes);
            let group = &mut view.groups[facts.group as usize];
            group.flows += 1;
            group.delivered += delivered;
            if view.flows.len() < most_flows {
                let sender = (facts.kind == HostKind::Tcp).then(|| &world.senders[facts.slot as usize].sender);
                view.flows.push(FlowView {
                    group: facts.group,
                    index: facts.index,
                    delivered,
                    window: sender.and_then(|sender| Some((sender.cwnd(), spec.source.tcp()?.0.mss))),
                    rtt: match facts.kind {
                        HostKind::Echo => world.sources[facts.slot as usize].probes.as_ref().and_then(|probes| probes.last()),
                        _ => sender.and_then(|sender| sender.srtt()),
                    },
                });
            }
        }
    }

    /// Changes something, now.
    ///
    /// # Errors
    /// When it cannot be changed so; nothing is changed then.
    pub fn change(&mut self, change: Change) -> Result<(), WorldError> {
        self.changes += 1;
        match change {
            Change::Rate { link, rate } => {
                let (_, index) = self.queued_link(&link)?;
                self.change_rate(&link, index, rate)
            }
            Change::Queue { link, queue } => self.change_queue(&link, queue),
            Change::Flows { links, flows } => self.world.grow(&mut self.spec, &mut self.ground, links, flows),
        }
    }

    /// Numbers of a link with a queue: in the specification, and in the world.
    fn queued_link(&self, name: &str) -> Result<(usize, u32), WorldError> {
        let wrong = |message: &str| Err(WorldError { subject: name.to_owned(), message: message.to_owned() });
        let Some(number) = self.spec.links.iter().position(|link| link.name == name) else {
            return wrong("there is no such link");
        };
        match self.ground.codes[number] {
            wire if wire & super::WIRE != 0 => wrong("has no queue: only a link with a queue can be changed"),
            index => Ok((number, index)),
        }
    }

    fn change_rate(&mut self, name: &str, index: u32, rate: Rate) -> Result<(), WorldError> {
        let world = &mut self.world;
        let now = world.now;
        let link = &mut world.links[index as usize];
        if !link.rate.change(now, rate) {
            let what = if matches!(link.rate, RateProcess::Trace(_)) { "a recording" } else { "that of a token bucket" };
            return Err(WorldError { subject: name.to_owned(), message: format!("its rate is {what} and cannot be set") });
        }
        link.qdisc_set_rate(now, rate);
        world.arm_queue_timer(index);
        world.unstick(index);
        Ok(())
    }

    fn change_queue(&mut self, name: &str, queue: QueueSpec) -> Result<(), WorldError> {
        let (number, index) = self.queued_link(name)?;
        if matches!(queue, QueueSpec::Unlimited) {
            return Err(WorldError { subject: name.to_owned(), message: "needs a queue discipline".to_owned() });
        }
        let now = self.world.now;
        let rate = self.world.links[index as usize].rate.known_rate(now);
        let stream = Rng::stream(self.spec.seed, SUCCESSOR_STREAM + self.changes);
        let link = LinkSpec { queue, ..self.spec.links[number].clone() };
        let (mut successor, _) = build::discipline(&link, rate, stream)?;
        successor.set_link_rate(now, Some(rate));
        self.world.links[index as usize].qdisc.succeed(successor);
        self.spec.links[number] = link;
        self.world.weigh_all(&self.spec, &self.ground);
        self.world.arm_queue_timer(index);
        Ok(())
    }
}
