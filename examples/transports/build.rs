//! Puts functions of `src/machine.rs` between the stacks and the machine.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for function in ["clock_gettime", "RAND_bytes"] {
        println!("cargo::rustc-link-arg=-Wl,--wrap={function}");
    }
    // Rust's `getrandom` looks this name up at run time, first in the program.
    println!("cargo::rustc-link-arg=-Wl,--export-dynamic-symbol=getrandom");
}
