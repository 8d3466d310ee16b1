//! Guests and host take strict turns, so they are fastest on one processor.

use crate::sys::child;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static CLAIMED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// This thread, and the guests it starts, on a processor that no other run of this process has; given back when dropped.
pub(super) struct Claim {
    processor: usize,
    before: Vec<usize>,
}

impl Claim {
    /// `None` when all are taken or the kernel does not let threads choose: slower, and no other harm.
    pub(super) fn take() -> Option<Self> {
        let before = child::processors().ok()?;
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        // Processes that know nothing of each other do not all begin with the same one.
        let first = std::process::id() as usize % before.len().max(1);
        let mut processors = before[first..].iter().chain(&before[..first]);
        let processor = *processors.find(|processor| !claimed.contains(processor))?;
        child::stay_on(&[processor]).ok()?;
        claimed.insert(processor);
        Some(Self { processor, before })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = child::stay_on(&self.before);
        CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.processor);
    }
}
