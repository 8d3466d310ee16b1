//! The window that a Linux receiver offers. While it grows, every segment is acknowledged
//! immediately.
//!
//! The window starts at 64 kB and grows by two segments with each segment that arrives, up to what
//! the receive buffer holds (`tcp_grow_window`). Once per round trip the buffer grows to fit what
//! the application has read in it (`tcp_rcv_space_adjust`), without limit. The application reads
//! everything immediately; data beyond a gap occupies room until the gap is filled. An offered
//! window is never taken back: its right edge stays where it is.

use crate::segment::Segment;
use goodqueue_base::units::{Duration, Instant};

/// Segments that the first round trip is expected to bring (`TCP_INIT_CWND`).
const FIRST_READING: u64 = 10;
/// Bytes that the handshake offers, in whole segments.
const FIRST_OFFER: u64 = 65_535;
/// Bytes of 1500-byte packets, which occupy 2176 bytes each, in the first buffer of 128 KiB
/// (`tcp_rmem`).
const FIRST_ROOM: u32 = 87_040;
/// Buffers grow as long as this number can say it.
const MAX_ROOM: u64 = 1 << 31;
const NEVER: u64 = u64::MAX;

/// The state that every segment reads, in bytes and nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// End of the present round trip.
    due: u64,
    /// One above the last byte that the sender may send.
    edge: u64,
    offered: u32,
    /// Bound up to which the offer may grow.
    room: u32,
}

/// The measurements of the application's reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Bytes read in the busiest round trip so far.
    most: u64,
    /// First byte of the present round trip.
    from: u64,
    /// The round-trip time less the way here, in nanoseconds.
    way_back: u64,
    mss: u64,
}

impl Window {
    pub(super) fn new(mss: u64) -> Self {
        // The next offer grows from one segment less. Whatever the segment size, there is room for
        // more segments than one unread segment.
        let offered = FIRST_OFFER.saturating_sub(mss).max(2 * mss);
        Self { due: NEVER, edge: 0, offered: offered as u32, room: FIRST_ROOM.max(4 * mss as u32) }
    }

    /// Records a segment sent at `sent` that has arrived in order, so that the application can read
    /// it. A round trip may end with it. Everything below `next` had arrived by
    /// then.
    #[inline]
    pub(super) fn note_reading(&mut self, reading: &mut Reading, now: Instant, sent: Instant, next: u64) {
        if now.as_nanos() >= self.due {
            self.fit(reading, now, sent, next);
        }
    }

    /// Whether the window grows with a segment that arrives while `held` bytes wait beyond a gap.
    #[inline]
    pub(super) fn grows(&mut self, reading: &Reading, held: u64) -> bool {
        let room = self.room_beside(held);
        if self.offered >= room {
            return false;
        }
        let step = u32::try_from(2 * reading.mss).unwrap_or(u32::MAX);
        self.offered = self.offered.saturating_add(step).min(room);
        true
    }

    #[inline]
    fn room_beside(&self, held: u64) -> u32 {
        u64::from(self.room).saturating_sub(held) as u32
    }

    /// The [`Segment::payload`] of an acknowledgement of everything below `next` while the
    /// application has not read `held` bytes.
    #[inline]
    pub(super) fn offer(&mut self, next: u64, held: u64) -> u16 {
        let wanted = u64::from(self.offered.min(self.room_beside(held)));
        let (payload, room) = Segment::offer(wanted.max(self.edge.saturating_sub(next)));
        self.edge = self.edge.max(next + room);
        payload
    }

    /// The window that the handshake offers.
    pub(super) fn first_offer(&mut self, mss: u64) -> u16 {
        let whole = FIRST_OFFER.max(2 * mss) / mss * mss;
        let (payload, _) = Segment::offer(whole);
        self.edge = self.edge.max(whole);
        payload
    }

    /// The first data has come, a round-trip time after the handshake's answer was sent.
    pub(super) fn open(&mut self, reading: &mut Reading, now: Instant, sent: Instant, rtt: Duration) {
        reading.way_back = rtt.as_nanos().saturating_sub(now.since(sent).as_nanos());
        self.due = now.as_nanos().saturating_add(rtt.as_nanos());
    }

    /// Ends a round trip: makes room for twice the bytes read in it, and for the bytes of the next
    /// one if reading continues to grow.
    fn fit(&mut self, reading: &mut Reading, now: Instant, sent: Instant, next: u64) {
        let read = next - reading.from;
        if read > reading.most {
            let steady = read.saturating_mul(2).saturating_add(16 * reading.mss);
            let growth = steady.saturating_mul(read - reading.most) / reading.most;
            let wanted = steady.saturating_add(growth.saturating_mul(2)).min(MAX_ROOM);
            self.room = self.room.max(wanted as u32);
            reading.most = read;
        }
        reading.from = next;
        self.due = now.as_nanos().saturating_add(reading.way_back).saturating_add(now.since(sent).as_nanos());
    }
}

impl Reading {
    pub(super) fn new(mss: u64) -> Self {
        // No more than the handshake offers: of large segments that is less.
        Self { most: (FIRST_READING * mss).min((FIRST_OFFER / mss).max(1) * mss), from: 0, way_back: 0, mss }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const MSS: u64 = 1448;

    /// Number of round trips of 100 ms with `segments` segments each in which the window grows.
    fn growing(rounds: &[u64]) -> Vec<u64> {
        let (mut window, mut reading) = (Window::new(MSS), Reading::new(MSS));
        let (rtt, way) = (Duration::ms(100), Duration::ms(50));
        let mut next = 0;
        let mut first = true;
        rounds
            .iter()
            .zip(0..)
            .map(|(&segments, round)| {
                let begin = Instant::ZERO + rtt * (round + 1);
                (0..segments)
                    .filter(|&place| {
                        let now = begin + Duration::us(100) * place;
                        let sent = Instant::from_nanos(now.as_nanos() - way.as_nanos());
                        if core::mem::take(&mut first) {
                            window.open(&mut reading, now, sent, rtt);
                        }
                        next += MSS;
                        window.note_reading(&mut reading, now, sent, next);
                        window.grows(&reading, 0)
                    })
                    .count() as u64
            })
            .collect()
    }

    #[test]
    fn most_segments_of_slow_start_find_the_window_growing() {
        // 64 kB to 87 kB is eight steps. At the end of the second round trip the receiver knows
        // that more arrives than at first; then there is room for about six times what was read in
        // one round trip, each time later by half of that.
        assert_eq!(growing(&[10, 20, 40, 80, 160]), [8, 0, 40, 74, 120]);
    }

    #[test]
    fn a_steady_flow_lets_the_window_rest() {
        assert_eq!(growing(&[10, 10, 10, 10]), [8, 0, 0, 0]);
    }

    #[test]
    fn growing_window_is_offered_one_or_two_steps() {
        let rounds: Vec<u64> = (10..=50).collect();
        let counts = growing(&rounds);
        assert!(counts[20..].iter().all(|&count| (1..=2).contains(&count)), "{counts:?}");
    }
}
