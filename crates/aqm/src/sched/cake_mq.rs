//! cake_mq: a CAKE for each transmit queue of a device, which share one rate.
//!
//! *Signal*: that of each CAKE; and which of them are active.
//!
//! *Law*: the flow of a packet decides its transmit queue, and so its CAKE ([`super::cake`]). One
//! that is asked for a packet 200 us or more after it counted last counts the active ones: itself,
//! those in which packets wait, and those that a packet left since. Its own rate, that of its tins
//! and the quantum of its flows are then those of the whole rate divided by that number. Without a
//! `rate` they have nothing in common.
//!
//! *Parameters*: those of CAKE, and the number of `queues`.
//!
//! *Deviations*: the device of Linux says how many queues there are; here that is a parameter. Its
//! hash of flows is secret, ours is a multiplication. The device takes packets of its queues by
//! turns, as many have it in hardware.
//!
//! *Limits*: for lines that a single processor core cannot shape; on others CAKE is better. The
//! processors of a device that work at once know nothing of one another for up to 200 us, in which
//! queues that become active send more than the rate together, and those that fall idle less. Flows
//! and hosts are treated alike in a queue, but not between queues: a queue with one flow sends as
//! much as one with twenty. The limit holds for each queue. As in Linux it stands at a device's
//! root, within no other queue.
//!
//! *Source*: Linux 7.3 (`sch_cake`).

use crate::aqm::{FlowHash, QueueView};
use crate::arithmetic::LinuxDraws;
use crate::books::EcnPolicy;
use crate::counters::Counters;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::sched::cake::{Cake, CakeKind, CakeParams, ECN};
use crate::sched::{Scheduler, Setup};
use crate::spec::{Family, Kind, KindSpec, Param, ParamError, ParamValues, TypedParam, join};
use alloc::boxed::Box;
use alloc::vec::Vec;
use goodqueue_base::units::{Duration, Instant, Packets, Rate, Rng};

/// Time after which a queue counts the active ones again.
const SYNC: Duration = Duration::us(200);

/// One transmit queue.
#[derive(Clone, Debug)]
struct Member<P> {
    cake: Box<Cake<P>>,
    /// When a packet left last.
    active_at: Instant,
    /// When it counted last.
    counted_at: Instant,
}

/// Several CAKEs that share a rate.
#[derive(Clone, Debug)]
pub struct CakeMq<P> {
    members: Vec<Member<P>>,
    /// The rate that they share, if they shape.
    rate: Option<Rate>,
    /// The queue that is asked next.
    turn: usize,
    /// Active queues, as counted last.
    active: u64,
    /// Linux's form: the draws of all queues.
    draws: Option<LinuxDraws>,
}

impl<P: Packet> CakeMq<P> {
    /// Number of transmit queues.
    #[must_use]
    pub const fn queues(&self) -> usize {
        self.members.len()
    }

    /// The queue that packets of `flow` go to.
    #[must_use]
    pub fn queue_of(&self, flow: FlowHash) -> usize {
        // An odd factor spreads numbered flows over the upper bits.
        let hash = u64::from(flow.0.wrapping_mul(0x9E37_79B1));
        ((hash * self.members.len() as u64) >> 32) as usize
    }

    /// Divides the rate again, if it is time.
    fn count(&mut self, queue: usize, now: Instant) {
        let Some(rate) = self.rate else { return };
        let since = self.members[queue].counted_at;
        if now.since(since) < SYNC {
            return;
        }
        let is_active = |(number, member): (usize, &Member<P>)| {
            number == queue || !member.cake.view().packets.is_zero() || member.active_at > since
        };
        self.active = self.members.iter().enumerate().filter(|member| is_active(*member)).count() as u64;
        let member = &mut self.members[queue];
        // In whole bytes, as Linux counts.
        member.cake.set_rate(Rate::bit_s(rate.as_bit_s() / 8 / self.active * 8));
        member.counted_at = now;
    }

    /// The next packet of one queue, if there is one and it may go.
    pub fn dequeue_from(&mut self, queue: usize, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        self.count(queue, now);
        let member = &mut self.members[queue];
        core::mem::swap(&mut self.draws, member.cake.linux_draws());
        let departure = member.cake.dequeue(now, sink);
        core::mem::swap(&mut self.draws, member.cake.linux_draws());
        if departure.is_some() {
            member.active_at = now;
        }
        departure
    }
}

impl<P: Packet> Qdisc<P> for CakeMq<P> {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        let queue = self.queue_of(packet.flow());
        let cake = &mut self.members[queue].cake;
        core::mem::swap(&mut self.draws, cake.linux_draws());
        cake.enqueue(now, packet, sink);
        core::mem::swap(&mut self.draws, cake.linux_draws());
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        for _ in 0..self.members.len() {
            let queue = self.turn;
            self.turn = (queue + 1) % self.members.len();
            if self.members[queue].cake.view().packets.is_zero() {
                continue;
            }
            let departure = self.dequeue_from(queue, now, sink);
            if departure.is_some() {
                return departure;
            }
        }
        None
    }

    #[inline(never)]
    fn next_timer(&self) -> Option<Instant> {
        self.members.iter().filter_map(|member| member.cake.next_timer()).min()
    }

    fn handle_timer(&mut self, now: Instant) {
        self.members.iter_mut().for_each(|member| member.cake.handle_timer(now));
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.members.iter_mut().for_each(|member| member.cake.set_link_rate(now, rate));
    }

    fn reserve(&mut self, packets: usize) {
        self.members.iter_mut().for_each(|member| member.cake.reserve(packets));
    }

    #[inline(never)]
    fn view(&self) -> QueueView {
        self.members.iter().map(|member| member.cake.view()).sum()
    }

    fn counters(&self) -> Counters {
        self.members.iter().map(|member| member.cake.counters()).fold(Counters::default(), |sum, counters| sum + counters)
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let longest = self.members.iter().map(|member| member.cake.view().packets).max();
        visit("active_queues", self.active as f64);
        visit("longest_queue_packets", longest.unwrap_or(Packets::ZERO).get() as f64);
    }
}

