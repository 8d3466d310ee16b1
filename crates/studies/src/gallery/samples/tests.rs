//! Points of a small scenario, asked as rows ask.

use super::*;
use crate::gallery::expr::{Value, evaluate, parse};
use crate::gallery::files::Gallery;
use crate::gallery::store::Store;
use goodqueue_lab::run::backend::Simulator;
use std::fs;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

const SCENARIO: &str = r#"
goodqueue = 1
warmup = "1 s"
duration = "2 s"
replications = 2
[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "45 kB"
[[traffic]]
kind = "bulk"
[sweep]
"traffic.0" = [{ name = "reno", kind = "bulk", cc = "reno" }, { name = "udp", kind = "cbr", rate = "15 Mbit/s" }]
"link.bottleneck.delay" = ["5 ms", "20 ms"]
"#;
const PAPER: &str = "goodqueue-gallery = 1\ntitle = \"t\"\ncitation = \"codel2012\"\n[[experiment]]\nid = \"e-1\"\nfile = \"e-1.toml\"\n\
    axes = { load = \"traffic.0\", delay = \"link.bottleneck.delay\" }\nseries = true\nsample = \"100 ms\"\nquick = { duration = \"1 s\" }\n";

fn measured(out: &std::path::Path) -> (Vec<Measured>, usize) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("codel");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("paper.toml"), PAPER).unwrap();
    fs::write(folder.join("expected.toml"), "goodqueue-gallery = 1\nrow = []\n").unwrap();
    fs::write(folder.join("e-1.toml"), SCENARIO).unwrap();
    let paper = Gallery { root: dir.path().to_owned() }.read("codel").unwrap();
    let experiment = Experiment::load(&paper, &paper.experiments[0], crate::gallery::experiment::Mode::Quick, &[]).unwrap();
    let store = Store::new(out, crate::gallery::experiment::Mode::Quick);
    let end = crate::gallery::run::run(vec![experiment], &Simulator, &store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(end.complete);
    (end.measured, end.reused)
}

