//! The clock that all guests share: User-Mode Linux's external time-travel protocol with shared memory, version 2.
//!
//! One party runs at a time. While none of the guests does, the clock stands where we put it; a guest that is told to run moves it itself, as
//! far as `free_until`, and says when it waits. Its requests for later stand in the shared memory.

use crate::sys::descriptors::sealed_memory_file;
use crate::sys::mapping::Mapping;
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

const VERSION: u32 = 2;
/// Places of the header's fields, and of the guests' entries behind it.
mod place {
    pub const VERSION: usize = 0;
    pub const LEN: usize = 4;
    pub const FREE_UNTIL: usize = 8;
    pub const NOW: usize = 16;
    pub const RUNNING: usize = 24;
    pub const MOST_CLIENTS: usize = 26;
    pub const CLIENTS: usize = 4096;
    pub const CLIENT_SIZE: usize = 128;
    pub const CAPABILITIES: usize = 0;
    pub const FLAGS: usize = 4;
    pub const REQUEST: usize = 8;
    pub const NAME: usize = 16;
}
/// This client reads and writes the shared memory.
const TIME_SHARE: u32 = 1;
/// This client wants to run at the time in its entry.
const WANTS_TO_RUN: u32 = 1;

/// Later than anything: what guests take for never.
pub const NEVER: u64 = i64::MAX as u64;

/// Bytes of a message.
pub const MESSAGE: usize = 16;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Answers any other.
    Ack,
    /// A guest is there.
    Start,
    /// A guest asks to run at a time.
    Request,
    /// A guest has nothing to do before.
    Wait,
    /// A guest asks what time it is.
    Get,
    /// A guest says what time it is.
    Update,
    /// A guest may run.
    Run,
    /// A guest asks for the time of day.
    GetTimeOfDay,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is about.
    pub operation: Operation,
    /// Repeated in the answer.
    pub number: u32,
    /// Nanoseconds, or what the operation wants here.
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
    /// Reads it; `None` when its operation is unknown.
    #[must_use]
    pub fn read(bytes: [u8; MESSAGE]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h, time @ ..] = bytes;
        let known = u32::from_le_bytes([a, b, c, d]);
        let operation = NUMBERS.iter().find(|(number, _)| *number == known)?.1;
        Some(Self { operation, number: u32::from_le_bytes([e, f, g, h]), time: u64::from_le_bytes(time) })
    }

    /// As it travels.
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
    /// What guests map.
    pub file: File,
    memory: Mapping,
    guests: usize,
}

impl Calendar {
    /// For so many guests, at time zero.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(guests: usize) -> io::Result<Self> {
        let len = place::CLIENTS + (guests + 1) * place::CLIENT_SIZE;
        let file = sealed_memory_file(len as u64)?;
        let memory = Mapping::new(&file, len)?;
        memory.u32(place::LEN).store(len as u32, Ordering::Relaxed);
        memory.u16(place::MOST_CLIENTS).store((guests + 1) as u16, Ordering::Relaxed);
        // The entry of the calendar itself: while it has the word, guests write their requests to memory, too.
        memory.u32(place::CLIENTS + place::CAPABILITIES).store(TIME_SHARE, Ordering::Relaxed);
        memory.u32(place::VERSION).store(VERSION, Ordering::Release);
        Ok(Self { file, memory, guests })
    }

    fn entry(&self, guest: usize, field: usize) -> usize {
        assert!(guest < self.guests, "guests are counted from zero");
        place::CLIENTS + (guest + 1) * place::CLIENT_SIZE + field
    }

    /// What identifies a guest in the shared memory: entry 0 is the calendar's own.
    #[must_use]
    pub fn client(guest: usize) -> u64 {
        guest as u64 + 1
    }

    /// Where the clock stands. A guest may have written anything.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.memory.u64(place::NOW).load(Ordering::Acquire)
    }

    /// Sets the clock, while no guest runs.
    pub fn set_now(&self, now: u64) {
        self.memory.u64(place::NOW).store(now, Ordering::Release);
    }

    /// How far the running guest may go without asking.
    pub fn set_free_until(&self, time: u64) {
        self.memory.u64(place::FREE_UNTIL).store(time, Ordering::Release);
    }

    /// Names a guest's entry when it comes in.
    pub fn name(&self, guest: usize) {
        self.memory.u64(self.entry(guest, place::NAME)).store(guest as u64, Ordering::Relaxed);
    }

    /// Says who runs; `None` for nobody.
    pub fn set_running(&self, guest: Option<usize>) {
        let id = guest.map_or(0, |guest| guest as u16 + 1);
        self.memory.u16(place::RUNNING).store(id, Ordering::Release);
    }

    /// When a guest wants to run; [`NEVER`] when it does not.
    #[must_use]
    pub fn request(&self, guest: usize) -> u64 {
        if self.memory.u32(self.entry(guest, place::FLAGS)).load(Ordering::Acquire) & WANTS_TO_RUN == 0 {
            return NEVER;
        }
        self.memory.u64(self.entry(guest, place::REQUEST)).load(Ordering::Acquire)
    }

    /// Sets a guest's request: one that it has sent as a message, or none when it runs.
    pub fn set_request(&self, guest: usize, time: Option<u64>) {
        if let Some(time) = time {
            self.memory.u64(self.entry(guest, place::REQUEST)).store(time, Ordering::Release);
        }
        let flags = if time.is_some() { WANTS_TO_RUN } else { 0 };
        self.memory.u32(self.entry(guest, place::FLAGS)).store(flags, Ordering::Release);
    }
}