const QUEUES: TypedParam<u32> = TypedParam::count("queues", 4)
    .within(1.0, 64.0)
    .about("transmit queues of the device, each with a CAKE")
    .as_queues(&[])
    .from_source("a device");

const PARAMS: [Param; 22] = join(&[&[QUEUES.param], CakeKind::KIND.base.params], &[]);

const KIND: KindSpec = KindSpec {
    base: Kind {
        kind: "cake-mq",
        aliases: &[],
        title: "CAKE MQ",
        summary: "A CAKE for each transmit queue of a device, which divide one rate between those that are active",
        params: &PARAMS,
        source: "Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018",
    },
    family: Family::FlowQueueing,
    signal: "that of CAKE in each transmit queue; which of them are active",
    ..CakeKind::KIND
};

/// The kind `cake-mq`.
#[derive(Clone, Copy, Debug)]
pub struct CakeMqKind;

impl Scheduler for CakeMqKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<CakeMq<P>>;

    /// Gives the first queue the random stream, and each other one a stream of its own.
    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let params = CakeParams::build(given, setup.link)?;
        let ecn = if ECN.read(given) { setup.ecn } else { EcnPolicy::Drop };
        let mut others = setup.rng.clone();
        let count = QUEUES.read(given);
        let mut members = Vec::with_capacity(count as usize);
        let mut draws = None;
        for number in 0..count {
            let rng = if number == 0 { setup.rng.clone() } else { Rng::new(others.next_u64()) };
            let mut cake = Cake::boxed(params, Setup { ecn, rng, ..setup.clone() });
            let own = cake.linux_draws().take();
            draws = draws.or(own);
            members.push(Member { cake, active_at: Instant::ZERO, counted_at: Instant::ZERO });
        }
        Ok(keep(Box::new(CakeMq { members, rate: params.rate, turn: 0, active: 0, draws })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::AnyQdisc;
    use crate::spec::{LinkFacts, Value};
    use crate::{Limit, NoSink, SimplePacket};
    use goodqueue_base::units::Bytes;
    use std::vec::Vec;

    fn queue() -> AnyQdisc<SimplePacket> {
        let link = LinkFacts {
            rate: None,
            delay: Duration::ZERO,
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
            limit: Limit::packets(10_000),
        };
        let params = [("rate", Value::Rate(Rate::mbit(8))), ("queues", Value::Number(2.0))];
        AnyQdisc::build(&KIND, &params, &link, EcnPolicy::Drop, Rng::new(1)).expect("good")
    }

    /// Flows 1 and 0, one in each queue, and bytes that each gets in a second, of which flow 0 has
    /// packets in the second half alone.
    fn shares(queue: &mut AnyQdisc<SimplePacket>) -> [[u64; 2]; 2] {
        let packet = |flow| SimplePacket { flow, ..SimplePacket::new(1000) };
        let mut bytes = [[0; 2]; 2];
        let mut now = Instant::ZERO + Duration::secs(1);
        let (half, end) = (now + Duration::ms(500), now + Duration::secs(1));
        (0..2000).for_each(|_| queue.enqueue(now, packet(1), &mut NoSink));
        while now < end {
            if now >= half && queue.view().packets.get() < 2000 {
                (0..2000).for_each(|_| queue.enqueue(now, packet(0), &mut NoSink));
            }
            while let Some(departure) = queue.dequeue(now, &mut NoSink) {
                bytes[usize::from(now >= half)][departure.packet.flow as usize] += 1000;
            }
            now = queue.next_timer().expect("packets wait").max(now + Duration::ns(1));
            queue.handle_timer(now);
        }
        bytes
    }

    #[test]
    fn active_queues_share_the_rate_and_one_alone_has_all() {
        let mut queue = queue();
        let AnyQdisc::CakeMq(shared) = &queue else { unreachable!("it was named") };
        assert_eq!([1, 0].map(|flow| shared.queue_of(FlowHash(flow))), [1, 0]);
        let [alone, both] = shares(&mut queue);
        assert_eq!(alone[0], 0);
        assert!((490_000..=510_000).contains(&alone[1]), "8 Mbit/s for half a second: {alone:?}");
        assert!(both.iter().all(|bytes| (240_000..=260_000).contains(bytes)), "4 Mbit/s each: {both:?}");
        assert!(queue.counters().conserves(queue.view()));
    }

    #[test]
    fn flows_are_spread_over_the_queues() {
        let AnyQdisc::CakeMq(shared) = queue() else { unreachable!("it was named") };
        let mut flows = [0; 2];
        (0..1000).for_each(|flow| flows[shared.queue_of(FlowHash(flow))] += 1);
        assert!(flows.into_iter().collect::<Vec<_>>().iter().all(|count| (450..=550).contains(count)), "{flows:?}");
    }
}
