//! Scenarios, replications, metrics and results.

pub mod build;
pub mod compare;
pub mod diagnostic;
pub mod distributions;
pub mod error;
pub mod files;
pub mod flow_file;
pub mod lint;
pub mod metrics;
pub mod plan;
pub mod provenance;
pub mod quantity;
pub mod record;
pub mod report;
pub mod runner;
pub mod statistics;
pub mod summary;
#[cfg(feature = "parquet")]
pub mod sweep;
pub mod trace_file;
pub mod traffic_kinds;
