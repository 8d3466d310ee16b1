//! All sessions: those that run, those that wait for a place, and what is left of those that have
//! ended.

use crate::lock::locked;
use crate::server::backends::Backends;
use crate::server::clock;
use crate::server::fair_share::Turns;
use crate::server::limits::Limits;
use crate::server::session::{self, Entry, Order, SessionTask, Shared};
use crate::server::stream::Publisher;
use crate::server::token::Token;
use crate::session::{ApiError, Control, Memory, NewSession, Scenario, SessionResult, Sessions, StateEvent};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

#[derive(Default)]
struct State {
    /// In the order they came.
    entries: VecDeque<Arc<Entry>>,
    /// Sessions that have no place yet.
    waiting: VecDeque<SessionTask>,
    running: usize,
}

/// All sessions of a server.
pub struct Registry {
    pub hosts: Backends,
    shared: Arc<Shared>,
    state: Mutex<State>,
    changed: Condvar,
}

/// Time that an order may take.
const ORDER_TIMEOUT: Duration = Duration::from_secs(10);

impl Sessions for Arc<Registry> {
    fn open(&self, request: &NewSession, scenario: Scenario) -> Result<Value, ApiError> {
        let host = self.hosts.find(request.on.as_deref())?;
        if let Some(host) = &host {
            host.check(&scenario)?;
            let given = [("speed", request.speed.is_some()), ("paused", request.paused)].into_iter().find(|(_, given)| *given);
            if let Some((field, _)) = given {
                let message = format!("a run on {} goes at its own pace from the start", host.backend.name());
                return Err(ApiError::field(field, message));
            }
        }
        let mut state = locked(&self.state);
        if self.shared.ending.load(Ordering::Relaxed) {
            return Err(ApiError::unavailable("the server ends"));
        }
        let Limits { sessions, waiting, finished, .. } = self.shared.limits;
        if state.running >= sessions && state.waiting.len() >= waiting {
            let message = format!("{sessions} sessions run and {waiting} wait for a place: end one, or try again later");
            return Err(ApiError::unavailable(message).with("queue_position", Value::Null));
        }
        let token = Token::new().map_err(|_| ApiError::unavailable("this machine has no randomness to name a session with"))?;
        let (sender, orders) = mpsc::channel();
        let entry = Arc::new(Entry {
            id: token.text()[..16].to_owned(),
            publisher: Publisher::default(),
            orders: sender,
            halt: AtomicBool::new(false),
            scenario: Mutex::new(scenario),
            result: OnceLock::new(),
            created_s: clock::unix_seconds(),
        });
        state.entries.push_back(Arc::clone(&entry));
        state.forget_oldest(finished);
        let opened = json!({ "id": entry.id });
        let (speed, paused) = (request.speed, request.paused);
        let task = SessionTask { entry, shared: Arc::clone(&self.shared), host, speed, paused, orders };
        if state.running < sessions {
            state.running += 1;
            drop(state);
            self.start(task)?;
        } else {
            state.waiting.push_back(task);
            state.tell_positions();
        }
        Ok(opened)
    }

    fn control(&self, id: &str, control: Control) -> Result<(), ApiError> {
        let entry = self.find(id)?;
        let (answer, outcome) = mpsc::channel();
        let is_stop = matches!(control, Control::Stop);
        entry.orders.send(Order { control, answer }).map_err(|_| ApiError::session_has_ended())?;
        if is_stop {
            // After the order, so that whoever is stopped by this finds the order to answer.
            entry.halt.store(true, Ordering::Relaxed);
        }
        outcome.recv_timeout(ORDER_TIMEOUT).map_err(|error| match error {
            RecvTimeoutError::Disconnected => ApiError::session_has_ended(),
            RecvTimeoutError::Timeout => ApiError::unavailable("the session is busy: try again in a moment"),
        })?
    }

    fn scenario(&self, id: &str) -> Result<Scenario, ApiError> {
        Ok(self.find(id)?.scenario())
    }

    fn result(&self, id: &str) -> Result<Option<Arc<SessionResult>>, ApiError> {
        Ok(self.find(id)?.result())
    }
}

