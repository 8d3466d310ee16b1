//! Buffers of the sending application, as far as they show in segments.
//!
//! The application sleeps while the send buffer is full. Linux pushes the last segment that found
//! room before it fell asleep, and wakes it when a third of the send buffer is free. The send
//! buffer holds several of the largest windows that were used up (`tcp_sndbuf_expand`). Here only
//! PSH, and the question whether segments wait for others, depend on it: data never waits for the
//! application.
//!
//! Without segmentation offload the unit of writing is a segment. With offload it is a buffer of
//! half the largest window that the receiver has offered, at most 64 KiB (`tcp_xmit_size_goal`):
//! the last buffer is filled even if the send buffer is full by then, and some buffers are pushed
//! as a whole (`forced_push`). The rest of a buffer is filled again while the application writes. A
//! rest so small that it can leave as a piece does so, filled up from the next buffer
//! (`tcp_grow_skb`).
//!
//! *Source*: Linux 6.12; send buffers of guests, whose first buffers, fills and occupied bytes are
//! the same to the segment.

use super::NO_SEGMENT;
use goodqueue_base::units::Bytes;

/// Most bytes of a piece, and of a buffer of the application's data (64 KiB less room for headers).
pub(super) const MAX_BYTES: u64 = 65_215;

/// Bytes of a send buffer per segment of a window: the truesize that 64-bit Linux assumes for a
/// segment.
const RESERVED: u64 = 4352;
/// Bytes that a segment and a buffer occupy beyond the payload: the descriptor and its head
/// (counted in guests, without and with offload).
const TAKEN: (u64, u64) = (896, 960);
/// Smaller windows reserve as much as this one (`TCP_INIT_CWND`).
const MIN_WINDOW: u32 = 10;
/// Fills of the send buffer that may wait to be sent: each is at least a third of it.
const FILLS: usize = 4;
/// Buffer sizes in use at a time.
const SIZES: usize = 4;
/// Segments with PSH that are remembered.
const MARKS: usize = 8;
/// Bytes per write of the application.
const WRITE: u64 = 1 << 16;
/// The window that a receiver offers with its handshake.
const FIRST_OFFER: u64 = 65_160;

/// The state of a connection, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Everything below is acknowledged.
    pub(super) una: u64,
    /// Everything below is sent.
    pub(super) nxt: u64,
    /// The window, and the used part of it.
    pub(super) window: u32,
    pub(super) in_flight: u32,
    /// Segments in a piece.
    pub(super) piece: u32,
}

/// The application that writes, and its send buffer, in segments unless said otherwise. The fields
/// that every acknowledgement touches come first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Writer {
    /// The next unsent segment that needs attention: a buffer ends with it, or it carries PSH.
    next_stop: u64,
    /// The application sleeps until everything below is acknowledged.
    wake: u64,
    /// The largest window offered, in bytes.
    offered: u64,
    /// The largest window for which the send buffer has grown.
    window: u32,
    offload: bool,
    /// An acknowledgement has come, and not all that it allows has left.
    heard: bool,
    /// Bytes of the send buffer.
    room: u64,
    /// Everything below is written.
    written: u64,
    /// Number of windows in the send buffer.
    windows: u64,
    mss: u64,
    /// Unsent last segments of fills.
    fills: [u64; FILLS],
    /// Number of segments of the buffers that begin at a segment or later.
    sizes: [(u64, u64); SIZES],
    /// Unsent first segments of writes.
    starts: [u64; FILLS],
    /// First byte of the write that is being sent, and one above the last byte that was pushed.
    start: u64,
    pushed: u64,
    /// The latest segments that were sent with PSH, and the index of the oldest.
    marks: [u64; MARKS],
    oldest: u8,
}

impl Writer {
    /// Length of the prefix of this struct that processing an acknowledgement reads.
    pub(super) const TOUCHED: usize = core::mem::offset_of!(Self, room);

