//! Parquet files of a result, column by column and a batch of rows at a time, so that a wrong count
//! in a file cannot ask for memory.

use crate::results::error::StoredError;
use crate::results::record::DISTRIBUTIONS_FILE;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

/// Rows that are read at a time.
const BATCH: usize = 1 << 14;

/// A distribution of times.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDistribution {
    /// Name of the point.
    pub label: String,
    /// `link:NAME` or `group:NAME`.
    pub subject: String,
    /// (time in seconds, share of the packets in [0, 1] that took at most this long).
    pub points: Vec<(f64, f64)>,
}

/// A value sampled over time, in the first replication of its point that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredLine {
    /// Number of the point in the order of the sweep, from zero.
    pub point: usize,
    /// `link:NAME`, `flow:GROUP:NUMBER` or `probe:GROUP:NUMBER`.
    pub subject: String,
    /// (time in seconds, value); NaN where there was nothing to measure.
    pub points: Vec<(f64, f64)>,
}

/// Distributions in the order of the file.
pub(super) fn distributions(folder: &Path) -> Result<Vec<StoredDistribution>, StoredError> {
    let mut found: Vec<StoredDistribution> = Vec::new();
    let columns = ["label", "subject", "value", "share"];
    each_row(folder, DISTRIBUTIONS_FILE, &columns, |row| {
        let (label, subject) = (row[0].text()?, row[1].text()?);
        let point = (row[2].number()?, row[3].number()?);
        match found.last_mut().filter(|last| last.label == label && last.subject == subject) {
            Some(last) => last.points.push(point),
            None => found.push(StoredDistribution { label: label.to_owned(), subject: subject.to_owned(), points: vec![point] }),
        }
        Some(())
    })?;
    Ok(found)
}

/// Lines in the order of points and subjects.
pub(super) fn lines(folder: &Path, name: &str, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<StoredLine>, StoredError> {
    // The first replication of each point.
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    let mut found: Vec<StoredLine> = Vec::new();
    let columns = ["point", "replication", "subject", "name", "time_s", "value"];
    each_row(folder, "series.parquet", &columns, |row| {
        let (point, replication, subject) = (row[0].integer()?, row[1].integer()?, row[2].text()?);
        if row[3].text()? != name || !is_wanted(subject) || *first.entry(point).or_insert(replication) != replication {
            return Some(());
        }
        let sample = (row[4].number()?, row[5].number().unwrap_or(f64::NAN));
        match found.last_mut().filter(|last| last.point == point as usize && last.subject == subject) {
            Some(last) => last.points.push(sample),
            None => found.push(StoredLine { point: point as usize, subject: subject.to_owned(), points: vec![sample] }),
        }
        Some(())
    })?;
    Ok(found)
}

/// Subjects and names, each pair once, in the order of the file.
pub(super) fn sampled(folder: &Path) -> Result<Vec<(String, String)>, StoredError> {
    let mut found: Vec<(String, String)> = Vec::new();
    each_row(folder, "series.parquet", &["subject", "name"], |row| {
        let (subject, name) = (row[0].text()?, row[1].text()?);
        let is_last = found.last().is_some_and(|(last, of)| (last.as_str(), of.as_str()) == (subject, name));
        if !is_last && !found.iter().any(|(known, of)| (known.as_str(), of.as_str()) == (subject, name)) {
            found.push((subject.to_owned(), name.to_owned()));
        }
        Some(())
    })?;
    Ok(found)
}

/// A value of one row.
enum Cell<'a> {
    Integer(i32),
    Number(Option<f64>),
    Text(&'a ByteArray),
}

impl<'a> Cell<'a> {
    const fn integer(&self) -> Option<u32> {
        match self {
            // Declared unsigned: the bits are what counts.
            Self::Integer(value) => Some(*value as u32),
            Self::Number(_) | Self::Text(_) => None,
        }
    }

    const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => *value,
            Self::Integer(_) | Self::Text(_) => None,
        }
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Self::Text(text) => text.as_utf8().ok(),
            Self::Integer(_) | Self::Number(_) => None,
        }
    }
}

