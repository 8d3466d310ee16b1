//! LEDBAT: fills what others leave, and keeps its own queueing delay at a target.
//!
//! *Signal*: one-way delay, from timestamps, against its minimum over the last minutes; losses and ECN echoes.
//!
//! *Law*: `off = (target - (current - base)) / target`, `cwnd = cwnd + gain off delivered / cwnd` in segments, at most `allowed_increase` segments
//! above what was in flight, at least 2. `current` is the smallest of the last `current_filter` delays, `base` the smallest of the last `base_history`
//! minutes. A loss or mark halves, once a round trip; a timeout leaves one segment more than is still in flight.
//!
//! *Parameters*: `target` 100 ms (RFC: at most), `gain` 1, `allowed_increase` 1 segment, `base_history` 10 minutes, `current_filter` 4 (RFC 6817);
//! `slow_start` off.
//!
//! *Departures*: counts segments instead of bytes; without `slow_start` the window grows from its initial value by the law alone, as the RFC's
//! pseudocode has it; the delay is the difference of the two timestamps of an acknowledgement, so a delayed acknowledgement counts as
//! delay (the filter takes it out). Segments leave one by one, as from the programs that send with it over UDP.
//!
//! *Limits*: a late comer may take the queue of an earlier flow for its base delay and starve it; with a queue kept below the target by an AQM it
//! is Reno.
//!
//! *Source*: RFC 6817; RFC 7928 §5.4 asks for a target of 5 ms and a gain of 10.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlParam, ControlSpec, Detail, Established, Feedback, Growth};
use super::{Needs, Setup, State, Timeout};
use goodqueue_units::{Bytes, Duration, Instant};

const SMALLEST: f64 = 2.0;
const LARGEST: f64 = (1u32 << 28) as f64;
const MINUTE: Duration = Duration::secs(60);
const MOST_MINUTES: usize = 60;
const MOST_SAMPLES: usize = 64;

/// LEDBAT's state; windows in segments.
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

/// The smallest delays of recent minutes, and the latest delays.
#[derive(Clone, Debug)]
struct Delays {
    minutes: Ring<MOST_MINUTES>,
    minute_began_at: Instant,
    latest: Ring<MOST_SAMPLES>,
}

/// The last few of a series.
#[derive(Clone, Debug)]
struct Ring<const MOST: usize> {
    values: [Duration; MOST],
    next: usize,
    /// How many are kept.
    len: usize,
}

impl<const MOST: usize> Ring<MOST> {
    fn new(len: usize) -> Self {
        Self { values: [Duration::MAX; MOST], next: 0, len: len.clamp(1, MOST) }
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

    /// Queueing delay: the present delay less the smallest of the last minutes.
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
        self.exact = wanted.min(allowed).clamp(SMALLEST, LARGEST);
        self.follow();
    }

    fn reduce(&mut self) {
        self.before = self.exact;
        self.exact = (self.exact / 2.0).max(SMALLEST);
        self.window.reduce(self.exact as u32);
        if let Some(slow_start) = &mut self.slow_start {
            slow_start.over();
        }
    }
}

impl Control for Ledbat {
    const SPEC: ControlSpec = ControlSpec {
        kind: "ledbat",
        summary: "fills what others leave and keeps its queueing delay at a target",
        params: &[
            ControlParam {
                name: "target",
                unit: "ms",
                default: 100.0,
                range: (0.1, 10_000.0),
                doc: "queueing delay to keep; RFC 7928 asks for 5 ms",
            },
            ControlParam {
                name: "gain",
                unit: "number",
                default: 1.0,
                range: (0.01, 100.0),
                doc: "segments a round trip of growth in an empty queue; RFC 7928 asks for 10",
            },
            ControlParam {
                name: "allowed_increase",
                unit: "segments",
                default: 1.0,
                range: (0.0, 1_000.0),
                doc: "how far the window may exceed what is in flight",
            },
            ControlParam {
                name: "base_history",
                unit: "minutes",
                default: 10.0,
                range: (1.0, MOST_MINUTES as f64),
                doc: "how long the smallest delay is remembered",
            },
            ControlParam {
                name: "current_filter",
                unit: "samples",
                default: 4.0,
                range: (1.0, MOST_SAMPLES as f64),
                doc: "the present delay is the smallest of so many",
            },
            ControlParam {
                name: "slow_start",
                unit: "0 or 1",
                default: 0.0,
                range: (0.0, 1.0),
                doc: "begin with slow start, until a loss, half the target, or what slow_start_exit says",
            },
        ],
        needs: Needs { feedback: Feedback::Detailed, offload: false, ..Needs::PLAIN },
        source: "RFC 6817",
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            window: SegmentWindow::new(setup.mss),
            exact: SMALLEST,
            before: SMALLEST,
            params: Params {
                target_s: setup.param("target") * 1e-3,
                gain: setup.param("gain"),
                allowed_increase: setup.param("allowed_increase"),
            },
            slow_start: setup.switch("slow_start").then(|| SlowStart::new(setup.slow_start_exit)),
            delays: Delays {
                minutes: Ring::new(setup.param("base_history") as usize),
                minute_began_at: Instant::ZERO,
                latest: Ring::new(setup.param("current_filter") as usize),
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
        self.reduce();
    }

    fn on_ecn(&mut self, _: &Congestion) {
        self.reduce();
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        self.before = self.before.max(self.exact);
        self.window.collapse(timeout, ((self.exact / 2.0) as u32).max(2));
        self.exact = f64::from(self.window.cwnd);
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
