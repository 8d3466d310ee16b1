//! Hierarchical token bucket: a tree of classes with a rate of their own and a ceiling, which lend
//! one another what they do not use.
//!
//! *Signal*: bytes that left each class, framing included, over time; and that of the queue within
//! each leaf.
//!
//! *Law*: each class has two buckets, one that fills at its rate and one that fills at its ceiling.
//! A class with tokens in both *sends*; one with tokens only in the second *borrows* from its
//! parent, which may borrow in turn; one without tokens in the second is *blocked*. A packet pays
//! at the ceilings of its leaf and of all classes above, and at the rates of the class that sends
//! and those above. Leaves that need the tokens of a lower class go first, then those of a lower
//! priority number; leaves of one class and priority take turns of `quantum` bytes.
//!
//! *Parameters*: see [`HtbClass`]. Times are those of Linux: the time of transmission is a
//! multiplication and a shift, buckets are spans of time, and a bucket never owes more than a
//! minute.
//!
//! *Deviations*: packets find their leaf by their flow ([`Qdisc::set_leaf`]) and not by filters.
//! All classes have one framing, where Linux has one for the rate and one for the ceiling of each.
//! The kernel handles due changes for two ticks of its clock at most, and goes on later.
//!
//! *Limits*: a class may be late by a packet's time at its rate, as packets are charged when they
//! leave. The queue of a leaf is told the leaf's ceiling as its rate, as far as the link's allows
//! it.
//!
//! *Source*: Linux (`sch_htb`), Devera 2002; Floyd and Jacobson 1995 for the sharing of a link.

mod ordered_set;
mod params;
mod tree;
mod waits;

use crate::aqm::{FlowHash, QueueView, Reason};
use crate::counters::Counters;
use crate::qdisc::{Departure, Dropped, Packet, Qdisc, Sink};
use crate::queue::Limit;
use crate::sched::flow_index::FlowIndex;
use crate::sched::timers::Timers;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Packets, Rate};
pub use params::HtbKind;
use tree::Tree;

/// Most classes from the root to a leaf.
pub const MAX_DEPTH: usize = 8;
/// Number of priorities.
pub const PRIORITIES: usize = 8;

/// Bounds of a turn that follows from a rate, in bytes.
pub const TURN_BY_RATE: [u64; 2] = [1_000, 200_000];

/// The turn of a class that is given none, before it is held within [`TURN_BY_RATE`]: the bytes
/// that its rate carries in a second, divided by `r2q`.
#[must_use]
pub const fn turn_by_rate(rate: Rate, r2q: u32) -> Bytes {
    Bytes::new(rate.as_bit_s() / 8 / if r2q == 0 { 1 } else { r2q as u64 })
}

/// One class of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtbClass {
    /// The class above, by its number; none for one at the root. Classes are numbered in the order
    /// of their identifiers.
    pub parent: Option<u32>,
    /// Rate that the class may always use.
    pub rate: Rate,
    /// Rate that it may use with what its parent has left.
    pub ceil: Rate,
    /// Depth of the bucket of the rate, as a time at that rate.
    pub burst: Duration,
    /// Depth of the bucket of the ceiling, as a time at the ceiling.
    pub cburst: Duration,
    /// Bytes of one turn, of a leaf.
    pub quantum: Bytes,
    /// Order of service, of a leaf: 0 is the most urgent, 7 the least.
    pub priority: u8,
}

/// The settings of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtbParams {
    /// The leaf of flows that have none; `None` for none: they leave before all others, unshaped.
    pub default: Option<u32>,
    /// The most that waits unshaped.
    pub direct: Limit,
    /// Bytes that each packet counts besides its own in a turn: the header that Linux counts.
    pub header: Bytes,
    /// Bytes that each packet counts besides its own in the buckets.
    pub framing: Framing,
}

/// A fault of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HtbFault {
    /// The parent of this class is none of the classes.
    Parent(u32),
    /// This class is too far from the root.
    TooDeep(u32),
    /// The classes above this one lead back to one of them.
    Circle(u32),
}

impl core::fmt::Display for HtbFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "class {}: {}", self.class(), self.why())
    }
}

impl HtbFault {
    /// The number of the class.
    const fn class(self) -> u32 {
        match self {
            Self::Parent(class) | Self::TooDeep(class) | Self::Circle(class) => class,
        }
    }

    fn why(self) -> alloc::string::String {
        match self {
            Self::Parent(_) => "its parent is none of the classes".into(),
            Self::TooDeep(_) => alloc::format!("is too deep: allowed {MAX_DEPTH} classes one below another"),
            Self::Circle(_) => "the classes above it lead back to it or to one another: allowed a tree".into(),
        }
    }
}

