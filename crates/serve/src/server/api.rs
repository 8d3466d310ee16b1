//! Handlers of requests: one function for each address.

use crate::server::assets;
use crate::server::bridge::Monitor;
use crate::server::failure::Refused;
use crate::server::gallery::Gallery;
use crate::server::guard::{self, Guard};
use crate::server::hosts::Hosts;
use crate::server::limits::{Limits, SessionLimits};
use crate::server::lock::locked;
use crate::server::registry::Registry;
use crate::server::runs::Runs;
use crate::server::token::Token;
use crate::session::{Control, Failure, RecordingStore, Request as SessionRequest, Scenario, Upload, speed};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use goodqueue_lab::provenance::VERSION_AND_COMMIT;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::time::timeout;

/// Everything that answers need.
pub struct AppState {
    pub guard: Arc<Guard>,
    pub limits: Limits,
    pub shelf: Mutex<RecordingStore>,
    pub registry: Arc<Registry>,
    pub hosts: Hosts,
    pub runs: Runs,
    pub gallery: Gallery,
    pub monitor: Option<Monitor>,
}

type Shared = State<Arc<AppState>>;
type Answer = Result<Response, Refused>;

/// All addresses.
pub fn router(desk: Arc<AppState>) -> Router {
    let guard = Arc::clone(&desk.guard);
    Router::new()
        .route("/api/hello", get(hello))
        .route("/api/kinds", get(all_kinds))
        .route("/api/metrics", get(all_metrics))
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
            Refused(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "this address does not take that method"))
        })
        .layer(middleware::from_fn_with_state(guard, guard::watch))
        .with_state(desk)
}

async fn page(uri: Uri) -> Response {
    let asset = uri.path().strip_prefix('/').and_then(assets::serve);
    asset.unwrap_or_else(|| Refused(Failure::not_found("there is nothing at this address")).into_response())
}

async fn hello(State(desk): Shared) -> Response {
    let Limits { sessions, each, .. } = desk.limits;
    let SessionLimits { seconds, flows, upload_bytes, .. } = each;
    let (running, waiting) = desk.registry.load();
    let mut hello = json!({
        "version": VERSION_AND_COMMIT,
        "limits": { "sessions": sessions, "seconds": seconds, "flows": flows, "upload_bytes": upload_bytes },
        "load": { "running": running, "waiting": waiting },
        "presets": crate::session::presets(),
        "traces": locked(&desk.shelf).built_in(),
        "hosts": desk.hosts.shown(),
        "bridge": desk.monitor.is_some(),
    });
    if desk.guard.open {
        hello["token"] = json!(desk.guard.token.text());
    }
    axum::Json(hello).into_response()
}

async fn all_metrics() -> Response {
    axum::Json(goodqueue_lab::columns::descriptions()).into_response()
}

async fn all_kinds() -> Response {
    axum::Json(crate::session::kinds()).into_response()
}

/// So much of a body that is too large is read and forgotten, so that whoever sends it hears the
/// answer.
const FORGOTTEN: usize = 32 << 20;

/// The whole body, if it is small enough and comes in time.
async fn read(body: Body, most: usize, desk: &AppState) -> Result<Bytes, Failure> {
    let late = |_| Failure::new(StatusCode::REQUEST_TIMEOUT, "the request did not come to its end in time");
    timeout(desk.limits.patience, collect(body, most)).await.map_err(late)?
}

async fn collect(mut body: Body, most: usize) -> Result<Bytes, Failure> {
    let too_large =
        || Failure::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the request is too large: allowed up to {most} bytes"));
    let bound = most + FORGOTTEN;
    if body.size_hint().lower() > bound as u64 {
        return Err(too_large());
    }
    let (mut bytes, mut seen) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::bad_request("the request broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        if seen > bound {
            break;
        }
        if seen <= most {
            bytes.extend_from_slice(&data);
        } else {
            bytes = Vec::new();
        }
    }
    if seen > most { Err(too_large()) } else { Ok(bytes.into()) }
}

async fn read_text(body: Body, most: usize, desk: &AppState) -> Result<String, Failure> {
    let bytes = read(body, most, desk).await?;
    String::from_utf8(bytes.into()).map_err(|error| {
        Failure::unprocessable(format!("is not UTF-8 text: byte {} cannot be read", error.utf8_error().valid_up_to() + 1))
    })
}

async fn read_json<T: DeserializeOwned>(headers: &HeaderMap, body: Body, desk: &AppState) -> Result<T, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim() != "application/json" {
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type: application/json is needed"));
    }
    let bytes = read(body, desk.limits.request_bytes, desk).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let status = if error.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
        Failure::new(status, format!("the request cannot be understood: {error}"))
    })
}

/// SessionTask that takes longer than a moment, away from the threads that answer.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    let broken = |_| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: this is a mistake in gq, please report it");
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

async fn check(State(desk): Shared, request: Request) -> Answer {
    let text = read_text(request.into_body(), desk.limits.request_bytes, &desk).await?;
    let checked = apart(move || crate::session::check(&text, locked(&desk.shelf).recordings(), &desk.limits.each)).await?;
    Ok(axum::Json(checked).into_response())
}

