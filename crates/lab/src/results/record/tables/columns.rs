//! Rows as columns of values, encoded by the library.

use super::table::Rows;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::fs::File;
use std::io::Write;

/// Rows that wait for their row group, column by column.
pub(crate) struct ColumnRows {
    columns: Vec<Column>,
    rows: usize,
}

impl ColumnRows {
    /// Columns for the fields of a table's message.
    pub(crate) fn new(message: &TypePtr) -> Self {
        Self { columns: message.get_fields().iter().map(|field| Column::of(field)).collect(), rows: 0 }
    }

    /// Adds `count` rows by `add`, which pushes as many values to every column.
    pub(crate) fn add(&mut self, count: usize, add: impl FnOnce(&mut [Column])) {
        add(&mut self.columns);
        self.rows += count;
    }

    /// Writes them as one row group, after which there are none.
    pub(crate) fn write_to<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> ParquetResult<()> {
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

impl Rows for ColumnRows {
    fn len(&self) -> usize {
        self.rows
    }

    fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> ParquetResult<()> {
        self.write_to(writer)
    }
}

/// Values of one column of the row group being collected.
pub(crate) enum Column {
    Switch(Values<bool>),
    Int32(Values<i32>),
    Int64(Values<i64>),
    Text(Values<ByteArray>),
    Double(Values<f64>),
}

/// Values, and for optional columns one level for each row: 1 where there is a value.
pub(crate) struct Values<T> {
    values: Vec<T>,
    levels: Option<Vec<i16>>,
}

impl<T: Default> Values<T> {
    fn push(&mut self, value: Option<T>) {
        match &mut self.levels {
            Some(levels) => {
                levels.push(i16::from(value.is_some()));
                self.values.extend(value);
            }
            None => self.values.push(value.unwrap_or_default()),
        }
    }

    fn write<D: DataType<T = T>>(&mut self, writer: &mut SerializedColumnWriter<'_>) -> ParquetResult<()> {
        writer.typed::<D>().write_batch(&self.values, self.levels.as_deref(), None)?;
        self.values.clear();
        self.levels.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

impl Column {
    fn of(field: &Type) -> Self {
        use parquet::basic::Type as Physical;
        fn none<T>(field: &Type) -> Values<T> {
            Values { values: Vec::new(), levels: field.is_optional().then(Vec::new) }
        }
        match field.get_physical_type() {
            Physical::BOOLEAN => Self::Switch(none(field)),
            Physical::INT32 => Self::Int32(none(field)),
            Physical::INT64 => Self::Int64(none(field)),
            Physical::DOUBLE => Self::Double(none(field)),
            _ => Self::Text(none(field)),
        }
    }

    pub(crate) fn switch(&mut self, value: bool) {
        let Self::Switch(values) = self else { unreachable!("the message of the table declares a switch") };
        values.push(Some(value));
    }

    // The file's integers are declared unsigned: the bits are what counts, not the sign.
    pub(crate) fn int32(&mut self, value: impl Into<Option<u32>>) {
        let Self::Int32(values) = self else { unreachable!("the message of the table declares an int32") };
        values.push(value.into().map(|value| value as i32));
    }

    pub(crate) fn int64(&mut self, value: u64) {
        let Self::Int64(values) = self else { unreachable!("the message of the table declares an int64") };
        values.push(Some(value as i64));
    }

    pub(crate) fn text(&mut self, value: impl Into<Option<ByteArray>>) {
        let Self::Text(values) = self else { unreachable!("the message of the table declares a text") };
        values.push(value.into());
    }

    /// A value that is not finite is not there.
    pub(crate) fn double(&mut self, value: Option<f64>) {
        let Self::Double(values) = self else { unreachable!("the message of the table declares a double") };
        values.push(value.filter(|value| value.is_finite()));
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> ParquetResult<()> {
        match self {
            Self::Switch(values) => values.write::<BoolType>(writer),
            Self::Int32(values) => values.write::<Int32Type>(writer),
            Self::Int64(values) => values.write::<Int64Type>(writer),
            Self::Text(values) => values.write::<ByteArrayType>(writer),
            Self::Double(values) => values.write::<DoubleType>(writer),
        }
    }
}
