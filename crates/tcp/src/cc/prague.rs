//! Prague: DCTCP for the Internet: smooth, paced, and as fast at short round trips as at long ones.
//!
//! *Signal*: the number of marked packets, as counted by the receiver; losses, as for Reno.
//!
//! *Law*: as in DCTCP, `alpha = (1 - g) alpha + g F` once per round, from the first mark on. The
//! window is a real number `w` that grows by `a / w` per unmarked segment delivered, also while it
//! is being reduced, and falls by `alpha w / 2` when a round brings marks. The sender follows `w`
//! by one segment per acknowledgement. With a round-trip time below `rtt_target`, from `transition`
//! rounds after slow start on, `a = (RTT / rtt_target)^2`, and both `alpha` and reductions move at
//! most once per `rtt_target`; otherwise `a = 1`. The pacing rate is `w` per round-trip time, twice
//! that while `w` is below half the threshold. A loss halves the window; slow start ends at the
//! first mark.
//!
//! *Parameters*: see `SPEC`; the defaults are those of the reference implementation.
//!
//! *Deviations* from the reference implementation: a timeout sets the threshold to half the window;
//! the fallback for classic queues behind ECT(1) is left out, as it is off there; segments leave
//! one by one instead of in bursts of up to a quarter of a millisecond, since no offload is
//! modeled.
//!
//! *Limits*: needs a queue that marks ECT(1) at a shallow threshold. With classic feedback it
//! halves like Reno; without ECN it is a paced Reno.
//!
//! *Source*: RFC 9331 §4; draft-briscoe-iccrg-prague-congestion-control; the L4S team's Linux.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Detail, Established, Feedback, Growth};
use super::{Needs, Reduction, Response, Setup, Timeout};
use crate::config::EcnMode;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

const MIN: f64 = 2.0;
const MAX_WINDOW: f64 = (1u32 << 28) as f64;
/// Round-trip time beyond which growth is never scaled.
const MAX_RTT: Duration = Duration::ms(100);
/// Headers that the rate includes, but not the pacer, which counts payload. Pacing is thus slightly
/// faster than the window turns over; otherwise it would hold the window back.
const HEADER: u64 = 52;

/// State of Prague. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Prague {
    /// Window that the sender uses.
    window: SegmentWindow,
    /// Exact window, which `window` follows.
    exact: f64,
    before: f64,
    slow_start: SlowStart,
    params: Params,
    alpha: f64,
    /// Whether some queue on the path marks.
    marks_seen: bool,
    /// Whether feedback is classic: marks are not counted, and each is treated like a loss.
    classic: bool,
    in_loss: bool,
    round: Round,
    /// Rounds since slow start.
    rounds: u64,
    reduced_at: Option<Instant>,
    mss: u32,
    srtt: Duration,
}

#[derive(Clone, Debug)]
struct Params {
    g: f64,
    rtt_target: Duration,
    transition: u64,
    rtt_independence: bool,
}

#[derive(Clone, Debug)]
struct Round {
    /// Sequence number up to which everything is acknowledged when the round ends.
    end: u64,
    began_at: Instant,
    delivered: u64,
    marked: u64,
}

impl Prague {
    fn is_rtt_independent(&self) -> bool {
        self.params.rtt_independence && !self.window.in_slow_start() && self.rounds >= self.params.transition
    }

    fn increase(&self) -> f64 {
        let target = self.params.rtt_target;
        if !self.is_rtt_independent() || self.srtt.is_zero() || self.srtt > MAX_RTT || self.srtt >= target {
            return 1.0;
        }
        let ratio = self.srtt.as_secs_f64() / target.as_secs_f64();
        ratio * ratio
    }

    /// The exact window rounded up to whole segments.
    fn wanted(&self) -> u32 {
        (libm::ceil(self.exact) as u32).max(1)
    }

    fn grow(&mut self, sample: &AckSample) {
        let mut unmarked = sample.delivered.saturating_sub(sample.marked);
        if unmarked == 0 || self.in_loss || sample.growth == Growth::Held {
            return;
        }
        if self.window.in_slow_start() {
            unmarked = self.slow_start.grow(&mut self.window, sample, unmarked);
            self.exact = f64::from(self.window.cwnd);
        }
        self.exact = (self.exact + f64::from(unmarked) * self.increase() / f64::from(self.wanted())).min(MAX_WINDOW);
    }

    fn follow(&mut self) {
        let wanted = self.wanted();
        if self.window.cwnd > wanted && self.window.cwnd > MIN as u32 {
            self.window.cwnd -= 1;
            self.window.ssthresh = self.window.cwnd;
        } else if self.window.cwnd < wanted {
            self.window.cwnd += 1;
        }
    }

