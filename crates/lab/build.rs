//! Tells the crate which commit it is built from, of which year, and from which sources: works
//! without git and outside a repository too.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates whose sources decide what a run gives.
const DECIDING: [&str; 5] = ["base", "aqm", "tcp", "sim", "lab"];

/// The file in which cargo records the commit that a package was made from.
const PACKAGED: &str = ".cargo_vcs_info.json";

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success()).then(|| text.trim().to_owned())
}

/// All source files below a folder, in a fixed order.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files(&entry, into);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            into.push(entry);
        }
    }
}

/// FNV-1a over names and contents of the deciding sources, or nothing where they are not side by
/// side (a packaged crate).
fn sources() -> Option<String> {
    let mut all = Vec::new();
    for name in DECIDING {
        let folder = Path::new("..").join(name).join("src");
        if !folder.is_dir() {
            return None;
        }
        println!("cargo:rerun-if-changed={}", folder.display());
        files(&folder, &mut all);
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in all {
        let mut text = file.to_string_lossy().replace('\\', "/").into_bytes();
        text.extend(std::fs::read(&file).ok()?);
        hash = text.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }
    Some(format!("{hash:016x}"))
}

/// The commit in [`PACKAGED`], as long as ours.
fn packaged_commit() -> Option<String> {
    let text = std::fs::read_to_string(PACKAGED).ok()?;
    let (_, rest) = text.split_once("\"sha1\":")?;
    let hash = rest.trim_start().strip_prefix('"')?.split('"').next()?;
    (hash.len() >= 12 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| hash[..12].to_owned())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A folder unpacked inside someone else's repository must not take that one's commit for its
    // own.
    let ours = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let at_head = |arguments: &[&str]| ours.then(|| git(arguments)).flatten();
    let commit = at_head(&["rev-parse", "--short=12", "HEAD"]);
    let year = at_head(&["show", "--no-patch", "--format=%cd", "--date=format:%Y", "HEAD"]).unwrap_or_default();
    if let Some(head) = at_head(&["rev-parse", "--git-path", "logs/HEAD"]) {
        // The log of HEAD grows with every commit and checkout.
        if Path::new(&head).exists() {
            println!("cargo:rerun-if-changed={head}");
        }
    }
    let commit = commit.or_else(packaged_commit).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=GOODQUEUE_SOURCES={}", sources().unwrap_or_else(|| commit.clone()));
    println!("cargo:rustc-env=GOODQUEUE_COMMIT={commit}");
    println!("cargo:rustc-env=GOODQUEUE_YEAR={year}");
}
