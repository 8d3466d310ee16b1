//! Pins a run to one processor: guests and host take strict turns, so they are fastest there.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeSet;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::{Mutex, PoisonError};

static CLAIMED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Pins this thread, and the guests that it starts, to a processor that no other run of this
/// process uses, and no other process either while there are enough processors. Released when
/// dropped.
pub(super) struct Claim {
    processor: usize,
    before: CpuSet,
    /// Marks the processor as taken for other processes; the kernel removes the mark however this
    /// process ends.
    _sign: Option<UnixDatagram>,
}

impl Claim {
    /// `None` when all are taken or the kernel forbids pinning: the run is slower then, with no
    /// other effect.
    pub(super) fn take() -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (0..CpuSet::MAX_CPU).filter(|processor| before.is_set(*processor) && !claimed.contains(processor));
        let free: Vec<usize> = free.collect();
        let signed = free.iter().find_map(|&processor| Some((processor, Some(sign(processor)?))));
        // With more processes than processors, distribute them evenly.
        let shared = || Some((*free.get(std::process::id() as usize % free.len().max(1))?, None));
        let (processor, sign) = signed.or_else(shared)?;
        let mut only = CpuSet::new();
        only.set(processor);
        sched_setaffinity(None, &only).ok()?;
        claimed.insert(processor);
        Some(Self { processor, before, _sign: sign })
    }
}

/// A socket with an abstract name, which only one process can bind.
fn sign(processor: usize) -> Option<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(format!("goodqueue-processor-{processor}")).ok()?;
    UnixDatagram::bind_addr(&name).ok()
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before);
        CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.processor);
    }
}

#[cfg(test)]
mod tests {
    use super::sign;

    #[test]
    fn one_process_signs_for_a_processor() {
        // A processor number that no machine has.
        let number = 1_000_000 + std::process::id() as usize;
        let held = sign(number);
        assert!(held.is_some());
        assert!(sign(number).is_none());
        drop(held);
        // A process that another thread is about to start holds a copy until it runs its program.
        let is_free = |_| {
            std::thread::yield_now();
            sign(number).is_some()
        };
        assert!((0..1_000_000).any(is_free));
    }
}
