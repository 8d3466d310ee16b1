//! Handlers of requests: one function for each address.

use crate::server::assets;
use crate::server::bridge::Monitor;
use crate::server::gallery::Gallery;
use crate::server::guard::{self, Guard};
use crate::server::limits::Limits;
use crate::server::registry::Registry;
use crate::server::runs::Runs;
use crate::server::token::Token;
use crate::session::{Answer, Api, ApiError, Request};
use axum::body::{Body, HttpBody};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router, extract, middleware};
use goodqueue_lab::results::report;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::time::timeout;

/// Everything that answers need.
pub struct AppState {
    pub guard: Arc<Guard>,
    pub limits: Limits,
    pub api: Api<Arc<Registry>>,
    pub runs: Runs,
    pub gallery: Gallery,
    pub monitor: Option<Monitor>,
}

type App = State<Arc<AppState>>;
type Reply = Result<Response, ApiError>;

/// All addresses.
pub fn router(app: Arc<AppState>) -> Router {
    let guard = Arc::clone(&app.guard);
    Router::new()
        .route("/api/hello", get(hello))
        .route("/api/kinds", get(kinds))
        .route("/api/metrics", get(metrics))
        .route("/api/check", post(check))
        .route("/api/traces", post(upload))
        .route("/api/sessions", post(open_session))
        .route("/api/sessions/{id}", delete(forget_session))
        .route("/api/sessions/{id}/stream", get(stream_session))
        .route("/api/sessions/{id}/control", post(control_session))
        .route("/api/sessions/{id}/{file}", get(session_file))
        .route("/api/runs", get(list_runs))
        .route("/api/runs/{id}/{file}", get(run_file))
        .route("/api/gallery", get(gallery))
        .route("/api/gallery/figures/{file}", get(gallery_figure))
        .route("/api/bridge/stream", get(bridge_stream))
        .route("/api/bridge/control", post(bridge_control))
        .fallback(page)
        .method_not_allowed_fallback(async || {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not take that method")
        })
        .layer(middleware::from_fn_with_state(guard, guard::authorize))
        .with_state(app)
}

async fn page(uri: Uri) -> Response {
    let asset = uri.path().strip_prefix('/').and_then(assets::serve);
    asset.unwrap_or_else(|| ApiError::not_found("there is nothing at this address").into_response())
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.to_json())).into_response()
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        match self {
            Self::Json(body) => Json(body).into_response(),
            Self::Created(body) => (StatusCode::CREATED, Json(body)).into_response(),
            Self::Scenario(text) => typed("application/toml; charset=utf-8", text),
            Self::Summary(text) => typed("application/json", text),
            Self::Report(text) => {
                let mut response = typed("text/html; charset=utf-8", text);
                response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, guard::REPORT_SECURITY);
                response
            }
        }
    }
}

fn typed(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

async fn answer(app: Arc<AppState>, request: Request) -> Reply {
    blocking(move || app.api.answer(request)).await
}

async fn hello(State(app): App) -> Json<Value> {
    let mut hello = app.api.hello();
    let (running, waiting) = app.api.sessions.load();
    hello["limits"]["sessions"] = json!(app.limits.sessions);
    hello["load"] = json!({ "running": running, "waiting": waiting });
    hello["hosts"] = app.api.sessions.hosts.describe();
    hello["bridge"] = json!(app.monitor.is_some());
    if app.guard.open {
        hello["token"] = json!(app.guard.token.text());
    }
    Json(hello)
}

async fn metrics() -> Response {
    Json(goodqueue_lab::results::columns::descriptions()).into_response()
}

async fn kinds(State(app): App) -> Reply {
    answer(app, Request::Kinds).await
}

/// Bytes of a body that is too large that are read and discarded, so that the client receives
/// the answer.
const MAX_DISCARDED: usize = 32 << 20;

/// The whole body, if it is small enough and comes in time.
async fn read(body: Body, most: usize, app: &AppState) -> Result<Vec<u8>, ApiError> {
    let late = |_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "the request did not come to its end in time");
    timeout(app.limits.client_timeout, collect(body, most)).await.map_err(late)?
}

async fn collect(mut body: Body, most: usize) -> Result<Vec<u8>, ApiError> {
    let too_large = || ApiError::too_large(format!("the request is too large: allowed up to {most} bytes"));
    let bound = most + MAX_DISCARDED;
    if body.size_hint().lower() > bound as u64 {
        return Err(too_large());
    }
    let (mut bytes, mut seen) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await
        && seen <= bound
    {
        let data = frame.map_err(|_| ApiError::bad_request("the request broke off"))?.into_data().unwrap_or_default();
        seen += data.len();
        if seen <= most {
            bytes.extend_from_slice(&data);
        }
    }
    if seen > most { Err(too_large()) } else { Ok(bytes) }
}

