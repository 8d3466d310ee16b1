//! A scenario as text, as checked settings, and as the world that it describes.
//!
//! [`plan`] reads it ([`schema`] describes its keys), [`compare`] writes one from a few settings,
//! [`lint`] remarks on one that is valid, [`build`] makes a world of the simulator from it.

pub mod build;
pub mod compare;
pub mod diagnostic;
pub mod files;
pub mod flow_file;
pub mod input;
pub(crate) mod limits;
pub mod lint;
pub mod mix;
pub mod plan;
pub mod schema;
pub mod toml_text;
pub mod trace_file;

pub use plan::{Plan, PlanError, Point, Scenario};
