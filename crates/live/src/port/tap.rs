//! Parts that the ports of network interfaces have in common: whether the interface is there, and
//! the capture of sent frames.

use super::PortCounters;
use super::pcap::Capture;
use crate::pool::{Frame, Pool};
use crate::segments;
use goodqueue_base::units::{Duration, Instant};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A capture that both ports write to.
pub type SharedCapture = Arc<Mutex<Capture>>;

/// Time between two looks at an interface that is down.
const LOOK_AGAIN: Duration = Duration::ms(20);

/// Whether the interface is there.
#[derive(Debug)]
pub(super) struct Presence {
    pub(super) name: String,
    /// While it is down: when to look again.
    down_until: Option<Instant>,
}

impl Presence {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), down_until: None }
    }

    /// Handles a failed transfer: an interface that still exists counts as down for a while.
    pub(super) fn suspect(&mut self, exists: bool, now: Instant, counters: &mut PortCounters) -> io::Result<()> {
        if !exists {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("interface {} is gone", self.name)));
        }
        if self.down_until.is_none() {
            counters.outages += 1;
        }
        self.down_until = Some(now + LOOK_AGAIN);
        Ok(())
    }

    /// Allows the next transfer again once the pause of an interface that was down has passed.
    pub(super) fn look(&mut self, now: Instant) {
        self.down_until = self.down_until.filter(|until| now < *until);
    }

    pub(super) const fn is_down(&self) -> bool {
        self.down_until.is_some()
    }
}

/// Optional capture of sent frames, with the number of the interface in it.
#[derive(Debug, Default)]
pub(super) struct Tap(Option<(u32, SharedCapture)>);

impl Tap {
    /// Into `capture`, as of its interface number `interface`.
    pub(super) fn open(&mut self, interface: u32, capture: SharedCapture) {
        self.0 = Some((interface, capture));
    }

    pub(super) fn write(&self, now: Instant, pool: &Pool, frames: &[Frame]) {
        let Some((interface, capture)) = &self.0 else { return };
        let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
        let mut alone = Vec::new();
        for frame in frames {
            if pool.joined(frame.slot).is_none() {
                capture.write(*interface, now, pool.frame(*frame));
                continue;
            }
            alone.clear();
            segments::write_alone(*frame, pool, &mut alone);
            capture.write(*interface, now, &alone);
        }
    }
}
