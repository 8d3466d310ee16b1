//! `gq bridge --busy-poll`: what it grants, says and refuses. Needs network namespaces; where the
//! kernel allows none, the tests report it and end.
#![cfg(target_os = "linux")]

use goodqueue_live::testbed::bench::Bench;
use std::process::{Command, Output, Stdio};

fn gq(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(["bridge", "--in", Bench::PORT_A, "--out", Bench::PORT_B, "--rate", "50mbit"]).args(options);
    command.stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_bridge_that_polls_says_what_was_granted_and_what_it_takes() {
    let Ok(bench) = Bench::new().inspect_err(|reason| println!("skipped: {reason}")) else { return };
    let bridge = |options: &[&str]| {
        let options = [options, &["--offloads", "ignore", "--duration", "1s", "--stats", "200ms", "--json"]].concat();
        bench.middle.within(|| gq(&options).output()).expect("gq starts")
    };
    let output = bridge(&["--busy-poll"]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for name in [Bench::PORT_A, Bench::PORT_B] {
        let line = text.lines().find(|line| line.starts_with(&format!("{name}: polled by the bridge, ")));
        assert!(line.is_some_and(|line| line.contains("by the kernel")), "{text}");
    }
    assert!(text.contains("the thread that moves packets took "), "{text}");
    let stats = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stats.contains("\"busy_poll\":{\"budget\":") && stats.contains("\"kind\":\"af-packet\""), "{stats}");

    // One that does not poll was not granted anything.
    let output = bridge(&[]);
    assert!(output.status.success() && !said(&output).contains("polled"), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"busy_poll\":null"));

    // A feature that is demanded is granted, or the bridge ends.
    let output = bridge(&["--busy-poll=require"]);
    let text = said(&output);
    assert!(output.status.success() || text.contains("--busy-poll=require: gq-a: SO_"), "{text}");
    let output = bridge(&["--port", "af-xdp", "--zero-copy", "require"]);
    let text = said(&output);
    assert!(output.status.success() || text.contains("gq-a: "), "{text}");
}

#[test]
fn options_that_exclude_one_another_are_refused_by_name() {
    for (options, wanted) in [
        (&["--busy-poll", "--spin", "10us"][..], "--busy-poll"),
        (&["--busy-poll=often"], "auto, require, off"),
        (&["--zero-copy", "require"], "--zero-copy require: "),
    ] {
        let output = gq(options).output().expect("gq starts");
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(wanted), "{text}");
    }
}
