//! CoDel as hooks of a queue against a loop around a queue that was written from the pseudocode of
//! RFC 8289 §5 and shares no code with this crate. Marking follows Linux, as the RFC leaves it
//! open: a mark replaces a drop and ends the loop.

use goodqueue_aqm::algo::codel::{CoDel, CoDelParams, Reentry};
use goodqueue_aqm::{Dropped, EcnPolicy, Limit, ManagedQueue, Qdisc, Reason, SimplePacket, Sink};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rng};
use std::collections::VecDeque;

#[derive(Clone, Copy)]
struct Waiting {
    id: u64,
    len: u64,
    ect: bool,
    stamp: u64,
}

#[derive(Debug, PartialEq)]
enum Event {
    Drop(u64),
    Mark(u64),
    ThresholdMark(u64),
    Deliver(u64),
}

struct Reference {
    target: u64,
    interval: u64,
    ce_threshold: u64,
    acm2012: bool,
    maxpacket: u64,
    queue: VecDeque<Waiting>,
    bytes: u64,
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

impl Reference {
    fn control_law(&self, t: u64) -> u64 {
        t + ((self.interval as f64 / (self.count as f64).sqrt() + 0.5).floor() as u64).max(1)
    }

    fn dodequeue(&mut self, now: u64) -> (Option<Waiting>, bool) {
        let Some(packet) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        self.bytes -= packet.len;
        let sojourn = now - packet.stamp;
        let mut ok_to_drop = false;
        if sojourn < self.target || self.bytes <= self.maxpacket {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(packet), ok_to_drop)
    }

