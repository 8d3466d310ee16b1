//! Verdicts recorded from reference models that share no code with this crate:
//! `vectors/<algorithm>/*.json`, written by `vectors/reference/*.py`; and recordings of Linux in
//! `vectors/linux`. `docs/conformance.md` describes the format.

use goodqueue_checks::conformance::{Vector, replay};
use std::path::{Path, PathBuf};

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a readable vector");
    let vector = Vector::parse(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"));
    let outcome = replay(&vector).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
    if let Some(difference) = &outcome.first {
        panic!("{}: {difference}", vector.name);
    }
    assert!(outcome.passed() && outcome.operations > 0, "{}: {outcome:?}", vector.name);
}

fn vectors(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of an algorithm's vectors")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

macro_rules! vectors {
    ($($test:ident: $folder:literal),+ $(,)?) => {
        $(#[test] fn $test() { vectors($folder).iter().for_each(|path| check(path)); })+

        #[test]
        fn every_folder_of_vectors_is_replayed() {
            let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")).expect("vectors");
            let folders = folders.map(|entry| entry.expect("a readable folder").path()).filter(|path| path.is_dir());
            for folder in folders {
                let name = folder.file_name().unwrap_or_default().to_owned();
                let known = [$($folder,)+ "reference"];
                assert!(known.iter().any(|known| name == *known), "{name:?} is not replayed");
            }
        }
    };
}

vectors! {
    codel: "codel",
    tail_drop: "tail-drop",
    fair: "fair",
    fq_codel: "fq-codel",
    cp_aqm: "cp-aqm",
    linux: "linux",
    linux_7_3: "linux-7.3",
    red: "red",
    ared: "ared",
    pie: "pie",
    gsp: "gsp",
    sfq_codel: "sfq-codel",
    fq_pie: "fq-pie",
    priority: "priority",
    shaper: "shaper",
    cake: "cake",
    dualpi2: "dualpi2",
    blue: "blue",
    cobalt: "cobalt",
    nfq_codel: "nfq-codel",
    jobs: "jobs",
    docsis_pie: "docsis-pie",
    gsp_as: "gsp-as",
    codel_as: "codel-as",
    pie_as: "pie-as",
    rem: "rem",
    pi: "pi",
    avq: "avq",
    phantom_queue: "phantom-queue",
    choke: "choke",
    sfb: "sfb",
}
