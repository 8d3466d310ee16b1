//! Locks that a panic does not close.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is behind a lock: a panic while holding one of this crate's leaves what is still good.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
