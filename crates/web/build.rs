//! Takes the built pages in `assets/app` into the program, as they are when this runs: they may be
//! built anew while the compiler is at work.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Cargo sets both for every build script.
    #[allow(clippy::disallowed_methods, reason = "how Cargo talks to build scripts")]
    let [root, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"].map(|name| PathBuf::from(env::var_os(name).unwrap_or_default()));
    let app = root.join("assets/app");
    println!("cargo::rerun-if-changed={}", app.display());
    let mut files = Vec::new();
    collect(&app, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&app).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
        let copy = out.join(format!("app-{number}"));
        fs::copy(file, &copy)?;
        let _ = writeln!(list, "    ({name:?}, include_bytes!({:?})),", copy.display().to_string());
    }
    list.push_str("]\n");
    fs::write(out.join("app.rs"), list)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
