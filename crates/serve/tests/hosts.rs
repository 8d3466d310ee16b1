//! Sessions on other hosts than the simulator: refused by name, run to their end, stopped.

mod support;

use goodqueue_lab::run::backend::{Backend, BackendFailure, Ended, HostRun, Refusal, Simulator, Task};
use goodqueue_lab::scenario::plan::Point;
use goodqueue_serve::server::{Limits, Offer, Options, Server};
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Events, get, options, post};

const SCENARIO: &str = r#"
goodqueue = 1
name = "elsewhere"
duration = "1 s"

[link.bottleneck]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "40 packets"

[[traffic]]
kind = "bulk"
"#;

/// The simulator by another name, which refuses loss.
struct Double;

impl Backend for Double {
    fn name(&self) -> &'static str {
        "double"
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        let lossy = point.plan.links.iter().find(|link| link.down.loss > 0.0);
        lossy.map_or(Ok(()), |link| Err(Refusal::of_link(&link.name, "loss", "is not supported")))
    }

    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        Simulator.run(task, progress)
    }
}

/// A host whose runs last until they are stopped.
struct Endless;

impl Backend for Endless {
    fn name(&self) -> &'static str {
        "endless"
    }

    fn check(&self, _point: &Point) -> Result<(), Refusal> {
        Ok(())
    }

    fn run(&self, task: &Task<'_>, _progress: &mut dyn FnMut(f64)) -> HostRun {
        while !task.is_stopped() {
            std::thread::yield_now();
        }
        Ended::Stopped.into()
    }
}

fn server() -> Server {
    let hosts = vec![
        Offer { name: "double", host: Ok(Arc::new(Double)) },
        Offer { name: "endless", host: Ok(Arc::new(Endless)) },
        Offer { name: "moon", host: Err(BackendFailure::Machine("is too far away".to_owned())) },
    ];
    Server::start(Options { hosts, ..options(Limits::default()) }).expect("a free port")
}

fn wanted(on: &str) -> Value {
    let queue = |kind: &str| json!({ "label": kind, "queue": { "kind": kind } });
    json!({ "scenario_toml": SCENARIO, "on": on, "variants": [queue("tail-drop"), queue("codel")] })
}

fn open(server: &Server, on: &str) -> (String, Events) {
    let answer = post(server, "/api/sessions", &wanted(on));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let id = answer.json()["id"].as_str().expect("an id").to_owned();
    let events = Events::open(server, &format!("/api/sessions/{id}/stream"));
    (id, events)
}

#[test]
fn what_cannot_run_there_is_refused_by_name() {
    let server = server();
    let refused = |wanted: &Value| {
        let answer = post(&server, "/api/sessions", wanted);
        assert_eq!(answer.status, 422, "{}", answer.text());
        let error = answer.json()["error"].clone();
        (error["field"].as_str().expect("a field").to_owned(), error["message"].as_str().expect("words").to_owned())
    };
    let on = |message: &str| ("on".to_owned(), message.to_owned());
    assert_eq!(refused(&wanted("moon")), on("on: moon: is too far away"));
    assert_eq!(refused(&wanted("mars")), on("on: there is no such host: allowed sim, double, endless, moon"));
    let mut lossy = wanted("double");
    lossy["scenario_toml"] = json!(SCENARIO.replace("buffer", "loss = 0.1\nbuffer"));
    let loss = "link.bottleneck.loss";
    assert_eq!(refused(&lossy), (loss.to_owned(), format!("on double: {loss}: is not supported")));
    let mut paced = wanted("double");
    paced["speed"] = json!(2.0);
    assert_eq!(refused(&paced).0, "speed");
    let hosts = get(&server, "/api/hello").json()["hosts"].clone();
    assert_eq!(hosts[0], json!({ "name": "sim", "missing": null }));
    assert_eq!(hosts[3], json!({ "name": "moon", "missing": "is too far away" }));
}

#[test]
fn a_session_elsewhere_ends_with_the_files_of_a_run() {
    let server = server();
    let (id, mut events) = open(&server, "double");
    assert_eq!(events.wait_for("about", |_| true)["variants"][1]["kind"], "codel");
    let done = events.wait_for("done", |_| true);
    assert_eq!((&done["host"], &done["changed"], &done["validity"]), (&json!("double"), &json!(false), &json!([])));
    assert_eq!(done["summary"]["host"], "double");
    assert!(done["summary"]["points"][0]["links"]["bottleneck"]["utilization"]["mean"].as_f64() > Some(0.5), "{done}");
    // The event is published before the files are written.
    let summary = loop {
        let answer = get(&server, &format!("/api/sessions/{id}/summary.json"));
        if answer.status == 200 {
            break answer.json();
        }
    };
    assert_eq!(summary, done["summary"]);
    assert!(get(&server, &format!("/api/sessions/{id}/report.html")).text().contains("<html"));
}

#[test]
fn a_session_elsewhere_can_be_stopped_and_nothing_else() {
    let server = server();
    let (first, mut events) = open(&server, "endless");
    events.wait_for("state", |state| state["state"] == "running");
    let (second, mut waiting) = open(&server, "endless");
    waiting.wait_for("state", |state| state["state"] == "queued");
    let order = |id: &str, what: &str| post(&server, &format!("/api/sessions/{id}/control"), &json!({ "do": what }));
    let refused = order(&first, "pause");
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(order(&first, "stop").status, 200);
    events.wait_for("state", |state| state["state"] == "stopped");
    // The next one has its turn now.
    waiting.wait_for("state", |state| state["state"] == "running");
    assert_eq!(order(&second, "stop").status, 200);
    waiting.wait_for("state", |state| state["state"] == "stopped");
    assert_eq!(get(&server, &format!("/api/sessions/{second}/summary.json")).status, 409);
}
