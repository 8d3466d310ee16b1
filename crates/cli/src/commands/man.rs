//! `gq man`: manual pages from the command's own definition.

use crate::failure::Failure;
use crate::output;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `gq man`.
#[derive(Args)]
#[command(
    after_help = "Examples: gq man | man -l -\n          gq man compare | man -l -\n          gq man --out /usr/local/share/man/man1"
)]
pub struct Arguments {
    /// The command whose page is printed [default: that of gq itself]
    command: Option<String>,
    /// Write the pages of all commands into a folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Prints or writes pages of `program`.
pub fn run(arguments: &Arguments, program: clap::Command) -> Result<(), Failure> {
    if let Some(folder) = &arguments.out {
        let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
        return written.map_err(Failure::of(format!("--out {}", folder.display())));
    }
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let command = match arguments.command.as_deref() {
        None => program,
        Some(name) => match shown(&program).find(|command| command.get_name() == name) {
            Some(command) => command.clone(),
            None => {
                let known: Vec<&str> = shown(&program).map(clap::Command::get_name).collect();
                return Err(Failure::Input(format!("gq has no command `{name}`: allowed {}", known.join(", "))));
            }
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(output::print(&String::from_utf8_lossy(&page))?)
}

/// The commands that people see.
fn shown(program: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    program.get_subcommands().filter(|command| !command.is_hide_set())
}
