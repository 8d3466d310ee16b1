//! The program inside a guest, its first and only process: configures the kernel for its job, then
//! sends or receives, and reports.
//!
//! It is this very executable, started by the guest kernel from the host's file system, which is
//! mounted read-only.

mod program;
mod queue;
mod sink;
mod source;

use crate::linux::job::{Job, MAX_FLOWS, Role};
use crate::linux::report::Line;
use crate::linux::sys::network::{self, Station};
use std::fs::File;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;

/// Addresses of the source.
pub const SOURCE: Station = Station { hardware: [2, 0, 0, 0, 0, 1], address: Ipv4Addr::new(10, 77, 0, 1) };
/// Addresses of the sink.
pub const SINK: Station = Station { hardware: [2, 0, 0, 0, 0, 2], address: Ipv4Addr::new(10, 77, 0, 2) };
const LOOPBACK: Station = Station { hardware: [0; 6], address: Ipv4Addr::LOCALHOST };

/// The channel for reports.
struct Reports {
    terminal: File,
}

impl Reports {
    fn say(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        self.terminal.write_all(text.as_bytes())
    }
}

/// Does the job in the file at `path` and never returns: the host ends the guest.
///
/// # Errors
/// When this is not the first process of a machine, or the guest kernel fails before reports can be
/// sent.
pub fn run(path: &Path) -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("this is what runs inside a guest of `--on linux`"));
    }
    network::mount(c"proc", c"/proc")?;
    network::mount(c"devtmpfs", c"/dev")?;
    let terminal = File::options().write(true).open("/dev/ttyS0")?;
    network::make_raw(terminal.as_fd())?;
    let mut reports = Reports { terminal };
    let result = work(path, &mut reports);
    let message = result.err().map_or_else(|| "its work is over".to_owned(), |error| error.to_string());
    reports.say(&[Line::Error(message)])?;
    loop {
        std::thread::park();
    }
}

fn work(path: &Path, reports: &mut Reports) -> io::Result<()> {
    let text = std::fs::read_to_string(path).map_err(|error| named("its job", &error))?;
    let job = Job::read(&text).ok_or_else(|| io::Error::other("its job is not to be understood"))?;
    for (key, value) in &job.settings {
        let place = format!("/proc/sys/{}", key.replace('.', "/"));
        std::fs::write(&place, value).map_err(|error| named(key, &error))?;
    }
    // One listener, and one connection per flow.
    network::allow_descriptors(2 * MAX_FLOWS as u64).map_err(|error| named("descriptors", &error))?;
    let (own, other) = if job.role == Role::Source { (SOURCE, SINK) } else { (SINK, SOURCE) };
    network::set_up(b"lo", LOOPBACK, LOOPBACK).map_err(|error| named("lo", &error))?;
    network::set_up(b"eth0", own, other).map_err(|error| named("eth0", &error))?;
    if let (Role::Source | Role::Sink, Some(program)) = (job.role, &job.program) {
        program::start(program.clone(), job.epoch).map_err(|error| named("the program", &error))?;
    }
    match job.role {
        Role::Source => source::run(&job, reports),
        Role::Sink => sink::run(&job, reports),
        Role::Queue => job.program.as_ref().map_or(Ok(()), |program| queue::run(program, reports)),
    }
}

fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
