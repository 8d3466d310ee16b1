//! The gallery and the evaluations are built in: what changes there is built in anew.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=data/gallery");
    println!("cargo:rerun-if-changed=scenarios");
}
