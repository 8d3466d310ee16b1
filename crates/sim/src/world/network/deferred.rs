//! Deferred processing: queues and shared wires that are processed later than packets reach them.
//!
//! Nothing downstream can observe how a packet was treated at a queue, or at a wire that several
//! others feed, until the delay behind it has passed. Packets therefore stay in the lane that leads
//! there for up to that delay and are then processed in one loop, in order and with their original
//! times. That saves two event-queue lookups per packet.
//!
//! Deferral of a queue is safe when it is the only queue and a single lane feeds it: the only other
//! events that could observe it, or the order of what is recorded of it, are control events, and
//! those process everything deferred first. Deferral of a wire is safe when one lane leads to it
//! and one leads away. Worlds with sessions, with transfers that end, or with hosts outside do not
//! defer.

mod fifo;
mod pass;

use super::Network;
use crate::ids::{HopId, LaneId, LinkId, WireClassId, WireId};
use crate::lane::{Arrival, Lane, LaneExit};
use crate::link::Link;
use crate::sys::{CROWD, DEFERRING};
use crate::world::path::{Element, PathHalf, hop_ids};
use goodqueue_base::line::RateCursor;
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// Longest deferral on fast links: more would leave so many packets in the lanes that they fall out
/// of the cache.
const MAX_DELAY: Duration = Duration::ms(5);
/// Longest deferral on slow links, in bytes at the link's rate.
const MAX_BURST: Bytes = Bytes::new(96_000);

/// The longest deferral at this rate, with this delay behind.
pub(in crate::world) fn longest(rate: Rate, delay: Duration) -> Duration {
    delay.min(MAX_DELAY.max(rate.transmission_time(MAX_BURST)))
}

/// The only link of a world, whose queue is deferred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    /// The lane that leads to it.
    lane: LaneId,
    by: Duration,
    /// Times of the queue's own timer, and of the transmitter becoming free for a packet that
    /// waits. The agenda has both times later by `by`.
    timer_at: Instant,
    service_at: Instant,
}

/// The only link of a world with a deferred queue.
const LINK: LinkId = LinkId::new(0);

/// Time from one instant to the next.
const NEXT: Duration = Duration::ns(1);

/// A wire that several others feed.
#[derive(Default)]
struct SharedWire {
    /// Hops from which packets come to it, and its own.
    before: Vec<HopId>,
    own: Vec<HopId>,
}

impl Network {
    /// Defers the wires and the queue that can be.
    pub(in crate::world) fn begin_deferring(&mut self) {
        if !self.flow_control {
            self.defer_wires();
            self.defer_queue();
        }
    }

    pub(in crate::world) const fn is_queue_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    fn defer_wires(&mut self) {
        let mut deferred = Vec::new();
        for (wire, shared) in self.shared_wires() {
            let lane = self.path.lanes.push(Lane::new());
            shared.before.iter().for_each(|&hop| self.path.hops[hop].lane = lane);
            let class = self.class_of(&self.path.wires[wire]);
            deferred.push((lane, longest(class.rate, class.delay)));
        }
        self.note_all_lane_exits();
        for (lane, by) in deferred {
            let lane = &mut self.path.lanes[lane];
            (lane.exit, lane.deferral) = (LaneExit::DeferredWire, by);
        }
        self.grow_agenda();
    }

    /// Wires that one lane leads to, from other wires, and whose own lane no other element uses.
    ///
    /// Their class must differ from those of hosts' own wires: hosts read the class's last packet
    /// at the present time.
    fn shared_wires(&self) -> BTreeMap<WireId, SharedWire> {
        let mut wires = BTreeMap::<WireId, SharedWire>::new();
        let (mut users, mut hosts) = (BTreeMap::<LaneId, BTreeSet<Element>>::new(), BTreeSet::<WireClassId>::new());
        for (first, count) in self.routes.iter().flat_map(|route| PathHalf::BOTH.map(|heading| route.hops(heading))) {
            let mut before = None::<HopId>;
            let mut joined = false;
            for id in hop_ids(first, usize::from(count)) {
                let hop = self.path.hops[id];
                if std::mem::replace(&mut joined, hop.joined) {
                    continue;
                }
                users.entry(hop.lane).or_default().insert(hop.element());
                match (before.replace(id), hop.wire()) {
                    (None, Some(wire)) => {
                        hosts.insert(self.path.wires[wire].class);
                    }
                    (Some(before), Some(wire)) => {
                        let shared = wires.entry(wire).or_default();
                        shared.before.push(before);
                        shared.own.push(id);
                    }
                    (_, None) => {}
                }
            }
        }
        wires.retain(|&wire, shared| {
            let lane = self.path.hops[shared.before[0]].lane;
            let is_fed = |hop: &HopId| self.path.hops[*hop].lane == lane && self.path.hops[*hop].wire().is_some();
            let from_one = shared.before.iter().all(is_fed);
            let to_own = shared.own.iter().all(|&hop| users[&self.path.hops[hop].lane].len() == 1);
            let wire = &self.path.wires[wire];
            from_one && to_own && !hosts.contains(&wire.class) && !self.class_of(wire).delay.is_zero()
        });
        wires
    }

