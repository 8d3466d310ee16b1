//! `include/goodqueue.h` is what the library says, and a program in C that is compiled with it
//! works.
//!
//! When it is stale: `cargo test -p goodqueue-capi -- --ignored` (`make docs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new().with_src(here().join("src/lib.rs")).with_config(config).generate().expect("a header");
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).expect("text")
}

fn path() -> PathBuf {
    here().join("include/goodqueue.h")
}

/// The static library cargo built for this test: the newest, as those of other versions may be in
/// the same folder.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this program has a path");
    let entries = fs::read_dir(test.parent().expect("a folder")).expect("a readable folder");
    let libraries = entries.map(|entry| entry.expect("an entry").path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libgoodqueue_c-") && name.ends_with(".a")
    });
    let newest = libraries.max_by_key(|path| fs::metadata(path).and_then(|facts| facts.modified()).ok());
    newest.expect("cargo builds the static library")
}

#[test]
fn the_header_is_what_the_library_says() {
    let written = fs::read_to_string(path()).unwrap_or_default();
    assert!(written == header(), "crates/capi/include/goodqueue.h is stale: make docs");
}

#[test]
fn the_header_says_that_callbacks_return() {
    let written = fs::read_to_string(path()).unwrap_or_default();
    assert!(written.contains("a C++ exception or a `longjmp`"), "crates/capi/include/goodqueue.h");
}

#[test]
#[ignore = "writes include/goodqueue.h"]
fn writes_the_header() {
    fs::write(path(), header()).expect("include/goodqueue.h");
}

#[test]
fn the_example_in_c_works() {
    if Command::new("cc").arg("--version").output().is_err() {
        println!("skipped: there is no C compiler (cc)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("link");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"])
        .arg("-I")
        .arg(here().join("include"))
        .arg(here().join("examples/link.c"))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("cc starts");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).output().expect("the program starts");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("codel: 12501 arrived") && lines[1].starts_with("fq-codel: 12501 arrived"),
        "{out}"
    );
    assert!(!out.contains("(0 head)"), "CoDel dropped nothing: {out}");
}
