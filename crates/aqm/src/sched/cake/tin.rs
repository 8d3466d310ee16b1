//! One tin: its queues' places in the round, and their turns.

use super::Sparing;
use super::hosts::Hosts;
use super::params::Isolation;
use super::shares::{self, ExactDraw, Shares};
use crate::aqm::{self, FlowHash};
use crate::qdisc::Packet;
use crate::sched::classifier::{Classifier, Hashing};
use crate::sched::flow_table::{Flow, FlowTable};
use core::ops::Range;
use goodqueue_units::{Instant, Rng};

const NONE: u32 = u32::MAX;

/// Where a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nowhere.
    Idle,
    /// Among the new, which go first.
    Sparse,
    /// Among the old, because it ran empty with its credit used up; counted as sparse.
    SparseEmpty,
    /// Among the old.
    Bulk,
    /// Empty, until its COBALT has come to rest.
    Decaying,
}

/// A queue's place in its tin's round, its credit, and its hosts.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    next: u32,
    previous: u32,
    place: Place,
    /// Slots among the tin's sources and destinations.
    source: u32,
    destination: u32,
    pub(super) deficit: i64,
}

impl Turn {
    pub(super) const IDLE: Self = Self { next: NONE, previous: NONE, place: Place::Idle, source: 0, destination: 0, deficit: 0 };
}

type Flows = [Flow<Sparing, Turn>];

/// Queues in a line, linked both ways through their turns.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: u32,
    tail: u32,
}

impl Chain {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    fn push_back(&mut self, flows: &mut Flows, index: u32) {
        let turn = &mut flows[index as usize].turn;
        (turn.next, turn.previous) = (NONE, self.tail);
        match self.tail {
            NONE => self.head = index,
            tail => flows[tail as usize].turn.next = index,
        }
        self.tail = index;
    }

    fn remove(&mut self, flows: &mut Flows, index: u32) {
        let Turn { next, previous, .. } = flows[index as usize].turn;
        match previous {
            NONE => self.head = next,
            previous => flows[previous as usize].turn.next = next,
        }
        match next {
            NONE => self.tail = previous,
            next => flows[next as usize].turn.previous = previous,
        }
    }

    /// Puts what stands before queue `first` behind the others.
    fn begin_with(&mut self, flows: &mut Flows, first: u32) {
        if self.head == first {
            return;
        }
        let last = core::mem::replace(&mut flows[first as usize].turn.previous, NONE);
        flows[last as usize].turn.next = NONE;
        flows[self.tail as usize].turn.next = self.head;
        flows[self.head as usize].turn.previous = self.tail;
        (self.head, self.tail) = (first, last);
    }

    /// Puts queue `index` behind the others.
    fn put_last(&mut self, flows: &mut Flows, index: u32) {
        if self.tail != index {
            self.remove(flows, index);
            self.push_back(flows, index);
        }
    }
}

/// Queues that share their tin's weight.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// Number of its first queue, and how many it has.
    first: u32,
    count: u32,
    new: Chain,
    old: Chain,
    fading: Chain,
    pub(super) sparse: u32,
    pub(super) bulk: u32,
    pub(super) decaying: u32,
    /// Credit, in bytes.
    pub(super) deficit: i64,
    /// Bytes of a turn among tins.
    pub(super) weight: i64,
    classifier: Classifier,
    sources: Option<Hosts>,
    destinations: Option<Hosts>,
}

impl Tin {
    pub(super) fn new(first: u32, count: u32, weight: i64, isolation: Isolation) -> Self {
        Self {
            first,
            count,
            new: Chain::EMPTY,
            old: Chain::EMPTY,
            fading: Chain::EMPTY,
            sparse: 0,
            bulk: 0,
            decaying: 0,
            deficit: 0,
            weight,
            classifier: Classifier::new(count, Hashing::SetAssociative, None, &mut Rng::new(0)),
            sources: isolation.is_fair_to_sources().then(|| Hosts::new(count)),
            destinations: isolation.is_fair_to_destinations().then(|| Hosts::new(count)),
        }
    }

