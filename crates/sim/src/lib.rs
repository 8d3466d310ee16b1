//! Packet-level discrete-event simulator: links with queues, TCP end hosts, traffic, and probes.
#![forbid(unsafe_code)]

mod outcome;
mod spec;

pub use outcome::{FlowOutcome, LinkOutcome, Outcome, Series, SeriesColumn, SojournHistogram};
pub use spec::{FlowSpec, LinkId, LinkSpec, OpportunityTrace, QueueSpec, RateSpec, Recording, SourceSpec, WorldSpec};
