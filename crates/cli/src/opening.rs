//! The address of a report, and a browser that shows it.

use crate::output::say;
use clap::Args;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether the report is shown.
#[derive(Args)]
pub struct Opening {
    /// Show the report in a browser, where there is a desktop
    #[arg(long)]
    pub open: bool,
}

impl Opening {
    /// Prints the address of the report in `folder`, if there is one, and shows it if that was
    /// asked for.
    pub fn show(&self, folder: &Path) {
        let report = folder.join("report.html");
        if !report.is_file() {
            return;
        }
        let address = address(&report);
        let note = if self.open && !browse(&address) { " (--open: there is no desktop here)" } else { "" };
        say(&format!("Report: {address}{note}"));
    }
}

/// The address of a file for browsers and terminals, which make a link of it.
fn address(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.to_string_lossy().replace('\\', "/");
    let mut address = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b':' | b'-' | b'.' | b'_' | b'~' => address.push(char::from(byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

/// Shows an address in a browser; false where there is no desktop. The desktop's program is not
/// waited for: it may be the browser itself.
pub fn browse(address: &str) -> bool {
    let Some(program) = opener() else { return false };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // An interrupt at the terminal is not meant for the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().is_ok()
}

/// The program that shows addresses on this desktop, if there is a desktop.
#[allow(clippy::disallowed_methods, reason = "how a desktop makes itself known; no result depends on it")]
fn opener() -> Option<&'static str> {
    if cfg!(windows) {
        return Some("explorer");
    }
    if cfg!(target_os = "macos") {
        return Some("open");
    }
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")).then_some("xdg-open")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn an_address_is_absolute_and_escaped() {
        assert_eq!(address(Path::new("/a b/ü#1.html")), "file:///a%20b/%C3%BC%231.html");
        let here = address(Path::new("report.html"));
        assert!(here.starts_with("file:///") && here.ends_with("/report.html"), "{here}");
    }
}
