//! Runs of a scenario: once for each point and replication, as a sweep that can be resumed, or to
//! find settings for a line.

pub mod backend;
pub mod circuits;
pub mod plan_results;
pub mod recommend;
pub mod runner;
pub mod sweep;

pub use backend::Backend;
pub use plan_results::{Results, ResultsError};
pub use runner::{RunOptions, run_on};
