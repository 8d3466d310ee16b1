//! One tin: its queues' places in the round, and their turns.

use super::hosts::{Hosts, Load, Slots};
use super::params::Isolation;
use super::shares;
use crate::aqm::{self, FlowHash};
use crate::arithmetic::LinuxDraws;
use crate::sched::classifier::{Classifier, Hashing};
use crate::sched::places::Places;
use alloc::vec::Vec;
use goodqueue_base::units::{Instant, Rng};

const NONE: u32 = u32::MAX;

/// The place of a queue in its tin.
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

/// A queue's place in the round of its tin, its neighbors there, its credit and its hosts. Apart
/// from the queues: turns go from one to the next, and of a thousand queues these fit the nearest
/// cache.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) deficit: i64,
    next: u32,
    previous: u32,
    hosts: Slots,
    place: Place,
}

impl Seat {
    pub(super) const IDLE: Self = Self { deficit: 0, next: NONE, previous: NONE, hosts: [0; 2], place: Place::Idle };
}

/// The source of the random part of a turn's credit: the draws of Linux's form, if that is wanted,
/// or the stream of all queues.
type Draws<'a> = (&'a mut Option<LinuxDraws>, &'a mut Rng);

/// Queues in a line, linked both ways through their seats. The last is linked with the first, so
/// that to put the first behind the others is to begin with the second.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: u32,
}

impl Chain {
    const EMPTY: Self = Self { head: NONE };

    #[inline]
    fn push_back(&mut self, seats: &mut [Seat], index: u32) {
        let (first, last) = match self.head {
            NONE => (index, index),
            head => (head, seats[head as usize].previous),
        };
        let seat = &mut seats[index as usize];
        (seat.next, seat.previous) = (first, last);
        seats[last as usize].next = index;
        seats[first as usize].previous = index;
        self.head = first;
    }

    #[inline]
    fn remove(&mut self, seats: &mut [Seat], index: u32) {
        let Seat { next, previous, .. } = seats[index as usize];
        seats[previous as usize].next = next;
        seats[next as usize].previous = previous;
        if self.head == index {
            self.head = if next == index { NONE } else { next };
        }
    }

    /// Puts the first queue behind the others.
    #[inline]
    fn turn_on(&mut self, seats: &[Seat]) {
        self.head = seats[self.head as usize].next;
    }
}

/// Queues that share their tin's weight.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// Its queues among those of all tins.
    places: Places,
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
    hosts: Hosts,
}

impl Tin {
    /// `count` queues, none of them in use; that at position `unused` stands for all.
    pub(super) fn new(unused: u32, count: u32, weight: i64, isolation: Isolation) -> Self {
        Self {
            places: Places::unused(count, unused),
            new: Chain::EMPTY,
            old: Chain::EMPTY,
            fading: Chain::EMPTY,
            sparse: 0,
            bulk: 0,
            decaying: 0,
            deficit: 0,
            weight,
            classifier: Classifier::new(count, Hashing::SetAssociative, None, &mut Rng::new(0)),
            hosts: Hosts::new(count, isolation),
        }
    }

    pub(super) fn salt(&mut self, rng: &mut Rng) {
        self.classifier.renew(Instant::ZERO, rng);
        self.hosts.salt(rng);
    }

    /// Sets the credit of a queue's turn.
    pub(super) fn set_quantum(&mut self, quantum: i64) {
        self.hosts.set_quantum(quantum);
    }

    /// Takes the memory that it needs once all queues are in use.
    pub(super) fn reserve(&mut self) {
        self.places.reserve();
        self.classifier.reserve();
        self.hosts.reserve();
    }

