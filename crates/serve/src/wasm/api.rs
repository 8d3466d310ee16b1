//! Requests of a page, and the one session that answers come from.

use crate::session::{
    Control, Environment, Failure, Limits, Memory, Next, RecordingStore, Request, Scenario, Session, SessionResult, Upload,
    check, kinds, presets, speed,
};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Something that a page asks.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// Version, limits, presets, built-in recordings.
    Hello,
    /// All kinds of queues, congestion controls and traffic.
    Kinds,
    /// Warnings about settings of a scenario that are probably not meant.
    Check {
        /// The scenario, as a file has it.
        scenario: String,
    },
    /// A recorded link that scenarios may name from now on.
    Trace {
        /// Name of the recording, without `upload:`.
        name: String,
        /// The recording, in mahimahi's format.
        text: String,
    },
    /// A session in place of the present one.
    Open {
        /// Request that `gq serve` takes at `POST /api/sessions`.
        session: Request,
    },
    /// A change of the session.
    Control {
        /// Order that `gq serve` takes at `POST /api/sessions/ID/control`.
        control: Control,
    },
    /// A file of the session: `scenario.toml` or `summary.json`.
    File {
        /// Name of the file.
        name: String,
        /// Variant of the scenario; all of them as a sweep unless given.
        variant: Option<usize>,
    },
    /// The session's `report.html`.
    Report {
        /// The page without its data; the module has none, since the page around it does.
        template: String,
    },
}

/// Step that follows a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Another frame, after so much wall time or after an order.
    For(Duration),
    /// Nothing: no session runs.
    Forever,
}

/// Recordings kept; the oldest goes when one more comes.
const UPLOADS: usize = 16;

/// Answers a page, and holds its session.
pub struct Api<S> {
    surroundings: S,
    limits: Limits,
    shelf: RecordingStore,
    running: Option<Session<S>>,
    ended: Option<Ended>,
}

/// Results of a session that has ended.
struct Ended {
    scenario: Scenario,
    leavings: Option<SessionResult>,
}

impl<S: Environment + Clone> Api<S> {
    /// Without a session.
    pub fn new(surroundings: S) -> Self {
        Self { surroundings, limits: Limits::default(), shelf: RecordingStore::new(UPLOADS), running: None, ended: None }
    }

    /// Answers.
    ///
    /// # Errors
    /// The refusals of `gq serve`, with the same words.
    pub fn answer(&mut self, ask: Ask) -> Result<Value, Failure> {
        match ask {
            Ask::Hello => Ok(self.hello()),
            Ask::Kinds => Ok(kinds()),
            Ask::Check { scenario } => check(&scenario, self.shelf.recordings(), &self.limits),
            Ask::Trace { name, text } => self.take_in(&name, text.as_bytes()),
            Ask::Open { session } => self.open(&session),
            Ask::Control { control } => self.control(control),
            Ask::File { name, variant } => self.file(&name, variant).map(Value::String),
            Ask::Report { template } => {
                let no_slots = || Failure::bad_request("the template lacks the places for title and data");
                self.leavings()?.report.fill(&template).map(Value::String).ok_or_else(no_slots)
            }
        }
    }

    /// Computes the next frame of the session.
    pub fn frame(&mut self) -> Pause {
        let Some(session) = &mut self.running else { return Pause::Forever };
        let next = session.frame();
        if let Next::Wait(span) = next {
            return Pause::For(span);
        }
        if let Some(session) = self.running.take() {
            let scenario = session.scenario().clone();
            let leavings = if next == Next::Over { session.conclude() } else { None };
            self.ended = Some(Ended { scenario, leavings });
        }
        Pause::Forever
    }

    fn hello(&self) -> Value {
        let Limits { seconds, flows, upload_bytes, .. } = self.limits;
        json!({
            "version": VERSION_AND_COMMIT,
            "limits": { "sessions": 1, "seconds": seconds, "flows": flows, "upload_bytes": upload_bytes },
            "presets": presets(),
            "traces": self.shelf.built_in(),
            "bridge": false,
        })
    }

    fn take_in(&mut self, name: &str, text: &[u8]) -> Result<Value, Failure> {
        let most = self.limits.upload_bytes;
        if text.len() > most {
            let message = format!("the recording is too large: allowed up to {most} bytes");
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        Ok(json!(self.shelf.add(name, Upload::read(text)?)))
    }

    fn open(&mut self, request: &Request) -> Result<Value, Failure> {
        if let Some(host) = request.on.as_deref().filter(|host| *host != "sim") {
            let message = format!("on: `{host}` is not a host of a page: allowed sim");
            return Err(Failure::unprocessable(message).with("field", "on"));
        }
        let speed = speed(request.speed)?;
        let scenario = Scenario::new(request, self.shelf.recordings(), &self.limits)?;
        let memory = Memory::new(self.limits.session_bytes, self.limits.session_bytes).share();
        self.ended = None;
        self.running = None;
        self.running = Some(Session::new(scenario, speed, request.paused, self.limits, memory, self.surroundings.clone())?);
        Ok(json!({}))
    }

    fn control(&mut self, control: Control) -> Result<Value, Failure> {
        let over = || Failure::new(StatusCode::CONFLICT, "the session has ended: nothing in it can be changed any more");
        self.running.as_mut().ok_or_else(over)?.control(control)?;
        Ok(json!({}))
    }

    fn file(&self, name: &str, variant: Option<usize>) -> Result<String, Failure> {
        let scenario = || self.running.as_ref().map(Session::scenario).or(self.ended.as_ref().map(|ended| &ended.scenario));
        let no_session = || Failure::not_found("there is no session");
        match name {
            "scenario.toml" => scenario().ok_or_else(no_session)?.text(variant),
            "summary.json" => Ok(self.leavings()?.summary_json.clone()),
            _ => Err(Failure::not_found("allowed scenario.toml, summary.json")),
        }
    }

    fn leavings(&self) -> Result<&SessionResult, Failure> {
        let not_yet = "the session has no result: it has not ended, or it was stopped before measuring began";
        let leavings = self.ended.as_ref().and_then(|ended| ended.leavings.as_ref());
        leavings.ok_or_else(|| Failure::new(StatusCode::CONFLICT, not_yet))
    }
}
