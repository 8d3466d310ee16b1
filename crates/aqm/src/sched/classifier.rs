//! The mapping of packets to queues.

use super::places::Places;
use crate::aqm::FlowHash;
use alloc::vec::Vec;
use goodqueue_base::units::{Duration, Instant, Rng};
use goodqueue_base::words;

words! {
    /// The rule that maps a packet to its queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Hashing {
        /// The hash of its flow is the number of the queue.
        Direct = "direct",
        /// The hash of its flow names a set of eight queues, in which a flow takes a free one and
        /// keeps it while it is busy (Hoeiland-Joergensen, Taht and Morton 2018 §III). Flows share
        /// a queue only when the whole set is busy.
        SetAssociative = "set-associative",
    }
}

/// Queues in a set.
const WAYS: u32 = 8;

#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    queues: u32,
    salt: u64,
    perturbation: Option<Duration>,
    renewal: Instant,
    /// The first stands for all that were never used; empty with [`Hashing::Direct`].
    sets: Vec<Set>,
    places: Places,
}

/// The flows that the queues of a set belong to.
#[derive(Clone, Copy, Debug, Default)]
struct Set {
    /// The last flow in each queue, as [`tenant`] has it; 0 where there was none yet.
    tenants: [u64; WAYS as usize],
    /// A bit for each queue: other flows that found no free one are in it, too, and stay until it
    /// is empty, as moving on would reorder them.
    shared: u8,
}

/// A flow as a tenant, which is never 0.
const fn tenant(flow: FlowHash) -> u64 {
    1 << 32 | flow.0 as u64
}

impl Set {
    /// The place of `flow`, if it has one. All are looked at: which it is depends on chance, and a
    /// wrong guess costs more.
    #[inline]
    fn place_of(&self, flow: FlowHash) -> Option<u32> {
        let mut place = WAYS;
        for (number, &known) in (0..).zip(&self.tenants) {
            place = if known == tenant(flow) { number } else { place };
        }
        (place < WAYS).then_some(place)
    }

    /// A new tenant at `place`.
    fn let_to(&mut self, flow: FlowHash, place: u32) {
        self.tenants[place as usize] = tenant(flow);
        self.shared &= !(1 << place);
    }
}

impl Classifier {
    pub(crate) fn new(queues: u32, hashing: Hashing, perturbation: Option<Duration>, rng: &mut Rng) -> Self {
        let sets = match hashing {
            Hashing::Direct => Vec::new(),
            Hashing::SetAssociative => alloc::vec![Set::default()],
        };
        let places = Places::unused(queues.div_ceil(WAYS), 0);
        let mut classifier = Self { queues, salt: 0, perturbation, renewal: Instant::MAX, sets, places };
        classifier.renew(Instant::ZERO, rng);
        classifier
    }

    /// Draws another salt. All queues must be empty.
    pub(crate) fn renew(&mut self, now: Instant, rng: &mut Rng) {
        self.salt = rng.next_u64();
        self.renewal = self.perturbation.map_or(Instant::MAX, |period| now + period);
        self.sets.truncate(1);
        self.places.clear();
    }

    /// Takes the memory of all sets.
    pub(crate) fn reserve(&mut self) {
        if !self.sets.is_empty() {
            self.sets.reserve_exact(self.places.count() as usize);
            self.places.reserve();
        }
    }

    /// The position of the set that holds queue `home`.
    #[inline]
    fn set_of(&mut self, home: u32) -> usize {
        let set = home / WAYS;
        let position = self.places.position(set);
        if !self.places.is_unused(position) {
            return position as usize;
        }
        self.places.put(set, self.sets.len());
        self.sets.push(Set::default());
        self.sets.len() - 1
    }

    #[inline]
    pub(crate) fn is_renewal_due(&self, now: Instant) -> bool {
        now >= self.renewal
    }

