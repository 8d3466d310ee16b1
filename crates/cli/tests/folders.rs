//! Results folders: one writer at a time, and no result that is replaced by another or by less.
#![cfg(target_os = "linux")]

mod support;

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use support::{gq, interruptible, scenario};

const SHORT: &str = r#"goodqueue = 1
name = "short"
duration = "1 s"
replications = 2

[link.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"

[[traffic]]
kind = "bulk"
flows = 2
"#;

/// Two points, of which the second takes for ever.
const ENDLESS: &str = "\n[sweep]\nduration = [\"1 s\", \"1000000 s\"]\n";

/// Exit code and standard error.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String) {
    ended(gq(folder, arguments).output().expect("it runs"))
}

fn ended(output: Output) -> (i32, String) {
    (output.status.code().expect("it exits by itself"), String::from_utf8(output.stderr).expect("UTF-8"))
}

fn summary(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path.join("summary.json")).expect("a summary")).expect("valid JSON")
}

/// A run that is under way in `out` until it is told to stop.
fn under_way(folder: &Path, scenario: &str, out: &[&str]) -> Child {
    fs::write(folder.join("endless.toml"), scenario).expect("the scenario is written");
    let arguments = [&["run", "endless.toml", "--jobs", "1"], out].concat();
    let mut child = interruptible(folder, &arguments).spawn().expect("it starts");
    let place = folder.join(out.last().map_or("results/short", |path| path));
    // The lock is taken before a table is begun, and the table before anything runs.
    while !fs::read_dir(&place).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("series.parquet.")))
    }) {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    child
}

fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill starts").success());
}

/// Waits until the first of two points has left its record.
fn wait_for_a_point(child: &mut Child) {
    let used = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(11).map(str::parse::<u64>);
        ticks.and_then(Result::ok).unwrap_or(0)
    };
    while used(child.id()) < 150 {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
}

