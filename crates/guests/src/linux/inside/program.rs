//! A user program that runs in addition to the job.

use super::{Reports, SINK, SOURCE, named};
use crate::linux::job::ProgramJob;
use crate::linux::report::Line;
use crate::linux::sys::network;
use rustix::mount::{MountFlags, mount, mount_bind};
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Prepares the environment that programs expect and starts a thread that runs the program at its
/// start time.
pub(super) fn start(program: ProgramJob, epoch: u64) -> io::Result<()> {
    mount("tmpfs", "/run", "tmpfs", MountFlags::empty(), None).map_err(|error| named("/run", &error.into()))?;
    // Host names for both ends, mounted over the host's list.
    let hosts = format!("127.0.0.1 localhost\n{} server\n{} client\n", SOURCE.address, SINK.address);
    std::fs::write("/run/hosts", hosts)?;
    mount_bind("/run/hosts", "/etc/hosts").map_err(|error| named("/etc/hosts", &error.into()))?;
    // Every user may send pings.
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647")?;
    let output = File::options().write(true).open("/dev/ttyS1")?;
    network::make_raw(output.as_fd())?;
    let mut reports = Reports { terminal: File::options().write(true).open("/dev/ttyS0")? };
    std::thread::Builder::new().name("program".to_owned()).spawn(move || {
        let code = run(&program, epoch, output);
        // If nobody receives the report, the host has already ended the run.
        let _ = reports.say(&[code.map_or_else(|error| Line::Error(named(&program.command, &error).to_string()), Line::Exit)]);
    })?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "inside a guest the clock is the simulation's")]
fn run(program: &ProgramJob, epoch: u64, output: File) -> io::Result<i32> {
    let at = SystemTime::UNIX_EPOCH + Duration::from_nanos(epoch + program.start.as_nanos());
    std::thread::sleep(at.duration_since(SystemTime::now()).unwrap_or_default());
    let status = Command::new("/bin/sh")
        .args(["-c", &program.command])
        .current_dir(&program.folder)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/run")
        .env("TMPDIR", "/run")
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .stderr(output.try_clone()?)
        .stdout(output)
        .status()?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}
