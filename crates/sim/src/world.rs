//! The loop that owns all state: takes the earliest event, advances the clock, lets links and hosts act.

mod build;
mod hosts;
mod lag;
mod links;
mod measure;
mod open;
mod outside;
mod sessions;

use crate::agenda::{Agenda, Until};
use crate::completions::{Completions, Ideal};
use crate::lane::Lane;
use crate::link::{Link, Wire, WireClass};
use crate::outcome::{Outcome, Series};
use crate::packet::HostMark;
use crate::probe::Tap;
use crate::session::{Action, Event};
use crate::spec::{Recording, WorldSpec};
use crate::sys::fetch_ahead;
use crate::timers::{Target, Timers};
use crate::traffic::UdpSource;
use goodqueue_tcp::{Receiver, Sender};
use goodqueue_trace::TimeCounts;
use goodqueue_units::{Class, Duration, Instant, Rate};
use std::fmt;

pub use open::{Change, FlowView, GroupView, LinkView, OpenWorld, PacketLog, View};
pub use outside::{Fate, OutsidePacket, OutsideWorld, Ticket};

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
    /// The next place is a wire that is [`FUSED`].
    joined: bool,
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
    host: HostMark,
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

    /// Where a packet of this flow is that has so many hops behind it.
    #[inline(always)]
    fn place(&self, reverse: bool, hop: u8) -> u32 {
        self.hops + if reverse { u32::from(self.forward) } else { 0 } + u32::from(hop)
    }
}

/// Where in the agenda things stand. The order of the parts decides what comes first at one instant: timers and rare events, queues' own timers,
/// transmitters that become free, and packets that arrive.
#[derive(Clone, Copy, Debug)]
struct Slots {
    queue_timers: usize,
    services: usize,
    lanes: usize,
}

/// The earliest of all timers.
const TIMERS: usize = 0;

impl Slots {
    const fn new(links: usize) -> Self {
        Self { queue_timers: TIMERS + 1, services: TIMERS + 1 + links, lanes: TIMERS + 1 + 2 * links }
    }

    #[inline]
    const fn queue_timer(self, link: u32) -> usize {
        self.queue_timers + link as usize
    }

    #[inline]
    const fn service(self, link: u32) -> usize {
        self.services + link as usize
    }

    #[inline]
    const fn lane(self, lane: u32) -> usize {
        self.lanes + lane as usize
    }
}

/// A TCP sender and its one lazy timer.
#[repr(C)]
struct SenderHost {
    /// When the pending event is due; `MAX` when there is none.
    timer_at: Instant,
    /// Its access link takes nothing more before.
    held_until: Instant,
    rtt_samples: u64,
    sender: Sender,
}

impl SenderHost {
    /// So many bytes from the start on hold what an acknowledgement touches, and what a timer looks at first.
    const TOUCHED: usize = std::mem::offset_of!(Self, sender) + Sender::TOUCHED;
    const AT_TIMERS: usize = 3 * 64;
}

/// A TCP receiver and its one lazy timer, which stands with what the receiver needs for every segment.
#[repr(C, align(64))]
struct ReceiverHost {
    timer_at: Instant,
    receiver: Receiver,
}

impl ReceiverHost {
    /// So many bytes from the start on hold what a segment touches.
    const TOUCHED: usize = 3 * 64;
}

/// What a flow's source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostKind {
    Tcp,
    Udp,
    /// UDP that the sink sends back.
    Echo,
    /// Transfers over connections that come and go. Its packets belong to streams, whose numbers of flows follow those of the specification.
    Session,
    /// One way of a session's channel.
    Stream,
    /// TCP whose ends are not of this world.
    Outside,
}

/// What is known of a flow besides its hot state.
#[derive(Clone, Debug)]
struct FlowFacts {
    group: u32,
    index: u32,
    kind: HostKind,
    /// Index into the senders and receivers, into the UDP sources, or into the sessions.
    slot: u32,
    start: Instant,
    weight: f64,
    completed_at: Option<Instant>,
    /// Counts as one of those that are sending.
    active: bool,
    at_warmup: measure::FlowReading,
}

/// Rare events.
#[derive(Clone, Copy, Debug)]
enum Control {
    StartFlow(u32),
    StopFlow(u32),
    /// The timer of a session, and of a channel.
    Session(u32),
    Channel(u32),
    RateStep(u32, Rate),
    BeginMeasuring,
    Sample,
}