    pub(super) fn salt(&mut self, rng: &mut Rng) {
        self.classifier.renew(Instant::ZERO, rng);
        self.sources.iter_mut().chain(&mut self.destinations).for_each(|hosts| hosts.salt(rng));
    }

    /// The numbers of its queues.
    pub(super) fn queues(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Is any queue of it to be served?
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of packets with this key.
    #[inline]
    pub(super) fn queue_of(&mut self, flows: &Flows, key: FlowHash) -> u32 {
        let first = self.first;
        first + self.classifier.queue_of(key, |queue| flows[(first + queue) as usize].turn.place != Place::Idle)
    }

    /// The queue to be served next; one that decays goes first when `serves_decaying`.
    #[inline]
    pub(super) fn next(&self, serves_decaying: bool) -> Option<u32> {
        let chains = [if serves_decaying { self.fading } else { Chain::EMPTY }, self.new, self.old, self.fading];
        chains.iter().map(|chain| chain.head).find(|&head| head != NONE)
    }

    fn chain(&mut self, place: Place) -> &mut Chain {
        match place {
            Place::Sparse => &mut self.new,
            Place::Decaying => &mut self.fading,
            Place::Idle | Place::SparseEmpty | Place::Bulk => &mut self.old,
        }
    }

    /// Moves queue `index` to the end of the line of `place`, and counts it there.
    fn put(&mut self, flows: &mut Flows, index: u32, place: Place) {
        let before = core::mem::replace(&mut flows[index as usize].turn.place, place);
        if before == place {
            if place != Place::Idle {
                self.chain(place).put_last(flows, index);
            }
            return;
        }
        if before != Place::Idle {
            self.chain(before).remove(flows, index);
        }
        if place != Place::Idle {
            self.chain(place).push_back(flows, index);
        }
        let Turn { source, destination, .. } = flows[index as usize].turn;
        self.count_as(before, place, source, destination);
    }

    fn count_as(&mut self, before: Place, place: Place, source: u32, destination: u32) {
        match before {
            Place::Idle => {}
            Place::Sparse | Place::SparseEmpty => self.sparse -= 1,
            Place::Decaying => self.decaying -= 1,
            Place::Bulk => {
                self.bulk -= 1;
                self.sources.iter_mut().for_each(|hosts| hosts.ends_bulk(source));
                self.destinations.iter_mut().for_each(|hosts| hosts.ends_bulk(destination));
            }
        }
        match place {
            Place::Idle => {
                self.sources.iter_mut().for_each(|hosts| hosts.leave(source));
                self.destinations.iter_mut().for_each(|hosts| hosts.leave(destination));
            }
            Place::Sparse | Place::SparseEmpty => self.sparse += 1,
            Place::Decaying => self.decaying += 1,
            Place::Bulk => {
                self.bulk += 1;
                self.sources.iter_mut().for_each(|hosts| hosts.becomes_bulk(source));
                self.destinations.iter_mut().for_each(|hosts| hosts.becomes_bulk(destination));
            }
        }
    }

    /// A packet between `hosts` was put into queue `index`.
    #[inline]
    pub(super) fn join<P: Packet>(
        &mut self,
        table: &mut FlowTable<P, Sparing, Turn>,
        index: u32,
        hosts: aqm::Hosts,
        shares: &mut Shares,
    ) {
        let turn = &mut table.flows[index as usize].turn;
        match turn.place {
            Place::Sparse | Place::Bulk => return,
            Place::SparseEmpty => {
                // It stays where it is: only what it counts as changes.
                turn.place = Place::Bulk;
                let (source, destination) = (turn.source, turn.destination);
                self.count_as(Place::SparseEmpty, Place::Bulk, source, destination);
                return;
            }
            Place::Idle => {
                turn.source = self.sources.as_mut().map_or(0, |side| side.enter(hosts.source));
                turn.destination = self.destinations.as_mut().map_or(0, |side| side.enter(hosts.destination));
            }
            Place::Decaying => {}
        }
        self.put(&mut table.flows, index, Place::Sparse);
        let credit = self.credit(table, index, shares);
        table.flows[index as usize].turn.deficit = credit;
    }

    /// Queue `index` has used up its credit: it gets another turn's, and waits for it behind the others.
    pub(super) fn end_turn<P: Packet>(&mut self, table: &mut FlowTable<P, Sparing, Turn>, index: u32, shares: &mut Shares) {
        if self.old.head == index && self.new.head == NONE {
            self.rounds(table, shares);
        } else {
            self.leave_turn(table, index, shares);
        }
    }

    /// The same for one old queue after the other until one has credit. Shares of one quantum among many may be a few bytes: a packet takes
    /// dozens of turns, of queues that mostly stay what they are, in an order that stays what it is but for its beginning.
    fn rounds<P: Packet>(&mut self, table: &mut FlowTable<P, Sparing, Turn>, shares: &mut Shares) {
        loop {
            let FlowTable { flows, books, .. } = table;
            let met = match &mut shares.linux {
                None => {
                    // A generator of its own stays in registers.
                    let (mut draw, mut rng) = (ExactDraw::new(shares.quantum), books.rng.clone());
                    let met = self.spend_bulk_turns(flows, |queues| draw.next(queues, &mut rng));
                    books.rng = rng;
                    met
                }
                Some(draws) => self.spend_bulk_turns(flows, |queues| shares::linux(shares.quantum, queues, draws)),
            };
            let Some(first) = met else { return };
            self.old.begin_with(&mut table.flows, first);
            if table.flows[first as usize].turn.deficit > 0 {
                return;
            }
            self.leave_turn(table, first, shares);
        }
    }

    /// Gives turns to bulk queues in their order, round after round, until one is met that has credit or is not bulk: that one.
    #[inline]
    fn spend_bulk_turns(&self, flows: &mut Flows, mut draw: impl FnMut(u32) -> i64) -> Option<u32> {
        let mut at = self.old.head;
        loop {
            let turn = &mut flows.get_mut(at as usize)?.turn;
            if turn.deficit > 0 || turn.place != Place::Bulk {
                return Some(at);
            }
            turn.deficit += draw(self.sharing(turn.source, turn.destination));
            at = if turn.next == NONE { self.old.head } else { turn.next };
        }
    }

    fn leave_turn<P: Packet>(&mut self, table: &mut FlowTable<P, Sparing, Turn>, index: u32, shares: &mut Shares) {
        let place = match table.flows[index as usize].turn.place {
            Place::Sparse if table.is_empty(index as usize) => Place::SparseEmpty,
            Place::Sparse => Place::Bulk,
            place => place,
        };
        self.put(&mut table.flows, index, place);
        let credit = self.credit(table, index, shares);
        table.flows[index as usize].turn.deficit += credit;
    }

    /// Queue `index` was found empty; `rests` says whether its COBALT has nothing left to forget.
    pub(super) fn leave<P: Packet>(&mut self, table: &mut FlowTable<P, Sparing, Turn>, index: u32, rests: bool) {
        self.put(&mut table.flows, index, if rests { Place::Idle } else { Place::Decaying });
    }

    fn credit<P: Packet>(&self, table: &mut FlowTable<P, Sparing, Turn>, index: u32, shares: &mut Shares) -> i64 {
        let Turn { source, destination, .. } = table.flows[index as usize].turn;
        shares.draw(self.sharing(source, destination), &mut table.books.rng)
    }

    /// How many bulk queues the busier of two hosts has.
    #[inline]
    fn sharing(&self, source: u32, destination: u32) -> u32 {
        let at_source = self.sources.as_ref().map_or(0, |hosts| hosts.bulk(source));
        let at_destination = self.destinations.as_ref().map_or(0, |hosts| hosts.bulk(destination));
        at_source.max(at_destination)
    }
}
