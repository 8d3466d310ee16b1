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

/// Scheduling state of a queue: its credit, and its place in the round of its tin.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) deficit: i64,
    place: Place,
}

impl Turn {
    pub(super) const IDLE: Self = Self { deficit: 0, place: Place::Idle };
}

/// A queue's neighbors in its line, and its hosts. Apart from the queues: to move one in a line
/// takes its neighbors' links, and of a thousand queues these fit the nearest cache.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    next: u32,
    previous: u32,
    /// Slots among the tin's sources and destinations.
    source: u32,
    destination: u32,
}

impl Seat {
    pub(super) const NONE: Self = Self { next: NONE, previous: NONE, source: 0, destination: 0 };
}

type Flows = [Flow<Sparing, Turn>];
type Table<P> = FlowTable<P, Sparing, Turn>;

/// Queues in a line, linked both ways through their seats.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: u32,
    tail: u32,
}

impl Chain {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    fn push_back(&mut self, seats: &mut [Seat], index: u32) {
        let seat = &mut seats[index as usize];
        (seat.next, seat.previous) = (NONE, self.tail);
        match self.tail {
            NONE => self.head = index,
            tail => seats[tail as usize].next = index,
        }
        self.tail = index;
    }

    #[inline]
    fn remove(&mut self, seats: &mut [Seat], index: u32) {
        let Seat { next, previous, .. } = seats[index as usize];
        match previous {
            NONE => self.head = next,
            previous => seats[previous as usize].next = next,
        }
        match next {
            NONE => self.tail = previous,
            next => seats[next as usize].previous = previous,
        }
    }

    /// Puts the first queue behind the others.
    #[inline]
    fn turn_on(&mut self, seats: &mut [Seat]) {
        let second = seats[self.head as usize].next;
        if second != NONE {
            self.begin_with(seats, second);
        }
    }

    /// Moves the queues before `first` behind the others.
    #[inline]
    fn begin_with(&mut self, seats: &mut [Seat], first: u32) {
        if self.head == first {
            return;
        }
        let last = core::mem::replace(&mut seats[first as usize].previous, NONE);
        seats[last as usize].next = NONE;
        seats[self.tail as usize].next = self.head;
        seats[self.head as usize].previous = self.tail;
        (self.head, self.tail) = (first, last);
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
    /// Credit of a queue's turn, where it follows the tin's part of a shaper's rate.
    pub(super) quantum: i64,
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
            quantum: 0,
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

    /// True if any queue of it is to be served.
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
        let fading = self.fading.head;
        if serves_decaying && fading != NONE {
            return Some(fading);
        }
        let head = match (self.new.head, self.old.head) {
            (NONE, NONE) => fading,
            (NONE, old) => old,
            (new, _) => new,
        };
        (head != NONE).then_some(head)
    }

    /// Takes queue `index` out of the line of `place`, where it is not counted any more.
    #[inline]
    fn quit(&mut self, seats: &mut [Seat], index: u32, place: Place) {
        match place {
            Place::Idle => {}
            Place::Sparse => {
                self.new.remove(seats, index);
                self.sparse -= 1;
            }
            Place::SparseEmpty => {
                self.old.remove(seats, index);
                self.sparse -= 1;
            }
            Place::Bulk => {
                self.old.remove(seats, index);
                self.bulk -= 1;
                let Seat { source, destination, .. } = seats[index as usize];
                self.sources.iter_mut().for_each(|hosts| hosts.ends_bulk(source));
                self.destinations.iter_mut().for_each(|hosts| hosts.ends_bulk(destination));
            }
            Place::Decaying => {
                self.fading.remove(seats, index);
                self.decaying -= 1;
            }
        }
    }

    /// Puts queue `index` at the end of the line of `place`, and counts it there.
    #[inline]
    fn enter(&mut self, seats: &mut [Seat], index: u32, place: Place) {
        match place {
            Place::Idle => {
                let Seat { source, destination, .. } = seats[index as usize];
                self.sources.iter_mut().for_each(|hosts| hosts.leave(source));
                self.destinations.iter_mut().for_each(|hosts| hosts.leave(destination));
            }
            Place::Sparse => {
                self.new.push_back(seats, index);
                self.sparse += 1;
            }
            Place::SparseEmpty => {
                self.old.push_back(seats, index);
                self.sparse += 1;
            }
            Place::Bulk => {
                self.old.push_back(seats, index);
                self.becomes_bulk(&seats[index as usize]);
            }
            Place::Decaying => {
                self.fading.push_back(seats, index);
                self.decaying += 1;
            }
        }
    }

    fn becomes_bulk(&mut self, seat: &Seat) {
        self.bulk += 1;
        self.sources.iter_mut().for_each(|hosts| hosts.becomes_bulk(seat.source));
        self.destinations.iter_mut().for_each(|hosts| hosts.becomes_bulk(seat.destination));
    }

