//! Everything that must pass before a change lands; steps that find faults soonest come first.

use crate::{Result, comments, cycles, deps, errors, packages, sources, tool};
use std::process::Command;
use std::time::Instant;

/// The outcome of a step.
enum Step {
    Done,
    /// The reason why this machine cannot run it.
    Skipped(String),
}

/// A named step.
struct Named {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<Step>,
}

const STEPS: &[Named] = &[
    Named { name: "fmt", what: "rustfmt --check, all files", run: fmt },
    Named { name: "deps", what: "who depends on whom", run: || deps::run().map(|()| Step::Done) },
    Named { name: "cycles", what: "no circles of files without a reason", run: || cycles::check().map(|()| Step::Done) },
    Named { name: "publish", what: "public crates are described and complete", run: || packages::check().map(|()| Step::Done) },
    Named { name: "cite", what: "every RFC named is in SOURCES.bib", run: || sources::cite().map(|()| Step::Done) },
    Named {
        name: "comments",
        what: "comments of at most 100 columns that begin with a noun or a verb, short names of functions",
        run: || comments::check().map(|()| Step::Done),
    },
    Named { name: "errors", what: "errors are types, not strings", run: || errors::check().map(|()| Step::Done) },
    Named { name: "files", what: "long files are named", run: || sources::files().map(|()| Step::Done) },
    Named { name: "generated", what: "traces and vectors are what their generators make", run: generated },
    Named { name: "no-std", what: "base, aqm and tcp build without std", run: no_std },
    Named { name: "clippy", what: "lints, warnings are errors", run: clippy },
    Named { name: "doc", what: "documentation, warnings are errors", run: doc },
    Named { name: "test", what: "cargo test, all crates", run: test },
    Named { name: "fuzz", what: "fuzz targets compile", run: fuzz },
    Named { name: "features", what: "optional parts: figures as PNG", run: features },
    Named { name: "kernel", what: "the queue discipline's library: stack frames and relocations", run: kernel },
    Named {
        name: "package",
        what: "public crates can be packed, base and aqm built from it",
        run: || packages::package().map(|()| Step::Done),
    },
    Named { name: "deny", what: "licenses and advisories (cargo-deny)", run: deny },
    Named { name: "miri", what: "undefined behavior in base and aqm (Miri)", run: miri },
];

/// Runs the chosen steps and says at the end what was done and what was skipped.
#[expect(clippy::disallowed_methods, reason = "steps are timed by the clock of the machine")]
pub fn run(args: &[String]) -> Result {
    let Some(chosen) = choose(args)? else { return Ok(()) };
    let mut skipped = Vec::new();
    for step in &chosen {
        println!("── ci: {} ({})", step.name, step.what);
        let began = Instant::now();
        match (step.run)().map_err(|e| format!("step `{}` failed: {e}", step.name))? {
            Step::Done => {}
            Step::Skipped(why) => {
                println!("skipped: {why}");
                skipped.push(step.name);
            }
        }
        println!("── ci: {} took {:.0} s", step.name, began.elapsed().as_secs_f64());
    }
    let done = chosen.len() - skipped.len();
    println!("ci: {done} steps passed, skipped: {}", if skipped.is_empty() { "none".to_owned() } else { skipped.join(", ") });
    Ok(())
}

/// The steps asked for, or nothing when they were only to be listed.
fn choose(args: &[String]) -> Result<Option<Vec<&'static Named>>> {
    match args {
        [] => Ok(Some(STEPS.iter().collect())),
        [flag] if flag == "--list" => {
            for step in STEPS {
                println!("{:9} {}", step.name, step.what);
            }
            Ok(None)
        }
        [flag, names] if flag == "--only" || flag == "--skip" => {
            let names: Vec<&str> = names.split(',').collect();
            if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
                let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                return Err(format!("unknown step `{unknown}`; there are {}", known.join(", ")).into());
            }
            let wanted = flag == "--only";
            Ok(Some(STEPS.iter().filter(|step| names.contains(&step.name) == wanted).collect()))
        }
        _ => Err("takes --list, --only STEP[,STEP…] or --skip STEP[,STEP…]".into()),
    }
}

fn tool_step(program: &str, args: &[&str]) -> Result<Step> {
    tool::run(program, args, &[]).map(|()| Step::Done)
}

/// Checks the layout of every file. Cargo would miss those whose `mod` a macro writes: algorithms,
/// schedulers and congestion controls.
fn fmt() -> Result<Step> {
    if !tool::exists("rustfmt", &["--version"]) {
        return Err("rustfmt is not installed".into());
    }
    let sources = sources::read(&["rs"])?;
    let mut args = vec!["--check"];
    args.extend(sources.iter().map(|(path, _)| path.as_str()));
    let help = "the files above are laid out otherwise; `git ls-files '*.rs' | xargs rustfmt` mends that";
    tool::run("rustfmt", &args, &[]).map(|()| Step::Done).map_err(|_| help.into())
}

/// Compares traces and conformance vectors with what their generators, in Python, make.
fn generated() -> Result<Step> {
    if !tool::exists("python3", &["--version"]) {
        return Ok(Step::Skipped("python3 is not installed".to_owned()));
    }
    tool::run("python3", &["-B", "examples/traces/generate.py", "--check"], &[])?;
    tool_step("crates/aqm/vectors/check.sh", &[])
}

