//! cake: fair queueing between hosts and between the flows of each host, with COBALT on every
//! queue, in weighted tins, and optional filtering of redundant acknowledgements.
//!
//! *Signal*: that of COBALT in each queue; the class, hosts and flow of each packet; and overflow
//! of all queues together.
//!
//! *Law*: the class of a packet selects its tin. A tin has `flows` queues in sets of eight, in
//! which `isolation` keeps flows apart. Tins take turns by weight, the queues of a tin by deficit
//! round robin with turns of one `quantum`. Where `isolation` is fair to hosts, the turn is divided
//! by the number of busy queues of the packet's source or destination host, whichever has more. A
//! queue that becomes busy is sparse and is served first until its credit is used up; then it is
//! bulk and counts for its hosts. A queue that runs empty decays: it keeps its place, its COBALT
//! state and its hash until COBALT has come to rest. The last packet of a queue may be marked and
//! is never dropped on departure. While all queues together exceed the limit, the queue with the
//! most bytes loses from its head. With `ack_filter`, an arriving acknowledgement removes an older
//! one of its flow that it makes redundant: the oldest of two or more in a row with the same
//! congestion echo; when `aggressive`, also a single one right before it.
//!
//! *Parameters*: see `KINDS`. The defaults are those of Linux. The `quantum` is 1/4096 s at the
//! rate of the link, within 300 and 1514 bytes (1514 when the rate is unknown). Weights of tins:
//! `diffserv3` 1024 best effort, 64 bulk, 256 voice; `diffserv4` 1024, 64, 512 video, 256;
//! `diffserv8` and `precedence` 256 and 7/8 of the tin before. Linux has no switch for `ecn`: it
//! always marks.
//!
//! With a `rate` it shapes in deficit mode, as Linux does: each packet moves the time of the next
//! on by its own, framing included, and a tin goes first while it keeps to its part
//! of the rate. COBALT and the quantum of a tin then follow that part.
//!
//! *Deviations*: without a `rate` tins are served by weight alone, as in Linux, but COBALT and the
//! quantum use the rate of the link, which Linux does not know. There is no `autorate-ingress`.
//! Addresses are those of the hosts, so that `nat` has nothing to look up, and packets come one by
//! one, so that `split_gso` has nothing to split. `memlimit` counts packet bytes. With `arithmetic
//! = linux` the verdicts are those of Linux packet by packet: its COBALT, and shares in 1/65536,
//! for which even the turn of a single queue is a random number of bytes. A class is the upper
//! three bits of a DSCP and goes where Linux puts the class selector; in `diffserv3` class 5 goes
//! to voice, because of EF. A fractional turn is rounded up or down at random without the bias of
//! Linux's 16 bits. A queue shared by several flows counts for the hosts of the flow that created
//! it. A host is looked up by its busy queues, whether bulk or not. Only pure acknowledgements
//! remove others.
//!
//! *Limits*: each dropped packet costs a search of all queues for the longest. An acknowledgement
//! may scan its whole queue.
//!
//! *Source*: Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018.

use crate::algo::cobalt::Cobalt;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{Arithmetic, LinuxDraws};
use crate::books::EcnPolicy;
use crate::counters::Counters;
use crate::outline::aside;
use crate::pool;
use crate::qdisc::{Departure, Dropped, Packet, Qdisc, Sink};
use crate::queue::Limit;
use crate::sched::flow_table::{self, DropFrom, FlowTable, MAX_BYTES, ShownBacklog};
use crate::sched::{Scheduler, Setup};
use crate::spec::{KindSpec, ParamError, ParamValues};
use alloc::boxed::Box;
use alloc::vec::Vec;
use goodqueue_base::units::{Framing, Instant, Packets, Rate, Rng};

mod ack_filter;
mod hosts;
mod params;
mod shaping;
mod shares;
mod tin;

pub use ack_filter::AckFilter;
pub(crate) use params::ECN;
use params::KIND;
pub use params::{CakeParams, Isolation, Tins};
use shaping::Shaping;
use tin::{Seat, Tin};

