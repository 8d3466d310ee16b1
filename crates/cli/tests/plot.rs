//! `gq plot` as a user meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SCENARIO: &str = r#"goodqueue = 1
name = "small"
warmup = "1 s"
duration = "3 s"
replications = 2
seed = 4

[link.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
buffer = "4 bdp"

[[traffic]]
kind = "bulk"
flows = 2

[[traffic]]
kind = "echo"

[sweep]
"link.bottleneck.queue" = ["tail-drop", "codel", "fq-codel"]
"#;

fn gq(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gq"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("the command starts")
}

/// Exit code and standard error.
fn told(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = gq(folder, arguments);
    (output.status.code().expect("it exits by itself"), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// A folder with a result in `r`.
fn result() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::write(dir.path().join("s.toml"), SCENARIO).expect("the scenario is written");
    let (code, err) = told(dir.path(), &["run", "s.toml", "--out", "r"]);
    assert_eq!(code, 0, "{err}");
    dir
}

fn texts(svg: &str) -> Vec<&str> {
    svg.lines().filter(|line| line.starts_with("<text")).filter_map(|line| line.split(['<', '>']).nth(2)).collect()
}

#[test]
fn every_kind_of_figure_has_units_a_legend_and_no_title() {
    let dir = result();
    let draw = |arguments: &[&str]| {
        let output = gq(dir.path(), &[&["plot", "r", "--out", "-"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for (arguments, axes) in [
        (&["--figure", "tradeoff"][..], ["Sojourn time, p95 (ms)", "Utilization (%)"]),
        (&["--figure", "tradeoff", "--group", "echo"], ["RTT, p95 (ms)", "Utilization (%)"]),
        (&["--figure", "tradeoff", "--metric", "sojourn_s.mean,drop_ratio"], ["Sojourn time, mean (ms)", "Dropped (%)"]),
        (&["--figure", "cdf"], ["Sojourn time (ms)", "Share of packets (%)"]),
        (&["--figure", "cdf", "--group", "echo"], ["Round-trip time (ms)", "Share of packets (%)"]),
        (&["--figure", "time"], ["Time (s)", "Sojourn time (ms)"]),
        (&["--figure", "time", "--metric", "queue_packets"], ["Time (s)", "Queue (packets)"]),
        (
            &["--figure", "time", "--group", "bulk", "--metric", "cwnd_bytes"],
            ["Time (s)", "Congestion window, mean over flows (kB)"],
        ),
    ] {
        let svg = draw(arguments);
        let texts = texts(&svg);
        for text in axes.iter().chain(&["tail-drop", "codel", "fq-codel"]) {
            assert!(texts.contains(text), "{arguments:?}: {text} in {texts:?}");
        }
        assert!(!svg.contains("font-weight=\"bold\""), "{arguments:?} has a title");
        assert!(!svg.contains("NaN") && !svg.contains("prefers-color-scheme"), "{arguments:?}");
    }
    let bars = draw(&["--figure", "bars", "--metric", "utilization", "--title", "Use & load"]);
    assert_eq!(bars.matches("<rect class=\"f").count(), 3, "a bar per queue and no legend: {bars}");
    assert!(texts(&bars).contains(&"Use &amp; load"));
    let noticed = draw(&[]);
    assert_eq!(noticed.matches("<rect class=\"f").count(), 3, "bars of what people notice: {noticed}");
    assert!(!texts(&noticed).iter().any(|text| text.starts_with("Sojourn")), "{:?}", texts(&noticed));
    let only = draw(&["--figure", "cdf", "--only", "codel"]);
    assert!(texts(&only).contains(&"codel") && !texts(&only).contains(&"tail-drop"));
}

#[test]
fn figure_has_the_given_width_and_the_same_bytes_each_time() {
    let dir = result();
    let draw =
        |out: &str| told(dir.path(), &["plot", "r", "--figure", "tradeoff", "--width", "84mm", "--font", "serif", "--out", out]);
    assert_eq!(draw("a.svg"), (0, "figure in a.svg\n".to_owned()));
    assert_eq!(draw("b.svg").0, 0);
    let svg = fs::read_to_string(dir.path().join("a.svg")).unwrap();
    assert_eq!(svg, fs::read_to_string(dir.path().join("b.svg")).unwrap());
    assert!(svg.contains("width=\"3.3071in\"") && svg.contains("Liberation Serif"), "{}", &svg[..300]);
    assert_eq!(told(dir.path(), &["plot", "r", "--figure", "bars"]), (0, "figure in bars.svg\n".to_owned()));
}

/// Figures on file: every kind, and one of a group.
const ON_FILE: [(&str, &[&str]); 5] = [
    ("tradeoff", &["--figure", "tradeoff", "--width", "3.3in", "--font", "serif"]),
    ("cdf", &["--figure", "cdf", "--width", "3.3in", "--font", "serif"]),
    ("time", &["--figure", "time", "--metric", "queue_packets"]),
    ("bars", &["--figure", "bars", "--metric", "drop_ratio", "--title", "Drops"]),
    ("echo", &["--figure", "cdf", "--group", "echo", "--only", "codel", "--only", "fq-codel"]),
];

fn figure_on_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plot").join(name).with_extension("svg")
}

fn figures() -> impl Iterator<Item = (&'static str, String)> {
    let dir = result();
    ON_FILE.into_iter().map(move |(name, arguments)| {
        let output = gq(dir.path(), &[&["plot", "r", "--out", "-"], arguments].concat());
        (name, String::from_utf8(output.stdout).expect("UTF-8"))
    })
}

#[test]
fn figures_are_those_on_file() {
    for (name, drawn) in figures() {
        let file = figure_on_file(name);
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let differs = drawn.lines().zip(expected.lines()).position(|(left, right)| left != right);
        assert!(
            drawn == expected,
            "{} is another figure, from line {} on: look at both, then run the ignored test of this file",
            file.display(),
            differs.unwrap_or(expected.lines().count()) + 1
        );
    }
}

#[test]
#[ignore = "writes the figures"]
fn writes_the_figures_on_file() {
    for (name, drawn) in figures() {
        fs::write(figure_on_file(name), drawn).expect("the figure is written");
    }
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let dir = result();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::create_dir(dir.path().join("broken")).unwrap();
    fs::write(dir.path().join("broken/summary.json"), "{\"schema\": 3}").unwrap();
    fs::create_dir(dir.path().join("torn")).unwrap();
    fs::copy(dir.path().join("r/summary.json"), dir.path().join("torn/summary.json")).unwrap();
    let series = fs::read(dir.path().join("r/series.parquet")).unwrap();
    fs::write(dir.path().join("torn/series.parquet"), &series[..series.len() / 2]).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["nowhere", "--figure", "cdf"], "nowhere: there is no such folder"),
        (&["s.toml", "--figure", "cdf"], "s.toml: is not a folder"),
        (&["empty", "--figure", "cdf"], "empty: is no folder of results: it has no summary.json"),
        (&["broken", "--figure", "cdf"], "broken/summary.json: is no summary of a result: "),
        (&["torn", "--figure", "time"], "torn/series.parquet: cannot be read: "),
        (&["torn", "--figure", "cdf"], "--figure: cdf: the result has no distributions: "),
        (&["r", "--figure", "pie"], "--figure: there is no kind of figure `pie`"),
        (&["r", "--figure", "sweep"], "--figure: sweep: the result has no swept setting with two values but its queues"),
        (&["r", "--figure", "cdf", "--width", "0in"], "--width: 0in is out of range: allowed 1in to 20in"),
        (&["r", "--figure", "cdf", "--width", "1e9in"], "--width: 1e9in is out of range: allowed 1in to 20in"),
        (&["r", "--figure", "cdf", "--width", "wide"], "--width: `wide` is not a length, such as 3.3in, 84mm or 240pt"),
        (&["r", "--figure", "cdf", "--height", "0.5in", "--font-size", "30pt"], "--height: leaves no room for the plot"),
        (&["r", "--figure", "cdf", "--format", "eps"], "--format: there is no format `eps`"),
        (&["r", "--figure", "cdf", "--font", "<b>"], "--font: `<b>` is not the name of a font"),
        (&["r", "--figure", "cdf", "--link", "bottle"], "--link: there is no link `bottle`"),
        (&["r", "--figure", "cdf", "--group", "bulk"], "--group: `bulk` has no distribution"),
        (
            &["r", "--figure", "cdf", "--group", "bulk", "--link", "bottleneck"],
            "--group: a figure is of a link or of a group, not of both",
        ),
        (&["r", "--figure", "cdf", "--metric", "sojourn_s"], "--metric: `sojourn_s`: the figure cdf has no metric to choose"),
        (
            &["r", "--figure", "bars", "--metric", "sojourn_s.p96"],
            "--metric: there is no figure `sojourn_s.p96`; did you mean `sojourn_s.p95`?",
        ),
        (
            &["r", "--figure", "time", "--metric", "queue_packet"],
            "--metric: there is no sampled value `queue_packet`; did you mean `queue_packets`?",
        ),
        (&["r", "--figure", "cdf", "--only", "coddle"], "--only: there is no point `coddle`; did you mean `codel`?"),
        (&["r", "--figure", "bars", "--scale", "log"], "--scale: `log`: the length of a bar is its value"),
        (&["r", "--figure", "cdf", "--out", "no/where.svg"], "--out no/where.svg: cannot be written: there is no folder no"),
    ];
    for (arguments, message) in cases {
        let (code, err) = told(dir.path(), &[&["plot"], *arguments].concat());
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.starts_with(&format!("error: {message}")) && err.lines().count() == 1, "{arguments:?}: {err}");
    }
}

#[test]
fn a_sweep_is_drawn_over_its_setting_or_as_bars_by_setting() {
    let dir = tempfile::tempdir().unwrap();
    let two = SCENARIO.replace("[sweep]", "[sweep]\n\"traffic.0.flows\" = [1, 2]");
    fs::write(dir.path().join("s.toml"), two).unwrap();
    assert_eq!(told(dir.path(), &["sweep", "s.toml", "--out", "w"]).0, 0);
    let output = gq(dir.path(), &["plot", "w", "--figure", "bars", "--out", "-"]);
    let svg = String::from_utf8(output.stdout).unwrap();
    for text in ["flows=1", "flows=2", "tail-drop", "codel", "fq-codel"] {
        assert!(texts(&svg).contains(&text), "{text} in {:?}", texts(&svg));
    }
    assert_eq!(told(dir.path(), &["plot", "w"]), (0, "figure in sweep.svg\n".to_owned()));
    let svg = fs::read_to_string(dir.path().join("sweep.svg")).unwrap();
    for text in ["Flows", "1", "2", "tail-drop", "codel", "fq-codel"] {
        assert_eq!(texts(&svg).iter().filter(|known| **known == text).count(), 1, "{text} in {:?}", texts(&svg));
    }
    let (code, err) = told(dir.path(), &["plot", "w", "--figure", "time"]);
    assert_eq!((code, err.starts_with("error: --figure: time: the result has no series")), (2, true), "{err}");
}
