//! `series.parquet` and `packets.parquet`: long tables, one row for each sampled value or packet
//! event.

pub(super) mod columns;
mod packets;
mod series;

use super::folder::{Folder, Settled, temporary_name};
use super::{RecordedRun, Recorder};
use crate::results::error::RecordError;
use columns::ColumnRows;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;
use series::SeriesRows;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Name and version of the format of `series.parquet`.
pub const SERIES_SCHEMA: &str = "goodqueue.series/1";
/// Name and version of the format of `packets.parquet`.
pub const PACKETS_SCHEMA: &str = goodqueue_sim::trace::SCHEMA;

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

/// The tables to write.
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
    series: Table<SeriesRows>,
    packets: Option<Table<ColumnRows>>,
}

impl Tables {
    /// Begins the tables in `folder`. `facts` become key-value metadata of the files.
    ///
    /// # Errors
    /// When a file cannot be begun.
    pub fn create(folder: &Folder, kinds: TableKinds, facts: &[(&str, String)]) -> Result<Self, RecordError> {
        let series = Table::create(folder, "series.parquet", SERIES_SCHEMA, SERIES_COLUMNS, facts, SeriesRows::new)?;
        let packets = match kinds {
            TableKinds::Series => None,
            TableKinds::SeriesAndPackets => {
                Some(Table::create(folder, "packets.parquet", PACKETS_SCHEMA, PACKETS_COLUMNS, facts, ColumnRows::new)?)
            }
        };
        Ok(Self { series, packets })
    }

    /// Completes the files under their temporary names, so that it is known how much room they
    /// take. A table that fails is removed, and [`finish`](Self::finish) says why.
    pub fn seal(&mut self, settled: Settled) {
        self.series.seal(settled);
        self.packets.iter_mut().for_each(|table| table.seal(settled));
    }

    /// Gives the room that the tables take on the disk to other files. [`finish`](Self::finish)
    /// gives `why` as their failure.
    pub fn give_up(&mut self, why: io::ErrorKind) {
        self.series.fail(why.into());
        self.packets.iter_mut().for_each(|table| table.fail(why.into()));
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
            self.series.rows(|rows| rows.add(&run, series));
        }
        if let Some(table) = &mut self.packets {
            for chunk in run.packets.chunks(GROUP_ROWS) {
                table.rows(|rows| {
                    packets::add(rows, &run, chunk);
                    Ok(())
                });
            }
        }
    }
}

/// A row group of a file.
type RowGroup<'a> = SerializedRowGroupWriter<'a, File>;

/// Rows that wait until there are enough for a row group.
pub(super) trait Rows {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Writes them as one row group, after which there are none.
    fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> ParquetResult<()>;
}

/// One file.
pub(super) struct Table<R> {
    name: &'static str,
    temporary: PathBuf,
    /// `None` when it is complete, and after a failure.
    writer: Option<SerializedFileWriter<File>>,
    rows: R,
    failure: Option<io::Error>,
}

impl<R: Rows> Table<R> {
    pub(super) fn create(
        folder: &Folder,
        name: &'static str,
        schema: &str,
        message: &str,
        facts: &[(&str, String)],
        rows: impl FnOnce(&TypePtr) -> R,
    ) -> Result<Self, RecordError> {
        let path = folder.path().join(name);
        let temporary = temporary_name(&path);
        let message = TypePtr::new(parse_message_type(message).expect("a test writes every table"));
        let rows = rows(&message);
        let mut metadata = vec![KeyValue::new("goodqueue.schema".to_owned(), schema.to_owned())];
        metadata.extend(facts.iter().map(|(key, value)| KeyValue::new(format!("goodqueue.{key}"), value.clone())));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("goodqueue {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = File::create_new(&temporary)
            .and_then(|file| SerializedFileWriter::new(file, message, Arc::new(properties)).map_err(into_io));
        match writer {
            Ok(writer) => Ok(Self { name, temporary, writer: Some(writer), rows, failure: None }),
            Err(source) => Err(RecordError::Write { path, source }),
        }
    }

    /// Adds rows.
    pub(super) fn rows(&mut self, add: impl FnOnce(&mut R) -> ParquetResult<()>) {
        if self.writer.is_none() {
            return;
        }
        if let Err(error) = add(&mut self.rows) {
            self.fail(into_io(error));
        } else if self.rows.len() >= GROUP_ROWS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        if self.rows.len() == 0 {
            return;
        }
        if let Err(error) = self.rows.write(writer) {
            self.fail(into_io(error));
        }
    }

    /// Keeps the first failure, and leaves the disk to others.
    fn fail(&mut self, error: io::Error) {
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
        self.failure.get_or_insert(error);
    }

    pub(super) fn seal(&mut self, settled: Settled) {
        self.flush();
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.into_inner().map_err(into_io).and_then(|file| settled.wait(&file))
        {
            self.fail(error);
        }
    }

    pub(super) fn finish(mut self, folder: &Folder) -> Result<(), RecordError> {
        self.seal(Settled::OnDisk);
        let path = folder.path().join(self.name);
        let renamed = self.failure.take().map_or_else(|| fs::rename(&self.temporary, &path), Err);
        renamed.map_err(|source| RecordError::Write { path, source })
    }
}

impl<R> Drop for Table<R> {
    /// A table that was not finished leaves nothing behind.
    fn drop(&mut self) {
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
    }
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
