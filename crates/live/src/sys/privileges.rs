//! Giving privileges away once everything that needs them is open.

use super::checked;
use std::io;

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilityWords {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Version 3: two words for each set.
const VERSION: u32 = 0x2008_0522;

/// Drops all capabilities of this thread and those it starts later, for ever. Call it before
/// starting any: the kernel keeps capabilities by thread.
///
/// # Errors
/// When the kernel refuses.
pub fn drop_all() -> io::Result<()> {
    let header = CapabilityHeader { version: VERSION, pid: 0 };
    let nothing = [CapabilityWords::default(); 2];
    // SAFETY: no pointers in the first two; pointers of the third are to structures laid out as
    // version 3 says, which outlive the call and are only read.
    unsafe {
        // A program started from here gains none by being set-uid or having some in its file.
        checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        checked(libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))?;
        let result = libc::syscall(libc::SYS_capset, &raw const header, nothing.as_ptr());
        checked(result as libc::c_int).map(|_| ())
    }
}
