//! `gq evaluate` as a user meets it.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit code, standard output, standard error.
fn evaluate(folder: &Path, arguments: &str) -> (i32, String, String) {
    let words = ["evaluate"].into_iter().chain(arguments.split_whitespace());
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    let output = command.args(words).current_dir(folder).stdin(Stdio::null()).output().expect("gq starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// `evaluation.json` without the processor time, which no two runs share.
fn evaluation(folder: &Path) -> Value {
    let mut value: Value = serde_json::from_str(&read(folder, "evaluation.json")).expect("it is JSON");
    value.as_object_mut().unwrap().remove("cpu_s");
    for subject in value["subjects"].as_array_mut().unwrap() {
        subject.as_object_mut().unwrap().remove("cpu_s");
    }
    value
}

#[test]
fn a_queue_is_judged_and_a_second_call_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let family = "--family tcp-friendly,scheduling,ecn";
    let (code, out, error) =
        evaluate(dir.path(), &format!("--aqm codel --against fq-codel {family} --out one --markdown card.md"));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("§5.1.1 One TCP-friendly sender") && out.contains("\nScorecard\n"), "{out}");
    assert!(out.contains("fq-codel: does not apply: schedules by itself"), "{out}");
    assert!(out.contains("tail-drop: does not apply: cannot mark"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 120), "{out}");
    let one = dir.path().join("one");
    let found = evaluation(&one);
    assert_eq!((&found["schema"], &found["mode"]), (&"goodqueue.evaluation/1".into(), &"quick".into()));
    assert_eq!(found["complete"], true);
    let names: Vec<&str> = found["subjects"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["codel", "fq-codel", "tail-drop"]);
    // Families stand in the document's order.
    let third = &found["families"][2];
    assert_eq!((&third["family"]["section"], &third["measures"][2]["aspect"]), (&"5.1.1".into(), &"delay".into()));
    let line = &third["points"][0]["lines"][0];
    assert_eq!(line["values"][2]["against_baseline"], "better");
    assert_eq!(line["fingerprints"].as_array().unwrap().len(), 8);
    assert_eq!(line["scenario_sha256"].as_str().unwrap().len(), 64);
    let page = read(&one, "report.html");
    assert!(page.contains("<h2 id=\"scorecard\">") && page.contains("<svg") && !page.contains("http-equiv"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the page is complete in itself");
    assert!(read(&one, "scenarios/tcp-friendly.toml").contains("[link.bottleneck]"));
    let card = read(dir.path(), "card.md");
    assert!(card.contains("| codel | ") && card.contains("## One TCP-friendly sender"), "{card}");
    // A point that is lost is run again, and everything is as it was.
    let points: Vec<_> = fs::read_dir(one.join("points/quick/rfc7928")).unwrap().map(|entry| entry.unwrap().path()).collect();
    fs::remove_file(points[0].join("000000.json")).unwrap();
    let (code, _, error) = evaluate(dir.path(), &format!("--aqm codel --against fq-codel {family} --out one --jobs 1"));
    assert!(code == 0 && error.contains("1 point in ") && error.contains(" points from before"), "{error}");
    assert_eq!(evaluation(&one), found);
}

#[test]
fn a_control_is_judged_against_cubic() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, error) = evaluate(dir.path(), "--cc bbr --against , --family bufferbloat --json");
    assert_eq!(code, 0, "{error}");
    let found: Value = serde_json::from_str(&out).expect("nothing but JSON");
    assert_eq!((&found["suite"], &found["subjects"][1]["is_baseline"]), (&"rfc9743".into(), &true.into()));
    let deepest = &found["families"][0]["points"][2];
    assert_eq!((&deepest["point"], &deepest["lines"][0]["values"][0]["against_baseline"]), (&"16 BDP".into(), &"better".into()));
    assert_eq!(out, read(&dir.path().join("out/evaluate"), "evaluation.json"));
}

#[test]
fn a_scenario_file_names_the_queue() {
    let dir = tempfile::tempdir().unwrap();
    let text = "goodqueue = 1\nduration = \"1 s\"\n[link.l]\nrate = \"1 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"1 bdp\"\n\
                queue = { kind = \"pie\", target = \"3 ms\" }\n[[traffic]]\nkind = \"bulk\"\n";
    fs::write(dir.path().join("mine.toml"), text).unwrap();
    let (code, out, error) = evaluate(dir.path(), "--aqm mine.toml --against , --family aggressive --json");
    assert_eq!(code, 0, "{error}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["subjects"][0]["settings"], r#"{ kind = "pie", target = "3 ms" }"#);
}

#[test]
fn wrong_options_are_named_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (arguments, said) in [
        ("--aqm codle", "error: --aqm codle: "),
        ("--aqm codel:target=5", "error: --aqm codel:target=5: target: "),
        ("--aqm none.toml", "error: --aqm none.toml: none.toml: no such file"),
        ("--aqm codel,codel", "error: --aqm codel: is named twice"),
        ("--aqm codel --against pi3", "error: --against pi3: "),
        ("--aqm codel --family burst", "error: --family burst: is not there: allowed setpoint, "),
        ("--cc cubik", "error: --cc cubik: "),
        ("--cc bbr --on moon", "error: --on moon: "),
        ("--cc bbr --on live", "error: --on live: gq evaluate compares subjects replication by replication, and real time"),
        ("--aqm codel --out file", "error: --out file: "),
        ("--aqm codel --markdown none/card.md", "error: --markdown none/card.md: "),
    ] {
        let (code, out, error) = evaluate(dir.path(), arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
        assert!(error.starts_with(said) && error.lines().count() == 1, "{arguments}: {error}");
    }
    for arguments in ["", "--aqm codel --cc cubic", "--aqm codel --quick --full"] {
        assert_eq!(evaluate(dir.path(), arguments).0, 2, "{arguments}");
    }
}
