//! The transfers of a flow: when each began, and how long it took.

use super::waiting::locked;
use crate::clock::{Clock, MonotonicClock};
use goodqueue_base::units::Instant;
use goodqueue_sim::{CarriedTransfer, Transfer};
use std::sync::Mutex;

/// The transfers of a flow, and the clock that times them.
#[derive(Debug)]
pub(super) struct Log {
    /// Those of the present part of the run, and those under way when it began.
    transfers: Mutex<Vec<CarriedTransfer>>,
    clock: MonotonicClock,
}

impl Log {
    pub(super) fn new() -> Self {
        Self { transfers: Mutex::new(Vec::new()), clock: MonotonicClock::start() }
    }

    fn now(&self) -> Instant {
        let mut clock = self.clock;
        clock.now()
    }

    /// A transfer begins now.
    pub(super) fn begin(&self, transfer: Transfer) -> Instant {
        let mut transfers = locked(&self.transfers);
        let began = self.now();
        transfers.push(CarriedTransfer { began, size: transfer.size, took: None });
        began
    }

    /// The transfer of this size that began then has ended.
    pub(super) fn end(&self, began: Instant, transfer: Transfer) {
        let mut transfers = locked(&self.transfers);
        let took = self.now().since(began);
        let is_it = |one: &&mut CarriedTransfer| one.began == began && one.size == transfer.size && one.took.is_none();
        if let Some(one) = transfers.iter_mut().find(is_it) {
            one.took = Some(took);
        }
    }

    /// Returns the transfers that have ended since the last call, and those under way.
    pub(super) fn take(&self) -> Vec<CarriedTransfer> {
        let mut transfers = locked(&self.transfers);
        let under_way = transfers.iter().filter(|one| one.took.is_none()).copied().collect();
        std::mem::replace(&mut *transfers, under_way)
    }
}
