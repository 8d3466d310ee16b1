//! The command as a user meets it: exit codes, messages, files.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SCENARIO: &str = r#"goodqueue = 1
name = "small"
warmup = "1 s"
duration = "5 s"
replications = 3
seed = 4

[link.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
buffer = "4 bdp"

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 2
start = "uniform 0 s .. 500 ms"

[sweep]
"link.bottleneck.queue" = ["tail-drop", "codel"]
"#;

fn gq(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    // No guest kernel, whether this machine has one or not.
    command.env("XDG_CACHE_HOME", folder.join("no-cache"));
    command
}

/// Exit code, standard output, standard error.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = gq(folder, arguments).output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (status.code().expect("it exits by itself"), text(stdout), text(stderr))
}

/// A folder with `small.toml`.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::write(dir.path().join("small.toml"), SCENARIO).expect("the scenario is written");
    dir
}

fn summary(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path.join("summary.json")).expect("there is a summary")).expect("it is JSON")
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("there is a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_run_prints_a_table_and_writes_its_folder() {
    let dir = folder();
    let (code, out, err) = run(dir.path(), &["run", "small.toml"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("small: 3 runs of 5 s after 1 s of warm-up each, seed 4;"), "{out}");
    assert!(out.contains("\nlink bottleneck\n") && out.contains("\ntail-drop ") && out.contains("\ncodel "), "{out}");
    assert!(out.contains("packets nearly always wait at most"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 120), "{out}");
    let results = dir.path().canonicalize().unwrap().join("results/small");
    let end = format!("results in results/small\nReport: file://{}/report.html\n", results.display());
    assert!(err.ends_with(&end), "{err}");
    assert_eq!(
        names(&results),
        ["distributions.parquet", "report.html", "run.json", "scenario.toml", "series.parquet", "summary.json"]
    );
    assert_eq!(fs::read_to_string(results.join("scenario.toml")).unwrap(), SCENARIO);
    let summary = summary(&results);
    assert_eq!((&summary["schema"], &summary["complete"]), (&"goodqueue.summary/1".into(), &true.into()));
    assert_eq!(summary["points"][1]["links"]["bottleneck"]["utilization"]["n"], 3);
}

/// Checks the verdict on a scenario; the same scenario and the same verdict stand in the tests of
/// Python, the server and the playground's module.
#[test]
fn the_verdict_is_the_stored_one() {
    let folder = folder();
    let scenario = concat!(
        include_str!("../../lab/tests/verdict/line.toml"),
        "\n[sweep]\n\"link.bottleneck.queue\" = [\"tail-drop\", \"pie\", \"fq-codel\"]\n"
    );
    std::fs::write(folder.path().join("line.toml"), scenario).expect("a file");
    let (code, out, error) = run(folder.path(), &["run", "line.toml", "--json", "-"]);
    assert_eq!(code, 0, "{error}");
    let [_, headline] = <[&str; 2]>::try_from(out.splitn(2, "\"headline\": ").collect::<Vec<_>>()).expect("a headline");
    let stored = include_str!("../../lab/tests/verdict/headline.json").trim_end().replace('\n', "\n  ");
    assert!(headline.starts_with(&stored), "{headline}");
}

#[test]
fn one_job_and_two_give_the_same_bytes() {
    let dir = folder();
    for (jobs, out) in [("1", "one"), ("2", "two")] {
        let (code, _, err) = run(dir.path(), &["run", "small.toml", "--jobs", jobs, "--out", out, "--packets", "--no-report"]);
        assert_eq!(code, 0, "{err}");
    }
    for file in ["summary.json", "series.parquet", "packets.parquet"] {
        let [one, two] = ["one", "two"].map(|out| fs::read(dir.path().join(out).join(file)).unwrap());
        assert!(one == two, "{file} differs");
    }
}

#[test]
fn files_of_an_earlier_result_do_not_stay() {
    let dir = folder();
    assert_eq!(run(dir.path(), &["run", "small.toml", "--packets", "--out", "r"]).0, 0);
    assert!(names(&dir.path().join("r")).contains(&"packets.parquet".to_owned()));
    assert_eq!(run(dir.path(), &["run", "small.toml", "--record", "nothing", "--no-report", "--out", "r"]).0, 0);
    assert_eq!(names(&dir.path().join("r")), ["run.json", "scenario.toml", "summary.json"]);
}

#[test]
fn json_goes_where_it_is_told() {
    let dir = folder();
    let quick = ["run", "small.toml", "--no-report", "--record", "nothing", "--replications", "1"];
    let (code, out, _) = run(dir.path(), &[&quick[..], &["--json", "-"]].concat());
    assert_eq!(code, 0);
    let printed: Value = serde_json::from_str(&out).expect("nothing but JSON");
    assert_eq!(printed["replications"], 1);
    assert_eq!(printed["points"][0]["links"]["bottleneck"]["queue_packets"]["ci95"], Value::Null);
    assert_eq!(out, fs::read_to_string(dir.path().join("results/small/summary.json")).unwrap());
    let (code, table, _) = run(dir.path(), &[&quick[..], &["--json", "copy.json"]].concat());
    assert!(code == 0 && table.contains("link bottleneck"));
    assert_eq!(out, fs::read_to_string(dir.path().join("copy.json")).unwrap());
}

#[test]
fn overrides_reach_the_result() {
    let dir = folder();
    let arguments =
        ["run", "small.toml", "--set", "link.bottleneck.queue=pie", "--seed", "9", "--replications", "2", "--json", "-"];
    let (code, out, err) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((summary["seed"].as_u64(), summary["replications"].as_u64()), (Some(9), Some(2)));
    assert_eq!(summary["points"].as_array().unwrap().len(), 1, "a set key is not swept");
}

#[test]
fn compare_measures_a_recording_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    // 12 Mbit/s for 3 s.
    fs::write(dir.path().join("link.down"), (1..=3000).map(|ms| format!("{ms}\n")).collect::<String>()).unwrap();
    let compare = |more: &[&str]| {
        let words = ["compare", "--trace", "link.down", "--aqm", "codel", "--warmup", "1s", "--replications", "1", "--no-report"];
        let (code, _, err) = run(dir.path(), &[&words, more].concat());
        assert_eq!(code, 0, "{err}");
        err
    };
    let whole = compare(&["--out", "whole"]);
    assert!(!whole.contains("are measured"), "{whole}");
    assert!(fs::read_to_string(dir.path().join("whole/scenario.toml")).unwrap().contains("duration = \"3 s\"\n"));
    let part = compare(&["--duration", "2s", "--out", "part"]);
    assert!(part.contains("note: 2 s of 3 s of the recording are measured\n"), "{part}");
}