#[test]
fn points_are_picked_by_axis_and_stored_points_are_used_again() {
    let out = tempfile::tempdir().unwrap();
    let (measured, reused) = measured(out.path());
    let measured: Rc<[Measured]> = measured.into();
    assert_eq!(reused, 0);
    let ask = |view: View, text: &str| {
        let source = Rc::new(Points { measured: Rc::clone(&measured), paper: "codel".to_owned() });
        let env = Rc::new(PointsEnv { source, replications: 2, view, here: None });
        match parse(text, &[]).and_then(|expr| evaluate(&expr, &[], env)) {
            Ok(Value::Array(items)) => format!("{} values", items.len()),
            Ok(Value::Number(number)) => format!("{number:.3}"),
            Ok(Value::Bool(truth)) => truth.to_string(),
            Ok(other) => other.kind().to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let mean = |text: &str| ask(View::Mean, text);
    assert_eq!(mean(r#"pick("e-1", "links.bottleneck.utilization")"#), "4 values");
    assert_eq!(mean(r#"one("e-1", #{load: "udp", delay: 0.02}, "links.bottleneck.utilization")"#), "1.000");
    assert_eq!(mean(r#"axis("e-1", #{load: "udp", delay: ">0.01"}, "delay")[0]"#), "0.020");
    assert_eq!(mean(r#"values_of("e-1", "load")[1] == "udp""#), "true");
    assert_eq!(mean(r#"runs("e-1", #{load: "reno"}, "links.bottleneck.utilization")"#), "4 values");
    let samples = r#"series("e-1", #{load: "reno", delay: 0.02}, "bottleneck.queue_packets")"#;
    assert_eq!(ask(View::Replication(1), &format!("count({samples}) > 15")), "true");
    assert_eq!(mean(samples), "character 1: series: samples are of single runs: ask within `each_run(|run| ...)`");
    let longest = format!("each_run(|run| max(values({samples})))");
    assert_eq!(mean(&longest), "2 values");
    let alone = [0, 1].map(|at| ask(View::Replication(at), &format!("max(values({samples}))")));
    assert_eq!([0, 1].map(|at| mean(&format!("{longest}[{at}]"))), alone);
    assert_eq!([0, 1].map(|at| ask(View::Replication(at), &format!("{longest}[0]"))), alone);
    assert_eq!(mean("each_run(|run| run)[1]"), "1.000");
    let both = r#"one("e-1", #{load: "reno", delay: 0.02}, "links.bottleneck.queue_packets")"#;
    let each: Vec<f64> = [0, 1].map(|at| ask(View::Replication(at), both).parse().unwrap()).to_vec();
    assert!((mean(both).parse::<f64>().unwrap() - (each[0] + each[1]) / 2.0).abs() < 0.002, "{each:?}");
    assert_eq!(
        mean(r#"pick("e-1", #{load: "sctp"}, "links.bottleneck.utilization")"#),
        "character 1: pick: no point of `e-1` fits the filter"
    );
    assert_eq!(mean(r#"pick("e-1", #{rate: 1}, "x")"#), "character 1: pick: `e-1` has no axis `rate`: allowed load, delay");
    assert_eq!(mean(r#"pick("e-2", "x")"#), "character 1: pick: experiment `e-2` was not run");
    assert!(mean(r#"pick("e-1", "links.bottleneck.use")"#).contains("there is no figure `links.bottleneck.use`"));
    assert!(mean(r#"pick("e-1", #{load: ">3"}, "x")"#).contains("is no number and cannot be compared"));

    let (again, reused) = self::measured(out.path());
    assert_eq!(reused, 4);
    assert!(again[0].points == measured[0].points, "what is read back is not what was measured");
}

/// The fault that a check finds in a measure of the small scenario, before anything runs.
fn checked(measure: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("codel");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("paper.toml"), PAPER).unwrap();
    let row = "id = \"T-1\"\nplace = \"p\"\ngrade = \"A\"\nexperiments = [\"e-1\"]\nclaim = \"c\"\nmetric = \"m\"\nrelation = \"=\"\nexpected = 1.0";
    let expected = format!("goodqueue-gallery = 1\n[[row]]\nmeasure = '{measure}'\n{row}\n");
    fs::write(folder.join("expected.toml"), expected).unwrap();
    fs::write(folder.join("e-1.toml"), SCENARIO).unwrap();
    let paper = Gallery { root: dir.path().to_owned() }.read("codel").unwrap();
    let experiment = Experiment::load(&paper, &paper.experiments[0], crate::gallery::experiment::Mode::Quick, &[]).unwrap();
    match crate::gallery::catalogue::check(&paper, vec![experiment]) {
        Ok(()) => "sound".to_owned(),
        Err(fault) => fault.to_string().replace(&format!("{}/expected.toml:3:", folder.display()), ""),
    }
}

#[test]
fn what_is_plainly_wrong_is_found_before_anything_runs() {
    assert_eq!(checked(r#"max(pick("e-1", #{load: ["reno", "udp"]}, "groups.reno.goodput_bit_s"))"#), "sound");
    assert_eq!(checked("1 + foo(1)"), "16: row.T-1.measure: there is no function `foo`");
    assert_eq!(checked(r#"one("e-2", "x")"#), "12: row.T-1.measure: one: `e-2` is no experiment of paper.toml: allowed e-1");
    assert_eq!(
        checked(r#"one("e-1", #{rate: 1}, "x")"#),
        "12: row.T-1.measure: one: `e-1` has no axis `rate`: allowed load, delay"
    );
    assert_eq!(
        checked(r#"one("e-1", #{load: ["udp", "sctp"]}, "x")"#),
        "12: row.T-1.measure: one: no point of `e-1` has load = \"sctp\""
    );
    let figure = checked(r#"max(pick("e-1", "links.bottleneck.used"))"#);
    assert!(figure.starts_with("16: row.T-1.measure: pick: `e-1` has no figure `links.bottleneck.used`; there are "), "{figure}");
    let column = checked(r#"max(each_run(|run| max(values(series("e-1", "bottleneck.queue")))))"#);
    assert!(column.contains("series: `e-1` has no column `bottleneck.queue`; there are "), "{column}");
    assert_eq!(
        checked(r#"values_of("e-1", "load")"#),
        "12: row.T-1.measure: gives a list of texts: relation `=` needs a number or a list of numbers"
    );
    assert_eq!(checked(r#"probe("nothing")"#).split(':').nth(3), Some(" codel has no probe `nothing`"));
}
