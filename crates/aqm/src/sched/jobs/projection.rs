//! Looks ahead: the queue that the windows of all active flows will make, each growing by a segment
//! a round trip.
//!
//! Sums over all flows are kept, so that an arrival costs the same however many there are. They
//! are kept apart by the time of the flows' latest packets, so that flows that fell silent stop
//! counting without being looked at.

use super::params::ProjectionParams;
use crate::aqm::{FlowHash, PacketView};
use crate::sched::flow_index::FlowIndex;
use alloc::vec::Vec;
use core::ops::{AddAssign, SubAssign};
use goodqueue_base::units::{Duration, Instant};

/// The longest time that is taken for a round trip: a repeated SYN comes after a second.
const MAX_RTT: Duration = Duration::secs(1);
/// Parts of this time, after each of which flows that were silent all the time stop counting.
const SLOTS: u64 = 16;
/// Bytes per second, and per second squared, at which a flow's part in the sums ends.
const MAX_PART: f64 = 1e13;
const NONE: u32 = u32::MAX;

/// Backlog, limit and rate, in bytes and seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) backlog: f64,
    pub(super) limit: f64,
    pub(super) link: f64,
}

/// Bytes that a flow, or several, are going to send: per second, more per second with each second,
/// and fewer per second from a time on. Whole numbers, so that sums do not drift.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Course {
    rate: u64,
    growth: u64,
    fall: u64,
    /// Falls times the nanoseconds at which they begin.
    moment: u128,
}

impl Course {
    /// Bytes sent within `span` from now.
    fn sent(&self, now: Instant, span: Duration) -> f64 {
        let end = u128::from(self.fall) * u128::from((now + span).as_nanos());
        let spared = end.saturating_sub(self.moment) as f64 / 1e9;
        let secs = span.as_secs_f64();
        self.rate as f64 * secs + self.growth as f64 * secs * secs / 2.0 - spared
    }
}

impl AddAssign for Course {
    fn add_assign(&mut self, other: Self) {
        self.rate += other.rate;
        self.growth += other.growth;
        self.fall += other.fall;
        self.moment += other.moment;
    }
}

impl SubAssign for Course {
    fn sub_assign(&mut self, other: Self) {
        self.rate -= other.rate;
        self.growth -= other.growth;
        self.fall -= other.fall;
        self.moment -= other.moment;
    }
}

/// Sums of courses, by the slot of time in which their flows were last heard of.
#[derive(Clone, Debug)]
struct Sums {
    /// One for each of [`SLOTS`]; on the heap, as a kernel's stack is small.
    slots: Vec<Course>,
    all: Course,
    /// Number of the present slot.
    now: u64,
}

impl Sums {
    fn new() -> Self {
        Self { slots: alloc::vec![Course::default(); SLOTS as usize], all: Course::default(), now: 0 }
    }

    /// Forgets what has been silent too long.
    fn advance(&mut self, now: Instant) {
        let slot = now.as_nanos() / (MAX_RTT.as_nanos() / SLOTS);
        for passed in 0..slot.saturating_sub(self.now).min(SLOTS) {
            let oldest = &mut self.slots[((slot - passed) % SLOTS) as usize];
            self.all -= core::mem::take(oldest);
        }
        self.now = self.now.max(slot);
    }

    fn add(&mut self, course: Course) {
        self.slots[(self.now % SLOTS) as usize] += course;
        self.all += course;
    }

    /// Takes away what was added in `slot`, if it still counts.
    fn take(&mut self, course: Course, slot: u64) {
        if self.now - slot < SLOTS {
            self.slots[(slot % SLOTS) as usize] -= course;
            self.all -= course;
        }
    }
}

/// A flow that is followed.
#[derive(Clone, Copy, Debug)]
struct Follow {
    flow: FlowHash,
    /// Neighbors in the order of latest packets.
    newer: u32,
    older: u32,
    /// Beginning of the first flight, and the latest packet.
    first_at: Instant,
    last_at: Instant,
    /// The time between the first two flights.
    rtt: Option<Duration>,
    /// Bytes per round trip, smoothed; `None` in the first.
    window: Option<f64>,
    /// Bytes in the round trip that began at `since`.
    bytes: u64,
    since: Instant,
    /// Bytes of the largest packet, and of the largest that could be marked.
    segment: u64,
    grows_by: u64,
    /// Time at which a mark is going to halve the window.
    slows_at: Option<Instant>,
    /// The part in the sums, and the slot in which it was added.
    course: Course,
    slot: u64,
}

