//! Working off with a lag.
//!
//! What a packet meets at a queue, or at a wire that several others feed, concerns nobody before it has travelled on from there. So it need not be
//! worked out in its instant: as long as the delay behind the element allows, packets are left in the lane that leads to it, and all that has come
//! is worked off in one go, in the order and with the times it would have had. That spares a look at the agenda for each of them.
//!
//! A queue lags if it is the only one of its world and one lane leads to it: then nothing else happens that its packets, or the order of what is
//! noted of them, depend on, but rare events; these have it caught up before them. A wire lags if one lane leads to it and one leads away. Worlds
//! with sessions, with transfers that end or with hosts outside do not lag.

use super::{ELEMENT, HostKind, TIMERS, WIRE, World};
use crate::agenda::{Agenda, UntilSlot};
use crate::lane::{Lane, Stop};
use crate::link::WireClass;
use crate::rate::RateProcess;
use goodqueue_units::{Bytes, Duration, Instant, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// The longest lag of fast links: more would leave so much in the lanes that it falls out of the cache; and of slow ones, in bytes.
const LONGEST: Duration = Duration::ms(5);
const MOST: Bytes = Bytes::new(96_000);

/// The longest lag at this rate, with this delay behind.
fn longest(rate: Rate, delay: Duration) -> Duration {
    delay.min(LONGEST.max(rate.transmission_time(MOST)))
}

/// The queue that lags, that of the only link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The lane that leads to it.
    lane: u32,
    by: Duration,
    /// What stands in the agenda that much later: when its own timer is due, and when its transmitter is free for a packet that waits.
    timer_at: Instant,
    service_at: Instant,
}

/// The only link of a world that lags.
const LINK: u32 = 0;

/// A wire that several others feed.
#[derive(Default)]
struct Shared {
    /// Where in the hops packets come from to it, and where it stands in them.
    before: Vec<usize>,
    places: Vec<usize>,
}

impl World {
    /// Lets lag what can. Only for a world that nobody looks into before its end, and in which nothing has happened.
    pub(super) fn let_lag(&mut self) {
        let has_ends =
            self.flows.iter().any(|flow| matches!(flow.kind, HostKind::Session | HostKind::Stream | HostKind::Outside));
        if has_ends || !self.limited.is_empty() || self.flow_control {
            return;
        }
        self.let_wires_lag();
        self.let_queue_lag();
    }

    fn let_wires_lag(&mut self) {
        let mut late = Vec::new();
        for (element, shared) in self.shared_wires() {
            let lane = self.lanes.len() as u32;
            self.lanes.push(Lane::new());
            shared.before.iter().for_each(|&place| self.hops[place].lane = lane);
            let class = self.class_of(element);
            late.push((lane, longest(class.rate, class.delay)));
        }
        self.note_all_stops();
        for (lane, lag) in late {
            let lane = &mut self.lanes[lane as usize];
            (lane.stop, lane.lag) = (Stop::LateWire, lag);
        }
        self.agenda = self.agenda.grown(self.slots.lane(self.lanes.len() as u32));
    }

    fn class_of(&self, element: u32) -> &WireClass {
        let wire = &self.wires[(element & ELEMENT) as usize];
        &self.wire_classes[usize::from(wire.class)]
    }