    fn defer_queue(&mut self) {
        let [link] = self.links.as_slice() else { return };
        let RateCursor::Constant { rate, .. } = link.rate else { return };
        let by = if rate > Rate::ZERO { longest(rate, link.delay) } else { Duration::ZERO };
        let starts_at_link = |(first, count): (HopId, u8)| count > 0 && self.path.hops[first].wire().is_none();
        let from_hosts =
            self.routes.iter().any(|route| PathHalf::BOTH.iter().any(|&heading| starts_at_link(route.hops(heading))));
        let leads_to_it = |lane: &LaneId| matches!(self.path.lanes[*lane].exit, LaneExit::Queue(_) | LaneExit::PerPacket);
        let (first, second) = {
            let mut lanes = self.path.lanes.ids().filter(leads_to_it);
            (lanes.next(), lanes.next())
        };
        let (Some(lane), None) = (first, second) else { return };
        if by.is_zero() || from_hosts || self.path.lanes[lane].exit != LaneExit::Queue(LINK) {
            return;
        }
        self.path.lanes[lane].exit = LaneExit::DeferredQueue;
        self.path.lanes[lane].deferral = by;
        let timer_at = self.path.agenda.at(self.path.slots.queue_timer(LINK));
        let service_at = self.path.agenda.at(self.path.slots.service(LINK));
        self.schedule_deferred(Deferred { lane, by, timer_at, service_at });
        self.enable_computed_departures();
    }

    /// Processes what has happened at the deferred queue by `now`. Returns the number of events.
    #[inline]
    pub(in crate::world) fn process_deferred(&mut self, now: Instant) -> u64 {
        self.process_deferred_before(now + NEXT)
    }

    /// Does the work of [`process_deferred`](Self::process_deferred), before a control event of the
    /// same instant.
    pub(in crate::world) fn flush_deferred(&mut self, now: Instant) -> u64 {
        let events = self.process_deferred_before(now);
        self.advance_fifo(now);
        events
    }

    /// Brings the figures of a queue whose departures are arithmetic up to `now`.
    fn advance_fifo(&mut self, now: Instant) {
        let recorder = self.recorder.at(now, LINK, None);
        for Link { fifo, probe, .. } in self.links.iter_mut() {
            if let Some(fifo) = fifo {
                fifo.advance(now, probe, recorder);
            }
        }
    }

    /// Processes the deferred queue at the end of the world. Returns the number of events.
    pub(in crate::world) fn finish_deferred_queue(&mut self, end: Instant) -> u64 {
        let events = self.process_deferred(end);
        self.advance_fifo(end);
        events
    }

    /// Processes the deferred wires at the end of the world. Returns the number of events.
    pub(in crate::world) fn finish_deferred_wires(&mut self, end: Instant) -> u64 {
        let mut events = 0;
        for lane in self.path.lanes.ids() {
            if self.path.lanes[lane].exit == LaneExit::DeferredWire {
                events += self.cross_all_arrived(end, lane);
            }
        }
        events
    }

    /// Processes the events of the deferred queue before an instant. Returns their number.
    fn process_deferred_before(&mut self, end: Instant) -> u64 {
        let Some(deferred) = self.deferred.filter(|_| DEFERRING) else { return 0 };
        let (deferred, events) = match self.links[LINK].fifo.take() {
            Some(mut fifo) => {
                let events = self.pass_computed(&mut fifo, &deferred, end);
                self.links[LINK].fifo = Some(fifo);
                (deferred, events)
            }
            None => self.pass_deferred(deferred, end),
        };
        self.schedule_deferred(deferred);
        events
    }

