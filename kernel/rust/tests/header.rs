//! `kernel/module/gqk.h` is what the library says.
//!
//! When it is stale: `cargo test -p goodqueue-kernel -- --ignored` (`make docs`).

use std::fs;
use std::path::{Path, PathBuf};

/// The library does not link without the module's part.
#[unsafe(no_mangle)]
extern "C" fn gqk_dropped(_: *mut core::ffi::c_void, _: *mut goodqueue_kernel::GqkFacts) {}
/// The other function of the module's part.
#[unsafe(no_mangle)]
extern "C" fn gqk_marked(_: *mut core::ffi::c_void, _: *mut goodqueue_kernel::GqkFacts) {}

fn header() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new().with_crate(here).with_config(config).generate().expect("a header");
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).expect("text")
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../module/gqk.h")
}

#[test]
fn the_header_is_what_the_library_says() {
    let written = fs::read_to_string(path()).unwrap_or_default();
    assert!(written == header(), "kernel/module/gqk.h is stale: make docs");
}

#[test]
#[ignore = "writes kernel/module/gqk.h"]
fn writes_the_header() {
    fs::write(path(), header()).expect("kernel/module/gqk.h");
}
