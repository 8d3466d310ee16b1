//! The one session of a module, computed when the page has time for it.

use crate::session::{
    Api, ApiError, Control, Environment, Limits, Memory, NewSession, Next, Scenario, Session, SessionResult, Sessions,
};
use goodqueue_lab::run::backend::{Backend as _, Simulator};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// Recordings kept; the oldest goes when one more comes.
const UPLOADS: usize = 16;

/// Answers for a page that is the environment of its one session.
pub fn api<S: Environment + Clone>(page: S) -> Api<SingleSession<S>> {
    Api::new(SingleSession { page, running: RefCell::default(), ended: RefCell::default() }, Limits::default(), UPLOADS)
}

/// One session, or its result.
pub struct SingleSession<S> {
    page: S,
    running: RefCell<Option<Session<S>>>,
    ended: RefCell<Option<(Scenario, Option<Arc<SessionResult>>)>>,
}

impl<S: Environment + Clone> SingleSession<S> {
    /// Computes the next frame of the session. Returns the wall time until another one is due, or
    /// `None` when no session runs.
    pub fn frame(&self) -> Option<Duration> {
        let mut running = self.running.borrow_mut();
        let next = running.as_mut()?.frame();
        if let Next::Wait(span) = next {
            return Some(span);
        }
        let session = running.take()?;
        let scenario = session.scenario().clone();
        let result = if next == Next::Over { session.conclude().map(Arc::new) } else { None };
        self.ended.replace(Some((scenario, result)));
        None
    }
}

impl<S: Environment + Clone> Sessions for SingleSession<S> {
    fn open(&self, request: &NewSession, scenario: Scenario) -> Result<Value, ApiError> {
        if let Some(host) = request.on.as_deref().filter(|host| *host != Simulator.name()) {
            return Err(ApiError::field("on", format!("`{host}` is not a host of a page: allowed {}", Simulator.name())));
        }
        let limits = Limits::default();
        let memory = Memory::new(limits.session_bytes, limits.session_bytes).share();
        // Two sessions at once would take twice the memory.
        self.running.replace(None);
        self.ended.replace(None);
        let session = Session::new(scenario, request.speed, request.paused, limits, memory, self.page.clone())?;
        self.running.replace(Some(session));
        Ok(json!({}))
    }

    fn control(&self, _id: &str, control: Control) -> Result<(), ApiError> {
        self.running.borrow_mut().as_mut().ok_or_else(ApiError::session_has_ended)?.control(control)
    }

    fn scenario(&self, _id: &str) -> Result<Scenario, ApiError> {
        let (running, ended) = (self.running.borrow(), self.ended.borrow());
        let scenario = running.as_ref().map(Session::scenario).or_else(|| ended.as_ref().map(|(scenario, _)| scenario));
        scenario.cloned().ok_or_else(|| ApiError::not_found("there is no session"))
    }

    fn result(&self, _id: &str) -> Result<Option<Arc<SessionResult>>, ApiError> {
        Ok(self.ended.borrow().as_ref().and_then(|(_, result)| result.clone()))
    }
}
