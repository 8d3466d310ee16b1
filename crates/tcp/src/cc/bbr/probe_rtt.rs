//! ProbeRTT: when the smallest round-trip time is ten seconds old, keeps four segments in flight
//! for 200 ms so that the queue drains and the time can be measured again.

use super::{AckSample, Bbr, Detail, MIN, Mode};
use goodqueue_base::units::Instant;

/// State of one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// End of the probe, known once few enough segments are in flight; a complete round trip must
    /// pass as well.
    pub(super) done_at: Option<Instant>,
    round_done: bool,
}

impl Bbr {
    /// Runs the probe; `expired` tells that the smallest round-trip time is too old.
    pub(super) fn probe_rtt(&mut self, sample: &AckSample, detail: &Detail, expired: bool) {
        self.held_back = false;
        if expired && !self.restarted && !matches!(self.mode, Mode::ProbeRtt(_)) {
            self.mode = Mode::ProbeRtt(Probe { done_at: None, round_done: false });
            self.save_window();
        }
        let Mode::ProbeRtt(mut probe) = self.mode else { return };
        self.held_back = true;
        match probe.done_at {
            None if sample.in_flight <= MIN => {
                probe = Probe { done_at: Some(sample.now + self.params.probe_rtt_time), round_done: false };
                self.path.begin_round(detail.delivered_in_all);
                self.mode = Mode::ProbeRtt(probe);
            }
            None => {}
            Some(_) => {
                probe.round_done |= self.path.round_began;
                self.mode = Mode::ProbeRtt(probe);
                if probe.round_done {
                    self.end_probe(sample.now);
                }
            }
        }
    }

    /// Ends the probe when it is due.
    pub(super) fn end_probe(&mut self, now: Instant) {
        let Mode::ProbeRtt(Probe { done_at: Some(done_at), .. }) = self.mode else { return };
        if now <= done_at {
            return;
        }
        self.path.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full.reached {
            self.begin_cycle();
        } else {
            self.mode = Mode::Startup;
        }
    }
}
