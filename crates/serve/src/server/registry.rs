//! All sessions: those that run, those that wait for a place, and what is left of those that have
//! ended.

use crate::server::clock;
use crate::server::fair_share::Turns;
use crate::server::hosts::Place;
use crate::server::limits::Limits;
use crate::server::lock::locked;
use crate::server::session::{self, Order, SessionTask};
use crate::server::stream::Publisher;
use crate::server::token::Token;
use crate::session::{Control, Failure, Memory, Scenario, SessionResult};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;

/// One session, whoever asks for it.
pub struct Entry {
    pub id: String,
    pub publisher: Arc<Publisher>,
    orders: Sender<Order>,
    /// Stops it in whatever it is doing.
    halt: Arc<AtomicBool>,
    scenario: Arc<Mutex<Scenario>>,
    ended: AtomicBool,
    leavings: Mutex<Option<Arc<SessionResult>>>,
    created_s: u64,
}

/// A session that has no place yet.
struct PendingSession {
    entry: Arc<Entry>,
    work: SessionTask,
}

#[derive(Default)]
struct State {
    /// In the order they came.
    entries: VecDeque<Arc<Entry>>,
    waiting: VecDeque<PendingSession>,
    running: usize,
}

/// All sessions of a server.
pub struct Registry {
    limits: Limits,
    state: Mutex<State>,
    changed: Condvar,
    turns: Arc<Turns>,
    memory: Arc<Memory>,
    ending: Arc<AtomicBool>,
}

/// Time that an order may take.
const ORDER: Duration = Duration::from_secs(10);

impl Entry {
    /// Passes an order on, and waits for what came of it.
    pub async fn order(&self, control: Control) -> Result<(), Failure> {
        let over = || Failure::new(StatusCode::CONFLICT, "the session has ended: nothing in it can be changed any more");
        let (answer, outcome) = oneshot::channel();
        let is_stop = matches!(control, Control::Stop);
        self.orders.send(Order { control, answer }).map_err(|_| over())?;
        if is_stop {
            // After the order, so that whoever is stopped by this finds the order to answer.
            self.halt.store(true, Ordering::Relaxed);
        }
        match tokio::time::timeout(ORDER, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(over()),
            Err(_) => Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "the session is busy: try again in a moment")),
        }
    }

    /// Scenario of the session, with all changes of parameters.
    pub fn scenario(&self) -> Scenario {
        locked(&self.scenario).clone()
    }

    /// Results of the session, once it has ended.
    pub fn leavings(&self) -> Option<Arc<SessionResult>> {
        locked(&self.leavings).clone()
    }

    /// As a list of runs shows it.
    fn shown(&self) -> Value {
        let scenario = self.scenario();
        let labels: Vec<&str> = scenario.variants.iter().map(|variant| variant.label.as_str()).collect();
        json!({
            "id": self.id, "title": scenario.variants[0].point.plan.name, "when": "finished session", "created_s": self.created_s,
            "points": labels, "report": true, "verdict": self.leavings().map(|left| left.verdict.clone()),
        })
    }
}

impl Registry {
    pub fn new(limits: Limits) -> Arc<Self> {
        let turns = Arc::new(Turns::new(limits.computing.max(1) as u64));
        let memory = Memory::new(limits.memory_bytes, limits.each.session_bytes);
        Arc::new(Self { limits, state: Mutex::default(), changed: Condvar::new(), turns, memory, ending: Arc::default() })
    }

