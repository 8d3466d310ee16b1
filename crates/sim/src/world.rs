//! The event loop: takes the earliest event, advances the clock, and lets the network or a host
//! act.
//!
//! A [`World`] is a [`Network`] (lanes, wires, links and their event queue), [`Hosts`] (the ends of
//! flows and their timers), a clock, and [`Figures`] (what is measured of hosts). The network knows
//! nothing of hosts; a packet that has reached its end comes back to the world, which delivers it.
//!
//! The stages of a packet, in order, and the function that takes its place where the stage is
//! deferred, which is to say processed late and for many packets in one loop:
//!
//! | stage | plain | deferred |
//! |---|---|---|
//! | a sender is asked for segments | `poll_sender`, and `source_timer` for UDP | the same |
//! | a segment becomes a packet | `send_segment` | the same; answers: `WirePath::answer` |
//! | the packet enters the network at its first hop | `Network::inject`, `Network::enter` | the same; answers: `WirePath::cross_wire` |
//! | it crosses a wire | `Network::cross_wire`, `Wire::exit_time` | `Network::cross_deferred_wire` if others share it |
//! | it leaves a hop, across fused wires, into a lane | `Network::leave_hop`, `Lane::push` | the same |
//! | it reaches the lane's end | `World::lane_event`, `Network::take_arrived` | `lane_event`, then the loop of the row below |
//! | it arrives at a queue | `Network::enqueue`, `LinkStep::arrive` | `Network::process_deferred`: `pass_deferred`, or `pass_computed` for tail drop |
//! | the transmitter becomes free | `Network::start_service`, `Network::service_event` | the same loop |
//! | the transmitter takes it | `Network::transmit_next` or `use_opportunity`, `LinkStep::serve` | the same loop |
//! | it leaves the transmitter, unless it is lost | `LinkStep::depart`, `Network::leave_link`, then `leave_hop` | the same loop |
//! | it reaches its end | `World::deliver`, then `deliver_to_receiver` and others | `World::receive_segments` at receivers |
//!
//! Worlds with one queue of constant rate that one lane leads to, without sessions, transfers that
//! end and hosts outside, and that nobody looks into while they run, take the deferred path; all
//! others take the plain one, except that shared wires, and receivers with long ways back, may be
//! deferred beside several queues.
//!
//! The suffix `_cold` names the out-of-line twin of a function that exists twice for speed, for
//! rare callers or rare cases. `docs/evidence/2026-11-simulator-speed.md` has the gain of each.

mod build;
mod hosts;
mod measure;
mod network;
mod open;
mod outside;
mod path;
mod sessions;

use crate::agenda::Until;
use crate::ids::{ControlId, FlowId, LinkId, SessionId};
use crate::outcome::Outcome;
use crate::session::Event;
use crate::spec::WorldSpec;
use crate::sys::DEFERRING;
use crate::timers::Target;
use goodqueue_base::units::{Duration, Instant, Rate};
use hosts::Hosts;
use measure::Figures;
use network::{Network, Slot};
use std::fmt;

pub use crate::ids::Ticket;
pub use open::{Change, FlowView, GroupView, Held, LinkView, OpenWorld, PacketLog, View};
pub use outside::{Fate, OutsideDatagram, OutsidePacket, OutsideWorld, Reported};

/// A specification that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldError {
    /// The faulty part: a link's name, or a flow as `group[index]`.
    pub subject: String,
    /// The fault.
    pub message: String,
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl std::error::Error for WorldError {}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time so far.
    pub now: Instant,
    /// Simulated time at the end.
    pub end: Instant,
    /// Events handled so far.
    pub events: u64,
}

/// The answer of a progress callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// Continue the run.
    Yes,
    /// End the run here; its figures cover what was simulated.
    Stop,
}

/// Control events: rare events that belong to no packet.
#[derive(Clone, Copy, Debug)]
enum Control {
    StartFlow(FlowId),
    StopFlow(FlowId),
    /// The timer of a session.
    Session(SessionId),
    /// The timer of a channel.
    Channel(crate::ids::ChannelId),
    RateStep(LinkId, Rate),
    BeginMeasuring,
    Sample,
}

/// Simulated time, and the number of events handled.
#[derive(Clone, Copy, Debug)]
struct Clock {
    now: Instant,
    end: Instant,
    warmup: Duration,
    events: u64,
}

impl Clock {
    const fn progress(&self) -> Progress {
        Progress { now: self.now, end: self.end, events: self.events }
    }
}

