//! The module's functions for the page, and the page's for the module.

#![allow(unsafe_code, reason = "exported functions have names that nothing mangles, and the page's functions are foreign")]

use crate::session::{Api, ApiError, Environment};
use crate::wasm::session::{SingleSession, api};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::time::Duration;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds since any fixed instant.
    safe fn now() -> f64;
    /// Takes the name and the data of an event, both UTF-8 in the module's memory.
    safe fn tell(name: *const u8, name_bytes: usize, data: *const u8, data_bytes: usize);
}

/// The page as what a session lives in: one session has it to itself.
#[derive(Clone, Copy)]
struct Page;

impl Environment for Page {
    fn now(&self) -> Duration {
        Duration::from_secs_f64(now().max(0.0) / 1e3)
    }

    fn publish(&self, event: &str, data: &Value) {
        say(event, &data.to_string());
    }
}

fn say(name: &str, data: &str) {
    tell(name.as_ptr(), name.len(), data.as_ptr(), data.len());
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static API: Api<SingleSession<Page>> = api(Page);
}

/// A buffer of this length, for the text of the next `ask`; valid until any other call.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Answers the question in the buffer with an event `answer`: `ok`, or `error` and `status`.
#[unsafe(no_mangle)]
pub extern "C" fn ask() {
    let text = INPUT.take();
    let answer = serde_json::from_slice(&text)
        .map_err(|error| ApiError::bad_request(format!("the request cannot be understood: {error}")))
        .and_then(|request| API.with(|api| api.answer(request)));
    let answer = match answer {
        Ok(ok) => json!({ "ok": ok }),
        Err(error) => {
            let mut body = error.to_json();
            body["status"] = json!(error.status.as_u16());
            body
        }
    };
    say("answer", &answer.to_string());
}

/// Computes a frame; gives the milliseconds until the next one, or -1 when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn frame() -> f64 {
    API.with(|api| api.sessions.frame()).map_or(-1.0, |span| span.as_secs_f64() * 1e3)
}

/// Prepares the module; called once, before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn begin() {
    // The trap that follows carries no words.
    std::panic::set_hook(Box::new(|info| say("panic", &json!(info.to_string()).to_string())));
}
