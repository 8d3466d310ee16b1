//! The kind of a file, from its content.

use crate::import::{
    Draft, ImportError, Input, config, controller, flent, json, measurement, pcap, qlog, recording, speedtest, tc,
};
use std::io::{Cursor, Read};
use std::path::Path;

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

/// A line from any file that one of the readers knows, with its name. Recordings of packets are
/// read as they come.
///
/// # Errors
/// As [`read`], and when the file cannot be read.
pub fn load(path: &Path) -> Result<(Input, Draft), ImportError> {
    let (named, mut content) = Input::open(path)?;
    let mut start = Vec::new();
    let read_start = content.by_ref().take(PACKETS[0].len() as u64).read_to_end(&mut start);
    read_start.map_err(|error| named.fault(format!("cannot be read: {error}")))?;
    let is_packets = PACKETS.iter().any(|magic| start == magic);
    let content = Cursor::new(start).chain(content);
    if is_packets {
        let draft = pcap::import(&named, content, None)?.draft;
        return Ok((named, draft));
    }
    let input = named.filled(content)?;
    let draft = read(&input)?;
    Ok((input, draft))
}

/// A line from any file that one of the readers knows.
///
/// # Errors
/// When none of them knows it, or the one that does refuses it.
pub fn read(input: &Input) -> Result<Draft, ImportError> {
    if PACKETS.iter().any(|magic| input.bytes.starts_with(magic)) {
        return Ok(pcap::import(input, input.bytes.as_slice(), None)?.draft);
    }
    let text = input.text()?.trim_start();
    match text.chars().next() {
        Some('{') => object(input),
        Some('[') if is_section(text) && !text.contains("ExecStart=") => config::networkd(input, None),
        Some('[') if is_section(text) => tc::import(input, None),
        Some('[') if is_test(&json::names(&input.bytes)) => speedtest::import(input),
        Some('[') if !speedtest::is_printed(text) => {
            input.check_json()?;
            tc::import(input, None)
        }
        Some(RECORD) => qlog::import(input),
        _ => lines(input, text),
    }
}

/// Fields of a result in a list, of LibreSpeed and cfspeedtest.
fn is_test(names: &[String]) -> bool {
    names.iter().any(|name| ["download", "test_type"].contains(&name.as_str()))
}

/// Whether a text begins with a section, as files of systemd do.
fn is_section(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default().trim_end();
    let name = first.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// A reader of configurations, which may be told the interface.
type Reader = fn(&Input, Option<&str>) -> Result<Draft, ImportError>;

/// The reader of a configuration, by its first line that is no comment.
fn configuration(text: &str) -> Option<Reader> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    Some(match first.split_whitespace().next()? {
        "config" => config::sqm,
        "Circuit" => config::libreqos,
        word if word.starts_with("/queue") || (word.starts_with('/') && text.contains("/queue ")) => config::routeros,
        _ if is_section(first) => config::networkd,
        _ => return None,
    })
}

fn object(input: &Input) -> Result<Draft, ImportError> {
    let names = json::names(&input.bytes);
    let has = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
    if has(&["qlog_version", "qlog_format", "file_schema", "traces", "trace"]) {
        qlog::import(input)
    } else if has(&["schema"]) {
        measurement::import(input)
    } else if has(&["results"]) {
        flent::import(input)
    } else {
        speedtest::import(input)
    }
}

fn lines(input: &Input, text: &str) -> Result<Draft, ImportError> {
    const MAX_LINES: usize = 1_000;
    const MAX_WORDS: usize = 100;
    if let Some(read) = configuration(text) {
        return read(input, None);
    }
    let mut first = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_LINES);
    if first.clone().next().is_some_and(|line| line.contains("timestamp_unix_ms")) {
        return controller::stormguard(input, None);
    }
    if first.clone().any(|line| line.split_once(';').is_some_and(|(kind, _)| controller::is_autorate(kind))) {
        return controller::autorate(input);
    }
    let words = ["qdisc", "class", "tc", "sudo"];
    let begins = |line: &str| line.split_whitespace().next().is_some_and(|word| words.contains(&word) || word.ends_with("/tc"));
    let runs_tc = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(MAX_WORDS).collect();
        let is_tc = |word: &str| {
            word.trim_start_matches('$').trim_matches(['{', '}']).eq_ignore_ascii_case("tc") || word.ends_with("/tc")
        };
        words.windows(2).any(|two| is_tc(two[0]) && ["qdisc", "class", "filter"].contains(&two[1]))
    };
    if first.clone().any(|line| begins(line) || runs_tc(line)) {
        return tc::import(input, None);
    }
    if speedtest::is_printed(text) {
        return speedtest::import(input);
    }
    if first.clone().next().is_some() && first.all(|line| line.bytes().all(|byte| byte.is_ascii_digit())) {
        return recording::import(input, None);
    }
    let known = "a speed test, a result of gq measure, a data file of flent, output or lines of tc, a log of StormGuard or cake-autorate, \
                 a recording for mahimahi, pcap, pcapng, qlog, \
                 /etc/config/sqm, an export of RouterOS, ShapedDevices.csv or a .network file";
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
            ("iface eth0 inet dhcp\n  post-up tc qdisc add dev eth0 root codel\n", "tc"),
            ("[Service]\nExecStart=/sbin/tc qdisc add dev eth0 root codel\n", "tc"),
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