    /// Wires that one lane leads to, from other wires, and whose own lane no other element uses. What is remembered of their class must not concern
    /// hosts, which look at it at once.
    fn shared_wires(&self) -> BTreeMap<u32, Shared> {
        let mut wires = BTreeMap::<u32, Shared>::new();
        let (mut users, mut hosts) = (BTreeMap::<u32, BTreeSet<u32>>::new(), BTreeSet::new());
        let class = |element: u32| self.wires[(element & ELEMENT) as usize].class;
        for (first, len) in self.routes.iter().flat_map(|route| [route.way(false), route.way(true)]) {
            let first = first as usize;
            let mut before = None;
            for place in first..first + usize::from(len) {
                if place > first && self.hops[place - 1].joined {
                    continue;
                }
                let hop = self.hops[place];
                users.entry(hop.lane).or_default().insert(hop.element);
                match before.replace(place) {
                    None if hop.element & WIRE != 0 => {
                        hosts.insert(class(hop.element));
                    }
                    Some(before) if hop.element & WIRE != 0 => {
                        let shared = wires.entry(hop.element).or_default();
                        shared.before.push(before);
                        shared.places.push(place);
                    }
                    _ => {}
                }
            }
        }
        wires.retain(|&element, shared| {
            let lane = self.hops[shared.before[0]].lane;
            let from_one =
                shared.before.iter().all(|&place| self.hops[place].lane == lane && self.hops[place].element & WIRE != 0);
            let to_own = shared.places.iter().all(|&place| users[&self.hops[place].lane].len() == 1);
            from_one && to_own && !hosts.contains(&class(element)) && !self.class_of(element).delay.is_zero()
        });
        wires
    }

    fn let_queue_lag(&mut self) {
        let [link] = &self.links[..] else { return };
        let RateProcess::Constant { rate, .. } = link.rate else { return };
        let by = longest(rate, link.delay);
        let first = |way: (u32, u8)| way.1 > 0 && self.hops[way.0 as usize].element & WIRE == 0;
        let from_hosts = self.routes.iter().any(|route| first(route.way(false)) || first(route.way(true)));
        let mut to_it = (0..).zip(&self.lanes).filter(|(_, lane)| matches!(lane.stop, Stop::Queue(_) | Stop::Varied));
        let (Some((number, lane)), None) = (to_it.next(), to_it.next()) else { return };
        let near = Agenda::is_in_first_group(self.slots.lane(number));
        if by.is_zero() || from_hosts || lane.stop != Stop::Queue(LINK) || !near {
            return;
        }
        self.lanes[number as usize].stop = Stop::LateQueue;
        self.lanes[number as usize].lag = by;
        let (timer_at, service_at) = (self.agenda.at(self.slots.queue_timer(LINK)), self.agenda.at(self.slots.service(LINK)));
        let lag = Lag { lane: number, by, timer_at, service_at };
        self.put_off(lag);
    }

    /// The queue that lags has something to do, as late as it may be.
    #[inline]
    pub(super) fn work_off(&mut self) {
        let now = self.now;
        // What is worked off counts one by one.
        self.handled -= 1;
        self.catch_up_to((now, usize::MAX));
        self.now = now;
    }

    /// A rare event is about to happen.
    pub(super) fn catch_up(&mut self) {
        let now = self.now;
        self.catch_up_to((now, TIMERS));
        self.now = now;
    }

    /// The world has come to its end.
    pub(super) fn end_lag(&mut self) {
        self.catch_up_to((self.end, usize::MAX));
        self.now = self.end;
        for lane in 0..self.lanes.len() as u32 {
            if self.lanes[lane as usize].stop == Stop::LateWire {
                self.handled += self.pass_all(lane);
            }
        }
    }

    /// Works off what comes up to `last`: a time, and the slot of the agenda that is the last one to have its turn then.
    #[inline(never)]
    fn catch_up_to(&mut self, last: (Instant, usize)) {
        let Some(lag) = self.lag else { return };
        let (timer, service, arrival) = (self.slots.queue_timer(LINK), self.slots.service(LINK), self.slots.lane(lag.lane));
        self.agenda.set(timer, lag.timer_at);
        self.agenda.set(service, lag.service_at);
        self.agenda.set(arrival, self.lanes[lag.lane as usize].first_at());
        let until = UntilSlot::new(last);
        while let Some((at, slot)) = self.agenda.next_of([timer, service, arrival], until) {
            self.now = at;
            self.handled += 1;
            if slot == arrival {
                let packet = self.take_first(lag.lane);
                self.enqueue_here(LINK, packet);
            } else if slot == service {
                self.service(LINK);
            } else {
                self.queue_timer(LINK);
            }
        }
        self.put_off(Lag { timer_at: self.agenda.at(timer), service_at: self.agenda.at(service), ..lag });
    }

