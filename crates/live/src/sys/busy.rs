//! Having the kernel look for packets when a program asks for them, rather than when a card
//! interrupts (Linux `Documentation/networking/napi.rst`, "Busy polling").

use super::options;
use goodqueue_base::units::Duration;
use std::fmt;
use std::os::fd::BorrowedFd;

/// Time that a call that waits would look, in µs; ours do not wait, so any time switches it on.
const TIME_US: libc::c_int = 20;
/// Frames that the kernel takes from a card per call.
const BUDGET: libc::c_int = 64;

/// Busy polling that a socket was granted, according to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BusyPolling {
    /// `SO_BUSY_POLL`; zero: the kernel does not look when it is asked.
    pub time: Duration,
    /// `SO_PREFER_BUSY_POLL`: interrupts stay off while the program asks often.
    pub preferred: bool,
    /// `SO_BUSY_POLL_BUDGET`: frames per call beyond the kernel's own number; zero: that number.
    pub budget: u16,
    /// First option that was refused, with the reason.
    pub refusal: Option<String>,
}

impl fmt::Display for BusyPolling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.time.is_zero() {
            f.write_str("not by the kernel")?;
        } else {
            let preferred = if self.preferred { ", preferred to interrupts" } else { "" };
            write!(f, "by the kernel{preferred}")?;
            if self.budget > 0 {
                write!(f, ", {} frames at a time", self.budget)?;
            }
        }
        self.refusal.as_ref().map_or(Ok(()), |refusal| write!(f, " ({refusal})"))
    }
}

/// Asks for all of it, and says what was granted. `CAP_NET_ADMIN` of the machine's first user
/// namespace is needed.
#[must_use]
pub fn ask(socket: BorrowedFd<'_>) -> BusyPolling {
    let options = [
        (libc::SO_BUSY_POLL, "SO_BUSY_POLL", TIME_US),
        (libc::SO_PREFER_BUSY_POLL, "SO_PREFER_BUSY_POLL", 1),
        (libc::SO_BUSY_POLL_BUDGET, "SO_BUSY_POLL_BUDGET", BUDGET),
    ];
    let mut granted = BusyPolling::default();
    let set = options.map(|(option, name, value)| {
        let result = options::set(socket, libc::SOL_SOCKET, option, &value);
        if let Err(error) = &result
            && granted.refusal.is_none()
        {
            granted.refusal = Some(format!("{name}: {error}"));
        }
        result.is_ok()
    });
    granted.time = Duration::us(u64::from(read(socket, libc::SO_BUSY_POLL)));
    granted.preferred = read(socket, libc::SO_PREFER_BUSY_POLL) != 0;
    // The kernel does not tell this one.
    granted.budget = if set[2] { BUDGET as u16 } else { 0 };
    granted
}

fn read(socket: BorrowedFd<'_>, option: libc::c_int) -> u32 {
    options::get::<libc::c_int>(socket, libc::SOL_SOCKET, option).map_or(0, |value| value.max(0) as u32)
}

/// The kernel's number for the queue of a card that the latest frame of `socket` came through; zero
/// where it keeps none, and then asking has no effect.
#[must_use]
pub fn source(socket: BorrowedFd<'_>) -> u32 {
    read(socket, libc::SO_INCOMING_NAPI_ID)
}
