//! Turns at computing: a limited number at once, in the order in which they were asked for.

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// A number of places for threads, given in the order in which they ask: who gives a place back and
/// wants another waits behind the others.
#[derive(Debug)]
pub struct Turns {
    places: Semaphore,
    runtime: Handle,
}

impl Turns {
    /// So many at once, on the present runtime.
    pub fn new(count: usize) -> Self {
        Self { places: Semaphore::new(count), runtime: Handle::current() }
    }

    /// Waits for a turn and uses it.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        // Given back also when the work panics. There is no error: nothing closes the semaphore.
        let _place = self.runtime.block_on(self.places.acquire());
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
    }

    #[test]
    fn computing_sessions_stay_within_permits_and_none_starves() {
        let runtime = runtime();
        let _entered = runtime.enter();
        let (turns, inside) = (Turns::new(2), AtomicUsize::new(0));
        let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            // Two that want a turn all the time.
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        turns.with(|| {
                            assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                            rounds.fetch_add(1, Ordering::Relaxed);
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
            while rounds.load(Ordering::Relaxed) < 10 {
                std::thread::yield_now();
            }
            // A third one gets its turns between theirs.
            for _ in 0..50 {
                turns.with(|| assert!(inside.load(Ordering::SeqCst) < 2));
            }
            over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_panic_gives_the_turn_back() {
        let runtime = runtime();
        let _entered = runtime.enter();
        let turns = Turns::new(1);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| turns.with(|| panic!("on purpose"))));
        assert!(panicked.is_err());
        turns.with(|| ());
    }
}
