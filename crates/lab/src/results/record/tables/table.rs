//! One Parquet file while it is made, under a temporary name until it is whole.

use crate::results::error::RecordError;
use crate::results::record::folder::{Folder, Settled, temporary_name};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of one row group: enough to compress well, few enough to keep in memory.
pub(super) const GROUP_ROWS: usize = 1 << 18;

/// A row group of a file.
pub(super) type RowGroup<'a> = SerializedRowGroupWriter<'a, File>;

/// Rows that wait until there are enough for a row group.
pub(crate) trait Rows {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Writes them as one row group, after which there are none.
    fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> ParquetResult<()>;
}

/// One file.
pub(crate) struct Table<R> {
    name: &'static str,
    temporary: PathBuf,
    /// `None` when it is complete, and after a failure.
    writer: Option<SerializedFileWriter<File>>,
    rows: R,
    failure: Option<io::Error>,
}

impl<R: Rows> Table<R> {
    pub(crate) fn create(
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
    pub(crate) fn rows(&mut self, add: impl FnOnce(&mut R) -> ParquetResult<()>) {
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
    pub(super) fn fail(&mut self, error: io::Error) {
        self.writer = None;
        let _ = fs::remove_file(&self.temporary);
        self.failure.get_or_insert(error);
    }

    pub(crate) fn seal(&mut self, settled: Settled) {
        self.flush();
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.into_inner().map_err(into_io).and_then(|file| settled.wait(&file))
        {
            self.fail(error);
        }
    }

    pub(crate) fn finish(mut self, folder: &Folder) -> Result<(), RecordError> {
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
