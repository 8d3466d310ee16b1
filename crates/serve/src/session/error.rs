//! Refusals of requests, in the form in which the page gets them.

use crate::session::memory::OutOfMemory;
use goodqueue_lab::scenario::plan::PlanError;
use goodqueue_sim::WorldError;
use http::StatusCode;
use serde_json::{Value, json};
use std::fmt::Display;

/// A request that is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    /// The status of the answer, as in HTTP.
    pub status: StatusCode,
    body: Value,
}

impl ApiError {
    /// A refusal with this status and these words.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, body: json!({ "message": message.into() }) }
    }

    /// Understood, but not possible.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// A field that cannot be as it is.
    pub fn field(name: &str, message: impl Display) -> Self {
        Self::unprocessable(format!("{name}: {message}")).with("field", name)
    }

    /// Not understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Larger than allowed.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// Not possible in the present state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// Not possible at present.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// A mistake in this program.
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: this is a mistake in gq, please report it")
    }

    /// An order to a session that has ended.
    pub fn session_has_ended() -> Self {
        Self::conflict("the session has ended: nothing in it can be changed any more")
    }

    /// Nothing has that name.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// With another field in the error.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body[name] = value.into();
        self
    }

    /// Returns the fault in words.
    pub fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    /// The body of the answer: `error` with its `message`, and `field`, `line` and `column` where
    /// they are known.
    pub fn to_json(&self) -> Value {
        json!({ "error": self.body })
    }
}

impl From<PlanError> for ApiError {
    fn from(error: PlanError) -> Self {
        let mut refused = Self::unprocessable(error.text());
        if let Some(first) = error.faults().next() {
            if !first.field().is_empty() {
                refused = refused.with("field", first.field());
            }
            if let Some((line, column)) = first.position() {
                refused = refused.with("line", line).with("column", column);
            }
        }
        refused
    }
}

impl From<OutOfMemory> for ApiError {
    fn from(error: OutOfMemory) -> Self {
        Self::unprocessable(error.to_string())
    }
}

impl From<WorldError> for ApiError {
    fn from(error: WorldError) -> Self {
        Self::unprocessable(error.to_string())
    }
}
