//! System calls: the only unsafe code of this crate, each block with its argument.
#![allow(unsafe_code, reason = "system calls and shared memory that no safe interface offers")]

pub mod child;
pub mod descriptors;
pub mod mapping;
pub mod network;
pub mod waiting;

use std::io;

/// The error of the call that just failed, or its result.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