/// A simulated world: build it from a specification, run it once.
pub struct World {
    clock: Clock,
    net: Network,
    hosts: Hosts,
    figures: Figures,
}

/// Events between two calls of the progress callback.
const EVENTS_PER_CHECK: u64 = 1 << 16;

impl World {
    /// Builds the world of a specification.
    ///
    /// # Errors
    /// When a link, queue, route or sender cannot be built.
    pub fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        build::world(spec, build::TcpEnds::Simulated).map(|(world, _)| world)
    }

    /// Runs to the end, or until `progress` returns [`Continue::Stop`]. It is called every few
    /// thousand events.
    pub fn run(mut self, progress: &mut dyn FnMut(Progress) -> Continue) -> Outcome {
        let mut complete = true;
        self.begin_deferring();
        loop {
            let target = self.clock.events + EVENTS_PER_CHECK;
            let drained = self.run_events(target, self.clock.end);
            if drained {
                break;
            }
            if progress(self.clock.progress()) == Continue::Stop {
                complete = false;
                self.clock.end = self.clock.now;
                break;
            }
        }
        self.finish_deferred();
        measure::outcome(self, complete)
    }

    /// Defers the processing of elements where nobody can observe it. Only for a world that nobody
    /// looks into before its end, and in which nothing has happened.
    fn begin_deferring(&mut self) {
        if DEFERRING && self.hosts.allow_deferring() && self.figures.limited.is_empty() {
            self.net.begin_deferring();
            self.defer_receivers();
        }
    }

    /// Processes everything deferred, at the end of the run.
    fn finish_deferred(&mut self) {
        let end = self.clock.end;
        self.clock.events += self.net.finish_deferred_queue(end);
        self.clock.events += self.receive_deferred(end);
        self.clock.events += self.net.finish_deferred_wires(end);
        self.clock.now = end;
    }

    /// Handles events up to `until`, or until `target` events have been handled. Returns whether
    /// `until` was reached.
    #[inline]
    fn run_events(&mut self, target: u64, until: Instant) -> bool {
        let until = self.net.agenda.until(until);
        while self.clock.events < target {
            if !self.event(until) {
                return true;
            }
        }
        false
    }

    /// Handles the next event. Returns false when there is none up to `until`.
    #[inline(always)]
    fn event(&mut self, until: Until) -> bool {
        let Some((at, slot)) = self.net.agenda.next_until(until) else { return false };
        debug_assert!(at >= self.clock.now, "time must not run backwards");
        self.clock.now = at;
        self.clock.events += 1;
        match self.net.slots.get(slot) {
            Slot::Lane(lane) => self.lane_event(lane),
            Slot::Timers => self.timer_event(),
            Slot::Service(_) | Slot::QueueTimer(_) if self.net.is_queue_deferred() => {
                // Deferred events are counted one by one.
                self.clock.events += self.net.process_deferred(at) - 1;
            }
            Slot::Service(link) => self.net.service_event(at, link),
            Slot::QueueTimer(link) => self.net.queue_timer_event(at, link),
        }
        true
    }

    /// Sets a host's timer or a control event, not in the past.
    #[inline]
    fn set_timer(&mut self, at: Instant, target: Target) {
        if self.hosts.timers.set(at.max(self.clock.now), target) {
            self.net.set_host_timers(self.hosts.timers.earliest());
        }
    }

    #[inline]
    fn timer_event(&mut self) {
        let Some(target) = self.hosts.timers.take() else { return };
        self.net.set_host_timers(self.hosts.timers.earliest());
        if self.hosts.crowded {
            self.hosts.prefetch_next_timer();
        }
        match target {
            Target::Sender(tcp) => self.sender_timer(tcp),
            Target::Receiver(tcp) => self.receiver_timer(tcp),
            Target::Source(udp) => self.source_timer(udp),
            Target::Control(control) => self.control_event(control),
        }
    }

    #[cold]
    #[inline(never)]
    fn control_event(&mut self, control: ControlId) {
        let now = self.clock.now;
        self.clock.events += self.net.flush_deferred(now);
        self.clock.events += self.receive_deferred_before(now);
        match self.hosts.controls[control] {
            Control::StartFlow(flow) => self.start_flow(flow),
            Control::StopFlow(flow) => self.stop_flow(flow),
            Control::Session(session) => self.notify_session(session, Event::Alarm),
            Control::Channel(channel) => self.notify_channel_alarm(channel),
            Control::RateStep(link, rate) => self.net.announce_rate(now, link, rate),
            Control::BeginMeasuring => self.begin_measuring(),
            Control::Sample => self.sample(control),
        }
    }
}
