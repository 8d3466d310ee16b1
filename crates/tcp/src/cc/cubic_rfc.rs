//! CUBIC as specified in RFC 9438, in real numbers; `cubic` is the version of Linux.
//!
//! *Signal*: losses and ECN echoes, one reduction per window; slow start ends by HyStart++ unless
//! set otherwise (RFC 9438 §4.10).
//!
//! *Law*: with `t` since the start of the epoch, `W(t) = C (t - K)^3 + W_max`,
//! `K = cbrt((W_max - cwnd_epoch) / C)`; `target = clamp(W(t + srtt), cwnd, 1.5 cwnd)`,
//! `cwnd += (target - cwnd) / cwnd` per segment delivered. `W_est` grows by `alpha / cwnd` per
//! segment, with `alpha = 3 (1 - beta) / (1 + beta)` until it reaches the window before the
//! reduction and 1 afterward; `cwnd = W_est` while `W(t) < W_est`. Reduction:
//! `ssthresh = max(beta flight, 2)`; `W_max = cwnd`, or `cwnd (1 + beta) / 2` when that is below
//! the previous one. After a timeout, and after slow start ended without a loss, `K = 0` and
//! `W_max = cwnd`.
//!
//! *Parameters*: see `SPEC`; the defaults are those of the RFC.
//!
//! *Deviations*: delivered segments are counted instead of acknowledgements; after a timeout the
//! window is one above what is still in flight (RACK).
//!
//! *Source*: RFC 9438 §4.

use super::hystart_plus_plus::HystartPlusPlus;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Established, Growth, Needs, Response};
use super::{Sent, Setup, Timeout};
use crate::config::SlowStartExit;
use alloc::boxed::Box;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant};

/// Smallest threshold in segments.
const MIN: f64 = 2.0;
const MAX: f64 = (1u32 << 28) as f64;

/// State of the control. Windows are in segments, times in seconds unless typed.
#[derive(Clone, Debug)]
pub struct CubicRfc {
    curve: Curve,
    /// The curve before the latest reduction; boxed because it is rarely used.
    before: Box<Curve>,
    beta: f64,
    c: f64,
    alpha: f64,
    fast_convergence: bool,
    mss: u32,
    exit: Option<HystartPlusPlus>,
}

/// State to restore after a spurious reduction (RFC 9438 §4.9).
#[derive(Clone, Copy, Debug)]
struct Curve {
    cwnd: f64,
    ssthresh: f64,
    w_max: f64,
    /// The window before the latest reduction.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// Whether the next epoch starts at its plateau.
    flat: bool,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Instant,
    k: f64,
    w_est: f64,
}

impl CubicRfc {
    fn reduce(&mut self, flight: u32) {
        *self.before = self.curve;
        let curve = &mut self.curve;
        curve.w_max =
            if curve.cwnd < curve.w_max && self.fast_convergence { curve.cwnd * (1.0 + self.beta) / 2.0 } else { curve.cwnd };
        curve.cwnd_prior = curve.cwnd;
        curve.ssthresh = (f64::from(flight) * self.beta).max(MIN);
        curve.epoch = None;
        curve.flat = false;
        self.exit = None;
    }

    fn begin_epoch(&mut self, now: Instant) -> Epoch {
        let curve = &mut self.curve;
        if curve.flat {
            curve.w_max = curve.cwnd;
            curve.cwnd_prior = curve.cwnd;
            curve.flat = false;
        }
        let k = if curve.w_max <= curve.cwnd { 0.0 } else { libm::cbrt((curve.w_max - curve.cwnd) / self.c) };
        Epoch { start: now, k, w_est: curve.cwnd }
    }

    fn avoid(&mut self, sample: &AckSample, delivered: u32) {
        let mut epoch = match self.curve.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(sample.now),
        };
        let curve = &mut self.curve;
        let (c, cwnd, delivered) = (self.c, curve.cwnd, f64::from(delivered));
        let cubic = |t: f64| c * (t - epoch.k) * (t - epoch.k) * (t - epoch.k) + curve.w_max;
        let t = sample.now.since(epoch.start).as_secs_f64();
        let alpha = if epoch.w_est >= curve.cwnd_prior { 1.0 } else { self.alpha };
        epoch.w_est += alpha * delivered / cwnd;
        let grown = if cubic(t) < epoch.w_est {
            cwnd.max(epoch.w_est)
        } else {
            let target = cubic(t + sample.srtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
            // One acknowledgement for many segments does not overshoot the target.
            (cwnd + (target - cwnd) / cwnd * delivered).min(target)
        };
        curve.cwnd = grown.min(MAX);
        curve.epoch = Some(epoch);
    }

