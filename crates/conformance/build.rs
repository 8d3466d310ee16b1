//! Embeds the vectors of `crates/aqm/vectors` as a table of names and contents.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../aqm/vectors").canonicalize()?;
    println!("cargo::rerun-if-changed={}", vectors.display());
    let mut table = String::from("&[\n");
    for folder in sorted(&vectors)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in sorted(&folder)? {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let name = file.strip_prefix(&vectors).unwrap_or(&file).with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            // Writing to a string cannot fail.
            let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", file.display().to_string());
        }
    }
    table.push_str("]\n");
    #[expect(clippy::disallowed_methods, reason = "cargo passes the output folder of a build script in an environment variable")]
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("vectors.rs"), table)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