    fn dequeue(&mut self, now: u64, events: &mut Vec<Event>) {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        let mut marked = false;
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                let victim = packet.expect("ok_to_drop implies a packet");
                self.count += 1;
                if victim.ect {
                    events.push(Event::Mark(victim.id));
                    marked = true;
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                events.push(Event::Drop(victim.id));
                (packet, ok_to_drop) = self.dodequeue(now);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop && self.may_enter(now) {
            let victim = packet.expect("ok_to_drop implies a packet");
            if victim.ect {
                events.push(Event::Mark(victim.id));
                marked = true;
            } else {
                events.push(Event::Drop(victim.id));
                (packet, _) = self.dodequeue(now);
            }
            self.dropping = true;
            self.set_count(now);
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        if let Some(packet) = packet {
            if packet.ect && !marked && now - packet.stamp > self.ce_threshold {
                events.push(Event::ThresholdMark(packet.id));
            }
            events.push(Event::Deliver(packet.id));
        }
    }

    fn may_enter(&self, now: u64) -> bool {
        let since_last = now as i64 - self.drop_next as i64;
        !self.acm2012 || since_last < self.interval as i64 || now - self.first_above_time >= self.interval
    }

    fn set_count(&mut self, now: u64) {
        let since_last = now as i64 - self.drop_next as i64;
        if self.acm2012 {
            let is_recent = since_last < self.interval as i64;
            self.count = if is_recent && self.count > 2 { self.count - 2 } else { 1 };
        } else {
            let delta = self.count as i64 - self.lastcount as i64;
            self.count = if delta > 1 && since_last < 16 * self.interval as i64 { delta as u64 } else { 1 };
        }
    }
}

#[derive(Default)]
struct Log(Vec<Event>);

impl Sink<SimplePacket> for Log {
    fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
        assert_eq!(drop.reason, Reason::Head);
        self.0.push(Event::Drop(packet.id));
    }
    fn marked(&mut self, packet: &SimplePacket, reason: Reason) {
        let threshold = reason == Reason::Threshold;
        self.0.push(if threshold { Event::ThresholdMark(packet.id) } else { Event::Mark(packet.id) });
    }
}

/// Runs a long random sequence and counts its events: drops, marks, threshold marks.
fn compare(seed: u64, params: CoDelParams, ect_share: f64, dequeues: u32) -> [u32; 3] {
    let mut rng = Rng::new(seed);
    let mut queue = ManagedQueue::new(CoDel::new(params), Limit::NONE).with_ecn(EcnPolicy::Mark);
    let mut reference = Reference {
        target: params.target.as_nanos(),
        interval: params.interval.as_nanos(),
        ce_threshold: params.ce_threshold.as_nanos(),
        acm2012: params.reentry == Reentry::Acm2012,
        maxpacket: params.mtu.get(),
        queue: VecDeque::new(),
        bytes: 0,
        first_above_time: 0,
        drop_next: 0,
        count: 0,
        lastcount: 0,
        dropping: false,
    };
    let (mut now, mut id, mut load, mut totals) = (1, 0, 1.0, [0; 3]);
    let mut log = Log::default();
    let mut events = Vec::new();
    let service = params.target.as_nanos() / 4;
    for n in 0..dequeues {
        if n % 512 == 0 {
            // A light load drains long queues; a heavy load fills empty ones.
            load = if reference.queue.len() > 400 { 0.2 } else { 0.3 + 1.6 * rng.uniform() };
        }
        let arrivals = u64::from(rng.fires(load.min(1.0))) + u64::from(rng.fires(load - 1.0));
        for _ in 0..arrivals {
            now += rng.below(service / 4 + 1);
            let (len, ect) = (40 + rng.below(1461), rng.fires(ect_share));
            let ecn = if ect { Ecn::Ect0 } else { Ecn::NotEct };
            let packet = SimplePacket { id, ecn, ..SimplePacket::new(len as u32) };
            queue.enqueue(Instant::from_nanos(now), packet, &mut log);
            reference.queue.push_back(Waiting { id, len, ect, stamp: now });
            reference.bytes += len;
            id += 1;
        }
        now += rng.below(2 * service);
        // Occasionally the link stalls, so that several signals fall due at once.
        if rng.fires(0.0005) {
            now += rng.below(8 * params.interval.as_nanos());
        }
        if let Some(departure) = queue.dequeue(Instant::from_nanos(now), &mut log) {
            log.0.push(Event::Deliver(departure.packet.id));
        }
        reference.dequeue(now, &mut events);
        assert_eq!(log.0, events, "at dequeue {n}, seed {seed}, {params:?}");
        for event in events.drain(..) {
            match event {
                Event::Drop(_) => totals[0] += 1,
                Event::Mark(_) => totals[1] += 1,
                Event::ThresholdMark(_) => totals[2] += 1,
                Event::Deliver(_) => {}
            }
        }
        log.0.clear();
    }
    totals
}

#[test]
fn hooks_and_pseudo_code_agree_on_2_500_000_dequeues() {
    let defaults = CoDelParams::default();
    let quick = CoDelParams { target: Duration::us(50), interval: Duration::ms(1), ..defaults };
    let cases = [
        (defaults, 0.0),
        (defaults, 0.5),
        (defaults, 1.0),
        (CoDelParams { ce_threshold: Duration::ms(1), ..defaults }, 0.5),
        (CoDelParams { reentry: Reentry::Acm2012, ..defaults }, 0.5),
        (quick, 0.0),
        (quick, 0.5),
        (CoDelParams { mtu: Bytes::new(9000), ..quick }, 0.5),
        (CoDelParams { reentry: Reentry::Acm2012, ..quick }, 0.0),
        (CoDelParams { target: Duration::ms(100), ..defaults }, 0.5),
    ];
    let mut totals = [0; 3];
    for (seed, (params, ect_share)) in cases.into_iter().enumerate() {
        let case = compare(seed as u64, params, ect_share, 250_000);
        assert!(case[0] + case[1] > 1_000, "{params:?}, {ect_share} ECT: only {case:?} drops, marks, threshold marks");
        totals = core::array::from_fn(|i| totals[i] + case[i]);
    }
    let [drops, marks, threshold_marks] = totals;
    assert!(drops > 50_000 && marks > 50_000 && threshold_marks > 10_000, "{totals:?}");
}
