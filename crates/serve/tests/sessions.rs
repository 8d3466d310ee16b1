//! Sessions from the outside: what a page sees, that watching changes nothing, and what changes do.

mod support;

use goodqueue_lab::results::provenance::Provenance;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_serve::server::{Limits, Server, SessionLimits};
use serde_json::{Value, json};
use support::{Events, get, post, server};

const SCENARIO: &str = r#"
goodqueue = 1
name = "two queues"
warmup = "1 s"
duration = "4 s"

[access]
delay = "0 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[traffic]]
name = "downloads"
kind = "bulk"
cc = "cubic"
flows = 4
start = "uniform 0 s .. 1 s"

[[traffic]]
name = "web"
kind = "short"
size = "100 kB"
interval = "500 ms"
"#;

fn wanted(speed: Value, paused: bool) -> Value {
    json!({
        "scenario_toml": SCENARIO, "seed": 7, "speed": speed, "paused": paused,
        "variants": [
            { "label": "Tail drop", "queue": { "kind": "tail-drop" } },
            { "label": "CoDel", "queue": { "kind": "codel", "target": "5 ms" } },
        ],
    })
}

fn open(server: &Server, wanted: &Value) -> String {
    let answer = post(server, "/api/sessions", wanted);
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().expect("an id").to_owned()
}

fn control(server: &Server, id: &str, order: &Value) {
    let answer = post(server, &format!("/api/sessions/{id}/control"), order);
    assert_eq!(answer.status, 200, "{order}: {}", answer.text());
}

/// Returns the fingerprint that `gq run` would give for this scenario.
fn run_plainly(text: &str) -> String {
    let plan = Plan::parse_without_files("scenario.toml", text).unwrap_or_else(|error| panic!("{}", error.text()));
    let fingerprints = plan.points().expect("points").into_iter().map(|point| {
        let world = goodqueue_sim::World::new(&goodqueue_lab::scenario::build::world(&point, 0)).expect("a world");
        world.run(&mut |_| goodqueue_sim::Continue::Yes).fingerprint
    });
    Provenance::new(String::new(), fingerprints).fingerprint
}

#[test]
fn a_session_nothing_changed_is_what_gq_run_gives() {
    let server = server(Limits::default());
    let id = open(&server, &wanted(json!(null), true));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    let about = events.wait_for("about", |_| true);
    assert_eq!((&about["link"], &about["duration"], &about["warmup"]), (&json!("bottleneck"), &json!(5.0), &json!(1.0)));
    assert_eq!(about["groups"][0], json!({ "name": "downloads", "kind": "bulk", "flows": 4 }));
    assert_eq!(about["variants"][1], json!({ "label": "CoDel", "kind": "codel" }));
    control(&server, &id, &json!({ "do": "play" }));
    let frame = events.wait_for("frame", |frame| frame["t"].as_f64() > Some(3.0));
    let codel = &frame["variants"][1];
    assert!(codel["link"]["throughput_bit_s"].as_f64() > Some(8e6), "{codel}");
    assert!(
        codel["link"]["sojourn_s"]["p95"].as_f64() > Some(0.0) && codel["flows"].as_array().map(Vec::len) == Some(5),
        "{codel}"
    );
    assert!(codel["gauges"]["count"].is_number() && codel["flows"][0]["cwnd_packets"].as_f64() > Some(1.0), "{codel}");
    let done = events.wait_for("done", |_| true);
    assert_eq!(done["changed"], false);
    let best = done["summary"]["headline"]["best"].as_str().expect("one is best");
    assert!(["Tail drop", "CoDel"].contains(&best), "the names that the page gave: {best}");
    assert!(done["verdict"].as_str().is_some_and(|words| words.contains(best)), "{done}");
    let text = |query: &str| get(&server, &format!("/api/sessions/{id}/scenario.toml{query}")).text();
    assert_eq!(done["fingerprint"], run_plainly(&text("")));
    for variant in 0..2 {
        assert_eq!(done["fingerprints"][variant], run_plainly(&text(&format!("?variant={variant}"))), "variant {variant}");
    }
    // A reader that comes late sees the end.
    let mut late = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    assert_eq!(late.wait_for("state", |_| true)["state"], "done");
    assert_eq!(late.wait_for("done", |_| true), done);
    results(&server, &id, &done);
}

#[test]
fn the_verdict_is_the_stored_one() {
    let server = server(Limits::default());
    let variants = ["tail-drop", "pie", "fq-codel"].map(|kind| json!({ "label": kind, "queue": { "kind": kind } }));
    let line = include_str!("../../lab/tests/verdict/line.toml");
    let id = open(&server, &json!({ "scenario_toml": line, "seed": 7, "speed": null, "paused": false, "variants": variants }));
    let done = Events::open(&server, &format!("/api/sessions/{id}/stream")).wait_for("done", |_| true);
    let stored: Value = serde_json::from_str(include_str!("../../lab/tests/verdict/headline.json")).expect("JSON");
    assert_eq!(done["summary"]["headline"].to_string(), stored.to_string());
}

