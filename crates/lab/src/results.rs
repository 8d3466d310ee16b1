//! The figures of runs, and the files that hold them.
//!
//! [`metrics`] and [`experience`] are figures of a run, [`statistics`] those over replications,
//! [`summary`] those of a result; [`record`], [`report`] and [`qlog`] write files, [`stored`] reads
//! them.

pub mod columns;
pub mod distributions;
pub mod error;
pub mod experience;
pub mod grade;
pub mod headline;
pub mod labels;
pub mod metrics;
pub mod provenance;
pub mod qlog;
pub mod record;
pub mod report;
pub mod runs;
pub mod sessions;
pub mod statistics;
pub mod stored;
pub mod summary;
pub mod validity;

pub use error::RecordError;
pub use labels::Labels;
pub use stored::Stored;
pub use summary::Summary;
