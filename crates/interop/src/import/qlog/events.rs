//! Events of a qlog file in the order of time.

use super::acked::Waiting;
use crate::import::clock::Clock;
use crate::import::draft::one_line;
use crate::import::{ImportError, Input, json};
use serde_json::Value;

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A packet of this length left.
    Sent(u64),
    /// A packet of this length arrived.
    Received(u64),
    /// So many bytes were acknowledged for the first time.
    Acked(u64),
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
    /// With the seconds that had passed: a step of the clock is no time.
    pub events: Vec<(f64, Event)>,
    /// The number of traces in the file, of which one is read.
    pub traces: usize,
    /// Packets of which no length is known, which are not among the events.
    pub without_length: usize,
    /// Events whose time is none, which are not among the events.
    pub without_time: usize,
    /// Remarks on steps of the clock.
    pub steps: Vec<String>,
}

/// More events than this are read in no file; the bound on its bytes is met before.
const MAX_EVENTS: usize = 20_000_000;

/// No connection lasts longer: a month.
const MAX_MS: f64 = 31.0 * 86_400e3;

/// Seconds by which others may be before the first event: more is a clock that was set.
const MAX_EARLY: f64 = 0.1;

/// No packet is longer, segmentation offload included.
const MAX_LENGTH: f64 = 4.0 * 65_535.0;

const NO_QLOG: &str = "is no qlog: expected `traces` with `events`, or a first record with `trace`";

/// Versions that were in use, by how they begin. Later files have `file_schema` in place of one.
const VERSIONS: [&str; 6] = ["draft-00", "draft-01", "draft-02", "draft-03", "0.3", "0.4"];

/// Those in which times are in the unit that the file says. Later all are in milliseconds.
const WITH_UNITS: [&str; 2] = ["draft-00", "draft-01"];

/// Reads a file in either form.
pub fn read(input: &Input) -> Result<Recorded, ImportError> {
    let recorded = Recorded {
        title: String::new(),
        vantage: Vantage::End,
        events: Vec::new(),
        traces: 1,
        without_length: 0,
        without_time: 0,
        steps: Vec::new(),
    };
    let (waiting, clock) = (Waiting::default(), Clock::default());
    let mut reading = Reading { input, recorded, links: Vec::new(), head: Head::default(), waiting, clock, passed: Vec::new() };
    // Only a document has `traces`, which may be empty; a sequence begins with another object.
    if json::names(&input.bytes).iter().any(|name| name == "traces") {
        reading.document()?;
    } else {
        reading.sequence()?;
    }
    let Reading { mut recorded, links, clock, passed, .. } = reading;
    // Events may be written in another order than they happened in, but the first with the first.
    let is_before_first = recorded.events.iter().any(|(at, _)| *at < -MAX_EARLY);
    if (is_before_first && clock.earlier() < clock.entries() / 2) || clock.leaps() > 0 {
        recorded.events.iter_mut().zip(passed).for_each(|((at, _), passed)| *at = passed);
        recorded.steps = clock.notes("events");
    }
    if recorded.vantage == Vantage::Network {
        keep_busiest_link(&mut recorded.events, &links);
    }
    recorded.events.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(recorded)
}

struct Reading<'a> {
    input: &'a Input,
    recorded: Recorded,
    head: Head,
    /// The link that each event belongs to.
    links: Vec<Option<String>>,
    waiting: Waiting,
    clock: Clock,
    /// Seconds that had passed at each event, without steps of the clock.
    passed: Vec<f64>,
}

/// The form of events.
#[derive(Debug)]
struct Head {
    /// Names of the places of an event that is a list, in small letters.
    fields: Vec<String>,
    /// Milliseconds in a unit of time.
    unit: f64,
    /// Each time counts from the one before.
    is_relative: bool,
    last: f64,
    /// The first one: times since 1970 have no digits for less than a microsecond.
    first: Option<f64>,
}

impl Default for Head {
    fn default() -> Self {
        Self { fields: Vec::new(), unit: 1.0, is_relative: false, last: 0.0, first: None }
    }
}

impl Head {
    /// The value in the place of an event that has one of these names.
    fn place<'e>(&self, event: &'e [Value], names: &[&str]) -> &'e Value {
        let place = self.fields.iter().position(|field| names.contains(&field.as_str()));
        place.and_then(|place| event.get(place)).unwrap_or(&Value::Null)
    }
}

