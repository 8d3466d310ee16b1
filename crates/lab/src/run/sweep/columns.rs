//! A finished point as one Parquet file: figures as rows for queries, and in the metadata the point
//! of `summary.json`, the fingerprints of its runs and the figures of each run that decide between
//! queues. A digest of all bytes shows whether it was damaged.

use crate::results::labels::shown;
use crate::results::provenance::{COMMIT, VERSION};
use crate::results::record::{Column, ColumnRows};
use crate::results::runs::Replication;
use crate::results::statistics::Figure;
use crate::results::summary::{Figures, PointSummary};
use crate::scenario::plan::Plan;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::ByteArray;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Name and version of the format.
pub const POINT_SCHEMA: &str = "goodqueue.point/2";

/// One figure of a point.
struct Row<'a> {
    part: &'static str,
    subject: &'a str,
    index: Option<u32>,
    metric: &'a str,
    unit: &'a str,
    figure: Figure,
}

fn rows(summary: &PointSummary) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut add = |part: &'static str, subject, figures: &'_ Figures| {
        let row = |(metric, figure): (&'static crate::results::metrics::Description, Figure)| Row {
            part,
            subject,
            index: None,
            metric: metric.name,
            unit: metric.quantity.unit(),
            figure,
        };
        rows.extend(figures.iter().map(row));
    };
    summary.links.iter().for_each(|(name, figures)| add("link", name.as_str(), figures));
    summary.groups.iter().for_each(|(name, group)| add("group", name.as_str(), &group.figures));
    summary.experience.iter().for_each(|(name, group)| add("experience", name.as_str(), &group.figures));
    add("fairness", "", &summary.jain);
    rows.extend(summary.flows.iter().map(|flow| Row {
        part: "flow",
        subject: flow.group.as_str(),
        index: Some(flow.index),
        metric: "goodput_bit_s",
        unit: "bit/s",
        figure: flow.goodput_bit_s,
    }));
    rows
}

/// The type of a swept key's column in the files of all points.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Number,
    Text,
}

impl Kind {
    fn of(values: &[Value]) -> Self {
        if values.iter().all(Value::is_boolean) {
            Self::Switch
        } else if values.iter().all(Value::is_number) {
            Self::Number
        } else {
            Self::Text
        }
    }
}

/// The bytes of the file.
pub fn file(
    plan: &Plan,
    sha256: &str,
    number: usize,
    summary: &PointSummary,
    runs: &[Replication],
    fingerprints: &[u64],
) -> ParquetResult<Vec<u8>> {
    let rows = rows(summary);
    let swept: Vec<(String, Kind)> = plan.swept().map(|(key, values)| (key, Kind::of(&values))).collect();
    let text = serde_json::to_string(summary).expect("plain values with string keys always serialize");
    let runs = serde_json::to_string(runs).expect("plain values with string keys always serialize");
    let prints = fingerprints.iter().map(|print| format!("{print:016x}")).collect::<Vec<_>>().join(" ");
    let facts = [
        ("schema", POINT_SCHEMA.to_owned()),
        ("scenario_sha256", sha256.to_owned()),
        ("point", number.to_string()),
        ("seed", plan.seed().to_string()),
        ("version", VERSION.to_owned()),
        ("commit", COMMIT.to_owned()),
        ("fingerprints", prints),
        ("summary", text),
        ("runs", runs),
    ];
    let facts = facts.into_iter().map(|(key, value)| KeyValue::new(format!("goodqueue.{key}"), value)).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("goodqueue {VERSION}"))
        .set_key_value_metadata(Some(facts))
        .build();
    let message = message(&swept)?;
    let mut columns = ColumnRows::new(&message);
    columns.add(rows.len(), |columns| write(columns, number, &summary.set, &swept, &rows));
    let mut writer = SerializedFileWriter::new(Vec::new(), message, Arc::new(properties))?;
    columns.write_to(&mut writer)?;
    writer.into_inner().map(sealed)
}

/// Length of the end of a Parquet file: four bytes that count those of the footer before them, and
/// four letters.
const END: usize = 8;
/// Length of a SHA-256.
const DIGEST: usize = 32;

/// The file with the digest of all its bytes between its columns, which are found by their place
/// from the beginning, and its footer, which is found from the end. To other readers it is room
/// that nothing refers to.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Sha256::digest(&bytes);
    let footer = footer_start(&bytes).expect("a Parquet file that was just written ends with its footer");
    bytes.splice(footer..footer, digest);
    bytes
}

/// Whether these are the bytes that [`sealed`] gave.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(digest) = footer_start(bytes).and_then(|footer| Some(footer.checked_sub(DIGEST)?..footer)) else { return false };
    let hash = Sha256::new().chain_update(&bytes[..digest.start]).chain_update(&bytes[digest.end..]).finalize();
    hash[..] == bytes[digest]
}

