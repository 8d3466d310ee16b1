//! Network namespaces without names: each lives as long as somebody holds it, so none is ever left
//! behind.

use crate::sys::namespace;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};

/// A network of its own.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// An empty one.
    ///
    /// # Errors
    /// When the kernel refuses: `CAP_SYS_ADMIN` is needed.
    pub fn new() -> io::Result<Self> {
        let file = on_thread(|| {
            namespace::leave()?;
            namespace::current()
        })?;
        let namespace = Self { file };
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// Runs `work` on a thread that sees this network. What the thread opens stays in it.
    ///
    /// # Errors
    /// Those of `work`, or when the kernel refuses.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        on_thread(|| {
            namespace::enter(self.file.as_fd())?;
            work()
        })
    }

    /// Puts the calling thread into this network, for good.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enter(&self) -> io::Result<()> {
        namespace::enter(self.file.as_fd())
    }

    /// A path by which other programs find this network as long as it lives.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Runs `ip` with these arguments, separated by blanks, in this network.
    ///
    /// # Errors
    /// What `ip` says, or that there is no such program.
    pub fn ip(&self, arguments: &str) -> io::Result<()> {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        // A child is in the network of the thread that starts it.
        let missing = |error: io::Error| io::Error::new(error.kind(), format!("the program ip (iproute2): {error}"));
        let output = self.within(|| Command::new("ip").args(&arguments).stdin(Stdio::null()).output()).map_err(missing)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("ip {}: {}", arguments.join(" "), said.trim())))
    }

    /// Sets a value below `/proc/sys`, as this network sees it.
    ///
    /// # Errors
    /// When there is no such value or it is refused.
    pub fn set(&self, key: &str, value: &str) -> io::Result<()> {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{key}: {error}"));
        self.within(|| std::fs::write(&path, value)).map_err(named)
    }
}

fn on_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let joined = std::thread::Builder::new().name("network".to_owned()).spawn_scoped(scope, work)?.join();
        joined.unwrap_or_else(|_| Err(io::Error::other("a thread of the testbed has panicked")))
    })
}