/// Builds the crates without std for a target that has none. Where the target is missing, builds
/// them for this machine, after a check that they are declared `no_std`.
fn no_std() -> Result<Step> {
    const BARE: &str = "thumbv7em-none-eabi";
    const CRATES: [&str; 3] = ["base", "aqm", "tcp"];
    for name in CRATES {
        let path = tool::root().join("crates").join(name).join("src/lib.rs");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if !text.lines().any(|line| line.trim() == "#![no_std]") {
            return Err(format!("{}: the line `#![no_std]` is missing", path.display()).into());
        }
    }
    let installed = tool::output("rustup", &["target", "list", "--installed"]).unwrap_or_default();
    let bare = installed.lines().any(|line| line.trim() == BARE);
    let mut args = vec!["build", "--no-default-features"];
    let packages = CRATES.map(|name| format!("goodqueue-{name}"));
    for package in &packages {
        args.extend(["-p", package]);
    }
    if bare {
        args.extend(["--target", BARE]);
    } else {
        println!("target {BARE} is not installed (rustup target add {BARE}): building for this machine instead");
    }
    tool_step("cargo", &args)
}

fn clippy() -> Result<Step> {
    tool_step("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn doc() -> Result<Step> {
    let args = ["doc", "--workspace", "--no-deps"];
    tool::run("cargo", &args, &[("RUSTDOCFLAGS", "-D warnings")]).map(|()| Step::Done)
}

fn test() -> Result<Step> {
    let mut tally = Tally::default();
    // A snapshot that differs is a failure, not a file next to the old one.
    let env = [("INSTA_UPDATE", "no")];
    let outcome = tool::watched("cargo", &["test", "--workspace", "--no-fail-fast"], &env, |line| tally.read(line));
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.ignored);
    outcome?;
    if tally.passed == 0 { Err("no test ran".into()) } else { Ok(Step::Done) }
}

/// Checks the fuzz targets, which are no part of the workspace, with the toolchain of the tree.
/// Needs the crate that binds the fuzzer.
fn fuzz() -> Result<Step> {
    let manifest = ["--manifest-path", "tools/fuzz/Cargo.toml", "--locked"];
    let fetched =
        Command::new("cargo").arg("fetch").args(manifest).output().map_err(|e| format!("`cargo` did not start: {e}"))?;
    if String::from_utf8_lossy(&fetched.stderr).contains("cannot update the lock file") {
        return Err("tools/fuzz/Cargo.lock is stale: cargo update --manifest-path tools/fuzz/Cargo.toml -p goodqueue-sim".into());
    }
    if !fetched.status.success() {
        return Ok(Step::Skipped("a crate that the fuzz targets need cannot be fetched".to_owned()));
    }
    tool_step("cargo", &[&["check", "--no-default-features"], &manifest[..]].concat())
}

/// Lints and tests what is not built by default; the other steps build without it.
fn features() -> Result<Step> {
    // The whole workspace, so that only crates with the feature are built again.
    let all = ["--workspace", "--features", "goodqueue-cli/print", "--lib"];
    tool::run("cargo", &[&["clippy"], &all[..], &["--tests", "--", "-D", "warnings"]].concat(), &[])?;
    let mut tally = Tally::default();
    let args = [&["test"], &all[..], &["file::"]].concat();
    tool::watched("cargo", &args, &[], |line| tally.read(line))?;
    if tally.passed == 0 { Err("no test of the feature ran".into()) } else { Ok(Step::Done) }
}

/// Builds the library of the queue discipline for a kernel. Needs a compiler that comes with the
/// source of its library.
fn kernel() -> Result<Step> {
    const SOURCE: &str = "/usr/lib/rustlib/src/rust/library";
    if !std::path::Path::new(SOURCE).exists() || cfg!(not(target_arch = "x86_64")) {
        return Ok(Step::Skipped(format!(
            "there is no {SOURCE} (Debian: rustc-web and rust-web-src; `make kernel` installs them)"
        )));
    }
    tool_step("kernel/build.sh", &["stack"])
}

fn deny() -> Result<Step> {
    if !tool::exists("cargo", &["deny", "--version"]) {
        return Ok(Step::Skipped("cargo-deny is not installed".to_owned()));
    }
    tool_step("cargo", &["deny", "--log-level", "error", "check", "licenses", "bans", "sources"])
}

fn miri() -> Result<Step> {
    if !tool::exists("cargo", &["+nightly", "miri", "--version"]) {
        return Ok(Step::Skipped("Miri (a nightly toolchain's component) is not installed".to_owned()));
    }
    tool_step("cargo", &["+nightly", "miri", "test", "-p", "goodqueue-base", "-p", "goodqueue-aqm", "--lib"])
}

/// Sums the closing lines of cargo's test programs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Tally {
    fn read(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        for part in rest.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(count), Some(word)) = (words.next(), words.next()) else { continue };
            let Ok(count) = count.parse::<u64>() else { continue };
            match word {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_summed() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tally.read("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s");
        tally.read("running 3 passed tests");
        assert_eq!(tally, Tally { passed: 15, failed: 2, ignored: 1 });
    }

    #[test]
    fn steps_are_chosen_by_name() {
        let args = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let names = |words: &[&str]| choose(&args(words)).unwrap().unwrap().iter().map(|s| s.name).collect::<Vec<_>>();
        assert_eq!(names(&["--only", "doc,fmt"]), ["fmt", "doc"]);
        assert_eq!(names(&["--skip", "test"]).len(), STEPS.len() - 1);
        assert!(choose(&args(&["--only", "fnt"])).is_err_and(|e| e.to_string().contains("unknown step `fnt`")));
    }
}
