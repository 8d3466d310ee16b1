//! Segments of one flow that leave in the same round, brought side by side behind the scheduler, so
//! that they can leave as one frame.
//!
//! A queue that takes turns among flows lets their segments leave interleaved. What is due at one
//! moment is sent in one go, so its order across flows tells nobody anything; its order within a
//! flow is kept. As in a receiver's GRO, a table holds an open run of each flow: the next segment
//! of the flow joins the run, any other packet of the flow ends it. A run is sent in the place of
//! its first segment.
//!
//! Nothing waits: only what is due already is looked at, and all of it is sent before anything
//! else. So no segment leaves before it is due, or in a later round than it would have without.

use crate::pool::{Frame, Pool};
use crate::segments::Run;
use goodqueue_aqm::FlowHash;
use goodqueue_base::units::Instant;

/// Rows of the table.
const ROWS: usize = 32;
/// Runs in a row; when all are taken, the next one takes the place of the one opened first.
const PLACES: usize = 4;
/// Frames that are looked at together. More are arranged in parts.
const MAX: usize = 2048;
/// Follows the last segment of a run.
const NONE: u16 = u16::MAX;

/// An open run of a flow.
#[derive(Clone, Copy, Debug)]
struct Open {
    flow: FlowHash,
    run: Run,
    /// Place of its last segment.
    tail: u16,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    runs: [Option<Open>; PLACES],
    /// Index of the run that is replaced next when all places are taken.
    oldest: u8,
}

impl Row {
    #[inline]
    fn find(&self, flow: FlowHash) -> Option<usize> {
        self.runs.iter().position(|open| open.is_some_and(|open| open.flow == flow))
    }

    /// The flow whose run is `at`, or one without a run, has this one now, or none.
    fn put(&mut self, at: Option<usize>, opened: Option<Open>) {
        if let Some(at) = at {
            self.runs[at] = opened;
        } else if opened.is_some() {
            let free = self.runs.iter().position(Option::is_none);
            self.runs[free.unwrap_or(usize::from(self.oldest))] = opened;
            if free.is_none() {
                self.oldest = (self.oldest + 1) % PLACES as u8;
            }
        }
    }
}

/// The table, and room for the frames of one round.
#[derive(Debug)]
pub(crate) struct Joiner {
    rows: [Row; ROWS],
    /// For each place, the place of the segment that comes next in its run, and whether another one
    /// comes before it there.
    next: Vec<u16>,
    follows: Vec<bool>,
    frames: Vec<Frame>,
    releases: Vec<Instant>,
}

impl Joiner {
    pub(crate) fn new() -> Self {
        Self {
            rows: [Row::default(); ROWS],
            next: Vec::with_capacity(MAX),
            follows: Vec::with_capacity(MAX),
            frames: Vec::with_capacity(MAX),
            releases: Vec::with_capacity(MAX),
        }
    }

    /// Brings consecutive segments of a flow side by side. Both slices must be of the same length.
    pub(crate) fn arrange(&mut self, frames: &mut [Frame], releases: &mut [Instant], pool: &Pool) {
        for (frames, releases) in frames.chunks_mut(MAX).zip(releases.chunks_mut(MAX)) {
            if self.link(frames, pool) {
                self.follow(frames, releases);
            }
        }
    }

    /// Finds the runs; false when each lies together already.
    fn link(&mut self, frames: &[Frame], pool: &Pool) -> bool {
        self.rows.fill(Row::default());
        self.next.clear();
        self.next.resize(frames.len(), NONE);
        self.follows.clear();
        self.follows.resize(frames.len(), false);
        let mut apart = false;
        for (place, frame) in frames.iter().enumerate() {
            let flow = pool.flow(frame.slot);
            let row = &mut self.rows[flow.0 as usize % ROWS];
            let at = row.find(flow);
            if let Some(open) = at.and_then(|at| row.runs[at].as_mut())
                && open.run.extend(*frame, pool)
            {
                apart |= usize::from(open.tail) + 1 < place;
                self.next[usize::from(open.tail)] = place as u16;
                self.follows[place] = true;
                open.tail = place as u16;
            } else {
                let opened = Run::of(*frame, pool).map(|run| Open { flow, run, tail: place as u16 });
                row.put(at, opened);
            }
        }
        apart
    }

