//! Memory that sessions may use, estimated from what their worlds hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory of a packet: in the simulator, on its sender's scoreboard, and where it is followed for
/// the page.
pub const PACKET_BYTES: u64 = 160;
/// Memory of both ends of a TCP connection.
pub const CONNECTION_BYTES: u64 = 4096;
/// Memory of an empty world.
pub const WORLD_BYTES: u64 = 1 << 20;

/// Memory that all sessions of a server use together.
#[derive(Debug)]
pub struct Memory {
    used: AtomicU64,
    max_total: u64,
    max_each: u64,
}

/// A session's part of it, given back when dropped.
#[derive(Debug)]
pub struct Share {
    memory: Arc<Memory>,
    bytes: u64,
}

/// Why a share cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfMemory {
    /// The share is as large as one may be.
    #[error("it needs more memory than the {} MiB that a session may use", .0 >> 20)]
    Session(u64),
    /// All of them together are.
    #[error("all sessions together need more memory than the {} MiB that this server may use: end one, or try again later", .0 >> 20)]
    Server(u64),
}

impl Memory {
    /// Bytes that all sessions, and that one of them, may use.
    pub fn new(max_total: u64, max_each: u64) -> Arc<Self> {
        Arc::new(Self { used: AtomicU64::new(0), max_total, max_each })
    }

    /// A share of nothing.
    pub fn share(self: &Arc<Self>) -> Share {
        Share { memory: Arc::clone(self), bytes: 0 }
    }

    #[cfg(test)]
    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl Share {
    /// Makes it as large as this, or leaves it as it is.
    ///
    /// # Errors
    /// One session or all of them would have too much.
    pub fn resize(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        let Memory { used, max_total, max_each } = &*self.memory;
        if bytes > *max_each {
            return Err(OutOfMemory::Session(*max_each));
        }
        if bytes > self.bytes {
            let more = bytes - self.bytes;
            let grown = |used: u64| used.checked_add(more).filter(|used| used <= max_total);
            used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).map_err(|_| OutOfMemory::Server(*max_total))?;
        } else {
            used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_bounds_of_their_own_and_together() {
        let memory = Memory::new(100, 60);
        let (mut one, mut other) = (memory.share(), memory.share());
        assert_eq!(one.resize(60), Ok(()));
        assert_eq!(one.resize(61), Err(OutOfMemory::Session(60)));
        assert_eq!(other.resize(41), Err(OutOfMemory::Server(100)));
        assert_eq!((other.resize(40), memory.used()), (Ok(()), 100));
        assert_eq!((one.resize(10), memory.used()), (Ok(()), 50));
        drop(one);
        drop(other);
        assert_eq!(memory.used(), 0);
    }
}
