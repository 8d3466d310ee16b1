//! Offloads of interfaces: what they are, and switching them.

use super::socket::{control_socket, interface_request, request_for};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// A value for a legacy request of ethtool.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Something that a network card or its driver does to frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Received frames are joined by the kernel.
    Gro,
    /// Received frames are joined by the card.
    Lro,
    /// Long TCP frames are cut by the card.
    Tso,
    /// Long frames are cut by the kernel.
    Gso,
    /// Checksums of sent frames are computed by the card.
    TxChecksum,
}

/// Flag of LRO among the flags of ethtool.
const LRO_FLAG: u32 = 1 << 15;

impl Offload {
    /// Returns the offload's name for `ethtool -K`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gro => "gro",
            Self::Lro => "lro",
            Self::Tso => "tso",
            Self::Gso => "gso",
            Self::TxChecksum => "tx",
        }
    }

    /// By its name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Gro, Self::Lro, Self::Tso, Self::Gso, Self::TxChecksum].into_iter().find(|offload| offload.name() == name)
    }

    /// Requests to read and to write it.
    const fn commands(self) -> (u32, u32) {
        match self {
            Self::Gro => (0x2B, 0x2C),
            Self::Lro => (0x25, 0x26),
            Self::Tso => (0x1E, 0x1F),
            Self::Gso => (0x23, 0x24),
            Self::TxChecksum => (0x16, 0x17),
        }
    }
}

/// Offloads of one interface.
#[derive(Debug)]
pub struct Offloads {
    name: String,
    control: OwnedFd,
}

impl Offloads {
    /// Opens the offloads of the interface `name` in this network namespace.
    ///
    /// # Errors
    /// When there are no more descriptors.
    pub fn of(name: &str) -> io::Result<Self> {
        Ok(Self { name: name.to_owned(), control: control_socket()? })
    }

    fn request(&self, command: u32, data: u32) -> io::Result<u32> {
        let mut value = EthtoolValue { command, data };
        // SAFETY: the structure is that of the requests for one value.
        unsafe { request(self.control.as_fd(), &self.name, &mut value) }?;
        Ok(value.data)
    }

    /// True if the offload is on. It is off on interfaces that do not know it.
    ///
    /// # Errors
    /// When there is no such interface.
    pub fn is_on(&self, offload: Offload) -> io::Result<bool> {
        match self.request(offload.commands().0, 0) {
            Ok(flags) if offload == Offload::Lro => Ok(flags & LRO_FLAG != 0),
            Ok(value) => Ok(value != 0),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Switches it.
    ///
    /// # Errors
    /// When the kernel refuses, most often for want of `CAP_NET_ADMIN`.
    pub fn set(&self, offload: Offload, on: Switch) -> io::Result<()> {
        let bit = u32::from(on == Switch::On);
        let (read, write) = offload.commands();
        let data = if offload == Offload::Lro { self.request(read, 0)? & !LRO_FLAG | (bit * LRO_FLAG) } else { bit };
        self.request(write, data).map(|_| ())
    }
}

/// Carries out the command in `value` for the interface `name`.
///
/// # Safety
/// The structure must be that of its command.
unsafe fn request<T>(control: BorrowedFd<'_>, name: &str, value: &mut T) -> io::Result<()> {
    let mut ifreq = request_for(name)?;
    ifreq.ifr_ifru.ifru_data = std::ptr::from_mut(value).cast();
    interface_request(control, SIOCETHTOOL, &mut ifreq)
}

/// Carries out a command as [`request`] does; false where the interface's driver does not know it.
///
/// # Safety
/// The structure must be that of its command.
unsafe fn known<T>(name: &str, value: &mut T) -> io::Result<bool> {
    // SAFETY: as of this function.
    match unsafe { request(control_socket()?.as_fd(), name, value) } {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Numbers of queues, as many as there are and may be.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most: [u32; 4],
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

/// Receive queues of the interface `name`; one where its driver does not know of several.
///
/// # Errors
/// When there is no such interface.
pub fn receive_queues(name: &str) -> io::Result<u32> {
    const GET_CHANNELS: u32 = 0x3C;
    let mut channels = Channels { command: GET_CHANNELS, ..Channels::default() };
    // SAFETY: the structure is that of the command.
    let known = unsafe { known(name, &mut channels) }?;
    Ok(if known { (channels.receive + channels.combined).max(1) } else { 1 })
}

/// The name of the driver behind the interface `name`, for instance `veth`; empty where the kernel
/// names none.
///
/// # Errors
/// When there is no such interface.
pub fn driver(name: &str) -> io::Result<String> {
    const GET_DRIVER: u32 = 0x03;
    let mut information = DriverInformation { command: GET_DRIVER, driver: [0; 32], rest: [0; 160] };
    // SAFETY: the structure is that of the command; a kernel that names no driver leaves it zero.
    unsafe { known(name, &mut information) }?;
    let used = information.driver.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(used).into_owned())
}

/// Description of a driver by the kernel (`struct ethtool_drvinfo`).
#[repr(C)]
struct DriverInformation {
    command: u32,
    driver: [u8; 32],
    /// Versions, place on a bus and lengths.
    rest: [u8; 160],
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}
