//! `gq serve`: the playground, finished runs, the gallery and the bridge's monitor, for a browser.

use super::reproduce;
use crate::failure::Failure;
use crate::interrupt;
use crate::opening::browse;
use crate::output::{itself, say};
use crate::result;
use clap::Args;
use goodqueue_guests::backends::{BackendName, ProcessOwner, Settings, VoidRunPolicy};
use goodqueue_lab::quantity::excerpt;
use goodqueue_lab::run::backend::BackendFailure;
use goodqueue_serve::server::{Limits, Offer, Options, Server};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `gq serve`.
#[derive(Args)]
pub struct Arguments {
    /// Where to listen; elsewhere than on loopback a token is needed, which is printed
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8017")]
    listen: String,
    /// A name that browsers may ask for in addition to addresses and localhost; may be repeated
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Only serve: open no browser
    #[arg(long)]
    no_open: bool,
    /// Show results of gq run and gq compare from this folder [default: ./results where there is
    /// one]
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Show results of gq reproduce from this folder [default: ./out/gallery where there is one]
    #[arg(long, value_name = "DIR")]
    gallery_results: Option<PathBuf>,
    /// Watch the bridge with this control socket; access then needs the token that is printed
    #[arg(long, value_name = "SOCKET")]
    bridge: Option<PathBuf>,
    /// Sessions at once; more wait for a place
    #[arg(long, value_name = "N", default_value_t = usual_sessions(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    sessions: u16,
}

fn usual_sessions() -> u16 {
    u16::try_from(Limits::default().sessions).unwrap_or(u16::MAX)
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    for (option, folder) in [("--runs", &arguments.runs), ("--gallery-results", &arguments.gallery_results)] {
        if let Some(folder) = folder {
            check_folder(option, folder)?;
        }
    }
    if let Some(wrong) = arguments.host.iter().find(|name| !is_name(name)) {
        let shown = excerpt(wrong);
        return Err(Failure::Input(format!("--host: `{shown}` is not a name of a host: allowed letters, digits, `-` and `.`")));
    }
    let options = Options {
        listen: address(&arguments.listen)?,
        names: arguments.host.clone(),
        runs: given_or_usual(arguments.runs.as_ref(), result::RESULTS),
        gallery: given_or_usual(arguments.gallery_results.as_ref(), reproduce::OUT),
        bridge: arguments.bridge.clone(),
        hosts: hosts(),
        limits: Limits { sessions: usize::from(arguments.sessions), ..Limits::default() },
    };
    let stop = interrupt::stop_flag_saying("stopping: sessions end; once more gives up\n");
    let server = Server::start(options).map_err(Failure::of(format!("--listen {}", arguments.listen)))?;
    say(&format!("gq serve: {}", server.page()));
    if !server.address().ip().is_loopback() {
        say("anybody with this address can use the server; what is sent is not encrypted");
    }
    if !arguments.no_open {
        // Where there is no desktop, the address is on the terminal.
        let _ = browse(&server.page());
    }
    server.wait(&stop);
    Ok(())
}

/// The folder that was given, or the one that the commands write to, if it is there.
fn given_or_usual(given: Option<&PathBuf>, usual: &str) -> Option<PathBuf> {
    given.cloned().or_else(|| Some(PathBuf::from(usual)).filter(|folder| folder.is_dir()))
}

/// The hosts besides the simulator, each ready or with the reason why not. The server's threads
/// share this process, so none of them may change it as a whole.
fn hosts() -> Vec<Offer> {
    let settings = Settings { itself: itself().to_vec(), process: ProcessOwner::Foreign, voids: VoidRunPolicy::default(), say };
    let offer = |name: BackendName| {
        let host = name.open(&settings).map_err(|unavailable| BackendFailure::Machine(unavailable.why));
        Offer { name: name.name(), host: host.and_then(|host| host.prepare().map(|()| Arc::from(host))) }
    };
    BackendName::ALL.into_iter().filter(|name| *name != BackendName::Sim).map(offer).collect()
}

fn check_folder(option: &str, folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() { Ok(()) } else { Err(Failure::Input(format!("{option} {}: there is no such folder", folder.display()))) }
}

/// Whether it can be the name of a host: labels of letters, digits and hyphens (RFC 1123 §2.1).
fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::Input(format!("--listen {text}: {why}; for instance 127.0.0.1:8017"));
    let mut found = text.to_socket_addrs().map_err(|error| wrong(&error))?;
    found.next().ok_or_else(|| wrong(&"is no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts() {
        assert!(["desk", "desk.lan", "xn--bcher-kva.example", "4"].into_iter().all(is_name));
        let wrong = ["", "  ", "5 furlongs", "a..b", "-a", "a-", "desk:80", "[::1]", "http://desk", "b\u{fc}cher", "a\nb"];
        assert_eq!(wrong.into_iter().find(|name| is_name(name)), None);
        assert!(!is_name(&"a".repeat(64)) && !is_name(&"a.".repeat(200)));
    }

    #[test]
    fn addresses_are_read_or_refused_by_name() {
        assert_eq!(address("127.0.0.1:0").unwrap(), SocketAddr::from(([127, 0, 0, 1], 0)));
        for wrong in ["", "127.0.0.1", "127.0.0.1:99999", ":"] {
            assert!(address(wrong).unwrap_err().to_string().contains("--listen"), "{wrong}");
        }
    }
}
