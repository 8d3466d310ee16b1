//! Scenarios from file to answer.
//!
//! ```
//! use goodqueue_lab::Plan;
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
//! Reading order: [`scenario`] (a file as typed settings, and as a world of the simulator),
//! [`results`] (the figures of a run, and the files that hold them), [`verdict`] (the answer in
//! words), [`run`] (points times replications on a [`Backend`], and the [`Results`] of a [`Plan`]).
//! Each knows only those before it.

pub mod results;
pub mod run;
pub mod scenario;
pub mod verdict;

pub use goodqueue_base::spec::quantity;
pub use run::{Backend, Results};
pub use scenario::Plan;
