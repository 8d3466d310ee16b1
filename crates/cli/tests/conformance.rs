//! `gq-checks conformance`: our own verdicts, an example of another program, and programs that
//! misbehave.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Exit code, standard output, standard error.
fn conformance(arguments: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq-checks"));
    command.arg("conformance").args(arguments).current_dir(root).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().expect("it exits by itself"), text(stdout), text(stderr))
}

/// Three vectors of one kind against a program for the shell.
fn against(patience: &str, script: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../aqm/vectors/fq-codel");
    for name in ["many-flows", "marks", "over-limit"] {
        let file = format!("{name}.json");
        std::fs::copy(vectors.join(&file), folder.path().join(&file)).expect("a vector");
    }
    let (folder, command) = (folder.path().to_str().expect("a path"), format!("sh -c '{script}'"));
    conformance(&["--vectors", folder, "--patience", patience, "--against", &command])
}

#[test]
fn our_own_queues_give_the_verdicts_of_every_vector() {
    let (code, out, err) = conformance(&["--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let rows: Value = serde_json::from_str(&out).expect("JSON");
    let rows = rows.as_array().expect("a list");
    assert!(rows.len() > 20 && rows.iter().all(|row| row["fate"] == "pass" && row["identical"] == row["operations"]), "{out}");
}

#[test]
fn the_folder_of_the_tree_is_the_same() {
    let (code, _, embedded) = conformance(&[]);
    let (again, _, found) = conformance(&["--vectors", "crates/aqm/vectors"]);
    assert_eq!((code, again), (0, 0));
    assert_eq!(embedded, found);
}

#[test]
fn the_example_in_python_passes() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is missing");
        return;
    }
    let program = "python3 examples/conformance/client.py";
    let (code, out, err) = conformance(&["--kind", "codel,pie", "--against", program]);
    assert_eq!(code, 0, "{out}{err}");
    let skipped = |why: &str| out.lines().find(|line| line.starts_with("skipped: ") && line.ends_with(why)).unwrap_or_default();
    assert!(skipped(": no reentry here").contains("codel/acm2012") && skipped(": no pie here").contains("pie/marks"), "{out}");
    assert!(!err.starts_with("0 "), "{err}");
}

#[test]
fn a_program_that_does_nothing_differs() {
    let (code, out, err) =
        against("9s", r#"while read line; do case "$line" in {*) echo "{\"ready\":true}";; *) echo "[]";; esac; done"#);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("differs: many-flows: operation 2 [\"dequeue\",2407442]: expected depart 0, found nothing"), "{out}");
    assert!(err.ends_with("error: 3 of 3 vectors give other verdicts\n"), "{err}");
}

#[test]
fn a_program_that_crashes_is_started_again() {
    let (code, out, _) = against("9s", r#"read head; echo "{\"ready\":true}"; read line; echo "[]"; exit 3"#);
    assert_eq!(code, 1);
    for name in ["many-flows", "marks", "over-limit"] {
        let line = format!("broken: {name}: after 1 of ");
        assert!(out.contains(&line) && out.contains("it ended (exit status: 3)"), "{out}");
    }
}

#[test]
fn a_silent_program_is_given_up() {
    let (code, out, err) = against("50ms", "read head; cat >/dev/null");
    assert_eq!(code, 1);
    assert!(err.ends_with("error: 3 of 3 vectors were broken off, 0 give other verdicts\n"), "{err}");
    assert_eq!(out.matches("after 0 of ").count(), 3, "{out}");
    assert!(out.contains("no answer within 50ms"), "{out}");
}

/// The output ends when all have ended that hold it.
#[test]
fn programs_that_a_program_started_end_with_it() {
    for script in ["sleep 99; true", "sleep 99 & wait", "sleep 99 & exit 3", "sleep 99 | sleep 99"] {
        let (code, out, err) = against("50ms", &format!("read head; {script}"));
        assert_eq!((code, out.matches("broken: ").count()), (1, 3), "{out}{err}");
    }
}

#[test]
fn a_program_that_closes_its_output_is_said_to() {
    let (_, out, _) = against("50ms", "exec >&-; cat >/dev/null");
    assert_eq!(out.matches("it closed its output and did not end").count(), 3, "{out}");
}

#[test]
fn an_interrupt_ends_a_program_that_keeps_silent() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq-checks"));
    command.args(["conformance", "--kind", "codel", "--patience", "1h", "--against"]);
    command.arg("sh -c 'echo started >&2; sleep 99; true'");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert_eq!(line, "started\n");
    let sent = Command::new("kill").arg(child.id().to_string()).status().expect("kill starts");
    assert!(sent.success());
    said.read_to_string(&mut line).expect("text");
    assert!(line.contains("interrupted: 0 of "), "{line}");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}

#[test]
fn nonsense_is_no_answer() {
    let (code, out, _) = against("9s", "yes");
    assert!(code == 1 && out.contains("its answer to the head is `y`: expected {\"ready\":true} or {\"skip\":\"why\"}"), "{out}");
    let (code, out, _) = against("9s", r#"read head; echo "{\"ready\":true}"; yes "[[\"drop\"]]""#);
    assert!(code == 1 && out.contains("is `[[\"drop\"]]`: an event lacks its packet"), "{out}");
    let (code, out, _) = against("9s", "head -c 3000000 /dev/zero");
    assert!(code == 1 && out.contains("a line of more than a megabyte"), "{out}");
}

#[test]
fn skipping_everything_is_no_success() {
    let (code, _, err) = against("9s", r#"while read line; do echo "{\"skip\":\"no\"}"; done"#);
    assert!(code == 1 && err.contains("no vector was run: all were skipped"), "{err}");
}

#[test]
fn bad_usage_is_named() {
    let cases: &[(&[&str], &str)] = &[
        (&["--against", "./no-such-program"], "error: --against: `./no-such-program` did not start: "),
        (&["--against", "sh -c 'oops"], "is not a command: a quote is open"),
        (&["--against", ""], "is not a command"),
        (&["--against", "cat", "--patience", "0s"], "error: --patience: `0s` is out of range: allowed 1 ms to "),
        (
            &["--kind", "cordial"],
            "error: --kind: there are no vectors for `cordial`: allowed ared, avq, blue, cake, cake-mq, choke, cobalt, codel, codel-as, cp-aqm, ",
        ),
        (&["--vectors", "nowhere"], "error: --vectors nowhere: "),
        (&["--vectors", "crates/cli/src"], "error: --vectors: there are none in crates/cli/src"),
    ];
    for (arguments, message) in cases {
        let (code, out, err) = conformance(arguments);
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.contains(message) && out.is_empty(), "{arguments:?} said {err}, not {message}");
    }
}
