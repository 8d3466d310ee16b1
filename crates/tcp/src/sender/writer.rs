//! Where an application's writes end in the stream, as far as segments carry PSH.
//!
//! The application writes on and on and sleeps while the send buffer is full. Linux pushes the last segment that found room before it fell
//! asleep (the end of a write is not: the next write goes on with that segment); it is woken when a third of the buffer is free. The
//! buffer holds some of the largest windows so far (`tcp_sndbuf_expand`). All that follows from it here is where PSH is: data never waits for
//! the application. Without segmentation offload; with it the ends of pieces are pushed.

use super::NO_SEGMENT;

/// Bytes a buffer has for each segment of a window: what 64-bit Linux takes for a buffer that could hold it.
const RESERVED: u64 = 4352;
/// Bytes a segment takes there beyond its payload: the descriptor, a small head and the head's end (256 + 320 + 320).
const TAKEN: u64 = 896;
/// Windows below this are reserved as much as this (`TCP_INIT_CWND`).
const SMALLEST_WINDOW: u32 = 10;
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
    /// Segments the buffer holds, and the largest window so far, which it is made for.
    room: u64,
    window: u32,
    /// Windows it is made for.
    windows: u64,
    mss: u64,
    /// Last segments of fills, not sent yet.
    fills: [u64; FILLS],
}

impl Writer {
    /// An application that always has something to write, to a connection with segments of `mss` bytes.
    pub(super) fn new(mss: u32, windows: u32) -> Self {
        let mut writer = Self {
            next_push: NO_SEGMENT,
            wake: 0,
            written: 0,
            room: 0,
            window: 0,
            windows: u64::from(windows),
            mss: u64::from(mss),
            fills: [NO_SEGMENT; FILLS],
        };
        writer.make_room(SMALLEST_WINDOW);
        writer.fill(0);
        writer
    }

    /// An application whose writes do not show: messages, which an answer acknowledges, or pieces, which end with PSH by themselves.
    pub(super) fn that_never_pushes(mss: u32) -> Self {
        Self { next_push: NO_SEGMENT, wake: NO_SEGMENT, written: NO_SEGMENT, window: u32::MAX, ..Self::new(mss, 1) }
    }

    #[inline]
    pub(super) const fn next_push(&self) -> u64 {
        self.next_push
    }

    /// The segment [`next_push`](Self::next_push) is sent.
    #[cold]
    pub(super) fn on_push(&mut self) {
        let sent = self.next_push;
        for fill in &mut self.fills {
            if *fill == sent {
                *fill = NO_SEGMENT;
            }
        }
        self.choose();
    }

    /// Everything below `una` is acknowledged and everything below `nxt` sent.
    #[inline]
    pub(super) fn on_ack(&mut self, (una, nxt): (u64, u64), window: u32) {
        if una >= self.wake || window > self.window || nxt >= self.written {
            self.write((una, nxt), window);
        }
    }

    #[inline(never)]
    fn write(&mut self, (una, nxt): (u64, u64), window: u32) {
        if window > self.window {
            self.make_room(window);
        }
        if una >= self.wake || nxt >= self.written {
            // Here the window alone says what is sent; there nothing is that was not written.
            self.fill(una.max((nxt + 1).saturating_sub(self.room)));
        }
    }

    fn make_room(&mut self, window: u32) {
        self.window = window;
        let bytes = self.windows * u64::from(window) * RESERVED;
        // The last segment may exceed the buffer.
        self.room = bytes / (self.mss + TAKEN) + 1;
        self.sleep();
    }

    /// Fills the buffer, whose oldest segment is `una`.
    fn fill(&mut self, una: u64) {
        self.written = una + self.room;
        self.sleep();
        if let Some(place) = self.fills.iter_mut().find(|place| **place == NO_SEGMENT) {
            *place = self.written - 1;
        }
        self.choose();
    }

    /// The application sleeps until a third of the buffer is free.
    fn sleep(&mut self) {
        self.wake = self.written.saturating_sub((self.room - 1) * 2 / 3);
    }

    fn choose(&mut self) {
        self.next_push = self.fills.iter().fold(NO_SEGMENT, |least, &fill| least.min(fill));
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
            writer.on_ack((una, nxt), window);
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
    fn segments_are_pushed_where_a_fill_of_the_buffer_ends() {
        // The buffer of 2 x 10 x 4352 bytes holds 38 segments of 1448 + 896; 14 are free when it is a third empty.
        assert_eq!(pushes(&[8], 140), [37, 51, 65, 79, 93, 107, 121, 135]);
    }

    #[test]
    fn the_buffer_grows_with_the_window_and_stays() {
        // Real senders of Linux 6.12 without offload whose largest window was 224 segments push every 277th.
        let pushed = pushes(&[224, 90, 50], 6000);
        let gaps: Vec<u64> = pushed.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 18 && gaps.iter().skip(3).all(|gap| (277..=278).contains(gap)), "{gaps:?}");
    }

    #[test]
    fn a_writer_may_never_push() {
        let mut writer = Writer::that_never_pushes(1448);
        writer.on_ack((0, 5), 10);
        writer.on_ack((1000, 1000), 20);
        assert_eq!(writer.next_push(), NO_SEGMENT);
    }
}
