//! Signals taken one by one by a thread that asks for them, instead of interrupting any.

use super::checked;
use goodqueue_units::Duration;
use std::io;
use std::mem::MaybeUninit;

/// What the outside may ask of a running bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End (SIGTERM).
    Stop,
    /// What a terminal says to all that run from it (SIGINT, SIGQUIT).
    Interrupt,
    /// Read the settings again (SIGHUP).
    Reload,
}

/// Signals that this process was started to ignore: SIGHUP under `nohup`, SIGINT in the background
/// of a script.
#[derive(Clone, Debug, Default)]
pub struct Ignored(Vec<libc::c_int>);

impl Ignored {
    /// Those of SIGINT and SIGHUP that are ignored now.
    #[must_use]
    pub fn find() -> Self {
        Self([libc::SIGINT, libc::SIGHUP].into_iter().filter(|&signal| is_ignored(signal)).collect())
    }

    /// Ignores them again, after something has installed a handler for them.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn restore(&self) -> io::Result<()> {
        for &signal in &self.0 {
            // SAFETY: ignoring a signal runs no code of this process.
            if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one to the place it is given.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeroed before, and written by the call if it succeeded.
    asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

/// The signals that are waited for.
#[derive(Debug)]
pub struct Signals(libc::sigset_t);

impl Signals {
    /// From now on these signals wait until they are taken, in this thread and all that it starts.
    /// A SIGINT that was ignored stays so.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn hold() -> io::Result<Self> {
        Self::hold_these(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP])
    }

    /// The same, with SIGQUIT beside: for a process that only accompanies the one a user talks to.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn hold_all() -> io::Result<Self> {
        Self::hold_these(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT])
    }

    fn hold_these(signals: &[libc::c_int]) -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialised by the first call before the others use it; all pointers
        // outlive their calls.
        unsafe {
            checked(libc::sigemptyset(set.as_mut_ptr()))?;
            for signal in signals.iter().filter(|&&signal| signal != libc::SIGINT || !is_ignored(signal)) {
                checked(libc::sigaddset(set.as_mut_ptr(), *signal))?;
            }
            let set = set.assume_init();
            match libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) {
                0 => Ok(Self(set)),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// From now on this thread and the program that it becomes take all signals as they come, which
    /// those of a process that holds some would not.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn let_go() -> io::Result<()> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialised by the first call before the other uses it; both pointers
        // outlive their calls.
        unsafe {
            checked(libc::sigemptyset(set.as_mut_ptr()))?;
            match libc::pthread_sigmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut()) {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// The next signal, waited for at most for `longest`.
    #[must_use]
    pub fn next(&self, longest: Duration) -> Option<Signal> {
        let nanos = longest.as_nanos();
        let timeout = libc::timespec { tv_sec: (nanos / 1_000_000_000) as _, tv_nsec: (nanos % 1_000_000_000) as libc::c_long };
        // SAFETY: set and timeout are valid and outlive the call; no information beside the number
        // is asked for.
        match unsafe { libc::sigtimedwait(&raw const self.0, std::ptr::null_mut(), &raw const timeout) } {
            libc::SIGTERM => Some(Signal::Stop),
            libc::SIGINT | libc::SIGQUIT => Some(Signal::Interrupt),
            libc::SIGHUP => Some(Signal::Reload),
            _ => None,
        }
    }
}
