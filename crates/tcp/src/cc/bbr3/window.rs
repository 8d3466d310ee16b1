//! Window and pacing rate from the model.

use super::{Bbr3, MIN, Phase};
use crate::cc::{AckSample, State};
use goodqueue_base::units::{Duration, Rate};

/// Round-trip time assumed before the first sample.
const NOMINAL_RTT: Duration = Duration::ms(1);
const MAX_QUANTUM: f64 = 65_536.0;
/// Bursts in transit through both hosts.
const QUANTA: f64 = 3.0;
const MAX: f64 = (1u32 << 28) as f64;

impl Bbr3 {
    /// Product of the bandwidth in use, the smallest round-trip time and the gain, in segments.
    pub(super) fn bdp(&self, gain: f64) -> f64 {
        match self.path.min_rtt {
            Some(min_rtt) => gain * self.bandwidth * min_rtt.as_secs_f64(),
            None => f64::from(self.initial_window),
        }
    }

    /// Segments of a burst: one millisecond at the pacing rate.
    fn quantum(&self) -> f64 {
        let bytes = self.pacing_rate.as_bytes_s_f64() * 1e-3;
        (bytes.min(MAX_QUANTUM) / f64::from(self.mss)).max(2.0)
    }

    fn with_budget(&self, volume: f64) -> f64 {
        let volume = volume.max(QUANTA * self.quantum()).max(f64::from(MIN));
        if self.phase == Phase::Up { volume + 2.0 } else { volume }
    }

    pub(super) fn in_flight_at(&self, gain: f64) -> f64 {
        self.with_budget(self.bdp(gain))
    }

    pub(super) fn gains(&self) -> (f64, f64) {
        let params = &self.params;
        match self.phase {
            Phase::Startup => (params.startup_gain, params.cwnd_gain),
            Phase::Drain { .. } => (params.drain_gain, params.cwnd_gain),
            Phase::Down => (params.down_gain, params.cwnd_gain),
            Phase::Cruise | Phase::Refill => (1.0, params.cwnd_gain),
            Phase::Up => (params.up_gain, params.up_cwnd_gain),
            Phase::ProbeRtt(_) => (1.0, params.probe_rtt_cwnd_gain),
        }
    }

    fn rate_of(&self, bandwidth: f64, gain: f64) -> Rate {
        let bits = gain * bandwidth * (1.0 - self.params.pacing_margin) * f64::from(self.mss) * 8.0;
        Rate::bit_s(bits as u64)
    }

    pub(super) fn init_pacing(&mut self, srtt: Duration) {
        self.has_seen_rtt = !srtt.is_zero();
        let rtt = if srtt.is_zero() { NOMINAL_RTT } else { srtt };
        self.pacing_rate = self.rate_of(f64::from(self.initial_window) / rtt.as_secs_f64(), self.params.startup_gain);
    }

    pub(super) fn set_pacing_rate(&mut self, srtt: Duration, gain: Option<f64>) {
        if !self.has_seen_rtt && !srtt.is_zero() {
            self.init_pacing(srtt);
        }
        let rate = self.rate_of(self.bandwidth, gain.unwrap_or_else(|| self.gains().0));
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    pub(super) fn save_window(&mut self) {
        let undisturbed = self.standing < State::Recovery && !matches!(self.phase, Phase::ProbeRtt(_));
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    pub(super) fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn set_window(&mut self, sample: &AckSample) {
        let max_inflight = self.with_budget(self.bdp(self.gains().1) + self.extra_acked.get());
        let grown = f64::from(self.cwnd) + f64::from(sample.delivered);
        let mut cwnd = f64::from(self.cwnd);
        if self.full.reached {
            cwnd = grown.min(max_inflight);
        } else if cwnd < max_inflight || self.delivered_in_all < u64::from(self.initial_window) {
            cwnd = grown;
        }
        cwnd = cwnd.max(f64::from(MIN));
        if matches!(self.phase, Phase::ProbeRtt(_)) {
            cwnd = cwnd.min(f64::from(self.probe_rtt_window));
        }
        self.cwnd = cwnd.min(self.cap()).min(MAX) as u32;
    }

    /// The bounds set by losses that apply in the present phase.
    fn cap(&self) -> f64 {
        let cap = match self.phase {
            Phase::Startup | Phase::Drain { .. } => f64::INFINITY,
            Phase::Down | Phase::Refill | Phase::Up => self.bounds.inflight_long,
            Phase::Cruise | Phase::ProbeRtt(_) => self.with_headroom(),
        };
        cap.min(self.bounds.inflight_short).max(f64::from(MIN))
    }
}
