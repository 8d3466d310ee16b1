//! Packs the recordings that the crate carries.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const RECORDINGS: [&str; 2] = ["cellular.down", "cellular.up"];

fn main() -> Result<(), Box<dyn Error>> {
    #[expect(clippy::disallowed_methods, reason = "cargo passes the output folder of a build script in an environment variable")]
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // Pages that come or go are seen here only; the crate is compiled again after this.
    println!("cargo::rerun-if-changed=assets/app");
    pack_recordings(&out)
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
