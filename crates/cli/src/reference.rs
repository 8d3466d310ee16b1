//! The parts of `docs/cli.md` that are made from the command's own definition: the list of
//! commands, and each command's description, usage and options.
//!
//! When they are stale: `cargo test -p goodqueue-cli --lib reference -- --ignored` (`make docs`).

use crate::Cli;
use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn page() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md"))
}

fn commands() -> Vec<Command> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    program.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect()
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Formats an argument as users write it.
fn name(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    match arg.get_long() {
        Some(long) if takes_value => format!("`--{long} {values}`"),
        Some(long) => format!("`--{long}`"),
        None => format!("`{values}`"),
    }
}

/// The help of an argument without the default that it ends in, and that default.
fn meaning(arg: &Arg) -> (String, String) {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let (help, default) = match help.rsplit_once(" [default: ") {
        Some((help, default)) => (help.to_owned(), default.trim_end_matches(']').to_owned()),
        None => (help, String::new()),
    };
    let given: Vec<String> = arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let has_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let default = match (arg.is_required_set(), has_value && !given.is_empty()) {
        (true, _) => "required".to_owned(),
        (false, true) => given.join(", "),
        (false, false) => default,
    };
    (help, default)
}

fn row(arg: &Arg) -> String {
    let (help, default) = meaning(arg);
    let values: Vec<PossibleValue> =
        if matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) { arg.get_possible_values() } else { Vec::new() };
    let words: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let help = value.get_help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("`{}`{help}", value.get_name())
        })
        .collect();
    let words = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    format!("| {} | {}{} | {} |\n", cell(&name(arg)), cell(&help), cell(&words), cell(&default))
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Description, usage and options of a command.
fn section(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let mut text = format!("{}.\n\n```text\n{usage}\n```\n", about(command));
    let mut rows = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version")
        .peekable();
    if rows.peek().is_some() {
        text.push_str("\n| option | meaning | default |\n|---|---|---|\n");
        rows.for_each(|arg| text.push_str(&row(arg)));
    }
    text
}

/// The list of all commands.
fn list(commands: &[Command]) -> String {
    let mut text = String::from("| command | what it does |\n|---|---|\n");
    for command in commands {
        let name = command.get_name();
        let _ = writeln!(text, "| [`gq {name}`](#gq-{name}) | {} |", cell(&about(command)));
    }
    text
}

/// Puts text between two markers.
fn replace(text: &mut String, what: &str, by: &str) {
    let begin = format!("<!-- {what}: `make docs` writes it again -->\n");
    let start = text.find(&begin).unwrap_or_else(|| panic!("docs/cli.md has no line {begin}")) + begin.len();
    let end = text[start..].find("<!-- end -->").unwrap_or_else(|| panic!("docs/cli.md has no end of {what}")) + start;
    text.replace_range(start..end, by);
}

fn made_again(text: &str) -> String {
    let mut text = text.to_owned();
    let commands = commands();
    replace(&mut text, "commands", &list(&commands));
    for command in &commands {
        replace(&mut text, &format!("options of {}", command.get_name()), &section(command));
    }
    text
}

#[test]
fn the_page_has_the_options_of_every_command() {
    let text = fs::read_to_string(page()).expect("docs/cli.md");
    assert!(made_again(&text) == text, "docs/cli.md is stale: run make docs");
}

#[test]
#[ignore = "writes docs/cli.md"]
fn writes_the_page() {
    let text = fs::read_to_string(page()).expect("docs/cli.md");
    fs::write(page(), made_again(&text)).expect("docs/cli.md");
}
