//! CHOKe in the arithmetic of Linux: integers, a table with holes, and the average and threshold of
//! [`crate::algo::red::linux`] in packets.
//!
//! Packets lie in a table between its head and its tail. A packet that is dropped because it
//! matched leaves a hole, unless it was the head, and no longer counts in the average. A comparison
//! draws an index `(r * places) >> 32` with a 32-bit random number `r`, up to three times while it
//! finds a hole, and then takes the head. At or below `min_th` nothing happens, above `max_th`
//! every packet is signaled; in between the law is that of RED.

use crate::algo::red::linux::{LinuxRed, LinuxRedParams};
use crate::aqm::{Comparison, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{LINUX, LinuxDraws};
use crate::spec::{ParamError, ParamFault, ParamValues, Size, TypedParam};
use alloc::collections::VecDeque;

const MAX_TRIES: u32 = 3;

/// State of CHOKe in Linux, one per queue.
#[derive(Clone, Debug)]
pub struct LinuxChoke {
    /// Averages and signals, in packets.
    red: LinuxRed,
    /// The table from head to tail, `true` where a packet lies. The head's place is always
    /// occupied.
    places: VecDeque<bool>,
    draws: LinuxDraws,
}

impl LinuxChoke {
    /// Reads the settings from the parameters.
    ///
    /// # Errors
    /// When a parameter is given that Linux does not have, a required one is missing, or a value
    /// has no representation in Linux.
    pub fn build(given: &ParamValues<'_>) -> Result<Self, ParamError> {
        let packets = |size: &TypedParam<Option<Size>>| match size.read(given) {
            Some(Size::Packets(packets)) if packets >= 1.0 => Ok(packets as u64),
            Some(value) => {
                let allowed = "whole packets, from 1 packet";
                Err(size.fault(ParamFault::Conflict { value: value.into(), with: &LINUX, allowed }))
            }
            None => Err(size.fault(ParamFault::NoDefault(LINUX))),
        };
        let params = LinuxRedParams::with_thresholds(given, packets, Size::Packets)?;
        Ok(Self { red: LinuxRed::new(params), places: VecDeque::new(), draws: LinuxDraws::default() })
    }

    /// Average queue length in packets.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.red.average()
    }

    /// Signal probability before spacing: the average's position between the thresholds, times
    /// `max_p`.
    #[must_use]
    pub fn probability(&self) -> f64 {
        if self.average() > self.red.params.max_th as f64 { 1.0 } else { self.red.probability_in_band() }
    }

    #[cold]
    pub(super) fn on_arrival(&mut self, queue: QueueView) -> Verdict {
        self.take_in(queue);
        let LinuxRedParams { min_th, log, .. } = self.red.params;
        if self.red.scaled_average() <= min_th << log {
            self.red.leave_band();
            self.places.push_back(true);
            return Verdict::Pass;
        }
        Verdict::Compare
    }

    /// Updates the average at an arrival that finds `queue`.
    pub(super) fn take_in(&mut self, queue: QueueView) {
        self.red.take_in(queue.packets.get());
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

    /// Verdict of RED on a packet that matched no other.
    fn judge(&mut self, env: &mut Env<'_>) -> Verdict {
        let LinuxRedParams { min_th, max_th, log, .. } = self.red.params;
        let average = self.red.scaled_average();
        if average > max_th << log {
            return self.red.above_band();
        }
        self.red.within_band(average.saturating_sub(min_th << log), || self.draws.next(env.rng) >> 32)
    }

    #[cold]
    pub(super) fn on_departure(&mut self) {
        self.places.pop_front();
        self.close_holes();
    }
}