/// A simulated world: build it from a specification, run it once.
pub struct World {
    now: Instant,
    end: Instant,
    warmup: Duration,
    agenda: Agenda,
    slots: Slots,
    timers: Timers,
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
    /// The queue that lags, if there is one.
    lag: Option<lag::Lag>,
    /// Are there so many flows that the state of most of them is not in the cache?
    crowded: bool,
    /// Does any link hold others back?
    flow_control: bool,
    senders: Vec<SenderHost>,
    receivers: Vec<ReceiverHost>,
    sources: Vec<UdpSource>,
    flows: Vec<FlowFacts>,
    outside: Vec<outside::OutsideFlow>,
    /// Packets that have reached ends outside and are not yet fetched.
    arrived: Vec<Fate>,
    sessions: Vec<sessions::SessionHost>,
    channels: Vec<sessions::ChannelHost>,
    streams: Vec<sessions::Stream>,
    /// Stream of each TCP slot; shorter than the slots when the last ones have none.
    stream_of_slot: Vec<u32>,
    /// Room for what a session wants.
    actions: Vec<Action>,
    completions: Vec<Completions>,
    /// Plain flows of limited data, and what their paths allow at best.
    limited: Vec<(u32, Ideal)>,
    group_names: Vec<String>,
    /// Flow of each TCP slot, and of each UDP slot.
    flow_of_slot: Vec<u32>,
    flow_of_source: Vec<u32>,
    group_of_sender: Vec<u32>,
    group_rtt: Vec<TimeCounts>,
    /// One-way delays of each group's UDP packets, once there are any.
    group_delay: Vec<Option<TimeCounts>>,
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
        build::world(spec, build::Ends::Simulated).map(|(world, _)| world)
    }

    /// Runs to the end, or until `progress` says stop. It is asked every few thousand events.
    pub fn run(mut self, progress: &mut dyn FnMut(Progress) -> Continue) -> Outcome {
        let mut complete = true;
        self.let_lag();
        loop {
            let target = self.handled + EVENTS_PER_CHECK;
            let drained = self.run_events(target, self.end);
            if drained {
                break;
            }
            if progress(Progress { now: self.now, end: self.end, events: self.handled }) == Continue::Stop {
                complete = false;
                self.end = self.now;
                break;
            }
        }
        self.end_lag();
        measure::outcome(self, complete)
    }

    /// Handles events up to `until` or until `target` have been handled; true when `until` was reached.
    #[inline]
    fn run_events(&mut self, target: u64, until: Instant) -> bool {
        let until = Until::new(until);
        while self.handled < target {
            if !self.event(until) {
                return true;
            }
        }
        false
    }

    /// Handles the next event; false when there is none up to `until`.
    #[inline(always)]
    fn event(&mut self, until: Until) -> bool {
        let Some((at, slot)) = self.agenda.next_until(until) else { return false };
        debug_assert!(at >= self.now, "time must not run backwards");
        self.now = at;
        self.handled += 1;
        if slot >= self.slots.lanes {
            self.lane_head((slot - self.slots.lanes) as u32);
        } else if slot == TIMERS {
            self.timer();
        } else if self.lag.is_some() {
            self.work_off();
        } else if slot >= self.slots.services {
            self.service((slot - self.slots.services) as u32);
        } else {
            self.queue_timer((slot - self.slots.queue_timers) as u32);
        }
        true
    }

    /// Sets a host's timer or a rare event, not in the past.
    #[inline]
    fn set_timer(&mut self, at: Instant, what: Target) {
        if self.timers.set(at.max(self.now), what) {
            self.agenda.set(TIMERS, self.timers.earliest());
        }
    }

    #[inline]
    fn timer(&mut self) {
        let Some(what) = self.timers.take() else { return };
        self.agenda.set(TIMERS, self.timers.earliest());
        if self.crowded {
            self.fetch_next_timer();
        }
        match what {
            Target::Sender(slot) => self.sender_timer(slot),
            Target::Receiver(slot) => self.receiver_timer(slot),
            Target::Source(slot) => self.source_emits(slot),
            Target::Control(index) => self.control(index),
        }
    }

    /// Has what the next timer's host looks at first brought into the cache.
    #[inline]
    fn fetch_next_timer(&self) {
        match self.timers.next() {
            Some(Target::Sender(slot)) => fetch_ahead(&self.senders[slot as usize], SenderHost::AT_TIMERS),
            Some(Target::Receiver(slot)) => fetch_ahead(&self.receivers[slot as usize], ReceiverHost::TOUCHED),
            _ => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn control(&mut self, index: u32) {
        self.catch_up();
        match self.controls[index as usize] {
            Control::StartFlow(flow) => self.start_flow(flow),
            Control::StopFlow(flow) => self.stop_flow(flow),
            Control::Session(session) => self.tell(session, Event::Alarm),
            Control::Channel(channel) => self.tell_channel_alarm(channel),
            Control::RateStep(link, rate) => {
                self.links[link as usize].qdisc_set_rate(self.now, rate);
                self.arm_queue_timer(link);
            }
            Control::BeginMeasuring => self.begin_measuring(),
            Control::Sample => self.sample(index),
        }
    }
}
