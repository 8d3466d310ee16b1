//! `series.parquet` and `packets.parquet`: long tables, one row for each sampled value or packet
//! event.

use super::folder::{Folder, temporary_name};
use super::{RecordedRun, Recorder};
use crate::error::RecordError;
use goodqueue_sim::Series;
use goodqueue_trace::{PacketEvent, PacketEventKind};
use goodqueue_units::Duration;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Name and version of the format of `series.parquet`.
pub const SERIES_SCHEMA: &str = "goodqueue.series/1";
/// Name and version of the format of `packets.parquet`.
pub const PACKETS_SCHEMA: &str = goodqueue_trace::SCHEMA;

const SERIES_COLUMNS: &str = "message series {
    required int32 point (INTEGER(32,false));
    required int32 replication (INTEGER(32,false));
    required binary subject (STRING);
    required binary name (STRING);
    required double time_s;
    optional double value;
}";

const PACKETS_COLUMNS: &str = "message packets {
    required int32 point (INTEGER(32,false));
    required int32 replication (INTEGER(32,false));
    required int64 time_ns (INTEGER(64,false));
    required binary link (STRING);
    required int32 flow (INTEGER(32,false));
    required int64 number (INTEGER(64,false));
    required int32 len_bytes (INTEGER(32,false));
    required binary event (STRING);
    optional binary reason (STRING);
    optional double sojourn_s;
}";

/// Rows of one row group: enough to compress well, few enough to keep in memory.
const GROUP_ROWS: usize = 1 << 18;

/// Which tables are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKinds {
    /// `series.parquet`.
    #[default]
    Series,
    /// `packets.parquet` too.
    SeriesAndPackets,
}

/// Both tables of a result while it is made.
pub struct Tables {
    series: Table,
    packets: Option<Table>,
}

impl Tables {
    /// Begins the tables in `folder`. `facts` become key-value metadata of the files.
    ///
    /// # Errors
    /// When a file cannot be begun.
    pub fn create(folder: &Folder, kinds: TableKinds, facts: &[(&str, String)]) -> Result<Self, RecordError> {
        let series = Table::create(folder, "series.parquet", SERIES_SCHEMA, SERIES_COLUMNS, facts)?;
        let packets = match kinds {
            TableKinds::Series => None,
            TableKinds::SeriesAndPackets => {
                Some(Table::create(folder, "packets.parquet", PACKETS_SCHEMA, PACKETS_COLUMNS, facts)?)
            }
        };
        Ok(Self { series, packets })
    }

    /// Completes the files under their temporary names, so that it is known how much room they
    /// take. A table that fails is removed, and [`finish`](Self::finish) says why.
    pub fn seal(&mut self) {
        self.series.seal();
        self.packets.iter_mut().for_each(Table::seal);
    }

    /// Gives the room that the tables take on the disk to other files. [`finish`](Self::finish)
    /// gives `why` as their failure.
    pub fn give_up(&mut self, why: io::ErrorKind) {
        for table in std::iter::once(&mut self.series).chain(&mut self.packets) {
            table.fail(why.into());
        }
    }

    /// Completes the files and gives them their names in `folder`, which is the one they were begun
    /// in or one within.
    ///
    /// # Errors
    /// The first failure since the beginning; a table that failed is removed.
    pub fn finish(self, folder: &Folder) -> Result<(), RecordError> {
        let series = self.series.finish(folder);
        let packets = self.packets.map_or(Ok(()), |table| table.finish(folder));
        series.and(packets)
    }
}

impl Recorder for Tables {
    fn record(&mut self, run: RecordedRun<'_>) {
        for series in run.series {
            self.series.rows(series.columns.len() * series.times.len(), |columns| add_series(columns, &run, series));
        }
        if let Some(packets) = &mut self.packets {
            for chunk in run.packets.chunks(GROUP_ROWS) {
                packets.rows(chunk.len(), |columns| add_packets(columns, &run, chunk));
            }
        }
    }
}

fn add_series(columns: &mut [Column], run: &RecordedRun<'_>, series: &Series) {
    let subject = ByteArray::from(series.subject.as_str());
    for column in &series.columns {
        let name = ByteArray::from(column.name.as_str());
        for (time, &value) in series.times.iter().zip(&column.values) {
            columns[0].int32(run.point as u32);
            columns[1].int32(run.replication);
            columns[2].text(&subject);
            columns[3].text(&name);
            columns[4].double(Some(time.as_secs_f64()));
            columns[5].double(Some(value));
        }
    }
}

fn add_packets(columns: &mut [Column], run: &RecordedRun<'_>, packets: &[PacketEvent]) {
    let links: Vec<ByteArray> = run.links.iter().map(|name| ByteArray::from(name.as_str())).collect();
    for packet in packets {
        let seconds = |span: Duration| Some(span.as_secs_f64());
        let (event, reason, sojourn) = match packet.kind {
            PacketEventKind::Enqueued => ("enqueued", None, None),
            PacketEventKind::Departed { sojourn } => ("departed", None, seconds(sojourn)),
            PacketEventKind::Dropped { reason, sojourn } => ("dropped", Some(reason), seconds(sojourn)),
            PacketEventKind::Marked { reason } => ("marked", Some(reason), None),
        };
        columns[0].int32(run.point as u32);
        columns[1].int32(run.replication);
        columns[2].int64(packet.at.as_nanos());
        columns[3].text(&links[packet.link as usize]);
        columns[4].int32(packet.flow);
        columns[5].int64(packet.number);
        columns[6].int32(packet.len);
        columns[7].text(&ByteArray::from(event));
        columns[8].optional_text(reason.map(|reason| ByteArray::from(reason.name())));
        columns[9].double(sojourn);
    }
}

