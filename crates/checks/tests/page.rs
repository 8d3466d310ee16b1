//! The table in `docs/conformance.md`: the result of our queues on every vector, by kind and
//! origin.
//!
//! To regenerate it: `cargo test -p goodqueue-checks --test page -- --ignored` (`make docs`).

use goodqueue_checks::conformance::{library, replay};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- made by crates/checks/tests/page.rs: begin -->\n";
const END: &str = "<!-- end -->\n";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md")
}

#[derive(Default)]
struct Sum {
    vectors: u64,
    operations: usize,
    identical: usize,
}

fn table() -> String {
    let mut sums: BTreeMap<(&str, String), Sum> = BTreeMap::new();
    for source in library::embedded() {
        let vector = source.load().unwrap_or_else(|error| panic!("{error}"));
        let outcome = replay(&vector).unwrap_or_else(|error| panic!("{}: {error}", vector.name));
        let sum = sums.entry((vector.queue.kind.kind, vector.origin)).or_default();
        sum.vectors += 1;
        sum.operations += outcome.operations;
        sum.identical += outcome.identical;
    }
    let mut text = "| queue | origin | vectors | operations with identical events |\n|---|---|---|---|\n".to_owned();
    for ((kind, origin), Sum { vectors, operations, identical }) in sums {
        let _ = writeln!(text, "| `{kind}` | {origin} | {vectors} | {identical} of {operations} |");
    }
    text
}

fn page(written: &str) -> String {
    let (head, rest) = written.split_once(BEGIN).expect("the marker where the table begins");
    let (_, tail) = rest.split_once(END).expect("the marker where it ends");
    format!("{head}{BEGIN}{}{END}{tail}", table())
}

#[test]
fn the_table_is_what_the_vectors_give() {
    let written = std::fs::read_to_string(path()).expect("docs/conformance.md");
    let made = page(&written);
    let stale: Vec<&str> = made.lines().filter(|line| !written.lines().any(|known| known == *line)).collect();
    assert!(written == made, "docs/conformance.md is stale (make docs); it lacks {stale:#?}");
}

#[test]
#[ignore = "writes docs/conformance.md"]
fn writes_the_page() {
    let written = std::fs::read_to_string(path()).expect("docs/conformance.md");
    std::fs::write(path(), page(&written)).expect("docs/conformance.md");
}
