//! Requests that nobody well-meaning makes: each is refused with its status.

#![allow(clippy::disallowed_methods, reason = "these tests are of a server, which keeps time; no result depends on it")]

mod support;

use goodqueue_serve::server::{Limits, Options, Server};
use serde_json::json;
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use support::{connect, get, options, post, raw, request, server};

#[test]
fn each_hostile_request_has_its_status() {
    let server = server(Limits::default());
    let host = server.address().to_string();
    let port = server.address().port();
    let own = format!("http://{host}");
    let status = |method: &str, path: &str, more: &[(&str, &str)], body: &str| {
        request(&server, method, path, more, body.as_bytes()).status
    };
    let localhost = format!("localhost:{port}");
    let rebound = format!("evil.example:{port}");
    // Names and origins.
    assert_eq!(status("GET", "/api/hello", &[("Host", &localhost)], ""), 200);
    assert_eq!(status("GET", "/api/hello", &[("Host", &rebound)], ""), 421, "DNS rebinding");
    assert_eq!(status("GET", "/api/hello", &[("Host", "localhost")], ""), 421, "another port");
    assert_eq!(raw(server.address(), b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status, 400, "no host at all");
    let twice = format!("GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(raw(server.address(), twice.as_bytes()).status, 400, "two hosts");
    assert_eq!(status("GET", "/api/hello", &[("Origin", "http://evil.example")], ""), 403, "another site's page");
    assert_eq!(status("GET", "/api/hello", &[("Origin", "null")], ""), 403, "a page of no site");
    assert_eq!(
        status("POST", "/api/check", &[("Origin", "http://evil.example")], "x"),
        403,
        "another site's page, with the token"
    );
    assert_eq!(status("GET", "/api/hello", &[("Sec-Fetch-Site", "cross-site")], ""), 403, "a picture in another site's page");
    assert_eq!(status("GET", "/", &[("Sec-Fetch-Site", "cross-site")], ""), 200, "a link in another site's page");
    assert_eq!(status("POST", "/api/check", &[("Origin", &own)], "goodqueue = 1"), 422, "ours, and wrong");
    // Tokens.
    for wrong in ["", "0", "00000000000000000000000000000000"] {
        assert_eq!(status("POST", "/api/sessions", &[("X-Goodqueue-Token", wrong)], "{}"), 403, "token `{wrong}`");
        assert_eq!(status("DELETE", "/api/sessions/x", &[("X-Goodqueue-Token", wrong)], ""), 403);
    }
    // Paths and methods.
    for path in [
        "/../Cargo.toml",
        "/assets/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/runs/../../etc/passwd",
        "//etc/passwd",
        "/api/nothing",
        "/api/sessions/../stream",
        "/api/runs/..%2f..%2fetc/summary.json",
        "/api/gallery/figures/..%2fresults.json",
        "/.git/config",
    ] {
        assert_eq!(status("GET", path, &[], ""), 404, "{path}");
    }
    assert_eq!(status("PUT", "/api/hello", &[], ""), 405);
    assert_eq!(status("GET", "/api/check", &[], ""), 405);
    assert_eq!(status("POST", "/api/bridge/control", &[], r#"{"line":"stats"}"#), 404, "no bridge is watched");
    // Bodies.
    assert_eq!(status("POST", "/api/sessions", &[("Content-Type", "text/plain")], "{}"), 415, "what a form can send");
    assert_eq!(status("POST", "/api/sessions", &[], "{"), 400, "malformed JSON");
    let deep = format!(r#"{{"scenario_toml":"x","variants":[{{"label":"x","queue":{}"#, "[".repeat(100_000));
    assert_eq!(status("POST", "/api/sessions", &[], &deep), 400, "deep JSON");
    assert_eq!(status("POST", "/api/sessions", &[], r#"{"scenario_toml": 5}"#), 422, "another type");
    assert_eq!(status("POST", "/api/sessions", &[], r#"{"scenario_toml": "x", "admin": true}"#), 422, "an unknown field");
    assert_eq!(status("POST", "/api/sessions", &[], &"x".repeat(300 << 10)), 413, "too large");
    let gigabyte = format!(
        "POST /api/traces HTTP/1.1\r\nHost: {host}\r\nX-Goodqueue-Token: {}\r\nContent-Length: 1000000000\r\nConnection: close\r\n\r\n1",
        server.token()
    );
    assert_eq!(raw(server.address(), gigabyte.as_bytes()).status, 413, "a gigabyte, refused before it comes");
    assert_eq!(status("POST", "/api/traces", &[], &"1\n".repeat(9 << 20)), 413, "eighteen megabytes");
    let headers = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "x".repeat(200 << 10));
    assert_eq!(raw(server.address(), headers.as_bytes()).status, 431, "headers without end");
    assert_eq!(raw(server.address(), b"\x16\x03\x01\x02\x00\x01\x00\x01").status, 400, "TLS");
}

#[test]
fn every_answer_has_its_protecting_headers() {
    let server = server(Limits::default());
    for path in ["/", "/api/hello", "/api/nothing", "/api/kinds"] {
        let answer = get(&server, path);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'self'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert!(answer.header("access-control-allow-origin").is_none(), "no other site may read");
        assert!(answer.header("cache-control").is_some());
    }
    let hello = get(&server, "/api/hello").json();
    assert_eq!(hello["token"], server.token());
    assert!(hello["presets"].as_array().is_some_and(|presets| presets.len() >= 5));
    assert_eq!(hello["traces"][0]["id"], "builtin:cellular.down");
}

#[test]
fn who_is_slow_is_let_go() {
    let client_timeout = Duration::from_millis(300);
    let server = server(Limits { client_timeout, ..Limits::default() });
    let host = server.address().to_string();
    // Half a head, and half a body, and then nothing.
    let body = format!(
        "POST /api/check HTTP/1.1\r\nHost: {host}\r\nX-Goodqueue-Token: {}\r\nContent-Length: 100\r\n\r\nhalf",
        server.token()
    );
    for (start, status) in [(format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-Slow:"), None), (body, Some("408"))] {
        let begun = Instant::now();
        let mut stream = connect(server.address());
        stream.write_all(start.as_bytes()).expect("sent");
        let mut answer = String::new();
        // Closed with an answer or without.
        let _ = stream.read_to_string(&mut answer);
        assert!(begun.elapsed() < Duration::from_secs(15), "it was let go");
        assert!(status.is_none_or(|status| answer.contains(status)), "{answer}");
    }
    assert_eq!(get(&server, "/api/hello").status, 200, "others are served");
}

#[test]
fn reader_that_takes_nothing_frees_its_place() {
    let index = get(&server(Limits::default()), "/").text();
    let server = server(Limits { client_timeout: Duration::from_millis(300), connections: 1, ..Limits::default() });
    let script = index.split_once("src=\"").expect("a script").1.split_once('"').expect("its address").0;
    let begun = Instant::now();
    let mut stalled = connect(server.address());
    // More than both sockets have room for.
    let path = script.trim_start_matches('.');
    let one = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
    stalled.write_all(one.repeat(200).as_bytes()).expect("sent");
    while get(&server, "/api/hello").status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(15), "it still has its place");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stalled);
}

#[test]
fn elsewhere_than_on_loopback_nothing_goes_without_the_token() {
    let listen = ([0, 0, 0, 0], 0).into();
    let server = Server::start(Options { listen, ..options(Limits::default()) }).expect("a free port");
    let address = ([127, 0, 0, 1], server.address().port()).into();
    let host = format!("127.0.0.1:{}", server.address().port());
    let ask = |path: &str, headers: &str| {
        raw(address, format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").as_bytes())
    };
    for path in ["/", "/api/hello", "/api/runs", "/?token=wrong"] {
        assert_eq!(ask(path, "").status, 401, "{path}");
    }
    let welcome = ask(&format!("/?token={}", server.token()), "");
    assert_eq!((welcome.status, welcome.header("location")), (303, Some("/")));
    let cookie = welcome.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("SameSite=Strict") && cookie.contains("HttpOnly"), "{cookie}");
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().expect("its value"));
    let hello = ask("/api/hello", &cookie);
    assert_eq!((hello.status, hello.json().get("token")), (200, None));
    let post = |headers: &str| {
        let head = format!(
            "POST /api/check HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 1\r\n{cookie}{headers}\r\nx"
        );
        raw(address, head.as_bytes()).status
    };
    assert_eq!(post(""), 403, "a cookie alone changes nothing");
    assert_eq!(post(&format!("Origin: http://{host}\r\n")), 422, "our own page may ask");
    assert_eq!(post("Origin: http://evil.example\r\n"), 403);
    assert!(server.page().contains("?token="));
}

#[test]
fn a_session_of_a_stranger_cannot_eat_the_machine() {
    let server = server(Limits::default());
    let scenario = |link: &str, traffic: &str, duration: &str| {
        let text = format!(
            "goodqueue = 1\nduration = \"{duration}\"\n[link.b]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n{link}\n[[traffic]]\nkind = \"bulk\"\n{traffic}\n"
        );
        post(&server, "/api/sessions", &json!({ "scenario_toml": text, "paused": true }))
    };
    for (link, traffic, duration) in [
        ("buffer = \"10000000 packets\"", "", "10 s"),
        ("buffer = \"10 packets\"", "flows = 100000", "10 s"),
        ("buffer = \"10 packets\"", "", "10000 s"),
    ] {
        let answer = scenario(link, traffic, duration);
        assert!(answer.status == 422 && answer.text().contains("here: allowed up to"), "{} {}", answer.status, answer.text());
    }
    assert_eq!(scenario("buffer = \"10 packets\"", "", "10 s").status, 201);
}
