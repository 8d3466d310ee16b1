//! Location and origin of the guest kernel.

use crate::linux::error::NoKernel;
use goodqueue_tcp::SackReports;
use std::path::{Path, PathBuf};

/// The series of kernels that guests can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Series {
    /// Linux 6.12, which `make linux` builds.
    #[default]
    V6_12,
    /// Linux 7.3, which `make linux-7.3` builds: with accurate ECN.
    V7_3,
}

impl Series {
    /// The number, as the record of a kernel has it.
    #[must_use]
    pub const fn number(self) -> &'static str {
        match self {
            Self::V6_12 => "6.12",
            Self::V7_3 => "7.3",
        }
    }

    const fn folder(self) -> &'static str {
        match self {
            Self::V6_12 => "goodqueue/linux",
            Self::V7_3 => "goodqueue/linux-7.3",
        }
    }

    const fn make(self) -> &'static str {
        match self {
            Self::V6_12 => "make linux",
            Self::V7_3 => "make linux-7.3",
        }
    }
}

/// A guest kernel that has been built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The executable.
    pub program: PathBuf,
    /// Origin as recorded when it was built: lines of `name = "value"`.
    pub record: String,
}

impl Kernel {
    /// Looks in the folder of the series.
    ///
    /// # Errors
    /// When there is none, or another one.
    pub fn find(series: Series) -> Result<Self, NoKernel> {
        Self::in_folder(&cache(series).ok_or(NoKernel::Nowhere)?, series)
    }

    /// Looks in the folder of `make kernel-guest`, for the kernel that has goodqueue's queue
    /// disciplines.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_with_queues(series: Series) -> Result<Self, NoKernel> {
        let folder = cache(series).ok_or(NoKernel::Nowhere)?.join("queue");
        Self::in_folder(&folder, series).map_err(|_| NoKernel::WithoutQueues { program: folder.join("vmlinux") })
    }

    /// Looks in a folder.
    ///
    /// # Errors
    /// When there is none, or another one.
    pub fn in_folder(folder: &Path, series: Series) -> Result<Self, NoKernel> {
        let (program, make) = (folder.join("vmlinux"), series.make());
        let record = std::fs::read_to_string(folder.join("record.toml")).ok().filter(|_| program.is_file());
        let Some(record) = record else { return Err(NoKernel::Missing { program, make }) };
        let kernel = Self { program, record };
        match kernel.noted("series").unwrap_or("unknown") {
            found if found == series.number() => Ok(kernel),
            found => {
                let (found, expected) = (found.to_owned(), series.number());
                Err(NoKernel::Other { program: kernel.program, found, expected, make })
            }
        }
    }

    /// Whether its TCP counts marks (RFC 9768).
    #[must_use]
    pub fn has_accurate_ecn(&self) -> bool {
        self.is_of(Series::V7_3)
    }

    /// The way in which its receivers report gaps, where that is not the usual.
    pub(crate) fn gap_reports(&self) -> Option<SackReports> {
        self.is_of(Series::V7_3).then_some(SackReports::CompressedLonger)
    }

    fn is_of(&self, series: Series) -> bool {
        self.noted("series") == Some(series.number())
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
fn cache(series: Series) -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")))?;
    Some(cache.join(series.folder()))
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
        let message = Kernel::in_folder(Path::new("/nowhere"), Series::V7_3).unwrap_err().to_string();
        assert!(message.contains("`make linux-7.3`") && message.lines().count() == 1, "{message}");
    }

    #[test]
    fn another_kernel_than_asked_for_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("vmlinux"), "").expect("written");
        std::fs::write(folder.path().join("record.toml"), "series = \"6.12\"\n").expect("written");
        assert!(Kernel::in_folder(folder.path(), Series::V6_12).is_ok());
        let message = Kernel::in_folder(folder.path(), Series::V7_3).unwrap_err().to_string();
        assert!(
            message.ends_with("vmlinux is Linux 6.12, and Linux 7.3 was asked for: run `make linux-7.3` in goodqueue's sources")
        );
    }
}
