//! qlog files of recorded runs: one for each flow, as JSON text sequences.
//!
//! A [`Form`] says which of the drafts they follow. The vantage point is the network: a packet is
//! *received* when it arrives at a queue, *sent* when its transmission begins, *dropped* by the
//! queue. Sampled values of the flow's sender are updated metrics of its recovery. Marks and times
//! in the queue are in a schema of our own, since the drafts have no words for them.

use crate::results::error::RecordError;
use crate::results::record::{RecordedRun, Recorder, write_one_of_many};
use crate::scenario::build;
use crate::scenario::plan::Point;
use goodqueue_base::units::Instant;
use goodqueue_sim::trace::{PacketEvent, PacketEventKind};
use goodqueue_sim::{Series, SeriesColumn};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The version of the drafts that files follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Sequential files of draft-ietf-quic-qlog-main-schema-14, with events of
    /// draft-ietf-quic-qlog-quic-events-13.
    #[default]
    Draft14,
    /// JSON text sequences of version 0.3 (draft-ietf-quic-qlog-main-schema-02), which the viewer
    /// qvis opens.
    Version03,
}

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Received,
    Sent,
    Dropped,
    Marked,
    Metrics,
}

impl Said {
    const fn name(self, form: Form) -> &'static str {
        match (self, form) {
            (Self::Received, Form::Draft14) => "quic:packet_received",
            (Self::Received, Form::Version03) => "transport:packet_received",
            (Self::Sent, Form::Draft14) => "quic:packet_sent",
            (Self::Sent, Form::Version03) => "transport:packet_sent",
            (Self::Dropped, Form::Draft14) => "quic:packet_dropped",
            (Self::Dropped, Form::Version03) => "transport:packet_dropped",
            (Self::Metrics, Form::Draft14) => "quic:recovery_metrics_updated",
            (Self::Metrics, Form::Version03) => "recovery:metrics_updated",
            (Self::Marked, Form::Draft14 | Form::Version03) => "goodqueue:packet_marked",
        }
    }
}

/// Flows of a run that get a file, as many as are sampled.
const MAX_FLOWS: usize = 64;

/// The schema of sequential files.
const FILE_SCHEMA: &str = "urn:ietf:params:qlog:file:sequential";
/// The schemas of the events: QUIC's of the drafts, and ours.
const EVENT_SCHEMAS: [&str; 2] = ["urn:ietf:params:qlog:events:quic-13", "urn:goodqueue:qlog:events:queue"];

/// Writes a qlog file for each flow of each recorded run, and passes the runs on to another
/// recorder.
pub struct QlogFiles<'a> {
    folder: PathBuf,
    form: Form,
    /// By point: group and number of each flow.
    flows: Vec<Vec<(String, u32)>>,
    inner: &'a mut dyn Recorder,
    written: usize,
    failure: Option<RecordError>,
}

impl<'a> QlogFiles<'a> {
    /// Files in `folder`, which is made.
    ///
    /// # Errors
    /// [`RecordError::Unusable`] when it cannot be made.
    pub fn new(folder: &Path, points: &[Point], inner: &'a mut dyn Recorder) -> Result<Self, RecordError> {
        let unusable = |source| RecordError::Unusable { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(unusable)?;
        let names = |point: &Point| {
            let world = build::world(point, 0);
            let name = |flow: &goodqueue_sim::FlowSpec| (world.groups[flow.group as usize].clone(), flow.index);
            world.flows.iter().take(MAX_FLOWS).map(name).collect()
        };
        let flows = points.iter().map(names).collect();
        Ok(Self { folder: folder.to_owned(), form: Form::default(), flows, inner, written: 0, failure: None })
    }

    /// Writes files in another form than that of the newest drafts.
    #[must_use]
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The number of files written.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(self) -> Result<usize, RecordError> {
        self.failure.map_or(Ok(self.written), Err)
    }

    fn write(&mut self, run: &RecordedRun<'_>) -> Result<(), RecordError> {
        let flows = &self.flows[run.point];
        let mut packets: Vec<Vec<&PacketEvent>> = vec![Vec::new(); flows.len()];
        for event in run.packets {
            if let Some(of_flow) = packets.get_mut(event.flow as usize) {
                of_flow.push(event);
            }
        }
        for ((group, index), packets) in flows.iter().zip(packets) {
            let subject = format!("flow:{group}:{index}");
            let series = run.series.iter().find(|series| series.subject == subject);
            let title = format!("{group}[{index}]");
            let text = file(self.form, &title, run.links, &packets, series);
            let safe: String = group.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
            let name = format!("{}-{}-{safe}-{index}.sqlog", run.point, run.replication);
            write_one_of_many(&self.folder.join(name), text.as_bytes())?;
            self.written += 1;
        }
        Ok(())
    }
}

impl Recorder for QlogFiles<'_> {
    fn record(&mut self, run: RecordedRun<'_>) {
        let is_recorded = !run.packets.is_empty() || !run.series.is_empty();
        if is_recorded && self.failure.is_none() {
            self.failure = self.write(&run).err();
        }
        self.inner.record(run);
    }
}