    /// Sets the events of the deferred queue as late as they may be.
    #[inline(always)]
    fn schedule_deferred(&mut self, deferred: Deferred) {
        self.path.agenda.set(self.path.slots.queue_timer(LINK), deferred.timer_at + deferred.by);
        self.path.agenda.set(self.path.slots.service(LINK), deferred.service_at + deferred.by);
        self.path.agenda.set(self.path.slots.lane(deferred.lane), self.path.lanes[deferred.lane].first_at() + deferred.by);
        self.deferred = Some(deferred);
    }

    /// Moves the packets that have reached a deferred wire across it. Returns their number.
    #[inline(never)]
    pub(in crate::world) fn cross_deferred_wire(&mut self, now: Instant, lane: LaneId) -> u64 {
        let crossed = self.cross_all_arrived(now, lane);
        let next = &self.path.lanes[lane];
        let at = next.first_at() + next.deferral;
        self.path.agenda.set(self.path.slots.lane(lane), at);
        crossed
    }

    #[inline(always)]
    fn cross_all_arrived(&mut self, now: Instant, lane: LaneId) -> u64 {
        if !DEFERRING {
            return 0;
        }
        let Self { path, routes, .. } = self;
        // No packet that leaves the wire enters the lane that leads to it.
        let mut arriving = std::mem::replace(&mut path.lanes[lane], Lane::absent());
        let crowded = routes.len() >= CROWD;
        let mut crossed = 0;
        loop {
            let mut passed = 0;
            for &Arrival { at, ref packet } in arriving.first_packets() {
                if at > now {
                    break;
                }
                if crowded {
                    path.prefetch(routes, [1, 2, 3].map(|place| arriving.peek(passed + place)));
                }
                passed += 1;
                let hop = routes[packet.flow.id()].hop(PathHalf::of(packet.is_reverse()), packet.hop);
                path.cross_wire(packet, hop, at);
            }
            crossed += passed as u64;
            if !arriving.advance_by(passed) {
                break;
            }
        }
        path.lanes[lane] = arriving;
        crossed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Arrivals, FlowSpec, LinkSpec, QueueSpec, Recording, SessionSpec, SourceSpec, WorldSpec};
    use crate::world::{World, measure};
    use goodqueue_aqm::{Limit, sched};
    use goodqueue_base::units::Ecn;

    /// Flows of CUBIC through one queue, and back over one wire.
    fn spec(flows: u32, queue: &str, delay: Duration, jitter: Duration) -> WorldSpec {
        let queue = QueueSpec::plain(sched::kind(queue).expect("known kind"), Limit::packets(20));
        let mut links = vec![
            LinkSpec::wire("bottleneck", Rate::mbit(10), delay).behind(queue),
            LinkSpec::wire("back", Rate::mbit(10), delay),
        ];
        links.extend((0..4 * flows).map(|_| LinkSpec { jitter, ..LinkSpec::wire("access", Rate::gbit(1), Duration::us(100)) }));
        let route = |flow: u32, middle: u32, first: u32| vec![2 + 4 * flow + first, middle, 3 + 4 * flow + first];
        let flows = (0..flows)
            .map(|flow| FlowSpec {
                index: flow,
                start: Instant::ZERO + Duration::ms(7) * u64::from(flow),
                ..FlowSpec::new(route(flow, 0, 0), route(flow, 1, 2), SourceSpec::bulk("cubic"))
            })
            .collect();
        let recording = Recording { sample_every: Some(Duration::ms(50)), packets: true };
        let (warmup, duration) = (Duration::secs(1), Duration::secs(9));
        WorldSpec { links, flows, groups: vec!["test".into()], warmup, duration, seed: 1, recording }
    }

    /// Whether the queue is deferred, whether its departures are arithmetic, whether receivers are
    /// late, and the number of deferred wires.
    fn deferred(world: &World) -> (bool, bool, bool, usize) {
        let wires = world.net.path.lanes.iter().filter(|lane| lane.exit == LaneExit::DeferredWire).count();
        let fifo = world.net.links.iter().any(|link| link.fifo.is_some());
        let receivers = world.net.path.lanes.iter().any(|lane| lane.exit == LaneExit::DeferredReceivers);
        (world.net.is_queue_deferred(), fifo, receivers, wires)
    }

