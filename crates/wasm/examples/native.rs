//! A session of the page's module as machine code of this processor, to compare speeds with.
//!
//! `cargo run --release -p goodqueue-wasm --example native < SESSION.json` takes what `gq serve`
//! takes at `POST /api/sessions`, runs it as fast as possible, and prints the event `done`.

use goodqueue_session::{Scenario, Surroundings};
use goodqueue_wasm::{Ask, Desk, Pause};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

/// A page whose clock stands still, so that every frame is as long as it may be.
#[derive(Clone, Default)]
struct Page(Rc<RefCell<String>>);

impl Surroundings for Page {
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

    fn readers(&self) -> usize {
        1
    }

    fn turn<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    fn told_to_stop(&self) -> bool {
        false
    }

    fn changed(&self, _scenario: &Scenario) {}
}

fn main() {
    let session: Value = serde_json::from_reader(std::io::stdin()).expect("a session in JSON on standard input");
    let page = Page::default();
    let mut desk = Desk::new(page.clone());
    let ask: Ask = serde_json::from_value(json!({ "ask": "open", "session": session })).expect("a session as gq serve takes it");
    if let Err(failure) = desk.answer(ask) {
        panic!("{}", failure.to_json());
    }
    while desk.frame() != Pause::Forever {}
    println!("{}", page.0.borrow());
}
