//! BBR, version 1, as in Linux: sends at the delivery rate of the path, with at most about twice
//! the bandwidth-delay product in flight.
//!
//! *Signal*: delivery rates and round-trip times of acknowledgements. Losses matter little, marks
//! not at all.
//!
//! *Law*: `bandwidth` is the largest delivery rate of the last 10 round trips, `min_rtt` the
//! smallest round-trip time of the last 10 s. The pacing rate is `gain bandwidth` less 1 %; the
//! window is `gain bandwidth min_rtt` plus an allowance for ACK aggregation plus three bursts, at
//! least 4 segments. Startup: gain 2/ln 2 until the bandwidth has grown by less than a quarter in
//! each of three round trips. Drain: the inverse gain until no more than the bandwidth-delay
//! product is in flight. ProbeBW: pacing gains 5/4, 3/4 and six times 1, for about one `min_rtt`
//! each; window gain 2. ProbeRTT: after 10 s without a smaller round-trip time, 4 segments in
//! flight for 200 ms and one round trip. The first round of a recovery sends only as much as is
//! delivered; at the end of the recovery the previous window returns. Two lossy intervals with the
//! same rate indicate a policer; its rate is then used for 48 round trips.
//!
//! *Parameters*: see `SPEC`; the defaults are those of Linux.
//!
//! *Deviations* from Linux 6.12: real numbers instead of fixed point; time in nanoseconds instead
//! of clock ticks. With segmentation offload, segments leave in the pieces that Linux forms: one
//! millisecond at the pacing rate, at least two segments from 1.2 Mbit/s on.
//!
//! *Limits*: a queue that marks instead of dropping does not slow it. Flows that start later share
//! unevenly until all probe their round-trip time together; queues shorter than a BDP lose many
//! packets.
//!
//! *Source*: Cardwell et al.: BBR: congestion-based congestion control (2016); Linux 6.12.

mod aggregation;
mod drain;
mod path;
mod policer;
mod probe_bw;
mod probe_rtt;

use super::full_pipe::FullPipe;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Detail, Established, Feedback, Needs};
use super::{LostSegment, MarkResponse, ModelPhase, PathModel, RateSample, Reduction, Response, Setup, Start, State, Timeout};
use aggregation::Aggregation;
use goodqueue_base::settings;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};
use path::Path;
use policer::{Counted, Finding, Limits, Policer};

/// Fewest segments in flight, except at the lowest rates.
const MIN: u32 = 4;
/// Window before the first measurement (RFC 6928).
const UNKNOWN: u32 = 10;
/// Largest burst in segments and in bytes.
const MAX_BURST: u32 = 127;
const MAX_BURST_BYTES: u64 = 65_215;
/// Rate from which bursts have at least two segments.
const BURSTS_FROM_BIT_S: u64 = 1_200_000;
/// Round-trip time assumed before the first sample.
const NOMINAL_RTT: Duration = Duration::ms(1);

/// State of BBR. Windows are in segments, bandwidths in segments per second.
#[derive(Clone, Debug)]
pub struct Bbr {
    params: Params,
    mss: u32,
    rng: Rng,
    mode: Mode,
    path: Path,
    full: FullPipe,
    aggregation: Aggregation,
    policer: Policer,
    counted: Counted,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: Rate,
    /// Whether the rate was set from a measured round-trip time.
    has_seen_rtt: bool,
    cwnd: u32,
    /// Window before a recovery or probe.
    prior_cwnd: u32,
    ssthresh: Option<u32>,
    /// Congestion state after the last acknowledgement.
    state: State,
    /// Whether this is the first round of a recovery, which sends only as much as is delivered.
    conserving: bool,
    /// Whether nothing has been delivered since sending resumed.
    restarted: bool,
    held_back: bool,
}

