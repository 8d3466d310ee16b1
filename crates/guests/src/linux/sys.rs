//! System calls: the only unsafe code of this crate, each block with its argument.
#![allow(unsafe_code, reason = "system calls and shared memory that no safe interface offers")]

pub mod child;
pub mod mapping;
pub mod network;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io;

/// The error of the call that just failed, or its result.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A file in memory without a name, of this length.
///
/// # Errors
/// When there is no room.
pub fn memory_file(len: u64) -> io::Result<File> {
    let file = File::from(memfd_create("goodqueue", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.set_len(len)?;
    Ok(file)
}

/// Creates a memory file of a length that nobody can change, so that any process that maps it can
/// rely on it.
///
/// # Errors
/// When there is no room.
pub fn sealed_memory_file(len: u64) -> io::Result<File> {
    let file = memory_file(len)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}
