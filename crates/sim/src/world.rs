//! Worlds: their state, the event loop, and the figures at the end.
//!
//! A [`World`] is a `Network` (lanes, wires, links and their event queue), `FlowEnds` (the ends of
//! flows and their timers), a clock, and `Figures` (what is measured of ends). The network knows
//! nothing of ends; a packet that has reached its end comes back to the world, which delivers it.
//!
//! The state of each is in a file that knows nothing of a world; the functions that need several of
//! them are files that call those before them: `sending`, `sessions`, `delivery`,
//! `deferred_receivers` and `event_loop`, then `build`, and worlds that are `open` or have ends
//! `outside`.
//!
//! The stages of a packet, in order, and the function that takes its place where the stage is
//! deferred, which is to say processed late and for many packets in one loop:
//!
//! | stage | plain | deferred |
//! |---|---|---|
//! | a sender is asked for segments | `poll_sender`, and `source_timer` for UDP | the same |
//! | a segment becomes a packet | `send_segment` | the same; answers: `WirePath::answer` |
//! | the packet enters the network at its first hop | `Network::inject`, `Network::enter` | the same; answers: `WirePath::cross_wire` |
//! | it crosses a wire | `WirePath::cross_wire`, `Wire::exit_time` | `Network::cross_deferred_wire` if others share it |
//! | it leaves a hop, across fused wires, into a lane | `WirePath::leave_hop`, `Lane::push` | the same |
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
//! deferred with several queues, too.
//!
//! The suffix `_cold` names the out-of-line twin of a function that exists twice for speed, for
//! rare callers or rare cases. `docs/evidence/2026-11-simulator-speed.md` has the gain of each.

mod build;
mod deferred_receivers;
mod delivery;
mod error;
mod event_loop;
mod figures;
mod flow_ends;
mod measure;
mod network;
mod open;
mod outside;
mod outside_flow;
mod path;
mod sending;
mod session_ends;
mod sessions;
mod state;

use crate::outcome::Outcome;
use crate::spec::WorldSpec;
use crate::sys::DEFERRING;

pub use crate::ids::Ticket;
pub use error::{WorldError, WorldFault};
pub use open::{Change, FlowView, GroupView, Held, LinkView, OpenWorld, PacketLog, View};
pub use outside::{CarriedTransfer, OutsideDatagram, OutsidePacket, OutsideWorld, Reported, carried_outcomes, planned_transfers};
pub use outside_flow::Fate;
pub use state::{Continue, Progress, World};

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
        if DEFERRING && self.ends.allow_deferring() && self.figures.limited.is_empty() {
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
}