settings! {
    #[derive(Clone, Debug)]
    struct Params {
        startup_gain: f64 => STARTUP_GAIN,
        drain_gain: f64 => DRAIN_GAIN,
        cwnd_gain: f64 => CWND_GAIN,
        probe_rtt_time: Duration => PROBE_RTT_TIME,
        pacing_margin: f64 => PACING_MARGIN,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw(probe_bw::Phase),
    ProbeRtt(probe_rtt::Probe),
}

impl Bbr {
    /// The bandwidth in use.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.path.max_bandwidth())
    }

    /// Product of bandwidth, smallest round-trip time and gain, rounded up.
    fn bdp(&self, bandwidth: f64, gain: f64) -> u32 {
        let Some(min_rtt) = self.path.min_rtt else { return UNKNOWN };
        libm::ceil(bandwidth * min_rtt.as_secs_f64() * gain) as u32
    }

    /// Segments of a burst: one millisecond at the pacing rate, at least two unless the rate is
    /// very low.
    fn burst(&self) -> u32 {
        let bytes = (self.pacing_rate.as_bit_s() / 8 / 1024).min(MAX_BURST_BYTES);
        let least = if self.pacing_rate.as_bit_s() < BURSTS_FROM_BIT_S { 1 } else { 2 };
        ((bytes / u64::from(self.mss)) as u32).clamp(least, MAX_BURST)
    }

    /// Adds room for bursts in transit through both hosts, rounded up to an even number, and two
    /// more segments while probing.
    fn quantized(&self, segments: u32) -> u32 {
        // An unrealistic bandwidth may use all 32 bits.
        let even = segments.saturating_add(3 * self.burst() + 1) & !1;
        let probing = matches!(self.mode, Mode::ProbeBw(phase) if phase.index == 0);
        even.saturating_add(if probing { 2 } else { 0 })
    }

    fn in_flight_at(&self, bandwidth: f64, gain: f64) -> u32 {
        self.quantized(self.bdp(bandwidth, gain))
    }

    /// Segments in the network when the next one may leave: those in flight less those delivered
    /// until then.
    fn in_network(&self, now: Instant, detail: &Detail, in_flight: u32) -> u32 {
        let delivered = (self.bandwidth() * detail.next_release.since(now).as_secs_f64()) as u32;
        let next = if self.pacing_gain > 1.0 { self.burst() } else { 0 };
        (in_flight + next).saturating_sub(delivered)
    }

    fn rate_of(&self, bandwidth: f64, gain: f64) -> Rate {
        let bits = bandwidth * gain * (1.0 - self.params.pacing_margin) * f64::from(self.mss) * 8.0;
        Rate::bit_s(bits as u64)
    }

    /// Derives the pacing rate from the window, assuming a round-trip time of one millisecond
    /// before the first sample.
    fn rate_from_window(&mut self, srtt: Duration) {
        let rtt = if srtt.is_zero() { NOMINAL_RTT } else { srtt };
        self.has_seen_rtt = !srtt.is_zero();
        self.pacing_rate = self.rate_of(f64::from(self.cwnd) / rtt.as_secs_f64(), self.params.startup_gain);
    }

    fn set_pacing_rate(&mut self, srtt: Duration, gain: f64) {
        if !self.has_seen_rtt && !srtt.is_zero() {
            self.rate_from_window(srtt);
        }
        let rate = self.rate_of(self.bandwidth(), gain);
        if self.full.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn save_window(&mut self) {
        let undisturbed = self.state < State::Recovery && !matches!(self.mode, Mode::ProbeRtt(_));
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn take_rate(&mut self, rate: &RateSample, sample: &AckSample, detail: &Detail) {
        let Some(interval) = rate.interval else { return };
        if self.path.count_round(rate, detail.delivered_in_all) {
            self.conserving = false;
        }
        self.look_for_policer(detail.lost, rate.app_limited);
        self.path.take_bandwidth(rate, interval);
        if sample.delivered > 0 {
            self.aggregation.take(&self.path, self.bandwidth(), sample.delivered, self.cwnd);
        }
    }

    fn look_for_policer(&mut self, newly_lost: u32, app_limited: bool) {
        let limits = Limits { cycling: matches!(self.mode, Mode::ProbeBw(_)), app_limited, mss: self.mss };
        match self.policer.take(&self.path, self.counted, newly_lost, limits) {
            Finding::Nothing => {}
            Finding::Found => self.pacing_gain = 1.0,
            Finding::Over => self.begin_cycle(),
        }
    }

    fn choose_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (self.params.startup_gain, self.params.startup_gain),
            Mode::Drain => (self.params.drain_gain, self.params.startup_gain),
            Mode::ProbeBw(_) if self.policer.rate().is_some() => (1.0, self.params.cwnd_gain),
            Mode::ProbeBw(phase) => (probe_bw::GAINS[phase.index], self.params.cwnd_gain),
            Mode::ProbeRtt(_) => (1.0, 1.0),
        };
    }

    /// Adjusts the window when a recovery starts or ends. Returns whether sending is limited to
    /// what is delivered.
    fn recover(&mut self, sample: &AckSample, lost: u32) -> bool {
        let in_flight = sample.in_flight + sample.delivered;
        self.cwnd = self.cwnd.saturating_sub(lost).max(1);
        if sample.state == State::Recovery && self.state != State::Recovery {
            self.conserving = true;
            self.cwnd = in_flight;
        } else if self.state >= State::Recovery && sample.state < State::Recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        self.state = sample.state;
        if self.conserving {
            self.cwnd = self.cwnd.max(in_flight);
        }
        self.conserving
    }

    fn set_window(&mut self, sample: &AckSample, detail: &Detail) {
        if sample.delivered > 0 {
            let enters = sample.state == State::Recovery && self.state != State::Recovery;
            if enters {
                self.path.begin_round(detail.delivered_in_all);
            }
            if !self.recover(sample, detail.lost) {
                self.approach(sample.delivered, detail.delivered_in_all);
            }
        }
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            self.cwnd = self.cwnd.min(MIN);
        }
    }

    /// Grows toward the target by the delivered segments; shrinks to it only once the pipe is
    /// known to be full.
    fn approach(&mut self, delivered: u32, delivered_in_all: u64) {
        let bandwidth = self.bandwidth();
        let extra = if self.full.reached { self.aggregation.allowance(bandwidth) } else { 0 };
        let target = self.quantized(self.bdp(bandwidth, self.cwnd_gain).saturating_add(extra));
        if self.full.reached {
            self.cwnd = self.cwnd.saturating_add(delivered).min(target);
        } else if self.cwnd < target || delivered_in_all < u64::from(UNKNOWN) {
            self.cwnd = self.cwnd.saturating_add(delivered);
        }
        self.cwnd = self.cwnd.max(MIN);
    }
}