/// COBALT that spares a queue's last packet.
#[derive(Clone, Debug)]
struct Sparing(Cobalt);

impl Aqm for Sparing {
    #[inline]
    fn is_timeless() -> bool {
        true
    }
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        self.0.on_arrival(env, packet, queue)
    }
    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        match self.0.on_departure(env, head, queue) {
            verdict if !queue.packets.is_zero() => verdict,
            Verdict::Signal(reason) => Verdict::Mark(reason),
            Verdict::Drop(_) => Verdict::Pass,
            verdict => verdict,
        }
    }
    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {
        self.0.on_overflow(env, packet, queue);
    }
    fn on_evicted(&mut self, env: &mut Env<'_>, count: Packets) {
        self.0.on_evicted(env, count);
    }
    #[inline]
    fn on_emptied(&mut self, now: Instant) {
        self.0.on_emptied(now);
    }
    #[inline]
    fn on_idle(&mut self, now: Instant) {
        self.0.on_idle(now);
    }
    #[inline]
    fn on_sharing(&mut self, flows: u32) {
        self.0.on_sharing(flows);
    }
    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.0.on_rate_change(env);
    }
}

/// Tins of fair queues, holding packets of type `P`.
#[derive(Clone, Debug)]
pub struct Cake<P> {
    table: FlowTable<P, Sparing, ()>,
    seats: Vec<Seat>,
    tins: Vec<Tin>,
    /// The tin whose turn it is.
    current: usize,
    params: CakeParams,
    limit: Limit,
    /// Linux's form: its draws.
    linux: Option<LinuxDraws>,
    /// The queue's own shaper, where it has a rate.
    shaping: Option<Box<Shaping>>,
}

/// Counts dropped packets as they are on the wire, and charges them to the shaper.
struct Toll<'a, P> {
    sink: &'a mut dyn Sink<P>,
    framing: Framing,
    shaping: Option<&'a mut Shaping>,
    tin: usize,
    now: Instant,
    bytes: u64,
}

impl<P: Packet> Sink<P> for Toll<'_, P> {
    fn dropped(&mut self, packet: P, drop: Dropped) {
        let len = self.framing.wire(packet.len()).get();
        self.bytes += len;
        if let Some(shaping) = &mut self.shaping {
            shaping.charge(self.tin, len, self.now, true);
        }
        self.sink.dropped(packet, drop);
    }
    fn marked(&mut self, packet: &P, reason: Reason) {
        self.sink.marked(packet, reason);
    }
}

impl<P: Packet> Cake<P> {
    /// Empty queues that mark, with random stream 0.
    #[must_use]
    pub fn new(params: CakeParams, limit: Limit) -> Self {
        let mut cake = Self::bare(params, limit);
        cake.table.books.ecn = EcnPolicy::Mark;
        cake.set_tin_rates();
        cake.draw_salts();
        cake
    }

    /// Creates the queue before its tins know their rates and salts. Nothing changes it in here, so
    /// that it is made where it is wanted and not moved there.
    #[inline(always)]
    fn bare(params: CakeParams, limit: Limit) -> Self {
        let weights = params.tins.weights();
        let per_tin = params.flows.max(1);
        let aqm = Sparing(Cobalt::new(params.cobalt));
        // One for each tin, which stands for its queues that were never used.
        let count = weights.len() as u32;
        let mut table = FlowTable::new(flow_table::flows(&aqm, &(), count), ShownBacklog::Flow);
        table.books.yields = params.ingress;
        let tins = weights.iter().enumerate();
        let tins = tins.map(|(number, &weight)| Tin::new(number as u32, per_tin, weight, params.isolation));
        let tins = aside(|| tins.collect());
        let bytes = limit.bytes.min(params.memlimit).min(MAX_BYTES);
        let limit = Limit { packets: limit.packets.min(Packets::new(pool::MAX)), bytes };
        let seats = alloc::vec![Seat::IDLE; count as usize];
        let shaping = params.rate.map(|rate| Box::new(Shaping::new(&params.tins.rates(rate))));
        Self { table, seats, tins, current: 0, params, limit, linux: None, shaping }
    }

