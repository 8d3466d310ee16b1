//! `iperf3 --json`: payload that arrived, and no latency without load.

use super::figures::{Full, Loaded, Test, estimated, failed, loaded, named, number};
use crate::import::draft::{HEADERS, one_line};
use crate::import::{ImportError, Input};
use serde_json::{Value, json};

/// A part of a result that `--json-stream` writes line by line; `None` where `value` is none, and
/// within it the whole result after the last part.
pub(super) fn part(value: &Value, stream: &mut Value) -> Option<Option<Value>> {
    let kind = value["event"].as_str()?;
    let data = &value["data"];
    match kind {
        "start" => *stream = json!({ "start": data }),
        "error" => {
            *stream = Value::Null;
            return Some(Some(json!({ "error": data })));
        }
        "end" if stream["start"].is_object() => {
            stream["end"] = data.clone();
            return Some(Some(stream.take()));
        }
        _ => {}
    }
    Some(None)
}

/// Sums of a result: of what the client sends, and of what it receives.
const SENT_AND_RECEIVED: [[&str; 2]; 2] =
    [["sum_sent", "sum_received"], ["sum_sent_bidir_reverse", "sum_received_bidir_reverse"]];

/// Losses below this share may be those of the path, and not of a full line.
const MIN_LOST_PERCENT: f64 = 1.0;

pub(super) fn read(input: &Input, json: &Value) -> Result<Test, ImportError> {
    let (start, end) = (&json["start"], &json["end"]);
    let test = &start["test_start"];
    let protocol = test["protocol"].as_str().unwrap_or_default();
    let direction = |[sent, received]: [&str; 2]| match protocol {
        "TCP" => unlimited(input, start, tcp(input, end, [sent, received])?),
        "UDP" => udp(input, json, received),
        "" => Err(failed(input, "start.test_start: is missing")),
        other => Err(input.fault(format!("start.test_start.protocol: `{}` is not read: allowed TCP, UDP", one_line(other)))),
    };
    let is_both = !end["sum_received_bidir_reverse"].is_null();
    let there = direction(SENT_AND_RECEIVED[0])?;
    let (down, up) = match test["reverse"].as_u64() {
        _ if is_both => (direction(SENT_AND_RECEIVED[1])?, there),
        Some(1..) => (there, None),
        _ => (None, there),
    };
    if down.is_none() && up.is_none() {
        return Err(failed(input, "nothing arrived"));
    }
    let mut notes =
        vec!["iperf3 measures no latency without load: the round-trip time and the buffers are not known.".to_owned()];
    if protocol == "TCP" {
        notes.extend(caveats(start));
    }
    if !start["accepted_connection"].is_null() {
        notes.push("The file is the server's: up and down are those of its client.".to_owned());
    }
    Ok(Test {
        tool: "iperf3",
        name: named([&start["connecting_to"]["host"], &start["timestamp"]["time"]]),
        down,
        up,
        full: if is_both { Full::Both } else { Full::One },
        notes,
        ..Test::default()
    })
}

/// The rate at which payload arrived; at a server that sends, the rate at which it was sent.
fn tcp(input: &Input, end: &Value, [sent, received]: [&str; 2]) -> Result<Option<Loaded>, ImportError> {
    let figure = |sum: &str| -> Result<Option<Loaded>, ImportError> {
        let field = format!("end.{sum}.bits_per_second");
        match &end[sum]["bits_per_second"] {
            Value::Null => Ok(None),
            bits => {
                let bits = number(input, bits, &field)?;
                loaded(input, bits, &field, &format!("{bits:.0} bit/s"))
            }
        }
    };
    if let Some(arrived) = figure(received)? {
        return Ok(Some(arrived));
    }
    let found = figure(sent)?;
    let bits = found.as_ref().map_or(0.0, |found| found.bits);
    Ok(estimated(found, bits, format!("end.{sent}, what was sent, as the file does not tell what arrived")))
}