const STARTUP_GAIN: TypedParam<f64> = TypedParam::ratio("startup_gain", 739.0 / 256.0)
    .within(1.0, 4.0)
    .about("pacing rate over bandwidth while the bandwidth still grows");
const DRAIN_GAIN: TypedParam<f64> =
    TypedParam::ratio("drain_gain", 88.0 / 256.0).within(0.1, 1.0).about("the same while the queue of startup drains");
const CWND_GAIN: TypedParam<f64> =
    TypedParam::ratio("cwnd_gain", 2.0).within(1.0, 10.0).about("window over bandwidth-delay product in steady state");
const BANDWIDTH_WINDOW: TypedParam<f64> = TypedParam::number("bandwidth_window", 10.0)
    .within(1.0, 1_000.0)
    .about("round trips whose largest delivery rate is the bandwidth");
const MIN_RTT_WINDOW: TypedParam<Duration> = TypedParam::duration("min_rtt_window", Duration::secs(10))
    .within(0.1, 3600.0)
    .about("age at which the smallest round-trip time is measured again");
const PROBE_RTT_TIME: TypedParam<Duration> = TypedParam::duration("probe_rtt_time", Duration::ms(200))
    .within(0.001, 10.0)
    .about("how long four segments are in flight to measure it");
const PACING_MARGIN: TypedParam<f64> =
    TypedParam::ratio("pacing_margin", 0.01).within(0.0, 0.5).about("how far pacing stays below the bandwidth");
const POLICER_DETECTION: TypedParam<bool> =
    TypedParam::on("policer_detection").about("use the rate of a policer when losses show one");

/// Demands of both versions on the sender.
pub(super) const NEEDS: Needs = Needs {
    feedback: Feedback::Detailed,
    reduction: Reduction::Own,
    marks: MarkResponse::Ignores,
    models_path: true,
    start: Start::Own,
    send_buffer: 3,
    ..Needs::PLAIN
};

impl Control for Bbr {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "bbr",
            aliases: &[],
            title: "BBR",
            summary: "sends at the rate the path delivers, as BBR version 1 in Linux",
            params: &[
                STARTUP_GAIN.param,
                DRAIN_GAIN.param,
                CWND_GAIN.param,
                BANDWIDTH_WINDOW.param,
                MIN_RTT_WINDOW.param,
                PROBE_RTT_TIME.param,
                PACING_MARGIN.param,
                POLICER_DETECTION.param,
            ],
            source: "Cardwell et al. 2016; Linux 6.12",
        },
        needs: NEEDS,
    };

    fn build(setup: &Setup<'_>) -> Self {
        let params = Params::read(setup.given);
        Self {
            mss: setup.mss,
            rng: setup.rng.clone(),
            mode: Mode::Startup,
            path: Path::new(BANDWIDTH_WINDOW.read(setup.given) as u64, MIN_RTT_WINDOW.read(setup.given)),
            full: FullPipe::default(),
            aggregation: Aggregation::default(),
            policer: Policer::new(POLICER_DETECTION.read(setup.given)),
            counted: Counted { delivered: 0, lost: 0 },
            pacing_gain: params.startup_gain,
            cwnd_gain: params.startup_gain,
            params,
            pacing_rate: Rate::ZERO,
            has_seen_rtt: false,
            cwnd: 1,
            prior_cwnd: 0,
            ssthresh: None,
            state: State::Open,
            conserving: false,
            restarted: false,
            held_back: false,
        }
    }
}

