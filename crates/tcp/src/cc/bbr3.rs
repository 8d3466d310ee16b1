//! BBR, version 3: like version 1, but it responds to losses, leaves headroom to others and probes
//! for bandwidth only occasionally.
//!
//! *Signal*: delivery rates and round-trip times of acknowledgements; the lost share of the packets
//! in flight.
//!
//! *Law*: `bandwidth` is the largest delivery rate of two probing cycles, `min_rtt` the smallest
//! round-trip time of 10 s; the pacing rate is `gain bandwidth` less 1 %, the window
//! `gain bandwidth min_rtt` plus an allowance for ACK aggregation. Startup (gain 2.77) lasts until
//! the bandwidth stops growing for three round trips, or until more than 2 % of a round trip is
//! lost in six places; Drain (0.5) until a bandwidth-delay product is in flight. Then the phases
//! repeat: Down (0.9) until there is headroom, Cruise (1), Refill (1) for a round trip, Up (1.25)
//! until a plateau or too much loss. The next probe starts after 2 to 3 s, or after as many round
//! trips as Reno would need for the same growth. A loss of more than 2 % while probing sets the
//! long-term bound on packets in flight (to no less than 0.7 of the target). A round trip with
//! losses outside of probing lowers the short-term bounds on bandwidth and volume to what was
//! delivered, by a factor of at least 0.7. ProbeRTT (0.5) lasts 200 ms and starts when the smallest
//! round-trip time is 5 s old.
//!
//! *Parameters*: see `SPEC`; the defaults are those of the draft.
//!
//! *Deviations* from the draft: segments instead of bytes; no response to ECN, as in the draft. The
//! draft is still changing: its latest text probes the round-trip time every 10 s (set
//! `probe_rtt_interval` for that). The window during such a probe is fixed at its start, as there.
//!
//! *Limits*: a queue that marks instead of dropping does not slow it, so that it takes the share of
//! flows that respond. With fewer than 50 segments in flight every loss while probing exceeds 2 %.
//! Random loss below 2 % still reduces the rate in each round trip between two probes.
//!
//! *Source*: draft-ietf-ccwg-bbr.

mod bounds;
mod drain;
mod losses;
mod lost_ranges;
mod path;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

use super::full_pipe::FullPipe;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Detail, Established};
use super::{LostSegment, ModelPhase, PathModel, Setup, State, Timeout};
use crate::windowed::{Windowed, largest};
use bounds::Bounds;
use goodqueue_base::settings;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};
use lost_ranges::LostRanges;
use path::{Measured, Path};
use probe_bw::Probing;

/// Fewest segments in flight.
const MIN: u32 = 4;
/// Round trips for which ACK aggregation is remembered.
const AGGREGATION_ROUNDS: u64 = 10;

/// State of BBR. Windows and volumes are in segments, bandwidths in segments per second.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    params: Params,
    mss: u32,
    rng: Rng,
    phase: Phase,
    path: Path,
    full: FullPipe,
    startup_losses: LostRanges,
    /// Whether the sender was in recovery when the present round trip began.
    was_recovering: bool,
    bounds: Bounds,
    probing: Probing,
    undo: Undo,
    /// Bandwidth in use: that of the path, bounded.
    bandwidth: f64,
    extra_acked: Windowed<f64>,
    aggregation_began_at: Instant,
    aggregated: f64,
    delivered_in_all: u64,
    pacing_rate: Rate,
    has_seen_rtt: bool,
    initial_window: u32,
    cwnd: u32,
    prior_cwnd: u32,
    probe_rtt_window: u32,
    /// State of the sender after the last acknowledgement.
    standing: State,
    restarted: bool,
    held_back: bool,
}

settings! {
    #[derive(Clone, Debug)]
    struct Params {
        loss_threshold: f64 => LOSS_THRESHOLD,
        beta: f64 => BETA,
        headroom: f64 => HEADROOM,
        startup_gain: f64 => STARTUP_GAIN,
        drain_gain: f64 => DRAIN_GAIN,
        down_gain: f64 => DOWN_GAIN,
        up_gain: f64 => UP_GAIN,
        cwnd_gain: f64 => CWND_GAIN,
        up_cwnd_gain: f64 => UP_CWND_GAIN,
        probe_rtt_cwnd_gain: f64 => PROBE_RTT_CWND_GAIN,
        probe_rtt_time: Duration => PROBE_RTT_TIME,
        probe_rtt_interval: Duration => PROBE_RTT_INTERVAL,
        min_rtt_window: Duration => MIN_RTT_WINDOW,
        pacing_margin: f64 => PACING_MARGIN,
    }
}