#[test]
fn compare_needs_no_file_and_leaves_one() {
    let dir = tempfile::tempdir().unwrap();
    let quick = ["--warmup", "1s", "--duration", "3s", "--replications", "2"];
    let arguments =
        [&["compare", "--rate", "5mbit", "--aqm", "codel,fair:flows=64:pie:target=20ms", "--ecn"][..], &quick].concat();
    let (code, out, err) = run(dir.path(), &arguments);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\ncodel ") && out.contains("\nfair:pie ") && out.contains("marked"), "{out}");
    let made = dir.path().join("results/compare/scenario.toml");
    let (code, out, err) = run(dir.path(), &["run", made.to_str().unwrap(), "--json", "-"]);
    assert_eq!(code, 0, "{err}");
    let again: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(again, summary(&dir.path().join("results/compare")), "the scenario it wrote gives the same result");
}

#[test]
fn check_says_what_would_run() {
    let dir = folder();
    let (code, out, _) = run(dir.path(), &["check", "small.toml"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("small.toml: good\nsmall: 2 points and 3 replications, 6 runs to simulate 36 s in all\n"), "{out}");
    assert!(!dir.path().join("results").exists());
}

#[test]
fn bad_usage_and_input_exit_with_two() {
    let dir = folder();
    fs::write(dir.path().join("bad.toml"), SCENARIO.replace("5 Mbit/s", "5 MB/s").replace("seed", "sead")).unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage: gq"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["run"], "SCENARIO.toml"),
        (&["run", "nope.toml"], "error: nope.toml: no such file\n"),
        (&["run", "bad.toml"], "error: bad.toml:9:8: link.bottleneck.rate: "),
        (&["check", "bad.toml"], "error: bad.toml:6:1: sead: unknown key; did you mean `seed`?\n"),
        (&["run", "small.toml", "--on", "linux"], "error: --on linux: the guest kernel is missing: run `make linux` in"),
        (
            &["check", "small.toml", "--on", "moon"],
            "error: --on moon: there is no such host: allowed sim, linux, linux-7.3, kernel, live\n",
        ),
        (
            &["run", "small.toml", "--on", "moon"],
            "error: --on moon: there is no such host: allowed sim, linux, linux-7.3, kernel, live\n",
        ),
        (&["run", "small.toml", "--set", "warmup"], "error: --set warmup: is not KEY=VALUE"),
        (&["run", "small.toml", "--set", "warmup=soon"], "--set warmup=soon: warmup: "),
        (&["run", "small.toml", "--replications", "0"], "replications: "),
        (&["run", "small.toml", "--jobs", "0"], "--jobs"),
        (&["run", "small.toml", "--sample", "1ns"], "error: --sample: `1ns` is out of range: allowed "),
        (&["run", "small.toml", "--packets", "--record", "nothing"], "error: --packets records the runs that --record names"),
        (&["run", "small.toml", "--out", "file"], "error: --out file: cannot hold results: is not a directory\n"),
        (&["compare", "--rate", "10"], "error: --rate: `10` has no unit"),
        (&["compare", "--rate", "10mbit", "--aqm", "codell"], "error: --aqm: `codell` is not a queue algorithm of this version"),
        (&["compare", "--rate", "10mbit", "--aqm", "codel:target=1 year"], "error: --aqm: target: `1 year`"),
        (&["compare", "--rate", "10mbit", "--aqm", "fair"], "error: --aqm: `fair` needs the algorithm it is over"),
        (
            &["compare", "--rate", "10mbit", "--aqm", "fair:fq-codel"],
            "error: --aqm: of.kind: `fq-codel` is a discipline of several queues",
        ),
        (&["compare", "--rate", "10mbit", "--cc", "tahoe"], "error: --cc: `tahoe`"),
        (&["compare", "--rate", "10mbit", "--buffer", "lots"], "error: --buffer: `lots`"),
        (&["compare", "--rate", "10mbit", "--flows", "0"], "error: --flows: "),
        (&["compare", "--rate", "10mbit", "--duration", "0s"], "error: --duration: "),
        (&["compare", "--trace", "nope.down"], "error: --trace: "),
        (&["compare", "--aqm", "codel"], "--rate"),
        (&["list", "aqm", "codle"], "error: `codle` is not a queue algorithm of this version; did you mean `codel`?"),
        (&["list", "cc", "cubik"], "error: `cubik` is not known; did you mean `cubic`?"),
        (
            &["compare", "--rate", "10mbit", "--aqm", "codel:targte=5ms"],
            "error: --aqm: `codel` has no parameter `targte`; did you mean `target`?",
        ),
        (
            &["compare", "--rate", "10mbit", "--aqm", "fair:flows=8:pie:targt=5ms"],
            "--aqm: `pie` has no parameter `targt`; did you mean `target`?",
        ),
        (&["list", "aqm", "nope"], "error: `nope` is not a queue algorithm of this version; `gq list aqm` names"),
    ];
    for (arguments, message) in cases {
        let (code, out, err) = run(dir.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?} said\n{err}\nand not\n{message}");
        assert!(out.is_empty(), "{arguments:?} printed {out}");
        assert!(!err.contains("panicked") && !err.contains("internal error"), "{arguments:?}: {err}");
    }
    // Both directions have the one queue that was named.
    let (_, _, err) = run(dir.path(), &["compare", "--rate", "50/10mbit", "--aqm", "nosuch"]);
    assert_eq!((err.matches("nosuch").count(), err.contains("--aqm-up")), (1, false), "{err}");
    assert!(!dir.path().join("results").exists(), "nothing was begun");
}

