//! Recorded links that scenarios may name: those built in, and uploaded ones.

use crate::failure::Failure;
use crate::lock::locked;
use crate::token::Token;
use goodqueue_lab::files::Recordings;
use goodqueue_lab::input::Place;
use goodqueue_lab::trace_file;
use goodqueue_sim::Opportunities;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Built in: the synthetic cellular link of the examples.
const BUILT_IN: &[(&str, &str, &str)] = &[
    ("builtin:cellular.down", "cellular link, downwards (synthetic)", include_str!("../data/cellular.down")),
    ("builtin:cellular.up", "cellular link, upwards (synthetic)", include_str!("../data/cellular.up")),
];

/// What a page is told of a recording.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    pub id: String,
    name: String,
    mean_rate_bit_s: f64,
    seconds: f64,
}

/// All recordings.
pub struct Shelf {
    state: Mutex<State>,
    most: usize,
}

struct State {
    all: Arc<Recordings>,
    built_in: Vec<Shown>,
    /// Uploaded ones, the oldest first.
    uploaded: VecDeque<String>,
}

impl Shelf {
    /// With the built-in ones, and room for `most` uploads.
    pub fn new(most: usize) -> Self {
        let mut all = Recordings::new();
        let mut built_in = Vec::new();
        for (id, name, text) in BUILT_IN {
            // A test reads them all.
            if let Ok(trace) = trace_file::read(id, text.as_bytes()) {
                built_in.push(shown((*id).to_owned(), name, &trace));
                all.insert((*id).to_owned(), Arc::new(trace));
            }
        }
        Self { state: Mutex::new(State { all: Arc::new(all), built_in, uploaded: VecDeque::new() }), most }
    }

    /// Those built in.
    pub fn built_in(&self) -> Vec<Shown> {
        locked(&self.state).built_in.clone()
    }

    /// For reading a scenario.
    pub fn recordings(&self) -> Arc<Recordings> {
        Arc::clone(&locked(&self.state).all)
    }

    /// Takes in an upload.
    pub fn add(&self, text: &[u8]) -> Result<Shown, Failure> {
        let trace = trace_file::read("upload", text).map_err(|error| {
            let failure = Failure::unprocessable(error.to_string());
            match error.place() {
                Place::Line(line) | Place::Cell(line, _) => failure.with("line", line),
                Place::Whole => failure,
            }
        })?;
        let token =
            Token::new().map_err(|_| Failure::unprocessable("this machine has no randomness to name the recording with"))?;
        let id = format!("upload:{}", &token.text()[..12]);
        let shown = shown(id.clone(), "uploaded recording", &trace);
        let mut state = locked(&self.state);
        let mut all = (*state.all).clone();
        if state.uploaded.len() >= self.most
            && let Some(oldest) = state.uploaded.pop_front()
        {
            all.remove(&oldest);
        }
        all.insert(id.clone(), Arc::new(trace));
        state.all = Arc::new(all);
        state.uploaded.push_back(id);
        Ok(shown)
    }
}

fn shown(id: String, name: &str, trace: &Opportunities) -> Shown {
    let mean_rate_bit_s = trace.mean_rate().as_bit_s() as f64;
    Shown { id, name: name.to_owned(), mean_rate_bit_s, seconds: trace.period().as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_built_in_recordings_are_good() {
        assert_eq!(Shelf::new(2).built_in().len(), BUILT_IN.len());
    }

    #[test]
    fn uploads_are_read_and_the_oldest_goes() {
        let shelf = Shelf::new(2);
        let ids = [1, 2, 3].map(|_| shelf.add(b"1\n2\n3\n").expect("a good recording").id);
        let all = shelf.recordings();
        assert_eq!(ids.map(|id| all.contains_key(&id)), [false, true, true]);
        let wrong = shelf.add(b"1\nx\n").expect_err("refused");
        assert!(wrong.message().contains("upload:2"), "{}", wrong.message());
    }
}
