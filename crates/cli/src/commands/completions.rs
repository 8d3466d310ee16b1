//! `gq completions`: what a shell needs to complete the command's words.

use crate::failure::Failure;
use crate::output;
use clap::Args;
use clap_complete::Shell;

/// Arguments of `gq completions`.
#[derive(Args)]
#[command(after_help = "Example: gq completions bash > /etc/bash_completion.d/gq")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints the script for `command`.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "gq", &mut script);
    Ok(output::print(&String::from_utf8_lossy(&script))?)
}