    /// The queue where it stays, with the settings that a host gives every queue.
    pub(crate) fn boxed(params: CakeParams, setup: Setup<'_>) -> Box<Self> {
        let mut queue = aside(|| Box::write(Box::new_uninit(), Self::bare(params, setup.link.limit)));
        queue.set_up(setup);
        queue
    }

    /// Applies the settings that a host gives every queue: ECN policy, random stream and framing.
    fn set_up(&mut self, setup: Setup<'_>) {
        let overhead = self.params.framing.added(setup.link.mtu);
        self.table.books.set_up(setup.ecn, setup.rng, overhead);
        self.set_tin_rates();
        self.draw_salts();
    }

    /// Draws the seed of all hash salts from the random stream.
    fn draw_salts(&mut self) {
        let first = self.table.books.rng.next_u64();
        let mut salts = Rng::new(first);
        self.linux = (self.params.cobalt.arithmetic == Arithmetic::Linux).then(|| LinuxDraws::from(first));
        self.tins.iter_mut().for_each(|tin| tin.salt(&mut salts));
    }

    /// Adapts COBALT and the quantum of each tin, none of whose queues is in use, to its part of
    /// the shaper's rate; without a shaper, resets only the quantum.
    fn set_tin_rates(&mut self) {
        let Some(rate) = self.params.rate else {
            self.set_quantum(None);
            return;
        };
        let unused = self.table.flows.iter_mut();
        for ((tin, flow), rate) in self.tins.iter_mut().zip(unused).zip(self.params.tins.rates(rate)) {
            tin.set_quantum(self.params.quantum(Some(rate)));
            self.table.books.set_link_rate(Some(rate));
            flow.aqm.on_rate_change(&mut self.table.books.env(Instant::ZERO));
        }
    }

    /// Gives the shaper and the quantum of each tin another rate, from now on. COBALT keeps what it
    /// has.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        let rates = self.params.tins.rates(rate);
        if let Some(shaping) = &mut self.shaping {
            shaping.set_rates(&rates);
        }
        for (tin, rate) in self.tins.iter_mut().zip(rates) {
            tin.set_quantum(self.params.quantum(Some(rate)));
        }
    }

    /// The draws of Linux's form.
    pub(crate) const fn linux_draws(&mut self) -> &mut Option<LinuxDraws> {
        &mut self.linux
    }

    /// Sets the same quantum in all tins, as without a shaper, by the link's `rate`.
    fn set_quantum(&mut self, rate: Option<Rate>) {
        let quantum = self.params.quantum(rate);
        self.tins.iter_mut().for_each(|tin| tin.set_quantum(quantum));
    }

    /// Drops from the longest queue until the limits hold.
    #[cold]
    fn shed(&mut self, now: Instant, sink: &mut dyn Sink<P>) {
        while self.is_over_limit() {
            let longest = self.table.fattest();
            let tin = (self.table.rank(longest) / self.params.flows.max(1)) as usize;
            let before = self.table.total.packets.get();
            if let Some(shaping) = self.shaping.as_deref_mut().filter(|_| self.params.ingress) {
                let mut toll =
                    Toll { sink: &mut *sink, framing: self.params.framing, shaping: Some(shaping), tin, now, bytes: 0 };
                self.table.evict(longest, DropFrom::Head, 1, 0, now, &mut toll);
            } else {
                self.table.evict(longest, DropFrom::Head, 1, 0, now, &mut *sink);
            }
            if let Some(shaping) = &mut self.shaping {
                shaping.count(tin, before, self.table.total.packets.get());
            }
        }
    }

    fn is_over_limit(&self) -> bool {
        self.table.total.packets > self.limit.packets || self.table.total.backlog > self.limit.bytes
    }
}

