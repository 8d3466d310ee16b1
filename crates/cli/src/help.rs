//! The list of commands in `gq --help`, by what people come for.

use crate::table;
use clap::Command;
use std::fmt::Write as _;

const GROUPS: [(&str, &[&str]); 5] = [
    ("Compare", &["compare", "recommend", "run", "plot", "serve"]),
    ("Your router", &["measure", "import", "export", "doctor", "bridge", "replay"]),
    ("Your program", &["shell", "exec", "gate", "qlog"]),
    ("Research", &["sweep", "reproduce", "evaluate", "validate"]),
    ("Tools", &["list", "check", "cite", "completions", "man", "version", "help"]),
];
/// Columns before the description of a command.
const INDENT: usize = 14;
/// Columns that fit everywhere.
const WIDTH: usize = 80;

/// Gives `program` a help text with its commands in groups.
pub fn grouped(program: Command) -> Command {
    let mut built = program.clone();
    built.build();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        let _ = write!(text, "\n\u{1b}[1m\u{1b}[4m{group}:\u{1b}[0m\n");
        for name in names {
            // Some commands are Linux' alone.
            let Some(about) = built.find_subcommand(name).and_then(Command::get_about) else { continue };
            let lines = table::wrapped(&about.to_string(), WIDTH - INDENT).replace('\n', &format!("\n{}", " ".repeat(INDENT)));
            let _ = writeln!(text, "  \u{1b}[1m{name}\u{1b}[0m{}{lines}", " ".repeat(INDENT - 2 - name.len()));
        }
    }
    program.help_template(text + "\n\u{1b}[1m\u{1b}[4mOptions:\u{1b}[0m\n{options}{after-help}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn each_command_is_in_one_group() {
        let mut program = Cli::command();
        program.build();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        let mut shown: Vec<&str> = shown.collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        listed.retain(|name| cfg!(target_os = "linux") || shown.contains(name));
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
    }
}
