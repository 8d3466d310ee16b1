//! State that only controls with detailed feedback need: delivery rates, losses one by one, pacing.

use super::AckFacts;
use super::Sender;
use crate::cc::{AckSample, CongestionControl, Detail, LostSegment};
use crate::sample::{RateSample, Totals};
use crate::scoreboard::Delivery;
use crate::segment::Segment;
use goodqueue_base::units::{Duration, Instant};

impl Sender {
    fn totals(&self) -> Totals {
        Totals { delivered: self.delivered, lost: self.board.lost_in_all() }
    }

    /// Records that a new segment is about to leave.
    #[inline]
    pub(super) fn note_departure(&mut self, now: Instant) {
        if self.instruments.is_some() {
            self.begin_departure(now);
        }
    }

    #[inline(never)]
    fn begin_departure(&mut self, now: Instant) {
        let Some(instruments) = &mut self.instruments else { return };
        if self.board.outstanding() == 0 {
            instruments.sampler.begin(now.as_nanos());
        }
        if self.board.in_flight() == 0 && instruments.sampler.is_limited() {
            self.cc.on_restart(now);
        }
    }

    /// Records that a segment has left, for the first time or again.
    #[inline]
    pub(super) fn note_departed(&mut self, now: Instant, number: u64, payload: u32) {
        if self.instruments.is_some() {
            self.end_departure(now, number, payload);
        }
    }

    #[inline(never)]
    fn end_departure(&mut self, now: Instant, number: u64, payload: u32) {
        let totals = self.totals();
        let Some(instruments) = &mut self.instruments else { return };
        instruments.sampler.on_sent(number, self.board.una(), totals, self.board.in_flight());
        instruments.pacer.on_sent(now.as_nanos(), payload, self.cc.pacing_rate(), self.pieces.size());
    }

    /// The time at which pacing allows the next segment to leave; zero without pacing.
    #[inline]
    pub(super) fn next_release(&self) -> u64 {
        self.instruments.as_ref().map_or(0, |instruments| instruments.pacer.next_release())
    }

    /// Ends a burst of segments that leave together.
    #[inline]
    pub(super) fn end_paced_burst(&mut self) {
        if let Some(instruments) = &mut self.instruments {
            instruments.pacer.end_burst();
        }
    }

    /// Records that nothing more leaves for now. If that is for lack of data, later deliveries do
    /// not show the path's rate.
    #[inline]
    pub(super) fn note_pause(&mut self) {
        if self.instruments.is_some() {
            self.note_shortage();
        }
    }

    #[inline(never)]
    fn note_shortage(&mut self) {
        let short = self.board.in_flight() < self.window && self.board.nxt() >= self.end && !self.board.awaits_repair();
        let totals = self.totals();
        if let Some(instruments) = &mut self.instruments
            && short
        {
            instruments.sampler.limit(totals, self.board.in_flight());
        }
    }

    #[inline]
    pub(super) fn sample_rate(&mut self, t: u64, delivery: &Delivery) -> Option<RateSample> {
        self.instruments.as_ref()?;
        let totals = self.totals();
        let min_rtt = self.rtt.min();
        self.instruments.as_mut()?.sampler.on_delivery(t, delivery, totals, min_rtt)
    }

    /// Reports each loss to the control that was found since the last report.
    #[inline]
    pub(super) fn report_losses(&mut self, now: Instant) {
        if self.instruments.is_some() {
            self.drain_losses(now);
        }
    }

    #[inline(never)]
    fn drain_losses(&mut self, now: Instant) {
        let delivered_in_all = self.delivered;
        while let Some((number, found)) = self.board.take_loss() {
            let Some(instruments) = &self.instruments else { return };
            let stamp = instruments.sampler.stamp(number);
            self.cc.on_segment_lost(&LostSegment {
                now,
                number,
                delivered_in_all,
                in_flight_when_sent: stamp.in_flight,
                lost_since: found - stamp.lost,
                prior_delivered: stamp.delivered,
                app_limited: stamp.app_limited,
            });
        }
    }

    /// Passes an acknowledgement to the control in detail.
    pub(super) fn report_details(
        &mut self,
        sample: &AckSample,
        facts: &AckFacts,
        rate: Option<RateSample>,
        lost: u32,
        segment: &Segment,
    ) {
        let totals = self.totals();
        let detail = Detail {
            rate,
            lost,
            prior_in_flight: facts.prior_in_flight,
            delivered_in_all: totals.delivered,
            lost_in_all: totals.lost,
            one_way_delay: Duration::ns(u64::from(segment.delay) * Segment::DELAY_UNIT.as_nanos()),
            next_release: Instant::from_nanos(self.next_release()),
            window_limited: self.cwnd_limited,
            held_back: sample.delivered == 1
                && facts.advanced
                && sample.una == self.end
                && self.last_len < self.segmentation.mss(),
        };
        self.cc.on_detailed_ack(sample, &detail);
        let in_flight = self.board.in_flight();
        if let Some(instruments) = &mut self.instruments
            && self.cc.holds_back()
        {
            instruments.sampler.limit(totals, in_flight);
        }
    }
}
