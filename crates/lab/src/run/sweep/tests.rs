use super::*;
use crate::run::plan_results::Results;
use crate::run::runner::RunOptions;
use crate::verdict::Criteria;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const HEAD: &str = r#"
goodqueue = 1
name = "sweep"
duration = "1 s"
replications = 2
[link.bottleneck]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "40 packets"
[[traffic]]
kind = "bulk"
flows = 2
"#;
const GRID: &str = r#"
[sweep]
"link.bottleneck.queue" = ["tail-drop", { kind = "codel", target = "10 ms" }]
"traffic.0.flows" = [1, 2, 3]
"#;

fn plan(sweep: &str) -> Plan {
    Plan::parse("sweep.toml", &format!("{HEAD}{sweep}"), Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()))
}

fn at_once(plan: &Plan) -> String {
    let options = RunOptions::unrecorded(2, plan.replications());
    let points = plan.points().unwrap();
    let report = runner::run(&points, &options, &AtomicBool::new(false), &mut |_| {}, &mut NoRecorder);
    Results::new(plan, points, report, &Criteria::default()).summary.to_json()
}

/// Every file below a folder with its bytes.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() {
            found.extend(files(&entry).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, fs::read(&entry).unwrap());
        }
    }
    found
}

fn run(plan: &Plan, path: &Path, jobs: usize) -> SweepEnd {
    let sweep = Sweep::open(plan, plan.source_text(), path).unwrap();
    sweep.run(jobs, &AtomicBool::new(false), &mut |_| {}).unwrap().0
}

#[test]
fn ends_with_the_summary_of_all_points_run_at_once() {
    let (plan, folder) = (plan(GRID), tempfile::tempdir().unwrap());
    let end = run(&plan, folder.path(), 2);
    assert_eq!(end, SweepEnd { points: 6, found: 0, finished: 6, failed: 0 });
    assert_eq!(fs::read_to_string(folder.path().join("summary.json")).unwrap(), at_once(&plan));
    assert_eq!(fs::read_to_string(folder.path().join("scenario.toml")).unwrap(), plan.source_text());
    assert_eq!(run(&plan, folder.path(), 2), SweepEnd { points: 6, found: 6, finished: 6, failed: 0 });
}

#[test]
fn a_sweep_that_was_stopped_or_damaged_ends_with_the_same_bytes() {
    let plan = plan(GRID);
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&plan, whole.path(), 1);
    let sweep = Sweep::open(&plan, plan.source_text(), broken.path()).unwrap();
    let (end, _) = sweep.run(1, &AtomicBool::new(true), &mut |_| {}).unwrap();
    assert_eq!(end, SweepEnd { points: 6, found: 0, finished: 0, failed: 0 });
    // The points that a stopped sweep has left behind.
    for number in [0, 2] {
        sweep.keep(number, &run_point(&plan, &plan.sha256(), number, &AtomicBool::new(false))).unwrap();
    }
    // One file cut short, one of another point, one half written, one that is no file of ours at
    // all, one with a flipped bit.
    let point = |number: usize| sweep.point_path(number);
    let mut flipped = fs::read(point(2)).unwrap();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    fs::write(point(2), flipped).unwrap();
    let bytes = fs::read(point(0)).unwrap();
    fs::write(point(0), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(point(4), &bytes).unwrap();
    fs::write(point(5), "no parquet").unwrap();
    fs::write(point(3).with_extension("parquet.tmp"), "half").unwrap();
    drop(sweep);
    assert!(run(&plan, broken.path(), 2).is_complete());
    assert_eq!(files(broken.path()), files(whole.path()));
}

#[test]
fn a_point_that_fails_is_recorded_and_the_others_go_on() {
    // The second point's buffer is smaller than a packet: good TOML, but nothing that can run.
    let list = "[[sweep]]\n\"link.bottleneck.buffer\" = \"10 packets\"\n\"traffic.0.flows\" = 1\n\
                [[sweep]]\n\"traffic.0.flows\" = 2\n\"link.bottleneck.buffer\" = \"10 B\"\n\
                [[sweep]]\n\"link.bottleneck.buffer\" = \"30 packets\"\n\"traffic.0.flows\" = 3\n";
    let (plan, folder) = (plan(list), tempfile::tempdir().unwrap());
    let end = run(&plan, folder.path(), 2);
    assert_eq!(end, SweepEnd { points: 3, found: 0, finished: 2, failed: 1 });
    let failed: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("failed/000001.json")).unwrap()).unwrap();
    assert_eq!(failed["set"]["link.bottleneck.buffer"], "10 B");
    assert!(failed["errors"][0].as_str().unwrap().contains("holds 10 B"), "{failed}");
    assert!(failed["settings"].as_str().unwrap().contains("\"flows\"=2"), "{failed}");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("summary.json")).unwrap()).unwrap();
    assert_eq!((summary["complete"].as_bool(), summary["points"].as_array().unwrap().len()), (Some(false), 2));
    let first = files(folder.path());
    assert_eq!(run(&plan, folder.path(), 1).failed, 1);
    assert_eq!(files(folder.path()), first);
}

