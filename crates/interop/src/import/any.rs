//! The kind of a file, from its content.

use crate::import::{Draft, ImportError, Input, controller, flent, measurement, pcap, qlog, recording, speedtest, tc};
use serde_json::Value;

/// First bytes of recordings of packets: `pcap` in both orders with micro- and nanoseconds, and
/// `pcapng`.
const PACKETS: [[u8; 4]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Separator of the texts in a sequence (RFC 7464).
const RECORD: char = '\u{1e}';

/// A line from any file that one of the readers knows.
///
/// # Errors
/// When none of them knows it, or the one that does refuses it.
pub fn read(input: &Input) -> Result<Draft, ImportError> {
    if PACKETS.iter().any(|magic| input.bytes.starts_with(magic)) {
        return Ok(pcap::import(input, None)?.draft);
    }
    let text = input.text()?.trim_start();
    match text.chars().next() {
        Some('{') => object(input),
        Some('[') => match serde_json::Deserializer::from_str(text).into_iter::<Value>().next() {
            Some(Ok(Value::Array(all))) if all.first().is_some_and(|one| one["download"].is_number()) => speedtest::import(input),
            _ => tc::import(input, None),
        },
        Some(RECORD) => qlog::import(input),
        _ => lines(input, text),
    }
}

fn object(input: &Input) -> Result<Draft, ImportError> {
    let is_qlog = |value: &Value| !value["qlog_version"].is_null() || value["traces"].is_array() || value["trace"].is_object();
    match input.json() {
        Ok(value) if measurement::is_one(&value) => measurement::import(input),
        Ok(value) if value["results"].is_object() => flent::import(input),
        Ok(value) if is_qlog(&value) => qlog::import(input),
        Ok(_) => speedtest::import(input),
        // A qlog may have one JSON text on each line.
        Err(_) => {
            let first = serde_json::Deserializer::from_slice(&input.bytes).into_iter::<Value>().next();
            if first.is_some_and(|value| value.is_ok_and(|value| is_qlog(&value))) {
                qlog::import(input)
            } else {
                input.json().and_then(|_| speedtest::import(input))
            }
        }
    }
}

fn lines(input: &Input, text: &str) -> Result<Draft, ImportError> {
    const MAX_LINES: usize = 1_000;
    let mut first = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_LINES);
    if first.clone().next().is_some_and(|line| line.contains("timestamp_unix_ms")) {
        return controller::stormguard(input, None);
    }
    if first.clone().any(|line| line.split_once(';').is_some_and(|(kind, _)| controller::is_autorate(kind))) {
        return controller::autorate(input);
    }
    let words = ["qdisc", "class", "tc", "sudo"];
    if first.clone().any(|line| line.split_whitespace().next().is_some_and(|word| words.contains(&word) || word.ends_with("/tc")))
    {
        return tc::import(input, None);
    }
    if first.clone().next().is_some() && first.all(|line| line.bytes().all(|byte| byte.is_ascii_digit())) {
        return recording::import(input, None);
    }
    let known = "a speed test, a result of gq measure, a data file of flent, output or lines of tc, \
                 a log of StormGuard or cake-autorate, a recording for mahimahi, pcap, pcapng or qlog";
    Err(input.fault(format!("is nothing that gq import reads: expected {known}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> String {
        match read(&Input::read("x", text.as_bytes()).unwrap()) {
            Ok(draft) => draft.made_by.split_whitespace().nth(2).unwrap_or_default().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn files_are_known_by_their_content() {
        for (text, expected) in [
            (r#"{"download":5e7,"upload":1e7}"#, "speedtest"),
            (include_str!("measurement/line.json"), "measure"),
            (r#" [{"download":50,"upload":10,"jitter":1}]"#, "speedtest"),
            (r#"{"results":{"TCP upload":[1]}}"#, "flent"),
            ("#!/bin/sh\ntc qdisc add dev eth0 root codel\n", "tc"),
            ("qdisc codel 1: dev eth0 root refcnt 2 limit 1000p target 5ms interval 100ms\n", "tc"),
            (r#"[{"kind":"codel","handle":"1:","dev":"eth0","root":true,"options":{}}]"#, "tc"),
            ("timestamp_unix_ms;site;direction;queue_mbps\n1000;a;down;20\n", "stormguard"),
            ("x\nLOAD;x;1;1;1;1;5000;1000\n", "autorate"),
            ("0\n1\n2\n4\n", "mahimahi"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn unknown_files_get_one_message() {
        for text in ["", "hello\n", "goodqueue = 1\n"] {
            let message = kind(text);
            assert!(message.starts_with("x: is nothing that gq import reads: expected a speed test, "), "{message}");
        }
        assert!(kind("{").starts_with("x: is not JSON: "));
        assert!(kind("{}").starts_with("x: is not the result of a known speed test"));
        assert!(kind("[").starts_with("x: is not JSON: "));
    }
}