#[test]
fn lists_are_made_from_the_code() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, _) = run(dir.path(), &["list", "aqm"]);
    assert!(code == 0 && out.lines().count() == goodqueue_aqm::sched::kinds().count(), "{out}");
    let (code, out, _) = run(dir.path(), &["list", "aqm", "CoDel"]);
    assert!(code == 0 && out.starts_with("codel: ") && out.contains("default 5 ms"), "{out}");
    let (code, out, _) = run(dir.path(), &["list", "aqm", "fq_codel"]);
    assert!(code == 0 && out.starts_with("fq-codel: ") && out.contains("also called: FqCoDelQueueDisc"), "{out}");
    for what in ["aqm", "cc", "traffic", "metric"] {
        let (code, out, _) = run(dir.path(), &["list", what, "--json"]);
        let items: Value = serde_json::from_str(&out).expect("JSON");
        assert!(code == 0 && items.as_array().unwrap().len() > 1, "{out}");
        assert!(items.as_array().unwrap().iter().all(|item| item["name"].is_string() && item["summary"].is_string()));
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, _) = run(dir.path(), &["completions", shell]);
        assert!(code == 0 && out.contains("compare") && out.contains("rtt"), "{shell}: {out}");
    }
    let (code, out, _) = run(dir.path(), &["man", "compare"]);
    assert!(code == 0 && out.contains(".TH gq-compare 1") && out.contains("buffer"), "{out}");
    let (code, _, error) = run(dir.path(), &["man", "comprae"]);
    assert!(code == 2 && error.contains("gq has no command `comprae`: allowed compare, recommend, evaluate, run"), "{error}");
    let (code, ..) = run(dir.path(), &["man", "--out", "pages"]);
    let pages = std::fs::read_dir(dir.path().join("pages")).unwrap().count();
    let (_, help, _) = run(dir.path(), &["--help"]);
    // One entry per command in the groups, `help` among them, in place of which gq has its own
    // page.
    let entries = help.lines().skip_while(|line| *line != "Compare:").take_while(|line| *line != "Options:");
    let commands = entries.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).count();
    assert!(code == 0 && pages == commands, "{pages} pages, {help}");
}

