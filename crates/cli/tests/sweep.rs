//! `gq sweep`: the summary that `gq run` gives, resuming, points that fail, other sweeps, a full
//! disk.

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::run as gq;

const SCENARIO: &str = r#"goodqueue = 1
name = "swept"
duration = "2 s"
replications = 2
seed = 4

[link.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
buffer = "30 packets"

[[traffic]]
kind = "bulk"

[sweep]
"link.bottleneck.queue" = ["tail-drop", "codel"]
"traffic.0.flows" = [1, 2]
"#;

fn folder(scenario: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    fs::write(dir.path().join("swept.toml"), scenario).expect("the scenario is written");
    dir
}

/// Every file under a folder.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).expect("within").to_owned(), fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

#[test]
fn gives_the_summary_of_a_run_and_goes_on_where_it_was() {
    let dir = folder(SCENARIO);
    let place = dir.path();
    let (code, out, err) = gq(place, &["sweep", "swept.toml", "--out", "done", "--jobs", "2"]);
    assert_eq!((code, out.starts_with("4 of 4 points finished\n\n")), (0, true), "{out}{err}");
    let (code, _, err) = gq(place, &["run", "swept.toml", "--out", "run", "--no-report", "--record", "nothing"]);
    assert_eq!(code, 0, "{err}");
    let whole = files(&place.join("done"));
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("a summary");
    let of_run = read(&fs::read(place.join("run/summary.json")).expect("a summary"));
    assert_eq!(read(&whole[Path::new("summary.json")]), of_run);

    let point = |number: u32| place.join(format!("done/points/00000{number}.parquet"));
    fs::remove_file(point(0)).expect("there");
    fs::write(point(2), "not a table").expect("writable");
    fs::write(place.join("done/points/000003.parquet.tmp"), "half a fi").expect("writable");
    let (code, again, err) = gq(place, &["sweep", "swept.toml", "--out", "done", "--jobs", "1"]);
    assert!(code == 0 && again == out.replacen("finished", "finished, 2 of them from before", 1), "{again}{err}");
    assert_eq!(files(&place.join("done")), whole);
}

#[test]
fn points_that_fail_are_told_and_tried_again() {
    let flows = "\"traffic.0.flows\" = [1, 2]";
    let dir = folder(&SCENARIO.replace(flows, "\"link.bottleneck.buffer\" = [\"10 packets\", \"10 B\"]"));
    for _ in 0..2 {
        let (code, out, err) = gq(dir.path(), &["sweep", "swept.toml", "--out", "done"]);
        assert_eq!(code, 2, "a value that is wrong by itself is found before anything is run: {out}{err}");
        assert!(err.contains("holds 10 B"), "{err}");
    }
    let list = "[[sweep]]\n\"link.bottleneck.buffer\" = \"10 packets\"\n[[sweep]]\n\"link.bottleneck.buffer\" = \"10 B\"\n";
    let (head, _) = SCENARIO.split_once("[sweep]").expect("a sweep");
    fs::write(dir.path().join("swept.toml"), format!("{head}{list}")).expect("the scenario is written");
    for before in ["", ", 1 of them from before"] {
        let (code, out, err) = gq(dir.path(), &["sweep", "swept.toml", "--out", "done"]);
        assert!(code == 1 && out.starts_with(&format!("1 of 2 points finished{before}\n")), "{out}{err}");
        assert!(err.contains("1 point failed: see done"), "{err}");
    }
    let failed = fs::read_to_string(dir.path().join("done/failed/000001.json")).expect("a record");
    assert!(failed.contains("holds 10 B"), "{failed}");
}

#[test]
fn another_sweep_is_refused() {
    let dir = folder(SCENARIO);
    let sweep = |more: &[&str]| gq(dir.path(), &[&["sweep", "swept.toml", "--out", "done"], more].concat());
    assert_eq!(sweep(&[]).0, 0);
    let (code, _, err) = sweep(&["--seed", "5"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("holds another sweep: its seed is 4, here it is 5"), "{err}");
    assert_eq!(sweep(&["--jobs", "0"]).0, 2);
    assert_eq!(gq(dir.path(), &["sweep", "nowhere.toml", "--out", "done"]).0, 2);
}

/// A file system of limited size in kilobytes, unmounted at the end.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: &Path, kilobytes: u32) -> Option<Self> {
        fs::create_dir(path).ok()?;
        let size = format!("size={kilobytes}k");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).output().ok()?;
        done.status.success().then(|| Self(path.to_owned()))
    }

    fn grow(&self, kilobytes: u32) {
        let done = Command::new("mount").args(["-o", &format!("remount,size={kilobytes}k")]).arg(&self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "the file system grows");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_loses_nothing_that_is_finished() {
    let dir = folder(&SCENARIO.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]"));
    let place = dir.path();
    let Some(disk) = Disk::mount(&place.join("disk"), 64) else {
        println!("skipped: a full disk (no file system can be mounted here)");
        return;
    };
    let sweep = |out: &str| gq(place, &["sweep", "swept.toml", "--out", out]);
    let (code, _, err) = sweep("disk/done");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("disk/done/") && err.to_lowercase().contains("no space"), "{err}");
    let before = files(&place.join("disk/done"));
    assert!(before.keys().any(|path| path.starts_with("points")), "some points are finished: {:?}", before.keys());
    assert!(before.keys().all(|path| path.extension().is_none_or(|ending| ending != "tmp")), "{:?}", before.keys());
    disk.grow(4096);
    let (code, out, err) = sweep("disk/done");
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("12 of 12 points finished, "), "{out}");
    let after = files(&place.join("disk/done"));
    assert!(before.iter().all(|(path, bytes)| &after[path] == bytes));
    assert_eq!(sweep("here").0, 0);
    assert_eq!(after, files(&place.join("here")));
}