    /// Begins a session, or has it wait for a place.
    pub fn open(
        self: &Arc<Self>,
        scenario: Scenario,
        place: Option<Place>,
        speed: Option<f64>,
        paused: bool,
    ) -> Result<Arc<Entry>, Failure> {
        let mut state = locked(&self.state);
        if self.ending.load(Ordering::Relaxed) {
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "the server ends"));
        }
        let Limits { sessions, waiting, .. } = self.limits;
        if state.running >= sessions && state.waiting.len() >= waiting {
            let message = format!("{sessions} sessions run and {waiting} wait for a place: end one, or try again later");
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, message).with("queue_position", Value::Null));
        }
        let token = Token::new().map_err(|_| {
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, "this machine has no randomness to name a session with")
        })?;
        let (orders, received) = mpsc::channel();
        let publisher = Arc::new(Publisher::default());
        let text = Arc::new(Mutex::new(scenario.clone()));
        let halt = Arc::new(AtomicBool::new(false));
        let entry = Arc::new(Entry {
            id: token.text()[..16].to_owned(),
            publisher: Arc::clone(&publisher),
            orders,
            halt: Arc::clone(&halt),
            scenario: Arc::clone(&text),
            ended: AtomicBool::new(false),
            leavings: Mutex::default(),
            created_s: clock::unix_seconds(),
        });
        let work = SessionTask {
            scenario,
            place,
            speed,
            paused,
            limits: self.limits,
            orders: received,
            publisher,
            turns: Arc::clone(&self.turns),
            memory: Arc::clone(&self.memory),
            halt,
            ending: Arc::clone(&self.ending),
            text,
        };
        state.entries.push_back(Arc::clone(&entry));
        state.forget_oldest(self.limits.finished);
        if state.running < sessions {
            state.running += 1;
            drop(state);
            self.start(PendingSession { entry: Arc::clone(&entry), work })?;
        } else {
            state.waiting.push_back(PendingSession { entry: Arc::clone(&entry), work });
            state.tell_positions();
        }
        Ok(entry)
    }

    /// A thread for a session, and for those that wait behind it.
    fn start(self: &Arc<Self>, first: PendingSession) -> Result<(), Failure> {
        let registry = Arc::clone(self);
        let body = move || {
            let mut next = Some(first);
            while let Some(PendingSession { entry, work }) = next {
                let leavings = session::run(work);
                *locked(&entry.leavings) = leavings.map(Arc::new);
                entry.ended.store(true, Ordering::Release);
                next = registry.take_next();
            }
        };
        let started = std::thread::Builder::new().name("session".to_owned()).spawn(body);
        started.map(drop).map_err(|error| {
            locked(&self.state).running -= 1;
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, format!("no thread can be started: {error}"))
        })
    }

    /// Takes the applicant that gets the place of a session that has ended; if there is none, the
    /// place is free.
    fn take_next(&self) -> Option<PendingSession> {
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

    pub fn find(&self, id: &str) -> Result<Arc<Entry>, Failure> {
        let state = locked(&self.state);
        state
            .entries
            .iter()
            .find(|entry| entry.id == id)
            .cloned()
            .ok_or_else(|| Failure::not_found("there is no such session: it may have been forgotten"))
    }

    /// Forgets a session; one that runs is stopped, one that waits loses its place.
    pub fn forget(&self, id: &str) -> Result<(), Failure> {
        let entry = self.find(id)?;
        let mut state = locked(&self.state);
        state.entries.retain(|known| known.id != id);
        state.waiting.retain(|applicant| applicant.entry.id != id);
        state.tell_positions();
        entry.halt.store(true, Ordering::Relaxed);
        // One that has ended hears nothing any more.
        let _ = entry.orders.send(Order { control: Control::Stop, answer: oneshot::channel().0 });
        Ok(())
    }

    /// Sessions with results, the latest first.
    pub fn finished(&self) -> Vec<Value> {
        let state = locked(&self.state);
        state.entries.iter().rev().filter(|entry| entry.leavings().is_some()).map(|entry| entry.shown()).collect()
    }

    /// Stops all sessions and waits until they have.
    pub fn end(&self, patience: Duration) {
        self.ending.store(true, Ordering::Relaxed);
        let mut state = locked(&self.state);
        state.waiting.clear();
        let waited = self.changed.wait_timeout_while(state, patience, |state| state.running > 0);
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
        for (place, applicant) in self.waiting.iter().enumerate() {
            let position = place + 1;
            let message = format!("waits for a place: number {position}");
            let state = json!({
                "state": "queued", "t": 0, "duration": 0, "speed": applicant.work.speed, "changed": false, "message": message,
                "queue_position": position,
            });
            applicant.entry.publisher.publish("state", &state);
        }
    }

    /// Keeps `most` of those that have ended.
    fn forget_oldest(&mut self, most: usize) {
        let ended = |entry: &Arc<Entry>| entry.ended.load(Ordering::Acquire);
        let mut surplus = self.entries.iter().filter(|entry| ended(entry)).count().saturating_sub(most);
        self.entries.retain(|entry| {
            let goes = surplus > 0 && ended(entry);
            surplus -= usize::from(goes);
            !goes
        });
    }
}