/// Values of one column of a batch.
enum Values {
    Integer(Vec<i32>),
    /// With a level per row, 1 where there is a value, unless all rows have one.
    Number(Vec<f64>, Option<Vec<i16>>),
    Text(Vec<ByteArray>),
}

impl Values {
    /// The next rows of a column, at most [`BATCH`] of them.
    fn read(reader: &mut ColumnReader, is_optional: bool) -> ParquetResult<Self> {
        Ok(match reader {
            ColumnReader::Int32ColumnReader(reader) => {
                let mut values = Vec::new();
                reader.read_records(BATCH, None, None, &mut values)?;
                Self::Integer(values)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                let (mut values, mut levels) = (Vec::new(), Vec::new());
                reader.read_records(BATCH, is_optional.then_some(&mut levels), None, &mut values)?;
                Self::Number(values, is_optional.then_some(levels))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let mut values = Vec::new();
                reader.read_records(BATCH, None, None, &mut values)?;
                Self::Text(values)
            }
            _ => return Err(ParquetError::General("a column has another type".to_owned())),
        })
    }

    fn rows(&self) -> usize {
        match self {
            Self::Integer(values) => values.len(),
            Self::Number(values, None) => values.len(),
            Self::Number(_, Some(levels)) => levels.len(),
            Self::Text(values) => values.len(),
        }
    }
}

/// Calls `take` for each row with the values of these columns. A file that is not there has no
/// rows; `take` gives `None` for a value of another type.
fn each_row(folder: &Path, name: &str, columns: &[&str], take: impl FnMut(&[Cell<'_>]) -> Option<()>) -> Result<(), StoredError> {
    let path = folder.join(name);
    let fault = |message: String| StoredError { path: path.clone(), message: format!("cannot be read: {message}") };
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|error| fault(error.to_string()))?,
    };
    each_row_of(file, columns, take).map_err(|error| fault(error.to_string()))
}

fn each_row_of(file: File, columns: &[&str], mut take: impl FnMut(&[Cell<'_>]) -> Option<()>) -> ParquetResult<()> {
    let wrong = |message: &str| ParquetError::General(message.to_owned());
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let place = |name: &&str| (0..schema.num_columns()).find(|at| schema.column(*at).name() == *name);
    let places: Vec<usize> = columns.iter().map(place).collect::<Option<_>>().ok_or_else(|| wrong("it lacks a column"))?;
    let is_optional: Vec<bool> = places.iter().map(|at| schema.column(*at).max_def_level() > 0).collect();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let mut readers: Vec<ColumnReader> =
            places.iter().map(|at| group.get_column_reader(*at)).collect::<ParquetResult<_>>()?;
        loop {
            let all = readers.iter_mut().zip(&is_optional).map(|(reader, optional)| Values::read(reader, *optional));
            let all: Vec<Values> = all.collect::<ParquetResult<_>>()?;
            let rows = all.first().map_or(0, Values::rows);
            if all.iter().any(|values| values.rows() != rows) {
                return Err(wrong("its columns differ in length"));
            }
            if rows == 0 {
                break;
            }
            // Values of optional columns stand without gaps.
            let mut next = vec![0; all.len()];
            for row in 0..rows {
                let mut cells = Vec::with_capacity(all.len());
                for (values, next) in all.iter().zip(&mut next) {
                    let cell = match values {
                        Values::Integer(values) => Some(Cell::Integer(values[row])),
                        Values::Text(texts) => Some(Cell::Text(&texts[row])),
                        Values::Number(_, Some(levels)) if levels[row] == 0 => Some(Cell::Number(None)),
                        Values::Number(values, _) => {
                            *next += 1;
                            values.get(*next - 1).map(|value| Cell::Number(Some(*value)))
                        }
                    };
                    cells.push(cell.ok_or_else(|| wrong("a column is too short"))?);
                }
                take(&cells).ok_or_else(|| wrong("a value has another type"))?;
            }
        }
    }
    Ok(())
}
