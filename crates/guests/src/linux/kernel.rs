//! Location and origin of the guest kernel.

use crate::linux::error::NoKernel;
use std::path::{Path, PathBuf};

/// The guest kernel that `make linux` has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The executable.
    pub program: PathBuf,
    /// Origin as recorded by `make linux`: lines of `name = "value"`.
    pub record: String,
}

impl Kernel {
    /// Looks in the folder of `make linux`.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Self, NoKernel> {
        let folder = cache().ok_or(NoKernel::Nowhere)?;
        Self::in_folder(&folder)
    }

    /// Looks in the folder of `make kernel-guest`, for the kernel that has goodqueue's queue
    /// disciplines.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_with_queues() -> Result<Self, NoKernel> {
        let folder = cache().ok_or(NoKernel::Nowhere)?.join("queue");
        Self::in_folder(&folder).map_err(|_| NoKernel::WithoutQueues { program: folder.join("vmlinux") })
    }

    /// Looks in a folder.
    ///
    /// # Errors
    /// When there is none.
    pub fn in_folder(folder: &Path) -> Result<Self, NoKernel> {
        let program = folder.join("vmlinux");
        let record = std::fs::read_to_string(folder.join("record.toml")).ok().filter(|_| program.is_file());
        match record {
            Some(record) => Ok(Self { program, record }),
            None => Err(NoKernel::Missing { program }),
        }
    }

    /// One value of the record.
    #[must_use]
    pub fn noted(&self, name: &str) -> Option<&str> {
        self.notes().find_map(|(noted, value)| (noted == name).then_some(value))
    }

    /// All recorded names and values.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.record.lines().filter_map(|line| {
            let (name, value) = line.split_once('=')?;
            Some((name.trim(), value.trim().trim_matches('"')))
        })
    }

    /// Returns the names of the kernel's congestion controls.
    #[must_use]
    pub fn controls(&self) -> Vec<&str> {
        self.noted("controls").map_or_else(Vec::new, |names| names.split(' ').collect())
    }
}

#[expect(clippy::disallowed_methods, reason = "where the kernel is, and nothing of what comes out")]
fn cache() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")))?;
    Some(cache.join("goodqueue/linux"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_by_name() {
        let record = "series = \"6.12\"\ncontrols = \"reno cubic\"\n".to_owned();
        let kernel = Kernel { program: PathBuf::new(), record };
        assert_eq!(kernel.noted("series"), Some("6.12"));
        assert_eq!(kernel.noted("serie"), None);
        assert_eq!(kernel.controls(), ["reno", "cubic"]);
    }

    #[test]
    fn a_missing_kernel_is_one_line() {
        let message = Kernel::in_folder(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("make linux") && message.lines().count() == 1, "{message}");
    }
}
