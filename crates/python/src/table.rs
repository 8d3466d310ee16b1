//! A table that any library with Arrow's C interface can import without copying.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Columns of Arrow data.
#[pyclass(frozen, module = "goodqueue._core")]
pub struct Table {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

/// Schema and rows of a table that was made.
pub type Batches = Result<(SchemaRef, Vec<RecordBatch>), ArrowError>;

impl Table {
    /// The table of this name as it was made; `None` where there is no such table.
    pub fn made(name: &str, made: Option<Batches>) -> PyResult<Self> {
        let made = made.ok_or_else(|| PyKeyError::new_err(format!("{name}: there is no such table")))?;
        let (schema, batches) = made.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { schema, batches })
    }
}

#[pymethods]
impl Table {
    /// The Arrow PyCapsule interface. A requested schema may be ignored, and is.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        // Columns are shared by reference count; nothing is copied.
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
}