    fn count(&mut self, sample: &AckSample) {
        self.round.delivered += u64::from(sample.delivered);
        self.round.marked += u64::from(sample.marked);
        self.marks_seen |= sample.marked > 0;
        let too_early = self.is_rtt_independent() && sample.now.since(self.round.began_at) < self.params.rtt_target;
        if sample.una < self.round.end || too_early {
            return;
        }
        if self.marks_seen {
            let share = (self.round.marked as f64 / self.round.delivered.max(1) as f64).min(1.0);
            self.alpha += self.params.g * (share - self.alpha);
        }
        if !self.window.in_slow_start() {
            self.rounds += 1;
        }
        self.round = Round { end: sample.nxt, began_at: sample.now, delivered: 0, marked: 0 };
    }

    fn halve(&mut self) {
        self.before = self.exact;
        self.exact = (self.exact / 2.0).max(MIN);
        self.in_loss = true;
        self.slow_start.over();
    }
}

const G: TypedParam<f64> = TypedParam::ratio("g", 1.0 / 16.0)
    .within(1.0 / 1024.0, 1.0)
    .about("weight of the latest round in the share of marked packets");
const RTT_TARGET: TypedParam<Duration> = TypedParam::duration("rtt_target", Duration::ms(25))
    .within(0.001, 1.0)
    .about("connections with shorter round trips share as if theirs were this");
const TRANSITION: TypedParam<f64> = TypedParam::number("transition", 500.0)
    .within(0.0, 1e9)
    .about("rounds after slow start before round-trip times stop to matter");
const RTT_INDEPENDENCE: TypedParam<bool> =
    TypedParam::on("rtt_independence").about("slow growth and reductions down at short round-trip times");

impl Control for Prague {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "prague",
            aliases: &[],
            title: "TCP Prague",
            summary: "DCTCP for the Internet: counted marks, paced, equal at short and long round trips",
            params: &[G.param, RTT_TARGET.param, TRANSITION.param, RTT_INDEPENDENCE.param],
            source: "RFC 9331; draft-briscoe-iccrg-prague-congestion-control; L4S team's Linux",
        },
        needs: Needs { feedback: Feedback::Detailed, reduction: Reduction::Own, ecn: EcnMode::L4s, ..Needs::PLAIN },
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            window: SegmentWindow::new(setup.mss),
            exact: 1.0,
            before: 1.0,
            slow_start: SlowStart::new(setup.slow_start_exit),
            params: Params {
                g: G.read(setup.given),
                rtt_target: RTT_TARGET.read(setup.given),
                transition: TRANSITION.read(setup.given) as u64,
                rtt_independence: RTT_INDEPENDENCE.read(setup.given),
            },
            alpha: 1.0,
            marks_seen: false,
            classic: false,
            in_loss: false,
            round: Round { end: 0, began_at: Instant::ZERO, delivered: 0, marked: 0 },
            rounds: 0,
            reduced_at: None,
            mss: setup.mss,
            srtt: Duration::ZERO,
        }
    }
}

impl CongestionControl for Prague {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = event.initial_window;
        self.exact = f64::from(event.initial_window);
        self.classic = !matches!(event.ecn, EcnMode::L4s | EcnMode::Accurate | EcnMode::Mirror);
        self.round.began_at = event.now;
        self.srtt = event.srtt;
    }

    fn on_ack(&mut self, sample: &AckSample) {
        self.srtt = sample.srtt;
        self.grow(sample);
        self.follow();
        self.count(sample);
    }

    fn on_detailed_ack(&mut self, sample: &AckSample, _: &Detail) {
        self.on_ack(sample);
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.halve();
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        let recent = self.reduced_at.is_some_and(|at| mark.now.since(at) < self.params.rtt_target);
        if recent && self.is_rtt_independent() {
            return;
        }
        self.reduced_at = Some(mark.now);
        self.before = self.exact;
        let share = if self.classic { 1.0 } else { self.alpha };
        self.exact = (self.exact * (1.0 - share / 2.0)).max(MIN);
        self.slow_start.over();
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        if timeout.response == Response::Reduce {
            self.halve();
        }
        self.window.collapse(timeout, self.wanted());
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.window.shrink(window);
        self.exact = f64::from(window);
    }

    fn on_undo(&mut self, _: Instant) {
        self.exact = self.exact.max(self.before);
        self.window.restore();
        self.window.cwnd = self.window.cwnd.max(self.wanted());
    }

    fn on_recovered(&mut self, _: Instant) {
        self.in_loss = false;
    }

    fn cwnd(&self) -> Bytes {
        self.window.bytes()
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh_bytes()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if self.srtt.is_zero() {
            return None;
        }
        let gain = if self.window.cwnd < self.window.ssthresh / 2 { 2.0 } else { 1.0 };
        let bits = Bytes::new(u64::from(self.mss) + HEADER).bits() as f64;
        Some(Rate::bit_s((gain * self.exact * bits / self.srtt.as_secs_f64()) as u64))
    }
}

#[cfg(test)]
mod tests;
