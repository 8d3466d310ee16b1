//! Links `gq` at a fixed address, where Linux does not relocate 25,000 pointers at each start.

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script the target in environment variables")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|of_target| of_target == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=gq=-no-pie");
    }
}
