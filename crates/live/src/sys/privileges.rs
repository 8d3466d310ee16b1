//! Giving privileges away once everything that needs them is open.

use rustix::thread::{self, CapabilitySet, CapabilitySets};
use std::io;

/// Drops all capabilities of this thread and those it starts later, for ever. Call it before
/// starting any: the kernel keeps capabilities by thread.
///
/// # Errors
/// When the kernel refuses.
pub fn drop_all() -> io::Result<()> {
    // A program started from here gains none by being set-uid or having some in its file.
    thread::set_no_new_privs(true)?;
    thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    Ok(thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}
