//! CHOKe in the arithmetic of Linux: integers, a table with holes, and the average and threshold of
//! [`crate::algo::red::linux`] in packets.
//!
//! Packets lie in a table between its head and its tail. A packet that is dropped because it
//! matched leaves a hole, unless it was the head, and no longer counts in the average. A comparison
//! draws an index `(r * places) >> 32` with a 32-bit random number `r`, up to three times while it
//! finds a hole, and then takes the head. At or below `min_th` nothing happens, above `max_th`
//! every packet is signaled; in between the law is that of RED.

use super::AboveMax;
use crate::algo::red::linux::{HAS, weight_log};
use crate::algo::red::params::{HARDDROP, MAX_P, MAX_TH, MIN_TH};
use crate::aqm::{Comparison, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{LINUX, LinuxDraws, linux_has_only};
use crate::spec::{LinkFacts, Pair, ParamError, ParamFault, ParamValues, Size, TypedParam, Value};
use alloc::collections::VecDeque;

const MAX_TRIES: u32 = 3;

/// Settings of CHOKe in Linux. Thresholds are in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxChokeParams {
    /// Average above which packets are compared.
    pub min_th: u64,
    /// Average above which every packet is signaled.
    pub max_th: u64,
    /// Probability reached at `max_th`, times 2^32.
    pub max_p: u32,
    /// Binary logarithm of the inverse weight of a sample.
    pub log: u32,
    /// Treatment of ECN-capable packets above `max_th`.
    pub above: AboveMax,
}

/// State of CHOKe in Linux, one per queue.
#[derive(Clone, Debug)]
pub struct LinuxChoke {
    params: LinuxChokeParams,
    /// `max_p` divided by the packets between the thresholds.
    slope: u64,
    /// Average in packets, scaled.
    average: u64,
    /// Packets since the last signal; `None` outside the band.
    count: Option<u64>,
    /// Value that `(average - min_th) count` must reach for a signal.
    reach: u64,
    /// The table from head to tail, `true` where a packet lies. The head's place is always
    /// occupied.
    places: VecDeque<bool>,
    draws: LinuxDraws,
}

impl LinuxChokeParams {
    /// Reads the settings from the parameters.
    ///
    /// # Errors
    /// When a parameter is given that Linux does not have, a required one is missing, or a value
    /// has no representation in Linux.
    pub fn build(given: &ParamValues<'_>, _link: &LinkFacts) -> Result<Self, ParamError> {
        linux_has_only(given, &HAS)?;
        let packets = |size: &TypedParam<Option<Size>>| match size.read(given) {
            Some(Size::Packets(packets)) if packets >= 1.0 => Ok(packets as u64),
            Some(value) => {
                let allowed = "whole packets, from 1 packet";
                Err(size.fault(ParamFault::Conflict { value: value.into(), with: LINUX, allowed }))
            }
            None => Err(size.fault(ParamFault::NoDefault(LINUX))),
        };
        let (min_th, max_th) = (packets(&MIN_TH)?, packets(&MAX_TH)?);
        if max_th <= min_th {
            let packets = |count: u64| Value::Size(Size::Packets(count as f64));
            let pair = Pair { value: packets(max_th), other: MIN_TH.name(), bound: packets(min_th) };
            return Err(MAX_TH.fault(ParamFault::NotAbove(pair)));
        }
        let log = weight_log(given)?;
        let max_p = (MAX_P.read(given) * (1u64 << 32) as f64) as u32;
        let above = AboveMax::of(HARDDROP.read(given));
        Ok(Self { min_th, max_th, max_p, log, above })
    }
}

impl LinuxChoke {
    /// Creates a CHOKe with these settings.
    #[must_use]
    pub fn new(params: LinuxChokeParams) -> Self {
        let band = (params.max_th - params.min_th).max(1);
        let slope = (u64::from(params.max_p) / band).max(1);
        Self { params, slope, average: 0, count: None, reach: 0, places: VecDeque::new(), draws: LinuxDraws::default() }
    }

    /// Average queue length in packets.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.average as f64 / (1u64 << self.params.log) as f64
    }

    /// Signal probability before spacing: the average's position between the thresholds, times
    /// `max_p`.
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

    /// Updates the average at an arrival that finds `queue`.
    pub(super) fn take_in(&mut self, queue: QueueView) {
        // Never negative: the subtrahend is at most the average.
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
        if verdict.keeps(packet.ecn) {
            self.places.push_back(true);
        }
        Comparison::Judged(verdict)
    }

    /// Draws the index of a place that holds a packet.
    fn draw_place(&mut self, env: &mut Env<'_>) -> usize {
        for _ in 0..MAX_TRIES {
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

    /// Verdict of RED on a packet that matched no other.
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