async fn upload(State(desk): Shared, request: Request) -> Answer {
    let bytes = read(request.into_body(), desk.limits.each.upload_bytes, &desk).await?;
    let shown = apart(move || {
        let recording = Upload::read(&bytes)?;
        let token =
            Token::new().map_err(|_| Failure::unprocessable("this machine has no randomness to name the recording with"))?;
        Ok(locked(&desk.shelf).add(&token.text()[..12], recording))
    })
    .await?;
    Ok((StatusCode::CREATED, axum::Json(shown)).into_response())
}

async fn open_session(State(desk): Shared, headers: HeaderMap, request: Request) -> Answer {
    let request: SessionRequest = read_json(&headers, request.into_body(), &desk).await?;
    let speed = speed(request.speed)?;
    let entry = apart(move || {
        let paused = request.paused;
        let place = desk.hosts.find(request.on.as_deref())?;
        let scenario = Scenario::new(&request, locked(&desk.shelf).recordings(), &desk.limits.each)?;
        if let Some(place) = &place {
            place.check(&scenario)?;
            let given = [("speed", speed.is_some()), ("paused", paused)].into_iter().find(|(_, given)| *given);
            if let Some((field, _)) = given {
                let message = format!("{field}: a run on {} goes at its own pace from the start", place.host.name());
                return Err(Failure::unprocessable(message).with("field", field));
            }
        }
        desk.registry.open(scenario, place, speed, paused)
    });
    Ok((StatusCode::CREATED, axum::Json(json!({ "id": entry.await?.id }))).into_response())
}

async fn forget_session(State(desk): Shared, Path(id): Path<String>) -> Answer {
    desk.registry.forget(&id)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn stream_session(State(desk): Shared, Path(id): Path<String>) -> Answer {
    Ok(desk.registry.find(&id)?.publisher.response())
}

async fn control_session(State(desk): Shared, Path(id): Path<String>, headers: HeaderMap, request: Request) -> Answer {
    let control: Control = read_json(&headers, request.into_body(), &desk).await?;
    desk.registry.find(&id)?.order(control).await?;
    Ok(axum::Json(json!({})).into_response())
}

#[derive(Deserialize)]
struct Which {
    variant: Option<usize>,
}

/// The variant that is asked for in an address, or what is wrong with it.
type Asked = Result<Query<Which>, QueryRejection>;

fn variant(asked: Asked) -> Result<Option<usize>, Failure> {
    let wrong = |_| Failure::bad_request("variant: is not a whole number").with("field", "variant");
    asked.map(|Query(which)| which.variant).map_err(wrong)
}

async fn session_file(State(desk): Shared, Path((id, file)): Path<(String, String)>, asked: Asked) -> Answer {
    let variant = variant(asked)?;
    let entry = desk.registry.find(&id)?;
    let not_yet = || {
        Failure::new(
            StatusCode::CONFLICT,
            "the session has no result: it has not ended, or it was stopped before measuring began",
        )
    };
    match file.as_str() {
        "scenario.toml" => Ok(toml(entry.scenario().text(variant)?)),
        "summary.json" => Ok(summary(entry.leavings().ok_or_else(not_yet)?.summary_json.clone())),
        "report.html" => Ok(report(entry.leavings().ok_or_else(not_yet)?.report.page())),
        _ => Err(Failure::not_found("allowed scenario.toml, summary.json, report.html").into()),
    }
}

fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn toml(text: String) -> Response {
    typed("application/toml; charset=utf-8", text)
}

fn summary(text: String) -> Response {
    typed("application/json", text)
}

fn report(text: String) -> Response {
    let mut response = typed("text/html; charset=utf-8", text);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, guard::REPORT_SECURITY);
    response
}

async fn list_runs(State(desk): Shared) -> Answer {
    let listed = apart(move || {
        let mut runs = desk.registry.finished();
        let hint = desk.runs.list(&mut runs);
        Ok(json!({ "runs": runs, "hint": hint }))
    });
    Ok(axum::Json(listed.await?).into_response())
}

async fn run_file(State(desk): Shared, Path((id, file)): Path<(String, String)>, asked: Asked) -> Answer {
    if desk.registry.find(&id).is_ok() {
        return session_file(State(desk), Path((id, file)), asked).await;
    }
    let content = apart(move || Ok((desk.runs.file(&id, &file)?, file)));
    let (text, file) = content.await?;
    Ok(match file.as_str() {
        "report.html" => report(text),
        "summary.json" => summary(text),
        _ => toml(text),
    })
}

async fn gallery(State(desk): Shared) -> Answer {
    let found = apart(move || Ok(desk.gallery.list())).await?;
    Ok(axum::Json(found).into_response())
}

async fn gallery_figure(State(desk): Shared, Path(file): Path<String>) -> Answer {
    let figure = apart(move || desk.gallery.figure(&file)).await?;
    let mut response = typed("image/svg+xml", figure);
    // A picture from a file: nothing in it may run.
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

fn monitor(desk: &AppState) -> Result<&Monitor, Failure> {
    desk.monitor.as_ref().ok_or_else(|| Failure::not_found("there is no bridge to watch: start gq serve with --bridge SOCKET"))
}

async fn bridge_stream(State(desk): Shared) -> Answer {
    Ok(monitor(&desk)?.publisher().response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    line: String,
}

async fn bridge_control(State(desk): Shared, headers: HeaderMap, request: Request) -> Answer {
    let Line { line } = read_json(&headers, request.into_body(), &desk).await?;
    let answer = monitor(&desk)?.order(&line).await?;
    Ok(axum::Json(answer).into_response())
}
