//! The gallery is built in: what changes there is built in anew.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=data/gallery");
}
