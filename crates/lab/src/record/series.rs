//! Sampled values of one run, read back from `series.parquet`.

use super::SERIES_SCHEMA;
use goodqueue_sim::{Series, SeriesColumn};
use goodqueue_units::{Duration, Instant};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use std::fs::File;
use std::path::Path;

const NAME: &str = "series.parquet";

/// More values than this are not of one run that a person looks at.
const MOST_VALUES: usize = 50_000_000;

/// The series of one replication of one point of the result in `folder`, in the file's order;
/// values that are not there are NaN.
///
/// # Errors
/// When there is no such file, or it is not what a run writes; the message names it.
pub fn read_series(folder: &Path, point: usize, replication: u32) -> Result<Vec<Series>, String> {
    let path = folder.join(NAME);
    let fault = |message: String| format!("{}: {message}", path.display());
    let file = File::open(&path).map_err(|error| fault(crate::input::why(&error)))?;
    let unreadable = |error: ParquetError| fault(format!("is not a table of a run: {error}"));
    let reader = SerializedFileReader::new(file).map_err(unreadable)?;
    let facts = reader.metadata().file_metadata().key_value_metadata();
    let is_ours = facts.into_iter().flatten().any(|fact| fact.value.as_deref() == Some(SERIES_SCHEMA));
    if !is_ours {
        return Err(fault(format!("is not a table of a run: expected {SERIES_SCHEMA}")));
    }
    let mut all = Lines { series: Vec::new(), values: 0 };
    for row in reader.get_row_iter(None).map_err(unreadable)? {
        let row = row.map_err(unreadable)?;
        let is_wanted =
            row.get_uint(0).map_err(unreadable)? as usize == point && row.get_uint(1).map_err(unreadable)? == replication;
        if is_wanted {
            all.add(&row).map_err(unreadable)?;
        }
        if all.values > MOST_VALUES {
            return Err(fault(format!("has more values of one run than can be read: allowed up to {MOST_VALUES}")));
        }
    }
    Ok(all.series)
}

struct Lines {
    series: Vec<Series>,
    values: usize,
}

impl Lines {
    /// Rows of a subject follow each other, and so do those of a name of it.
    fn add(&mut self, row: &Row) -> Result<(), ParquetError> {
        let (subject, name, time) = (row.get_string(2)?, row.get_string(3)?, row.get_double(4)?);
        let value = row.get_double(5).unwrap_or(f64::NAN);
        if self.series.last().is_none_or(|last| last.subject != *subject) {
            self.series.push(Series { subject: subject.clone(), times: Vec::new(), columns: Vec::new() });
        }
        let Some(series) = self.series.last_mut() else { return Ok(()) };
        if series.columns.last().is_none_or(|last| last.name != *name) {
            series.columns.push(SeriesColumn { name: name.clone(), values: Vec::new() });
        }
        if series.columns.len() == 1 {
            series.times.push(Instant::ZERO + Duration::from_secs_f64(time.max(0.0)));
        }
        if let Some(column) = series.columns.last_mut() {
            column.values.push(value);
        }
        self.values += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Folder, RecordedRun, Recorder, TableKinds, Tables, sample};

    #[test]
    fn a_run_comes_back_from_its_table() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_series(dir.path(), 0, 0).unwrap_err().ends_with("series.parquet: no such file"));
        let folder = Folder::create(dir.path()).unwrap();
        let mut tables = Tables::create(&folder, TableKinds::Series, &[]).unwrap();
        let outcome = sample::outcome(1);
        for point in [0, 4] {
            tables.record(RecordedRun { point, replication: 0, links: &[], series: &outcome.series, packets: &[] });
        }
        tables.finish(&folder).unwrap();
        let read = read_series(dir.path(), 4, 0).unwrap();
        let shown = |series: &[Series]| format!("{series:?}");
        assert_eq!(shown(&read), shown(&outcome.series));
        assert!(read_series(dir.path(), 1, 0).unwrap().is_empty());
        std::fs::write(dir.path().join(NAME), "PAR1 and more").unwrap();
        assert!(read_series(dir.path(), 0, 0).unwrap_err().contains(" is not a table of a run: "));
    }
}
