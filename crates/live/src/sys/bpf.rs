//! The program in the kernel that hands an interface's frames to an AF_XDP socket: six
//! instructions, loaded without any other program or file.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;

const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const HELPER_REDIRECT_MAP: i32 = 51;
/// Return value of the program where the map has no socket: the kernel processes the frame further.
const XDP_PASS: i32 = 2;
/// Offset in the context of the receive queue's index.
const RX_QUEUE_INDEX: i16 = 16;

#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgLoad {
    prog_type: u32,
    instructions: u32,
    first: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Place in the kernel at which the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the interface's driver.
    Native,
    /// After any driver, once the kernel has turned the frame into a packet.
    Generic,
}

impl Mode {
    const fn flag(self) -> u32 {
        match self {
            Self::Generic => 1 << 1,
            Self::Native => 1 << 2,
        }
    }
}

/// One instruction.
const fn instruction(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
    code as u64 | (to as u64) << 8 | (from as u64) << 12 | (offset as u16 as u64) << 16 | (value as u32 as u64) << 32
}

/// `redirect_map(map, queue, XDP_PASS)`, where `queue` is the one at which the frame came in.
const fn redirect(map: i32) -> [u64; 6] {
    [
        // r2 = context.rx_queue_index
        instruction(0x61, 2, 1, RX_QUEUE_INDEX, 0),
        // r1 = the map: an instruction of two words
        instruction(0x18, 1, 1, 0, map),
        0,
        // r3 = XDP_PASS
        instruction(0xB7, 3, 0, 0, XDP_PASS),
        instruction(0x85, 0, 0, 0, HELPER_REDIRECT_MAP),
        instruction(0x95, 0, 0, 0, 0),
    ]
}

/// A call of `bpf` with `attributes`, as long as they are; the kernel takes the rest for zero.
///
/// # Safety
/// Addresses within `attributes` must be those of live memory in the form of the command.
unsafe fn call<T>(command: libc::c_int, attributes: &T) -> io::Result<libc::c_int> {
    // SAFETY: pointer and length describe `attributes`, which outlives the call; the rest is the
    // caller's promise.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    super::checked(result as libc::c_int)
}

/// The program on an interface. It leaves the interface when this is dropped, or its process dies.
#[derive(Debug)]
pub struct Redirect {
    map: OwnedFd,
    _program: OwnedFd,
    _link: OwnedFd,
}

impl Redirect {
    /// Puts the program on the interface of number `interface`. As long as no socket is given to
    /// it, it lets everything pass.
    ///
    /// # Errors
    /// When the kernel refuses: `CAP_BPF` and `CAP_NET_ADMIN` are needed, and a driver that can for
    /// [`Mode::Native`].
    pub fn new(interface: u32, mode: Mode) -> io::Result<Self> {
        let map = MapCreate { map_type: MAP_TYPE_XSKMAP, key_size: 4, value_size: 4, max_entries: 1 };
        // SAFETY: the first and the last have no addresses; the program's are of arrays that
        // outlive the call, and as long as it says. Each call returns a new descriptor that nobody
        // else owns.
        unsafe {
            let map = OwnedFd::from_raw_fd(call(MAP_CREATE, &map)?);
            let instructions = redirect(map.as_raw_fd());
            let load = ProgLoad {
                prog_type: PROG_TYPE_XDP,
                instructions: instructions.len() as u32,
                first: instructions.as_ptr() as u64,
                license: c"Apache-2.0 OR MIT".as_ptr() as u64,
                log_level: 0,
                log_size: 0,
                log: 0,
            };
            let program = OwnedFd::from_raw_fd(call(PROG_LOAD, &load)?);
            let link = LinkCreate { program: program.as_raw_fd() as u32, interface, attach_type: ATTACH_XDP, flags: mode.flag() };
            let link = OwnedFd::from_raw_fd(call(LINK_CREATE, &link)?);
            Ok(Self { map, _program: program, _link: link })
        }
    }

    /// From now on the frames of the first receive queue go to `socket`.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn send_to(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let (queue, socket) = (0u32, socket.as_raw_fd() as u32);
        let update = MapUpdate {
            map: self.map.as_raw_fd() as u32,
            padding: 0,
            key: &raw const queue as u64,
            value: &raw const socket as u64,
            flags: 0,
        };
        // SAFETY: both addresses are of values of the map's sizes that outlive the call.
        unsafe { call(MAP_UPDATE_ELEM, &update) }.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_laid_out_as_the_kernel_reads_them() {
        let bytes = redirect(7).map(u64::to_le_bytes);
        assert_eq!(bytes[0], [0x61, 0x12, 16, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[1], [0x18, 0x11, 0, 0, 7, 0, 0, 0]);
        assert_eq!(bytes[4], [0x85, 0, 0, 0, 51, 0, 0, 0]);
        assert_eq!(bytes[5], [0x95, 0, 0, 0, 0, 0, 0, 0]);
    }
}
