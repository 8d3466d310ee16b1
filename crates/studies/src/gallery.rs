//! Published studies reproduced: experiments as ordinary scenario files, statements as rows that
//! hold or fail, figures.
//!
//! Reading order: [`files`] (a paper's folder), [`experiment`] (its scenarios in quick or full
//! mode), [`expr`] (the language of rows), [`catalogue`] (its check before anything runs), [`run`]
//! (points times replications, stored as they finish), [`samples`] (figures by point and
//! replication), [`evaluate`] (verdicts), [`results`] (`results.json`), [`figure`] and [`table`],
//! [`report`] (one page for all), [`markdown`] (`RESULTS.md`).

mod axis_value;
pub mod catalogue;
pub mod citation;
pub mod cost;
pub mod embedded;
pub mod error;
pub mod evaluate;
pub mod experiment;
pub mod expr;
pub mod figure;
pub mod files;
pub mod markdown;
pub mod probes;
pub mod report;
pub mod results;
pub mod run;
pub mod samples;
pub mod sources;
pub mod store;
pub mod table;
pub mod words;

/// The papers of the gallery, in the order of the report: five studies, then what others' test
/// suites measured or ask for; `extensions` holds what the studies left open.
pub const PAPERS: &[&str] =
    &["cp-aqm", "steering", "codel", "survey", "nfq-codel", "l4s-tests", "dualpi2", "ns3", "ns2", "extensions"];
