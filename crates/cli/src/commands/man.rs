//! `gq man`: manual pages from the command's own definition.

use crate::failure::Failure;
use crate::output;
use clap::Args;
use std::path::{Path, PathBuf};

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
    let mut program = program.disable_help_subcommand(true);
    program.build();
    if let Some(folder) = &arguments.out {
        return write_all(folder, &program);
    }
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
    Ok(output::print(&page(command)?)?)
}

/// The commands that people see.
fn shown(program: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    program.get_subcommands().filter(|command| !command.is_hide_set())
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_all(folder: &Path, program: &clap::Command) -> Result<(), Failure> {
    let refuse = |path: &Path, error: std::io::Error| Failure::Input(format!("--out {}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| refuse(folder, error))?;
    for command in [program].into_iter().chain(shown(program)) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page(command.clone())?).map_err(|error| refuse(&path, error))?;
    }
    Ok(())
}