/// The number of the tin whose turn it is, from that of the last one. Something must wait.
#[inline]
fn choose(tins: &mut [Tin], last: usize) -> usize {
    let mut from = last;
    loop {
        for (number, tin) in tins.iter_mut().enumerate().skip(from) {
            if tin.deficit >= 0 && tin.is_active() {
                return number;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
        }
        from = 0;
    }
}

/// Lends queue `index` the generator of Linux's form, or takes it back: it has one for all that is
/// drawn.
#[inline]
fn exchange_draws<P>(linux: &mut Option<LinuxDraws>, table: &mut FlowTable<P, Sparing, ()>, index: usize) {
    if let Some(draws) = linux
        && let Some(lent) = table.flows[index].aqm.0.linux_draws()
    {
        core::mem::swap(draws, lent);
    }
}

impl<P: Packet> Qdisc<P> for Cake<P> {
    // Out of line, here and below, so that common disciplines do not pay for this code in
    // `AnyQdisc`.
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.table.books.arrive(&packet);
        let number = self.params.tins.of(packet.class());
        let tin = &mut self.tins[number];
        let before = self.table.total.packets.get();
        if let Some(shaping) = &mut self.shaping {
            shaping.arrive(number, now, before == 0);
        }
        let (flow, hosts) = (packet.flow(), packet.endpoints());
        let (table, per_tin) = (&mut self.table, self.params.flows.max(1));
        let begin = |unused: u32, place: u32| {
            let aqm = table.flows[unused as usize].aqm.clone();
            table.add(aqm, (), number as u32 * per_tin + place);
        };
        let bucket = tin.queue_of(&mut self.seats, self.params.isolation.key(flow, hosts), begin);
        let index = bucket as usize;
        if packet.len() > self.limit.bytes {
            self.table.refuse(index, now, packet, sink);
            return;
        }
        let ack = if self.params.ack_filter == AckFilter::Off { None } else { packet.pure_ack() };
        if !self.table.offer(index, now, packet, sink) {
            return;
        }
        if let Some(ack) = ack
            && let Some(place) = self.params.ack_filter.redundant(self.table.waiting(index), flow, &ack)
        {
            if let Some(shaping) = self.shaping.as_deref_mut().filter(|_| self.params.ingress) {
                let framing = self.params.framing;
                let mut toll = Toll { sink: &mut *sink, framing, shaping: Some(shaping), tin: number, now, bytes: 0 };
                self.table.withdraw(index, place, Reason::Redundant, &mut toll);
            } else {
                self.table.withdraw(index, place, Reason::Redundant, sink);
            }
        }
        tin.join(&mut self.seats, bucket, hosts, (&mut self.linux, &mut self.table.books.rng));
        if let Some(shaping) = &mut self.shaping {
            shaping.count(number, before, self.table.total.packets.get());
        }
        if self.is_over_limit() {
            self.shed(now, sink);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        let Self { table, seats, tins, current, params, linux, shaping, .. } = self;
        let mut serves_decaying = true;
        while !table.total.packets.is_zero() {
            *current = match shaping {
                None => choose(tins, *current),
                Some(shaping) => {
                    shaping.held = shaping.holds_until(now);
                    if shaping.held.is_some() {
                        return None;
                    }
                    shaping.choose(now, tins.iter().map(Tin::is_active))
                }
            };
            let tin = &mut tins[*current];
            while let Some(bucket) = tin.next(serves_decaying) {
                serves_decaying = false;
                let index = bucket as usize;
                if seats[index].deficit <= 0 {
                    let is_empty = || table.flows[index].is_empty();
                    tin.end_turn(seats, bucket, is_empty, (linux, &mut table.books.rng));
                    continue;
                }
                let flow = &mut table.flows[index];
                if params.ingress {
                    flow.aqm.on_sharing(tin.bulk);
                }
                // Of the three queues or so that a packet meets here all but one are mostly empty.
                if flow.is_empty() {
                    flow.aqm.on_idle(now);
                } else {
                    let before = table.total.packets.get();
                    exchange_draws(linux, table, index);
                    // Also where drops cost nothing: a single caller lets the compiler inline
                    // `take`, which saves more instructions than the detour costs.
                    let charged = shaping.as_deref_mut().filter(|_| params.ingress);
                    let mut toll =
                        Toll { sink: &mut *sink, framing: params.framing, shaping: charged, tin: *current, now, bytes: 0 };
                    let departure = table.take(index, now, &mut toll);
                    let tolls = if params.ingress { toll.bytes } else { 0 };
                    exchange_draws(linux, table, index);
                    if let Some(shaping) = shaping {
                        shaping.count(*current, before, table.total.packets.get());
                    }
                    if let Some(sent) = &departure {
                        let len = params.framing.wire(sent.packet.len()).get();
                        if let Some(shaping) = shaping {
                            shaping.charge(*current, len, now, false);
                        }
                        let charge = (tolls + len) as i64;
                        seats[index].deficit -= charge;
                        tin.deficit -= charge;
                        return departure;
                    }
                    if params.ingress && !table.flows[index].is_empty() {
                        // A drop, which its queue pays for: another one may come first now.
                        seats[index].deficit -= tolls as i64;
                        tin.deficit -= tolls as i64;
                        continue;
                    }
                }
                tin.leave(seats, bucket, table.flows[index].aqm.0.is_at_rest(now));
                // The tin is not charged for that: it is still the one to serve, if there is
                // anything. A shaper may have been, for drops.
                if shaping.is_some() || table.total.packets.is_zero() || !tin.is_active() {
                    break;
                }
            }
        }
        None
    }

    /// COBALT has no updates: when packets that the shaper held back may go.
    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        self.shaping.as_ref().and_then(|shaping| shaping.held)
    }

    // While packets wait, new ones only move the time at which the next may leave further ahead.
    #[inline]
    fn held_until(&self) -> Instant {
        match &self.shaping {
            Some(shaping) if !self.table.total.packets.is_zero() => shaping.may_go_at(),
            _ => Instant::ZERO,
        }
    }

    fn handle_timer(&mut self, now: Instant) {
        if let Some(shaping) = &mut self.shaping {
            shaping.held = shaping.held.filter(|due| *due > now);
        }
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        if self.shaping.is_some() {
            return;
        }
        self.table.set_link_rate(now, rate);
        if rate.is_none_or(|rate| !rate.is_zero()) {
            self.set_quantum(rate);
        }
    }

    fn reserve(&mut self, packets: usize) {
        let flows = self.tins.len() * (self.params.flows.max(1) as usize + 1);
        self.table.reserve_flows(flows);
        self.seats.reserve_exact(flows.saturating_sub(self.seats.len()));
        self.tins.iter_mut().for_each(Tin::reserve);
        self.table.reserve(packets);
    }

    #[inline(never)]
    fn view(&self) -> QueueView {
        self.table.total
    }

    fn counters(&self) -> Counters {
        self.table.books.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        const NAMES: [&str; 8] = [
            "tin_0_bytes",
            "tin_1_bytes",
            "tin_2_bytes",
            "tin_3_bytes",
            "tin_4_bytes",
            "tin_5_bytes",
            "tin_6_bytes",
            "tin_7_bytes",
        ];
        let sum = |count: fn(&Tin) -> u32| self.tins.iter().map(|tin| f64::from(count(tin))).sum::<f64>();
        visit("sparse_flows", sum(|tin| tin.sparse));
        visit("bulk_flows", sum(|tin| tin.bulk));
        visit("decaying_flows", sum(|tin| tin.decaying));
        let mut bytes = [0.0; NAMES.len()];
        for index in self.tins.len()..self.table.flows.len() {
            let tin = self.table.rank(index) / self.params.flows.max(1);
            bytes[tin as usize] += f64::from(self.table.backlog(index));
        }
        for (name, bytes) in NAMES.iter().zip(bytes).take(self.tins.len()) {
            visit(name, bytes);
        }
    }
}

/// The kind `cake`.
#[derive(Clone, Copy, Debug)]
pub struct CakeKind;

impl Scheduler for CakeKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<Cake<P>>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let ecn = if params::ECN.read(given) { setup.ecn } else { EcnPolicy::Drop };
        let params = CakeParams::build(given, setup.link)?;
        Ok(keep(Cake::boxed(params, Setup { ecn, ..setup })))
    }
}

#[cfg(test)]
mod tests;