    /// An application that always has data, on a connection with segments of `mss` bytes, whose
    /// receiver never offers more than `most` bytes.
    pub(super) fn new(mss: u32, windows: u32, offload: bool, most: Bytes, initial_window: u32) -> Self {
        let mut writer = Self {
            next_stop: NO_SEGMENT,
            wake: 0,
            window: 0,
            offload,
            heard: false,
            room: 0,
            written: 0,
            windows: u64::from(windows),
            mss: u64::from(mss),
            fills: [NO_SEGMENT; FILLS],
            offered: FIRST_OFFER.min(most.get()),
            sizes: [(NO_SEGMENT, 1); SIZES],
            starts: [NO_SEGMENT; FILLS],
            start: 0,
            pushed: 0,
            marks: [NO_SEGMENT; MARKS],
            oldest: 0,
        };
        writer.make_room(MIN_WINDOW);
        writer.fill(&Standing { una: 0, nxt: 0, window: initial_window, in_flight: 0, piece: 2 });
        writer
    }

    /// An application whose writes have no effect: messages, which an answer acknowledges.
    pub(super) fn that_never_pushes(mss: u32) -> Self {
        Self {
            next_stop: NO_SEGMENT,
            wake: NO_SEGMENT,
            written: NO_SEGMENT,
            window: u32::MAX,
            ..Self::new(mss, 1, false, Bytes::MAX, 1)
        }
    }

    /// The next segment that needs attention; later segments are not sent before it.
    #[inline]
    pub(super) const fn next_stop(&self) -> u64 {
        self.next_stop
    }

    /// Records the window that the receiver offers.
    #[inline]
    pub(super) fn note_offer(&mut self, bytes: u64) {
        self.offered = self.offered.max(bytes);
    }

    /// The segment [`next_stop`](Self::next_stop) is being sent, everything below `nxt` has been.
    /// Returns whether it carries PSH.
    #[cold]
    pub(super) fn on_stop(&mut self, standing: &Standing) -> bool {
        let sent = self.next_stop;
        let pushed = self.pass(sent, standing);
        if pushed {
            self.marks[usize::from(self.oldest)] = sent;
            self.oldest = (self.oldest + 1) % MARKS as u8;
        }
        pushed
    }

    /// Whether a retransmission of this segment carries PSH.
    pub(super) fn is_marked(&self, number: u64) -> bool {
        self.marks.contains(&number)
    }

    fn pass(&mut self, sent: u64, standing: &Standing) -> bool {
        let mut push = false;
        for fill in &mut self.fills {
            if *fill == sent {
                *fill = NO_SEGMENT;
                push = true;
            }
        }
        if !self.offload {
            self.next_stop = self.next_push();
            return push;
        }
        let end = (sent + 1) * self.mss;
        for start in &mut self.starts {
            if *start <= sent + 1 {
                self.start = *start * self.mss;
                self.pushed = self.pushed.max(self.start);
                *start = NO_SEGMENT;
            }
        }
        // The end of a write is pushed and starts the next one; a buffer is pushed when it ends
        // more than half a window after the last push.
        let write = self.start + end.saturating_sub(self.start) / WRITE * WRITE;
        push |= end.saturating_sub(write.max(self.pushed)) > self.offered / 2;
        if push {
            self.pushed = end;
        }
        if sent + 1 >= self.written {
            let standing = Standing { nxt: sent + 1, in_flight: standing.in_flight + 1, ..*standing };
            self.follow(&standing);
            self.fill(&standing);
        } else {
            self.next_stop = self.end_of_buffer(sent + 1);
        }
        push
    }

    /// Records that an acknowledgement has come.
    #[inline]
    pub(super) const fn note_ack(&mut self) {
        self.heard = true;
    }

    /// Records that nothing more leaves for now. Only acknowledgements wake the application.
    #[inline]
    pub(super) fn after_sending(&mut self, standing: &Standing) {
        if core::mem::take(&mut self.heard) && (standing.una >= self.wake || standing.window > self.window) {
            self.look(standing);
        }
    }

    #[inline(never)]
    fn look(&mut self, standing: &Standing) {
        if self.follow(standing) {
            self.wake = 0;
        }
        if standing.una < self.wake {
            return;
        }
        let excess = self.taken(standing).saturating_sub(self.room * 2 / 3);
        if excess == 0 {
            self.fill(standing);
        } else {
            // Each acknowledged segment frees at most this much.
            self.wake = standing.una + excess.div_ceil(self.mss + self.overhead());
        }
    }

