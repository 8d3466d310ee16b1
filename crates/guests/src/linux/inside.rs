//! The program inside a guest, its first and only process: configures the kernel for its job, then
//! sends or receives, and reports.
//!
//! It is this very executable, started by the guest kernel from the host's file system, which is
//! mounted read-only.

mod program;
mod queue;
mod reports;
mod sink;
mod source;
mod stations;

use crate::linux::job::{Job, MAX_FLOWS, Role};
use crate::linux::report::Line;
use crate::linux::sys::network;
use reports::{Reports, named};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Resource, Rlimit, setrlimit};
use stations::LOOPBACK;
pub use stations::{SINK, SOURCE};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Does the job in the file at `path` and never returns: the host ends the guest.
///
/// # Errors
/// When this is not the first process of a machine, or the guest kernel fails before reports can be
/// sent.
pub fn run(path: &Path) -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("this is what runs inside a guest of `--on linux`"));
    }
    mount("proc", "/proc", "proc", MountFlags::empty(), None)?;
    mount("devtmpfs", "/dev", "devtmpfs", MountFlags::empty(), None)?;
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
    let most = Some(2 * MAX_FLOWS as u64);
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).map_err(|error| named("descriptors", &error.into()))?;
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
