//! ProbeRTT: when the smallest round-trip time is too old, keeps half of the bandwidth-delay
//! product in flight for a while, so that the queue drains.

use super::{Bbr3, MIN, Phase};
use crate::cc::AckSample;
use goodqueue_base::units::Instant;

/// State of one probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    done_at: Option<Instant>,
    round_done: bool,
}

impl Bbr3 {
    /// Tracks the smallest round-trip time and runs the probes.
    pub(super) fn probe_rtt(&mut self, sample: &AckSample, delivered: bool) {
        self.held_back = false;
        let expired = sample.now > self.path.probe_rtt_min_at + self.params.probe_rtt_interval;
        if expired && !matches!(self.phase, Phase::ProbeRtt(_)) {
            // Computed before a sample that includes the queue replaces it.
            self.probe_rtt_window = (self.bdp(self.params.probe_rtt_cwnd_gain) as u32).max(MIN);
        }
        self.path.take_rtt(sample, expired, self.params.min_rtt_window);
        if expired && !self.restarted && !matches!(self.phase, Phase::ProbeRtt(_)) {
            self.save_window();
            self.phase = Phase::ProbeRtt(Probe { done_at: None, round_done: false });
            self.probing.stop();
            self.path.begin_round(self.delivered_in_all);
        }
        if let Phase::ProbeRtt(probe) = self.phase {
            self.held_back = true;
            self.follow_probe(sample, probe);
        }
        if delivered {
            self.restarted = false;
        }
    }

    fn follow_probe(&mut self, sample: &AckSample, mut probe: Probe) {
        if probe.done_at.is_none() {
            if sample.in_flight <= self.probe_rtt_window {
                probe = Probe { done_at: Some(sample.now + self.params.probe_rtt_time), round_done: false };
                self.path.begin_round(self.delivered_in_all);
            }
            self.phase = Phase::ProbeRtt(probe);
            return;
        }
        probe.round_done |= self.path.round_began;
        self.phase = Phase::ProbeRtt(probe);
        if probe.round_done {
            self.end_probe(sample.now);
        }
    }

    /// Ends the probe when it is due.
    pub(super) fn end_probe(&mut self, now: Instant) {
        let Phase::ProbeRtt(Probe { done_at: Some(done_at), .. }) = self.phase else { return };
        if now <= done_at {
            return;
        }
        self.path.probe_rtt_min_at = now;
        self.restore_window();
        self.bounds.reset_short_term();
        if self.full.reached {
            self.begin_down(now, self.delivered_in_all);
            self.phase = Phase::Cruise;
        } else {
            self.phase = Phase::Startup;
        }
    }
}
