//! System calls: the only unsafe code of this crate, each block with its argument.
#![allow(unsafe_code, reason = "system calls that no safe interface offers")]

pub mod bpf;
pub mod busy;
pub mod descriptors;
pub mod ethtool;
pub mod mapping;
pub mod mount;
pub mod namespace;
pub mod on_demand_sockets;
mod options;
pub mod privileges;
pub mod process;
pub mod processors;
pub mod ring;
pub mod scheduling;
pub mod signals;
pub mod socket;
pub mod tcp;
pub mod terminal;
pub mod udp;
pub mod xdp;

use std::io;

/// The error of the call that just failed, or its result.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// An interface's name as the kernel takes it; `None` when it cannot be one.
fn interface_name(name: &str) -> Option<[libc::c_char; libc::IFNAMSIZ]> {
    let mut field = [0; libc::IFNAMSIZ];
    let fits =
        !name.is_empty() && name.len() < libc::IFNAMSIZ && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    if !fits {
        return None;
    }
    for (to, from) in field.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Some(field)
}