impl CongestionControl for Bbr {
    fn on_established(&mut self, event: &Established) {
        self.cwnd = event.initial_window;
        self.path.min_rtt = (!event.srtt.is_zero()).then_some(event.srtt);
        self.path.min_rtt_at = event.now;
        self.path.delivered_at = event.now;
        self.aggregation.restart(event.now);
        self.rate_from_window(event.srtt);
    }

    fn on_ack(&mut self, _: &AckSample) {}

    fn on_detailed_ack(&mut self, sample: &AckSample, detail: &Detail) {
        if sample.delivered > 0 {
            self.path.delivered_at = sample.now;
        }
        self.counted.delivered = detail.delivered_in_all;
        self.path.round_began = false;
        if let Some(rate) = &detail.rate {
            self.take_rate(rate, sample, detail);
        }
        self.advance_cycle(sample.now, detail);
        let app_limited = detail.rate.is_some_and(|rate| rate.app_limited);
        if self.path.round_began && !app_limited && !self.full.reached {
            self.full.take(self.path.max_bandwidth());
        }
        self.check_drain(sample, detail);
        let expired = self.path.take_rtt(sample, detail);
        self.probe_rtt(sample, detail, expired);
        if detail.rate.is_some_and(|rate| rate.delivered > 0) {
            self.restarted = false;
        }
        self.choose_gains();
        self.set_pacing_rate(sample.srtt, self.pacing_gain);
        self.set_window(sample, detail);
    }

    fn on_segment_lost(&mut self, _: &LostSegment) {
        self.counted.lost += 1;
    }

    fn on_restart(&mut self, now: Instant) {
        self.restarted = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw(_) => self.set_pacing_rate(Duration::ZERO, 1.0),
            Mode::ProbeRtt(_) => self.end_probe(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.save_window();
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        if timeout.response == Response::Reduce {
            self.save_window();
        }
        self.cwnd = timeout.in_flight + 1;
        self.state = State::Loss;
        // The bandwidth may have changed.
        self.full.bandwidth = 0.0;
        // A timeout ends a round and counts as a loss.
        self.path.round_began = true;
        self.look_for_policer(1, false);
    }

    fn on_undo(&mut self, _: Instant) {
        self.full.restart(0.0);
        self.policer.reset(&self.path, self.counted);
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(u64::from(self.cwnd) * u64::from(self.mss))
    }

    fn ssthresh(&self) -> Bytes {
        self.ssthresh.map_or(Bytes::MAX, |segments| Bytes::new(u64::from(segments) * u64::from(self.mss)))
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    fn pacing_burst(&self) -> u32 {
        self.burst()
    }

    fn holds_back(&self) -> bool {
        self.held_back
    }

    fn set_rng(&mut self, rng: Rng) {
        self.rng = rng;
    }

    fn path_model(&self) -> Option<PathModel> {
        let bandwidth = self.bandwidth();
        Some(PathModel {
            phase: match self.mode {
                Mode::Startup => ModelPhase::Startup,
                Mode::Drain => ModelPhase::Drain,
                Mode::ProbeBw(_) if self.pacing_gain > 1.0 => ModelPhase::Up,
                Mode::ProbeBw(_) if self.pacing_gain < 1.0 => ModelPhase::Down,
                Mode::ProbeBw(_) => ModelPhase::Cruise,
                Mode::ProbeRtt(_) => ModelPhase::ProbeRtt,
            },
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            max_bandwidth: self.path.max_bandwidth(),
            bandwidth_short: self.policer.rate(),
            min_rtt: self.path.min_rtt,
            wanted: f64::from(self.in_flight_at(bandwidth, 1.0)),
            inflight_short: None,
            inflight_long: None,
            with_headroom: None,
            extra_acked: f64::from(self.aggregation.allowance(bandwidth)),
            rounds: self.path.rounds,
            plateau_rounds: self.full.rounds,
            has_been_full: self.full.reached,
        })
    }
}
