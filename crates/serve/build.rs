//! Packs what the crate carries: recordings, and for the server its pages.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const RECORDINGS: [&str; 2] = ["cellular.down", "cellular.up"];

fn main() -> Result<(), Box<dyn Error>> {
    #[expect(clippy::disallowed_methods, reason = "cargo passes the output folder of a build script in an environment variable")]
    let out = PathBuf::from(env::var("OUT_DIR")?);
    pack_recordings(&out)?;
    copy_pages(&out)?;
    Ok(())
}

/// The time from each line to the next, in groups of seven bits, the lowest first. As text they
/// would be a tenth of the page without a server.
fn pack_recordings(out: &Path) -> Result<(), Box<dyn Error>> {
    for name in RECORDINGS {
        let file = Path::new("data").join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        let mut packed = Vec::new();
        let mut before = 0;
        for line in fs::read_to_string(file)?.lines() {
            let time: u64 = line.parse()?;
            let mut left = time.checked_sub(before).ok_or("a recording goes back in time")?;
            while left > 0x7f {
                packed.push((left & 0x7f) as u8 | 0x80);
                left >>= 7;
            }
            packed.push(left as u8);
            before = time;
        }
        fs::write(out.join(name), packed)?;
    }
    Ok(())
}

/// The built pages in `assets/app` as they are when this runs: they may be built again while the
/// compiler is at work.
fn copy_pages(out: &Path) -> io::Result<()> {
    let app = Path::new("assets/app");
    println!("cargo::rerun-if-changed={}", app.display());
    let mut files = Vec::new();
    collect(app, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(app).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
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
