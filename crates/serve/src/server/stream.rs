//! Server-sent events: one publisher that never waits, many readers that may be slow.

use crate::lock::locked;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::time::interval;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::BroadcastStream;

/// Events that a reader may be behind before it is let go: about four seconds of frames.
const BACKLOG: usize = 256;
/// A sign of life when there is nothing to say.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Events of which a reader that comes late gets the latest, in this order; those of one group
/// replace each other.
const KEPT: [&[&str]; 5] = [&["about"], &["state"], &["frame"], &["done"], &["stats", "gone", "back"]];

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
            // Plain values with string keys always serialize.
            return;
        }
        text.extend_from_slice(b"\n\n");
        let bytes = Bytes::from(text);
        if let Some(place) = KEPT.iter().position(|group| group.contains(&event)) {
            locked(&self.kept)[place] = Some(bytes.clone());
        }
        // Nobody may be reading.
        let _ = self.sender.send(bytes);
    }

    /// Returns the number of readers.
    pub fn readers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// A response that lasts until the publisher is gone, or its reader does not keep up.
    pub fn response(&self) -> Response {
        let receiver = self.sender.subscribe();
        let kept: Vec<Bytes> = locked(&self.kept).iter().flatten().cloned().collect();
        let first = std::iter::once(Bytes::from_static(b"retry: 1000\n\n")).chain(kept);
        let mut silence = interval(HEARTBEAT);
        silence.reset();
        let events = BroadcastStream::new(receiver).timeout_repeating(silence).map_while(|event| match event {
            Ok(Ok(bytes)) => Some(bytes),
            // Too slow.
            Ok(Err(_)) => None,
            Err(_) => Some(Bytes::from_static(b": still here\n\n")),
        });
        let body = tokio_stream::iter(first).chain(events).map(Ok::<_, Infallible>);
        let mut response = Response::new(Body::from_stream(body));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}