impl Follow {
    fn new(flow: FlowHash, now: Instant) -> Self {
        Self {
            flow,
            newer: NONE,
            older: NONE,
            first_at: now,
            last_at: now,
            rtt: None,
            window: None,
            bytes: 0,
            since: now,
            segment: 0,
            grows_by: 0,
            slows_at: None,
            course: Course::default(),
            slot: 0,
        }
    }

    fn rtt(&self, params: &ProjectionParams) -> Duration {
        self.rtt.unwrap_or(params.rtt)
    }

    /// Forgets a mark that has acted, which counts will show, and smooths what was counted for each
    /// round trip that ended.
    fn renew(&mut self, now: Instant, params: &ProjectionParams) {
        self.slows_at = self.slows_at.filter(|at| *at > now);
        let rtt = self.rtt(params);
        let ended = now.since(self.since).as_nanos() / rtt.as_nanos().max(1);
        if ended == 0 {
            return;
        }
        let counted = self.bytes as f64;
        let mut window = self.window.map_or(counted, |old| params.alpha * old + (1.0 - params.alpha) * counted);
        // Silent round trips; after a hundred nothing is left.
        (1..ended.min(100)).for_each(|_| window *= params.alpha);
        self.window = Some(window);
        self.bytes = 0;
        self.since += rtt * ended;
    }

    /// Counts a packet.
    fn note(&mut self, now: Instant, packet: &PacketView, params: &ProjectionParams) {
        if self.rtt.is_none() {
            let (elapsed, pause) = (now.since(self.first_at), now.since(self.last_at));
            if elapsed > MAX_RTT {
                self.first_at = now;
            } else if elapsed >= params.shortest && pause * 4 >= elapsed * 3 {
                self.rtt = Some(elapsed);
                // Earlier counts were of other round trips.
                (self.window, self.bytes, self.since) = (None, 0, now);
            }
        }
        self.last_at = now;
        let len = packet.len.get();
        self.bytes += len;
        self.segment = self.segment.max(len);
        if packet.ecn.is_capable() {
            self.grows_by = self.grows_by.max(len);
        }
    }

    fn course(&self, params: &ProjectionParams) -> Course {
        let Some(window) = self.window else { return Course::default() };
        let rtt = self.rtt(params).as_secs_f64();
        let whole = |part: f64| (part.min(MAX_PART) + 0.5) as u64;
        let rate = whole(window / rtt);
        match self.slows_at {
            Some(at) => {
                let fall = rate / 2;
                Course { rate, growth: 0, fall, moment: u128::from(fall) * u128::from(at.as_nanos()) }
            }
            None => Course { rate, growth: whole(self.grows_by as f64 / (rtt * rtt)), ..Course::default() },
        }
    }
}

/// Windows and round-trip times of flows, and the sums over all.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    params: ProjectionParams,
    flows: Vec<Follow>,
    index: FlowIndex,
    /// Flows with the latest and with the earliest latest packet.
    newest: u32,
    oldest: u32,
    sums: Sums,
    evicted: u64,
}

impl Projection {
    pub(super) fn new(params: ProjectionParams) -> Self {
        let mut index = FlowIndex::default();
        index.reserve(params.flows);
        let flows = Vec::with_capacity(params.flows);
        Self { params, flows, index, newest: NONE, oldest: NONE, sums: Sums::new(), evicted: 0 }
    }

    /// The place of a flow, known or new, which becomes the newest. Where there is none left, that
    /// of the flow that was silent longest.
    fn place(&mut self, flow: FlowHash, now: Instant) -> usize {
        let place = match self.index.get(flow) {
            Some(place) => {
                self.unlink(place);
                place
            }
            None if self.flows.len() < self.params.flows => {
                self.flows.push(Follow::new(flow, now));
                let place = (self.flows.len() - 1) as u32;
                self.index.insert(flow, place);
                place
            }
            None => {
                let place = self.oldest;
                self.unlink(place);
                let old = core::mem::replace(&mut self.flows[place as usize], Follow::new(flow, now));
                self.index.remove(old.flow);
                self.index.insert(flow, place);
                self.sums.take(old.course, old.slot);
                self.evicted += 1;
                place
            }
        };
        self.link(place);
        place as usize
    }

