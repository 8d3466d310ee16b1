//! Compound TCP: the window of Reno plus a second one that grows fast while there is no queue and
//! shrinks when there is one.
//!
//! *Signal*: losses and ECN echoes, one reduction per window; the smallest round-trip time of each
//! round relative to the smallest ever.
//!
//! *Law*: the window is `cwnd + dwnd`. Outside slow start `cwnd` grows by `1 / (cwnd + dwnd)` per
//! segment delivered. Once per round with more than two round-trip time samples, let `win` be the
//! segments in flight at its start and `diff = win (1 - RTT_base / RTT)`. Below `gamma`,
//! `dwnd += max(alpha win^k - 1, 0)`; otherwise `dwnd = max(dwnd - zeta diff, 0)`. Reduction:
//! `cwnd / 2`, `dwnd = max(win (1 - beta) - cwnd / 2, 0)`, where `win` is the whole window.
//!
//! *Parameters*: see `SPEC`; the defaults are those of the authors.
//!
//! *Deviations*: `gamma` is constant (the authors later adapt it to the path). Delivered segments
//! are counted instead of acknowledgements. After a timeout or after idling for a round trip,
//! `dwnd` is zero and round-trip times are forgotten, as in the implementation for Linux.
//!
//! *Limits*: a queue of fewer than `gamma` segments per flow goes unnoticed; if the round-trip time
//! was never seen without queue, the base is too large.
//!
//! *Source*: Tan, Song, Zhang, Sridharan: A Compound TCP approach (2006);
//! draft-sridharan-tcpm-ctcp.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Established, Growth, Needs, Response};
use super::{Sent, Setup, Timeout};
use goodqueue_base::settings;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant};

/// Number of round-trip time samples that a round must exceed to count.
const SAMPLES: u32 = 2;
const MIN: f64 = 2.0;
const MAX: f64 = (1u32 << 28) as f64;

/// State of Compound TCP. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Compound {
    /// The total window as the sender uses it, and the threshold.
    window: SegmentWindow,
    params: Params,
    cwnd: f64,
    dwnd: f64,
    before: (f64, f64),
    slow_start: SlowStart,
    base: Option<Duration>,
    round: Round,
    srtt: Duration,
}

settings! {
    #[derive(Clone, Debug)]
    struct Params {
        alpha: f64 => ALPHA,
        beta: f64 => BETA,
        k: f64 => K,
        gamma: f64 => GAMMA,
        zeta: f64 => ZETA,
    }
}

/// One round trip.
#[derive(Clone, Debug, Default)]
struct Round {
    /// Sequence number up to which everything is acknowledged when the round ends.
    end: u64,
    /// Segments in flight at its start.
    win: u64,
    smallest: Option<Duration>,
    samples: u32,
}

impl Compound {
    fn total(&self) -> f64 {
        self.cwnd + self.dwnd
    }

    fn follow(&mut self) {
        self.cwnd = self.cwnd.min(MAX);
        self.dwnd = self.dwnd.min(MAX - self.cwnd);
        self.window.cwnd = self.total() as u32;
    }

    fn measure(&mut self, rtt: Duration) {
        let smaller = |old: Option<Duration>| Some(old.map_or(rtt, |old| old.min(rtt)));
        self.base = smaller(self.base);
        self.round.smallest = smaller(self.round.smallest);
        self.round.samples += 1;
    }

    /// Adjusts the second window at the end of a round.
    fn adjust(&mut self) {
        let Params { alpha, k, gamma, zeta, .. } = self.params;
        let (Some(base), Some(rtt)) = (self.base, self.round.smallest) else { return };
        if self.round.samples <= SAMPLES || self.window.in_slow_start() {
            return;
        }
        let win = self.round.win as f64;
        let diff = win * (1.0 - base.as_secs_f64() / rtt.as_secs_f64());
        if diff < gamma {
            self.dwnd += (alpha * libm::pow(win, k) - 1.0).max(0.0);
        } else {
            self.dwnd = (self.dwnd - zeta * diff).max(0.0);
        }
        self.follow();
    }

