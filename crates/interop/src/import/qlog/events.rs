//! Events of a qlog file in the order of time.

use crate::import::{ImportError, Input};
use serde_json::Value;

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A packet of this length left.
    Sent(u64),
    /// A packet of this length arrived.
    Received(u64),
    /// A packet was lost.
    Lost,
    /// The sender's estimates for the path.
    Metrics {
        /// Smoothed round-trip time in seconds.
        rtt_s: Option<f64>,
        /// Congestion window in bytes.
        window: Option<f64>,
        /// Bytes in flight.
        in_flight: Option<f64>,
    },
}

/// The place where events were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// At an end.
    End,
    /// On the way: what arrives is what the sender has sent.
    Network,
}

/// A file.
#[derive(Debug)]
pub struct Recorded {
    pub title: String,
    pub vantage: Vantage,
    /// With their times in seconds.
    pub events: Vec<(f64, Event)>,
}

/// More events than this are read in no file; the bound on its bytes is met before.
const MAX_EVENTS: usize = 20_000_000;

/// Reads a file in either form.
pub fn read(input: &Input) -> Result<Recorded, ImportError> {
    let mut reading = Reading {
        input,
        recorded: Recorded { title: String::new(), vantage: Vantage::End, events: Vec::new() },
        times: Times::default(),
        links: Vec::new(),
    };
    match serde_json::from_slice::<Value>(&input.bytes) {
        Ok(document) if !document["trace"].is_object() => reading.document(&document)?,
        Ok(_) | Err(_) => reading.sequence()?,
    }
    let Reading { mut recorded, links, .. } = reading;
    if recorded.vantage == Vantage::Network {
        keep_busiest_link(&mut recorded.events, &links);
    }
    recorded.events.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(recorded)
}

struct Reading<'a> {
    input: &'a Input,
    recorded: Recorded,
    times: Times,
    /// The link that each event belongs to.
    links: Vec<Option<String>>,
}

/// The reading of time stamps.
#[derive(Debug, Default)]
struct Times {
    /// Each counts from the one before.
    relative: bool,
    last: f64,
}

impl Reading<'_> {
    /// One JSON document with traces, of which the first with events counts.
    fn document(&mut self, document: &Value) -> Result<(), ImportError> {
        let traces = document["traces"].as_array().map_or(&[][..], Vec::as_slice);
        let trace = traces.iter().find(|trace| trace["events"].as_array().is_some_and(|events| !events.is_empty()));
        let Some(trace) = trace else { return Err(self.input.fault("is no qlog: expected `traces` with `events`")) };
        self.head(trace, &document["title"]);
        trace["events"].as_array().into_iter().flatten().try_for_each(|event| self.event(event))
    }

    /// A sequence of JSON texts: a header, then events.
    fn sequence(&mut self) -> Result<(), ImportError> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | 0x1E);
        let records = self.input.bytes.split(is_end).filter(|record| !record.trim_ascii().is_empty());
        let count = records.clone().count();
        for (number, record) in records.enumerate() {
            let value = match serde_json::from_slice::<Value>(record) {
                Ok(value) => value,
                // One that was being written when the program ended (RFC 7464 §2.3).
                Err(_) if number > 0 && number + 1 == count => break,
                Err(error) => return Err(self.input.fault(format!("record {}: is not JSON: {error}", number + 1))),
            };
            match number {
                0 if value["trace"].is_object() => self.head(&value["trace"], &value["title"]),
                0 => return Err(self.input.fault("is no qlog: expected `traces`, or a first record with `trace`")),
                _ => self.event(&value)?,
            }
        }
        Ok(())
    }

    fn head(&mut self, trace: &Value, title: &Value) {
        let title = trace["title"].as_str().or(title.as_str()).unwrap_or_default();
        self.recorded.title = crate::import::draft::one_line(title);
        if trace["vantage_point"]["type"] == "network" {
            self.recorded.vantage = Vantage::Network;
        }
        let format = trace["common_fields"]["time_format"].as_str().unwrap_or_default();
        self.times.relative = matches!(format, "delta" | "relative_to_previous_event");
    }

    fn event(&mut self, event: &Value) -> Result<(), ImportError> {
        let Some(millis) = event["time"].as_f64().filter(|time| time.is_finite()) else { return Ok(()) };
        self.times.last = if self.times.relative { self.times.last + millis } else { millis };
        let Some(name) = event["name"].as_str() else { return Ok(()) };
        let data = &event["data"];
        let length = || data["raw"]["length"].as_u64().or(data["header"]["packet_size"].as_u64());
        let of_queue = self.recorded.vantage == Vantage::Network;
        // The schema before the colon has had several names.
        let kind = match name.rsplit(':').next().unwrap_or(name) {
            "packet_sent" => length().map(Event::Sent),
            "packet_received" => length().map(Event::Received),
            "packet_lost" => Some(Event::Lost),
            // At an end: a packet that could not be read.
            "packet_dropped" if of_queue => Some(Event::Lost),
            "recovery_metrics_updated" | "metrics_updated" => {
                let number = |key: &str| data[key].as_f64().filter(|value| value.is_finite() && *value >= 0.0);
                let (rtt_s, window) = (number("smoothed_rtt").map(|millis| millis * 1e-3), number("congestion_window"));
                Some(Event::Metrics { rtt_s, window, in_flight: number("bytes_in_flight") })
            }
            _ => None,
        };
        let Some(kind) = kind else { return Ok(()) };
        if self.recorded.events.len() >= MAX_EVENTS {
            return Err(self.input.fault(format!("has too many events: allowed {MAX_EVENTS}")));
        }
        self.recorded.events.push((self.times.last * 1e-3, kind));
        self.links.push(data["link"].as_str().filter(|_| of_queue).map(str::to_owned));
        Ok(())
    }
}

/// A network's file has the packets of both directions and of every link on the way: those of the
/// link with most bytes stay.
fn keep_busiest_link(events: &mut Vec<(f64, Event)>, links: &[Option<String>]) {
    let mut totals: Vec<(&str, u64)> = Vec::new();
    for ((_, event), link) in events.iter().zip(links) {
        if let (Event::Received(bytes), Some(link)) = (event, link) {
            match totals.iter_mut().find(|(known, _)| known == link) {
                Some((_, total)) => *total += bytes,
                None => totals.push((link, *bytes)),
            }
        }
    }
    let Some((busiest, _)) = totals.iter().max_by_key(|(_, total)| *total) else { return };
    let mut link = links.iter();
    events.retain(|_| link.next().is_none_or(|link| link.as_deref().is_none_or(|link| link == *busiest)));
}