impl Reading<'_> {
    /// One JSON document with traces, of which the first with events counts.
    fn document(&mut self) -> Result<(), ImportError> {
        let outline = json::read(self.input, &["events"])?;
        let Some(traces) = outline["traces"].as_array().filter(|traces| !traces.is_empty()) else {
            return Err(self.input.fault(NO_QLOG));
        };
        self.recorded.traces = traces.len();
        let mut chosen = None;
        json::each(self.input, ["traces", "events"], |number, event| {
            if chosen.is_none() {
                self.version(&outline)?;
                self.head(traces.get(number).unwrap_or(&Value::Null), &outline)?;
            }
            if *chosen.get_or_insert(number) == number { self.event(&event) } else { Ok(()) }
        })?;
        chosen.map(|_| ()).ok_or_else(|| self.input.fault(NO_QLOG))
    }

    /// A sequence of JSON texts: a header in one record or two, then events.
    fn sequence(&mut self) -> Result<(), ImportError> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | 0x1E);
        let mut records = self.input.bytes.split(is_end).filter(|record| !record.trim_ascii().is_empty()).peekable();
        let mut number = 0;
        let mut is_known = false;
        while let Some(record) = records.next() {
            number += 1;
            let value = match json::record(record) {
                Ok(value) => value,
                // One that was being written when the program ended (RFC 7464 §2.3).
                Err(_) if number > 1 && records.peek().is_none() => break,
                Err(error) => return Err(self.input.fault(format!("record {number}: is not JSON: {error}"))),
            };
            if number == 1 {
                is_known = ["qlog_version", "qlog_format", "file_schema"].iter().any(|key| value[key].is_string());
                self.version(&value)?;
            }
            match &value["trace"] {
                trace @ Value::Object(_) => {
                    is_known = true;
                    self.head(trace, &value)?;
                }
                _ if !is_known => {
                    return Err(self.input.fault(NO_QLOG));
                }
                _ if value["name"].is_null() && value.is_object() => self.head(&value, &value)?,
                _ => self.event(&value)?,
            }
        }
        Ok(())
    }

    /// Refuses what no version that was published says.
    fn version(&self, file: &Value) -> Result<(), ImportError> {
        let version = file["qlog_version"].as_str().unwrap_or_default();
        let is_known = VERSIONS.iter().any(|known| version.starts_with(known));
        if !version.is_empty() && !is_known {
            let allowed = "draft-00 to draft-03, 0.3, 0.4, or file_schema without it";
            return Err(self.input.fault(format!("qlog_version: `{}` is not read: allowed {allowed}", one_line(version))));
        }
        match file["qlog_format"].as_str().filter(|format| format.contains("dictionary")) {
            Some(format) => {
                Err(self.input.fault(format!("qlog_format: `{}` is not read: expected JSON or JSON-SEQ", one_line(format))))
            }
            None => Ok(()),
        }
    }

    fn head(&mut self, trace: &Value, file: &Value) -> Result<(), ImportError> {
        let title = trace["title"].as_str().or(file["title"].as_str()).unwrap_or_default();
        if !title.is_empty() {
            self.recorded.title = one_line(title);
        }
        if trace["vantage_point"]["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("network")) {
            self.recorded.vantage = Vantage::Network;
        }
        self.time_format(&trace["common_fields"]["time_format"])?;
        let fields = trace["event_fields"].as_array().into_iter().flatten();
        self.head.fields = fields.map(|name| name.as_str().unwrap_or_default().to_ascii_lowercase()).collect();
        self.head.is_relative |= self.head.fields.iter().any(|name| name == "delta_time");
        let version = file["qlog_version"].as_str().unwrap_or_default();
        let has_units = WITH_UNITS.iter().any(|known| version.starts_with(known)) || !self.head.fields.is_empty();
        self.head.unit = match trace["configuration"]["time_units"].as_str() {
            None | Some("ms") => 1.0,
            Some("us") if has_units => 1e-3,
            Some(unit) => {
                let fault = format!("time_units: `{}` is not read: times of this version are in ms", one_line(unit));
                return Err(self.input.fault(fault));
            }
        };
        Ok(())
    }

    fn time_format(&mut self, format: &Value) -> Result<(), ImportError> {
        match format.as_str() {
            None => Ok(()),
            Some(format) => {
                self.head.is_relative = match format {
                    "delta" | "relative_to_previous_event" => true,
                    "absolute" | "relative" | "relative_to_epoch" => false,
                    other => return Err(self.input.fault(format!("time_format: `{}` is not known", one_line(other)))),
                };
                Ok(())
            }
        }
    }

    /// An event as an object, or as a list whose places the trace names.
    fn event(&mut self, event: &Value) -> Result<(), ImportError> {
        let (time, name, data) = match event {
            Value::Array(_) if self.head.fields.is_empty() => {
                return Err(self.input.fault("has events that are lists, and no event_fields that names their places"));
            }
            Value::Array(all) => (
                self.head.place(all, &["relative_time", "delta_time", "time"]),
                self.head.place(all, &["event", "event_type", "name"]),
                self.head.place(all, &["data"]),
            ),
            event => {
                self.time_format(&event["time_format"])?;
                (&event["time"], &event["name"], &event["data"])
            }
        };
        // Some write numbers in quotes.
        let number = |value: &Value| {
            let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
            number.filter(|number| number.is_finite())
        };
        let unit = self.head.unit;
        let at = number(time).map(|time| if self.head.is_relative { self.head.last + time * unit } else { time * unit });
        let is_near = |at: &f64| (at - self.head.first.unwrap_or(*at)).abs() <= MAX_MS;
        let Some(at) = at.filter(is_near) else {
            self.recorded.without_time += 1;
            return Ok(());
        };
        self.head.last = at;
        let first = *self.head.first.get_or_insert(at);
        let Some(name) = name.as_str() else { return Ok(()) };
        let of_queue = self.recorded.vantage == Vantage::Network;
        let passed = self.clock.pass(((at - first) * 1e6).round() as i64).ns as f64 / 1e9;
        let kind = kind(name, data, of_queue, unit, number);
        let acked = match (&kind, name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase().as_str()) {
            (Kind::Event(Event::Sent(length)), _) => {
                self.waiting.sent(data, *length);
                0
            }
            (_, "packet_received") => self.waiting.received(data),
            (_, "packets_acked") => self.waiting.listed(data),
            _ => 0,
        };
        if acked > 0 {
            self.push(Event::Acked(acked), at - first, passed, data)?;
        }
        match kind {
            Kind::Event(event) => self.push(event, at - first, passed, data)?,
            Kind::WithoutLength => self.recorded.without_length += 1,
            Kind::Other => {}
        }
        Ok(())
    }

    /// Adds an event, `ms` after the first.
    fn push(&mut self, event: Event, ms: f64, passed: f64, data: &Value) -> Result<(), ImportError> {
        if self.recorded.events.len() >= MAX_EVENTS {
            return Err(self.input.fault(format!("has too many events: allowed {MAX_EVENTS}")));
        }
        self.recorded.events.push((ms * 1e-3, event));
        self.passed.push(passed);
        if self.recorded.vantage == Vantage::Network {
            self.links.push(data["link"].as_str().map(str::to_owned));
        }
        Ok(())
    }
}

