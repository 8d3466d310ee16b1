//! Where an application's writes end in the stream: the segments that carry PSH.
//!
//! The application hands over 64 KiB at a time and sleeps while the send buffer is full. Linux pushes the last segment of each write, and the last one
//! that found room before the application fell asleep; it is woken when a third of the buffer is free. The buffer grows as Linux's does
//! (`tcp_sndbuf_expand`), for some windows, at a moment when the window has room and everything written is sent. All that follows from it here is where PSH is:
//! data never waits for the application. Sizes are those without segmentation offload.

use super::NO_SEGMENT;

/// Bytes an application hands over at a time.
const WRITE: u64 = 65_536;
/// Bytes a buffer has for each segment of a window: what 64-bit Linux takes for a buffer that could hold it.
const RESERVED: u64 = 4352;
/// Bytes a segment takes there beyond its payload: the descriptor, a small head and the head's end (256 + 320 + 320).
const TAKEN: u64 = 896;
/// Windows below this are reserved as much as this (`TCP_INIT_CWND`).
const SMALLEST_WINDOW: u64 = 10;
/// Fills of the buffer that may wait to be sent: each is a third of it at least.
const FILLS: usize = 4;

/// The application that writes, and its send buffer. Counts segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// The next segment that carries PSH; not sent yet.
    next_push: u64,
    /// The application is woken when everything below is acknowledged.
    wake: u64,
    /// Everything below is written.
    written: u64,
    /// Segments the buffer holds.
    room: u64,
    /// Windows it is made for.
    windows: u64,
    mss: u64,
    /// Last segments of fills, not sent yet.
    fills: [u64; FILLS],
    /// Last segment of the write going on, and how many writes there were with it.
    write_end: u64,
    writes: u64,
}

impl Writer {
    /// An application that always has something to write, to a connection with segments of `mss` bytes.
    pub(super) fn new(mss: u32, windows: u32) -> Self {
        let mut writer = Self {
            next_push: NO_SEGMENT,
            wake: 0,
            written: 0,
            room: 0,
            windows: u64::from(windows),
            mss: u64::from(mss),
            fills: [NO_SEGMENT; FILLS],
            write_end: NO_SEGMENT,
            writes: 0,
        };
        writer.make_room(SMALLEST_WINDOW);
        writer.begin_write();
        writer.fill(0);
        writer
    }

    /// An application whose writes do not show: messages, which an answer acknowledges, or pieces, which end with PSH by themselves.
    pub(super) fn that_never_pushes(mss: u32) -> Self {
        Self { next_push: NO_SEGMENT, wake: NO_SEGMENT, written: NO_SEGMENT, ..Self::new(mss, 1) }
    }

    #[inline]
    pub(super) const fn next_push(&self) -> u64 {
        self.next_push
    }

    /// The segment [`next_push`](Self::next_push) is sent.
    #[cold]
    pub(super) fn on_push(&mut self) {
        let sent = self.next_push;
        if self.write_end == sent {
            self.begin_write();
        }
        for fill in &mut self.fills {
            if *fill == sent {
                *fill = NO_SEGMENT;
            }
        }
        self.choose();
    }

    /// Everything below `una` is acknowledged and everything below `nxt` sent.
    #[inline]
    pub(super) fn on_ack(&mut self, (una, nxt): (u64, u64), in_flight: u32, window: u32) {
        if una >= self.wake || nxt >= self.written && in_flight < window {
            self.write((una, nxt), in_flight, window);
        }
    }

    #[inline(never)]
    fn write(&mut self, (una, nxt): (u64, u64), in_flight: u32, window: u32) {
        if nxt >= self.written && in_flight < window {
            self.make_room(u64::from(window));
        }
        // Here the window alone says what is sent; there nothing is that was not written.
        self.fill(una.max((nxt + 1).saturating_sub(self.room)));
    }

    fn make_room(&mut self, window: u64) {
        let bytes = self.windows * window.max(SMALLEST_WINDOW) * RESERVED;
        // The last segment may exceed the buffer.
        self.room = self.room.max(bytes / (self.mss + TAKEN) + 1);
    }

    fn begin_write(&mut self) {
        self.writes += 1;
        self.write_end = (self.writes * WRITE - 1) / self.mss;
    }

    /// Fills the buffer, whose oldest segment is `una`.
    fn fill(&mut self, una: u64) {
        self.written = una + self.room;
        self.wake = self.written - (self.room - 1) * 2 / 3;
        if let Some(place) = self.fills.iter_mut().find(|place| **place == NO_SEGMENT) {
            *place = self.written - 1;
        }
        self.choose();
    }

    fn choose(&mut self) {
        self.next_push = self.fills.iter().fold(self.write_end, |least, &fill| least.min(fill));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A window of so many segments that moves on by one with each acknowledgement: which segments are pushed.
    fn pushes(windows: &[u32], segments: u64) -> Vec<u64> {
        let mut writer = Writer::new(1448, 2);
        let mut pushed = Vec::new();
        let mut nxt = 0;
        for una in 0..segments {
            let window = windows[(una as usize * windows.len()) / segments as usize];
            writer.on_ack((una, nxt), (nxt - una) as u32, window);
            while nxt < una + u64::from(window) {
                if nxt == writer.next_push() {
                    pushed.push(nxt);
                    writer.on_push();
                }
                assert!(nxt < writer.next_push(), "{nxt} was to be pushed");
                nxt += 1;
            }
        }
        pushed
    }

    #[test]
    fn small_windows_push_where_a_fill_ends_and_where_a_write_ends() {
        // The buffer of 2 x 10 x 4352 bytes holds 38 segments of 1448 + 896; 14 are free when it is a third empty. A write is 45.3 segments.
        assert_eq!(pushes(&[8], 140), [37, 45, 51, 65, 79, 90, 93, 107, 121, 135]);
    }

    #[test]
    fn the_buffer_grows_when_everything_written_is_sent_and_the_window_has_room() {
        let small = pushes(&[8], 2000).len();
        let large = pushes(&[200], 2000).len();
        // A third of a buffer of two windows is 250 segments or so: nearly all that remain are the ends of writes, 45 segments apart.
        assert!(small > 2000 / 14 && (44..60).contains(&large), "{small} {large}");
    }

    #[test]
    fn a_writer_may_never_push() {
        let mut writer = Writer::that_never_pushes(1448);
        writer.on_ack((0, 5), 1, 10);
        writer.on_ack((1000, 1000), 0, 10);
        assert_eq!(writer.next_push(), NO_SEGMENT);
    }
}
