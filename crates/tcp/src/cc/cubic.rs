//! CUBIC as in Linux: the window follows a cubic function of the time since the last reduction.
//!
//! *Signal*: losses and ECN echoes, one reduction per window; delay only ends slow start (hybrid
//! slow start).
//!
//! *Law*: `W(t) = C (t - K)^3 + W_max`, `K = cbrt((W_max - cwnd) / C)`. Toward `W` one round trip
//! ahead the window grows by one segment per `cnt = cwnd / (W - cwnd)` delivered, at most one per
//! two. Where Reno with the same `beta` would be faster, its growth is used. Reduction:
//! `ssthresh = max(beta cwnd, 2)`; `W_max = cwnd`, or `cwnd (1 + beta) / 2` when that is below the
//! previous `W_max`.
//!
//! *Parameters*: see `SPEC`. `max_increment` bounds the growth past the last maximum; Linux 2.6.22,
//! and ns-2.35 with it, allows 16 segments per 100 ms. The time scale is 1/1024 s and `C` a
//! multiple of 1/1024, as in Linux.
//!
//! *Deviations* from RFC 9438, following Linux: integers; the reduction is from the window, not
//! from the flight size; `W_est` grows by one segment per `15/8 cwnd` delivered, counted at the
//! present window, and never switches to slope one; the growth is bounded (one per two) instead of
//! the target (1.5 cwnd); before the first reduction it is at least 5 % per round trip; after a
//! timeout all history is forgotten. From Linux: the growth is recomputed at most once per
//! millisecond of elapsed time instead of once per clock tick. See `cubic-rfc` for the text of the
//! RFC.
//!
//! *Source*: RFC 9438; Ha, Rhee, Xu: CUBIC (2008); Linux 6.12.

use super::hystart::{Hystart, Observation};
use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Established, Growth, Needs, Sent, Setup, Timeout};
use crate::config::SlowStartExit;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Instant};

/// Inverse of the unit of `beta`, of `C`, and of time in seconds.
const SCALE: u32 = 1024;
/// Scale of `C (t - K)^3` with both factors in 1/1024.
const CUBE_SHIFT: u32 = 40;
/// Largest distance from `K`, 293 s: it keeps the cube within 64 bits, and the window is far out of
/// range by then.
const MAX_OFFSET: u64 = 300_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// The way in which slow start ends without a loss.
#[derive(Clone, Debug)]
enum Exit {
    Native(Hystart),
    Common(SlowStart),
}

/// State of CUBIC. Windows are in segments, times in nanoseconds unless stated otherwise. The
/// fields that every acknowledgement uses come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cubic {
    epoch: Option<Epoch>,
    window: SegmentWindow,
    last_update: u64,
    /// Smallest round-trip time since the last timeout; zero when unknown.
    delay_min: u64,
    last_window: u32,
    /// Delivered segments per segment of growth.
    per_segment: u32,
    /// Window before the last reduction; zero when unknown.
    last_max: u32,
    low_window: u32,
    params: Params,
    exit: Exit,
}

#[derive(Clone, Debug)]
struct Params {
    beta: u32,
    c: u32,
    reno_scale: u32,
    fast_convergence: bool,
    reno_friendly: bool,
    /// Bound on the growth per 100 ms past the last maximum, in segments; zero for none.
    max_increment: u32,
}

/// The epoch: the time since the first growth after a reduction.
#[derive(Clone, Debug)]
struct Epoch {
    start: u64,
    /// Time from the start to the plateau, in 1/1024 s.
    k: u64,
    origin: u32,
    /// Window that Reno would have, and segments delivered since it last grew.
    reno_window: u32,
    reno_count: u32,
}

impl Cubic {
    fn reduced(&self) -> u32 {
        ((u64::from(self.window.cwnd) * u64::from(self.params.beta) / u64::from(SCALE)) as u32).max(2)
    }

    fn remember_max(&mut self) {
        let cwnd = self.window.cwnd;
        self.epoch = None;
        self.last_max = if cwnd < self.last_max && self.params.fast_convergence {
            (u64::from(cwnd) * u64::from(SCALE + self.params.beta) / u64::from(2 * SCALE)) as u32
        } else {
            cwnd
        };
    }

    fn begin_epoch(&self, now: u64) -> Epoch {
        let cwnd = self.window.cwnd;
        let k = if self.last_max <= cwnd {
            0
        } else {
            let cubed = (1u64 << CUBE_SHIFT) / u64::from(self.params.c) * u64::from(self.last_max - cwnd);
            libm::cbrt(cubed as f64) as u64
        };
        Epoch { start: now, k, origin: self.last_max.max(cwnd), reno_window: cwnd, reno_count: 0 }
    }