    /// Has the agenda look at the queue that lags no earlier than it must.
    #[inline(always)]
    fn put_off(&mut self, lag: Lag) {
        self.agenda.set(self.slots.queue_timer(LINK), lag.timer_at + lag.by);
        self.agenda.set(self.slots.service(LINK), lag.service_at + lag.by);
        self.agenda.set(self.slots.lane(lag.lane), self.lanes[lag.lane as usize].first_at() + lag.by);
        self.lag = Some(lag);
    }

    /// Packets have come to a wire that lags.
    #[inline(never)]
    pub(super) fn pass_late(&mut self, lane: u32) {
        self.handled += self.pass_all(lane) - 1;
        let next = &self.lanes[lane as usize];
        let at = next.first_at() + next.lag;
        self.agenda.set(self.slots.lane(lane), at);
    }

    /// Takes all packets that have come so far from a lane to the wire it leads to; how many.
    #[inline(always)]
    fn pass_all(&mut self, lane: u32) -> u64 {
        let mut passed = 0;
        loop {
            let at = self.lanes[lane as usize].first_at();
            if at > self.now || at == Instant::MAX {
                return passed;
            }
            let (packet, _) = self.lanes[lane as usize].pop();
            let place = self.routes[packet.flow.index()].place(packet.is_reverse(), packet.hop);
            self.pass_wire(&packet, place, at);
            passed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{FlowSpec, LinkSpec, QueueSpec, Recording, SourceSpec, WorldSpec};
    use crate::world::measure;
    use goodqueue_aqm::{Limit, sched};

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

    fn lagging(world: &World) -> (bool, usize) {
        (world.lag.is_some(), world.lanes.iter().filter(|lane| lane.stop == Stop::LateWire).count())
    }

    #[test]
    fn what_lags_changes_nothing() {
        for (flows, queue, delay_us) in
            [(1, "tail-drop", 20_000), (9, "tail-drop", 3_000), (9, "ared", 40_000), (4, "codel", 1), (9, "pie", 9_000)]
        {
            for jitter in [Duration::ZERO, Duration::us(30)] {
                let spec = spec(flows, queue, Duration::us(delay_us), jitter);
                let mut punctual = World::new(&spec).expect("a valid world");
                assert!(punctual.run_events(u64::MAX, punctual.end));
                punctual.now = punctual.end;
                let mut late = World::new(&spec).expect("a valid world");
                late.let_lag();
                // The return wire of a single flow has a single feeder, and is passed at once.
                assert_eq!(lagging(&late), (true, usize::from(flows > 1)));
                assert!(late.run_events(u64::MAX, late.end));
                late.end_lag();
                let (punctual, late) = (measure::outcome(punctual, true), measure::outcome(late, true));
                assert_eq!(format!("{punctual:?}"), format!("{late:?}"), "{flows} {queue} {delay_us} {jitter}");
            }
        }
    }

    #[test]
    fn a_queue_with_two_ways_to_it_is_punctual() {
        let mut spec = spec(2, "tail-drop", Duration::ms(5), Duration::ZERO);
        spec.links[2].delay = Duration::ms(1);
        let mut world = World::new(&spec).expect("a valid world");
        world.let_lag();
        assert_eq!(lagging(&world), (false, 1));
    }

    #[test]
    fn what_is_fetched_ahead_changes_nothing() {
        let spec = WorldSpec { duration: Duration::secs(1), ..spec(300, "tail-drop", Duration::ms(5), Duration::us(30)) };
        let [crowded, alone] = [true, false].map(|crowded| {
            let mut world = World::new(&spec).expect("a valid world");
            assert!(world.crowded);
            world.crowded = crowded;
            world.run(&mut |_| crate::world::Continue::Yes)
        });
        assert_eq!(format!("{crowded:?}"), format!("{alone:?}"));
    }
}
