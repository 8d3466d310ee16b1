//! The gallery and the evaluations are built in: a change there triggers a rebuild.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=data/gallery");
    println!("cargo:rerun-if-changed=scenarios");
}
