//! Where facts about a host come from.

use std::path::Path;

/// The source of files and of the output of commands.
pub trait Source {
    /// A file, by its absolute path; `None` when it is not there.
    fn file(&self, path: &str) -> Option<String>;
    /// Names in a folder, in order; none when it is not there.
    fn names(&self, path: &str) -> Vec<String>;
    /// Returns the output of a command that changes nothing; `None` when it cannot be run or fails.
    fn output(&self, words: &[&str]) -> Option<String>;
    /// The folder that stands for a host; `None` for the machine itself.
    fn folder(&self) -> Option<&Path> {
        None
    }
    /// Returns the first file that was there and could not be taken, with the reason.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// Why nothing can be looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFacts {
    /// The host is none of Linux.
    #[error("there is no /sys/class/net: gq doctor is for Linux")]
    NoLinux,
    /// A folder is none, or has no files of a host.
    #[error("{0}: has no sys/class/net: expected a folder with files of a machine that runs Linux")]
    NoFolder(String),
    /// A file is none, or no text.
    #[error("{0}")]
    NoText(String),
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