    /// Grows the send buffer with the window; with offload, only while the window is not used up.
    /// Returns whether it grew.
    fn follow(&mut self, standing: &Standing) -> bool {
        let grows = standing.window > self.window && (!self.offload || standing.in_flight < standing.window);
        if grows {
            self.make_room(standing.window);
        }
        grows
    }

    fn make_room(&mut self, window: u32) {
        self.window = window;
        self.room = self.windows * u64::from(window.max(MIN_WINDOW)) * RESERVED;
    }

    const fn overhead(&self) -> u64 {
        if self.offload { TAKEN.1 } else { TAKEN.0 }
    }

    /// Segments of a buffer that is written now.
    fn buffer_size(&self) -> u64 {
        if self.offload { ((self.offered / 2).min(MAX_BYTES) / self.mss).max(1) } else { 1 }
    }

    /// Occupied bytes of the send buffer: sent data lies there in pieces, the rest in whole
    /// buffers.
    fn taken(&self, standing: &Standing) -> u64 {
        let (sent, waiting) =
            (standing.nxt.min(self.written) - standing.una.min(self.written), self.written.saturating_sub(standing.nxt));
        let (piece, buffer) = if self.offload { (u64::from(standing.piece).max(1), self.buffer_size()) } else { (1, 1) };
        (sent + waiting) * self.mss + (sent.div_ceil(piece) + waiting.div_ceil(buffer)) * self.overhead()
    }

    /// Writes for the application, which is awake, until the send buffer is full.
    fn fill(&mut self, standing: &Standing) {
        // The window alone decides here what is sent; in Linux, only written data is.
        self.written = self.written.max(standing.nxt);
        if let Some(place) = self.starts.iter_mut().find(|place| **place == NO_SEGMENT) {
            *place = self.written;
        }
        let size = self.buffer_size();
        let grown = self.offload && self.fill_last_buffer(standing, size);
        let free = self.room.saturating_sub(self.taken(standing));
        let buffers = free.div_ceil(size * self.mss + self.overhead());
        self.written += if grown { buffers } else { buffers.max(1) } * size;
        if let Some(place) = self.fills.iter_mut().find(|place| **place == NO_SEGMENT) {
            *place = self.written - 1;
        }
        self.wake = standing.una + 1;
        self.next_stop = if self.offload { self.end_of_buffer(standing.nxt) } else { self.next_push() };
    }

    /// Makes the unsent rest of the last buffer the beginning of a buffer of this size. If it is
    /// the only buffer, the rest is what remains after everything that fits the window has left.
    /// Returns false when nothing can be added.
    fn fill_last_buffer(&mut self, standing: &Standing, size: u64) -> bool {
        let nxt = standing.nxt;
        // Forget the sizes of buffers that have been sent.
        while self.sizes[1].0 <= nxt {
            self.sizes.rotate_left(1);
            self.sizes[SIZES - 1] = (NO_SEGMENT, 1);
        }
        let known = self.sizes.iter().take_while(|(from, _)| *from != NO_SEGMENT).count();
        let gone = nxt + u64::from(standing.window.saturating_sub(standing.in_flight));
        let begin = match self.sizes[..known].last() {
            None => gone,
            Some(&(from, last)) => {
                let begin = self.written - self.written.saturating_sub(from).min(last);
                if last == size && begin > nxt && begin < self.written {
                    return false;
                }
                if begin > nxt { begin } else { gone }
            }
        };
        // It no longer ends a fill.
        for fill in &mut self.fills {
            if fill.wrapping_add(1) == self.written {
                *fill = NO_SEGMENT;
            }
        }
        // Of many sizes at a time, the last ones count as one.
        self.sizes[known.min(SIZES - 1)] = (begin, size);
        self.written = begin + size;
        true
    }

    /// The last segment of the buffer that holds the unsent segment `number`; [`NO_SEGMENT`]
    /// without offload.
    pub(super) fn end_of_buffer(&self, number: u64) -> u64 {
        let mut end = NO_SEGMENT;
        for &(from, size) in self.sizes.iter().take_while(|(from, _)| *from != NO_SEGMENT) {
            end = if from <= number { number + size - (number - from) % size - 1 } else { end.min(from - 1) };
        }
        end
    }