    fn unlink(&mut self, place: u32) {
        let Follow { newer, older, .. } = self.flows[place as usize];
        if newer == NONE {
            self.newest = older
        } else {
            self.flows[newer as usize].older = older
        }
        if older == NONE { self.oldest = newer } else { self.flows[older as usize].newer = newer }
    }

    /// Makes a flow the newest.
    fn link(&mut self, place: u32) {
        let older = self.newest;
        let known = &mut self.flows[place as usize];
        (known.newer, known.older) = (NONE, older);
        self.newest = place;
        if older == NONE { self.oldest = place } else { self.flows[older as usize].newer = place }
    }

    fn tally(&mut self, place: usize) {
        let known = &mut self.flows[place];
        self.sums.take(known.course, known.slot);
        (known.course, known.slot) = (known.course(&self.params), self.sums.now);
        self.sums.add(known.course);
    }

    /// Counts an arriving packet and returns the place of its flow.
    pub(super) fn arrive(&mut self, now: Instant, packet: &PacketView) -> usize {
        self.sums.advance(now);
        let place = self.place(packet.flow, now);
        let known = &mut self.flows[place];
        known.renew(now, &self.params);
        known.note(now, packet, &self.params);
        self.tally(place);
        place
    }

    /// True if the packet that has just arrived from the flow at `place`, which can be marked, is
    /// to be: once a round trip.
    pub(super) fn marks(&mut self, place: usize, now: Instant, room: Room) -> bool {
        let rtt = self.flows[place].rtt(&self.params);
        let ahead = self.backlog(now, self.params.horizon.unwrap_or(rtt), room);
        if self.flows[place].slows_at.is_some() || ahead.max(room.backlog) <= room.limit * self.params.b_lim {
            return false;
        }
        self.flows[place].slows_at = Some(now + rtt);
        self.tally(place);
        true
    }

    /// The backlog `span` from now.
    fn backlog(&self, now: Instant, span: Duration, room: Room) -> f64 {
        room.backlog + self.sums.all.sent(now, span) - room.link * span.as_secs_f64()
    }

    /// Packets per round trip of all active flows.
    pub(super) fn windows(&self) -> f64 {
        let active = self.flows.iter().filter(|known| self.sums.now - known.slot < SLOTS);
        active.filter_map(|known| Some(known.window? / known.segment.max(1) as f64)).sum()
    }

    pub(super) fn followed(&self) -> usize {
        self.flows.len()
    }