async fn read_text(body: Body, most: usize, app: &AppState) -> Result<String, ApiError> {
    let bytes = read(body, most, app).await?;
    String::from_utf8(bytes).map_err(|error| {
        ApiError::unprocessable(format!("is not UTF-8 text: byte {} cannot be read", error.utf8_error().valid_up_to() + 1))
    })
}

async fn read_json<T: DeserializeOwned>(request: extract::Request, app: &AppState) -> Result<T, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim() != "application/json" {
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type: application/json is needed"));
    }
    let bytes = read(request.into_body(), app.limits.request_bytes, app).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let status = if error.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
        ApiError::new(status, format!("the request cannot be understood: {error}"))
    })
}

/// Answers with work that takes longer than a moment, away from the threads that serve connections.
async fn blocking<T: IntoResponse + Send + 'static>(work: impl FnOnce() -> Result<T, ApiError> + Send + 'static) -> Reply {
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| ApiError::internal())?;
    Ok(done?.into_response())
}

async fn check(State(app): App, body: Body) -> Reply {
    let scenario = read_text(body, app.limits.request_bytes, &app).await?;
    answer(app, Request::Check { scenario }).await
}

async fn upload(State(app): App, body: Body) -> Reply {
    let text = read_text(body, app.limits.each.upload_bytes, &app).await?;
    let token = Token::new().map_err(|_| ApiError::unprocessable("this machine has no randomness to name the recording with"))?;
    answer(app, Request::Trace { name: token.text()[..12].to_owned(), text }).await
}

async fn open_session(State(app): App, request: extract::Request) -> Reply {
    let session = read_json(request, &app).await?;
    answer(app, Request::Open { session }).await
}

async fn forget_session(State(app): App, Path(id): Path<String>) -> Reply {
    app.api.sessions.forget(&id)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn stream_session(State(app): App, Path(id): Path<String>) -> Reply {
    Ok(app.api.sessions.find(&id)?.publisher.response())
}

async fn control_session(State(app): App, Path(id): Path<String>, request: extract::Request) -> Reply {
    let control = read_json(request, &app).await?;
    answer(app, Request::Control { id, control }).await
}

#[derive(Deserialize)]
struct VariantQuery {
    variant: Option<usize>,
}

/// The variant that is asked for in an address, or the fault in it.
type AskedVariant = Result<Query<VariantQuery>, QueryRejection>;

async fn session_file(State(app): App, Path((id, name)): Path<(String, String)>, asked: AskedVariant) -> Reply {
    let wrong = |_| ApiError::bad_request("variant: is not a whole number").with("field", "variant");
    let Query(VariantQuery { variant }) = asked.map_err(wrong)?;
    let request = match name.as_str() {
        "report.html" => Request::Report { id, template: report::TEMPLATE.into() },
        _ => Request::File { id, name, variant },
    };
    answer(app, request).await
}

async fn list_runs(State(app): App) -> Reply {
    let list = move || {
        let mut runs = app.api.sessions.finished();
        let hint = app.runs.list(&mut runs);
        Ok(Json(json!({ "runs": runs, "hint": hint })))
    };
    blocking(list).await
}

async fn run_file(State(app): App, Path((id, file)): Path<(String, String)>, asked: AskedVariant) -> Reply {
    if app.api.sessions.find(&id).is_ok() {
        return session_file(State(app), Path((id, file)), asked).await;
    }
    blocking(move || app.runs.file(&id, &file)).await
}

async fn gallery(State(app): App) -> Reply {
    blocking(move || Ok(Json(app.gallery.list()))).await
}

async fn gallery_figure(State(app): App, Path(file): Path<String>) -> Reply {
    // A picture from a file: nothing in it may run.
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")), (header::CONTENT_SECURITY_POLICY, policy)];
    blocking(move || Ok((headers, app.gallery.figure(&file)?))).await
}

fn monitor(app: &AppState) -> Result<&Monitor, ApiError> {
    app.monitor.as_ref().ok_or_else(|| ApiError::not_found("there is no bridge to watch: start gq serve with --bridge SOCKET"))
}

async fn bridge_stream(State(app): App) -> Reply {
    Ok(monitor(&app)?.publisher().response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    line: String,
}

async fn bridge_control(State(app): App, request: extract::Request) -> Reply {
    let Line { line } = read_json(request, &app).await?;
    Ok(Json(monitor(&app)?.order(&line).await?).into_response())
}