    /// The queue that the hash of `flow` names.
    #[inline]
    pub(crate) fn home(&self, flow: FlowHash) -> u32 {
        // Numbered flows differ in a few low bits only; the finaliser of splitmix64 spreads them
        // over all bits.
        let mut z = (u64::from(flow.0) ^ self.salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The upper half of the mix is the hash; scaling it to the number of queues needs no
        // division.
        (((z >> 32) * u64::from(self.queues)) >> 32) as u32
    }

    /// The queue that a packet of `flow` goes to now; a flow keeps its queue while that `is_busy`.
    #[inline]
    pub(crate) fn queue_of(&mut self, flow: FlowHash, is_busy: impl Fn(u32) -> bool) -> u32 {
        let home = self.home(flow);
        if self.sets.is_empty() {
            return home;
        }
        let (first, place) = (home - home % WAYS, home % WAYS);
        let position = self.set_of(home);
        let set = &mut self.sets[position];
        if let Some(own) = set.place_of(flow) {
            if !is_busy(first + own) {
                set.shared &= !(1 << own);
            }
            return first + own;
        }
        let ways = WAYS.min(self.queues - first);
        first + Self::search(set, ways, flow, place, |place| is_busy(first + place))
    }

    /// A free place of `set`, from `home` on, once round, or `home` itself.
    fn search(set: &mut Set, ways: u32, flow: FlowHash, home: u32, is_busy: impl Fn(u32) -> bool) -> u32 {
        if set.shared >> home & 1 == 1 && is_busy(home) {
            return home;
        }
        match (home..ways).chain(0..home).find(|&place| !is_busy(place)) {
            Some(free) => {
                set.let_to(flow, free);
                free
            }
            None => {
                set.shared |= 1 << home;
                home
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// A classifier of `queues` queues, and those that are busy.
    struct Scene(Classifier, RefCell<BTreeSet<u32>>);

    impl Scene {
        fn new(queues: u32) -> Self {
            Self(Classifier::new(queues, Hashing::SetAssociative, None, &mut Rng::new(3)), RefCell::default())
        }

        /// The queue of a packet, which makes it busy.
        fn place(&mut self, flow: u32) -> u32 {
            let queue = self.0.queue_of(FlowHash(flow), |queue| self.1.borrow().contains(&queue));
            self.1.borrow_mut().insert(queue);
            queue
        }

        fn empty(&mut self, queue: u32) {
            assert!(self.1.borrow_mut().remove(&queue));
        }
    }

    #[test]
    fn as_many_flows_as_a_set_has_queues_never_meet() {
        let mut scene = Scene::new(8);
        let queues: BTreeSet<u32> = (0..8).map(|flow| scene.place(flow)).collect();
        assert_eq!(queues.len(), 8);
        let again: BTreeSet<u32> = (0..8).map(|flow| scene.place(flow)).collect();
        assert_eq!(again, queues);
    }

    #[test]
    fn flow_without_a_free_queue_stays_until_its_queue_is_empty() {
        let mut scene = Scene::new(8);
        let queues: Vec<u32> = (0..8).map(|flow| scene.place(flow)).collect();
        let shared = scene.place(99);
        assert_eq!(shared, scene.0.home(FlowHash(99)));
        let other = queues.iter().position(|&queue| queue != shared).expect("seven others");
        scene.empty(queues[other]);
        assert_eq!(scene.place(99), shared, "its packets are there");
        let tenant = queues.iter().position(|&queue| queue == shared).expect("it is one of them");
        assert_eq!(scene.place(tenant as u32), shared, "and it is still its tenant's");
        scene.empty(shared);
        assert_eq!(scene.place(tenant as u32), shared);
        assert_eq!(scene.place(99), queues[other], "nothing of it waits: it takes the free one");
    }

    #[test]
    fn a_flow_finds_its_queue_again_after_a_pause() {
        let mut scene = Scene::new(64);
        let first = scene.place(5);
        scene.empty(first);
        assert_eq!(scene.place(5), first);
    }

    /// Hoeiland-Joergensen, Taht and Morton 2018 §III: with eight ways collisions are rare until
    /// most queues are in use.
    #[test]
    fn five_hundred_flows_in_a_thousand_queues_hardly_meet() {
        let mut alone = 0;
        for round in 0..20 {
            let mut scene = Scene::new(1024);
            let mut used = alloc::vec![0u32; 1024];
            (0..500).for_each(|flow| used[scene.place(round * 1_000 + flow) as usize] += 1);
            alone += used.iter().filter(|&&flows| flows == 1).count();
        }
        assert!(alone > 9_700, "{alone} of 10000; a plain hash leaves 6137");
    }
}
