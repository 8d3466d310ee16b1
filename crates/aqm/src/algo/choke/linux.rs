//! CHOKe as Linux works it out: integers, a table with holes, and RED's average and threshold of [`crate::algo::red::linux`] in packets.
//!
//! Packets lie in a table between its head and its tail. One that is dropped because it matched leaves a hole, unless it was the head, and
//! counts no more in the average. A comparison draws a place: `place = (r * places) >> 32` with a 32-bit random number `r`, at most
//! three times while it finds a hole, then it takes the head. Below or at `min_th` nothing happens, above `max_th` every packet is
//! signalled; between them as in RED.

use super::AboveMax;
use crate::aqm::{Comparison, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{LinuxDraws, linux_has_only};
use crate::spec::{Given, LinkFacts, ParamError, Size, Value};
use alloc::collections::VecDeque;

const MOST_TRIES: u32 = 3;

/// Settings of Linux's CHOKe. Thresholds in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxChokeParams {
    /// Average above which packets are compared.
    pub min_th: u64,
    /// Average above which every packet is signalled.
    pub max_th: u64,
    /// Probability reached at `max_th`, times 2^32.
    pub max_p: u32,
    /// The weight of a sample is one half to this power.
    pub log: u32,
    /// What happens to ECN-capable packets above `max_th`.
    pub above: AboveMax,
}

/// State of Linux's CHOKe: one a queue.
#[derive(Clone, Debug)]
pub struct LinuxChoke {
    params: LinuxChokeParams,
    /// `max_p` for each packet between the thresholds.
    slope: u64,
    /// In packets, scaled.
    average: u64,
    /// Packets since the last signal; `None` outside the band.
    count: Option<u64>,
    /// What `(average - min_th) count` has to reach.
    reach: u64,
    /// The table from head to tail: does a packet lie there? The head's place always has one.
    places: VecDeque<bool>,
    draws: LinuxDraws,
}

impl LinuxChokeParams {
    /// The settings a file gives.
    ///
    /// # Errors
    /// When one is given that Linux does not have, one is missing that it cannot do without, or has a value it has no number for.
    pub fn build(given: &Given<'_>, _link: &LinkFacts) -> Result<Self, ParamError> {
        linux_has_only(given, &["min_th", "max_th", "max_p", "w_q", "harddrop"])?;
        let packets = |param| match given.value(param) {
            Some(Value::Size(Size::Packets(packets))) if packets >= 1.0 => Ok(packets as u64),
            _ => Err(ParamError { param, message: "arithmetic = \"linux\" needs whole packets: allowed from 1 packet".into() }),
        };
        let (min_th, max_th) = (packets("min_th")?, packets("max_th")?);
        if max_th <= min_th {
            let message = alloc::format!("{max_th} packets is not above min_th: allowed more than {min_th} packets");
            return Err(ParamError { param: "max_th", message });
        }
        let log = crate::algo::red::linux::weight_log(given)?;
        let max_p = (given.number("max_p").unwrap_or_default() * (1u64 << 32) as f64) as u32;
        let above = if given.switch("harddrop") == Some(true) { AboveMax::Drop } else { AboveMax::Signal };
        Ok(Self { min_th, max_th, max_p, log, above })
    }
}

impl LinuxChoke {
    /// CHOKe with these settings.
    #[must_use]
    pub fn new(params: LinuxChokeParams) -> Self {
        let band = (params.max_th - params.min_th).max(1);
        let slope = (u64::from(params.max_p) / band).max(1);
        Self { params, slope, average: 0, count: None, reach: 0, places: VecDeque::new(), draws: LinuxDraws::default() }
    }

    /// The average queue length in packets.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.average as f64 / (1u64 << self.params.log) as f64
    }

    /// The share of the way from no signals to `max_p`, times `max_p`.
    #[must_use]
    pub fn probability(&self) -> f64 {
        let LinuxChokeParams { min_th, max_th, max_p, .. } = self.params;
        let (low, high) = (min_th as f64, max_th as f64);
        if self.average() > high {
            return 1.0;
        }
        ((self.average() - low) / (high - low)).max(0.0) * f64::from(max_p) / (1u64 << 32) as f64
    }

    #[cold]
    pub(super) fn on_arrival(&mut self, queue: QueueView) -> Verdict {
        self.take_in(queue);
        if self.average <= self.params.min_th << self.params.log {
            self.count = None;
            self.places.push_back(true);
            return Verdict::Pass;
        }
        Verdict::Compare
    }

    /// An arrival finds `queue`.
    pub(super) fn take_in(&mut self, queue: QueueView) {
        // Never negative: the average loses no more than itself.
        self.average = self.average - (self.average >> self.params.log) + queue.packets.get();
    }

    #[cold]
    pub(super) fn compare(
        &mut self,
        env: &mut Env<'_>,
        packet: PacketView,
        waiting: &dyn Fn(usize) -> Option<PacketView>,
    ) -> Comparison {
        if !self.places.is_empty() {
            let place = self.draw_place(env);
            let behind_head = self.places.iter().take(place).filter(|is_taken| **is_taken).count();
            if waiting(behind_head).is_some_and(|other| other.flow == packet.flow) {
                self.places[place] = false;
                self.close_holes();
                return Comparison::DropBoth(behind_head, Reason::Match);
            }
        }
        let verdict = self.judge(env);
        let is_kept = match verdict {
            Verdict::Signal(_) => packet.ecn.is_capable(),
            verdict => verdict == Verdict::Pass,
        };
        if is_kept {
            self.places.push_back(true);
        }
        Comparison::Judged(verdict)
    }

    /// A place of the table that has a packet.
    fn draw_place(&mut self, env: &mut Env<'_>) -> usize {
        for _ in 0..MOST_TRIES {
            let number = self.draws.next(env.rng) >> 32;
            let place = ((number * self.places.len() as u64) >> 32) as usize;
            if self.places[place] {
                return place;
            }
        }
        0
    }

    fn close_holes(&mut self) {
        while self.places.front() == Some(&false) {
            self.places.pop_front();
        }
    }

    fn draw_reach(&mut self, env: &mut Env<'_>) {
        self.reach = (self.draws.next(env.rng) >> 32) / self.slope;
    }

    /// RED's verdict on a packet that met no other of its flow.
    fn judge(&mut self, env: &mut Env<'_>) -> Verdict {
        let LinuxChokeParams { min_th, max_th, log, above, .. } = self.params;
        if self.average > max_th << log {
            self.count = None;
            return match above {
                AboveMax::Signal => Verdict::Signal(Reason::Early),
                AboveMax::Drop => Verdict::Drop(Reason::Early),
            };
        }
        let Some(count) = &mut self.count else {
            self.count = Some(0);
            self.draw_reach(env);
            return Verdict::Pass;
        };
        *count += 1;
        let excess = self.average.saturating_sub(min_th << log) >> log;
        if excess * *count < self.reach {
            return Verdict::Pass;
        }
        *count = 0;
        self.draw_reach(env);
        Verdict::Signal(Reason::Early)
    }

    #[cold]
    pub(super) fn on_departure(&mut self) {
        self.places.pop_front();
        self.close_holes();
    }
}
