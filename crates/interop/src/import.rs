//! Scenarios from measurements.
//!
//! Each reader turns one kind of file into a [`Draft`]: figures of a line, each with where it came
//! from. [`Draft::text`] writes the scenario file, in which every figure is followed by its origin:
//! measured, estimated or assumed; [`Draft::measured`] has those that are not assumed. Files are
//! hostile: [`Input`] bounds what is read and what it unpacks to, and a wrong file gets one
//! message.

pub mod any;
pub mod config;
pub mod controller;
mod draft;
pub mod flent;
mod input;
mod json;
pub mod line_text;
pub mod measured;
pub mod measurement;
pub mod pcap;
pub mod qlog;
pub mod recording;
pub mod speedtest;
mod steps;
pub mod tc;

pub use draft::{Cited, Draft, Origin, Way};
pub use input::Input;

/// A file that cannot be imported, with the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub struct ImportError {
    /// The file.
    pub file: String,
    /// The fault, with the place in the file.
    pub message: String,
}