/// The phases of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(probe_rtt::Probe),
}

/// State to restore after a spurious recovery.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// The phase that the losses ended.
    left: Option<Phase>,
    bw_short: f64,
    inflight_short: f64,
    inflight_long: f64,
}

impl Bbr3 {
    /// Measures ACK aggregation: segments acknowledged beyond what the bandwidth explains.
    fn measure_aggregation(&mut self, sample: &AckSample) {
        let mut expected = self.bandwidth * sample.now.since(self.aggregation_began_at).as_secs_f64();
        if self.aggregated <= expected {
            self.aggregated = 0.0;
            self.aggregation_began_at = sample.now;
            expected = 0.0;
        }
        self.aggregated += f64::from(sample.delivered);
        let extra = (self.aggregated - expected).min(f64::from(self.cwnd));
        let window = if self.full.reached { AGGREGATION_ROUNDS } else { 1 };
        self.extra_acked.insert(window, self.path.rounds, extra, largest);
    }
}

const LOSS_THRESHOLD: TypedParam<f64> =
    TypedParam::ratio("loss_threshold", 0.02).within(0.0, 1.0).about("share of what is in flight whose loss is too much");
const BETA: TypedParam<f64> =
    TypedParam::ratio("beta", 0.7).within(0.1, 1.0).about("bounds do not fall below this share of themselves at once");
const HEADROOM: TypedParam<f64> =
    TypedParam::ratio("headroom", 0.15).within(0.0, 0.9).about("share of the long-term bound left to others while cruising");
const STARTUP_GAIN: TypedParam<f64> =
    TypedParam::ratio("startup_gain", 2.77).within(1.0, 4.0).about("pacing rate over bandwidth while the bandwidth still grows");
const DRAIN_GAIN: TypedParam<f64> =
    TypedParam::ratio("drain_gain", 0.5).within(0.1, 1.0).about("the same while the queue of startup drains");
const DOWN_GAIN: TypedParam<f64> = TypedParam::ratio("down_gain", 0.9).within(0.1, 1.0).about("the same after a probe");
const UP_GAIN: TypedParam<f64> = TypedParam::ratio("up_gain", 1.25).within(1.0, 4.0).about("the same during a probe");
const CWND_GAIN: TypedParam<f64> =
    TypedParam::ratio("cwnd_gain", 2.0).within(1.0, 10.0).about("window over bandwidth-delay product");
const UP_CWND_GAIN: TypedParam<f64> =
    TypedParam::ratio("up_cwnd_gain", 2.25).within(1.0, 10.0).about("the same during a probe for bandwidth");
const PROBE_RTT_CWND_GAIN: TypedParam<f64> =
    TypedParam::ratio("probe_rtt_cwnd_gain", 0.5).within(0.0, 1.0).about("the same during a probe for the round-trip time");
const PROBE_RTT_TIME: TypedParam<Duration> =
    TypedParam::duration("probe_rtt_time", Duration::ms(200)).within(0.001, 10.0).about("how long that window is kept");
const PROBE_RTT_INTERVAL: TypedParam<Duration> = TypedParam::duration("probe_rtt_interval", Duration::secs(5))
    .within(0.1, 3600.0)
    .about("age of the smallest round-trip time at which it is measured again");
const MIN_RTT_WINDOW: TypedParam<Duration> = TypedParam::duration("min_rtt_window", Duration::secs(10))
    .within(0.1, 3600.0)
    .about("age at which the smallest round-trip time no longer counts");
const PACING_MARGIN: TypedParam<f64> =
    TypedParam::ratio("pacing_margin", 0.01).within(0.0, 0.5).about("how far pacing stays below the bandwidth");

