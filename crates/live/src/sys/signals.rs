//! Signals: to stop a run, or taken one by one by a thread that asks for them.

use super::checked;
use goodqueue_base::units::Duration;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Requests to a running bridge from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End (SIGTERM).
    Stop,
    /// End, as a terminal asks all that run from it (SIGINT, SIGQUIT).
    Interrupt,
    /// Read the settings again (SIGHUP).
    Reload,
}

/// Flag that the first interrupt sets, and words that it prints.
static STOP: OnceLock<(Arc<AtomicBool>, &'static str)> = OnceLock::new();

/// From now on SIGINT, SIGTERM and SIGHUP set `flag` and say `words` on standard error; the second
/// of them ends the process. SIGINT and SIGHUP stay ignored where they were, as under `nohup` and
/// in the background of a script.
///
/// A file that may not grow further is an error of the write, as on a full disk, and no signal.
///
/// No thread waits for them: starting one takes longer than the rest of a short run.
///
/// # Errors
/// When this was called before, or the kernel refuses.
pub fn stop_by(flag: Arc<AtomicBool>, words: &'static str) -> io::Result<()> {
    STOP.set((flag, words)).map_err(|_| io::Error::from(io::ErrorKind::AlreadyExists))?;
    // SAFETY: to ignore a signal needs no handler; a failure leaves it as it was.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        if signal != libc::SIGTERM && is_ignored(signal) {
            continue;
        }
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeroes are an action without flags and with an empty mask. The handler does what
        // a handler may: it reads and sets atomics, writes to a descriptor, and ends the process.
        unsafe {
            let action = action.assume_init_mut();
            action.sa_sigaction = stop as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            checked(libc::sigaction(signal, action, std::ptr::null_mut()))?;
        }
    }
    Ok(())
}

/// Exit code that a shell reports for a program ended by Ctrl-C.
const GIVEN_UP: libc::c_int = 130;

extern "C" fn stop(_signal: libc::c_int) {
    let Some((flag, words)) = STOP.get() else { return };
    // SAFETY: neither call waits for a lock; the words are valid, and the error of what was
    // interrupted is put back.
    unsafe {
        if flag.swap(true, Ordering::Relaxed) {
            libc::_exit(GIVEN_UP);
        }
        let error = *libc::__errno_location();
        libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len());
        *libc::__errno_location() = error;
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one to the place it is given.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeroed before, and written by the call if it succeeded.
    asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

/// The set of these signals.
pub(super) fn set_of(signals: impl IntoIterator<Item = libc::c_int>) -> io::Result<libc::sigset_t> {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is initialized by the first call before the others use it; all pointers
    // outlive their calls.
    unsafe {
        checked(libc::sigemptyset(set.as_mut_ptr()))?;
        for signal in signals {
            checked(libc::sigaddset(set.as_mut_ptr(), signal))?;
        }
        Ok(set.assume_init())
    }
}

/// Changes the signals that this thread holds by `set`; returns those that it held before.
pub(super) fn change_mask(how: libc::c_int, set: &libc::sigset_t) -> io::Result<libc::sigset_t> {
    let mut before = MaybeUninit::uninit();
    // SAFETY: both pointers outlive the call, which initializes the second if it succeeds.
    unsafe {
        match libc::pthread_sigmask(how, set, before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
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

    /// Holds the signals of [`Signals::hold`] and SIGQUIT, for a process that only accompanies the
    /// one a user talks to.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn hold_all() -> io::Result<Self> {
        Self::hold_these(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT])
    }

    fn hold_these(signals: &[libc::c_int]) -> io::Result<Self> {
        let set = set_of(signals.iter().copied().filter(|&signal| signal != libc::SIGINT || !is_ignored(signal)))?;
        change_mask(libc::SIG_BLOCK, &set)?;
        Ok(Self(set))
    }

    /// From now on this thread and the program that it becomes take all signals as they come, which
    /// those of a process that holds some would not.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn let_go() -> io::Result<()> {
        change_mask(libc::SIG_SETMASK, &set_of([])?).map(|_| ())
    }

    /// The next signal, waited for at most for `longest`.
    #[must_use]
    pub fn next(&self, longest: Duration) -> Option<Signal> {
        let nanos = longest.as_nanos();
        let timeout = libc::timespec { tv_sec: (nanos / 1_000_000_000) as _, tv_nsec: (nanos % 1_000_000_000) as libc::c_long };
        // SAFETY: set and timeout are valid and outlive the call; no information besides the number
        // is asked for.
        match unsafe { libc::sigtimedwait(&raw const self.0, std::ptr::null_mut(), &raw const timeout) } {
            libc::SIGTERM => Some(Signal::Stop),
            libc::SIGINT | libc::SIGQUIT => Some(Signal::Interrupt),
            libc::SIGHUP => Some(Signal::Reload),
            _ => None,
        }
    }
}
