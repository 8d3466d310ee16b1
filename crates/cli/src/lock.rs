//! A lock that a panic does not close.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex. Nobody panics while holding one of these, and if so the figures are still
/// figures.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
