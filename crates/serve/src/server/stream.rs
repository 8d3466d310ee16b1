//! Server-sent events: one publisher that never waits, many readers that may be slow.

use crate::server::lock::locked;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

/// Events that a reader may be behind before it is let go: about four seconds of frames.
const BACKLOG: usize = 256;
/// A sign of life when there is nothing to say.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Kinds of events of which a reader that comes late gets the latest, in this order.
const KEPT: [&str; 6] = ["about", "state", "frame", "done", "stats", "gone"];

/// Publishes events.
pub struct Publisher {
    sender: broadcast::Sender<Bytes>,
    kept: Mutex<[Option<Bytes>; KEPT.len()]>,
}

impl Default for Publisher {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG), kept: Mutex::default() }
    }
}

impl Publisher {
    /// Tells all who read.
    pub fn publish(&self, event: &str, data: &impl Serialize) {
        let mut text = format!("event: {event}\ndata: ").into_bytes();
        if serde_json::to_writer(&mut text, data).is_err() {
            // Plain values with string keys always serialise.
            return;
        }
        text.extend_from_slice(b"\n\n");
        let bytes = Bytes::from(text);
        if let Some(place) = KEPT.iter().position(|known| *known == event) {
            locked(&self.kept)[place] = Some(bytes.clone());
        }
        // Nobody may be reading.
        let _ = self.sender.send(bytes);
    }

    /// Forgets the latest event of a kind.
    pub fn forget(&self, event: &str) {
        if let Some(place) = KEPT.iter().position(|known| *known == event) {
            locked(&self.kept)[place] = None;
        }
    }

    /// Returns the number of readers.
    pub fn readers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// A response that lasts until the publisher is gone, or its reader does not keep up. Who
    /// takes nothing for as long as `patience` is let go.
    pub fn response(&self, patience: Duration) -> Response {
        let receiver = self.sender.subscribe();
        let kept: Vec<Bytes> = locked(&self.kept).iter().flatten().cloned().collect();
        let (sender, body) = mpsc::channel::<Result<Bytes, Infallible>>(16);
        tokio::spawn(carry(receiver, kept, sender, patience));
        let mut response = (StatusCode::OK, Body::from_stream(ReceiverStream::new(body))).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// Carries events from a publisher to one reader.
async fn carry(
    mut receiver: broadcast::Receiver<Bytes>,
    kept: Vec<Bytes>,
    sender: mpsc::Sender<Result<Bytes, Infallible>>,
    patience: Duration,
) {
    let first = std::iter::once(Bytes::from_static(b"retry: 1000\n\n")).chain(kept);
    for bytes in first {
        if sender.send_timeout(Ok(bytes), patience).await.is_err() {
            return;
        }
    }
    loop {
        let bytes = tokio::select! {
            () = sender.closed() => return,
            event = timeout(HEARTBEAT, receiver.recv()) => match event {
                Ok(Ok(bytes)) => bytes,
                // Too slow, or nothing more to come.
                Ok(Err(_)) => return,
                Err(_) => Bytes::from_static(b": still here\n\n"),
            },
        };
        if sender.send_timeout(Ok(bytes), patience).await.is_err() {
            return;
        }
    }
}
