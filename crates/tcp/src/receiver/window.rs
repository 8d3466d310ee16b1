//! The window a Linux receiver offers, and that while it grows every segment is acknowledged at once.
//!
//! The window starts at 64 kB and grows by two segments with each one that arrives, up to what the receive buffer holds (`tcp_grow_window`). Once a round
//! trip the buffer is made to fit what the application has read meanwhile (`tcp_rcv_space_adjust`), without end. The application reads at once all there is;
//! data beyond a gap takes its room until the gap is filled. What was offered is never taken back: the right edge stands still instead.

use crate::segment::Segment;
use goodqueue_units::{Duration, Instant};

/// Segments that the first round trip is expected to bring (`TCP_INIT_CWND`).
const FIRST_READING: u64 = 10;
/// The handshake offers so many bytes, in whole segments.
const FIRST_OFFER: u64 = 65_535;
/// What the first buffer of 128 KiB (`tcp_rmem`) holds of packets of 1500 bytes, which take 2176.
const FIRST_ROOM: u32 = 87_040;
/// Buffers grow as long as this number can say it.
const LARGEST_ROOM: u64 = 1 << 31;
const NEVER: u64 = u64::MAX;

/// What every segment looks at; in bytes and nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// When the round trip going on ends.
    due: u64,
    /// One above the last byte that the sender may send.
    edge: u64,
    offered: u32,
    /// Up to where the offer may grow.
    room: u32,
}

/// What the application reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// What it read in the busiest round trip so far, in bytes.
    most: u64,
    /// Where the round trip going on began.
    from: u64,
    /// The round-trip time less the way here, in nanoseconds.
    way_back: u64,
    mss: u64,
}

impl Window {
    pub(super) fn new(mss: u64) -> Self {
        // The next offer grows from a segment less. Whatever their size, there is room for more segments than one that is not read yet.
        let offered = FIRST_OFFER.saturating_sub(mss).max(2 * mss);
        Self { due: NEVER, edge: 0, offered: offered as u32, room: FIRST_ROOM.max(4 * mss as u32) }
    }

    /// A segment sent at `sent` has arrived in order, so that the application can read: a round trip may be over. Everything below `next` had arrived by
    /// then.
    #[inline]
    pub(super) fn note_reading(&mut self, reading: &mut Reading, now: Instant, sent: Instant, next: u64) {
        if now.as_nanos() >= self.due {
            self.fit(reading, now, sent, next);
        }
    }

    /// A segment has arrived while `held` bytes wait beyond a gap: does the window grow?
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

    /// What an acknowledgement of everything below `next` offers while the application has not read `held` bytes: for [`Segment::payload`].
    #[inline]
    pub(super) fn offer(&mut self, next: u64, held: u64) -> u16 {
        let wanted = u64::from(self.offered.min(self.room_beside(held)));
        let (payload, room) = Segment::offer(wanted.max(self.edge.saturating_sub(next)));
        self.edge = self.edge.max(next + room);
        payload
    }

    /// What the handshake offers.
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

    /// A round trip is over: makes room for twice what was read in it, and for what would be read next if that goes on growing.
    fn fit(&mut self, reading: &mut Reading, now: Instant, sent: Instant, next: u64) {
        let read = next - reading.from;
        if read > reading.most {
            let steady = read.saturating_mul(2).saturating_add(16 * reading.mss);
            let growth = steady.saturating_mul(read - reading.most) / reading.most;
            let wanted = steady.saturating_add(growth.saturating_mul(2)).min(LARGEST_ROOM);
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

    /// Round trips of 100 ms with so many segments each: how many of them find the window growing.
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
        // 64 kB to 87 kB is eight steps. That more comes than at first is known when the second round trip is over; then there is room for some six
        // times what was read in one, each time later by half of that.
        assert_eq!(growing(&[10, 20, 40, 80, 160]), [8, 0, 40, 74, 120]);
    }

    #[test]
    fn a_steady_flow_lets_the_window_rest() {
        assert_eq!(growing(&[10, 10, 10, 10]), [8, 0, 0, 0]);
    }

    #[test]
    fn a_window_that_grows_by_a_segment_a_round_trip_is_offered_a_step_or_two() {
        let rounds: Vec<u64> = (10..=50).collect();
        let counts = growing(&rounds);
        assert!(counts[20..].iter().all(|&count| (1..=2).contains(&count)), "{counts:?}");
    }
}
