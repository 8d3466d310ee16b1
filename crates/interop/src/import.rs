//! Scenarios from measurements.
//!
//! Each reader turns one kind of file into a [`Draft`]: figures of a line, each with where it came
//! from. [`Draft::text`] writes the scenario file, in which every figure is followed by its origin:
//! measured, set, estimated or assumed; [`Draft::measured`] has those that are not assumed. Files
//! are hostile: [`Input`] bounds what is read and what it unpacks to, and a wrong file gets one
//! message.

pub mod any;
pub mod circuits;
mod clock;
pub mod config;
pub mod controller;
mod draft;
mod error;
pub mod flent;
mod input;
mod json;
pub mod line_text;
pub mod measured;
pub mod measurement;
pub mod pcap;
pub mod qlog;
pub mod recording;
mod rows;
pub mod speedtest;
mod steps;
pub mod tc;

pub use draft::{Cited, Draft, Origin, Way};
pub use error::ImportError;
pub use input::Input;
