//! Refusals as HTTP answers.

use crate::session::Failure;
use axum::response::{IntoResponse, Response};

/// A refusal on its way to whoever asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused(pub Failure);

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0.status, axum::Json(self.0.to_json())).into_response()
    }
}
