//! Requests of a page and their answers, the same with a server and without.

use crate::lock::locked;
use crate::session::error::ApiError;
use crate::session::limits::Limits;
use crate::session::recordings::{self, RecordingStore};
use crate::session::scenario::{self, NewSession, Scenario};
use crate::session::simulation::{Control, SessionResult, speed};
use crate::session::{kinds, presets};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::{Arc, Mutex};

/// Something that a page asks. An `id` names one of a server's sessions; a page without a server
/// has a module for each and leaves it out.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
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
    /// A new session; in a page without a server it takes the place of the present one.
    Open {
        /// The scenario and how to run it.
        session: NewSession,
    },
    /// A change of a session.
    Control {
        /// The session.
        #[serde(default)]
        id: String,
        /// The order.
        control: Control,
    },
    /// A file of a session: `scenario.toml` or `summary.json`.
    File {
        /// The session.
        #[serde(default)]
        id: String,
        /// Name of the file.
        name: String,
        /// Variant of the scenario; all of them as a sweep unless given.
        variant: Option<usize>,
    },
    /// A session's `report.html`.
    Report {
        /// The session.
        #[serde(default)]
        id: String,
        /// The page without its data, which a page without a server brings along.
        template: Cow<'static, str>,
    },
}

/// Answer to a request; without a server each is its content.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Facts that were asked for.
    Json(Value),
    /// Something new, described.
    Created(Value),
    /// `scenario.toml`.
    Scenario(String),
    /// `summary.json`.
    Summary(String),
    /// `report.html`.
    Report(String),
}

/// Sessions that requests are about: the threads of a server, or the one of a page's module.
pub trait Sessions {
    /// Begins a session and describes it to the page.
    ///
    /// # Errors
    /// There is no place for it, or it cannot run here.
    fn open(&self, request: &NewSession, scenario: Scenario) -> Result<Value, ApiError>;

    /// Carries out an order.
    ///
    /// # Errors
    /// There is no such session, it has ended, or it refuses the order.
    fn control(&self, id: &str, control: Control) -> Result<(), ApiError>;

    /// Returns the scenario of a session, with all changes of parameters.
    ///
    /// # Errors
    /// There is no such session.
    fn scenario(&self, id: &str) -> Result<Scenario, ApiError>;

    /// Returns the results of a session; none before its end, or when it has none.
    ///
    /// # Errors
    /// There is no such session.
    fn result(&self, id: &str) -> Result<Option<Arc<SessionResult>>, ApiError>;
}

/// Answers requests.
pub struct Api<S> {
    limits: Limits,
    recordings: Mutex<RecordingStore>,
    /// The sessions.
    pub sessions: S,
}

impl<S: Sessions> Api<S> {
    /// Answers with these sessions, and keeps so many `uploads`.
    pub fn new(sessions: S, limits: Limits, uploads: usize) -> Self {
        Self { limits, recordings: Mutex::new(RecordingStore::new(uploads)), sessions }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// The refusal, with the field that it is about.
    pub fn answer(&self, request: Request) -> Result<Answer, ApiError> {
        match request {
            Request::Hello => Ok(Answer::Json(self.hello())),
            Request::Kinds => Ok(Answer::Json(kinds::all())),
            Request::Check { scenario } => {
                let recordings = locked(&self.recordings).recordings();
                scenario::check(&scenario, recordings, &self.limits).map(Answer::Json)
            }
            Request::Trace { name, text } => self.add_recording(&name, &text),
            Request::Open { session } => {
                speed(session.speed)?;
                let recordings = locked(&self.recordings).recordings();
                let scenario = Scenario::new(&session, recordings, &self.limits)?;
                self.sessions.open(&session, scenario).map(Answer::Created)
            }
            Request::Control { id, control } => self.sessions.control(&id, control).map(|()| Answer::Json(json!({}))),
            Request::File { id, name, variant } => match name.as_str() {
                "scenario.toml" => self.sessions.scenario(&id)?.text(variant).map(Answer::Scenario),
                "summary.json" => Ok(Answer::Summary(self.result(&id)?.summary_json.clone())),
                _ => Err(ApiError::not_found("allowed scenario.toml, summary.json, report.html")),
            },
            Request::Report { id, template } => {
                let no_slots = || ApiError::bad_request("the template lacks the places for title and data");
                self.result(&id)?.report.fill(&template).map(Answer::Report).ok_or_else(no_slots)
            }
        }
    }

    /// Describes this program to a page, as one that has a single session.
    pub fn hello(&self) -> Value {
        let Limits { seconds, flows, upload_bytes, .. } = self.limits;
        json!({
            "version": VERSION_AND_COMMIT,
            "limits": { "sessions": 1, "seconds": seconds, "flows": flows, "upload_bytes": upload_bytes },
            "presets": presets::all(),
            "traces": locked(&self.recordings).built_in(),
            "bridge": false,
        })
    }

    fn add_recording(&self, name: &str, text: &str) -> Result<Answer, ApiError> {
        let most = self.limits.upload_bytes;
        if text.len() > most {
            return Err(ApiError::too_large(format!("the recording is too large: allowed up to {most} bytes")));
        }
        let recording = recordings::read(text)?;
        Ok(Answer::Created(json!(locked(&self.recordings).add(name, recording))))
    }

    fn result(&self, id: &str) -> Result<Arc<SessionResult>, ApiError> {
        let not_yet = "the session has no result: it has not ended, or it was stopped before measuring began";
        self.sessions.result(id)?.ok_or_else(|| ApiError::conflict(not_yet))
    }
}
