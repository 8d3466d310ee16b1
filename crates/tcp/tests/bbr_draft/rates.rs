//! Cases about paths whose acknowledgements come together, that are very slow, or whose rate
//! changes.

use super::path::Flow;
use super::{Bench, Stop, Version, check, is_probe_bw, near, reach, settle};
use goodqueue_base::units::{Duration, Rate};
use goodqueue_tcp::ModelPhase;

const LONG: Duration = Duration::secs(20);
/// Acknowledgements that come together on the paths with aggregation.
const TOGETHER: Duration = Duration::ms(25);

/// Segments delivered per second of PROBE_CRUISE, as a share of the capacity.
fn cruising_share(flow: &mut Flow, span: Duration) -> f64 {
    let mut last = flow.seen();
    let (mut delivered, mut seconds) = (0.0, 0.0);
    flow.run(span, |_, seen| {
        if let Some(last) = last
            && last.model.phase == ModelPhase::Cruise
        {
            delivered += (seen.delivered - last.delivered) as f64;
            seconds += seen.at.since(last.at).as_secs_f64();
        }
        last = Some(*seen);
    });
    delivered / f64::max(seconds, 1e-9) / flow.capacity()
}

pub(super) fn startup_aggregation(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.acks_together = Some(TOGETHER);
    let (mut most_extra, mut most_window) = (0.0f64, 0.0f64);
    let end = flow.until(LONG, |seen| {
        if seen.model.phase == ModelPhase::Startup {
            most_extra = most_extra.max(seen.model.extra_acked);
            most_window = most_window.max(seen.cwnd);
        }
        seen.model.phase == ModelPhase::Drain
    });
    let end = end.ok_or_else(|| Stop::Failed(format!("STARTUP does not end within {LONG}")))?;
    if bench.version() == Version::Three {
        check(most_extra > 0.0, || "no aggregation is measured".into())?;
    }
    let bdp = flow.bdp();
    check(most_window > 2.0 * bdp, || format!("the window reaches {most_window:.0} segments, not more than twice {bdp:.0}"))?;
    // A sample may begin and end with a batch, so it can be too large.
    check(end.model.max_bandwidth >= 0.98 * flow.capacity(), || {
        format!("{:.1} segments per second are found of {:.1}", end.model.max_bandwidth, flow.capacity())
    })
}

pub(super) fn cruise_aggregation(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    reach(&mut flow, ModelPhase::Cruise, LONG)?;
    flow.acks_together = Some(TOGETHER);
    let (mut most_extra, mut most_window) = (0.0f64, 0.0f64);
    flow.run(Duration::secs(2), |_, seen| {
        most_extra = most_extra.max(seen.model.extra_acked);
        if seen.model.phase == ModelPhase::Cruise {
            most_window = most_window.max(seen.cwnd);
        }
    });
    // The segments that the link carries between two batches.
    let batch = flow.capacity() * TOGETHER.as_secs_f64();
    check(most_extra >= 0.5 * batch, || {
        format!("the aggregation is taken for {most_extra:.1} segments, less than half of {batch:.0}")
    })?;
    let bdp = flow.bdp();
    check(most_window >= 2.0 * bdp + 0.5 * batch, || {
        format!("the window reaches {most_window:.0} segments, less than twice {bdp:.0} and what is aggregated")
    })?;
    let share = cruising_share(&mut flow, Duration::secs(10));
    check(share >= 0.95, || format!("{:.1} % of the link are used, less than 95 %", share * 100.0))
}

/// 64 kbit/s and 2 ms of propagation: a tenth of a segment.
pub(super) fn sub_packet(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.rate = Rate::bit_s(64_000);
    flow.delay = Duration::ms(1);
    let found = flow.until(Duration::secs(300), |seen| is_probe_bw(seen.model.phase));
    check(found.is_some(), || "PROBE_BW is not reached within 300 s".into())?;
    let (mut least, mut rate, mut samples) = (f64::INFINITY, 0.0, 0.0);
    let before = flow.seen().map_or(0, |seen| seen.delivered);
    flow.run(Duration::secs(60), |_, seen| {
        least = least.min(seen.cwnd);
        if seen.model.phase == ModelPhase::Cruise {
            rate += seen.pacing;
            samples += 1.0;
        }
    });
    check(least >= 4.0, || format!("the window falls to {least:.0} segments, below 4"))?;
    near("the pacing rate while cruising in segments per second", rate / f64::max(samples, 1.0), flow.capacity(), 0.05)?;
    let after = flow.seen().map_or(before, |seen| seen.delivered);
    let share = (after - before) as f64 / 60.0 / flow.capacity();
    check(share >= 0.95, || format!("{:.1} % of the link are used, less than 95 %", share * 100.0))
}

/// The buffer is short at first, so that version 3 has a long-term bound that has to grow.
pub(super) fn tenfold(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.buffer = 10;
    settle(&mut flow)?;
    flow.run(Duration::secs(4), |_, _| {});
    let start = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    if bench.version() == Version::Three {
        check(start.model.inflight_long.is_some(), || "a buffer of 10 segments sets no long-term bound".into())?;
    }
    flow.rate = Rate::mbit(100);
    flow.buffer = 10_000;
    let mut at_round: Vec<(u64, f64)> = Vec::new();
    let full = 0.95 * flow.capacity();
    let reached = flow.until(Duration::secs(60), |seen| {
        if let (ModelPhase::Up, Some(bound)) = (seen.model.phase, seen.model.inflight_long) {
            match at_round.last_mut() {
                Some((round, last)) if *round == seen.model.rounds => *last = bound,
                _ => at_round.push((seen.model.rounds, bound)),
            }
        }
        seen.model.max_bandwidth >= full
    });
    let reached = reached.ok_or_else(|| Stop::Failed("95 % of 100 Mbit/s are not found within 60 s".into()))?;
    if bench.version() == Version::Three {
        let steps: Vec<f64> =
            at_round.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1).map(|pair| pair[1].1 - pair[0].1).collect();
        let doubled = steps.windows(2).filter(|pair| pair[0] >= 1.0 && (1.5..=3.0).contains(&(pair[1] / pair[0]))).count();
        check(doubled >= 2, || {
            format!("the long-term bound grows by {steps:.0?} in successive round trips, which does not double")
        })?;
    }
    // A probe for bandwidth comes at the latest after 63 round trips or 3 s.
    let rounds = reached.model.rounds - start.model.rounds;
    let most = 63.0 + 4.0 * flow.bdp().log2();
    check((rounds as f64) <= most, || format!("it takes {rounds} round trips, more than {most:.0}"))
}

/// The buffer holds the bandwidth-delay product of the faster path.
pub(super) fn tenth(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.rate = Rate::mbit(100);
    flow.buffer = 350;
    settle(&mut flow)?;
    flow.run(Duration::secs(2), |_, _| {});
    let start = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    flow.rate = Rate::mbit(10);
    if bench.version() == Version::Three {
        let half = 0.5 * start.model.max_bandwidth;
        let fell = flow.until(Duration::secs(10), |seen| seen.model.bandwidth_short.is_some_and(|bound| bound < half));
        let fell = fell.ok_or_else(|| Stop::Failed("no bound on the bandwidth follows the losses within 10 s".into()))?;
        check(fell.retransmitted > start.retransmitted, || "nothing was lost".into())?;
    }
    // Two cycles of at most 3 s, or ten round trips, each with the queue of 350 segments.
    flow.run(Duration::secs(15), |_, _| {});
    let seen = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    near("the bandwidth in segments per second", seen.model.max_bandwidth, flow.capacity(), 0.1)
}
