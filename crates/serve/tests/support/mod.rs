//! A server on a free port, and a client of a few lines that says exactly what a test wants said.
#![allow(dead_code, reason = "each test file uses its part")]

use goodqueue_serve::server::{Limits, Options, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub fn options(limits: Limits) -> Options {
    Options {
        listen: ([127, 0, 0, 1], 0).into(),
        names: Vec::new(),
        runs: None,
        gallery: None,
        bridge: None,
        hosts: Vec::new(),
        limits,
    }
}

pub fn server(limits: Limits) -> Server {
    Server::start(options(limits)).expect("a free port")
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    stream
}

/// Sends these bytes and reads one answer; the connection is closed.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = connect(address);
    // A server may refuse before it has read everything.
    let _ = stream.write_all(bytes);
    read_answer(&mut BufReader::new(stream))
}

pub fn read_answer(reader: &mut BufReader<TcpStream>) -> Answer {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let status = head.split_whitespace().nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut answer = Answer { status, head, body: Vec::new() };
    if let Some(length) = answer.header("content-length").and_then(|length| length.parse().ok()) {
        answer.body = vec![0; length];
        reader.read_exact(&mut answer.body).expect("the whole body");
    }
    answer
}

/// A request as the page makes it; `more` are further headers.
pub fn request(server: &Server, method: &str, path: &str, more: &[(&str, &str)], body: &[u8]) -> Answer {
    let address = server.address();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    let host = address.to_string();
    let defaults = [("Host", host.as_str()), ("X-Goodqueue-Token", server.token()), ("Content-Type", "application/json")];
    for (name, value) in defaults.iter().filter(|(name, _)| more.iter().all(|(known, _)| known != name)).chain(more) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    raw(address, &[head.as_bytes(), body].concat())
}

pub fn get(server: &Server, path: &str) -> Answer {
    request(server, "GET", path, &[], b"")
}

pub fn post(server: &Server, path: &str, body: &Value) -> Answer {
    request(server, "POST", path, &[], body.to_string().as_bytes())
}

/// Server-sent events of a stream.
pub struct Events {
    reader: BufReader<TcpStream>,
}

impl Events {
    pub fn open(server: &Server, path: &str) -> Self {
        let mut stream = connect(server.address());
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nX-Goodqueue-Token: {}\r\n\r\n", server.address(), server.token());
        stream.write_all(head.as_bytes()).expect("sent");
        let mut reader = BufReader::new(stream);
        let answer = read_answer(&mut reader);
        assert_eq!(answer.status, 200, "{}", answer.head);
        assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
        Self { reader }
    }

    /// The next event and its data; `None` at the end of the stream.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let (mut event, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            // Sizes of chunks stand on lines of their own, and end in nothing that matters here.
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.trim().to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = text.trim().to_owned();
            } else if line == "\n" && !event.is_empty() {
                return Some((event, serde_json::from_str(&data).expect("data are JSON")));
            }
        }
    }

    /// The data of the next event of this name that satisfies `wanted`.
    pub fn wait_for(&mut self, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (event, data) = self.next().unwrap_or_else(|| panic!("the stream ended before `{name}`"));
            assert_ne!(data["state"], "failed", "{data}");
            if event == name && wanted(&data) {
                return data;
            }
        }
    }
}
