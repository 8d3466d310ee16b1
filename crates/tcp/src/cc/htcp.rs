//! H-TCP as in Linux: growth accelerates with the time since the last loss, and the reduction
//! depends on the queue's share of the round-trip time.
//!
//! *Signal*: losses and ECN echoes, one reduction a window; round-trip times and throughput choose
//! the reduction.
//!
//! *Law*: with `d` seconds since the last congestion, `f = 1` up to `d = 1`, then
//! `f = 1 + 10 (d - 1) + ((d - 1) / 2)^2`; scaled by the round-trip time,
//! `f = f / clamp(1 / (10 RTT_min), 0.5, 10)`; `alpha = 2 (1 - beta) f`, and the window grows by
//! `alpha / cwnd` per segment acknowledged. Reduction: `ssthresh = max(beta cwnd, 2)` with
//! `beta = clamp(RTT_min / RTT_max, 0.5, 0.8)`. `beta` is 0.5 instead when the throughput before
//! this congestion differs by more than a fifth from that before the last one, at the congestion
//! after such a change, and while `RTT_min` is 10 ms or less. `RTT_max` then decays by a twentieth
//! of its distance to `RTT_min`.
//!
//! *Parameters*: see `SPEC`; the defaults are those of Linux.
//!
//! *Deviations* from the paper, following Linux: whole numbers, so `f` is rounded down before and
//! after scaling and is never below one (at short round-trip times growth stays at that of Reno for
//! longer); `alpha` is recomputed only when the window grows, so the first growth after a reduction
//! still uses the old one; an acknowledgement that grows the window does not count toward the next
//! growth; undoing a spurious reduction restores the window and the time since congestion, but not
//! `RTT_max`. Times are in milliseconds, round-trip times rounded up, as in a kernel with 1000
//! ticks per second.
//!
//! *Limits*: designed for long fat paths; two flows of unequal age share unequally until both have
//! seen a loss.
//!
//! *Source*: Leith, Shorten: H-TCP (2004); draft-leith-tcp-htcp; Linux 6.12.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Established, Growth, Needs, Setup};
use super::{Response, State, Timeout};
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant};

/// The number one in the fixed point of `alpha` and `beta`.
const ONE: u32 = 128;
const MS: u64 = 1_000_000;
/// Milliseconds per second: the clock ticks of Linux.
const HZ: u64 = 1_000;
/// Largest step up of `RTT_max`, in milliseconds.
const MAX_STEP: u64 = 20;
/// Smallest `RTT_min` with an adaptive reduction, exclusive, in milliseconds.
const MIN_RTT: u64 = 10;
/// Round trips after a congestion in which throughput is measured again.
const SETTLING: u64 = 3;

/// State of H-TCP. Times are in milliseconds, windows in segments.
#[derive(Clone, Debug)]
pub struct Htcp {
    window: SegmentWindow,
    params: Params,
    alpha: u32,
    beta: u32,
    /// Whether the next congestion may choose `beta` by round-trip times.
    adaptive: bool,
    /// Segments acknowledged cumulatively in the open state that growth has not counted yet; one
    /// after each growth.
    acked: u32,
    /// Segments counted toward the next growth.
    count: u32,
    rtt_min: u64,
    rtt_max: u64,
    last_congestion: u64,
    throughput: Throughput,
    slow_start: SlowStart,
    /// Time of the previous congestion, while the present one may turn out to be spurious.
    congestion_before: Option<u64>,
    una: u64,
    state: State,
}

#[derive(Clone, Debug)]
struct Params {
    rtt_scaling: bool,
    bandwidth_switch: bool,
    beta_min: u32,
    beta_max: u32,
}

/// Throughput measurement, in segments per second.
#[derive(Clone, Debug, Default)]
struct Throughput {
    smoothed: u64,
    largest: u64,
    largest_before: u64,
    counted: u64,
    since: u64,
}

fn ticks(now: Instant) -> u64 {
    now.as_nanos() / MS
}

impl Htcp {
    fn measure_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos().div_ceil(MS);
        if rtt < self.rtt_min || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if self.state == State::Open {
            self.rtt_max = self.rtt_max.max(self.rtt_min);
            if self.rtt_max < rtt && rtt <= self.rtt_max + MAX_STEP {
                self.rtt_max = rtt;
            }
        }
    }

    fn measure_throughput(&mut self, now: u64, acked: u64) {
        let throughput = &mut self.throughput;
        if self.state > State::Disorder {
            throughput.counted = 0;
            throughput.since = now;
            return;
        }
        throughput.counted += acked;
        let growth = u64::from((self.alpha / ONE).max(1));
        let window = u64::from(self.window.cwnd).saturating_sub(growth);
        let elapsed = now - throughput.since;
        if throughput.counted < window || elapsed < self.rtt_min || self.rtt_min == 0 {
            return;
        }
        let current = throughput.counted * HZ / elapsed;
        if (now - self.last_congestion) / self.rtt_min <= SETTLING {
            throughput.smoothed = current;
            throughput.largest = current;
        } else {
            throughput.smoothed = (3 * throughput.smoothed + current) / 4;
            throughput.largest = throughput.largest.max(throughput.smoothed);
        }
        throughput.counted = 0;
        throughput.since = now;
    }

    fn choose_beta(&mut self) {
        if self.params.bandwidth_switch {
            let throughput = &mut self.throughput;
            let (now, before) = (throughput.largest, throughput.largest_before);
            throughput.largest_before = now;
            if 5 * now < 4 * before || 5 * now > 6 * before {
                self.beta = self.params.beta_min;
                self.adaptive = false;
                return;
            }
        }
        if self.adaptive && self.rtt_min > MIN_RTT {
            let ratio = (self.rtt_min * u64::from(ONE) / self.rtt_max.max(1)) as u32;
            self.beta = ratio.clamp(self.params.beta_min, self.params.beta_max);
        } else {
            self.beta = self.params.beta_min;
            self.adaptive = true;
        }
    }

    fn choose_alpha(&mut self, now: u64) {
        let mut factor = 1;
        let since = now - self.last_congestion;
        if since > HZ {
            // Beyond three days the window is out of range anyway.
            let since = (since - HZ).min(1 << 28);
            factor = 1 + (10 * since + (since / 2) * (since / 2) / HZ) / HZ;
        }
        if self.params.rtt_scaling && self.rtt_min > 0 {
            let scale = (8 * HZ / (10 * self.rtt_min)).clamp(8 / 2, 8 * 10);
            factor = (8 * factor / scale).max(1);
        }
        let factor = factor.min(1 << 16) as u32;
        self.alpha = (2 * factor * (ONE - self.beta)).max(1);
    }

    /// Threshold after a reduction.
    fn reduced(&mut self, now: Instant) -> u32 {
        self.choose_beta();
        self.choose_alpha(ticks(now));
        if self.rtt_min > 0 && self.rtt_max > self.rtt_min {
            self.rtt_max = self.rtt_min + (self.rtt_max - self.rtt_min) * 95 / 100;
        }
        ((u64::from(self.window.cwnd) * u64::from(self.beta) / u64::from(ONE)) as u32).max(2)
    }

    fn begin_congestion(&mut self, now: Instant) {
        self.congestion_before = Some(self.last_congestion);
        self.last_congestion = ticks(now);
        self.count = 0;
        self.slow_start.over();
    }
}