    /// Returns the segments left for avoidance.
    fn slow_start(&mut self, sample: &AckSample) -> u32 {
        let growth = self.exit.as_mut().map_or(Some(sample.delivered), |exit| exit.on_ack(sample, sample.delivered));
        let Some(growth) = growth else {
            self.curve.ssthresh = self.curve.cwnd;
            self.curve.flat = true;
            self.exit = None;
            return sample.delivered;
        };
        let wanted = self.curve.cwnd + f64::from(growth);
        self.curve.cwnd = wanted.min(self.curve.ssthresh).min(MAX);
        (wanted - self.curve.cwnd) as u32
    }
}

const BETA: TypedParam<f64> =
    TypedParam::ratio("beta", 0.7).within(0.5, 0.95).about("window after a loss, relative to what was in flight");
const C: TypedParam<f64> = TypedParam::number("c", 0.4).within(0.01, 10.0).about("steepness of the curve, in segments/s^3");
const FAST_CONVERGENCE: TypedParam<bool> =
    TypedParam::on("fast_convergence").about("aim lower when a window was lost below the last maximum");

impl Control for CubicRfc {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "cubic-rfc",
            aliases: &[],
            title: "CUBIC (RFC 9438)",
            summary: "CUBIC to the letter of RFC 9438, with HyStart++",
            params: &[BETA.param, C.param, FAST_CONVERGENCE.param],
            source: "RFC 9438 §4; RFC 9406",
        },
        needs: Needs::PLAIN,
    };

    fn build(setup: &Setup<'_>) -> Self {
        let beta = BETA.read(setup.given);
        let curve = Curve { cwnd: 1.0, ssthresh: f64::INFINITY, w_max: 0.0, cwnd_prior: 0.0, epoch: None, flat: false };
        Self {
            curve,
            before: Box::new(curve),
            beta,
            c: C.read(setup.given),
            alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
            fast_convergence: FAST_CONVERGENCE.read(setup.given),
            mss: setup.mss,
            exit: (setup.slow_start_exit != SlowStartExit::LossOnly).then(HystartPlusPlus::default),
        }
    }
}

impl CongestionControl for CubicRfc {
    fn on_established(&mut self, event: &Established) {
        self.curve.cwnd = f64::from(event.initial_window);
    }

    fn on_sent(&mut self, sent: &Sent) {
        // RFC 9438 §4.2: time without data to send does not count.
        if sent.silence > Duration::ZERO
            && let Some(epoch) = &mut self.curve.epoch
        {
            epoch.start = (epoch.start + sent.silence).min(sent.now);
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        if sample.growth == Growth::Held {
            return;
        }
        let mut rest = sample.delivered;
        if self.in_slow_start() {
            rest = self.slow_start(sample);
        }
        if rest > 0 {
            self.avoid(sample, rest);
        }
    }

    fn on_loss(&mut self, loss: &Congestion) {
        self.reduce(loss.flight);
        self.curve.cwnd = self.curve.ssthresh;
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        if timeout.response == Response::Reduce {
            self.reduce(timeout.flight);
        }
        self.curve.cwnd = f64::from(timeout.in_flight + 1);
        self.curve.epoch = None;
        self.curve.flat = true;
        self.exit = None;
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.curve.ssthresh = self.curve.ssthresh.max(self.curve.cwnd * 0.75);
        self.curve.cwnd = f64::from(window);
    }

    fn on_undo(&mut self, _: Instant) {
        if self.before.cwnd > self.curve.cwnd {
            self.curve = *self.before;
        }
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.curve.cwnd as u64 * u64::from(self.mss))
    }

    fn ssthresh(&self) -> Bytes {
        if self.curve.ssthresh == f64::INFINITY {
            Bytes::MAX
        } else {
            Bytes::new(self.curve.ssthresh as u64 * u64::from(self.mss))
        }
    }

    fn in_slow_start(&self) -> bool {
        self.curve.cwnd < self.curve.ssthresh
    }
}

#[cfg(test)]
mod tests;