/// The text of a file: a header, then events in the order of time; at one instant packets come
/// first.
fn file(form: Form, title: &str, links: &[String], packets: &[&PacketEvent], series: Option<&Series>) -> String {
    let mut text = String::new();
    append(&mut text, &header(form, title));
    let mut samples = series.into_iter().flat_map(samples).peekable();
    for packet in packets {
        while let Some((at, metrics)) = samples.next_if(|(at, _)| *at < packet.at) {
            append(&mut text, &event(at, Said::Metrics.name(form), metrics));
        }
        append(&mut text, &packet_event(form, packet, links));
    }
    for (at, metrics) in samples {
        append(&mut text, &event(at, Said::Metrics.name(form), metrics));
    }
    text
}

/// One record of a JSON text sequence (RFC 7464).
fn append(text: &mut String, record: &Value) {
    text.push('\u{1e}');
    text.push_str(&record.to_string());
    text.push('\n');
}

fn header(form: Form, title: &str) -> Value {
    let vantage_point = json!({ "name": "queue", "type": "network", "flow": "server" });
    match form {
        Form::Draft14 => json!({
            "file_schema": FILE_SCHEMA,
            "serialization_format": "application/qlog+json-seq",
            "title": title,
            "trace": {
                "title": title,
                "vantage_point": vantage_point,
                "event_schemas": EVENT_SCHEMAS,
                "common_fields": {
                    "group_id": title,
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
            },
        }),
        Form::Version03 => json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": title,
            "trace": {
                "title": title,
                "vantage_point": vantage_point,
                "common_fields": { "group_id": title, "time_format": "relative", "reference_time": 0.0 },
            },
        }),
    }
}

/// Times are milliseconds since the start of the simulation.
fn event(at: Instant, name: &str, data: Value) -> Value {
    json!({ "time": at.as_nanos() as f64 * 1e-6, "name": name, "data": data })
}

fn packet_event(form: Form, packet: &PacketEvent, links: &[String]) -> Value {
    let mut data = json!({
        "header": { "packet_type": "1RTT", "packet_number": packet.number },
        "raw": { "length": packet.len },
        "link": links.get(packet.link as usize),
    });
    let mut add = |key: &str, value: Value| {
        if let Value::Object(data) = &mut data {
            data.insert(key.to_owned(), value);
        }
    };
    let said = match packet.kind {
        PacketEventKind::Enqueued => Said::Received,
        PacketEventKind::Departed { sojourn } => {
            add("sojourn_ms", json!(sojourn.as_nanos() as f64 * 1e-6));
            Said::Sent
        }
        PacketEventKind::Dropped { reason, sojourn } => {
            add("sojourn_ms", json!(sojourn.as_nanos() as f64 * 1e-6));
            add("trigger", json!("general"));
            add("details", json!({ "reason": reason.name() }));
            Said::Dropped
        }
        PacketEventKind::Marked { reason } => {
            add("reason", json!(reason.name()));
            Said::Marked
        }
    };
    event(packet.at, said.name(form), data)
}

/// The samples of a sender, those of which nothing is known left out.
fn samples(series: &Series) -> impl Iterator<Item = (Instant, Value)> + '_ {
    /// Bytes are whole numbers in qlog.
    fn bytes(value: f64) -> Value {
        json!(value as u64)
    }
    fn millis(seconds: f64) -> Value {
        json!(seconds * 1e3)
    }
    type ToQlog = fn(f64) -> Value;
    /// Columns, their names in qlog, and their values there.
    const METRICS: [(&str, &str, ToQlog); 3] = [
        ("cwnd_bytes", "congestion_window", bytes),
        ("in_flight_bytes", "bytes_in_flight", bytes),
        ("srtt_s", "smoothed_rtt", millis),
    ];
    series.times.iter().enumerate().filter_map(|(at, time)| {
        let mut data = Map::new();
        for (column, name, to_qlog) in METRICS {
            let values = series.columns.iter().find(|known: &&SeriesColumn| known.name == column);
            let value = values.and_then(|values| values.values.get(at)).filter(|value| value.is_finite());
            if let Some(value) = value {
                data.insert(name.to_owned(), to_qlog(*value));
            }
        }
        (!data.is_empty()).then_some((*time, Value::Object(data)))
    })
}

#[cfg(test)]
mod tests;
