//! The report's address, its browser, and colors.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const COMPARE: [&str; 11] =
    ["compare", "--rate", "5mbit", "--warmup", "1s", "--duration", "1s", "--replications", "2", "--aqm", "tail-drop,fq-codel"];

/// A command without a desktop and without wishes about colors.
fn gq(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR"] {
        command.env_remove(name);
    }
    command
}

/// Exit code, standard output, standard error.
fn ended(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().expect("it exits by itself"), text(stdout), text(stderr))
}

#[test]
fn the_report_is_shown_on_a_desktop_and_named_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap().join("a folder");
    fs::create_dir(&folder).unwrap();
    let address = format!("file://{}/results/compare/report.html", folder.display()).replace(' ', "%20");
    let open = [&COMPARE[..], &["--open"]].concat();
    let (code, _, err) = ended(&mut gq(&folder, &open));
    assert_eq!(code, 0, "{err}");
    assert!(err.ends_with(&format!("\nReport: {address} (--open: there is no desktop here)\n")), "{err}");

    // The desktop's program writes what it is given to a pipe; reading waits for it.
    let programs = dir.path().join("bin");
    fs::create_dir(&programs).unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let program = programs.join("xdg-open");
    fs::write(&program, format!("#!/bin/sh\necho \"$@\" > '{}'\n", pipe.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, _, err) = ended(gq(&folder, &open).env("DISPLAY", ":0").env("PATH", &programs));
    assert_eq!(code, 0, "{err}");
    assert!(err.ends_with(&format!("\nReport: {address}\n")), "{err}");
    assert_eq!(fs::read_to_string(&pipe).unwrap(), format!("{address}\n"));

    let (code, _, err) = ended(&mut gq(&folder, &[&open[..], &["--no-report"]].concat()));
    assert!(code == 2 && err.contains("--no-report"), "{err}");
}

#[test]
fn colors_are_those_that_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let is_styled = |arguments: &[&str]| {
        let (_, out, err) = ended(&mut gq(dir.path(), arguments));
        (out.contains('\u{1b}'), err.contains('\u{1b}'))
    };
    let compare = |color: &str| is_styled(&[&COMPARE[..], &["--color", color]].concat());
    // Neither is a terminal.
    assert_eq!(compare("auto"), (false, false));
    assert_eq!(compare("never"), (false, false));
    // The best queue is bold, and the warning that two seconds are short is colored.
    assert_eq!(compare("always"), (true, true));
    assert_eq!(is_styled(&["--color=always", "check", "nowhere.toml"]), (false, true));
    assert_eq!(is_styled(&["--color=always", "--help"]), (true, false));
    assert_eq!(is_styled(&["run", "--color", "always", "--nonsense"]), (false, true));
    let (code, _, err) = ended(&mut gq(dir.path(), &["--color", "purple", "version"]));
    assert!(code == 2 && err.contains("[possible values: auto, always, never]"), "{err}");
}
