//! Which queue a packet goes to.

use crate::aqm::FlowHash;
use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant, Rng};

/// How a packet finds its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hashing {
    /// The hash of its flow is the number of the queue.
    #[default]
    Direct,
    /// The hash of its flow names a set of eight queues, in which a flow takes a free one and keeps it while it is busy
    /// (Hoeiland-Joergensen, Taht and Morton 2018 §III). Flows share a queue only when the whole set is busy.
    SetAssociative,
}

/// Queues in a set.
const WAYS: u32 = 8;

#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    queues: u32,
    salt: u64,
    perturbation: Option<Duration>,
    renewal: Instant,
    /// Of each queue; empty with [`Hashing::Direct`].
    tenants: Vec<Tenant>,
}

/// Whose queue it is.
#[derive(Clone, Copy, Debug, Default)]
struct Tenant {
    flow: FlowHash,
    /// Other flows that found no free queue are in it, too, and stay until it is empty: moving on would reorder them.
    is_shared: bool,
    /// Has any flow ever been in it?
    is_known: bool,
}

impl Classifier {
    pub(crate) fn new(queues: u32, hashing: Hashing, perturbation: Option<Duration>, rng: &mut Rng) -> Self {
        let tenants = match hashing {
            Hashing::Direct => Vec::new(),
            Hashing::SetAssociative => alloc::vec![Tenant::default(); queues as usize],
        };
        let mut classifier = Self { queues, salt: 0, perturbation, renewal: Instant::MAX, tenants };
        classifier.renew(Instant::ZERO, rng);
        classifier
    }

    /// Draws another salt. All queues must be empty.
    pub(crate) fn renew(&mut self, now: Instant, rng: &mut Rng) {
        self.salt = rng.next_u64();
        self.renewal = self.perturbation.map_or(Instant::MAX, |period| now + period);
        self.tenants.fill(Tenant::default());
    }

    #[inline]
    pub(crate) fn is_renewal_due(&self, now: Instant) -> bool {
        now >= self.renewal
    }

    /// The queue that the hash of `flow` names.
    #[inline]
    pub(crate) fn home(&self, flow: FlowHash) -> u32 {
        // Numbered flows differ in a few low bits only; the finaliser of splitmix64 spreads them over all bits.
        let mut z = (u64::from(flow.0) ^ self.salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The upper half of the mix is the hash; scaling it to the number of queues needs no division.
        (((z >> 32) * u64::from(self.queues)) >> 32) as u32
    }

    /// The queue that a packet of `flow` goes to now; a flow keeps its queue while that `is_busy`.
    #[inline]
    pub(crate) fn queue_of(&mut self, flow: FlowHash, is_busy: impl Fn(u32) -> bool) -> u32 {
        let home = self.home(flow);
        if self.tenants.is_empty() {
            return home;
        }
        let tenant = self.tenants[home as usize];
        if tenant.is_known && tenant.flow == flow && is_busy(home) {
            return home;
        }
        self.search(flow, home, is_busy)
    }

    /// The queue of the set of `home` that `flow` is in, else a free one, else `home` itself.
    fn search(&mut self, flow: FlowHash, home: u32, is_busy: impl Fn(u32) -> bool) -> u32 {
        let first = home - home % WAYS;
        let ways = WAYS.min(self.queues - first);
        // From `home` on, once round the set; a division would cost as much as all the rest.
        let mut in_turn = (home..first + ways).chain(first..home);
        let belongs = |tenant: Tenant| tenant.is_known && tenant.flow == flow;
        if let Some(own) = in_turn.clone().find(|&queue| belongs(self.tenants[queue as usize])) {
            self.tenants[own as usize].is_shared &= is_busy(own);
            return own;
        }
        if self.tenants[home as usize].is_shared && is_busy(home) {
            return home;
        }
        match in_turn.find(|&queue| !is_busy(queue)) {
            Some(free) => {
                self.tenants[free as usize] = Tenant { flow, is_shared: false, is_known: true };
                free
            }
            None => {
                self.tenants[home as usize].is_shared = true;
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
    fn a_flow_without_a_free_queue_stays_where_it_is_until_that_is_empty() {
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

    /// Hoeiland-Joergensen, Taht and Morton 2018 §III: with eight ways collisions are rare until most queues are in use.
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
