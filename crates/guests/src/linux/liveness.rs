//! Timeout for guests that do not respond.

use crate::linux::error::GuestFault;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

/// Real time without a response after which a guest has failed, unless a caller has another. Our
/// choice: a guest that works responds within milliseconds, but on an overloaded machine it may
/// wait much longer for a processor, memory or the disk, and one lost run costs a whole comparison.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Multiple of a guest's patience after which it has failed in any case; until then, time in which
/// it is runnable without a processor does not count.
const MAX: u32 = 2;
/// Length of one wait; silence is counted in these.
const TURN: Duration = Duration::from_secs(1);

/// A guest that is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Process group of the guest.
    pub group: u32,
    /// Real time without a response after which it has failed.
    pub patience: Duration,
}

/// A period without response, counted from the end of its first wait.
#[derive(Debug, Default)]
pub struct Silence {
    turns: u32,
    /// Time that its processes had spent runnable without a processor when it began.
    kept_before: Duration,
}

impl Silence {
    /// Counts another wait without response.
    ///
    /// # Errors
    /// When the limit is reached.
    pub fn goes_on(&mut self, guest: Watched) -> Result<(), GuestFault> {
        self.turn(guest.patience, kept_waiting(guest.group))
    }

    fn turn(&mut self, patience: Duration, kept: Duration) -> Result<(), GuestFault> {
        self.turns += 1;
        if self.turns == 1 {
            self.kept_before = kept;
        }
        let lasted = TURN * self.turns;
        if lasted >= patience * MAX || lasted.saturating_sub(kept.saturating_sub(self.kept_before)) >= patience {
            return Err(GuestFault::Silent(lasted.as_secs()));
        }
        Ok(())
    }
}

/// Total time in which the processes of a group were runnable but had no processor; zero if the
/// kernel does not report it.
fn kept_waiting(group: u32) -> Duration {
    let Ok(processes) = fs::read_dir("/proc") else { return Duration::ZERO };
    let read = |process: &fs::DirEntry, what: &str| fs::read_to_string(process.path().join(what)).ok();
    let kept = |process: fs::DirEntry| {
        (group_of(&read(&process, "stat")?)? == group).then_some(())?;
        delay_of(&read(&process, "schedstat")?)
    };
    processes.flatten().filter_map(kept).sum()
}

/// The process group in a line of `/proc/PID/stat`: the third field after the name, which may
/// contain any characters.
fn group_of(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.parse().ok()
}

/// Time on run queues, from a line of `/proc/PID/schedstat`.
fn delay_of(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// Waits until one of these descriptors is readable or at its end, and returns which of them are.
///
/// # Errors
/// When the guest does not respond in time, or the kernel fails.
pub fn readable<const N: usize>(descriptors: [BorrowedFd<'_>; N], guest: Watched) -> Result<[bool; N], GuestFault> {
    let turn = Timespec { tv_sec: TURN.as_secs() as _, tv_nsec: 0 };
    let mut polled = descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
    let mut silence = Silence::default();
    loop {
        match poll(&mut polled, Some(&turn)) {
            Ok(0) | Err(Errno::INTR) => silence.goes_on(guest)?,
            Ok(_) => return Ok(polled.map(|entry| !entry.revents().is_empty())),
            Err(error) => return Err(GuestFault::Io(error.into())),
        }
    }
}

/// Accepts the guest's connection.
///
/// # Errors
/// When it does not connect in time.
pub fn accept(listener: &UnixListener, guest: Watched) -> Result<UnixStream, GuestFault> {
    readable([listener.as_fd()], guest)?;
    let (socket, _) = listener.accept()?;
    prepare(&socket)?;
    Ok(socket)
}

/// Sets the timeout of calls on a socket.
///
/// # Errors
/// When the kernel fails.
pub fn prepare(socket: &UnixStream) -> io::Result<()> {
    socket.set_read_timeout(Some(TURN))?;
    socket.set_write_timeout(Some(PATIENCE))
}

/// Reads exactly `bytes` from a prepared socket.
///
/// # Errors
/// When the guest does not respond in time, or has ended.
pub fn read(socket: &mut UnixStream, mut bytes: &mut [u8], guest: Watched) -> Result<(), GuestFault> {
    let mut silence = Silence::default();
    while !bytes.is_empty() {
        match socket.read(bytes) {
            Ok(0) => return Err(GuestFault::Ended),
            Ok(got) => bytes = &mut bytes[got..],
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => silence.goes_on(guest)?,
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::ConnectionReset => return Err(GuestFault::Ended),
                _ => return Err(GuestFault::Io(error)),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        assert_eq!(group_of("12 (a) b) R 1 77 5 0 -1"), Some(77));
        assert_eq!(group_of("12 (a"), None);
        assert_eq!(delay_of("921613 166971 3\n"), Some(Duration::from_nanos(166_971)));
        assert_eq!(delay_of(""), None);
    }

    #[test]
    fn time_without_a_processor_is_not_silence() {
        let turns = |kept_each: u64| {
            let mut silence = Silence::default();
            (1..).find(|turn| silence.turn(Duration::from_secs(5), Duration::from_millis(turn * kept_each)).is_err())
        };
        assert_eq!(turns(0), Some(5));
        assert_eq!(turns(500), Some(9), "the first turn counts in full");
        assert_eq!(turns(1_000), Some(10), "but not for ever");
    }
}