/// Files of a session that has ended, and its place among the runs.
fn results(server: &Server, id: &str, done: &Value) {
    // The event is published before the files are written.
    let summary = loop {
        let answer = get(server, &format!("/api/sessions/{id}/summary.json"));
        if answer.status == 200 {
            break answer.json();
        }
    };
    assert_eq!(
        (&summary["schema"], &summary["provenance"]["fingerprint"]),
        (&json!("goodqueue.summary/1"), &done["fingerprint"])
    );
    assert_eq!(summary["points"].as_array().map(Vec::len), Some(2));
    assert_eq!(done["summary"], summary);
    let report = get(server, &format!("/api/sessions/{id}/report.html"));
    assert!(report.text().contains("Tail drop"));
    let policy = report.header("content-security-policy").expect("a policy");
    assert!(policy.contains("sandbox") && !policy.contains("allow-same-origin"), "{policy}");
    let runs = get(server, "/api/runs").json();
    assert_eq!((&runs["runs"][0]["id"], &runs["runs"][0]["points"]), (&json!(id), &json!(["Tail drop", "CoDel"])));
    assert_eq!(get(server, &format!("/api/runs/{id}/summary.json")).status, 200);
}

#[test]
fn changes_concern_all_variants_and_are_said() {
    let server = server(Limits::default());
    let id = open(&server, &wanted(json!(1), true));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    control(&server, &id, &json!({ "do": "step", "seconds": 2 }));
    control(&server, &id, &json!({ "do": "rate", "link": "bottleneck", "value": "5 Mbit/s" }));
    let note = events.wait_for("note", |_| true);
    assert_eq!((&note["t"], &note["text"]), (&json!(2.0), &json!("rate of bottleneck: 5 Mbit/s")));
    control(&server, &id, &json!({ "do": "add_flows", "group": "downloads", "count": 3 }));
    control(&server, &id, &json!({ "do": "set", "variant": 1, "link": "bottleneck", "key": "target", "value": "20 ms" }));
    control(&server, &id, &json!({ "do": "step", "seconds": 1.5 }));
    let frame = events.wait_for("frame", |frame| frame["t"] == 3.5);
    for variant in frame["variants"].as_array().expect("variants") {
        assert_eq!((&variant["link"]["rate_bit_s"], variant["flows"].as_array().map(Vec::len)), (&json!(5_000_000), Some(8)));
        assert!((4.5e6..5.2e6).contains(&variant["link"]["throughput_bit_s"].as_f64().expect("a number")), "{variant}");
    }
    assert!(get(&server, &format!("/api/sessions/{id}/scenario.toml?variant=1")).text().contains("20 ms"));
    control(&server, &id, &json!({ "do": "speed", "value": null }));
    control(&server, &id, &json!({ "do": "play" }));
    let done = events.wait_for("done", |_| true);
    assert_eq!(done["changed"], true);
    // The same changes at the same times: the same bits, whatever the frames were.
    let again = open(&server, &wanted(json!(null), true));
    let mut second = Events::open(&server, &format!("/api/sessions/{again}/stream"));
    for order in [
        json!({ "do": "step", "seconds": 0.75 }),
        json!({ "do": "step", "seconds": 1.25 }),
        json!({ "do": "rate", "link": "bottleneck", "value": "5 Mbit/s" }),
        json!({ "do": "add_flows", "group": "downloads", "count": 3 }),
        json!({ "do": "set", "variant": 1, "link": "bottleneck", "key": "target", "value": "20 ms" }),
        json!({ "do": "play" }),
    ] {
        control(&server, &again, &order);
    }
    assert_eq!(second.wait_for("done", |_| true)["fingerprints"], done["fingerprints"]);
}

