//! BBR, version 3: as version 1, but it heeds losses, leaves headroom to others and probes for bandwidth only now and then.
//!
//! *Signal*: delivery rates and round-trip times of acknowledgements; the share of what was in flight that is lost.
//!
//! *Law*: `bandwidth` is the largest delivery rate of two probing cycles, `min_rtt` the smallest round-trip time of 10 s; pacing at `gain bandwidth` less 1 %,
//! window `gain bandwidth min_rtt` plus what acknowledgements in lumps need. Startup (gain 2.77) until the bandwidth stops growing for
//! three round trips, or more than 2 % of a round trip in six places is lost; Drain (0.5) until a bandwidth-delay product is in flight; then
//! in turn Down (0.9) until there is headroom, Cruise (1), Refill (1) for a round trip, Up (1.25) until a plateau or too much loss. A probe follows the last
//! after 2 to 3 s, or after as many round trips as Reno would need to grow by as much. More than 2 % lost while probing bounds what may be in flight in the
//! long term (to no less than 0.7 of the target); a round trip with losses outside of probing lowers bandwidth and volume in the short term to what was
//! delivered, by 0.7 at most. ProbeRTT (0.5) for 200 ms when the smallest round-trip time is 5 s old.
//!
//! *Parameters*: `loss_threshold` 2 %, `beta` 0.7, `headroom` 0.15, the gains above, `cwnd_gain` 2 and 2.25 while Up, 0.5 in ProbeRTT, `probe_rtt_time` 200 ms,
//! `probe_rtt_interval` 5 s, `min_rtt_window` 10 s, `pacing_margin` 1 %.
//!
//! *Departures* from the draft: segments instead of bytes; no response to ECN, of which the draft has none. The draft is still moving: its latest text
//! probes the round-trip time every 10 s, set `probe_rtt_interval` for that; the window during such a probe is fixed at its start, as there.
//!
//! *Limits*: with fewer than 50 segments in flight every loss while probing is more than 2 %; random loss below 2 % still costs its share in each round trip
//! between two probes.
//!
//! *Source*: draft-ietf-ccwg-bbr.

mod bounds;
mod drain;
mod path;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

use super::bbr::filter::WindowedMax;
use super::{AckSample, Congestion, CongestionControl, Control, ControlParam, ControlSpec, Detail, Established, Feedback};
use super::{LostSegment, Needs, Reduction, Setup, Start, State, Timeout};
use bounds::{Bounds, Undo};
use goodqueue_units::{Bytes, Duration, Instant, Rate, Rng};
use path::{Measured, Path};
use probe_bw::Probing;
use startup::{FullPipe, LostRanges};

/// Fewest segments in flight.
const SMALLEST: u32 = 4;
/// Round trips for which lumps of acknowledgements are remembered.
const LUMP_ROUNDS: u64 = 10;

/// BBR's state; windows and volumes in segments, bandwidths in segments a second.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    params: Params,
    mss: u32,
    rng: Rng,
    phase: Phase,
    path: Path,
    full: FullPipe,
    startup_losses: LostRanges,
    /// The sender was recovering when the present round trip began.
    was_recovering: bool,
    bounds: Bounds,
    probing: Probing,
    undo: Undo,
    /// The bandwidth in use: the path's, bounded.
    bandwidth: f64,
    extra_acked: WindowedMax,
    lump_began_at: Instant,
    lump: f64,
    delivered_in_all: u64,
    pacing_rate: Rate,
    has_seen_rtt: bool,
    initial_window: u32,
    cwnd: u32,
    prior_cwnd: u32,
    probe_rtt_window: u32,
    /// Where the sender stood after the last acknowledgement.
    standing: State,
    restarted: bool,
    held_back: bool,
}

#[derive(Clone, Debug)]
struct Params {
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    startup_gain: f64,
    drain_gain: f64,
    down_gain: f64,
    up_gain: f64,
    cwnd_gain: f64,
    up_cwnd_gain: f64,
    probe_rtt_cwnd_gain: f64,
    probe_rtt_time: Duration,
    probe_rtt_interval: Duration,
    min_rtt_window: Duration,
    pacing_margin: f64,
}

/// The phases.
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

impl Bbr3 {
    /// How many segments more than the bandwidth explains are acknowledged in one lump.
    fn take_lump(&mut self, sample: &AckSample) {
        let mut expected = self.bandwidth * sample.now.since(self.lump_began_at).as_secs_f64();
        if self.lump <= expected {
            self.lump = 0.0;
            self.lump_began_at = sample.now;
            expected = 0.0;
        }
        self.lump += f64::from(sample.delivered);
        let extra = (self.lump - expected).min(f64::from(self.cwnd));
        let window = if self.full.reached { LUMP_ROUNDS } else { 1 };
        self.extra_acked.insert(window, self.path.rounds, extra);
    }
}

