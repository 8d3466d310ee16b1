//! Reno: one more segment per round trip, half the window on a loss.
//!
//! *Signal*: losses and ECN echoes, one reduction per window.
//!
//! *Law*: slow start `cwnd += delivered`, avoidance `cwnd += 1` per `cwnd` segments delivered;
//! reduction `ssthresh = max(beta cwnd, 2)`.
//!
//! *Parameters*: see `SPEC`. `beta` is that of RFC 5681; an `ecn_beta` of 0.8 is ABE (RFC 8511);
//! with `slow_start_limit` 0 all delivered segments count, as in Linux; RFC 3465 says 2. `count =
//! "acknowledgements"` is Linux before 2015: each acknowledgement counts as one segment, whatever
//! it delivers, so that delayed acknowledgements halve the growth.
//!
//! *Deviations*: counts delivered segments instead of acknowledgements (appropriate byte counting
//! without limit, as in Linux); reduces from the window, not from the flight size (Linux; both are
//! equal while the window is used up).
//!
//! *Source*: RFC 5681 §3.1, RFC 6582, RFC 3465, RFC 8511; Linux 6.12 where they leave freedom.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Established, Growth, Needs, Setup, Timeout};
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Instant};

/// State of Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    window: SegmentWindow,
    counts_acknowledgements: bool,
    slow_start_limit: u32,
    beta: f64,
    ecn_beta: f64,
    slow_start: SlowStart,
}

impl Reno {
    fn reduced(&self, beta: f64) -> u32 {
        ((f64::from(self.window.cwnd) * beta) as u32).max(2)
    }
}

const BETA: TypedParam<f64> = TypedParam::ratio("beta", 0.5).within(0.1, 0.99).about("window after a loss, relative to before");
const ECN_BETA: TypedParam<f64> =
    TypedParam::ratio("ecn_beta", 0.5).within(0.1, 0.99).about("window after an ECN echo; 0.8 is alternative backoff (RFC 8511)");
const SLOW_START_LIMIT: TypedParam<f64> = TypedParam::number("slow_start_limit", 0.0)
    .within(0.0, 64.0)
    .about("segments counted per acknowledgement in slow start; 0 counts all, RFC 3465 says 2");
const ACKNOWLEDGEMENTS: &str = "acknowledgements";
const COUNT: TypedParam<&str> = TypedParam::word("count", &["segments", ACKNOWLEDGEMENTS], "segments")
    .about("what the window grows by: delivered segments, or acknowledgements, as in Linux before 2015");

impl Control for Reno {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "reno",
            aliases: &[],
            title: "Reno",
            summary: "one segment more a round trip, half the window on a loss",
            params: &[BETA.param, ECN_BETA.param, SLOW_START_LIMIT.param, COUNT.param],
            source: "RFC 5681 §3.1; RFC 3465; Linux 6.12",
        },
        needs: Needs::PLAIN,
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            window: SegmentWindow::new(setup.mss),
            counts_acknowledgements: COUNT.read(setup.given) == ACKNOWLEDGEMENTS,
            slow_start_limit: SLOW_START_LIMIT.read(setup.given) as u32,
            beta: BETA.read(setup.given),
            ecn_beta: ECN_BETA.read(setup.given),
            slow_start: SlowStart::new(setup.slow_start_exit),
        }
    }
}

impl CongestionControl for Reno {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = event.initial_window;
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        if sample.growth == Growth::Held {
            return;
        }
        let delivered = if self.counts_acknowledgements { sample.delivered.min(1) } else { sample.delivered };
        let mut rest = delivered;
        if self.window.in_slow_start() {
            let counted = if self.slow_start_limit == 0 { delivered } else { delivered.min(self.slow_start_limit) };
            rest = self.slow_start.grow(&mut self.window, sample, counted);
            if rest == 0 {
                return;
            }
        }
        self.window.increase(self.window.cwnd, rest);
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.window.reduce(self.reduced(self.beta));
        self.slow_start.over();
    }

    fn on_ecn(&mut self, _: &Congestion) {
        self.window.reduce(self.reduced(self.ecn_beta));
        self.slow_start.over();
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        self.window.collapse(timeout, self.reduced(self.beta));
        self.slow_start.over();
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.window.shrink(window);
    }

    fn on_undo(&mut self, _: Instant) {
        self.window.restore();
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.window.bytes()
    }

    #[inline]
    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh_bytes()
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}

#[cfg(test)]
mod tests;
