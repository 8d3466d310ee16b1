//! Bytes for a file, written by another thread: the one that moves packets never waits for a disk.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

const CHUNK: usize = 64 << 10;
const CHUNKS: usize = 64;

/// Policy for a file that is slower than the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// Leave out whole pieces, and count them.
    Lose,
    /// Wait; for hosts in virtual time.
    Wait,
}

/// A file that another thread writes.
#[derive(Debug)]
pub struct Spool {
    current: Vec<u8>,
    full: Option<SyncSender<Vec<u8>>>,
    empty: Receiver<Vec<u8>>,
    overrun: Overrun,
    lost: u64,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl Spool {
    /// Writes to `file`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(file: impl Write + Send + 'static, overrun: Overrun) -> io::Result<Self> {
        let (full, to_write) = sync_channel::<Vec<u8>>(CHUNKS);
        let (back, empty) = sync_channel(CHUNKS);
        for _ in 1..CHUNKS {
            // The channel has room for all of them.
            let _ = back.try_send(Vec::with_capacity(CHUNK));
        }
        let writer = std::thread::Builder::new().name("spool".to_owned()).spawn(move || drain(file, &to_write, &back))?;
        Ok(Self { current: Vec::with_capacity(CHUNK), full: Some(full), empty, overrun, lost: 0, writer: Some(writer) })
    }

    /// Appends one piece, which is kept together: it is written or left out as a whole.
    #[inline]
    pub fn write(&mut self, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if self.current.len() + len > CHUNK && !self.turn_over() {
            self.lost += 1;
            return;
        }
        for part in parts {
            self.current.extend_from_slice(part);
        }
    }

    /// Hands the full chunk over and takes an empty one; false when there is none.
    fn turn_over(&mut self) -> bool {
        let Some(full) = &self.full else { return false };
        let next = match self.overrun {
            Overrun::Wait => self.empty.recv().ok(),
            Overrun::Lose => self.empty.try_recv().ok(),
        };
        let Some(next) = next else { return false };
        match full.try_send(std::mem::replace(&mut self.current, next)) {
            Ok(()) => true,
            // As many chunks as places: it cannot be full; and a writer that has gone loses what it
            // was given.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }

    /// Pieces left out.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Writes the rest and waits until it is in the file.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.close()
    }

    fn close(&mut self) -> io::Result<()> {
        if let Some(full) = self.full.take() {
            // The receiver's end is reported by the thread's result.
            let _ = full.send(std::mem::take(&mut self.current));
        }
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the thread that writes the file has panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Callers of `finish` get errors.
        let _ = self.close();
    }
}

fn drain(mut file: impl Write, full: &Receiver<Vec<u8>>, back: &SyncSender<Vec<u8>>) -> io::Result<()> {
    while let Ok(mut chunk) = full.recv() {
        file.write_all(&chunk)?;
        chunk.clear();
        // The other thread has ended.
        let _ = back.try_send(chunk);
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn everything_arrives_in_order() {
        let file = Shared::default();
        let mut spool = Spool::new(file.clone(), Overrun::Wait).unwrap();
        let numbers = 0..100_000u32;
        for number in numbers.clone() {
            spool.write(&[&number.to_le_bytes()[..2], &number.to_le_bytes()[2..]]);
        }
        assert_eq!(spool.lost(), 0);
        spool.finish().unwrap();
        let expected: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        assert!(*file.0.lock().unwrap() == expected);
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_and_holds_nothing_up() {
        let mut spool = Spool::new(Full, Overrun::Lose).unwrap();
        for _ in 0..200_000 {
            spool.write(&[&[0; 64]]);
        }
        assert!(spool.lost() > 0);
        assert_eq!(spool.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
