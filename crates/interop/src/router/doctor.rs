//! Whether the queue management of a host is exercised at all: what prevents it, and the
//! command that mends it.
//!
//! [`examine`] reads files of `/proc` and `/sys` and the output of `tc` and `ethtool` through a
//! [`Source`]: the machine itself, or a [`Folder`] in which both were kept.

mod checks;
mod diagnosis;
mod facts;
mod shapers;
mod source;

pub use diagnosis::{Diagnosis, Weight};
pub use facts::Facts;
pub use source::{NoFacts, Source};

use goodqueue_lab::scenario::input::read_named;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Files and output of commands as they were kept: files below the folder as they lie in the
/// machine, output in `commands/`, in files called like the command with `_` for what separates its
/// words.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    fault: RefCell<Option<String>>,
}

/// No file of a host that matters is larger.
const MAX_FILE_SIZE: u64 = 4 << 20;

impl Folder {
    /// The folder of this path.
    #[must_use]
    pub const fn new(root: PathBuf) -> Self {
        Self { root, fault: RefCell::new(None) }
    }

    fn read(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        let error = match read_named(&path, MAX_FILE_SIZE) {
            Ok(text) => return Some(text),
            Err(error) => error,
        };
        // Files of a kernel may be there and have nothing to read.
        if error.raw_os_error().is_none() {
            self.fault.borrow_mut().get_or_insert_with(|| format!("{}: {error}", path.display()));
        }
        None
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

    fn folder(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn fault(&self) -> Option<String> {
        self.fault.borrow().clone()
    }
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
/// When there is no such interface, or none to choose, or a file of a folder cannot be taken.
pub fn examine(host: &dyn Source, dev: Option<&str>) -> Result<Report, NoFacts> {
    let facts = Facts::gather(host, dev);
    if let Some(fault) = host.fault() {
        return Err(NoFacts::NoText(fault));
    }
    let facts = facts?;
    let mut findings = all(&facts);
    findings.sort_by_key(|finding| finding.weight);
    Ok(Report { dev: facts.dev, findings })
}

/// Everything that was looked at.
fn all(facts: &Facts) -> Vec<Diagnosis> {
    let checks: &[fn(&Facts) -> Option<Diagnosis>] = &[
        checks::tools,
        checks::queue,
        shapers::emulator,
        checks::interface,
        shapers::leaf,
        shapers::default_class,
        shapers::rate,
        shapers::bucket,
        shapers::twice,
        shapers::offloads,
        checks::driver_queue,
        checks::arriving,
        checks::arriving_queue,
        checks::arriving_protocols,
        checks::default_queue,
        checks::queue_length,
        checks::clock,
    ];
    let unknown = facts.unknown.iter().map(|text| Diagnosis {
        check: "not known",
        weight: Weight::Note,
        text: text.clone(),
        mend: Vec::new(),
    });
    checks.iter().filter_map(|check| check(facts)).chain(unknown).collect()
}

#[cfg(test)]
mod tests;
