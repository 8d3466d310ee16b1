//! Results on disk: a folder of files, each written under a temporary name and renamed when it is
//! whole.

mod distributions;
mod earlier;
mod folder;
mod lock;
mod recorder;
#[cfg(test)]
pub(crate) mod sample;
mod tables;

pub use distributions::{DISTRIBUTIONS_FILE, DISTRIBUTIONS_SCHEMA, DistributedPoint, write_distributions};
pub use earlier::{Earlier, EarlierResult};
pub use folder::{Fill, Folder, Settled, check_target, write_file, write_one_of_many};
pub(crate) use folder::{remove_file, temporary_name};
pub use recorder::{NoRecorder, RecordedRun, Recorder};
pub(crate) use tables::columns::{Column, ColumnRows};
pub use tables::{PACKETS_SCHEMA, SERIES_SCHEMA, TableKinds, Tables};
