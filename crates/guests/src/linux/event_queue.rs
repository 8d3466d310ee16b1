//! The clock that all guests share: the external time-travel protocol of User-Mode Linux with
//! shared memory, version 2.
//!
//! One party runs at a time. While no guest runs, the clock stands where we set it. A running guest
//! advances the clock itself, up to `free_until`, and reports when it waits. Requests for later
//! times are in the shared memory.

use crate::linux::sys::mapping::SharedFile;
use crate::linux::sys::sealed_memory_file;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

const VERSION: u32 = 2;
/// Offsets of the header's fields, and of the guests' entries after it.
mod place {
    pub const VERSION: usize = 0;
    pub const LEN: usize = 4;
    pub const FREE_UNTIL: usize = 8;
    pub const NOW: usize = 16;
    pub const RUNNING: usize = 24;
    pub const MAX_CLIENTS: usize = 26;
    pub const CLIENTS: usize = 4096;
    pub const CLIENT_SIZE: usize = 128;
    pub const CAPABILITIES: usize = 0;
    pub const FLAGS: usize = 4;
    pub const REQUEST: usize = 8;
    pub const NAME: usize = 16;
}
/// Capability: this client uses the shared memory.
const TIME_SHARE: u32 = 1;
/// Flag: this client is to run at the time in its entry.
const WANTS_TO_RUN: u32 = 1;

/// Later than any time: what guests use for "never".
pub const NEVER: u64 = i64::MAX as u64;

/// Bytes of a message.
pub const MESSAGE: usize = 16;

/// Operation of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Answers any other message.
    Ack,
    /// A guest announces itself.
    Start,
    /// A guest requests to run at a time.
    Request,
    /// A guest waits: it has nothing to do before its request.
    Wait,
    /// A guest asks for the time.
    Get,
    /// A guest reports the time.
    Update,
    /// A guest may run.
    Run,
    /// A guest asks for the wall-clock time.
    GetTimeOfDay,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Operation that the message is about.
    pub operation: Operation,
    /// Number that the answer repeats.
    pub number: u32,
    /// Nanoseconds, or another argument of the operation.
    pub time: u64,
}

const NUMBERS: [(u32, Operation); 8] = [
    (0, Operation::Ack),
    (1, Operation::Start),
    (2, Operation::Request),
    (3, Operation::Wait),
    (4, Operation::Get),
    (5, Operation::Update),
    (6, Operation::Run),
    (8, Operation::GetTimeOfDay),
];

impl Message {
    /// Parses a message; `None` for an unknown operation.
    #[must_use]
    pub fn read(bytes: [u8; MESSAGE]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h, time @ ..] = bytes;
        let known = u32::from_le_bytes([a, b, c, d]);
        let operation = NUMBERS.iter().find(|(number, _)| *number == known)?.1;
        Some(Self { operation, number: u32::from_le_bytes([e, f, g, h]), time: u64::from_le_bytes(time) })
    }

    /// The bytes of the message.
    #[must_use]
    pub fn bytes(self) -> [u8; MESSAGE] {
        let number = NUMBERS.iter().find(|(_, operation)| *operation == self.operation).map_or(0, |(number, _)| *number);
        let mut bytes = [0; MESSAGE];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.time.to_le_bytes());
        bytes
    }
}

/// The shared memory.
#[derive(Debug)]
pub struct Calendar {
    /// The file that guests map.
    pub file: File,
    memory: SharedFile,
    guests: usize,
}

impl Calendar {
    /// Creates the memory for a number of guests, at time zero.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(guests: usize) -> io::Result<Self> {
        let len = place::CLIENTS + (guests + 1) * place::CLIENT_SIZE;
        let file = sealed_memory_file(len as u64)?;
        let memory = SharedFile::new(&file, len)?;
        memory.u32(place::LEN).store(len as u32, Ordering::Relaxed);
        memory.u16(place::MAX_CLIENTS).store((guests + 1) as u16, Ordering::Relaxed);
        // The calendar's own entry: guests write their requests to memory even while the calendar
        // runs.
        memory.u32(place::CLIENTS + place::CAPABILITIES).store(TIME_SHARE, Ordering::Relaxed);
        memory.u32(place::VERSION).store(VERSION, Ordering::Release);
        Ok(Self { file, memory, guests })
    }

    fn entry(&self, guest: usize, field: usize) -> usize {
        assert!(guest < self.guests, "guests are counted from zero");
        place::CLIENTS + (guest + 1) * place::CLIENT_SIZE + field
    }

    /// Identifier of a guest in the shared memory; entry 0 belongs to the calendar.
    #[must_use]
    pub fn client(guest: usize) -> u64 {
        guest as u64 + 1
    }

    /// Current time. A guest may have written any value.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.memory.u64(place::NOW).load(Ordering::Acquire)
    }

    /// Sets the clock. Only valid while no guest runs.
    pub fn set_now(&self, now: u64) {
        self.memory.u64(place::NOW).store(now, Ordering::Release);
    }

    /// Sets how far the running guest may advance without asking.
    pub fn set_free_until(&self, time: u64) {
        self.memory.u64(place::FREE_UNTIL).store(time, Ordering::Release);
    }

    /// Assigns the entry of a guest when it starts.
    pub fn name(&self, guest: usize) {
        self.memory.u64(self.entry(guest, place::NAME)).store(guest as u64, Ordering::Relaxed);
    }

    /// Sets who runs; `None` for nobody.
    pub fn set_running(&self, guest: Option<usize>) {
        let id = guest.map_or(0, |guest| guest as u16 + 1);
        self.memory.u16(place::RUNNING).store(id, Ordering::Release);
    }

    /// When a guest is to run; [`NEVER`] if it is not.
    #[must_use]
    pub fn request(&self, guest: usize) -> u64 {
        if self.memory.u32(self.entry(guest, place::FLAGS)).load(Ordering::Acquire) & WANTS_TO_RUN == 0 {
            return NEVER;
        }
        self.memory.u64(self.entry(guest, place::REQUEST)).load(Ordering::Acquire)
    }

    /// Sets the request of a guest: one that it sent as a message, or none while it runs.
    pub fn set_request(&self, guest: usize, time: Option<u64>) {
        if let Some(time) = time {
            self.memory.u64(self.entry(guest, place::REQUEST)).store(time, Ordering::Release);
        }
        let flags = if time.is_some() { WANTS_TO_RUN } else { 0 };
        self.memory.u32(self.entry(guest, place::FLAGS)).store(flags, Ordering::Release);
    }
}
