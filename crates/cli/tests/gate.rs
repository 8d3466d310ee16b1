//! `gq gate`: storing results, the same results again, a regression, and what is refused.

mod support;

use std::fs;
use std::path::Path;
use support::run as gq;

const SCENARIO: &str = r#"goodqueue = 1
name = "home"
duration = "3 s"
replications = 4
seed = 4

[link.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
buffer = "60 packets"

[[traffic]]
kind = "bulk"
flows = 2
"#;

fn gate(folder: &Path, more: &[&str]) -> (i32, String, String) {
    gq(folder, &[&["gate", "home.toml", "--baseline", "base.toml"], more].concat())
}

/// A folder with the scenario and its baseline.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::write(dir.path().join("home.toml"), SCENARIO).expect("the scenario is written");
    let (code, out, error) = gate(dir.path(), &["--write"]);
    assert_eq!((code, out.as_str()), (0, ""), "{error}");
    assert!(error.starts_with("baseline in base.toml: ") && error.ends_with("4 replications, seed 4\n"), "{error}");
    dir
}

/// Makes the stored results of the folder those of other settings, as if the algorithm had changed
/// since.
fn pretend(folder: &Path, setting: &str) {
    let baseline = fs::read_to_string(folder.join("base.toml")).expect("a baseline");
    let hash = |text: &str| text.lines().find(|line| line.starts_with("scenario_sha256")).expect("a hash").to_owned();
    let (code, _, error) = gate(folder, &["--write", "--set", setting]);
    assert_eq!(code, 0, "{error}");
    let other = fs::read_to_string(folder.join("base.toml")).expect("a baseline");
    fs::write(folder.join("base.toml"), other.replace(&hash(&other), &hash(&baseline))).expect("written");
}

#[test]
fn the_same_program_gives_the_same_results() {
    let dir = folder();
    let (code, out, error) = gate(dir.path(), &["--jobs", "2"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out.starts_with("No regression: ") && out.ends_with(" have the same values.\n"), "{out}");
    let first = fs::read(dir.path().join("base.toml")).expect("a baseline");
    gate(dir.path(), &["--write", "--jobs", "1"]);
    assert_eq!(fs::read(dir.path().join("base.toml")).expect("a baseline"), first);
}

#[test]
fn a_longer_queue_is_a_regression_and_a_shorter_one_is_not() {
    let dir = folder();
    pretend(dir.path(), "link.bottleneck.buffer=20 packets");
    let (code, out, error) = gate(dir.path(), &["--metric", "sojourn_s.p50"]);
    assert_eq!((code, error.as_str()), (1, "error: 1 figure is significantly worse\n"), "{out}");
    let row = out.lines().find(|line| line.starts_with("link bottleneck sojourn_s.p50")).expect("a row");
    assert!(row.ends_with("WORSE") && row.contains("ms") && row.contains('+'), "{row}");
    assert!(
        out.contains("Regression: 1 of 1 figure over 4 replications significantly worse; the worst is sojourn_s.p50"),
        "{out}"
    );
    let (code, ..) = gate(dir.path(), &["--metric", "sojourn_s.p50", "--margin", "100%"]);
    assert_eq!(code, 1, "more than twice as long");
    let (code, out, _) = gate(dir.path(), &["--metric", "sojourn_s.p50", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, json["schema"].as_str(), json["regression"].as_bool()), (1, Some("goodqueue.gate/1"), Some(true)));
    assert_eq!(json["figures"][0]["verdict"], "worse");

    pretend(dir.path(), "link.bottleneck.buffer=200 packets");
    let (code, out, error) = gate(dir.path(), &["--metric", "sojourn_s.p50"]);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("1 better"), "{out}");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let dir = folder();
    let refused = |arguments: &[&str]| {
        let (code, out, error) = gate(dir.path(), arguments);
        assert_eq!((code, out.as_str(), error.lines().count()), (2, "", 1), "{error}");
        error
    };
    let other = refused(&["--set", "link.bottleneck.rate=6 Mbit/s"]);
    assert_eq!(
        other,
        "error: --baseline base.toml: `home` has other settings than when it was written; --write stores new results\n"
    );
    assert!(refused(&["--seed", "5"]).contains("with seed 4, not 5"));
    assert!(refused(&["--metric", "utilizatoin"]).contains("did you mean `utilization`?"));
    assert!(refused(&["--replications", "1"]).contains("at least 2"));
    assert!(refused(&["--on", "live"]).contains("gq gate compares runs of the simulator"));
    fs::write(dir.path().join("base.toml"), "schema = 1").expect("written");
    assert!(refused(&[]).contains("is no baseline"));
    fs::remove_file(dir.path().join("base.toml")).expect("removed");
    assert!(refused(&[]).contains("no such file; --write makes it"));
    let (code, _, error) = gate(dir.path(), &["--margin", "-1%"]);
    assert!(code == 2 && error.contains("0% to 100%"), "{error}");
}