#[test]
fn packets_are_shown_one_by_one_with_reasons() {
    let server = server(Limits::default());
    let id = open(&server, &wanted(json!(1), true));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    control(&server, &id, &json!({ "do": "step", "seconds": 1.5 }));
    let first = events.wait_for("packets", |_| true);
    let waiting = first["queue"][0].as_array().expect("what waits").len();
    let frame = |events: &mut Events, t: f64| events.wait_for("frame", |frame| frame["t"] == t);
    control(&server, &id, &json!({ "do": "step", "seconds": 0.5 }));
    let now = frame(&mut events, 2.0);
    let shown = events.wait_for("packets", |_| true)["variants"][0].as_array().expect("events").clone();
    let count = |what: &str| shown.iter().filter(|event| event["what"] == what).count();
    let left = waiting + count("arrive") - count("depart") - count("drop");
    assert_eq!(json!(left), now["variants"][0]["link"]["queue_packets"], "the page's own count is the queue's");
    let mut drops = Vec::new();
    for _ in 0..5 {
        control(&server, &id, &json!({ "do": "step", "seconds": 0.5 }));
        let shown = events.wait_for("packets", |_| true);
        for variant in shown["variants"].as_array().expect("variants") {
            drops.extend(variant.as_array().expect("events").iter().filter(|event| event["what"] == "drop").cloned());
        }
    }
    let texts: Vec<&str> = drops.iter().filter_map(|drop| drop["text"].as_str()).collect();
    assert!(texts.iter().any(|text| text.starts_with("CoDel: waited")), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("no room")), "{texts:?}");
}

#[test]
fn a_long_step_shows_what_waits_rather_than_every_packet() {
    let server = server(Limits::default());
    let id = open(&server, &wanted(json!(1), true));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    control(&server, &id, &json!({ "do": "step", "seconds": 0.5 }));
    events.wait_for("packets", |_| true);
    control(&server, &id, &json!({ "do": "step", "seconds": 3 }));
    let frame = events.wait_for("frame", |frame| frame["t"] == 3.5);
    let packets = events.wait_for("packets", |_| true);
    for (number, variant) in frame["variants"].as_array().expect("variants").iter().enumerate() {
        let waiting = packets["queue"][number].as_array().expect("what waits");
        assert_eq!(json!(waiting.len()), variant["link"]["queue_packets"], "the page's queue is the queue");
        let told = packets["variants"][number].as_array().expect("events");
        assert!(!told.is_empty() && told.len() <= 100, "{}", told.len());
        assert!(told.iter().all(|event| event["what"] == "drop" || event["what"] == "mark"), "{told:?}");
    }
}

#[test]
fn what_is_wrong_with_an_order_or_a_scenario_is_said() {
    let server = server(Limits { each: SessionLimits { flows: 20, ..SessionLimits::default() }, ..Limits::default() });
    let id = open(&server, &wanted(json!(1), true));
    let refused = |order: Value, status: u16, words: &str| {
        let answer = post(&server, &format!("/api/sessions/{id}/control"), &order);
        let message = answer.json()["error"]["message"].as_str().expect("a message").to_owned();
        assert!(answer.status == status && message.contains(words), "{order}: {} {message}", answer.status);
    };
    refused(json!({ "do": "rate", "link": "bottleneck", "value": "fast" }), 422, "fast");
    refused(json!({ "do": "rate", "link": "bottleneck", "value": "2 Gbit/s" }), 422, "allowed up to 1000000000 bit/s");
    refused(json!({ "do": "rate", "link": "nowhere", "value": "2 Mbit/s" }), 422, "no such link");
    refused(json!({ "do": "add_flows", "group": "downloads", "count": 100 }), 422, "allowed 1 to 15");
    refused(json!({ "do": "add_flows", "group": "uploads", "count": 1 }), 422, "allowed downloads, web");
    refused(json!({ "do": "set", "variant": 0, "link": "bottleneck", "key": "target", "value": "5 ms" }), 422, "target");
    refused(json!({ "do": "set", "variant": 9, "link": "bottleneck", "key": "target", "value": "5 ms" }), 422, "allowed 0 to 1");
    refused(json!({ "do": "step", "seconds": -1 }), 422, "allowed above 0");
    refused(json!({ "do": "speed", "value": 0 }), 422, "allowed above 0");
    refused(json!({ "do": "dance" }), 422, "dance");
    let check = support::request(
        &server,
        "POST",
        "/api/check",
        &[("Content-Type", "text/plain")],
        b"goodqueue = 1\nduration = \"1 parsec\"\n",
    );
    let error = &check.json()["error"];
    assert_eq!((check.status, &error["line"], &error["field"]), (422, &json!(2), &json!("duration")), "{error}");
    let good = support::request(&server, "POST", "/api/check", &[("Content-Type", "text/plain")], SCENARIO.as_bytes());
    assert_eq!((good.status, &good.json()["groups"]), (200, &json!(["downloads", "web"])));
    control(&server, &id, &json!({ "do": "stop" }));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    events.wait_for("done", |done| done["verdict"].as_str().is_some_and(|verdict| verdict.contains("stopped before measuring")));
    assert_eq!(get(&server, &format!("/api/sessions/{id}/summary.json")).status, 409);
}

