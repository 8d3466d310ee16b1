//! The transfers of a flow: when each connection began, and how long it took.

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

    /// The transfer at this place of the flow's list begins now.
    pub(super) fn begin(&self, place: u32, transfer: Transfer) {
        let mut transfers = locked(&self.transfers);
        let began = self.now();
        transfers.push(CarriedTransfer { place, began, size: transfer.size, took: None });
    }

    /// The transfer at this place of the flow's list has ended.
    pub(super) fn end(&self, place: u32) {
        let mut transfers = locked(&self.transfers);
        let now = self.now();
        if let Some(one) = transfers.iter_mut().find(|one| one.place == place) {
            one.took = Some(now.since(one.began));
        }
    }

    /// Returns the transfers that have ended since the last call, and those under way.
    pub(super) fn take(&self) -> Vec<CarriedTransfer> {
        let mut transfers = locked(&self.transfers);
        let under_way = transfers.iter().filter(|one| one.took.is_none()).copied().collect();
        std::mem::replace(&mut *transfers, under_way)
    }
}
