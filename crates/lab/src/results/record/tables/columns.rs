//! Rows as columns of values, encoded by the library.

use super::table::Rows;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;

/// Rows that wait for their row group, column by column.
pub(crate) struct ColumnRows {
    columns: Vec<Column>,
    rows: usize,
}

impl ColumnRows {
    /// Columns for the fields of a table's message.
    pub(crate) fn new(message: &TypePtr) -> Self {
        Self { columns: message.get_fields().iter().map(|field| new_column(field)).collect(), rows: 0 }
    }

    /// Adds `count` rows by `add`, which pushes as many values to every column.
    pub(crate) fn add(&mut self, count: usize, add: impl FnOnce(&mut [Column])) {
        add(&mut self.columns);
        self.rows += count;
    }
}

impl Rows for ColumnRows {
    fn len(&self) -> usize {
        self.rows
    }

    fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> ParquetResult<()> {
        self.rows = 0;
        let mut group = writer.next_row_group()?;
        let mut columns = self.columns.iter_mut();
        while let Some(mut place) = group.next_column()? {
            let column = columns.next().expect("one column for each field of the message");
            column.write(&mut place)?;
            place.close()?;
        }
        group.close()?;
        Ok(())
    }
}

/// Values of one column of the row group being collected. Optional columns have one level for each
/// row: 1 where there is a value.
pub(crate) enum Column {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Text(Vec<ByteArray>, Option<Vec<i16>>),
    Double(Vec<f64>, Option<Vec<i16>>),
}

impl Column {
    // The file's integers are declared unsigned: the bits are what counts, not the sign.
    pub(crate) fn int32(&mut self, value: u32) {
        let Self::Int32(values) = self else { unreachable!("the message of the table declares an int32") };
        values.push(value as i32);
    }

    pub(crate) fn int64(&mut self, value: u64) {
        let Self::Int64(values) = self else { unreachable!("the message of the table declares an int64") };
        values.push(value as i64);
    }

    pub(crate) fn text(&mut self, value: &ByteArray) {
        let Self::Text(values, None) = self else { unreachable!("the message of the table declares a required text") };
        values.push(value.clone());
    }

    pub(crate) fn optional_text(&mut self, value: Option<ByteArray>) {
        let Self::Text(values, Some(levels)) = self else { unreachable!("the message of the table declares an optional text") };
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }

    /// A value that is not finite is not there.
    pub(crate) fn double(&mut self, value: Option<f64>) {
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

fn new_column(field: &Type) -> Column {
    use parquet::basic::Type as Physical;
    let levels = || field.is_optional().then(Vec::new);
    match field.get_physical_type() {
        Physical::INT32 => Column::Int32(Vec::new()),
        Physical::INT64 => Column::Int64(Vec::new()),
        Physical::DOUBLE => Column::Double(Vec::new(), levels()),
        _ => Column::Text(Vec::new(), levels()),
    }
}
