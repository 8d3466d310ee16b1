//! Tests of the command when the world around it fails: interrupts, closed pipes, full disks.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "a clock bounds how long a test waits for another process")]

mod support;

use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{gq, interruptible, scenario};

/// Runs of unequal length: the first is over at once, the others take long.
const LONG: &str = r#"goodqueue = 1
name = "long"
duration = "1 s"
replications = 1

[link.bottleneck]
rate = "100 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"

[[traffic]]
kind = "bulk"
flows = 4

[sweep]
duration = ["1 s", "1000000 s"]
"#;

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
}

/// Waits until the first run, whose record is in the table's temporary file, is behind us.
fn wait_until_running(child: &mut Child) {
    let begun = Instant::now();
    let used = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // User time in clock ticks of 10 ms is the 14th field, the 12th after the name in
        // parentheses.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(11);
        fields.and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0)
    };
    // One second of simulated time takes far less than 1.5 seconds of processor time, even
    // unoptimised.
    while used(child.id()) < 150 {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended by itself");
        assert!(begun.elapsed() < Duration::from_secs(60), "it does no work");
        std::thread::yield_now();
    }
}

#[test]
fn the_first_interrupt_keeps_what_is_finished() {
    let dir = scenario(LONG);
    let mut child = interruptible(dir.path(), &["run", "s.toml", "--jobs", "1", "--out", "r"]).spawn().expect("it starts");
    wait_until_running(&mut child);
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("interrupted: 1 of 2 runs finished; the result is marked incomplete"), "{err}");
    let summary: Value = serde_json::from_slice(&fs::read(dir.path().join("r/summary.json")).unwrap()).expect("valid JSON");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["points"].as_array().unwrap().len(), 1);
    assert_eq!(summary["points"][0]["set"]["duration"], "1 s");
    let left: Vec<_> = fs::read_dir(dir.path().join("r")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\nINCOMPLETE: 1 of 2 runs finished\n\nlink bottleneck\n"));
}

#[test]
fn a_result_without_any_finished_run_is_valid_too() {
    let dir = scenario(&LONG.replace("[\"1 s\", ", "["));
    let mut child = interruptible(dir.path(), &["run", "s.toml", "--out", "r"]).spawn().expect("it starts");
    wait_until_running(&mut child);
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let summary: Value = serde_json::from_slice(&fs::read(dir.path().join("r/summary.json")).unwrap()).expect("valid JSON");
    assert!(summary["complete"] == false && summary["points"].as_array().unwrap().is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("No run finished"));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    for what in ["aqm", "metric"] {
        let mut child = gq(dir.path(), &["list", what]).spawn().expect("it starts");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut err).expect("text");
        assert!(child.wait().expect("it ends").success() && err.is_empty(), "{err}");
    }
    let dir = scenario(&LONG.replace(", \"1000000 s\"", ""));
    let mut child = gq(dir.path(), &["run", "s.toml", "--out", "r"]).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert!(child.wait().expect("it ends").success());
    assert!(dir.path().join("r/summary.json").exists());
}

#[test]
fn standard_output_on_a_full_disk_still_leaves_the_result() {
    let dir = scenario(&LONG.replace(", \"1000000 s\"", ""));
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = gq(dir.path(), &["run", "s.toml", "--out", "r"]).stdout(full).output().expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: standard output cannot be written: No space left"), "{err}");
    assert!(dir.path().join("r/summary.json").exists());
}

#[test]
fn help_that_cannot_be_written_is_no_success() {
    let dir = scenario(LONG);
    for words in [&["help"][..], &["--help"], &["run", "--help"], &["help", "run"], &["--version"], &["version"], &["list", "cc"]]
    {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = gq(dir.path(), words).stdout(full).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {err}");
        assert!(err.contains("error: standard output cannot be written: No space left"), "{words:?}: {err}");
    }
}

