//! `gq recommend` as a user meets it.

use serde_json::Value;
use std::fs;
use std::process::Command;

/// Exit code, standard output, standard error.
fn recommend(folder: &std::path::Path, arguments: &str) -> (i32, String, String) {
    let words = ["recommend"].into_iter().chain(arguments.split_whitespace());
    let output = Command::new(env!("CARGO_BIN_EXE_gq")).args(words).current_dir(folder).output().expect("gq starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

const KNOWN: &str =
    "--down 4mbit --up 2mbit --rtt 20ms --buffer 500ms --flows 2 --cc cubic --mix call-and-ping --hardware openwrt";

#[test]
fn a_known_line_gets_a_queue_a_rate_and_a_scenario_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, error) = recommend(dir.path(), &format!("{KNOWN} --json answer.json --scenario line.toml"));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("\n\nSet SQM (") && out.contains(" kbit/s down and "), "{out}");
    let answer: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("answer.json")).unwrap()).unwrap();
    assert_eq!(answer["schema"], "goodqueue.recommendation/1");
    let choice = &answer["choice"];
    for direction in ["down", "up"] {
        assert!(["cake", "fq-codel"].contains(&choice[direction]["kind"].as_str().unwrap()), "{choice}");
    }
    let percent = answer["shape_percent"].as_f64().unwrap();
    assert!([85.0, 90.0, 95.0].contains(&percent) && choice["shape_percent"] == answer["shape_percent"], "{percent}");
    assert_eq!(choice["rate_down_bit_s"].as_f64().unwrap(), 4e6 * percent / 100.0);
    // Under a shaper with flow queueing nobody waits behind the modem's half second.
    let p95 = |of: &Value| of["experience"]["ping"]["rtt_s.p95"]["mean"].as_f64().unwrap();
    assert!(p95(choice) < 0.1 && p95(&answer["without"]) > 0.3, "{} {}", p95(choice), p95(&answer["without"]));
    assert!(answer["experience"]["ping"]["rtt_s.p95"]["ci95"].is_number(), "an interval over eight blocks");
    assert!(answer["alternatives"].is_array() && answer["undetermined"].is_array());
    // The same question has the same answer.
    let (_, again, _) = recommend(dir.path(), &format!("{KNOWN} --jobs 1 --json -"));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), answer);
    let (code, ..) = {
        let output =
            Command::new(env!("CARGO_BIN_EXE_gq")).args(["check", "line.toml"]).current_dir(dir.path()).output().unwrap();
        (output.status.code().unwrap(), output)
    };
    assert_eq!(code, 0);
}

#[test]
fn wrong_options_are_named_with_what_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, said) in [
        ("--down 5 --up 1mbit", "--down: `5` has no unit"),
        ("--down 1kbit --up 1mbit", "--down: `1kbit` is out of range: allowed 16 kbit/s to 100 Gbit/s"),
        ("--down 1mbit --up 1mbit --rtt 50ms..20ms", "--rtt: `50ms..20ms` ends below its beginning"),
        ("--down 1mbit --up 1mbit --buffer 1h", "--buffer: `1h` is out of range: allowed 1 ms to 20 s"),
        ("--down 1mbit --up 1mbit --flows 0..3", "--flows: `0` is not a number of flows: allowed 1 to 1000"),
        ("--down 1mbit --up 1mbit --mix hoem", "--mix: `hoem` is not known: allowed bulk,"),
        ("--down 1mbit --up 1mbit --hardware cisco", "--hardware: `cisco` is not known: allowed any, linux, openwrt"),
        ("--down 1mbit --up 1mbit --cc cubic,bbr,reno", "--cc: `cubic,bbr,reno` names 3 controls: allowed one or two"),
        ("--down 1mbit --up 1mbit --varies 95%", "--varies: `95%` is out of range: allowed 0 % to 90 %"),
        ("--down 1mbit --up 1mbit --policy x=1", "--policy: `x` is not known: allowed of_best"),
        ("--down 1mbit --up 1mbit --check sim", "--check sim: the answer is from the simulator already: allowed linux, live"),
        ("--down 1mbit --up 1mbit --check bsd", "--check bsd: there is no such host: allowed"),
        ("--down 1mbit", "--up"),
    ] {
        let (code, _, error) = recommend(dir.path(), arguments);
        assert!(code == 2 && error.contains(said), "{arguments}: {error}");
    }
}

/// Needs the guest kernel (`make linux`).
#[test]
fn kernel_senders_check_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, error) = recommend(dir.path(), &format!("{KNOWN} --check linux --json -"));
    if code == 2 && error.contains("make linux") {
        eprintln!("skipped: {error}");
        return;
    }
    assert_eq!(code, 0, "{error}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let check = &answer["check"];
    assert_eq!((&check["host"], &check["candidates"][0]), (&Value::from("linux"), &answer["choice"]["label"]));
    assert_eq!(check["satisfies_policy"], true, "{check}");
    let ping = check["figures"].as_array().unwrap().iter().find(|held| held["metric"] == "rtt_s.p95").expect("a ping");
    assert!(ping["checked"]["mean"].as_f64().unwrap() < 0.1, "{ping}");
    assert_eq!(check["left_out"], serde_json::json!([]), "kernel senders carry all of this mix");
}
