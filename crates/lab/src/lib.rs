//! Scenarios from file to answer.
//!
//! ```
//! use goodqueue_lab::plan::Plan;
//! use std::path::Path;
//!
//! let scenario = r#"
//! goodqueue = 1
//! duration = "2 s"
//! [link.bottleneck]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! buffer = "100 packets"
//! [[traffic]]
//! kind = "bulk"
//! [sweep]
//! "link.bottleneck.queue" = ["tail-drop", "codel"]
//! "#;
//! let results = Plan::parse("line.toml", scenario, Path::new("."))?.run()?;
//! assert_eq!(results.headline.best.as_deref(), Some("codel"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Reading order: [`plan`] (a scenario as typed settings; [`schema`] describes its keys),
//! [`build`] (a world of the simulator), [`runner`] (points times replications, on a
//! [`hosts::Backend`]), [`metrics`] and [`experience`] (figures of a run, and those that people
//! notice), [`results`] with [`summary`], [`record`] and [`report`] (what is written), [`verdict`]
//! (the answer in words), [`recommend`] (the settings for a line that is known only roughly).

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
pub mod results;
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
