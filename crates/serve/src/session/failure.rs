//! Faults of a request, in the form in which the page gets them.

use goodqueue_lab::scenario::plan::PlanError;
use http::StatusCode;
use serde_json::{Value, json};

/// A request that is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The status of the answer, as in HTTP.
    pub status: StatusCode,
    body: Value,
}

impl Failure {
    /// A refusal with this status and these words.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, body: json!({ "message": message.into() }) }
    }

    /// Understood, but not possible.
    pub fn unprocessable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// Not understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
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

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let mut failure = Self::unprocessable(error.text());
        if let Some(first) = error.faults().next() {
            if !first.field().is_empty() {
                failure = failure.with("field", first.field());
            }
            if let Some((line, column)) = first.position() {
                failure = failure.with("line", line).with("column", column);
            }
        }
        failure
    }
}
