//! The numbers of busy queues that the hosts of a tin have, and the share of a turn that each queue
//! gets.

use super::params::Isolation;
use super::shares::Share;
use crate::aqm::{self, FlowHash};
use crate::sched::classifier::{Classifier, Hashing};
use crate::sched::places::Places;
use alloc::vec::Vec;
use goodqueue_base::units::{Instant, Rng};

/// A host's queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Number of queues that have a place in the round.
    queues: u32,
    /// Number of those that are bulk.
    pub(super) bulk: u32,
    /// The share of a quantum that each bulk queue gets. It is kept, as turns are more frequent
    /// than changes.
    share: Share,
}

impl Load {
    /// The credit of a turn of one of its queues.
    #[inline]
    pub(super) fn credit(&self, rng: &mut Rng) -> i64 {
        if self.bulk > 1 { self.share.draw(rng) } else { self.share.whole() }
    }
}

/// The positions of the loads of a queue's source and destination.
pub(super) type Slots = [u32; 2];

/// The position of all hosts on a side where hosts are not told apart, and of all slots that are
/// not in use. Its queues are not counted.
const ANY: u32 = 0;

/// The hosts of a tin.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    /// Classifiers of sources and destinations, if they are told apart.
    classifiers: [Option<Classifier>; 2],
    /// That of [`ANY`], and those of slots in use.
    loads: Vec<Load>,
    /// The slots of sources, then those of destinations.
    places: Places,
    /// Number of slots that a side has.
    count: u32,
    /// Credit of a turn, which the bulk queues of a host share.
    pub(super) quantum: i64,
}

impl Hosts {
    pub(super) fn new(count: u32, isolation: Isolation) -> Self {
        let sides = [isolation.is_fair_to_sources(), isolation.is_fair_to_destinations()];
        let classifier =
            |is_told_apart: bool| is_told_apart.then(|| Classifier::new(count, Hashing::SetAssociative, None, &mut Rng::new(0)));
        let loads = alloc::vec![Load { queues: 0, bulk: 0, share: Share::of(0, 0) }];
        Self { classifiers: sides.map(classifier), loads, places: Places::unused(2 * count, ANY), count, quantum: 0 }
    }

    /// Takes the memory of all slots.
    pub(super) fn reserve(&mut self) {
        self.classifiers.iter_mut().flatten().for_each(Classifier::reserve);
        self.loads.reserve_exact(self.places.count() as usize);
        self.places.reserve();
    }

    pub(super) fn salt(&mut self, rng: &mut Rng) {
        self.classifiers.iter_mut().flatten().for_each(|classifier| classifier.renew(Instant::ZERO, rng));
    }

    pub(super) fn set_quantum(&mut self, quantum: i64) {
        if quantum != self.quantum {
            self.quantum = quantum;
            self.loads.iter_mut().for_each(|load| load.share = Share::of(quantum, load.bulk));
        }
    }

    /// Counts a queue between `hosts` that becomes busy.
    pub(super) fn enter(&mut self, hosts: aqm::Endpoints) -> Slots {
        let Self { classifiers, loads, places, count, .. } = self;
        let mut slots = [ANY; 2];
        let sides = slots.iter_mut().zip(classifiers).zip([hosts.source, hosts.destination]).zip([0, *count]);
        for (((slot, classifier), host), first) in sides {
            if let Some(classifier) = classifier {
                let is_busy = |slot| loads[places.position(first + slot) as usize].queues > 0;
                let place = first + classifier.queue_of(FlowHash(host.0), is_busy);
                if places.is_unused(places.position(place)) {
                    places.put(place, loads.len());
                    loads.push(loads[ANY as usize]);
                }
                *slot = places.position(place);
                loads[*slot as usize].queues += 1;
            }
        }
        slots
    }

    /// One of their queues gives up its place.
    pub(super) fn leave(&mut self, slots: Slots) {
        for slot in slots.into_iter().filter(|slot| *slot != ANY) {
            self.loads[slot as usize].queues -= 1;
        }
    }

    /// One of their queues becomes bulk, or else ceases to be.
    pub(super) fn count_bulk(&mut self, slots: Slots, becomes: bool) {
        for slot in slots.into_iter().filter(|slot| *slot != ANY) {
            let load = &mut self.loads[slot as usize];
            load.bulk = if becomes { load.bulk + 1 } else { load.bulk - 1 };
            load.share = Share::of(self.quantum, load.bulk);
        }
    }

    /// The one with more bulk queues.
    #[inline]
    pub(super) fn busier(&self, [source, destination]: Slots) -> &Load {
        let (source, destination) = (&self.loads[source as usize], &self.loads[destination as usize]);
        if destination.bulk > source.bulk { destination } else { source }
    }
}