#[test]
fn another_sweep_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    run(&plan(GRID), folder.path(), 2);
    let other = plan("[sweep]\n\"traffic.0.flows\" = [1, 2]\n");
    let error = Sweep::open(&other, "", folder.path()).err().unwrap().to_string();
    assert!(error.contains("holds another sweep: its points is 6, here it is 2"), "{error}");
    let path = folder.path().join("sweep.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(VERSION, "0.0.0")).unwrap();
    let error = Sweep::open(&plan(GRID), "", folder.path()).err().unwrap().to_string();
    assert!(error.contains("its version is \"0.0.0\""), "{error}");
    fs::write(&path, "{").unwrap();
    let error = Sweep::open(&plan(GRID), "", folder.path()).err().unwrap().to_string();
    assert!(error.ends_with("sweep.json: cannot be read: it is not what a sweep writes"), "{error}");
}

#[test]
fn every_bit_of_a_point_file_counts() {
    let plan = plan(GRID);
    let PointOutcome::Finished(bytes) = run_point(&plan, &plan.sha256(), 0, &AtomicBool::new(false)) else { panic!("it runs") };
    assert!(read_bytes(bytes.clone(), &plan.sha256(), 0).is_some());
    for place in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        assert!(read_bytes(flipped, &plan.sha256(), 0).is_none(), "byte {place} of {}", bytes.len());
    }
}

#[test]
fn a_folder_with_something_else_is_refused() {
    let plan = plan(GRID);
    let refused = |folder: &Path| Sweep::open(&plan, plan.source_text(), folder).err().unwrap().to_string();
    for name in ["summary.json", "run.json", "scenario.toml"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), "{}").unwrap();
        let error = refused(folder.path());
        assert!(
            error.ends_with(&format!("holds {name}, which is not of this sweep: use another folder, or remove it")),
            "{error}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    run(&plan, folder.path(), 2);
    fs::copy(folder.path().join("points/000000.parquet"), folder.path().join("points/000006.parquet")).unwrap();
    assert!(refused(folder.path()).contains("points: holds 000006.parquet"));
    fs::remove_file(folder.path().join("points/000006.parquet")).unwrap();
    // A sweep that was killed before it had written its scenario.
    fs::remove_file(folder.path().join("scenario.toml")).unwrap();
    run(&plan, folder.path(), 2);
    assert_eq!(fs::read_to_string(folder.path().join("scenario.toml")).unwrap(), plan.source_text());
}

#[cfg(unix)]
#[test]
fn unwritable_point_ends_the_sweep_and_keeps_earlier_points() {
    let (plan, folder) = (plan(GRID), tempfile::tempdir().unwrap());
    let sweep = Sweep::open(&plan, plan.source_text(), folder.path()).unwrap();
    // A folder where the fourth point's file should go stands for a disk that does not take it.
    fs::create_dir(sweep.point_path(3)).unwrap();
    let error = sweep.run(1, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("000003.parquet: cannot be written"), "{error}");
    assert!(sweep.point_path(2).is_file());
    fs::remove_dir(sweep.point_path(3)).unwrap();
    drop(sweep);
    assert!(run(&plan, folder.path(), 1).is_complete());
    assert_eq!(fs::read_to_string(folder.path().join("summary.json")).unwrap(), at_once(&plan));
}

#[test]
fn without_a_sweep_there_is_one_point() {
    let (plan, folder) = (plan(""), tempfile::tempdir().unwrap());
    assert_eq!(run(&plan, folder.path(), 2), SweepEnd { points: 1, found: 0, finished: 1, failed: 0 });
    assert_eq!(fs::read_to_string(folder.path().join("summary.json")).unwrap(), at_once(&plan));
}

#[test]
fn lists_of_points_are_held_to_their_keys() {
    let error = |sweep: &str| Plan::parse("s.toml", &format!("{HEAD}{sweep}"), Path::new("")).unwrap_err().text();
    let one = "[[sweep]]\n\"traffic.0.flows\" = 1\n";
    assert!(error(&format!("{one}[[sweep]]\n")).contains("sets 0 keys"), "{}", error(&format!("{one}[[sweep]]\n")));
    assert!(error(&format!("{one}[[sweep]]\n\"traffic.0.cc\" = \"reno\"\n")).contains("does not set `traffic.0.flows`"));
    assert!(error("[[sweep]]\nseed = 1\n").contains("cannot be swept"));
    assert!(error("[[sweep]]\ntraffic.0.flows = 1\n").contains("write keys in quotes"));
    assert_ne!(plan(one).sha256(), plan("[sweep]\n\"traffic.0.flows\" = [1]\n").sha256());
}