    /// Delivered segments per segment of growth on the cubic curve, one round trip ahead.
    fn along_curve(&self, epoch: &Epoch, now: u64) -> u32 {
        let cwnd = self.window.cwnd;
        // 1 s = 1024 units: nanoseconds * 1024 / 10^9 = nanoseconds * 2 / 1_953_125.
        let t = (now.saturating_sub(epoch.start) + self.delay_min) * 2 / 1_953_125;
        let offset = t.abs_diff(epoch.k).min(MAX_OFFSET);
        let delta = (u64::from(self.params.c) * offset * offset * offset) >> CUBE_SHIFT;
        let delta = delta.min(u64::from(u32::MAX / 2)) as u32;
        let target = if t < epoch.k { epoch.origin.saturating_sub(delta) } else { epoch.origin.saturating_add(delta) };
        let per_segment = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd.min(u32::MAX / 100) };
        let per_segment = if t >= epoch.k { per_segment.max(self.least_past_maximum()) } else { per_segment };
        // Without a known maximum the plateau is meaningless; growth is then at least 5 % per round
        // trip.
        if self.last_max == 0 { per_segment.min(20) } else { per_segment }
    }

    /// Delivered segments per segment of growth at the fastest growth that is allowed past the last
    /// maximum.
    fn least_past_maximum(&self) -> u32 {
        if self.params.max_increment == 0 || self.delay_min == 0 {
            return 0;
        }
        // A round trip delivers `cwnd` segments, and the window grows by `max_increment` per 100 ms
        // of it.
        let least = u64::from(self.window.cwnd) * (SECOND / 10) / (u64::from(self.params.max_increment) * self.delay_min);
        least.min(u64::from(u32::MAX)) as u32
    }

    #[inline]
    fn update(&mut self, now: u64, delivered: u32) {
        let cwnd = self.window.cwnd;
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_count += delivered;
        }
        let since = now.saturating_sub(self.last_update);
        if self.last_window == cwnd && since <= SECOND / 32 && self.epoch.is_some() {
            return;
        }
        if self.epoch.is_none() || since >= MILLISECOND {
            self.last_window = cwnd;
            self.last_update = now;
            let epoch = match self.epoch.take() {
                Some(epoch) => epoch,
                None => Epoch { reno_count: delivered, ..self.begin_epoch(now) },
            };
            self.per_segment = self.along_curve(&epoch, now);
            self.epoch = Some(epoch);
        }
        if self.params.reno_friendly {
            self.keep_up_with_reno();
        }
        self.per_segment = self.per_segment.max(2);
    }

    #[inline]
    fn keep_up_with_reno(&mut self) {
        let cwnd = self.window.cwnd;
        let Some(epoch) = &mut self.epoch else { return };
        let per_segment = ((u64::from(cwnd) * u64::from(self.params.reno_scale)) >> 3) as u32;
        while epoch.reno_count > per_segment {
            epoch.reno_count -= per_segment;
            epoch.reno_window += 1;
        }
        if epoch.reno_window > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (epoch.reno_window - cwnd));
        }
    }

    /// Processes the round-trip time of one acknowledgement, which may end slow start.
    #[inline]
    fn observe_delay(&mut self, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let now = sample.now.as_nanos();
        // Samples right after a reduction still include the queue that caused it.
        if self.epoch.as_ref().is_some_and(|epoch| now.saturating_sub(epoch.start) < SECOND) {
            return;
        }
        let delay = rtt.as_nanos().max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
        if let Exit::Native(hystart) = &mut self.exit
            && !hystart.found
            && self.window.in_slow_start()
        {
            let seen = Observation {
                now,
                delay,
                delay_min: self.delay_min,
                una: sample.una,
                nxt: sample.nxt,
                window: self.window.bytes().get(),
                srtt: sample.srtt.as_nanos(),
            };
            if hystart.on_ack(&seen, self.window.cwnd >= self.low_window) {
                self.window.ssthresh = self.window.cwnd;
            }
        }
    }

    fn slow_start(&mut self, sample: &AckSample) -> u32 {
        match &mut self.exit {
            Exit::Native(_) => self.window.slow_start(sample.delivered),
            Exit::Common(slow_start) => slow_start.grow(&mut self.window, sample, sample.delivered),
        }
    }
}

const BETA: TypedParam<f64> = TypedParam::ratio("beta", 717.0 / 1024.0)
    .within(0.5, 0.95)
    .about("window after a loss, relative to before; rounded to 1/1024");
