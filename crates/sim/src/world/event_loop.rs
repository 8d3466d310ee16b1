//! Events and what they lead to.

use super::flow_ends::Control;
use super::network::Slot;
use super::path::FlowEnd;
use super::state::World;
use crate::agenda::Until;
use crate::ids::{ControlId, FlowId};
use crate::session::Event;
use crate::timers::Target;
use goodqueue_base::units::Instant;

impl World {
    /// Handles events up to `until`, or until `target` events have been handled. Returns whether
    /// `until` was reached.
    #[inline]
    pub(super) fn run_events(&mut self, target: u64, until: Instant) -> bool {
        let until = self.net.path.agenda.until(until);
        while self.clock.events < target {
            if !self.event(until) {
                return true;
            }
        }
        false
    }

    /// Handles the next event. Returns false when there is none up to `until`.
    #[inline(always)]
    pub(super) fn event(&mut self, until: Until) -> bool {
        let Some((at, slot)) = self.net.path.agenda.next_until(until) else { return false };
        debug_assert!(at >= self.clock.now, "time must not run backwards");
        self.clock.now = at;
        self.clock.events += 1;
        match self.net.path.slots.get(slot) {
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

    #[inline]
    fn timer_event(&mut self) {
        let Some(target) = self.ends.timers.take() else { return };
        self.net.set_host_timers(self.ends.timers.earliest());
        if self.ends.crowded {
            self.ends.prefetch_next_timer();
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
        match self.ends.controls[control] {
            Control::StartFlow(flow) => self.start_flow(flow),
            Control::StopFlow(flow) => self.stop_flow(flow),
            Control::Session(session) => self.notify_session(session, Event::Alarm),
            Control::Channel(channel) => self.notify_channel_alarm(channel),
            Control::RateStep(link, rate) => self.net.announce_rate(now, link, rate),
            Control::BeginMeasuring => self.begin_measuring(),
            Control::Sample => self.sample(control),
        }
    }

    fn start_flow(&mut self, flow: FlowId) {
        let end = self.ends.flows[flow].end;
        self.set_flow_active(flow, true);
        match end {
            FlowEnd::Tcp(tcp) => {
                self.ends.senders[tcp].sender.connect(self.clock.now);
                self.poll_sender_cold(tcp, flow);
            }
            FlowEnd::Session(session) => self.notify_session(session, Event::Start),
            FlowEnd::Stream(_) | FlowEnd::Outside(_) => {}
            FlowEnd::Udp(udp) | FlowEnd::Echo(udp) => {
                let at = self.ends.sources[udp].first(self.clock.now);
                self.set_timer(at, Target::Source(udp));
            }
        }
    }

    fn stop_flow(&mut self, flow: FlowId) {
        let end = self.ends.flows[flow].end;
        self.set_flow_active(flow, false);
        match end {
            FlowEnd::Tcp(tcp) => {
                self.ends.senders[tcp].sender.stop(self.clock.now);
                self.poll_sender_cold(tcp, flow);
            }
            FlowEnd::Session(session) => self.notify_session(session, Event::Stop),
            FlowEnd::Stream(_) | FlowEnd::Outside(_) => {}
            FlowEnd::Udp(udp) | FlowEnd::Echo(udp) => self.ends.sources[udp].stopped = true,
        }
    }
}
