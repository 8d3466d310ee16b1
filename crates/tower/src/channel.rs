//! A channel between tasks whose queue turns messages away.

use crate::law::{Clock, Item, Queue};
use crate::{Counts, Overloaded, Settings};
use goodqueue_aqm::{Dropped, Reason, Sink};
use goodqueue_units::Instant;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// A channel from many senders to one receiver. Messages that have waited too long come out as
/// [`Received::Shed`], so that their senders can be told.
#[must_use]
pub fn channel<T>(settings: &Settings) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        clock: Clock::start(),
        state: Mutex::new(State { queue: Queue::new(settings), ready: VecDeque::new() }),
        arrived: Notify::new(),
        senders: AtomicUsize::new(1),
        closed: AtomicBool::new(false),
    });
    (Sender { shared: Arc::clone(&shared) }, Receiver { shared })
}

struct Shared<T> {
    clock: Clock,
    state: Mutex<State<T>>,
    arrived: Notify,
    senders: AtomicUsize,
    closed: AtomicBool,
}

struct State<T> {
    queue: Queue<T>,
    /// Decided upon, and not yet handed over.
    ready: VecDeque<Received<T>>,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that messages go into.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// The end that they come out of.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// A message that the queue did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused<T> {
    /// The queue is full.
    #[error("{1}")]
    Full(T, Overloaded),
    /// The receiver is gone.
    #[error("{}", Closed)]
    Closed(T),
}

/// The receiver is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the channel is closed")]
pub struct Closed;

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<T> {
    /// A message, and how long it has waited.
    Passed(T, Duration),
    /// A message that is not worth working on any more.
    Shed(T, Overloaded),
}

/// Keeps what is turned away.
struct Outlet<'a, T> {
    now: Instant,
    ready: &'a mut VecDeque<Received<T>>,
}

impl<T> Sink<Item<T>> for Outlet<'_, T> {
    fn dropped(&mut self, item: Item<T>, dropped: Dropped) {
        self.ready.push_back(Received::Shed(item.0, Overloaded::new(dropped, self.now)));
    }
    fn marked(&mut self, _: &Item<T>, _: Reason) {}
}

impl<T> Sender<T> {
    /// Sends without waiting.
    ///
    /// # Errors
    /// When the queue is full or the receiver gone; the message comes back.
    pub fn send(&self, value: T) -> Result<(), Refused<T>> {
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(Refused::Closed(value));
        }
        let now = self.shared.clock.now();
        let mut refused = VecDeque::new();
        self.shared.lock().queue.enqueue(now, value, &mut Outlet { now, ready: &mut refused });
        if let Some(Received::Shed(value, overloaded)) = refused.pop_front() {
            return Err(Refused::Full(value, overloaded));
        }
        self.shared.arrived.notify_one();
        Ok(())
    }

    /// What the queue has counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.lock().queue.counts()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.arrived.notify_one();
        }
    }
}

impl<T> Receiver<T> {
    /// The next message, waited for; `None` when all senders are gone and nothing waits. Dropping
    /// the future loses no message.
    pub async fn recv(&mut self) -> Option<Received<T>> {
        loop {
            if let Some(received) = self.try_recv() {
                return Some(received);
            }
            if self.shared.senders.load(Ordering::Acquire) == 0 {
                // One may have sent between the two looks.
                return self.try_recv();
            }
            self.shared.arrived.notified().await;
        }
    }

    /// The next message, if there is one.
    pub fn try_recv(&mut self) -> Option<Received<T>> {
        let now = self.shared.clock.now();
        let mut guard = self.shared.lock();
        let State { queue, ready } = &mut *guard;
        if ready.is_empty()
            && let Some(departure) = queue.dequeue(now, &mut Outlet { now, ready })
        {
            // Behind those that were turned away in front of it.
            let waited = Duration::from_nanos(departure.sojourn(now).as_nanos());
            ready.push_back(Received::Passed(departure.packet.0, waited));
        }
        ready.pop_front()
    }

    /// What the queue has counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.lock().queue.counts()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
    }
}
