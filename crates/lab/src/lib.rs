//! Scenarios, replications, metrics and results.

pub mod build;
pub mod diagnostic;
pub mod lint;
pub mod plan;
pub mod quantity;
pub mod report;
pub mod trace_file;