#[test]
fn help_and_version_exit_with_zero() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [&["--help"][..], &["run", "--help"], &["compare", "--help"], &["--version"], &["version"]] {
        let (code, out, _) = run(dir.path(), arguments);
        assert!(code == 0 && !out.is_empty(), "{arguments:?}");
    }
}

/// A scenario of 25 lines of these rates in kbit/s, each with a load of 495 kbit/s.
fn many_lines(rate: impl Fn(u32) -> u32) -> String {
    let mut text = "goodqueue = 1\nduration = \"1 s\"\n".to_owned();
    for number in 0..25 {
        let (rate, name) = (rate(number), format!("line-{number}"));
        text += &format!(
            "[link.{name}]\nfrom = \"isp\"\nto = \"{name}\"\nrate = \"{rate} kbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 s\"\n"
        );
    }
    for number in 0..25 {
        text += &format!(
            "[[traffic]]\nname = \"call-{number}\"\nkind = \"cbr\"\nrate = \"495 kbit/s\"\npath = [\"isp\", \"line-{number}\"]\n"
        );
    }
    text
}

#[test]
fn of_many_links_those_are_printed_whose_packets_wait_longest() {
    let folder = folder();
    fs::write(folder.path().join("many.toml"), many_lines(|number| 500 - 10 * number)).expect("it is written");
    let (code, out, _) = run(folder.path(), &["run", "many.toml", "--out", "out"]);
    assert_eq!(code, 0);
    let heads = |what: &str| out.lines().filter(|line| line.starts_with(what)).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(heads("link "), (5..25).map(|number| format!("link line-{number}")).collect::<Vec<_>>());
    assert_eq!(heads("call-").len(), 20);
    assert!(out.contains("(20 of 25 links, those whose packets wait longest; all are in summary.json)\n"), "{out}");
    assert!(out.contains("(20 of 25 groups, the first; all are in summary.json)\n"), "{out}");
    assert_eq!(summary(&folder.path().join("out"))["points"][0]["links"].as_object().map(serde_json::Map::len), Some(25));
}

/// The last of the lines are not displaced by others that wait for nothing.
#[test]
fn links_that_wait_are_printed_where_most_do_not() {
    let folder = folder();
    let rate = |number| if number < 22 { 500 } else { 300 };
    fs::write(folder.path().join("many.toml"), many_lines(rate)).expect("it is written");
    let (code, out, _) = run(folder.path(), &["run", "many.toml", "--out", "out"]);
    assert_eq!(code, 0);
    let heads: Vec<&str> = out.lines().filter(|line| line.starts_with("link ")).collect();
    let wanted: Vec<String> = (0..17).chain(22..25).map(|number| format!("link line-{number}")).collect();
    assert_eq!(heads, wanted);
}

/// Three lines in worlds of their own, and in one: the sums are of the same kind.
#[test]
fn lines_that_share_nothing_have_their_sums_in_the_results() {
    let folder = folder();
    let of_three =
        SCENARIO.replace("[link.bottleneck]", "[link.bottleneck]\ncount = 3").replace("replications = 3", "replications = 1");
    fs::write(folder.path().join("three.toml"), of_three).expect("it is written");
    let (code, _, said) = run(folder.path(), &["run", "three.toml", "--out", "out"]);
    assert_eq!(code, 0, "{said}");
    for point in summary(&folder.path().join("out"))["points"].as_array().expect("points") {
        let of_link = |figure: &str| point["links"]["bottleneck"][figure]["mean"].as_f64().expect("a number");
        let flows = point["flows"].as_array().expect("flows");
        assert_eq!(flows.iter().map(|flow| flow["index"].as_u64()).collect::<Vec<_>>(), (0..6).map(Some).collect::<Vec<_>>());
        let goodput: f64 = flows.iter().filter_map(|flow| flow["goodput_bit_s"]["mean"].as_f64()).sum();
        // Each line of 5 Mbit/s is full, with packets of 1500 bytes of which 1448 are data.
        assert!((goodput / (3.0 * 5e6 * 1448.0 / 1500.0) - 1.0).abs() < 0.03, "{goodput}");
        assert!(
            (of_link("throughput_bit_s") / 15e6 - 1.0).abs() < 0.03 && (of_link("utilization") - 1.0).abs() < 0.03,
            "{point}"
        );
        assert!(of_link("queue_packets") < 4.0 * 9.0, "the mean of one line");
    }
}
