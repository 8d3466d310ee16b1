//! The one session of a module, computed when the page has time for it.

use crate::session::{
    Api, ApiError, Control, Environment, Limits, Memory, NewSession, Next, Scenario, Session, SessionResult, Sessions,
};
use goodqueue_lab::hosts::{Backend as _, Simulator};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// Recordings kept; the oldest goes when one more comes.
const UPLOADS: usize = 16;

/// Answers for a page that is the environment of its one session.
pub fn api<S: Environment + Clone>(page: S) -> Api<SingleSession<S>> {
    Api::new(SingleSession { page, state: RefCell::new(State::None) }, Limits::default(), UPLOADS)
}

/// One session, or its result.
pub struct SingleSession<S> {
    page: S,
    state: RefCell<State<S>>,
}

enum State<S> {
    None,
    Running(Box<Session<S>>),
    Ended { scenario: Box<Scenario>, result: Option<Arc<SessionResult>> },
}

impl<S: Environment + Clone> SingleSession<S> {
    /// Computes the next frame of the session. Returns the wall time until another one is due, or
    /// `None` when no session runs.
    pub fn frame(&self) -> Option<Duration> {
        let mut state = self.state.borrow_mut();
        let State::Running(session) = &mut *state else { return None };
        let next = session.frame();
        if let Next::Wait(span) = next {
            return Some(span);
        }
        if let State::Running(session) = std::mem::replace(&mut *state, State::None) {
            let scenario = Box::new(session.scenario().clone());
            let result = if next == Next::Over { session.conclude().map(Arc::new) } else { None };
            *state = State::Ended { scenario, result };
        }
        None
    }
}

impl<S: Environment + Clone> Sessions for SingleSession<S> {
    fn open(&self, request: &NewSession, scenario: Scenario) -> Result<String, ApiError> {
        if let Some(host) = request.on.as_deref().filter(|host| *host != Simulator.name()) {
            return Err(ApiError::field("on", format!("`{host}` is not a host of a page: allowed {}", Simulator.name())));
        }
        let limits = Limits::default();
        let memory = Memory::new(limits.session_bytes, limits.session_bytes).share();
        let mut state = self.state.borrow_mut();
        // Two sessions at once would take twice the memory.
        *state = State::None;
        let session = Session::new(scenario, request.speed, request.paused, limits, memory, self.page.clone())?;
        *state = State::Running(Box::new(session));
        Ok(String::new())
    }

    fn control(&self, _id: &str, control: Control) -> Result<(), ApiError> {
        match &mut *self.state.borrow_mut() {
            State::Running(session) => session.control(control),
            State::None | State::Ended { .. } => Err(ApiError::session_has_ended()),
        }
    }

    fn scenario(&self, _id: &str) -> Result<Scenario, ApiError> {
        match &*self.state.borrow() {
            State::Running(session) => Ok(session.scenario().clone()),
            State::Ended { scenario, .. } => Ok(Scenario::clone(scenario)),
            State::None => Err(ApiError::not_found("there is no session")),
        }
    }

    fn result(&self, _id: &str) -> Result<Option<Arc<SessionResult>>, ApiError> {
        match &*self.state.borrow() {
            State::Ended { result, .. } => Ok(result.clone()),
            State::None | State::Running(_) => Ok(None),
        }
    }
}
