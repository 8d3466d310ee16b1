//! `gq reproduce` on a folder of its own: what is wrong in it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"goodqueue = 1
duration = "1 s"
replications = 2

[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "45 kB"

[[traffic]]
kind = "bulk"
"#;

const PAPER: &str =
    "goodqueue-gallery = 1\ntitle = \"t\"\ncitation = \"codel2012\"\n[[experiment]]\nid = \"e-1\"\nfile = \"e-1.toml\"\n";

/// A gallery with one paper, one row and one experiment of a second.
fn gallery(measure: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path().join("gallery/codel");
    fs::create_dir_all(&folder).expect("a folder");
    let row = format!(
        "goodqueue-gallery = 1\n[[row]]\nid = \"T-1\"\nplace = \"p\"\ngrade = \"A\"\nexperiments = [\"e-1\"]\nclaim = \"c\"\nmetric = \"m\"\n\
         measure = '{measure}'\nrelation = \">\"\nexpected = 0.5\n"
    );
    for (name, text) in [("paper.toml", PAPER), ("expected.toml", row.as_str()), ("e-1.toml", SCENARIO)] {
        fs::write(folder.join(name), text).expect("a file");
    }
    dir
}

fn reproduce(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(["reproduce", "codel", "--out", "out"]).args(more).current_dir(folder).output().expect("gq starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_wrong_measure_ends_with_two_before_anything_runs() {
    let wrong = [
        ("foo(1)", "there is no function `foo`"),
        (r#"one("e-2", "links.bottleneck.utilization")"#, "`e-2` is no experiment of paper.toml: allowed e-1"),
        (r#"one("e-1", "links.bottleneck.use")"#, "`e-1` has no figure `links.bottleneck.use`"),
        ("\"text\"", "gives a text: relation `>` needs a number or a list of numbers"),
    ];
    for (measure, message) in wrong {
        let dir = gallery(measure);
        let output = reproduce(dir.path(), &[]);
        let stderr = told(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("gallery/codel/expected.toml:9:12: row.T-1.measure: ") && stderr.contains(message), "{stderr}");
        assert!(!dir.path().join("out/points").exists(), "{measure}: something ran");
    }
}

/// A chain of operators as deep as it is long overflowed the stack; doubling a value took all
/// memory.
#[test]
fn a_hostile_measure_is_refused() {
    let long = format!("1{}", "+1".repeat(20_000));
    let doubling = format!("let a = [1]; {}1", "let a = concat(a, a); ".repeat(60));
    for measure in [long, doubling] {
        let dir = gallery(&measure);
        let output = reproduce(dir.path(), &["--set", "duration=10 ms"]);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains("expected.toml:9:"), "{}", told(&output));
    }
}
