//! Many pages at one session, and many sessions: nobody waits for a page that does not keep up.

#![allow(clippy::disallowed_methods, reason = "these tests are of a server, which keeps time; no result depends on it")]

mod support;

use goodqueue_serve::server::Limits;
use serde_json::json;
use std::io::Write;
use std::time::Instant;
use support::{Events, connect, get, post, server};

const CLIENTS: usize = 50;

#[test]
fn fifty_pages_see_every_frame_and_a_stalled_one_holds_nobody() {
    let server = server(Limits::default());
    let wanted = json!({
        "scenario_toml": include_str!("../presets/uplink.toml").replace("warmup = \"5 s\"", "warmup = \"1 s\"").replace("55 s", "3 s"), "speed": 2, "paused": true,
        "variants": [
            { "label": "a", "queue": { "kind": "tail-drop" } }, { "label": "b", "queue": { "kind": "codel" } },
            { "label": "c", "queue": { "kind": "pie" } }, { "label": "d", "queue": { "kind": "fq-codel" } },
        ],
    });
    let id = post(&server, "/api/sessions", &wanted).json()["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/sessions/{id}/stream");
    // One that asks and never reads.
    let mut stalled = connect(server.address());
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
    stalled.write_all(head.as_bytes()).expect("sent");
    let begun = Instant::now();
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let mut events = Events::open(&server, &path);
                scope.spawn(move || {
                    let mut frames = 0;
                    while let Some((event, data)) = events.next() {
                        assert_ne!(data["state"], "failed", "{data}");
                        frames += usize::from(event == "frame");
                        if event == "done" {
                            break;
                        }
                    }
                    frames
                })
            })
            .collect();
        assert_eq!(post(&server, &format!("/api/sessions/{id}/control"), &json!({ "do": "play" })).status, 200);
        clients.into_iter().map(|client| client.join().expect("a client")).collect()
    });
    let (least, most) = (counts.iter().min().copied(), counts.iter().max().copied());
    println!(
        "{CLIENTS} pages, 4 variants of 16 flows, 4 s at twice the speed: {least:?} to {most:?} frames each in {:?}",
        begun.elapsed()
    );
    assert!(least > Some(10), "{counts:?}");
}

#[test]
fn two_hundred_sessions_wait_their_turn_and_all_end() {
    let server = server(Limits { sessions: 4, ..Limits::default() });
    let wanted = json!({ "scenario_toml": include_str!("../presets/uplink.toml").replace("warmup = \"5 s\"", "warmup = \"0 s\"").replace("55 s", "200 ms"), "speed": null });
    let begun = Instant::now();
    let mut ids = Vec::new();
    for _ in 0..200 {
        let answer = post(&server, "/api/sessions", &wanted);
        assert_eq!(answer.status, 201, "{}", answer.text());
        ids.push(answer.json()["id"].as_str().expect("an id").to_owned());
    }
    let opened = begun.elapsed();
    // The last one is told when it is done; those before it are by then.
    let mut events = Events::open(&server, &format!("/api/sessions/{}/stream", ids[199]));
    events.wait_for("done", |_| true);
    println!("200 sessions: taken in within {opened:?}, all done after {:?}", begun.elapsed());
    assert_eq!(get(&server, "/api/hello").json()["load"]["waiting"], 0);
}
