//! Turns at computing: a limited number at once, in the order in which they were asked for.

use crate::server::lock::locked;
use std::sync::{Condvar, Mutex, PoisonError};

/// A number of places, given to those who wait in their order: who gives a place back and wants
/// another waits behind the others.
#[derive(Debug)]
pub struct Turns {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Numbers drawn so far.
    drawn: u64,
    /// Numbers below this have their turn, or have had it.
    called: u64,
}

impl Turns {
    /// So many at once.
    pub const fn new(count: u64) -> Self {
        Self { state: Mutex::new(State { drawn: 0, called: count }), freed: Condvar::new() }
    }

    /// Waits for a turn and uses it.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = locked(&self.state);
        let number = state.drawn;
        state.drawn += 1;
        while number >= state.called {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        let _turn = Turn(self);
        work()
    }
}

/// Given back also when the work panics.
struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).called += 1;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn no_more_compute_than_there_are_places_and_nobody_is_passed_over() {
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
        let turns = Turns::new(1);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| turns.with(|| panic!("on purpose"))));
        assert!(panicked.is_err());
        turns.with(|| ());
    }
}
