//! The folder that a result goes to.

use super::Job;
use crate::failure::Failure;
use crate::output::say;
use goodqueue_lab::results::error::RecordError;
use goodqueue_lab::results::record::{DISTRIBUTIONS_FILE, Earlier, EarlierResult, Folder};
use std::path::{Path, PathBuf};

/// Everything that a result may consist of.
pub const NAMES: [&str; 7] =
    ["summary.json", "scenario.toml", "run.json", "series.parquet", "packets.parquet", DISTRIBUTIONS_FILE, "report.html"];

/// The folder of results, unless another one is asked for.
pub const RESULTS: &str = "results";

/// The folder that was asked for, or the first of `results/NAME`, `results/NAME-2`, … that holds no
/// other result.
pub fn choose(job: &Job<'_>) -> Result<(Folder, Earlier), Failure> {
    let Some(path) = &job.settings.out else { return number(job) };
    let folder = check(Folder::create(path)?)?;
    let earlier = Earlier::find(&folder);
    let other = match &earlier {
        Earlier::Sweep => {
            let message = format!("--out {}: holds a sweep (sweep.json): use another folder, or remove it", path.display());
            return Err(Failure::Input(message));
        }
        Earlier::Result(result) if is_same(job, result) => None,
        Earlier::Result(result) => Some(format!("another result ({result})")),
        Earlier::Unknown => Some("a summary.json of something else".to_owned()),
        Earlier::Nothing => foreign(job, &folder).map(|name| format!("a {name} of something else")),
    };
    match other {
        Some(other) if !job.settings.force => {
            let message = format!("--out {}: holds {other}: use another folder, or replace it with --force", path.display());
            Err(Failure::Input(message))
        }
        Some(_) | None => Ok((folder, earlier)),
    }
}

/// Whether the result of `job` will be the same figures again; in real time they would be others.
fn is_same(job: &Job<'_>, earlier: &EarlierResult) -> bool {
    job.host.is_reproducible() && earlier.is_of(job.plan, job.host.name())
}

/// A file that the result would replace, in a folder without a result. The scenario itself may be
/// there.
fn foreign(job: &Job<'_>, folder: &Folder) -> Option<&'static str> {
    let is_ours = |path: &Path| std::fs::read(path).is_ok_and(|text| text == job.scenario_text.as_bytes());
    NAMES.into_iter().find(|name| {
        let path = folder.path().join(name);
        path.is_file() && !(*name == "scenario.toml" && is_ours(&path))
    })
}

fn number(job: &Job<'_>) -> Result<(Folder, Earlier), Failure> {
    let base = Path::new(RESULTS).join(file_name(job.folder));
    let mut reason = None;
    for path in numbered(&base) {
        let folder = match Folder::create(&path) {
            Ok(folder) => folder,
            Err(RecordError::Held { path, holder }) => {
                reason.get_or_insert_with(|| format!("{}: is being written to by {holder}", path.display()));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let earlier = Earlier::find(&folder);
        let is_free = match &earlier {
            Earlier::Nothing => true,
            Earlier::Result(result) => is_same(job, result),
            Earlier::Unknown | Earlier::Sweep => false,
        };
        if is_free {
            if let Some(reason) = reason {
                say(&format!("{reason}; this result goes to {}", path.display()));
            }
            return Ok((check(folder)?, earlier));
        }
        reason.get_or_insert_with(|| format!("{}: holds another result", path.display()));
    }
    unreachable!("there is always a next number")
}

/// The first of `base`, `base-2`, … without a file called `name`.
#[cfg(target_os = "linux")]
pub fn without(base: &Path, name: &str) -> PathBuf {
    numbered(base).find(|path| !path.join(name).exists()).expect("there is always a next number")
}

/// `path`, then `path` with the numbers from two on behind it.
fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    let next = |number: u64| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    std::iter::once(path.to_owned()).chain((2..).map(next))
}

/// Refuses a folder in which the name of a file is taken by something that cannot be replaced.
fn check(folder: Folder) -> Result<Folder, Failure> {
    let taken = NAMES.into_iter().map(|name| folder.path().join(name)).find(|path| path.is_dir());
    match taken {
        None => Ok(folder),
        Some(path) => Err(Failure::Input(format!("--out {}: cannot be written: is a directory", path.display()))),
    }
}

/// A scenario's name as the name of a folder.
pub fn file_name(name: &str) -> String {
    let mut file = String::new();
    for character in name.chars() {
        if character.is_alphanumeric() {
            file.extend(character.to_lowercase());
        } else if !file.is_empty() && !file.ends_with('-') {
            file.push('-');
        }
    }
    let file: String = file.trim_end_matches('-').chars().take(60).collect();
    if file.is_empty() { "scenario".to_owned() } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_folders_below_results() {
        assert_eq!(file_name("Home uplink, 10 Mbit/s"), "home-uplink-10-mbit-s");
        assert_eq!(file_name("../../etc"), "etc");
        assert_eq!(file_name("..."), "scenario");
    }
}
