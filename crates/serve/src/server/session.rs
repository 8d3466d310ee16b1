//! A session on a thread of its own: orders and events cross between it and the server.

mod remote_run;

use crate::lock::locked;
use crate::server::backends::SessionBackend;
use crate::server::clock;
use crate::server::fair_share::Turns;
use crate::server::limits::Limits;
use crate::server::stream::Publisher;
use crate::session::{ApiError, Control, Environment, Memory, Next, Scenario, Session, SessionResult, StateEvent};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// One session, whoever asks for it.
pub struct Entry {
    pub id: String,
    pub publisher: Publisher,
    pub orders: Sender<Order>,
    /// The session is to stop, whatever it is doing.
    pub halt: AtomicBool,
    /// The scenario, with all changes of parameters.
    pub scenario: Mutex<Scenario>,
    /// Results of the session, once it has ended.
    pub result: OnceLock<Option<Arc<SessionResult>>>,
    pub created_s: u64,
}

impl Entry {
    /// Scenario of the session, with all changes of parameters.
    pub fn scenario(&self) -> Scenario {
        locked(&self.scenario).clone()
    }

    /// Results of the session; none before its end, or when it has none.
    pub fn result(&self) -> Option<Arc<SessionResult>> {
        self.result.get().cloned().flatten()
    }
}

/// An order, and where the answer goes.
pub struct Order {
    pub control: Control,
    pub answer: Sender<Result<(), ApiError>>,
}

impl Order {
    fn carry_out(self, work: impl FnOnce(Control) -> Result<(), ApiError>) {
        // Whoever asked may be gone.
        let _ = self.answer.send(work(self.control));
    }
}

/// Resources that all sessions of a server share.
pub struct Shared {
    pub limits: Limits,
    pub turns: Turns,
    pub memory: Arc<Memory>,
    /// The server ends.
    pub ending: AtomicBool,
}

/// Everything a session's thread works with.
pub struct SessionTask {
    pub entry: Arc<Entry>,
    pub shared: Arc<Shared>,
    /// Host that the session runs on; `None` in the simulator, watched as it goes.
    pub host: Option<SessionBackend>,
    pub speed: Option<f64>,
    pub paused: bool,
    pub orders: Receiver<Order>,
}

/// Between two looks at whether anybody watches a session on another host.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Runs a session to its end.
pub fn run(task: SessionTask) {
    let entry = Arc::clone(&task.entry);
    // A panic in one world is a mistake in this program; it must not take the other sessions with
    // it.
    let run = || match task.host.clone() {
        None => simulate(task),
        Some(host) => remote_run::run(task, &host),
    };
    let internal = |_| Err(ApiError::internal());
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(internal).unwrap_or_else(|error| {
        entry.publisher.publish("state", &StateEvent { message: error.message(), ..StateEvent::new("failed") });
        None
    });
    // Set nowhere else.
    let _ = entry.result.set(result.map(Arc::new));
}

/// Frame after frame until the end.
fn simulate(task: SessionTask) -> Result<Option<SessionResult>, ApiError> {
    let SessionTask { entry, shared, host: _, speed, paused, orders } = task;
    let (scenario, limits, memory) = (entry.scenario(), shared.limits.each, shared.memory.share());
    let mut session = Session::new(scenario, speed, paused, limits, memory, Thread { begun: clock::now(), entry, shared })?;
    loop {
        carry_out(&mut session, orders.try_iter());
        let span = match session.frame() {
            Next::Wait(span) => span,
            Next::Over => break,
            Next::Abandoned => return Ok(None),
        };
        if !span.is_zero() {
            carry_out(&mut session, orders.recv_timeout(span));
        }
    }
    // The order that stopped it may have no answer yet.
    carry_out(&mut session, orders.try_iter());
    Ok(session.conclude())
}

fn carry_out(session: &mut Session<Thread>, orders: impl IntoIterator<Item = Order>) {
    for order in orders {
        order.carry_out(|control| session.control(control));
    }
}

/// Environment of a session that runs on a thread.
struct Thread {
    begun: Instant,
    entry: Arc<Entry>,
    shared: Arc<Shared>,
}

impl Environment for Thread {
    fn now(&self) -> Duration {
        clock::since(self.begun)
    }

    fn publish(&self, event: &str, data: &Value) {
        self.entry.publisher.publish(event, data);
    }

    fn readers(&self) -> usize {
        self.entry.publisher.readers()
    }

    fn turn<T>(&self, work: impl FnOnce() -> T) -> T {
        self.shared.turns.with(work)
    }

    fn told_to_stop(&self) -> bool {
        [&self.shared.ending, &self.entry.halt].iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    fn changed(&self, scenario: &Scenario) {
        *locked(&self.entry.scenario) = scenario.clone();
    }
}