enum Kind {
    Event(Event),
    WithoutLength,
    Other,
}

/// The event of this name, which may have a schema before a colon; schemas have had several names.
fn kind(name: &str, data: &Value, of_queue: bool, unit: f64, number: impl Fn(&Value) -> Option<f64>) -> Kind {
    let name = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
    let packet = |event: fn(u64) -> Event| {
        let lengths = [&data["raw"]["length"], &data["header"]["packet_size"], &data["packet_size"]];
        let length = lengths.into_iter().find_map(&number).filter(|length| (0.0..=MAX_LENGTH).contains(length));
        length.map_or(Kind::WithoutLength, |length| Kind::Event(event(length as u64)))
    };
    match name.as_str() {
        "packet_sent" => packet(Event::Sent),
        "packet_received" => packet(Event::Received),
        "packet_lost" => Kind::Event(Event::Lost),
        // At an end: a packet that could not be read.
        "packet_dropped" if of_queue => Kind::Event(Event::Lost),
        "recovery_metrics_updated" | "metrics_updated" | "metric_update" | "congestion_metric_update" => {
            let first = |keys: &[&str]| keys.iter().find_map(|key| number(&data[*key])).filter(|value| *value >= 0.0);
            Kind::Event(Event::Metrics {
                rtt_s: first(&["smoothed_rtt"]).map(|time| time * unit * 1e-3),
                window: first(&["congestion_window", "cwnd", "current_cwnd"]),
                in_flight: first(&["bytes_in_flight"]),
            })
        }
        _ => Kind::Other,
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
