//! Segmentation offload: segments leave in pieces, as Linux hands them on and a network card, or
//! the kernel just above it, cuts them apart.
//!
//! A piece is what goes out in a millisecond at 1.2 times the window's rate (twice in slow start),
//! at least two segments and at most half the window. Its last segment carries PSH. When the window
//! has room for less than the largest piece, the rest waits for the next acknowledgement if that is
//! due within a millisecond, unless it is a third of the window, all remaining data, or the rest of
//! one of the application's buffers.
//! *Source*: Linux 6.12 (`tcp_write_xmit`, `tcp_tso_autosize`, `tcp_tso_should_defer`). Not
//! modeled: retransmissions in pieces.

use super::Sender;
use super::state::Pieces;
use super::writer::MAX_BYTES;
use crate::cc::{CongestionControl, State};
use crate::segment::Flags;

/// Longest wait in nanoseconds, and the longest time since the last transmission after which
/// segments wait at all.
const SHORTLY: u64 = 1_000_000;
/// Least number of segments of the largest piece.
const MIN: u32 = 2;
/// Least round-trip time in nanoseconds that does not make pieces larger.
const NEAR: u64 = 17 * 512_000;
/// Nanoseconds in a tenth of a second.
const TENTH_NS: u64 = 100_000_000;
/// Tenths of the window's rate for which pieces are sized, in slow start and later.
const RATE_TENTHS: (u64, u64) = (20, 12);

impl Pieces {
    pub(super) const fn new(enabled: bool) -> Self {
        Self { size: 1, left: 0, enabled, waiting: false }
    }

    /// Whether segments wait for the next acknowledgement.
    #[inline]
    pub(super) const fn waiting(&self) -> bool {
        self.waiting
    }

    /// Ends the wait.
    #[inline]
    pub(super) const fn resume(&mut self) {
        self.waiting = false;
    }

    /// Whether the segment that left last was the last of its piece.
    #[inline]
    pub(super) const fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Segments of the piece that is leaving.
    #[inline]
    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// Counts a new segment that leaves; it is `last` when no other one leaves for now. Returns the
    /// flags that it carries for its piece.
    #[inline]
    pub(super) fn flags_of_next(&mut self, last: bool) -> Flags {
        self.left += 1;
        if !last && self.left < self.size {
            return Flags::default();
        }
        let several = self.left > 1;
        self.left = 0;
        if several { Flags::PSH } else { Flags::default() }
    }
}

impl Sender {
    /// The number of segments that leave now, of those that the window has room for.
    #[inline]
    pub(super) fn let_out(&mut self, t: u64, room: u32) -> u32 {
        if self.pieces.enabled && self.pieces.left == 0 { self.cut(t, room) } else { room }
    }

    #[inline]
    fn cut(&mut self, t: u64, room: u32) -> u32 {
        let most = self.largest_piece();
        let size = most.min(self.window / 2).max(1);
        self.pieces.size = size;
        let mut whole = match room.checked_sub(most) {
            None => 0,
            Some(more) if size == 2 => more / 2 * 2 + 2,
            Some(more) => (more / size + 1) * size,
        };
        if whole < room {
            whole += self.last_of_buffer(whole, size.min(room - whole));
        }
        let rest = room - whole;
        let everything = self.end - self.board.nxt() <= u64::from(room);
        self.pieces.waiting = rest > 0 && !everything && self.can_wait(t, rest, whole > 0);
        if self.pieces.waiting { whole } else { room }
    }

    /// Returns `piece` if, after `sent` more segments, the rest of the application's buffer is no
    /// more than that: then the piece leaves.
    fn last_of_buffer(&self, sent: u32, piece: u32) -> u32 {
        let number = self.board.nxt() + u64::from(sent);
        let end = if number <= self.writer.next_stop() { self.writer.next_stop() } else { self.writer.end_of_buffer(number) };
        if end.saturating_sub(number) < u64::from(piece) { piece } else { 0 }
    }

    /// Segments of the largest piece at this rate.
    #[inline]
    fn largest_piece(&self) -> u32 {
        let srtt = self.rtt.srtt().as_nanos();
        let mss = u64::from(self.segmentation.mss());
        let window = u64::from(self.window.max(self.board.outstanding()));
        // Paths of less than about 8 ms get larger pieces.
        let rtt = self.rtt.min();
        let near = if rtt < NEAR { (1 << 16) >> (rtt / 512_000) } else { 0 };
        let below_three = (3 * mss).saturating_sub(1 + near).saturating_mul(srtt << 10);
        let slow = (RATE_TENTHS.0 * mss).saturating_mul(window).saturating_mul(TENTH_NS) <= below_three;
        if slow && self.unwatched { MIN } else { self.work_out_piece(srtt, window, near) }
    }

    #[inline(never)]
    fn work_out_piece(&self, srtt: u64, window: u64, near: u64) -> u32 {
        if self.pacing_rate().is_some() {
            return self.cc.pacing_burst();
        }
        let mss = u64::from(self.segmentation.mss());
        let starting = self.cc.cwnd().get() < self.cc.ssthresh().get() / 2;
        let tenths = if starting { RATE_TENTHS.0 } else { RATE_TENTHS.1 };
        // Bytes in 2^-10 s.
        let bytes = (mss * tenths).saturating_mul(window).saturating_mul(TENTH_NS).checked_div(srtt).unwrap_or(u64::MAX) >> 10;
        (self.segmentation.whole(bytes.saturating_add(near).min(MAX_BYTES)) as u32).max(MIN)
    }

    /// Whether this many segments may wait for the next acknowledgement.
    fn can_wait(&self, t: u64, segments: u32, after_others: bool) -> bool {
        let recently = after_others || t.saturating_sub(self.last_sent_at) <= SHORTLY;
        if !recently || matches!(self.state, State::Recovery | State::Loss) || 3 * segments >= self.window {
            return false;
        }
        let srtt = self.rtt.srtt().as_nanos();
        self.board.head_sent_at(t).is_some_and(|sent| sent + srtt <= t + SHORTLY.min(srtt / 2))
    }
}