#[test]
fn a_folder_has_one_writer_at_a_time() {
    let dir = scenario(SHORT);
    let place = dir.path();
    let mut first = under_way(place, &format!("{SHORT}{ENDLESS}"), &["--out", "r"]);
    for command in [&["run", "s.toml", "--out", "r"][..], &["sweep", "s.toml", "--out", "r"]] {
        let (code, err) = run(place, command);
        assert_eq!(code, 2, "{err}");
        let holder = format!("--out r: is being written to by process {} (gq run endless.toml", first.id());
        assert!(err.contains(&holder), "{err}");
    }
    // Without --out another folder is taken, and that is said.
    let mut second = under_way(place, &format!("{SHORT}{ENDLESS}"), &[]);
    let (code, err) = run(place, &["run", "s.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("results/short: is being written to by process "), "{err}");
    assert!(err.contains("; this result goes to results/short-2\n"), "{err}");
    assert_eq!(summary(&place.join("results/short-2"))["complete"], true);
    for child in [&mut first, &mut second] {
        signal(child, "-KILL");
        child.wait().expect("it ends");
    }
    // Files that a killed process leaves keep nobody out, and are removed.
    let (code, err) = run(place, &["run", "s.toml", "--out", "r"]);
    assert_eq!(code, 0, "{err}");
    let mut left: Vec<_> = fs::read_dir(place.join("r")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["distributions.parquet", "report.html", "run.json", "scenario.toml", "series.parquet", "summary.json"]);
}

#[test]
fn a_result_that_lacks_runs_replaces_no_earlier_one() {
    let dir = scenario(SHORT);
    let place = dir.path();
    assert_eq!(run(place, &["run", "s.toml", "--out", "r"]).0, 0);
    let before = fs::read(place.join("r/summary.json")).unwrap();

    // With one finished point the new result goes next to the earlier one.
    let mut child = under_way(
        place,
        &format!("{SHORT}{ENDLESS}").replace("replications = 2", "replications = 1"),
        &["--force", "--out", "r"],
    );
    wait_for_a_point(&mut child);
    signal(&child, "-INT");
    let (code, err) = ended(child.wait_with_output().expect("it ends"));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("the complete result in r stays: this one lacks runs\nresults in r/incomplete\n"), "{err}");
    assert_eq!(fs::read(place.join("r/summary.json")).unwrap(), before);
    assert_eq!(summary(&place.join("r/incomplete"))["complete"], false);
    assert!(place.join("r/incomplete/series.parquet").exists() && place.join("r/series.parquet").exists());

    // With none there is nothing worth keeping.
    let child = under_way(place, &format!("{SHORT}\n[sweep]\nduration = [\"1000000 s\"]\n"), &["--force", "--out", "r"]);
    signal(&child, "-INT");
    let (code, err) = ended(child.wait_with_output().expect("it ends"));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("no run finished: the complete result in r stays"), "{err}");
    assert_eq!(fs::read(place.join("r/summary.json")).unwrap(), before);

    // A complete one replaces both.
    let (code, err) = run(place, &["run", "s.toml", "--out", "r", "--seed", "2", "--force"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(summary(&place.join("r"))["seed"], 2);
    assert!(!place.join("r/incomplete").exists());
}

#[test]
fn without_a_folder_no_other_result_is_replaced() {
    let dir = scenario(SHORT);
    let place = dir.path();
    let compare = |rate: &str| {
        run(place, &["compare", "--rate", rate, "--duration", "1s", "--warmup", "1s", "--replications", "1", "--aqm", "codel"])
    };
    assert!(compare("5mbit").1.contains("results in results/compare\n"));
    let first = fs::read(place.join("results/compare/summary.json")).unwrap();
    let (_, err) = compare("6mbit");
    assert!(err.contains("results/compare: holds another result; this result goes to results/compare-2\n"), "{err}");
    assert!(err.contains("results in results/compare-2\n"), "{err}");
    assert_eq!(fs::read(place.join("results/compare/summary.json")).unwrap(), first);
    // The same again is the same result.
    assert!(compare("6mbit").1.contains("results in results/compare-2\n"));
    assert!(compare("5mbit").1.contains("results in results/compare\n"));
    assert!(!place.join("results/compare-3").exists());

    assert_eq!(run(place, &["run", "s.toml"]).0, 0);
    let (code, err) = run(place, &["run", "s.toml", "--seed", "7"]);
    assert_eq!((code, summary(&place.join("results/short"))["seed"].as_u64()), (0, Some(1)), "{err}");
    assert_eq!(summary(&place.join("results/short-2"))["seed"], 7);
}

#[test]
fn another_result_in_the_folder_is_replaced_on_request_only() {
    let dir = scenario(SHORT);
    let place = dir.path();
    assert_eq!(run(place, &["run", "s.toml", "--out", "r"]).0, 0);
    // The same again is the same result.
    assert_eq!(run(place, &["run", "s.toml", "--out", "r", "--jobs", "1"]).0, 0);
    let before = fs::read(place.join("r/summary.json")).unwrap();
    let (code, err) = run(place, &["run", "s.toml", "--seed", "8", "--out", "r"]);
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    assert!(err.starts_with("error: --out r: holds another result (short, seed 1, by "), "{err}");
    assert!(err.ends_with("): use another folder, or replace it with --force\n"), "{err}");
    assert_eq!(fs::read(place.join("r/summary.json")).unwrap(), before);
    let (code, err) = run(place, &["run", "s.toml", "--seed", "8", "--out", "r", "--force"]);
    assert_eq!((code, summary(&place.join("r"))["seed"].as_u64()), (0, Some(8)), "{err}");
    let (code, err) = run(place, &["run", "s.toml", "--force"]);
    assert!(code == 2 && err.contains("--out"), "{err}");
}

#[test]
fn files_of_something_else_are_replaced_on_request_only() {
    let dir = scenario(SHORT);
    let place = dir.path();
    for (name, text) in [("report.html", "mine"), ("summary.json", "{}"), ("scenario.toml", "# mine")] {
        let folder = place.join(name.replace('.', "-"));
        let out = folder.to_str().unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
        let (code, err) = run(place, &["run", "s.toml", "--out", out]);
        assert!(code == 2 && err.contains(&format!(": holds a {name} of something else: ")), "{err}");
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
        assert_eq!(run(place, &["run", "s.toml", "--out", out, "--force"]).0, 0);
    }
    // The scenario may be where its result goes.
    fs::create_dir(place.join("here")).unwrap();
    fs::write(place.join("here/scenario.toml"), SHORT).unwrap();
    let (code, err) = run(&place.join("here"), &["run", "scenario.toml", "--out", "."]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn runs_and_sweeps_keep_out_of_each_others_folders() {
    let dir = scenario(SHORT);
    let place = dir.path();
    assert_eq!(run(place, &["sweep", "s.toml", "--out", "swept"]).0, 0);
    let (code, err) = run(place, &["run", "s.toml", "--out", "swept"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--out swept: holds a sweep (sweep.json)"), "{err}");
}

#[test]
fn names_reach_the_terminal_without_what_it_obeys() {
    let dir = scenario(&SHORT.replace("\"short\"", "\"\\u001b]0;title\\u0007\\u001b[2J evil\\u0000\""));
    for command in [&["check", "s.toml"][..], &["run", "s.toml", "--out", "r"]] {
        let output = gq(dir.path(), command).output().expect("it runs");
        let all = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(all).expect("UTF-8");
        assert!(text.contains("evil") && !text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
    }
}

#[test]
fn a_named_pipe_is_no_scenario() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    assert!(Command::new("mkfifo").arg(dir.path().join("pipe")).status().expect("mkfifo starts").success());
    let (code, err) = run(dir.path(), &["check", "pipe"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("is a named pipe, which may never end"), "{err}");
    let mut child = gq(dir.path(), &["check", "/dev/stdin"]).stdin(Stdio::piped()).spawn().expect("it starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), SHORT.as_bytes()).expect("it reads");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn ranges_in_messages_are_those_that_hold() {
    let dir = scenario(SHORT);
    for (arguments, message) in [
        (&["compare", "--rate", "1e30mbit"][..], "--rate: `1e30mbit` is out of range: allowed 1 bit/s to 10000 Gbit/s"),
        (&["compare", "--rate=-1mbit"], "--rate: `-1mbit` is out of range: allowed 1 bit/s to 10000 Gbit/s"),
        (&["compare", "--rate", "1mbit", "--rtt", "1e9s"], "--rtt: `1e9s` is out of range: allowed 0 s to 2000 s"),
        (&["run", "s.toml", "--sample=-1s"], "--sample: `-1s` is out of range: allowed 1 us to 1 s"),
        (&["check", "s.toml", "--seed", "9223372036854775808"], "--seed"),
        (&["check", "s.toml", "--set", "traffic.0.start=uniform 0 s .. 1e30 s"], "allowed 0 s to 10000000 s"),
        (&["check", "s.toml", "--set", "traffic.0.max_window=100 B"], "max_window"),
    ] {
        let (code, err) = run(dir.path(), arguments);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(message), "{err}");
    }
    let long = ["--set", "duration=10000000 s", "--set", "replications=1000000"];
    let output = gq(dir.path(), &[&["check", "s.toml"][..], &long].concat()).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("10000000000000 s in all"), "{output:?}");
}

#[test]
fn unwritable_targets_are_found_before_anything_runs() {
    let dir = scenario(&format!("{SHORT}{ENDLESS}"));
    let place = dir.path();
    for (target, message) in [
        ("nowhere/x.json", "--json nowhere/x.json: cannot be written: there is no folder nowhere"),
        (".", "--json .: cannot be written: is a directory"),
    ] {
        let (code, err) = run(place, &["run", "s.toml", "--out", "r", "--json", target]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(message), "{err}");
    }
    fs::create_dir_all(place.join("r/summary.json")).unwrap();
    let (code, err) = run(place, &["run", "s.toml", "--out", "r"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--out r/summary.json: cannot be written: is a directory"), "{err}");
}
