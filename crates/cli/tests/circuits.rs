//! `gq compare --circuits` and `gq recommend --circuits`.

use std::path::Path;
use std::process::{Command, Output};

const HEAD: &str = "Circuit ID,Parent Node,Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps\n";

fn gq(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gq")).current_dir(folder).args(words).output().expect("gq starts")
}

fn network(folder: &Path, rows: &str) {
    std::fs::write(folder.join("devices.csv"), format!("{HEAD}{rows}")).expect("a file");
    let sites = r#"{"AP": {"downloadBandwidthMbps": 30, "uploadBandwidthMbps": 30}}"#;
    std::fs::write(folder.join("network.json"), sites).expect("a file");
}

#[test]
fn a_network_has_an_answer_by_plan_and_site() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: String = (0..30).map(|number| format!("{number},AP,1,1,16,3\n")).collect();
    network(folder.path(), &rows);
    let files = ["--circuits", "devices.csv", "--network", "network.json", "--simulated", "10"];
    let output = gq(folder.path(), &[&["compare", "--aqm", "tail-drop,fq-codel"], &files[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for wanted in [
        "16/3 Mbit/s, fq-codel",
        "AP, tail-drop",
        "Mbit/s are wanted down on average; full in 100 % of the time",
        "Give each circuit fq-codel",
        "No queue makes up",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let output = gq(folder.path(), &[&["recommend", "--json", "-"], &files[..]].concat());
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["circuits"], 30);
    assert!(answer["text"].as_str().is_some_and(|text| text.contains("column sqm")), "the whole advice is in the JSON");
    assert_eq!(answer["full"][0]["name"], "AP");
    assert!(answer["sites"][0]["means"]["page.page_load_s.p95"].as_f64().is_some_and(|seconds| seconds > 1.0));
}

#[test]
fn wrong_files_and_options_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    network(folder.path(), "1,AP,1,1,16,3\n2,AP,1,1,fast,3\n3,BP,1,1,16,3\n");
    let files = ["--circuits", "devices.csv", "--network", "network.json"];
    for (words, wanted) in [
        (
            &["compare"][..],
            "devices.csv: line 3: Download Max Mbps: `fast` is not a rate: allowed 0.1 to 100000 Mbit/s\ndevices.csv: line 4: Parent Node: `BP`",
        ),
        (&["compare", "--rate-up", "5mbit"], "cannot be used with"),
        (&["compare", "--busy-hour", "fast"], "--busy-hour: "),
        (&["compare", "--traffic", "bulk"], "--traffic: `bulk` is no mix of people who come and go: allowed evening"),
        (&["compare", "--simulated", "1"], "1 is not in 10..=100000"),
        (&["compare", "--aqm", "nowhere"], "error: --aqm: `nowhere` is not a queue algorithm of this version"),
        (&["compare", "--aqm", "codel:target=-3ms"], "error: --aqm: target: `-3ms` is out of range"),
        (&["recommend", "--down", "5mbit"], "cannot be used with"),
    ] {
        if words.len() > 1 {
            network(folder.path(), "1,AP,1,1,16,3\n");
        }
        let output = gq(folder.path(), &[words, &files[..]].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(wanted), "{words:?}: {text}");
    }
}

/// A log in which a site is lowered to what it uses up, and then to more than its line gives.
fn storm(mode: &str) -> String {
    let mut log =
        "schema_version;timestamp_unix_ms;site;direction;mode;queue_mbps;min_mbps;max_mbps;throughput_mbps;delay_ms\n".to_owned();
    for second in 0..300 {
        let (queue, passed, delay) = [(30, 29, 5), (8, 8, 5), (8, 4, 60)][second as usize / 100];
        let at = 1_790_000_000_000_u64 + 1000 * second;
        log += &format!("1;{at};AP;download;{mode};{queue};5;30;{passed};{delay}\n1;{at};AP;upload;{mode};30;5;30;3;\n");
    }
    log
}

#[test]
fn decisions_of_controllers_are_asked_about() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: String = (0..30).map(|number| format!("{number},AP,1,1,16,3\n")).collect();
    network(folder.path(), &rows);
    std::fs::write(folder.path().join("storm.csv"), storm("live")).expect("a file");
    let files = ["compare", "--circuits", "devices.csv", "--network", "network.json", "--simulated", "10"];
    let answer = |words: &[&str]| -> serde_json::Value {
        let output = gq(folder.path(), &[&files[..], words, &["--json", "-"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let played = answer(&["--stormguard", "storm.csv"]);
    let rates = played["rates"].as_array().expect("rates");
    assert_eq!((rates[0]["rate"].as_str(), rates[0]["queues"][0]["queue"].as_str()), (Some("as decided"), Some("cake")));
    assert_eq!(
        (rates[0]["mean_bit_s"]["down"].as_f64(), rates[0]["above_line"]["down"].as_f64()),
        (Some(46e6 / 3.0), Some(1.0 / 3.0))
    );
    let page = |rate: &serde_json::Value| rate["queues"][0]["means"]["page.page_load_s.p95"].as_f64().expect("pages");
    assert!(page(&rates[0]) > page(&rates[1]), "22 of 30 Mbit/s that are kept back are felt: {played}");
    assert!(played["text"].as_str().is_some_and(|text| text.contains("In at least 33 % of the time")), "{played}");
    assert_eq!(played["kept_back_bit_s"]["down"].as_f64(), Some(22e6 / 3.0));

    std::fs::write(
        folder.path().join("tree.log"),
        "TreeGuard activity: entity_type=circuit entity_id=x (7) action=set_sqm_live:fq_codel/cake persisted=false\n",
    )
    .expect("a file");
    let asked = answer(&["--treeguard", "tree.log"]);
    assert_eq!(asked["queues"][0]["queue"], "fq-codel");
    assert_eq!(asked["sites"][0]["of"], "AP");

    std::fs::write(folder.path().join("dry.csv"), storm("dry_run")).expect("a file");
    for (words, wanted) in [
        (&["--stormguard", "dry.csv"][..], "dry.csv: line 2: mode: `dry_run` left the rate as it was"),
        (&["--stormguard", "storm.csv", "--site", "BP"], "storm.csv: has no download of the site `BP`; it has AP"),
        (&["--stormguard", "storm.csv", "--treeguard", "tree.log"], "cannot be used with"),
        (&["--site", "AP"], "--stormguard <FILE>"),
    ] {
        let output = gq(folder.path(), &[&files[..], words].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(wanted), "{words:?}: {text}");
    }
}
