//! The layer: a service that works on so many requests at a time, and a queue before it.

use crate::law::{Clock, Item, Queue};
use crate::{Counts, Overloaded, Settings};
use goodqueue_aqm::{Dropped, Reason, Sink};
use goodqueue_units::Instant;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tower_layer::Layer;
use tower_service::Service;

/// Errors of services, as those of tower have them.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Puts a queue of requests before a service. All services that one layer makes, and their clones,
/// have queues of their own; clones of one service share one.
#[derive(Clone, Copy, Debug)]
pub struct QueueLayer {
    settings: Settings,
}

impl QueueLayer {
    /// A layer with these settings.
    #[must_use]
    pub const fn new(settings: Settings) -> Self {
        Self { settings }
    }
}

impl<S> Layer<S> for QueueLayer {
    type Service = QueueService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        QueueService::new(inner, &self.settings)
    }
}

/// A service with a queue before it. It is always ready: what it cannot begin waits, and ends with
/// [`Overloaded`] when it is turned away.
pub struct QueueService<S> {
    inner: S,
    door: Arc<Door>,
}

impl<S> QueueService<S> {
    /// The same as a layer makes.
    #[must_use]
    pub fn new(inner: S, settings: &Settings) -> Self {
        let state = State { queue: Queue::new(settings), working: 0 };
        Self { inner, door: Arc::new(Door { clock: Clock::start(), places: settings.concurrency, state: Mutex::new(state) }) }
    }

    /// What the queue has counted. Requests that found a free place did not wait, and are not among
    /// them.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.door.lock().queue.counts()
    }
}

impl<S: Clone> Clone for QueueService<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), door: Arc::clone(&self.door) }
    }
}

impl<S: fmt::Debug> fmt::Debug for QueueService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueService").field("inner", &self.inner).field("counts", &self.counts()).finish()
    }
}

impl<S, R> Service<R> for QueueService<S>
where
    S: Service<R> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        // The request takes its place in the queue now, and not when its future is first polled.
        let entry = self.door.enter();
        let mut inner = self.inner.clone();
        Box::pin(async move {
            let _place = match entry {
                Entry::Free(place) => place,
                // Its sender is kept until it is used: the queue outlives what waits in it.
                Entry::Waits(verdict) => verdict.await.map_err(BoxError::from)??,
            };
            poll_fn(|context| inner.poll_ready(context)).await.map_err(Into::into)?;
            inner.call(request).await.map_err(Into::into)
        })
    }
}

/// How a request that waited is told.
type Tell = oneshot::Sender<Result<Place, Overloaded>>;

/// Who may work on a request, and who waits.
struct Door {
    clock: Clock,
    places: usize,
    state: Mutex<State>,
}

struct State {
    queue: Queue<Tell>,
    working: usize,
}

enum Entry {
    Free(Place),
    Waits(oneshot::Receiver<Result<Place, Overloaded>>),
}

/// One of the places; free again when it is dropped, also with a request that was given up.
#[derive(Debug)]
struct Place(Option<Arc<Door>>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(door) = self.0.take() {
            door.leave();
        }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("places", &self.places).finish_non_exhaustive()
    }
}

/// Tells those that are turned away.
struct Outlet(Instant);

impl Sink<Item<Tell>> for Outlet {
    fn dropped(&mut self, item: Item<Tell>, dropped: Dropped) {
        // One that was given up hears nothing.
        let _ = item.0.send(Err(Overloaded::new(dropped, self.0)));
    }
    fn marked(&mut self, _: &Item<Tell>, _: Reason) {}
}

impl Door {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(self: &Arc<Self>) -> Entry {
        let now = self.clock.now();
        let mut state = self.lock();
        if state.working < self.places {
            // Nobody waits while there is a free place.
            state.working += 1;
            return Entry::Free(Place(Some(Arc::clone(self))));
        }
        let (tell, verdict) = oneshot::channel();
        state.queue.enqueue(now, tell, &mut Outlet(now));
        Entry::Waits(verdict)
    }

    /// A place is free: the next one that waits has it.
    fn leave(self: Arc<Self>) {
        let now = self.clock.now();
        // What could not be told comes back as a place, which must not be freed under the lock.
        let mut given_up = Vec::new();
        let mut state = self.lock();
        loop {
            let Some(departure) = state.queue.dequeue(now, &mut Outlet(now)) else {
                state.working -= 1;
                break;
            };
            match departure.packet.0.send(Ok(Place(Some(Arc::clone(&self))))) {
                Ok(()) => break,
                Err(back) => given_up.push(back),
            }
        }
        drop(state);
        for place in given_up.into_iter().flatten() {
            let mut place = place;
            // It was never anybody's.
            place.0 = None;
        }
    }
}