const C: TypedParam<f64> =
    TypedParam::number("c", 0.4).within(0.01, 10.0).about("steepness of the curve, in segments/s^3; rounded to 1/1024");
const FAST_CONVERGENCE: TypedParam<bool> =
    TypedParam::on("fast_convergence").about("aim lower when a window was lost below the last maximum");
const RENO_FRIENDLY: TypedParam<bool> = TypedParam::on("reno_friendly").about("never slower than Reno");
const HYSTART: TypedParam<bool> =
    TypedParam::on("hystart").about("hybrid slow start; off as in the CUBIC of 2008, then with beta 0.8");
const HYSTART_LOW_WINDOW: TypedParam<f64> = TypedParam::number("hystart_low_window", 16.0)
    .within(2.0, 1e6)
    .about("hybrid slow start acts from this window on, in segments");
const INITIAL_SSTHRESH: TypedParam<f64> = TypedParam::number("initial_ssthresh", 0.0)
    .within(0.0, 1e9)
    .about("slow start ends at this window, in segments; 0: no limit");
const MAX_INCREMENT: TypedParam<f64> = TypedParam::number("max_increment", 0.0)
    .within(0.0, 1e6)
    .about("most growth each 100 ms past the last maximum, in segments; 0: no bound; 16 up to Linux 2.6.22");

impl Control for Cubic {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "cubic",
            aliases: &[],
            title: "CUBIC",
            summary: "the window follows a cubic function of the time since the last reduction, as in Linux",
            params: &[
                BETA.param,
                C.param,
                FAST_CONVERGENCE.param,
                RENO_FRIENDLY.param,
                HYSTART.param,
                HYSTART_LOW_WINDOW.param,
                INITIAL_SSTHRESH.param,
                MAX_INCREMENT.param,
            ],
            source: "RFC 9438; Linux 6.12",
        },
        needs: Needs::PLAIN,
    };

    fn build(setup: &Setup<'_>) -> Self {
        let scaled = |param: &TypedParam<f64>| (param.read(setup.given) * f64::from(SCALE) + 0.5) as u32;
        let beta = scaled(&BETA);
        let mut window = SegmentWindow::new(setup.mss);
        let initial_ssthresh = INITIAL_SSTHRESH.read(setup.given) as u32;
        if initial_ssthresh > 0 {
            window.ssthresh = initial_ssthresh;
        }
        Self {
            window,
            params: Params {
                beta,
                c: scaled(&C),
                reno_scale: 8 * (SCALE + beta) / 3 / (SCALE - beta),
                fast_convergence: FAST_CONVERGENCE.read(setup.given),
                reno_friendly: RENO_FRIENDLY.read(setup.given),
                max_increment: MAX_INCREMENT.read(setup.given) as u32,
            },
            epoch: None,
            last_max: 0,
            delay_min: 0,
            per_segment: 2,
            last_window: 0,
            last_update: 0,
            exit: match setup.slow_start_exit {
                SlowStartExit::Native if HYSTART.read(setup.given) => Exit::Native(Hystart::default()),
                exit => Exit::Common(SlowStart::new(exit)),
            },
            low_window: HYSTART_LOW_WINDOW.read(setup.given) as u32,
        }
    }
}

impl CongestionControl for Cubic {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = event.initial_window;
        if let Exit::Native(hystart) = &mut self.exit {
            hystart.begin_round(event.now.as_nanos(), 0);
        }
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        // An idle sender does not climb the curve: the start of the epoch moves by the idle time.
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start.saturating_add(sent.silence.as_nanos()).min(sent.now.as_nanos());
        }
    }

    #[inline]
    fn on_ack(&mut self, sample: &AckSample) {
        self.observe_delay(sample);
        if sample.growth == Growth::Held {
            return;
        }
        let mut rest = sample.delivered;
        if self.window.in_slow_start() {
            rest = self.slow_start(sample);
            if rest == 0 {
                return;
            }
        }
        self.update(sample.now.as_nanos(), rest);
        self.window.increase(self.per_segment, rest);
    }

    fn on_loss(&mut self, _: &Congestion) {
        let target = self.reduced();
        self.remember_max();
        self.window.reduce(target);
        if let Exit::Common(slow_start) = &mut self.exit {
            slow_start.over();
        }
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        let target = self.reduced();
        self.window.collapse(timeout, target);
        self.epoch = None;
        self.last_max = 0;
        self.delay_min = 0;
        self.last_window = 0;
        self.last_update = 0;
        match &mut self.exit {
            Exit::Native(hystart) => {
                hystart.found = false;
                hystart.begin_round(timeout.now.as_nanos(), timeout.nxt);
            }
            Exit::Common(slow_start) => slow_start.over(),
        }
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
