//! Whether the queue management of a host is exercised at all: what prevents it, and the
//! command that mends it.
//!
//! [`examine`] reads files of `/proc` and `/sys` and the output of `tc` and `ethtool` through a
//! [`Source`]: the machine itself, or a [`Folder`] in which both were kept.

mod checks;
mod facts;

pub use facts::Facts;

use std::path::PathBuf;

/// The source of files and of the output of commands.
pub trait Source {
    /// A file, by its absolute path; `None` when it is not there.
    fn file(&self, path: &str) -> Option<String>;
    /// Names in a folder, in order; none when it is not there.
    fn names(&self, path: &str) -> Vec<String>;
    /// Returns the output of a command that changes nothing; `None` when it cannot be run or fails.
    fn output(&self, words: &[&str]) -> Option<String>;
}

/// Files and output of commands as they were kept: files below the folder as they lie in the
/// machine, output in `commands/`, in files called like the command with `_` for what separates its
/// words.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The path of the folder.
    pub root: PathBuf,
}

/// No file of a host that matters is larger.
const MAX_FILE_SIZE: u64 = 4 << 20;

impl Folder {
    fn read(&self, path: &str) -> Option<String> {
        use std::io::Read;
        let mut text = String::new();
        let file = std::fs::File::open(self.root.join(path)).ok()?;
        file.take(MAX_FILE_SIZE).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

impl Source for Folder {
    fn file(&self, path: &str) -> Option<String> {
        self.read(path.trim_start_matches('/'))
    }

    fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(path.trim_start_matches('/')));
        let mut names: Vec<String> =
            entries.into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn output(&self, words: &[&str]) -> Option<String> {
        self.read(&format!("commands/{}", words.join("_").replace('/', "_")))
    }
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Packets do not meet the queue management.
    Problem,
    /// The state may be intended.
    Note,
    /// The state is as it should be.
    Good,
}

impl Weight {
    /// Returns the name of the severity in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Note => "note",
            Self::Good => "good",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The subject of the check: `offloads`.
    pub check: &'static str,
    /// The severity of the finding.
    pub weight: Weight,
    /// The finding, in a sentence or two.
    pub text: String,
    /// Commands that mend it, one after the other.
    pub mend: Vec<String>,
}

/// Why nothing can be looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFacts {
    /// The host is none of Linux.
    #[error("there is no /sys/class/net: gq doctor is for Linux")]
    NoLinux,
    /// There is no interface of that name.
    #[error("`{shown}` is no interface of this host: allowed {known}")]
    NoInterface {
        /// The name.
        shown: String,
        /// The names there are.
        known: String,
    },
    /// No interface was named, and no route says which one.
    #[error("no default route says which interface: name one with --dev: {known}")]
    NoRoute {
        /// The names there are.
        known: String,
    },
}

/// Everything that was looked at on one interface, problems first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The interface.
    pub dev: String,
    /// The findings.
    pub findings: Vec<Diagnosis>,
}

/// Looks at an interface, or at the one that the default route leaves by.
///
/// # Errors
/// When there is no such interface, or none to choose.
pub fn examine(host: &dyn Source, dev: Option<&str>) -> Result<Report, NoFacts> {
    let facts = Facts::gather(host, dev)?;
    let mut findings = checks::all(&facts);
    findings.sort_by_key(|finding| finding.weight);
    Ok(Report { dev: facts.dev, findings })
}

#[cfg(test)]
mod tests;