const RTT_SCALING: TypedParam<bool> =
    TypedParam::on("rtt_scaling").about("grow in proportion to the round-trip time, 100 ms being one");
const BANDWIDTH_SWITCH: TypedParam<bool> =
    TypedParam::on("bandwidth_switch").about("halve the window when throughput has changed by more than a fifth");
const BETA_MIN: TypedParam<f64> = TypedParam::ratio("beta_min", 0.5)
    .within(0.1, 0.9)
    .about("smallest window after a loss, relative to before; rounded to 1/128");
const BETA_MAX: TypedParam<f64> = TypedParam::ratio("beta_max", 102.0 / 128.0)
    .within(0.1, 0.95)
    .about("largest window after a loss, relative to before; not below beta_min");

impl Control for Htcp {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "htcp",
            aliases: &[],
            title: "H-TCP",
            summary: "the longer since the last loss, the faster the window grows, as in Linux",
            params: &[RTT_SCALING.param, BANDWIDTH_SWITCH.param, BETA_MIN.param, BETA_MAX.param],
            source: "Leith and Shorten 2004; Linux 6.12",
        },
        needs: Needs::PLAIN,
    };

    fn build(setup: &Setup<'_>) -> Self {
        let scaled = |param: &TypedParam<f64>| (param.read(setup.given) * f64::from(ONE) + 0.5) as u32;
        let beta_min = scaled(&BETA_MIN);
        Self {
            window: SegmentWindow::new(setup.mss),
            params: Params {
                rtt_scaling: RTT_SCALING.read(setup.given),
                bandwidth_switch: BANDWIDTH_SWITCH.read(setup.given),
                beta_min,
                beta_max: scaled(&BETA_MAX).max(beta_min),
            },
            alpha: ONE,
            beta: beta_min,
            adaptive: false,
            acked: 1,
            count: 0,
            rtt_min: 0,
            rtt_max: 0,
            last_congestion: 0,
            throughput: Throughput::default(),
            congestion_before: None,
            slow_start: SlowStart::new(setup.slow_start_exit),
            una: 0,
            state: State::Open,
        }
    }
}

impl CongestionControl for Htcp {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = event.initial_window;
        self.last_congestion = ticks(event.now);
        self.throughput.since = ticks(event.now);
    }

    fn on_ack(&mut self, sample: &AckSample) {
        let acked = sample.una - self.una;
        self.una = sample.una;
        // The measurement belongs to the state before this acknowledgement.
        if self.state == State::Open {
            self.acked = acked as u32;
        }
        if let Some(rtt) = sample.rtt {
            self.measure_rtt(rtt);
        }
        if self.params.bandwidth_switch {
            self.measure_throughput(ticks(sample.now), acked);
        }
        self.state = sample.state;
        if sample.growth == Growth::Held {
            return;
        }
        if self.window.in_slow_start() {
            self.slow_start.grow(&mut self.window, sample, sample.delivered);
            return;
        }
        if u64::from(self.count) * u64::from(self.alpha) / u64::from(ONE) >= u64::from(self.window.cwnd) {
            self.window.grow_by_one();
            self.count = 0;
            self.choose_alpha(ticks(sample.now));
        } else {
            self.count += self.acked;
        }
        self.acked = 1;
    }

    fn on_loss(&mut self, loss: &Congestion) {
        let target = self.reduced(loss.now);
        self.begin_congestion(loss.now);
        self.window.reduce(target);
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        let mut target = self.window.ssthresh;
        if timeout.response == Response::Reduce {
            target = self.reduced(timeout.now);
        }
        self.begin_congestion(timeout.now);
        self.window.collapse(timeout, target);
        self.state = State::Loss;
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.window.shrink(window);
    }

    fn on_undo(&mut self, _: Instant) {
        if let Some(before) = self.congestion_before.take() {
            self.last_congestion = before;
        }
        self.window.restore();
    }

    fn on_recovered(&mut self, now: Instant) {
        // The time since congestion counts from its end.
        if self.congestion_before.take().is_some() {
            self.last_congestion = ticks(now);
        }
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