    /// Puts the frames in the order of their runs.
    fn follow(&mut self, frames: &mut [Frame], releases: &mut [Instant]) {
        self.frames.clear();
        self.releases.clear();
        for start in (0..frames.len()).filter(|place| !self.follows[*place]) {
            let mut place = start;
            loop {
                self.frames.push(frames[place]);
                self.releases.push(releases[place]);
                match self.next[place] {
                    NONE => break,
                    next => place = usize::from(next),
                }
            }
        }
        frames.copy_from_slice(&self.frames);
        releases.copy_from_slice(&self.releases);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Network;
    use crate::segments::{Joined, Transport};
    use goodqueue_base::units::Rng;

    const SEGMENTS: u32 = 10;

    /// A buffer of ten segments, or a whole frame, of this flow.
    fn buffer(pool: &mut Pool, flow: u32, whole: bool) -> u32 {
        let slot = pool.take().expect("there are enough");
        if !whole {
            let joined = Joined { network: Network::V4(14), kind: Transport::Tcp, transport: 34, payload: 54, size: 100 };
            assert_eq!(pool.split(slot, 54 + SEGMENTS * 100, joined), SEGMENTS);
        }
        pool.admit(slot, FlowHash(flow), 0);
        slot
    }

    /// Segments of many flows in any interleaving: nothing is lost, each keeps its release, each
    /// flow its order, and what is still apart could not be helped.
    #[test]
    fn an_order_of_flows_is_kept_and_segments_come_together() {
        let mut rng = Rng::new(3);
        let mut joiner = Joiner::new();
        for flows in [1, 4, 60, 1000] {
            let mut pool = Pool::new(3000, 2048);
            let mut waiting: Vec<Vec<Frame>> = Vec::new();
            for flow in 0..flows {
                let mut frames = Vec::new();
                for _ in 0..1 + rng.below(2) {
                    let whole = rng.fires(0.2);
                    let slot = buffer(&mut pool, flow * 77, whole);
                    let segments = if whole { 1 } else { SEGMENTS as u16 };
                    frames.extend((0..segments).map(|segment| Frame { segment, ..Frame::whole(slot, 154) }));
                }
                frames.reverse();
                waiting.push(frames);
            }
            let (mut frames, mut releases) = (Vec::new(), Vec::new());
            while waiting.iter().any(|flow| !flow.is_empty()) {
                let flow = rng.below(u64::from(flows)) as usize;
                if let Some(frame) = waiting[flow].pop() {
                    releases.push(Instant::from_nanos(frames.len() as u64));
                    frames.push(frame);
                }
            }
            let before = frames.clone();
            joiner.arrange(&mut frames, &mut releases, &pool);
            assert!(frames.iter().zip(&releases).all(|(frame, at)| before[at.as_nanos() as usize] == *frame));
            let mut places: Vec<u64> = releases.iter().map(|at| at.as_nanos()).collect();
            for flow in 0..flows {
                let of_flow = |frames: &[Frame]| -> Vec<Frame> {
                    frames.iter().copied().filter(|frame| pool.flow(frame.slot) == FlowHash(flow * 77)).collect()
                };
                assert_eq!(of_flow(&frames), of_flow(&before));
            }
            places.sort_unstable();
            assert!(places.iter().enumerate().all(|(place, was)| place as u64 == *was), "all are there once");
            let runs = |frames: &[Frame]| frames.chunk_by(|one, next| one.slot == next.slot).count();
            match flows {
                1 | 4 => assert_eq!(runs(&frames), pool.in_use(), "one run for each buffer"),
                60 => assert!(runs(&frames) < runs(&before) / 4),
                _ => assert!(runs(&frames) <= runs(&before)),
            }
        }
    }
}