/// The fault of a hierarchy that is no tree, or one that is too deep.
fn check(classes: &[HtbClass]) -> Result<(), HtbFault> {
    for (number, class) in (0..).zip(classes) {
        let (mut above, mut depth) = (class.parent, 1);
        while let Some(parent) = above {
            above = classes.get(parent as usize).ok_or(HtbFault::Parent(number))?.parent;
            depth += 1;
            if depth > classes.len() {
                return Err(HtbFault::Circle(number));
            }
        }
        if depth > MAX_DEPTH {
            return Err(HtbFault::TooDeep(number));
        }
    }
    Ok(())
}

impl core::error::Error for HtbFault {}

/// A packet that waits unshaped.
#[derive(Clone, Debug)]
struct Unshaped<P> {
    packet: P,
    enqueued_at: Instant,
}

/// A tree of classes with a queue `Q` in each leaf.
#[derive(Clone, Debug)]
pub struct Htb<P, Q> {
    tree: Tree,
    /// Queues of classes, by number; none of inner ones.
    queues: Vec<Option<Box<Q>>>,
    ceilings: Vec<Rate>,
    names: BTreeMap<Box<str>, u32>,
    /// The leaves of flows.
    leaves: FlowIndex,
    params: HtbParams,
    unshaped: VecDeque<Unshaped<P>>,
    unshaped_bytes: Bytes,
    timers: Timers,
    /// When a class may send that may not now; it has passed where one may.
    ready_at: Instant,
    waiting: QueueView,
    counters: Counters,
}

/// Takes a packet of `len` out of what waits.
fn take_out(waiting: &mut QueueView, len: Bytes) {
    waiting.backlog -= len;
    waiting.packets -= Packets::new(1);
}

/// Counts the drops and marks of the queues within.
struct Accounts<'a, P> {
    counters: &'a mut Counters,
    waiting: &'a mut QueueView,
    sink: &'a mut dyn Sink<P>,
}

impl<P: Packet> Sink<P> for Accounts<'_, P> {
    fn dropped(&mut self, packet: P, drop: Dropped) {
        self.counters.drop_for(drop.reason, packet.len());
        take_out(self.waiting, packet.len());
        self.sink.dropped(packet, drop);
    }

    fn marked(&mut self, packet: &P, reason: Reason) {
        self.counters.marked.add(packet.len());
        self.sink.marked(packet, reason);
    }
}

impl<P: Packet, Q: Qdisc<P>> Htb<P, Q> {
    /// The tree of `classes`, with the queue of each leaf and none for the others. None has a name
    /// yet. What comes for a leaf without a queue leaves unshaped.
    ///
    /// # Errors
    /// When a parent is none of the classes, or a class is too deep.
    pub fn new(classes: &[HtbClass], params: HtbParams, queues: Vec<Option<Box<Q>>>) -> Result<Self, HtbFault> {
        check(classes)?;
        let tree = Tree::new(classes, params.framing);
        Ok(Self {
            queues,
            ceilings: classes.iter().map(|class| class.ceil).collect(),
            names: BTreeMap::new(),
            leaves: FlowIndex::default(),
            params: HtbParams { default: params.default.filter(|class| tree.is_leaf(*class)), ..params },
            tree,
            unshaped: VecDeque::new(),
            unshaped_bytes: Bytes::ZERO,
            timers: Timers::default(),
            ready_at: Instant::ZERO,
            waiting: QueueView::default(),
            counters: Counters::default(),
        })
    }

    /// Gives a class the name that [`Qdisc::set_leaf`] finds it by.
    pub fn name(&mut self, class: u32, name: &str) {
        self.names.insert(name.into(), class);
    }

    fn leave(&mut self, len: Bytes) {
        self.counters.departed.add(len);
        take_out(&mut self.waiting, len);
    }

    fn note_timer(&mut self, leaf: u32) {
        if let Some(queue) = &self.queues[leaf as usize]
            && !queue.is_timeless()
        {
            self.timers.note(leaf, queue.next_timer());
        }
    }