impl Control for Bbr3 {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "bbr3",
            aliases: &[],
            title: "BBRv3",
            summary: "sends at the rate the path delivers, with bounds set by losses: BBR version 3",
            params: &[
                LOSS_THRESHOLD.param,
                BETA.param,
                HEADROOM.param,
                STARTUP_GAIN.param,
                DRAIN_GAIN.param,
                DOWN_GAIN.param,
                UP_GAIN.param,
                CWND_GAIN.param,
                UP_CWND_GAIN.param,
                PROBE_RTT_CWND_GAIN.param,
                PROBE_RTT_TIME.param,
                PROBE_RTT_INTERVAL.param,
                MIN_RTT_WINDOW.param,
                PACING_MARGIN.param,
            ],
            source: "draft-ietf-ccwg-bbr",
        },
        needs: super::bbr::NEEDS,
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            params: Params { loss_threshold: LOSS_THRESHOLD.read(setup.given).min(0.999), ..Params::read(setup.given) },
            mss: setup.mss,
            rng: setup.rng.clone(),
            phase: Phase::Startup,
            path: Path::default(),
            full: FullPipe::default(),
            startup_losses: LostRanges::default(),
            was_recovering: false,
            bounds: Bounds::new(),
            probing: Probing::new(),
            undo: Undo::default(),
            bandwidth: 0.0,
            extra_acked: Windowed::default(),
            aggregation_began_at: Instant::ZERO,
            aggregated: 0.0,
            delivered_in_all: 0,
            pacing_rate: Rate::ZERO,
            has_seen_rtt: false,
            initial_window: 1,
            cwnd: 1,
            prior_cwnd: 0,
            probe_rtt_window: MIN,
            standing: State::Open,
            restarted: false,
            held_back: false,
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, event: &Established) {
        self.initial_window = event.initial_window;
        self.cwnd = event.initial_window;
        self.path.begin(event.now, event.srtt);
        self.aggregation_began_at = event.now;
        self.init_pacing(event.srtt);
    }

    fn on_ack(&mut self, _: &AckSample) {}

    fn on_detailed_ack(&mut self, sample: &AckSample, detail: &Detail) {
        self.delivered_in_all = detail.delivered_in_all;
        if self.standing >= State::Recovery && sample.state < State::Recovery {
            self.restore_window();
        }
        self.standing = sample.state;
        if sample.delivered == 0 {
            return;
        }
        let seen = Measured::of(detail);
        self.bounds.take_latest(&seen, self.delivered_in_all);
        if self.path.count_round(&seen, self.delivered_in_all) {
            self.probing.rounds_since_up += 1;
        }
        self.path.take_bandwidth(&seen);
        self.adapt_to_congestion();
        self.measure_aggregation(sample);
        if self.path.round_began && !seen.app_limited {
            self.full.take(seen.bandwidth);
        }
        self.check_startup(&seen, sample.state);
        self.check_drain(sample.now, sample.in_flight);
        self.update_cycle(&seen, sample);
        self.probe_rtt(sample, seen.volume > 0.0);
        self.bounds.advance_latest(&seen);
        self.bandwidth = self.path.max_bandwidth().min(self.bounds.bw_short);
        self.set_pacing_rate(sample.srtt, None);
        self.set_window(sample);
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.note_loss(lost);
    }

    fn on_restart(&mut self, now: Instant) {
        self.restarted = true;
        self.aggregation_began_at = now;
        if self.is_in_probe_bw() {
            self.set_pacing_rate(Duration::ZERO, Some(1.0));
        } else {
            self.end_probe(now);
        }
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.save_state();
    }

    fn on_ecn(&mut self, _: &Congestion) {}

    fn on_rto(&mut self, timeout: &Timeout) {
        self.save_state();
        self.standing = State::Loss;
        self.cwnd = timeout.in_flight + 1;
    }

    fn on_undo(&mut self, _: Instant) {
        self.take_back();
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(u64::from(self.cwnd) * u64::from(self.mss))
    }

    fn ssthresh(&self) -> Bytes {
        Bytes::MAX
    }

    fn in_slow_start(&self) -> bool {
        self.phase == Phase::Startup
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    fn holds_back(&self) -> bool {
        self.held_back
    }

    fn set_rng(&mut self, rng: Rng) {
        self.rng = rng;
    }

    fn path_model(&self) -> Option<PathModel> {
        let bound = |bound: f64| bound.is_finite().then_some(bound);
        let (pacing_gain, cwnd_gain) = self.gains();
        Some(PathModel {
            phase: match self.phase {
                Phase::Startup => ModelPhase::Startup,
                Phase::Drain { .. } => ModelPhase::Drain,
                Phase::Down => ModelPhase::Down,
                Phase::Cruise => ModelPhase::Cruise,
                Phase::Refill => ModelPhase::Refill,
                Phase::Up => ModelPhase::Up,
                Phase::ProbeRtt(_) => ModelPhase::ProbeRtt,
            },
            pacing_gain,
            cwnd_gain,
            max_bandwidth: self.path.max_bandwidth(),
            bandwidth_short: bound(self.bounds.bw_short),
            min_rtt: self.path.min_rtt,
            wanted: self.in_flight_at(1.0),
            inflight_short: bound(self.bounds.inflight_short),
            inflight_long: bound(self.bounds.inflight_long),
            with_headroom: bound(self.with_headroom()),
            extra_acked: self.extra_acked.get(),
            rounds: self.path.rounds,
            plateau_rounds: self.full.rounds,
            has_been_full: self.full.reached,
        })
    }
}