    /// Runs a world with and without deferral, and compares everything that comes out. Returns what
    /// was [`deferred`].
    fn compare(spec: &WorldSpec) -> (bool, bool, bool, usize) {
        let mut punctual = World::new(spec).expect("a valid world");
        assert!(punctual.run_events(u64::MAX, punctual.clock.end));
        punctual.clock.now = punctual.clock.end;
        let mut late = World::new(spec).expect("a valid world");
        late.begin_deferring();
        let what = deferred(&late);
        assert!(late.run_events(u64::MAX, late.clock.end));
        late.finish_deferred();
        let (punctual, late) = (measure::outcome(punctual, true), measure::outcome(late, true));
        assert_eq!(format!("{punctual:?}"), format!("{late:?}"));
        what
    }

    #[test]
    fn deferral_changes_nothing() {
        for (flows, queue, delay_us) in
            [(1, "tail-drop", 20_000), (9, "tail-drop", 3_000), (9, "ared", 40_000), (4, "codel", 1), (9, "pie", 9_000)]
        {
            for (jitter, loss, packets) in
                [(Duration::ZERO, 0.0, true), (Duration::us(30), 0.01, false), (Duration::us(30), 0.0, false)]
            {
                let mut spec = spec(flows, queue, Duration::us(delay_us), jitter);
                spec.links[0].loss = loss;
                spec.recording.packets = packets;
                let fifo = queue == "tail-drop" && loss == 0.0 && !packets;
                // The return wire of a single flow has a single feeder, and is passed at once.
                assert_eq!(compare(&spec), (true, fifo, true, usize::from(flows > 1)), "{flows} {queue} {delay_us} {jitter}");
            }
        }
    }

    #[test]
    fn deferral_changes_nothing_for_packets_of_any_kind() {
        let small = Bytes::new(90);
        let rate = Rate::mbit(1);
        for large in [1_500, 1_000] {
            let mut spec = spec(6, "tail-drop", Duration::ms(9), Duration::us(30));
            spec.recording.packets = false;
            for (place, source) in [
                SourceSpec::Echo { interval: Duration::ms(11), packet_size: small, ecn: Ecn::NotEct },
                SourceSpec::Cbr { rate, packet_size: small, ecn: Ecn::NotEct },
                SourceSpec::Cbr { rate: Rate::mbit(4), packet_size: Bytes::new(large), ecn: Ecn::NotEct },
            ]
            .into_iter()
            .enumerate()
            {
                spec.flows[place].source = source;
            }
            // Ends read how long the last large packet took: with two sizes its time counts.
            let alike = large == 1_500;
            assert_eq!(compare(&spec), (true, alike, alike, 1));
        }
    }

    #[test]
    fn a_queue_with_two_ways_to_it_is_not_deferred() {
        let mut spec = spec(2, "tail-drop", Duration::ms(5), Duration::ZERO);
        spec.links[2].delay = Duration::ms(1);
        let mut world = World::new(&spec).expect("a valid world");
        world.begin_deferring();
        assert_eq!(deferred(&world), (false, false, true, 1));
    }

    #[test]
    fn prefetching_changes_nothing() {
        let spec = WorldSpec { duration: Duration::secs(1), ..spec(300, "tail-drop", Duration::ms(5), Duration::us(30)) };
        let [crowded, alone] = [true, false].map(|crowded| {
            let mut world = World::new(&spec).expect("a valid world");
            assert!(world.ends.crowded);
            world.ends.crowded = crowded;
            world.run(&mut |_| crate::world::Continue::Yes)
        });
        assert_eq!(format!("{crowded:?}"), format!("{alone:?}"));
    }

    #[test]
    fn connections_of_sessions_make_a_crowd() {
        let base = spec(2, "tail-drop", Duration::ms(5), Duration::us(30));
        let mut spec = WorldSpec { duration: Duration::secs(1), ..base };
        let SourceSpec::Tcp { sender, receiver, header } = SourceSpec::bulk("cubic") else { panic!("bulk is TCP") };
        let model = SessionSpec::Short {
            size: Bytes::new(50_000),
            interval: Duration::ms(4),
            arrivals: Arrivals::Periodic,
            connections: 1,
        };
        spec.flows[1].source = SourceSpec::Session { model, sender, receiver, header };
        let mut world = World::new(&spec).expect("a valid world");
        assert!(!world.ends.crowded);
        assert!(world.run_events(u64::MAX, world.clock.end));
        assert!(world.ends.crowded && world.ends.senders.len() > 256);
    }
}