#[test]
fn a_limit_on_file_sizes_is_met_as_a_full_disk_is() {
    let dir = scenario(&LONG.replace(", \"1000000 s\"", ""));
    let command = format!("ulimit -f 16; exec '{}' run s.toml --out r --sample 1ms", env!("CARGO_BIN_EXE_gq"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(dir.path()).output().expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{:?} {err}", output.status);
    assert!(err.contains("File too large"), "{err}");
    let left = std::fs::read_dir(dir.path().join("r")).expect("a folder").filter_map(Result::ok);
    assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().ends_with(".tmp")));
}

#[test]
fn a_full_disk_for_the_json_copy_loses_nothing() {
    let dir = scenario(&LONG.replace(", \"1000000 s\"", ""));
    let output = gq(dir.path(), &["run", "s.toml", "--out", "r", "--json", "/dev/full"]).output().expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: /dev/full: cannot be written: No space left"), "{err}");
    assert!(dir.path().join("r/summary.json").exists());
    assert!(String::from_utf8_lossy(&output.stdout).contains("link bottleneck"));
}

/// A tiny file system, where this may be mounted; unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().ok()?;
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path()).output().ok()?;
        mounted.status.success().then(|| Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_disk_that_fills_up_is_said_and_the_table_is_printed() {
    let Some(disk) = SmallDisk::mount("64k") else {
        eprintln!("skipped: tmpfs cannot be mounted here");
        return;
    };
    let dir = scenario(&LONG.replace(", \"1000000 s\"", ""));
    let out = disk.0.path().join("r");
    let output = gq(dir.path(), &["run", "s.toml", "--out"]).arg(&out).output().expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("report.html: cannot be written: No space left"), "{err}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("link bottleneck"));
    // Files that fit are there, whole; those that do not have left nothing behind.
    serde_json::from_slice::<Value>(&fs::read(out.join("summary.json")).expect("the summary fits")).expect("valid JSON");
    let left: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!out.join("report.html").exists(), "{left:?}");
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[test]
fn the_series_do_not_take_the_room_of_the_summary() {
    let Some(disk) = SmallDisk::mount("64k") else {
        eprintln!("skipped: tmpfs cannot be mounted here");
        return;
    };
    let dir = scenario(&LONG.replace("[\"1 s\", \"1000000 s\"]", "[\"1 s\"]"));
    let out = disk.0.path().join("r");
    // The table is larger than the disk, the other files are smaller.
    let arguments = ["run", "s.toml", "--sample", "20us", "--no-report", "--out"];
    let output = gq(dir.path(), &arguments).arg(&out).output().expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("series.parquet: cannot be written: No space left"), "{err}");
    let mut left: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["run.json", "scenario.toml", "summary.json"], "{err}");
}

#[test]
fn interrupts_that_were_ignored_at_the_start_stay_ignored() {
    let long = LONG.replace("[\"1 s\", ", "[");
    for (ignored, signal) in [("HUP", "-HUP"), ("INT", "-INT")] {
        let dir = scenario(&long);
        let script = format!("trap '' {ignored}; exec \"$0\" run s.toml --jobs 1 --out r");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_gq")]).current_dir(dir.path());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        wait_until_running(&mut child);
        for _ in 0..3 {
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill starts").success());
        }
        // A flag that is set ends a run within a moment.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1) {
            assert!(child.try_wait().expect("it can be asked").is_none(), "{ignored} ended it");
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill starts").success());
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert_eq!(err.matches("stopping: ").count(), 1, "{err}");
    }
}

#[test]
fn a_full_disk_is_found_out_before_anything_runs() {
    let Some(disk) = SmallDisk::mount("4k") else {
        eprintln!("skipped: tmpfs cannot be mounted here");
        return;
    };
    let _ = fs::write(disk.0.path().join("filler"), vec![0; 1 << 16]);
    let dir = scenario(LONG);
    let output = gq(dir.path(), &["run", "s.toml", "--out"]).arg(disk.0.path()).output().expect("it runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("cannot hold results: No space left"), "{err}");
}