/// Values of one column of the row group being collected. Optional columns have one level for each
/// row: 1 where there is a value.
enum Column {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Text(Vec<ByteArray>, Option<Vec<i16>>),
    Double(Vec<f64>, Option<Vec<i16>>),
}

impl Column {
    // The file's integers are declared unsigned: the bits are what counts, not the sign.
    fn int32(&mut self, value: u32) {
        let Self::Int32(values) = self else { unreachable!("the message of the table declares an int32") };
        values.push(value as i32);
    }

    fn int64(&mut self, value: u64) {
        let Self::Int64(values) = self else { unreachable!("the message of the table declares an int64") };
        values.push(value as i64);
    }

    fn text(&mut self, value: &ByteArray) {
        let Self::Text(values, None) = self else { unreachable!("the message of the table declares a required text") };
        values.push(value.clone());
    }

    fn optional_text(&mut self, value: Option<ByteArray>) {
        let Self::Text(values, Some(levels)) = self else { unreachable!("the message of the table declares an optional text") };
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }

    /// A value that is not finite is not there.
    fn double(&mut self, value: Option<f64>) {
        let Self::Double(values, levels) = self else { unreachable!("the message of the table declares a double") };
        let value = value.filter(|value| value.is_finite());
        match levels {
            Some(levels) => {
                levels.push(i16::from(value.is_some()));
                values.extend(value);
            }
            None => values.push(value.unwrap_or_default()),
        }
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> ParquetResult<()> {
        match self {
            Self::Int32(values) => writer.typed::<Int32Type>().write_batch(values, None, None).map(|_| values.clear())?,
            Self::Int64(values) => writer.typed::<Int64Type>().write_batch(values, None, None).map(|_| values.clear())?,
            Self::Text(values, levels) => {
                writer.typed::<ByteArrayType>().write_batch(values, levels.as_deref(), None)?;
                values.clear();
                levels.iter_mut().for_each(Vec::clear);
            }
            Self::Double(values, levels) => {
                writer.typed::<DoubleType>().write_batch(values, levels.as_deref(), None)?;
                values.clear();
                levels.iter_mut().for_each(Vec::clear);
            }
        }
        Ok(())
    }
}

/// One file.
struct Table {
    name: &'static str,
    temporary: PathBuf,
    /// `None` when it is complete, and after a failure.
    writer: Option<SerializedFileWriter<File>>,
    columns: Vec<Column>,
    rows: usize,
    failure: Option<io::Error>,
}

impl Table {
    fn create(
        folder: &Folder,
        name: &'static str,
        schema: &str,
        message: &str,
        facts: &[(&str, String)],
    ) -> Result<Self, RecordError> {
        let path = folder.path().join(name);
        let temporary = temporary_name(&path);
        let message = parse_message_type(message).expect("a test writes every table");
        let columns = message.get_fields().iter().map(|field| new_column(field)).collect();
        let mut metadata = vec![KeyValue::new("goodqueue.schema".to_owned(), schema.to_owned())];
        metadata.extend(facts.iter().map(|(key, value)| KeyValue::new(format!("goodqueue.{key}"), value.clone())));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("goodqueue {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = File::create_new(&temporary)
            .and_then(|file| SerializedFileWriter::new(file, message.into(), Arc::new(properties)).map_err(into_io));
        match writer {
            Ok(writer) => Ok(Self { name, temporary, writer: Some(writer), columns, rows: 0, failure: None }),
            Err(source) => Err(RecordError::Write { path, source }),
        }
    }

    /// Adds `count` rows by `add`, which pushes as many values to every column.
    fn rows(&mut self, count: usize, add: impl FnOnce(&mut [Column])) {
        if self.writer.is_none() {
            return;
        }
        add(&mut self.columns);
        self.rows += count;
        if self.rows >= GROUP_ROWS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        if self.rows == 0 {
            return;
        }
        self.rows = 0;
        if let Err(error) = write_group(writer, &mut self.columns) {
            self.fail(into_io(error));
        }
    }

    /// Keeps the first failure, and leaves the disk to others.
    fn fail(&mut self, error: io::Error) {
        self.writer = None;
        self.columns.clear();
        let _ = fs::remove_file(&self.temporary);
        self.failure.get_or_insert(error);
    }

    fn seal(&mut self) {
        self.flush();
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.into_inner().map_err(into_io).and_then(|file| file.sync_all())
        {
            self.fail(error);
        }
    }

    fn finish(mut self, folder: &Folder) -> Result<(), RecordError> {
        self.seal();
        let path = folder.path().join(self.name);
        let renamed = self.failure.take().map_or_else(|| fs::rename(&self.temporary, &path), Err);
        renamed.map_err(|source| RecordError::Write { path, source })
    }
}

impl Drop for Table {
    /// A table that was not finished leaves nothing behind.
    fn drop(&mut self) {
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
    }
}

fn new_column(field: &parquet::schema::types::Type) -> Column {
    use parquet::basic::Type as Physical;
    let levels = || field.is_optional().then(Vec::new);
    match field.get_physical_type() {
        Physical::INT32 => Column::Int32(Vec::new()),
        Physical::INT64 => Column::Int64(Vec::new()),
        Physical::DOUBLE => Column::Double(Vec::new(), levels()),
        _ => Column::Text(Vec::new(), levels()),
    }
}

fn write_group(writer: &mut SerializedFileWriter<File>, columns: &mut [Column]) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    let mut columns = columns.iter_mut();
    while let Some(mut place) = group.next_column()? {
        let column = columns.next().expect("one column for each field of the message");
        column.write(&mut place)?;
        place.close()?;
    }
    group.close()?;
    Ok(())
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