    fn forget_delay(&mut self) {
        self.dwnd = 0.0;
        self.base = None;
        self.round = Round { end: self.round.end, ..Round::default() };
    }

    /// Both windows after a reduction.
    fn reduced(&self) -> (f64, f64) {
        let cwnd = self.cwnd / 2.0;
        (cwnd, (self.total() * (1.0 - self.params.beta) - cwnd).max(0.0))
    }
}

const ALPHA: TypedParam<f64> =
    TypedParam::number("alpha", 0.125).within(0.0, 10.0).about("growth of the second window is alpha win^k a round trip");
const BETA: TypedParam<f64> =
    TypedParam::ratio("beta", 0.5).within(0.1, 0.9).about("share of the whole window given up on a loss");
const K: TypedParam<f64> =
    TypedParam::number("k", 0.75).within(0.0, 1.0).about("exponent of growth; 0.8 gives the response of HighSpeed TCP");
const GAMMA: TypedParam<f64> = TypedParam::number("gamma", 30.0)
    .within(1.0, 100_000.0)
    .about("own segments in the queue from which the second window shrinks");
const ZETA: TypedParam<f64> = TypedParam::number("zeta", 1.0)
    .within(0.0, 100.0)
    .about("share of its own queue that the second window gives up each round trip");

impl Control for Compound {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "compound",
            aliases: &[],
            title: "Compound TCP",
            summary: "Reno's window plus one that grows fast while there is no queue",
            params: &[ALPHA.param, BETA.param, K.param, GAMMA.param, ZETA.param],
            source: "Tan et al. 2006",
        },
        needs: Needs::PLAIN,
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            window: SegmentWindow::new(setup.mss),
            params: Params::read(setup.given),
            cwnd: 1.0,
            dwnd: 0.0,
            before: (1.0, 0.0),
            slow_start: SlowStart::new(setup.slow_start_exit),
            base: None,
            round: Round::default(),
            srtt: Duration::ZERO,
        }
    }
}

impl CongestionControl for Compound {
    fn on_established(&mut self, event: &Established) {
        self.cwnd = f64::from(event.initial_window);
        self.follow();
    }

    fn on_sent(&mut self, sent: &Sent) {
        if !self.srtt.is_zero() && sent.silence > self.srtt {
            self.forget_delay();
            self.follow();
        }
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.srtt = sample.srtt;
        if let Some(rtt) = sample.rtt {
            self.measure(rtt);
        }
        let round_over = sample.una >= self.round.end;
        if sample.growth == Growth::Allowed {
            let mut rest = sample.delivered;
            if self.window.in_slow_start() {
                rest = self.slow_start.grow(&mut self.window, sample, sample.delivered);
                self.cwnd = (f64::from(self.window.cwnd) - self.dwnd).max(1.0);
            }
            if rest > 0 {
                self.cwnd += f64::from(rest) / self.total();
                self.follow();
            }
            if round_over {
                self.adjust();
            }
        }
        if round_over {
            self.round = Round { end: sample.nxt, win: sample.nxt - sample.una, ..Round::default() };
        }
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.before = (self.cwnd, self.dwnd);
        (self.cwnd, self.dwnd) = self.reduced();
        self.cwnd += (MIN - self.total()).max(0.0);
        self.window.reduce(self.total() as u32);
        self.slow_start.over();
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        let (cwnd, dwnd) = self.reduced();
        if timeout.response == Response::Reduce {
            self.before = (self.cwnd, self.dwnd);
        }
        self.window.collapse(timeout, (cwnd + dwnd).max(MIN) as u32);
        self.forget_delay();
        self.cwnd = f64::from(self.window.cwnd);
        self.slow_start.over();
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.window.shrink(window);
        self.forget_delay();
        self.cwnd = f64::from(window);
    }

    fn on_undo(&mut self, _: Instant) {
        if self.before.0 + self.before.1 > self.total() {
            (self.cwnd, self.dwnd) = self.before;
        }
        self.window.restore();
        self.follow();
    }

    fn cwnd(&self) -> Bytes {
        self.window.bytes()
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh_bytes()
    }
}

#[cfg(test)]
mod tests;
