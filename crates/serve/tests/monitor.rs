//! The monitor follows a bridge that ends and comes back, and passes commands on.
#![cfg(unix)]

mod support;

use goodqueue_serve::server::{Limits, Options, Server};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use support::{Events, options, post};

/// Answers as a bridge's control socket does, until told to end.
struct Bridge {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Bridge {
    fn start(path: &Path) -> Self {
        // One that was killed has left its file behind.
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path).expect("a socket");
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if flag.load(Ordering::Relaxed) {
                    return;
                }
                let mut line = String::new();
                let _ = BufReader::new(&stream).read_line(&mut line);
                let qdisc =
                    json!({ "kind": "codel", "dev": "a", "options": { "rate": 1000 }, "bytes": 5, "packets": 1, "count": 2.0 });
                let answer = match line.trim() {
                    "stats" => json!([qdisc, qdisc]),
                    "rate down 20mbit" => json!({ "rate": 20_000_000, "direction": "down" }),
                    other => json!({ "error": format!("`{other}` is not known") }),
                };
                let _ = writeln!(&stream, "{answer}");
            }
        });
        Self { stop, thread }
    }

    fn end(self, path: &Path) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes it up, so that it sees the flag.
        let _ = std::os::unix::net::UnixStream::connect(path);
        self.thread.join().expect("the bridge ends");
    }
}

#[test]
fn the_monitor_follows_a_bridge_that_goes_and_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("control");
    let bridge = Bridge::start(&socket);
    let server = Server::start(Options { bridge: Some(socket.clone()), ..options(Limits::default()) }).expect("a free port");
    let mut events = Events::open(&server, "/api/bridge/stream");
    let stats = events.wait_for("stats", |_| true);
    assert_eq!((&stats["directions"][0]["aqm"], &stats["directions"][0]["gauges"]), (&json!("codel"), &json!({ "count": 2.0 })));
    let order = |line: &str| post(&server, "/api/bridge/control", &json!({ "line": line }));
    assert_eq!((order("rate down 20mbit").status, order("rate down 20mbit").json()["rate"].as_u64()), (200, Some(20_000_000)));
    let wrong = order("dance");
    assert!(wrong.status == 422 && wrong.text().contains("dance"), "{}", wrong.text());
    assert_eq!(order("stats\nrate down 1mbit").status, 422, "one line is one command");
    bridge.end(&socket);
    events.wait_for("gone", |_| true);
    assert_eq!(order("stats").status, 502);
    let bridge = Bridge::start(&socket);
    events.wait_for("back", |_| true);
    events.wait_for("stats", |_| true);
    drop(server);
    bridge.end(&socket);
}
