//! The loop that owns all state: takes the earliest event, advances the clock, lets links and hosts act.

mod build;
mod hosts;
mod links;
mod measure;

use crate::event::{EventQueue, Target};
use crate::lane::Lane;
use crate::link::{Link, Wire, WireClass};
use crate::outcome::{Outcome, Series, SojournHistogram};
use crate::probe::Tap;
use crate::spec::{Recording, WorldSpec};
use crate::traffic::UdpSource;
use goodqueue_tcp::{Receiver, Sender};
use goodqueue_units::{Class, Duration, Instant, Rate};
use std::fmt;

/// A specification that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldError {
    /// Which part: a link's name, or a flow as `group[index]`.
    pub subject: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl std::error::Error for WorldError {}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time so far.
    pub now: Instant,
    /// Simulated time at the end.
    pub end: Instant,
    /// Events handled so far.
    pub events: u64,
}

/// What a progress callback wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Go on.
    Yes,
    /// End the run here; its figures cover what was simulated.
    Stop,
}

/// One place on a route: a wire or a link, and the lane that carries packets away from it.
#[derive(Clone, Copy, Debug)]
struct Hop {
    /// Number of the wire or link, with [`WIRE`] and [`FUSED`] on top.
    element: u32,
    lane: u32,
}

/// The element is a wire.
const WIRE: u32 = 1 << 31;
/// The wire is fed by one other element only, so a packet's exit from it is known when it leaves that element.
const FUSED: u32 = 1 << 30;
const ELEMENT: u32 = FUSED - 1;

/// Where a flow's packets go, and the host at its ends.
#[derive(Clone, Copy, Debug)]
struct Route {
    /// First hop of the forward direction; the reverse one follows.
    hops: u32,
    /// Index into the senders and receivers, or into the UDP sources.
    slot: u32,
    /// TCP and IP header bytes.
    header: u16,
    class: Class,
    group: u16,
    forward: u8,
    reverse: u8,
    kind: HostKind,
}

impl Route {
    /// First hop and number of hops of one direction.
    #[inline]
    fn way(self, reverse: bool) -> (u32, u8) {
        if reverse { (self.hops + u32::from(self.forward), self.reverse) } else { (self.hops, self.forward) }
    }
}

/// A TCP sender and its one lazy timer.
struct SenderHost {
    sender: Sender,
    /// When the pending event is due; `MAX` when there is none.
    timer_at: Instant,
    /// Its access link takes nothing more before.
    held_until: Instant,
    rtt_samples: u64,
}

/// A TCP receiver and its one lazy timer.
struct ReceiverHost {
    receiver: Receiver,
    timer_at: Instant,
}

/// What a flow's source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostKind {
    Tcp,
    Udp,
}

/// What is known of a flow besides its hot state.
#[derive(Clone, Debug)]
struct FlowFacts {
    group: u32,
    index: u32,
    kind: HostKind,
    /// Index into the senders and receivers, or into the UDP sources.
    slot: u32,
    start: Instant,
    completed_at: Option<Instant>,
    at_warmup: measure::FlowReading,
}

/// Rare events.
#[derive(Clone, Copy, Debug)]
enum Control {
    StartFlow(u32),
    StopFlow(u32),
    RateStep(u32, Rate),
    BeginMeasuring,
    Sample,
}

/// A simulated world: build it from a specification, run it once.
pub struct World {
    now: Instant,
    end: Instant,
    warmup: Duration,
    events: EventQueue,
    handled: u64,
    /// Packets that left their source, reached their end, and were lost on a wire.
    launched: u64,
    ended: u64,
    wire_losses: u64,
    lanes: Vec<Lane>,
    hops: Vec<Hop>,
    routes: Vec<Route>,
    wire_classes: Vec<WireClass>,
    wires: Vec<Wire>,
    links: Vec<Link>,
    senders: Vec<SenderHost>,
    receivers: Vec<ReceiverHost>,
    sources: Vec<UdpSource>,
    flows: Vec<FlowFacts>,
    group_names: Vec<String>,
    /// Flow of each TCP slot, and of each UDP slot.
    flow_of_slot: Vec<u32>,
    flow_of_source: Vec<u32>,
    group_of_sender: Vec<u32>,
    group_rtt: Vec<SojournHistogram>,
    controls: Vec<Control>,
    tap: Tap,
    measuring: bool,
    recording: Recording,
    series: Vec<Series>,
    sampled: measure::SampledFlows,
}

/// Events between two looks at the progress callback.
const EVENTS_PER_CHECK: u64 = 1 << 16;

impl World {
    /// Builds the world a specification describes.
    ///
    /// # Errors
    /// When a link, queue, route or sender cannot be built.
    pub fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        build::world(spec)
    }

    /// Runs to the end, or until `progress` says stop. It is asked every few thousand events.
    pub fn run(mut self, progress: &mut dyn FnMut(Progress) -> Continue) -> Outcome {
        let mut complete = true;
        loop {
            let target = self.handled + EVENTS_PER_CHECK;
            let drained = self.run_events(target);
            if drained {
                break;
            }
            if progress(Progress { now: self.now, end: self.end, events: self.handled }) == Continue::Stop {
                complete = false;
                self.end = self.now;
                break;
            }
        }
        self.now = self.end;
        measure::outcome(self, complete)
    }

    /// Handles events up to the end or until `target` have been handled; true when the end was reached.
    fn run_events(&mut self, target: u64) -> bool {
        while self.handled < target {
            let Some((at, what)) = self.events.take(self.end) else { return true };
            debug_assert!(at >= self.now, "time must not run backwards");
            self.now = at;
            self.handled += 1;
            match what {
                Target::Lane(lane) => self.lane_head(lane),
                Target::Service(link) => self.service(link),
                Target::QueueTimer(link) => self.queue_timer(link),
                Target::SenderTimer(slot) => self.sender_timer(slot),
                Target::ReceiverTimer(slot) => self.receiver_timer(slot),
                Target::Source(slot) => self.source_emits(slot),
                Target::Control(index) => self.control(index),
            }
        }
        false
    }

    #[cold]
    fn control(&mut self, index: u32) {
        match self.controls[index as usize] {
            Control::StartFlow(flow) => self.start_flow(flow),
            Control::StopFlow(flow) => self.stop_flow(flow),
            Control::RateStep(link, rate) => {
                self.links[link as usize].qdisc_set_rate(self.now, rate);
                self.arm_queue_timer(link);
            }
            Control::BeginMeasuring => self.begin_measuring(),
            Control::Sample => self.sample(index),
        }
    }
}