impl Control for Bbr3 {
    const SPEC: ControlSpec = ControlSpec {
        kind: "bbr3",
        summary: "sends at the rate the path delivers, with bounds set by losses: BBR version 3",
        params: &[
            ControlParam {
                name: "loss_threshold",
                unit: "ratio",
                default: 0.02,
                range: (0.0, 1.0),
                doc: "share of what is in flight whose loss is too much",
            },
            ControlParam {
                name: "beta",
                unit: "ratio",
                default: 0.7,
                range: (0.1, 1.0),
                doc: "bounds do not fall below this share of themselves at once",
            },
            ControlParam {
                name: "headroom",
                unit: "ratio",
                default: 0.15,
                range: (0.0, 0.9),
                doc: "share of the long-term bound left to others while cruising",
            },
            ControlParam {
                name: "startup_gain",
                unit: "ratio",
                default: 2.77,
                range: (1.0, 4.0),
                doc: "pacing rate over bandwidth while the bandwidth still grows",
            },
            ControlParam {
                name: "drain_gain",
                unit: "ratio",
                default: 0.5,
                range: (0.1, 1.0),
                doc: "the same while the queue of startup drains",
            },
            ControlParam {
                name: "down_gain",
                unit: "ratio",
                default: 0.9,
                range: (0.1, 1.0),
                doc: "the same after a probe",
            },
            ControlParam { name: "up_gain", unit: "ratio", default: 1.25, range: (1.0, 4.0), doc: "the same during a probe" },
            ControlParam {
                name: "cwnd_gain",
                unit: "ratio",
                default: 2.0,
                range: (1.0, 10.0),
                doc: "window over bandwidth-delay product",
            },
            ControlParam {
                name: "up_cwnd_gain",
                unit: "ratio",
                default: 2.25,
                range: (1.0, 10.0),
                doc: "the same during a probe for bandwidth",
            },
            ControlParam {
                name: "probe_rtt_cwnd_gain",
                unit: "ratio",
                default: 0.5,
                range: (0.0, 1.0),
                doc: "the same during a probe for the round-trip time",
            },
            ControlParam {
                name: "probe_rtt_time",
                unit: "ms",
                default: 200.0,
                range: (1.0, 10_000.0),
                doc: "how long that window is kept",
            },
            ControlParam {
                name: "probe_rtt_interval",
                unit: "s",
                default: 5.0,
                range: (0.1, 3_600.0),
                doc: "age of the smallest round-trip time at which it is measured anew",
            },
            ControlParam {
                name: "min_rtt_window",
                unit: "s",
                default: 10.0,
                range: (0.1, 3_600.0),
                doc: "age at which the smallest round-trip time no longer counts",
            },
            ControlParam {
                name: "pacing_margin",
                unit: "ratio",
                default: 0.01,
                range: (0.0, 0.5),
                doc: "how far pacing stays below the bandwidth",
            },
        ],
        needs: Needs { feedback: Feedback::Detailed, reduction: Reduction::Own, start: Start::Own, send_buffer: 3, ..Needs::PLAIN },
        source: "draft-ietf-ccwg-bbr",
    };

    fn build(setup: &Setup<'_>) -> Self {
        let seconds = |name| Duration::from_secs_f64(setup.param(name));
        Self {
            params: Params {
                loss_threshold: setup.param("loss_threshold").min(0.999),
                beta: setup.param("beta"),
                headroom: setup.param("headroom"),
                startup_gain: setup.param("startup_gain"),
                drain_gain: setup.param("drain_gain"),
                down_gain: setup.param("down_gain"),
                up_gain: setup.param("up_gain"),
                cwnd_gain: setup.param("cwnd_gain"),
                up_cwnd_gain: setup.param("up_cwnd_gain"),
                probe_rtt_cwnd_gain: setup.param("probe_rtt_cwnd_gain"),
                probe_rtt_time: Duration::from_secs_f64(setup.param("probe_rtt_time") * 1e-3),
                probe_rtt_interval: seconds("probe_rtt_interval"),
                min_rtt_window: seconds("min_rtt_window"),
                pacing_margin: setup.param("pacing_margin"),
            },
            mss: setup.mss,
            rng: setup.rng.clone(),
            phase: Phase::Startup,
            path: Path::new(),
            full: FullPipe::default(),
            startup_losses: LostRanges::default(),
            was_recovering: false,
            bounds: Bounds::new(),
            probing: Probing::new(),
            undo: Undo::NOTHING,
            bandwidth: 0.0,
            extra_acked: WindowedMax::default(),
            lump_began_at: Instant::ZERO,
            lump: 0.0,
            delivered_in_all: 0,
            pacing_rate: Rate::ZERO,
            has_seen_rtt: false,
            initial_window: 1,
            cwnd: 1,
            prior_cwnd: 0,
            probe_rtt_window: SMALLEST,
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
        self.lump_began_at = event.now;
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
        self.take_lump(sample);
        self.full.take(&seen, self.path.round_began);
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
        self.lump_began_at = now;
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
}
