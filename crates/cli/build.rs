//! Links the programs at a fixed address: a third of the page faults of a small run are those of
//! tables of addresses, which the loader would have to correct.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script its target in environment variables")]
fn target(part: &str) -> String {
    env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default()
}