/// Options that limit a stream, with the fields that have their rates: since 3.12 and 3.13 within
/// `test_start`, and since 3.7 and 3.13 next to it, where versions before 3.13 have none that is 0.
const LIMITS: [(&str, [&str; 2]); 2] = [("-b", ["target_bitrate", "target_bitrate"]), ("--fq-rate", ["fqrate", "fq_rate"])];

/// The value of a limit, with its field; `None` where neither place has it.
fn limit(start: &Value, [within, next]: [&str; 2]) -> Option<(f64, String)> {
    let places = [(&start[next], format!("start.{next}")), (&start["test_start"][within], format!("start.test_start.{within}"))];
    let known = places.into_iter().filter_map(|(value, field)| Some((value.as_f64()?, field)));
    known.max_by(|(one, _), (other, _)| one.total_cmp(other))
}

/// A rate of TCP, unless it is the one that an option set for each stream.
fn unlimited(input: &Input, start: &Value, found: Option<Loaded>) -> Result<Option<Loaded>, ImportError> {
    /// A line that carries less than this part of it is what limits the rate.
    const REACHED: f64 = 0.9;
    let streams = start["test_start"]["num_streams"].as_f64().unwrap_or(1.0).max(1.0);
    for (option, fields) in LIMITS {
        let Some((set, field)) = limit(start, fields).filter(|(set, _)| *set > 0.0) else { continue };
        if found.as_ref().is_some_and(|found| found.bits / HEADERS >= set * streams * REACHED) {
            let why = format!("{field}: the rate is the one that {option} set: give a test of TCP without it");
            return Err(input.fault(why));
        }
    }
    Ok(found)
}

/// Remarks on what may have limited the rate in place of the line.
fn caveats(start: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    let unknown: Vec<&str> =
        LIMITS.into_iter().filter(|(_, fields)| limit(start, *fields).is_none()).map(|(option, _)| option).collect();
    if !unknown.is_empty() {
        let options = unknown.join(" or ");
        notes.push(format!("The file does not tell whether {options} limited the rate: with it, the line may be faster."));
    }
    if let Some(bytes) = start["sock_bufsize"].as_u64().filter(|bytes| *bytes > 0) {
        notes.push(format!("-w set buffers of {bytes} B: where they limited the rate, the line is faster."));
    }
    notes
}

/// The rate at which datagrams arrived where some were lost: the line was full. Otherwise the
/// rate is the one that `-b` set.
fn udp(input: &Input, json: &Value, received: &str) -> Result<Option<Loaded>, ImportError> {
    let end = &json["end"];
    let reverse = received.ends_with("reverse");
    let old = &end[if reverse { "sum_bidir_reverse" } else { "sum" }];
    let sum = if end[received]["bits_per_second"].is_null() { old } else { &end[received] };
    let field = |name: &str| format!("end.{received}.{name}");
    let lost = number(input, &sum["lost_percent"], &field("lost_percent"))?;
    let bits = number(input, &sum["bits_per_second"], &field("bits_per_second"))?;
    if lost < MIN_LOST_PERCENT {
        let why = "UDP: the rate is the one that -b set, and too little was lost to tell the line's: give a test of TCP";
        return Err(input.fault(why));
    }
    // Older versions have one sum, whose rate is the one that was sent.
    let arrived = if std::ptr::eq(sum, old) { bits * (1.0 - lost / 100.0) } else { bits };
    let payload = number(input, &json["start"]["test_start"]["blksize"], "start.test_start.blksize")?;
    let found = loaded(input, arrived, &field("bits_per_second"), "")?;
    let why = format!(
        "{}, {arrived:.0} bit/s of datagrams of {payload} B that arrived while {lost:.1} % were lost",
        field("bits_per_second")
    );
    Ok(estimated(found, arrived * whole(payload), why))
}

/// Bytes of IPv4 packets in a byte of UDP payload in datagrams of this size.
fn whole(payload: f64) -> f64 {
    const UDP: f64 = 8.0;
    const IP: f64 = 20.0;
    const FRAGMENT: f64 = 1_480.0;
    let fragments = ((payload + UDP) / FRAGMENT).ceil();
    (payload + UDP + fragments * IP) / payload.max(1.0)
}
