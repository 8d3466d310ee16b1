//! LEDBAT: uses the capacity that others leave, and keeps its own queueing delay at a target.
//!
//! *Signal*: the one-way delay, from timestamps, relative to its minimum over the last minutes;
//! losses and ECN echoes.
//!
//! *Law*: `off = (target - (current - base)) / target`, `cwnd = cwnd + gain off delivered / cwnd`
//! in segments, at most `allowed_increase` segments above what was in flight, at least 2. `current`
//! is the smallest of the last `current_filter` delays, `base` the smallest of the last
//! `base_history` minutes. A loss or mark halves the window, once per round trip; a timeout leaves
//! one segment more than is still in flight.
//!
//! *Parameters*: see `SPEC`; the defaults are those of RFC 6817, which bounds `target` at 100 ms.
//!
//! *Deviations*: counts segments instead of bytes; without `slow_start` the window grows from its
//! initial value by the law alone, as in the pseudocode of the RFC. The delay is the difference of
//! the two timestamps of an acknowledgement, so a delayed acknowledgement counts as delay (the
//! filter removes it). Segments leave one by one, as from the programs that use LEDBAT over UDP.
//!
//! *Limits*: a latecomer may take the queue of an earlier flow for its base delay and starve that
//! flow. When an AQM keeps the queue below the target, LEDBAT behaves like Reno.
//!
//! *Source*: RFC 6817; RFC 7928 §5.4 asks for a target of 5 ms and a gain of 10.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Detail, Established, Feedback, Growth};
use super::{Needs, Setup, State, Timeout};
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant};

const MIN: f64 = 2.0;
const MAX_WINDOW: f64 = (1u32 << 28) as f64;
const MINUTE: Duration = Duration::secs(60);
const MAX_MINUTES: usize = 60;
const MAX_SAMPLES: usize = 64;

/// State of LEDBAT. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: SegmentWindow,
    exact: f64,
    before: f64,
    params: Params,
    slow_start: Option<SlowStart>,
    delays: Delays,
}

#[derive(Clone, Debug)]
struct Params {
    target_s: f64,
    gain: f64,
    allowed_increase: f64,
}

/// Smallest delays of recent minutes, and the latest delays.
#[derive(Clone, Debug)]
struct Delays {
    minutes: Ring<MAX_MINUTES>,
    minute_began_at: Instant,
    latest: Ring<MAX_SAMPLES>,
}

/// The last few values of a series.
#[derive(Clone, Debug)]
struct Ring<const N: usize> {
    values: [Duration; N],
    next: usize,
    /// Number of values kept.
    len: usize,
}

impl<const N: usize> Ring<N> {
    fn new(len: usize) -> Self {
        Self { values: [Duration::MAX; N], next: 0, len: len.clamp(1, N) }
    }

    fn push(&mut self, value: Duration) {
        self.values[self.next] = value;
        self.next = (self.next + 1) % self.len;
    }

    fn lower_last(&mut self, value: Duration) {
        let last = (self.next + self.len - 1) % self.len;
        self.values[last] = self.values[last].min(value);
    }

    fn min(&self) -> Duration {
        self.values[..self.len].iter().copied().min().unwrap_or(Duration::MAX)
    }
}

impl Delays {
    fn take(&mut self, now: Instant, delay: Duration) {
        if now.since(self.minute_began_at) >= MINUTE {
            self.minute_began_at = now;
            self.minutes.push(delay);
        } else {
            self.minutes.lower_last(delay);
        }
        self.latest.push(delay);
    }

    /// Queueing delay: the present delay less the smallest one of the last minutes.
    fn queueing(&self) -> Duration {
        self.latest.min().saturating_sub(self.minutes.min())
    }
}

impl Ledbat {
    fn follow(&mut self) {
        self.window.cwnd = self.exact as u32;
    }

    fn steer(&mut self, sample: &AckSample, prior_in_flight: u32) {
        let off = (self.params.target_s - self.delays.queueing().as_secs_f64()) / self.params.target_s;
        let allowed = f64::from(prior_in_flight) + self.params.allowed_increase;
        let wanted = self.exact + self.params.gain * off * f64::from(sample.delivered) / self.exact;
        self.exact = wanted.min(allowed).clamp(MIN, MAX_WINDOW);
        self.follow();
    }
}

