//! How many busy queues each host has on one side of a tin.

use crate::aqm::{FlowHash, HostHash};
use crate::sched::classifier::{Classifier, Hashing};
use alloc::vec::Vec;
use goodqueue_units::{Instant, Rng};

/// A host's queues.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Those that have a place in the round.
    queues: u32,
    /// Those of them that are bulk.
    bulk: u32,
}

/// The hosts at one side, source or destination.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    classifier: Classifier,
    loads: Vec<Load>,
}

impl Hosts {
    pub(super) fn new(slots: u32) -> Self {
        let classifier = Classifier::new(slots, Hashing::SetAssociative, None, &mut Rng::new(0));
        Self { classifier, loads: alloc::vec![Load::default(); slots as usize] }
    }

    pub(super) fn salt(&mut self, rng: &mut Rng) {
        self.classifier.renew(Instant::ZERO, rng);
    }

    /// Counts a queue of `host` that becomes busy; gives the host's slot.
    pub(super) fn enter(&mut self, host: HostHash) -> u32 {
        let Self { classifier, loads } = self;
        let slot = classifier.queue_of(FlowHash(host.0), |slot| loads[slot as usize].queues > 0);
        loads[slot as usize].queues += 1;
        slot
    }

    pub(super) fn leave(&mut self, slot: u32) {
        self.loads[slot as usize].queues -= 1;
    }

    pub(super) fn becomes_bulk(&mut self, slot: u32) {
        self.loads[slot as usize].bulk += 1;
    }

    pub(super) fn ends_bulk(&mut self, slot: u32) {
        self.loads[slot as usize].bulk -= 1;
    }

    /// Bulk queues of the host of a slot.
    #[inline]
    pub(super) fn bulk(&self, slot: u32) -> u32 {
        self.loads[slot as usize].bulk
    }
}
