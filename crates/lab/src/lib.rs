//! Scenarios, replications, metrics and results.

pub mod build;
pub mod columns;
pub mod compare;
pub mod diagnostic;
pub mod distributions;
pub mod error;
pub mod experience;
pub mod files;
pub mod flow_file;
pub mod gate;
pub mod hosts;
pub mod input;
mod limits;
pub mod lint;
pub mod metrics;
pub mod mix;
pub mod plan;
pub mod provenance;
pub mod qlog;
pub mod recommend;
pub mod record;
pub mod report;
pub mod runner;
pub mod schema;
pub mod statistics;
pub mod stored;
pub mod summary;
pub mod sweep;
pub mod toml_text;
pub mod trace_file;
pub mod verdict;

pub use goodqueue_base::spec::quantity;
