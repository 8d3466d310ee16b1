//! `gq linux-guest`: the first process of a guest.

use crate::failure::Failure;
use clap::Args;
use goodqueue_guests::linux::inside;
use std::path::PathBuf;

/// Arguments of `gq linux-guest`.
#[derive(Args)]
pub struct Arguments {
    /// The job
    job: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    inside::run(&arguments.job).map_err(|error| Failure::Run(error.to_string()))
}