    /// The next packet of the leaves that send at a level and a priority.
    fn serve(&mut self, level: usize, priority: usize, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        let mut start = self.tree.leaf(level, priority)?;
        let mut leaf = start;
        loop {
            let queue = self.queues[leaf as usize].as_mut()?;
            if queue.view().packets.is_zero() {
                // All of it was dropped since the last time.
                self.tree.deactivate(leaf);
                let next = self.tree.leaf(level, priority)?;
                if leaf == start {
                    start = next;
                }
                leaf = next;
                continue;
            }
            let mut accounts = Accounts { counters: &mut self.counters, waiting: &mut self.waiting, sink };
            let departure = queue.dequeue(now, &mut accounts);
            let is_empty = queue.view().packets.is_zero();
            self.note_timer(leaf);
            if let Some(departure) = departure {
                let len = departure.packet.len();
                self.leave(len);
                self.tree.spend(leaf, level, len + self.params.header);
                if is_empty {
                    self.tree.deactivate(leaf);
                }
                self.tree.charge(leaf, level, len, now.as_nanos() as i64);
                return Some(departure);
            }
            self.tree.pass(leaf, level);
            leaf = self.tree.leaf(level, priority)?;
            if leaf == start {
                return None;
            }
        }
    }
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Htb<P, Q> {
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        let len = packet.len();
        self.counters.arrive(len, packet.ecn());
        let leaf = self.leaves.get(packet.flow()).or(self.params.default);
        let Some((leaf, queue)) = leaf.and_then(|leaf| Some((leaf, self.queues[leaf as usize].as_mut()?))) else {
            let Limit { packets, bytes } = self.params.direct;
            if self.unshaped.len() as u64 >= packets.get() || self.unshaped_bytes + len > bytes {
                self.counters.drop_for(Reason::Overflow, len);
                sink.dropped(packet, Dropped::new(Reason::Overflow, now));
                return;
            }
            self.waiting.backlog += len;
            self.waiting.packets += Packets::new(1);
            self.unshaped_bytes += len;
            self.unshaped.push_back(Unshaped { packet, enqueued_at: now });
            return;
        };
        self.waiting.backlog += len;
        self.waiting.packets += Packets::new(1);
        let before = queue.view().packets;
        let mut accounts = Accounts { counters: &mut self.counters, waiting: &mut self.waiting, sink };
        queue.enqueue(now, packet, &mut accounts);
        // A leaf that has lost the packet again is not made active for it.
        if queue.view().packets > before {
            self.tree.activate(leaf);
            self.ready_at = Instant::ZERO;
        }
        self.note_timer(leaf);
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        self.ready_at = Instant::ZERO;
        if let Some(Unshaped { packet, enqueued_at }) = self.unshaped.pop_front() {
            self.unshaped_bytes -= packet.len();
            self.leave(packet.len());
            return Some(Departure { packet, enqueued_at });
        }
        if self.waiting.packets.is_zero() {
            return None;
        }
        let time = now.as_nanos() as i64;
        let mut next = i64::MAX;
        for level in 0..MAX_DEPTH {
            next = next.min(self.tree.settle(level, time));
            for priority in self.tree.priorities(level) {
                if let Some(departure) = self.serve(level, priority, now, sink) {
                    return Some(departure);
                }
            }
        }
        self.ready_at = Instant::from_nanos(next.max(0) as u64);
        None
    }

    #[inline(never)]
    fn next_timer(&self) -> Option<Instant> {
        let release = (!self.waiting.packets.is_zero() && self.ready_at > Instant::ZERO).then_some(self.ready_at);
        release.into_iter().chain(self.timers.next()).min()
    }

    fn handle_timer(&mut self, now: Instant) {
        if self.ready_at <= now {
            self.ready_at = Instant::ZERO;
        }
        while let Some(leaf) = self.timers.pop_due(now) {
            if let Some(queue) = &mut self.queues[leaf as usize] {
                queue.handle_timer(now);
            }
            self.note_timer(leaf);
        }
    }

    fn set_leaf(&mut self, flow: FlowHash, leaf: &str) {
        self.leaves.remove(flow);
        if let Some(leaf) = self.names.get(leaf).filter(|leaf| self.tree.is_leaf(**leaf)) {
            self.leaves.insert(flow, *leaf);
        }
    }

    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        if let Some(leaf) = self.leaves.get(flow).or(self.params.default)
            && let Some(queue) = &mut self.queues[leaf as usize]
        {
            queue.set_weight(flow, weight);
        }
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        for (leaf, (queue, ceiling)) in (0..).zip(self.queues.iter_mut().zip(&self.ceilings)) {
            if let Some(queue) = queue {
                queue.set_link_rate(now, Some(rate.map_or(*ceiling, |rate| rate.min(*ceiling))));
                self.timers.note(leaf, queue.next_timer());
            }
        }
    }

    fn reserve(&mut self, packets: usize) {
        self.queues.iter_mut().flatten().for_each(|queue| queue.reserve(packets));
        let most = usize::try_from(self.params.direct.packets.get()).unwrap_or(usize::MAX);
        self.unshaped.reserve(most.min(packets));
        self.timers.reserve(self.queues.len());
    }

    #[inline]
    fn view(&self) -> QueueView {
        self.waiting
    }

    fn counters(&self) -> Counters {
        self.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("unshaped_packets", self.unshaped.len() as f64);
    }
}

#[cfg(test)]
mod tests;