    /// True if any queue of it is to be served.
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of packets with this key; when that was never used, `begin` makes it, as one like
    /// that at the first position it is given, with the number in this tin that is given second.
    #[inline]
    pub(super) fn queue_of(&mut self, seats: &mut Vec<Seat>, key: FlowHash, begin: impl FnOnce(u32, u32)) -> u32 {
        let Self { places, classifier, .. } = self;
        let place = classifier.queue_of(key, |queue| seats[places.position(queue) as usize].place != Place::Idle);
        let index = places.position(place);
        if !places.is_unused(index) {
            return index;
        }
        begin(index, place);
        places.put(place, seats.len());
        seats.push(Seat::IDLE);
        places.position(place)
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

    /// Takes queue `index` out of its line, puts it at the end of that of `place`, and counts it
    /// there.
    #[inline]
    fn move_to(&mut self, seats: &mut [Seat], index: u32, place: Place) {
        let seat = &mut seats[index as usize];
        let (before, hosts) = (core::mem::replace(&mut seat.place, place), seat.hosts);
        match before {
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
                self.hosts.count_bulk(hosts, false);
            }
            Place::Decaying => {
                self.fading.remove(seats, index);
                self.decaying -= 1;
            }
        }
        match place {
            Place::Idle => self.hosts.leave(hosts),
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
                self.bulk += 1;
                self.hosts.count_bulk(hosts, true);
            }
            Place::Decaying => {
                self.fading.push_back(seats, index);
                self.decaying += 1;
            }
        }
    }

    /// A packet between `hosts` was put into queue `index`.
    #[inline]
    pub(super) fn join(&mut self, seats: &mut [Seat], index: u32, hosts: aqm::Endpoints, draws: Draws<'_>) {
        if !matches!(seats[index as usize].place, Place::Sparse | Place::Bulk) {
            self.begin(seats, index, hosts, draws);
        }
    }

    /// Queue `index`, which was empty, becomes busy.
    fn begin(&mut self, seats: &mut [Seat], index: u32, hosts: aqm::Endpoints, draws: Draws<'_>) {
        let seat = &mut seats[index as usize];
        if seat.place == Place::SparseEmpty {
            // It keeps its place in the line; only its category changes.
            seat.place = Place::Bulk;
            self.sparse -= 1;
            self.bulk += 1;
            self.hosts.count_bulk(seat.hosts, true);
            return;
        }
        if seat.place == Place::Idle {
            seat.hosts = self.hosts.enter(hosts);
        }
        self.move_to(seats, index, Place::Sparse);
        let seat = &mut seats[index as usize];
        seat.deficit = self.credit(seat, draws);
    }

    /// Queue `index`, the first of its line, has used up its credit: it gets another turn's, and
    /// waits for it behind the others.
    pub(super) fn end_turn(&mut self, seats: &mut [Seat], index: u32, is_empty: impl FnOnce() -> bool, draws: Draws<'_>) {
        match seats[index as usize].place {
            Place::Sparse => self.move_to(seats, index, if is_empty() { Place::SparseEmpty } else { Place::Bulk }),
            Place::Decaying => self.fading.turn_on(seats),
            _ => return self.spend_turns(seats, draws),
        }
        let seat = &mut seats[index as usize];
        seat.deficit += self.credit(seat, draws);
    }

    /// Gives turns to the old queues in their order, round after round, until the first one has
    /// credit. Shares of one quantum among many may be a few bytes: a packet takes dozens of turns.
    fn spend_turns(&mut self, seats: &mut [Seat], (linux, rng): Draws<'_>) {
        self.old.head = match linux {
            None => {
                // A local copy of the generator stays in registers.
                let mut own = rng.clone();
                let first = self.first_with_credit(seats, |host| host.credit(&mut own));
                *rng = own;
                first
            }
            Some(draws) => self.first_with_credit(seats, |host| shares::linux(self.hosts.quantum, host.bulk, draws)),
        };
    }

    #[inline]
    fn first_with_credit(&self, seats: &mut [Seat], mut credit: impl FnMut(&Load) -> i64) -> u32 {
        let mut at = self.old.head;
        loop {
            let seat = &mut seats[at as usize];
            if seat.deficit > 0 {
                return at;
            }
            seat.deficit += credit(self.hosts.busier(seat.hosts));
            at = seat.next;
        }
    }

    /// The first queue of its line was found empty; `rests` says whether its COBALT has nothing
    /// left to forget.
    // Most of them stay what they are, which the caller need not call a function for.
    #[inline(always)]
    pub(super) fn leave(&mut self, seats: &mut [Seat], index: u32, rests: bool) {
        let place = if rests { Place::Idle } else { Place::Decaying };
        if seats[index as usize].place == place {
            self.fading.turn_on(seats);
        } else {
            self.move_to(seats, index, place);
        }
    }

    /// The credit of a turn.
    fn credit(&self, seat: &Seat, (linux, rng): Draws<'_>) -> i64 {
        let host = self.hosts.busier(seat.hosts);
        match linux {
            None => host.credit(rng),
            Some(draws) => shares::linux(self.hosts.quantum, host.bulk, draws),
        }
    }
}
