//! Sessions that want all of the machine: each ends or is refused, and the others continue.

#![allow(clippy::disallowed_methods, reason = "these tests are of a server, which keeps time; no result depends on it")]

mod support;

use goodqueue_serve::server::{Limits, Server, SessionLimits};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{Events, get, post, request, server};

/// One link and one kind of traffic.
fn scenario(link: &str, traffic: &str) -> String {
    format!("goodqueue = 1\nduration = \"60 s\"\n[link.a]\n{link}\n[[traffic]]\n{traffic}\n")
}

/// As above, behind a link that loses nothing.
fn behind(link: &str, traffic: &str) -> String {
    let wide = "rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1000 packets\"";
    let [first, second] = [["a", "b"], ["b", "c"]].map(|[from, to]| format!("from = \"{from}\"\nto = \"{to}\""));
    format!(
        "goodqueue = 1\nduration = \"60 s\"\n[link.wide]\n{first}\n{wide}\n[link.narrow]\n{second}\n{link}\n\
         [[traffic]]\npath = [\"a\", \"c\"]\n{traffic}\n"
    )
}

fn open(server: &Server, scenario: &str, speed: Value) -> String {
    let answer = post(server, "/api/sessions", &json!({ "scenario_toml": scenario, "speed": speed }));
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().expect("an id").to_owned()
}

/// Waits until no session runs any more.
fn wait_until_idle(server: &Server) {
    let begun = Instant::now();
    while get(server, "/api/hello").json()["load"]["running"] != 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "a session that was to end runs on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const FLOOD: &str = "kind = \"cbr\"\nrate = \"900 Mbit/s\"\npacket_size = \"100 B\"";
/// More packets in a nanosecond than a second of computing carries.
const STORM: &str = "kind = \"cbr\"\nflows = 200\nrate = \"10000 Gbit/s\"\npacket_size = \"44 B\"";
const FAST: &str = "rate = \"10000 Gbit/s\"\ndelay = \"0 s\"\nbuffer = \"100 packets\"";

#[test]
fn a_session_that_holds_too_much_ends_and_says_why() {
    let server =
        server(Limits { each: SessionLimits { session_bytes: 16 << 20, ..SessionLimits::default() }, ..Limits::default() });
    let endless = "rate = \"1 bit/s\"\ndelay = \"0 s\"";
    let connections = "kind = \"short\"\nsize = \"1 MB\"\ninterval = \"1 us\"\nflows = 100";
    let line = "rate = \"100 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"100 packets\"";
    for greedy in [behind(endless, FLOOD), scenario(line, connections)] {
        let id = open(&server, &greedy, Value::Null);
        let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
        let state = events.wait_for("state", |state| state["state"] == "stopped");
        let message = state["message"].as_str().unwrap_or_default();
        assert!(message.contains("needs more memory than the 16 MiB that a session may use"), "{state}");
    }
    wait_until_idle(&server);
}

#[test]
fn sessions_together_have_a_bound_too() {
    let server = server(Limits { memory_bytes: 5 << 20, ..Limits::default() });
    let line = scenario("rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"10 packets\"", "kind = \"bulk\"");
    let paused = json!({ "scenario_toml": line, "speed": 1, "paused": true });
    let states: Vec<Value> = (0..8)
        .map(|_| {
            let id = post(&server, "/api/sessions", &paused).json()["id"].as_str().expect("an id").to_owned();
            let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
            loop {
                let (event, data) = events.next().expect("a state comes");
                if event == "state" {
                    break data;
                }
            }
        })
        .collect();
    let failed: Vec<&Value> = states.iter().filter(|state| state["state"] == "failed").collect();
    assert!(!failed.is_empty() && failed.len() < 8, "{states:?}");
    assert!(failed[0]["message"].as_str().unwrap_or_default().contains("all sessions together"), "{failed:?}");
}

#[test]
fn what_would_be_too_large_is_refused_before_it_is_built() {
    let server = server(Limits::default());
    let link = |more: &str| format!("delay = \"1000 s\"\nbuffer = \"100 packets\"\n{more}");
    let later = link("rate = { steps = [[\"0 s\", \"1000 bit/s\"], [\"1 ms\", \"10000 Gbit/s\"]] }");
    let cake = "delay = \"1 ms\"\nrate = \"1 Mbit/s\"\nbuffer = \"100 packets\"\n\
                queue = { kind = \"cake\", flows = 65536, tins = \"diffserv8\" }";
    for (link, message) in [(later.as_str(), "rate times round-trip time"), (cake, "its queues of flows need too much memory")] {
        let answer = post(&server, "/api/sessions", &json!({ "scenario_toml": scenario(link, "kind = \"bulk\"") }));
        assert!(answer.status == 422 && answer.text().contains(message), "{}", answer.text());
    }
    let line =
        scenario("rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"10 packets\"\nqueue = \"fq-codel\"", "kind = \"bulk\"");
    let id = post(&server, "/api/sessions", &json!({ "scenario_toml": line, "speed": 1, "paused": true })).json()["id"].clone();
    let path = format!("/api/sessions/{}/control", id.as_str().expect("an id"));
    for value in ["10000000 packets", "1e30 packets"] {
        let answer = post(&server, &path, &json!({ "do": "set", "key": "limit", "value": value }));
        assert_eq!(answer.status, 422, "{}", answer.text());
    }
    assert_eq!(post(&server, &path, &json!({ "do": "set", "key": "limit", "value": "20 packets" })).status, 200);
}

#[test]
fn heavy_sessions_leave_turns_to_others_and_end_when_told() {
    let server = server(Limits { computing: 1, ..Limits::default() });
    let storm = format!("{}[access]\ndelay = \"0 s\"\n", scenario(FAST, STORM));
    let storms = [open(&server, &storm, json!(1)), open(&server, &storm, Value::Null)];
    let line = "rate = \"1 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"10 packets\"";
    let plain = scenario(line, "kind = \"bulk\"").replace("60 s", "1 s");
    let id = open(&server, &plain, Value::Null);
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    events.wait_for("done", |_| true);
    let [one, other] = storms;
    assert_eq!(request(&server, "DELETE", &format!("/api/sessions/{one}"), &[], b"").status, 204);
    let stopped = post(&server, &format!("/api/sessions/{other}/control"), &json!({ "do": "stop" }));
    assert_eq!(stopped.status, 200, "{}", stopped.text());
    wait_until_idle(&server);
}

#[test]
fn a_fast_session_hears_orders_and_an_unwatched_one_ends() {
    let server = server(Limits {
        each: SessionLimits { unwatched: Duration::from_millis(300), ..SessionLimits::default() },
        ..Limits::default()
    });
    let line = "rate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nbuffer = \"1000 packets\"";
    let long = scenario(line, "kind = \"bulk\"\nflows = 50").replace("60 s", "3000 s");
    let id = open(&server, &long, json!(1));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    let path = format!("/api/sessions/{id}/control");
    assert_eq!(post(&server, &path, &json!({ "do": "speed", "value": 1_000_000 })).status, 200);
    let begun = Instant::now();
    assert_eq!(post(&server, &path, &json!({ "do": "pause" })).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    events.wait_for("state", |state| state["state"] == "paused");
    assert_eq!(post(&server, &path, &json!({ "do": "stop" })).status, 200);
    // As fast as it goes, and nobody watches.
    open(&server, &long, Value::Null);
    wait_until_idle(&server);
}
