//! A session of the page's module as machine code of this processor, to compare speeds with.
//!
//! `cargo run --release -p goodqueue-serve --example native < SESSION.json` takes what `gq serve`
//! takes at `POST /api/sessions`, runs it as fast as possible, and prints the event `done`.

use goodqueue_serve::session::Environment;
use goodqueue_serve::wasm::api;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

/// A page whose clock stands still, so that every frame is as long as it may be.
#[derive(Clone, Default)]
struct Page(Rc<RefCell<String>>);

impl Environment for Page {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn publish(&self, event: &str, data: &Value) {
        // A page gets text.
        let text = black_box(data.to_string());
        if event == "done" {
            *self.0.borrow_mut() = text;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let session: Value = serde_json::from_reader(std::io::stdin())?;
    let page = Page::default();
    let api = api(page.clone());
    let request = serde_json::from_value(json!({ "ask": "open", "session": session }))?;
    api.answer(request).map_err(|error| error.to_json().to_string())?;
    while api.sessions.frame().is_some() {}
    println!("{}", page.0.take());
    Ok(())
}