const TARGET: TypedParam<Duration> = TypedParam::duration("target", Duration::ms(100))
    .within(0.0001, 10.0)
    .about("queueing delay to keep; RFC 7928 asks for 5 ms");
const GAIN: TypedParam<f64> = TypedParam::number("gain", 1.0)
    .within(0.01, 100.0)
    .about("segments per round trip of growth in an empty queue; RFC 7928 asks for 10");
const ALLOWED_INCREASE: TypedParam<f64> = TypedParam::number("allowed_increase", 1.0)
    .within(0.0, 1_000.0)
    .about("how far the window may exceed what is in flight, in segments");
const BASE_HISTORY: TypedParam<f64> = TypedParam::number("base_history", 10.0)
    .within(1.0, MAX_MINUTES as f64)
    .about("how long the smallest delay is remembered, in minutes");
const CURRENT_FILTER: TypedParam<f64> = TypedParam::number("current_filter", 4.0)
    .within(1.0, MAX_SAMPLES as f64)
    .about("the present delay is the smallest of so many, in samples");
const SLOW_START: TypedParam<bool> =
    TypedParam::off("slow_start").about("begin with slow start, until a loss, half the target, or what slow_start_exit says");

impl Control for Ledbat {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "ledbat",
            aliases: &[],
            title: "LEDBAT",
            summary: "fills what others leave and keeps its queueing delay at a target",
            params: &[
                TARGET.param,
                GAIN.param,
                ALLOWED_INCREASE.param,
                BASE_HISTORY.param,
                CURRENT_FILTER.param,
                SLOW_START.param,
            ],
            source: "RFC 6817",
        },
        needs: Needs { feedback: Feedback::Detailed, offload: false, ..Needs::PLAIN },
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            window: SegmentWindow::new(setup.mss),
            exact: MIN,
            before: MIN,
            params: Params {
                target_s: TARGET.read(setup.given).as_secs_f64(),
                gain: GAIN.read(setup.given),
                allowed_increase: ALLOWED_INCREASE.read(setup.given),
            },
            slow_start: SLOW_START.read(setup.given).then(|| SlowStart::new(setup.slow_start_exit)),
            delays: Delays {
                minutes: Ring::new(BASE_HISTORY.read(setup.given) as usize),
                minute_began_at: Instant::ZERO,
                latest: Ring::new(CURRENT_FILTER.read(setup.given) as usize),
            },
        }
    }
}

impl CongestionControl for Ledbat {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = event.initial_window;
        self.exact = f64::from(event.initial_window);
        self.delays.minute_began_at = event.now;
    }

    fn on_ack(&mut self, _: &AckSample) {}

    fn on_detailed_ack(&mut self, sample: &AckSample, detail: &Detail) {
        self.delays.take(sample.now, detail.one_way_delay);
        if sample.delivered == 0 || matches!(sample.state, State::Reducing | State::Recovery) {
            return;
        }
        if let Some(slow_start) = &mut self.slow_start
            && self.window.in_slow_start()
        {
            if self.delays.queueing().as_secs_f64() > self.params.target_s / 2.0 {
                self.window.ssthresh = self.window.cwnd;
            } else if sample.growth == Growth::Allowed {
                slow_start.grow(&mut self.window, sample, sample.delivered);
                self.exact = f64::from(self.window.cwnd);
            }
            return;
        }
        self.steer(sample, detail.prior_in_flight);
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.before = self.exact;
        self.exact = (self.exact / 2.0).max(MIN);
        self.window.reduce(self.exact as u32);
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.over();
        }
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        self.before = self.before.max(self.exact);
        self.window.collapse(timeout, ((self.exact / 2.0) as u32).max(2));
        self.exact = f64::from(self.window.cwnd);
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.window.shrink(window);
        self.exact = f64::from(window);
    }

    fn on_undo(&mut self, _: Instant) {
        self.exact = self.exact.max(self.before);
        self.window.restore();
        self.follow();
    }

    fn cwnd(&self) -> Bytes {
        self.window.bytes()
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh_bytes()
    }

    fn in_slow_start(&self) -> bool {
        self.slow_start.is_some() && self.window.in_slow_start()
    }
}

#[cfg(test)]
mod tests;
