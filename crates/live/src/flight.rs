//! Frames on their way: they left the queue and arrive at known times, in order.

use crate::joiner::Joiner;
use crate::pool::{Frame, Pool};
use goodqueue_base::units::Instant;
use std::collections::VecDeque;

/// Frames and the times at which they are due, apart, so that a port can be handed many frames as
/// they lie here.
#[derive(Debug)]
pub(crate) struct Flight {
    releases: VecDeque<Instant>,
    frames: VecDeque<Frame>,
    last: Instant,
    /// So many of the first have segments side by side; all of them were due then.
    arranged: usize,
}

impl Flight {
    /// Nothing on the way; room for `capacity` frames before it grows.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            releases: VecDeque::with_capacity(capacity),
            frames: VecDeque::with_capacity(capacity),
            last: Instant::ZERO,
            arranged: 0,
        }
    }

    /// Frames on the way.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// When the next frame is due.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        self.releases.front().copied()
    }

    /// Another frame. After the delay was shortened, frames still come out in order.
    #[inline]
    pub(crate) fn push(&mut self, release: Instant, frame: Frame) {
        self.last = self.last.max(release);
        self.releases.push_back(self.last);
        self.frames.push_back(frame);
    }

    /// The first frames due at `now`, at most `most`; none only when none is due. They
    /// stay until [`Flight::land`].
    pub(crate) fn due(&self, now: Instant, most: usize) -> &[Frame] {
        let (releases, frames) = (self.releases.as_slices().0, self.frames.as_slices().0);
        let most = most.min(releases.len()).min(frames.len());
        let all = most > 0 && releases[most - 1] <= now;
        let due = if all { most } else { releases[..most].partition_point(|release| *release <= now) };
        &frames[..due]
    }

    /// Like [`Flight::due`], with consecutive segments of each flow side by side. Frames that are
    /// due later are not looked at, so no frame waits for another.
    pub(crate) fn due_joined(&mut self, now: Instant, most: usize, joiner: &mut Joiner, pool: &Pool) -> &[Frame] {
        if self.arranged == 0 {
            self.arranged = self.due(now, most).len();
            let releases = &mut self.releases.as_mut_slices().0[..self.arranged];
            joiner.arrange(&mut self.frames.as_mut_slices().0[..self.arranged], releases, pool);
        }
        &self.frames.as_slices().0[..self.arranged.min(most)]
    }

    /// The first `count` of the frames that were due have arrived.
    #[inline]
    pub(crate) fn complete_send(&mut self, count: usize, mut each: impl FnMut(Instant, Frame)) {
        let (releases, frames) = (&self.releases.as_slices().0[..count], &self.frames.as_slices().0[..count]);
        for (release, frame) in releases.iter().zip(frames) {
            each(*release, *frame);
        }
        self.arranged = self.arranged.saturating_sub(count);
        self.releases.drain(..count);
        self.frames.drain(..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_in_order_however_it_lies_in_memory() {
        let at = Instant::from_nanos;
        let mut flight = Flight::with_capacity(4);
        let (mut pushed, mut landed) = (0, 0);
        for round in 0..50u64 {
            for _ in 0..=round % 4 {
                pushed += 1;
                flight.push(at(10 * pushed), Frame::whole(pushed as u32, 64));
            }
            let now = at(10 * pushed - 5);
            while !flight.due(now, 3).is_empty() {
                let due = flight.due(now, 3).to_vec();
                assert!(due.len() <= 3);
                flight.complete_send(due.len(), |release, frame| {
                    landed += 1;
                    assert_eq!((release, frame.slot), (at(10 * landed), landed as u32));
                });
            }
            assert_eq!(landed, pushed - 1, "all but the last, which is due later");
            assert_eq!((flight.len(), flight.next()), (1, Some(at(10 * pushed))));
        }
        flight.complete_send(0, |_, _| unreachable!("none has arrived"));
    }
}