#[test]
fn a_recording_that_was_uploaded_can_be_named_and_files_cannot() {
    let server = server(Limits::default());
    let text = (1..=500).map(|ms| format!("{}\n", ms * 2)).collect::<String>();
    let answer = support::request(&server, "POST", "/api/traces", &[("Content-Type", "text/plain")], text.as_bytes());
    assert_eq!(answer.status, 201);
    assert_eq!((&answer.json()["mean_rate_bit_s"], &answer.json()["seconds"]), (&json!(6e6), &json!(1.0)));
    let id = answer.json()["id"].as_str().expect("an id").to_owned();
    let with = |name: &str| json!({ "scenario_toml": SCENARIO.replace("\"10 Mbit/s\"", &format!("{{ trace = \"{name}\" }}")), "speed": null });
    assert_eq!(post(&server, "/api/sessions", &with(&id)).status, 201);
    assert_eq!(post(&server, "/api/sessions", &with("builtin:cellular.down")).status, 201);
    for file in ["/etc/passwd", "../../examples/traces/cellular.down", "upload:nothing"] {
        let refused = post(&server, "/api/sessions", &with(file));
        assert!(refused.status == 422 && refused.text().contains("files may not be read"), "{file}: {}", refused.text());
    }
    let bad = support::request(&server, "POST", "/api/traces", &[("Content-Type", "text/plain")], b"1\n5\n3\n");
    assert_eq!((bad.status, &bad.json()["error"]["line"]), (422, &json!(3)));
}

#[test]
fn sessions_wait_for_a_place_and_are_refused_when_all_are_taken() {
    let server = server(Limits { sessions: 1, waiting: 2, ..Limits::default() });
    let ids: Vec<String> = (0..3).map(|_| open(&server, &wanted(json!(1), true))).collect();
    let full = post(&server, "/api/sessions", &wanted(json!(1), true));
    assert_eq!(full.status, 503);
    assert!(full.text().contains("1 sessions run and 2 wait"), "{}", full.text());
    let mut last = Events::open(&server, &format!("/api/sessions/{}/stream", ids[2]));
    let state = last.wait_for("state", |_| true);
    assert_eq!((&state["state"], &state["queue_position"]), (&json!("queued"), &json!(2)));
    let delete = |id: &str| support::request(&server, "DELETE", &format!("/api/sessions/{id}"), &[], b"").status;
    assert_eq!((delete(&ids[0]), delete(&ids[0])), (204, 404));
    last.wait_for("state", |state| state["queue_position"] == 1);
    assert_eq!(delete(&ids[1]), 204);
    assert_eq!(last.wait_for("state", |state| state["state"] != "queued")["state"], "paused");
}

#[test]
fn a_server_ends_with_sessions_under_way_and_streams_open() {
    let server = server(Limits::default());
    let id = open(&server, &wanted(json!(1), false));
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    events.wait_for("frame", |_| true);
    let address = server.address();
    drop(server);
    while events.next().is_some() {}
    assert!(std::net::TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn a_call_is_heard_while_it_runs() {
    let server = server(Limits::default());
    let call = "\n[[traffic]]\nname = \"call\"\nkind = \"voip\"\n";
    let scenario = json!(format!("{SCENARIO}{call}"));
    let wanted = json!({ "scenario_toml": scenario, "seed": 7, "speed": null, "paused": true, "variants": [
        { "label": "tail-drop", "queue": "tail-drop" }, { "label": "fq-codel", "queue": "fq-codel" },
    ] });
    let id = open(&server, &wanted);
    let mut events = Events::open(&server, &format!("/api/sessions/{id}/stream"));
    events.wait_for("about", |_| true);
    control(&server, &id, &json!({ "do": "play" }));
    let frame = events.wait_for("frame", |frame| frame["t"].as_f64() > Some(3.0));
    let heard = |variant: usize| {
        let groups = frame["variants"][variant]["groups"].as_array().expect("groups");
        assert_eq!((&groups[0]["call"], &groups[1]["call"]), (&Value::Null, &Value::Null), "downloads are no calls");
        let call = &groups[2]["call"];
        let (mos, p95) = (call["mos"].as_f64().expect("a score"), call["delay_s"]["p95"].as_f64().expect("a delay"));
        assert!((0.0..=1.0).contains(&call["lost_ratio"].as_f64().expect("a share")), "{call}");
        (mos, p95)
    };
    let (tail_drop, fair) = (heard(0), heard(1));
    assert!(fair.0 > tail_drop.0 && fair.1 < tail_drop.1, "{fair:?} {tail_drop:?}");
    assert!(fair.0 > 4.0 && fair.1 < 0.03, "{fair:?}");
    // Listening changes nothing.
    let done = events.wait_for("done", |_| true);
    assert_eq!(done["fingerprint"], run_plainly(&get(&server, &format!("/api/sessions/{id}/scenario.toml")).text()));
}
