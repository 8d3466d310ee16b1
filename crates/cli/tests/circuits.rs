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
        "AP: 100 % of the time down",
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
        (&["compare", "--aqm", "nowhere"], "nowhere"),
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