/// The offset at which the footer of a Parquet file begins.
fn footer_start(bytes: &[u8]) -> Option<usize> {
    let end = bytes.len().checked_sub(END)?;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().ok()?);
    end.checked_sub(length as usize)
}

fn message(swept: &[(String, Kind)]) -> ParquetResult<TypePtr> {
    let field = |name: &str, physical, repetition| {
        let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        let built = Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical);
        built.build().map(Arc::new)
    };
    let mut fields = vec![field("point", Physical::INT32, Repetition::REQUIRED)?];
    for (key, kind) in swept {
        let physical = match kind {
            Kind::Switch => Physical::BOOLEAN,
            Kind::Number => Physical::DOUBLE,
            Kind::Text => Physical::BYTE_ARRAY,
        };
        fields.push(field(key, physical, Repetition::REQUIRED)?);
    }
    for name in ["part", "subject"] {
        fields.push(field(name, Physical::BYTE_ARRAY, Repetition::REQUIRED)?);
    }
    fields.push(field("index", Physical::INT32, Repetition::OPTIONAL)?);
    for name in ["metric", "unit"] {
        fields.push(field(name, Physical::BYTE_ARRAY, Repetition::REQUIRED)?);
    }
    for name in ["mean", "ci95"] {
        fields.push(field(name, Physical::DOUBLE, Repetition::OPTIONAL)?);
    }
    fields.push(field("n", Physical::INT32, Repetition::REQUIRED)?);
    Type::group_type_builder("point").with_fields(fields).build().map(Arc::new)
}

/// Columns in the order of [`message`].
fn write(columns: &mut [Column], number: usize, set: &[(String, Value)], swept: &[(String, Kind)], rows: &[Row<'_>]) {
    for row in rows {
        let mut columns = columns.iter_mut();
        let mut next = || columns.next().expect("a column for each field");
        next().int32(number as u32);
        for ((_, value), (_, kind)) in set.iter().zip(swept) {
            match kind {
                Kind::Switch => next().switch(value.as_bool().unwrap_or_default()),
                Kind::Number => next().double(value.as_f64()),
                Kind::Text => next().text(ByteArray::from(shown(value).as_str())),
            }
        }
        next().text(ByteArray::from(row.part));
        next().text(ByteArray::from(row.subject));
        next().int32(row.index);
        next().text(ByteArray::from(row.metric));
        next().text(ByteArray::from(row.unit));
        next().double(row.figure.mean);
        next().double(row.figure.ci95);
        next().int32(row.figure.n);
    }
}

/// The records of a finished point's file about itself.
pub struct PointFile {
    /// The point in the form of `summary.json`, without blanks.
    pub summary: String,
    /// Fingerprints of its runs.
    pub fingerprints: Vec<u64>,
    /// Figures of each run that decide between queues, as JSON.
    runs: String,
}

impl PointFile {
    /// The figures of each run that decide between queues.
    ///
    /// # Errors
    /// When they are no list of runs.
    pub fn runs(&self) -> serde_json::Result<Vec<Replication>> {
        serde_json::from_str(&self.runs)
    }
}

/// Reads a file back; `None` when it is not the file of this point of this sweep by this version,
/// or is broken.
pub fn read(path: &Path, sha256: &str, number: usize) -> Option<PointFile> {
    read_bytes(fs::read(path).ok()?, sha256, number)
}

/// As `read`, of a file that is in memory.
#[must_use]
pub fn read_bytes(bytes: Vec<u8>, sha256: &str, number: usize) -> Option<PointFile> {
    if !is_whole(&bytes) {
        return None;
    }
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).ok()?;
    let facts = reader.metadata().file_metadata().key_value_metadata()?;
    let fact = |name: &str| {
        let found = facts.iter().find(|fact| fact.key.strip_prefix("goodqueue.") == Some(name));
        found.and_then(|fact| fact.value.as_deref())
    };
    let expected = [
        ("schema", POINT_SCHEMA),
        ("scenario_sha256", sha256),
        ("version", VERSION),
        ("commit", COMMIT),
        ("point", &number.to_string()),
    ];
    if expected.iter().any(|(name, value)| fact(name) != Some(*value)) {
        return None;
    }
    let fingerprints = fact("fingerprints")?.split(' ').map(|print| u64::from_str_radix(print, 16)).collect::<Result<_, _>>();
    Some(PointFile { summary: fact("summary")?.to_owned(), fingerprints: fingerprints.ok()?, runs: fact("runs")?.to_owned() })
}
