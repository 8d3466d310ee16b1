//! Embeds the vectors as a table of names and compressed contents: as text they would be half of a
//! program that has them.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let vectors = Path::new("data/vectors");
    #[expect(clippy::disallowed_methods, reason = "cargo passes the output folder of a build script in an environment variable")]
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", vectors.display());
    let mut table = String::from("&[\n");
    for folder in sorted(vectors)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in sorted(&folder)? {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let name = file.strip_prefix(vectors).unwrap_or(&file).with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            let packed = out.join(format!("{}.deflate", name.replace('/', "-")));
            let mut encoder = DeflateEncoder::new(fs::File::create(&packed)?, Compression::default());
            encoder.write_all(&fs::read(&file)?)?;
            encoder.finish()?;
            // Writing to a string cannot fail.
            let _ = writeln!(table, "    ({name:?}, include_bytes!({:?})),", packed.display().to_string());
        }
    }
    table.push_str("]\n");
    fs::write(out.join("vectors.rs"), table)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
