//! Location and origin of the guest kernel.

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
    /// A one-line message when there is none.
    pub fn find() -> Result<Self, String> {
        let folder = cache().ok_or("the guest kernel is missing: neither XDG_CACHE_HOME nor HOME says where it could be")?;
        Self::in_folder(&folder)
    }

    /// Looks in a folder.
    ///
    /// # Errors
    /// A one-line message when there is none.
    pub fn in_folder(folder: &Path) -> Result<Self, String> {
        let program = folder.join("vmlinux");
        let record = std::fs::read_to_string(folder.join("record.toml")).ok().filter(|_| program.is_file());
        let record = record.ok_or_else(|| {
            format!("the guest kernel is missing: run `make linux` in goodqueue's sources (it would be {})", program.display())
        })?;
        Ok(Self { program, record })
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

    /// Its congestion controls.
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
        let message = Kernel::in_folder(Path::new("/nowhere")).unwrap_err();
        assert!(message.contains("make linux") && message.lines().count() == 1, "{message}");
    }
}