impl Registry {
    /// Without sessions, on the present runtime.
    pub fn new(limits: Limits, hosts: Backends) -> Arc<Self> {
        let turns = Turns::new(limits.computing.max(1));
        let memory = Memory::new(limits.memory_bytes, limits.each.session_bytes);
        let shared = Arc::new(Shared { limits, turns, memory, ending: AtomicBool::new(false) });
        Arc::new(Self { hosts, shared, state: Mutex::default(), changed: Condvar::new() })
    }

    /// A thread for a session, and for those that wait behind it.
    fn start(self: &Arc<Self>, first: SessionTask) -> Result<(), ApiError> {
        let registry = Arc::clone(self);
        let body = move || {
            let mut next = Some(first);
            while let Some(task) = next {
                session::run(task);
                next = registry.take_next();
            }
        };
        let started = std::thread::Builder::new().name("session".to_owned()).spawn(body);
        started.map(drop).map_err(|error| {
            locked(&self.state).running -= 1;
            ApiError::unavailable(format!("no thread can be started: {error}"))
        })
    }

    /// Takes the session that gets the place of one that has ended; if there is none, the place is
    /// free.
    fn take_next(&self) -> Option<SessionTask> {
        let mut state = locked(&self.state);
        let next = state.waiting.pop_front();
        match next {
            Some(_) => state.tell_positions(),
            None => state.running -= 1,
        }
        drop(state);
        self.changed.notify_all();
        next
    }

    pub fn find(&self, id: &str) -> Result<Arc<Entry>, ApiError> {
        let state = locked(&self.state);
        state
            .entries
            .iter()
            .find(|entry| entry.id == id)
            .cloned()
            .ok_or_else(|| ApiError::not_found("there is no such session: it may have been forgotten"))
    }

    /// Forgets a session; one that runs is stopped, one that waits loses its place.
    pub fn forget(&self, id: &str) -> Result<(), ApiError> {
        let entry = self.find(id)?;
        let mut state = locked(&self.state);
        state.entries.retain(|known| known.id != id);
        state.waiting.retain(|task| task.entry.id != id);
        state.tell_positions();
        entry.halt.store(true, Ordering::Relaxed);
        // One that has ended hears nothing any more.
        let _ = entry.orders.send(Order { control: Control::Stop, answer: mpsc::channel().0 });
        Ok(())
    }

    /// Sessions with results, the latest first.
    pub fn finished(&self) -> Vec<Value> {
        let state = locked(&self.state);
        state.entries.iter().rev().filter_map(|entry| Some(describe(entry, &*entry.result()?))).collect()
    }

    /// Stops all sessions and waits until they have.
    pub fn end(&self, timeout: Duration) {
        self.shared.ending.store(true, Ordering::Relaxed);
        let mut state = locked(&self.state);
        state.waiting.clear();
        let waited = self.changed.wait_timeout_while(state, timeout, |state| state.running > 0);
        drop(waited);
    }

    /// Sessions that run, and that wait.
    pub fn load(&self) -> (usize, usize) {
        let state = locked(&self.state);
        (state.running, state.waiting.len())
    }
}

impl State {
    fn tell_positions(&self) {
        for (task, position) in self.waiting.iter().zip(1..) {
            let message = &format!("waits for a place: number {position}");
            let queued = StateEvent::new("queued");
            let state = StateEvent { speed: task.speed, message, queue_position: Some(position), ..queued };
            task.entry.publisher.publish("state", &state);
        }
    }

    /// Keeps `most` of those that have ended.
    fn forget_oldest(&mut self, most: usize) {
        let ended = |entry: &Arc<Entry>| entry.result.get().is_some();
        let mut surplus = self.entries.iter().filter(|entry| ended(entry)).count().saturating_sub(most);
        self.entries.retain(|entry| {
            let goes = surplus > 0 && ended(entry);
            surplus -= usize::from(goes);
            !goes
        });
    }
}

/// Describes a finished session for the list of runs.
fn describe(entry: &Entry, result: &SessionResult) -> Value {
    let scenario = entry.scenario();
    let labels: Vec<&str> = scenario.variants.iter().map(|variant| variant.label.as_str()).collect();
    json!({
        "id": entry.id, "title": scenario.variants[0].point.plan.name, "when": "finished session", "created_s": entry.created_s,
        "points": labels, "report": true, "verdict": result.verdict,
    })
}