    /// A packet between `hosts` was put into queue `index`.
    #[inline]
    pub(super) fn join<P: Packet>(
        &mut self,
        table: &mut Table<P>,
        seats: &mut [Seat],
        index: u32,
        hosts: aqm::Hosts,
        shares: &mut Shares,
    ) {
        let turn = &mut table.flows[index as usize].turn;
        let seat = &mut seats[index as usize];
        match turn.place {
            Place::Sparse | Place::Bulk => return,
            Place::SparseEmpty => {
                // It keeps its place; only its category changes.
                turn.place = Place::Bulk;
                self.sparse -= 1;
                self.becomes_bulk(seat);
                return;
            }
            Place::Idle => {
                seat.source = self.sources.as_mut().map_or(0, |side| side.enter(hosts.source));
                seat.destination = self.destinations.as_mut().map_or(0, |side| side.enter(hosts.destination));
            }
            Place::Decaying => self.quit(seats, index, Place::Decaying),
        }
        turn.place = Place::Sparse;
        self.enter(seats, index, Place::Sparse);
        turn.deficit = self.credit(&seats[index as usize], shares, &mut table.books.rng);
    }

    /// Queue `index` has used up its credit: it gets another turn's, and waits for it behind the
    /// others.
    pub(super) fn end_turn<P: Packet>(&mut self, table: &mut Table<P>, seats: &mut [Seat], index: u32, shares: &mut Shares) {
        if self.old.head == index && self.new.head == NONE {
            self.rounds(table, seats, shares);
        } else {
            self.leave_turn(table, seats, index, shares);
        }
    }

    /// The same for one old queue after the other until one has credit. Shares of one quantum among
    /// many may be a few bytes: a packet takes dozens of turns, of queues that mostly stay what
    /// they are, in an order that stays what it is but for its beginning.
    fn rounds<P: Packet>(&mut self, table: &mut Table<P>, seats: &mut [Seat], shares: &mut Shares) {
        loop {
            let FlowTable { flows, books, .. } = table;
            let met = match &mut shares.linux {
                None => {
                    // A local copy of the generator stays in registers.
                    let (mut draw, mut rng) = (ExactDraw::new(shares.quantum), books.rng.clone());
                    let met = self.spend_bulk_turns(flows, seats, |queues| draw.next(queues, &mut rng));
                    books.rng = rng;
                    met
                }
                Some(draws) => self.spend_bulk_turns(flows, seats, |queues| shares::linux(shares.quantum, queues, draws)),
            };
            let Some(first) = met else { return };
            self.old.begin_with(seats, first);
            if table.flows[first as usize].turn.deficit > 0 {
                return;
            }
            self.leave_turn(table, seats, first, shares);
        }
    }

    /// Gives turns to bulk queues in their order, round after round, until one is met that has
    /// credit or is not bulk: that one.
    #[inline]
    fn spend_bulk_turns(&self, flows: &mut Flows, seats: &[Seat], mut draw: impl FnMut(u32) -> i64) -> Option<u32> {
        let mut at = self.old.head;
        loop {
            let (turn, seat) = (&mut flows.get_mut(at as usize)?.turn, seats.get(at as usize)?);
            if turn.deficit > 0 || turn.place != Place::Bulk {
                return Some(at);
            }
            turn.deficit += draw(self.sharing(seat));
            at = if seat.next == NONE { self.old.head } else { seat.next };
        }
    }

    fn leave_turn<P: Packet>(&mut self, table: &mut Table<P>, seats: &mut [Seat], index: u32, shares: &mut Shares) {
        let is_empty = table.is_empty(index as usize);
        let turn = &mut table.flows[index as usize].turn;
        let before = turn.place;
        if before == Place::Sparse {
            turn.place = if is_empty { Place::SparseEmpty } else { Place::Bulk };
        }
        if before == turn.place {
            // Whose turn ends is the first of its line.
            match before {
                Place::Decaying => self.fading.turn_on(seats),
                _ => self.old.turn_on(seats),
            }
        } else {
            self.quit(seats, index, before);
            self.enter(seats, index, turn.place);
        }
        turn.deficit += self.credit(&seats[index as usize], shares, &mut table.books.rng);
    }

    /// The first queue of its line, that of `turn`, was found empty; `rests` says whether its
    /// COBALT has nothing left to forget.
    // Most of them stay what they are, which the caller need not call a function for.
    #[inline(always)]
    pub(super) fn leave(&mut self, turn: &mut Turn, seats: &mut [Seat], index: u32, rests: bool) {
        let place = if rests { Place::Idle } else { Place::Decaying };
        if turn.place == place {
            self.fading.turn_on(seats);
        } else {
            self.quit(seats, index, turn.place);
            self.enter(seats, index, place);
            turn.place = place;
        }
    }

    fn credit(&self, seat: &Seat, shares: &mut Shares, rng: &mut Rng) -> i64 {
        shares.draw(self.sharing(seat), rng)
    }

    /// How many bulk queues the busier of two hosts has.
    #[inline]
    fn sharing(&self, seat: &Seat) -> u32 {
        let at_source = self.sources.as_ref().map_or(0, |hosts| hosts.bulk(seat.source));
        let at_destination = self.destinations.as_ref().map_or(0, |hosts| hosts.bulk(seat.destination));
        at_source.max(at_destination)
    }
}