    /// Flows that made room for others.
    pub(super) const fn evicted(&self) -> u64 {
        self.evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::{Bytes, Ecn};

    fn projection(flows: usize) -> Projection {
        let (rtt, shortest) = (Duration::ms(200), Duration::ms(10));
        Projection::new(ProjectionParams { flows, alpha: 0.9, b_lim: 1.0, horizon: None, rtt, shortest })
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::ms(ms)
    }

    fn send(ahead: &mut Projection, ms: u64, flow: u32, len: u64, ecn: Ecn) -> usize {
        ahead.arrive(at(ms), &PacketView { ecn, ..PacketView::new(Bytes::new(len), FlowHash(flow), at(ms)) })
    }

    fn room(backlog: f64, limit: f64) -> Room {
        Room { backlog, limit, link: 100e3 }
    }

    /// A handshake of 100 ms, and ten segments of 1000 bytes per round trip on a link that takes as
    /// many: after another round trip half a segment more waits.
    #[test]
    fn a_window_grows_by_a_segment_a_round_trip() {
        let mut ahead = projection(8);
        let place = send(&mut ahead, 0, 1, 60, Ecn::NotEct);
        (10..=20).for_each(|number| assert_eq!(send(&mut ahead, 10 * number, 1, 1000, Ecn::Ect0), place));
        assert_eq!(ahead.flows[place].rtt, Some(Duration::ms(100)));
        let trip = Duration::ms(100);
        assert!((ahead.backlog(at(200), trip, room(5_000.0, 1e9)) - 5_500.0).abs() < 1e-9);
        assert!(!ahead.marks(place, at(200), room(5_000.0, 5_501.0)));
        assert!(ahead.marks(place, at(200), room(5_000.0, 5_499.0)));
        assert!(!ahead.marks(place, at(210), room(5_000.0, 4_000.0)), "once per round trip");
        // The mark stops growth at once and halves the window after a round trip.
        assert!((ahead.backlog(at(200), trip, room(5_000.0, 1e9)) - 5_000.0).abs() < 1e-9);
        assert!((ahead.backlog(at(240), trip, room(5_000.0, 1e9)) - 3_000.0).abs() < 1e-9);
        send(&mut ahead, 300, 1, 1000, Ecn::Ect0);
        assert!((ahead.windows() - (0.9 * 10.0 + 0.1)).abs() < 1e-9, "{}", ahead.windows());
    }

    /// Packets that cannot be marked may be those of a source that does not listen.
    #[test]
    fn only_what_can_be_marked_is_taken_to_grow() {
        let mut ahead = projection(8);
        send(&mut ahead, 0, 1, 60, Ecn::NotEct);
        (10..=20).for_each(|number| {
            send(&mut ahead, 10 * number, 1, 1000, Ecn::NotEct);
        });
        assert!((ahead.backlog(at(200), Duration::ms(100), room(5_000.0, 1e9)) - 5_000.0).abs() < 1e-9);
    }

    #[test]
    fn flights_without_a_pause_tell_no_round_trip() {
        let mut ahead = projection(8);
        for number in 0..400 {
            let smooth = send(&mut ahead, 6 * number, 1, 1000, Ecn::Ect0);
            assert_eq!(ahead.flows[smooth].rtt, None);
        }
        // The first flight of ten takes 9 of 60 ms.
        for number in 0..40 {
            let place = send(&mut ahead, 3_000 + number / 10 * 60 + number % 10, 2, 1000, Ecn::Ect0);
            assert_eq!(ahead.flows[place].rtt, (number >= 10).then(|| Duration::ms(60)));
        }
        // A SYN is repeated after a second.
        let late = [4_000, 5_001, 5_081].map(|ms| send(&mut ahead, ms, 3, 60, Ecn::NotEct));
        assert_eq!(ahead.flows[late[2]].rtt, Some(Duration::ms(80)));
    }

    #[test]
    fn the_flow_silent_longest_makes_room() {
        let mut ahead = projection(3);
        for (ms, flow) in [1, 2, 3, 1, 2, 4, 3, 2].into_iter().enumerate() {
            send(&mut ahead, ms as u64, flow, 1000, Ecn::Ect0);
        }
        // 4 took the place of 3, which took that of 1.
        let mut known: Vec<u32> = ahead.flows.iter().map(|known| known.flow.0).collect();
        known.sort_unstable();
        assert_eq!((known, ahead.followed(), ahead.evicted()), (alloc::vec![2, 3, 4], 3, 2));
    }

    /// Sums are those of the flows heard of within a second, whatever came and went.
    #[test]
    fn sums_are_those_of_active_flows() {
        let mut ahead = projection(40);
        let mut rng = goodqueue_base::units::Rng::new(1);
        let mut ms = 0;
        for _ in 0..20_000 {
            ms += (rng.uniform() * rng.uniform() * 60.0) as u64;
            let flow = (rng.uniform() * rng.uniform() * 60.0) as u32;
            let place = send(&mut ahead, ms, flow, 100 + u64::from(flow), Ecn::Ect0);
            ahead.marks(place, at(ms), room(5_000.0, 20_000.0 * rng.uniform()));
        }
        let (mut active, mut silent) = (Course::default(), 0);
        for known in &ahead.flows {
            if ahead.sums.now - known.slot < SLOTS { active += known.course } else { silent += 1 }
        }
        assert_eq!(active, ahead.sums.all);
        assert!(ahead.evicted() > 0 && active.fall > 0 && silent > 0, "{silent} {active:?}");
        send(&mut ahead, ms + 2_000, 1000, 100, Ecn::Ect0);
        assert_eq!(ahead.sums.all, Course::default());
    }

    #[test]
    fn a_flow_that_fell_silent_stops_counting() {
        let mut ahead = projection(8);
        (0..20).for_each(|number| {
            send(&mut ahead, 10 * number, 1, 1000, Ecn::Ect0);
            send(&mut ahead, 10 * number, 2, 1000, Ecn::Ect0);
        });
        assert_eq!(ahead.sums.all.rate, 200_000);
        (20..120).for_each(|number| {
            send(&mut ahead, 10 * number, 1, 1000, Ecn::Ect0);
        });
        assert_eq!(ahead.sums.all.rate, 100_000);
    }
}