    fn next_push(&self) -> u64 {
        self.fills.iter().fold(NO_SEGMENT, |least, &fill| least.min(fill))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Segments that need attention, and whether they are pushed, for a window of `segments` that
    /// moves on by one with each acknowledgement.
    fn stops(writer: &mut Writer, windows: &[u32], segments: u64) -> Vec<(u64, bool)> {
        let mut stops = Vec::new();
        let mut nxt = 0;
        for una in 0..segments {
            let window = windows[(una as usize * windows.len()) / segments as usize];
            let standing = |nxt: u64| Standing { una, nxt, window, in_flight: (nxt - una) as u32, piece: 2 };
            while nxt < una + u64::from(window) {
                if nxt == writer.next_stop() {
                    stops.push((nxt, writer.on_stop(&standing(nxt))));
                }
                assert!(nxt < writer.next_stop(), "{nxt} needed care");
                nxt += 1;
            }
            writer.note_ack();
            // Now and then a segment waits for the next acknowledgement.
            writer.after_sending(&Standing { in_flight: window - 1, ..standing(nxt) });
        }
        stops
    }

    fn pushes(windows: &[u32], segments: u64) -> Vec<u64> {
        let mut writer = Writer::new(1448, 2, false, Bytes::MAX, 10);
        stops(&mut writer, windows, segments)
            .into_iter()
            .map(|(number, push)| (push, number))
            .filter_map(|(push, number)| push.then_some(number))
            .collect()
    }

    #[test]
    fn segments_are_pushed_where_a_fill_of_the_buffer_ends() {
        // The buffer of 2 x 10 x 4352 bytes holds 38 segments of 1448 + 896; 14 are free when it is
        // a third empty.
        assert_eq!(pushes(&[8], 140), [37, 51, 65, 79, 93, 107, 121, 135]);
    }

    #[test]
    fn the_buffer_grows_with_the_window_and_stays() {
        // Real senders of Linux 6.12 without offload whose largest window was 224 segments push
        // every 277th segment.
        let pushed = pushes(&[224, 90, 50], 6000);
        let gaps: Vec<u64> = pushed.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 18 && gaps.iter().skip(3).all(|gap| (277..=278).contains(gap)), "{gaps:?}");
    }

    #[test]
    fn buffers_hold_half_the_window_that_is_offered() {
        let mut writer = Writer::new(1448, 2, true, Bytes::MAX, 10);
        let first: Vec<u64> = stops(&mut writer, &[8], 60).into_iter().map(|(number, _)| number).collect();
        assert_eq!(first, [9, 31, 53], "22 segments are half of 65,160 bytes; the first ten leave while the application writes");
        let mut writer = Writer::new(1448, 2, true, Bytes::MAX, 10);
        writer.note_offer(87_040);
        let later: Vec<u64> = stops(&mut writer, &[16], 400).into_iter().map(|(number, _)| number).collect();
        let sizes: Vec<u64> = later.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(sizes[3..].iter().all(|&size| size == 30), "{later:?}: 30 segments are half of 87,040 bytes");
        writer.note_offer(1 << 30);
        assert_eq!(writer.buffer_size(), 45, "64 KiB");
    }

    #[test]
    fn buffers_are_pushed_when_half_a_window_has_come() {
        let mut writer = Writer::new(1448, 2, true, Bytes::MAX, 10);
        let pushed: Vec<u64> =
            stops(&mut writer, &[8], 80).into_iter().filter_map(|(number, push)| push.then_some(number)).collect();
        // As real senders do: the first push is more than half a window behind the start, the next
        // one soon after the end of a write of 64 KiB.
        assert_eq!(pushed[0], 31);
        assert!(pushed[1] > 53, "{pushed:?}");
    }

    #[test]
    fn a_writer_may_never_push() {
        let mut writer = Writer::that_never_pushes(1448);
        writer.note_ack();
        writer.after_sending(&Standing { una: 1000, nxt: 1000, window: 20, in_flight: 0, piece: 1 });
        assert_eq!(writer.next_stop(), NO_SEGMENT);
    }
}
