//! Our own scripts against our own sender and receiver: loss recovery, HyStart++, accurate ECN.

use goodqueue_checks::packetdrill::goodqueue::Goodqueue;
use goodqueue_checks::packetdrill::{Settings, Verdict, parse, run};
use std::fs;
use std::path::Path;

#[test]
fn every_script_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10, "the scripts are in {}", folder.display());
    let mut faults = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let script = parse(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
        let verdict = run(&script, &mut Goodqueue::new(), &Settings::default());
        if verdict != Verdict::Pass {
            faults.push(format!("{}: {verdict}", path.file_name().unwrap().to_string_lossy()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
