//! A session on a thread of its own: orders and events cross between it and the server.

mod remote_run;

use crate::server::clock;
use crate::server::fair_share::Turns;
use crate::server::hosts::Place;
use crate::server::limits::Limits;
use crate::server::lock::locked;
use crate::server::stream::Publisher;
use crate::session::{Control, Environment, Failure, Memory, Next, Scenario, Session, SessionResult};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// An order, and where the answer goes.
pub struct Order {
    pub control: Control,
    pub answer: oneshot::Sender<Result<(), Failure>>,
}

/// Everything a session's thread works with.
pub struct SessionTask {
    pub scenario: Scenario,
    /// Host that the session runs on; `None` in the simulator, watched as it goes.
    pub place: Option<Place>,
    pub speed: Option<f64>,
    pub paused: bool,
    pub limits: Limits,
    pub orders: Receiver<Order>,
    pub publisher: Arc<Publisher>,
    pub turns: Arc<Turns>,
    pub memory: Arc<Memory>,
    /// The server ends.
    pub ending: Arc<AtomicBool>,
    /// The session is to stop, whatever it is doing.
    pub halt: Arc<AtomicBool>,
    /// The scenario as changed, for those who ask for it.
    pub text: Arc<Mutex<Scenario>>,
}

/// Between two looks at whether anybody watches a session on another host.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Runs a session to its end.
pub fn run(work: SessionTask) -> Option<SessionResult> {
    let publisher = Arc::clone(&work.publisher);
    // A panic in one world is a mistake in this program; it must not take the other sessions with
    // it.
    let go = || match work.place.clone() {
        None => simulate(work),
        Some(place) => remote_run::run(work, &place),
    };
    match catch_unwind(AssertUnwindSafe(go)) {
        Ok(Ok(result)) => result,
        Ok(Err(failure)) => {
            failed(&publisher, failure.message());
            None
        }
        Err(_) => {
            failed(&publisher, "internal error: this is a mistake in gq, please report it");
            None
        }
    }
}

fn failed(publisher: &Publisher, message: &str) {
    publisher.publish(
        "state",
        &json!({ "state": "failed", "t": 0, "duration": 0, "speed": null, "changed": false, "message": message }),
    );
}

/// Frame after frame until the end.
fn simulate(work: SessionTask) -> Result<Option<SessionResult>, Failure> {
    let SessionTask { scenario, place: _, speed, paused, limits, orders, publisher, turns, memory, ending, halt, text } = work;
    let thread = Thread { begun: clock::now(), publisher, turns, ending, halt, text };
    let mut session = Session::new(scenario, speed, paused, limits.each, memory.share(), thread)?;
    loop {
        while let Ok(order) = orders.try_recv() {
            carry_out(&mut session, order);
        }
        let span = match session.frame() {
            Next::Wait(span) => span,
            Next::Over => break,
            Next::Abandoned => return Ok(None),
        };
        if span.is_zero() {
            continue;
        }
        match orders.recv_timeout(span) {
            Ok(order) => carry_out(&mut session, order),
            Err(RecvTimeoutError::Timeout) => {}
            // Nobody can ask any more: the server has let go of the session.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // The order that stopped it may have no answer yet.
    while let Ok(order) = orders.try_recv() {
        carry_out(&mut session, order);
    }
    Ok(session.conclude())
}

fn carry_out(session: &mut Session<Thread>, order: Order) {
    let Order { control, answer } = order;
    // Whoever asked may be gone.
    let _ = answer.send(session.control(control));
}

/// Environment of a session that runs on a thread.
struct Thread {
    begun: Instant,
    publisher: Arc<Publisher>,
    turns: Arc<Turns>,
    ending: Arc<AtomicBool>,
    halt: Arc<AtomicBool>,
    text: Arc<Mutex<Scenario>>,
}

impl Environment for Thread {
    fn now(&self) -> Duration {
        clock::since(self.begun)
    }

    fn publish(&self, event: &str, data: &Value) {
        self.publisher.publish(event, data);
    }

    fn readers(&self) -> usize {
        self.publisher.readers()
    }

    fn turn<T>(&self, work: impl FnOnce() -> T) -> T {
        self.turns.with(work)
    }

    fn told_to_stop(&self) -> bool {
        [&self.ending, &self.halt].iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    fn changed(&self, scenario: &Scenario) {
        *locked(&self.text) = scenario.clone();
    }
}
