//! Recorded links that scenarios may name: those built in, and uploaded ones.

use crate::session::error::ApiError;
use goodqueue_lab::scenario::files::Recordings;
use goodqueue_lab::scenario::input::Place;
use goodqueue_lab::scenario::trace_file;
use goodqueue_sim::Opportunities;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// Built in: the synthetic cellular link of the examples, as `build.rs` packs it.
const BUILT_IN: &[(&str, &str, &[u8])] = &[
    ("builtin:cellular.down", "cellular link, downward (synthetic)", include_bytes!(concat!(env!("OUT_DIR"), "/cellular.down"))),
    ("builtin:cellular.up", "cellular link, upward (synthetic)", include_bytes!(concat!(env!("OUT_DIR"), "/cellular.up"))),
];

/// The milliseconds of a packed recording.
fn unpacked(packed: &[u8]) -> impl Iterator<Item = u64> {
    let mut time = 0;
    let mut shift = 0;
    packed.iter().filter_map(move |byte| {
        time += u64::from(byte & 0x7f) << shift;
        shift = if byte & 0x80 == 0 { 0 } else { shift + 7 };
        (shift == 0).then_some(time)
    })
}

/// Description of a recording for the page.
#[derive(Clone, Debug, Serialize)]
pub struct RecordingInfo {
    /// Name of the recording in scenarios.
    pub id: String,
    name: String,
    mean_rate_bit_s: f64,
    seconds: f64,
}

/// All recordings.
#[derive(Debug)]
pub struct RecordingStore {
    all: Arc<Recordings>,
    built_in: Vec<RecordingInfo>,
    /// Uploaded ones, the oldest first.
    uploaded: VecDeque<String>,
    capacity: usize,
}

impl RecordingStore {
    /// With the built-in ones, and room for `capacity` uploads.
    pub fn new(capacity: usize) -> Self {
        let mut all = Recordings::new();
        let mut built_in = Vec::new();
        for (id, name, packed) in BUILT_IN {
            // A test reads them all.
            if let Ok(trace) = trace_file::from_times(id, unpacked(packed)) {
                built_in.push(describe((*id).to_owned(), name, &trace));
                all.insert((*id).to_owned(), Arc::new(trace));
            }
        }
        Self { all: Arc::new(all), built_in, uploaded: VecDeque::new(), capacity }
    }

    /// Those built in.
    pub fn built_in(&self) -> &[RecordingInfo] {
        &self.built_in
    }

    /// For reading a scenario.
    pub fn recordings(&self) -> Arc<Recordings> {
        Arc::clone(&self.all)
    }

    /// Takes in an upload, which becomes `upload:NAME`; the oldest goes when there is no room.
    pub fn add(&mut self, name: &str, recording: Opportunities) -> RecordingInfo {
        let id = format!("upload:{name}");
        let info = describe(id.clone(), "uploaded recording", &recording);
        let all = Arc::make_mut(&mut self.all);
        if self.uploaded.len() >= self.capacity
            && let Some(oldest) = self.uploaded.pop_front()
        {
            all.remove(&oldest);
        }
        all.insert(id.clone(), Arc::new(recording));
        self.uploaded.push_back(id);
        info
    }
}

/// Reads an upload in mahimahi's format.
///
/// # Errors
/// The first fault, with its line.
pub fn read(text: &str) -> Result<Opportunities, ApiError> {
    trace_file::read("upload", text.as_bytes()).map_err(|error| {
        let refused = ApiError::unprocessable(error.to_string());
        match error.place() {
            Place::Line(line) | Place::Cell(line, _) => refused.with("line", line),
            Place::Whole => refused,
        }
    })
}

fn describe(id: String, name: &str, trace: &Opportunities) -> RecordingInfo {
    let mean_rate_bit_s = trace.mean_rate().as_bit_s() as f64;
    RecordingInfo { id, name: name.to_owned(), mean_rate_bit_s, seconds: trace.period().as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn built_in_recordings_are_those_of_the_examples() {
        let store = RecordingStore::new(2);
        assert_eq!(store.built_in().len(), BUILT_IN.len());
        for (id, recording) in store.recordings().iter() {
            let file = Path::new("../../examples/traces").join(id.trim_start_matches("builtin:"));
            assert_eq!(**recording, trace_file::load(&file).expect("a good recording"), "{id}");
        }
    }

    #[test]
    fn uploads_are_read_and_the_oldest_goes() {
        let mut store = RecordingStore::new(2);
        let ids = ["a", "b", "c"].map(|name| store.add(name, read("1\n2\n3\n").expect("a good recording")).id);
        let all = store.recordings();
        assert_eq!(ids.map(|id| all.contains_key(&id)), [false, true, true]);
        let wrong = read("1\nx\n").expect_err("refused");
        assert!(wrong.message().contains("upload:2"), "{}", wrong.message());
    }
}
