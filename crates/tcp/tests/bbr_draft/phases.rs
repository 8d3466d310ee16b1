//! Cases about the ends of phases on a path that is filled.

use super::path::Flow;
use super::{Bench, Stop, Version, check, expect, is_probe_bw, leave, near, reach, settle};
use goodqueue_base::units::{Duration, Rate};
use goodqueue_tcp::ModelPhase;

const LONG: Duration = Duration::secs(20);

pub(super) fn startup_plateau(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    let (last, next) = leave(&mut flow, LONG)?;
    expect(&next, &[ModelPhase::Drain])?;
    check(next.model.has_been_full, || "the pipe does not count as full".into())?;
    check(last.model.plateau_rounds == 2 && next.model.plateau_rounds == 3, || {
        format!("it ends after {} round trips without growth, not 3", next.model.plateau_rounds)
    })?;
    check(next.retransmitted == 0, || "segments were lost".into())?;
    near("the bandwidth in segments per second", next.model.max_bandwidth, flow.capacity(), 0.02)
}

pub(super) fn drain_by_inflight(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    let start = reach(&mut flow, ModelPhase::Drain, LONG)?;
    let gain = match bench.version() {
        Version::One => 88.0 / 256.0,
        Version::Three => 0.5,
    };
    near("the pacing gain", start.model.pacing_gain, gain, 0.001)?;
    check(start.in_flight > start.model.wanted, || "there is no queue to drain".into())?;
    let (last, next) = leave(&mut flow, LONG)?;
    check(last.in_flight > last.model.wanted, || format!("{:.0} segments in flight should have ended it", last.in_flight))?;
    // Version 1 counts what will be in flight when the next burst of two segments may leave.
    let until_then = if bench.version() == Version::One { 2.0 / gain } else { 0.0 };
    check(next.in_flight - until_then <= last.model.wanted, || {
        format!("it ends with {:.0} segments in flight, above {:.0}", next.in_flight, last.model.wanted)
    })?;
    check(is_probe_bw(next.model.phase), || format!("{} follows, not PROBE_BW", next.model.phase.name()))
}

/// A tenth less bandwidth drains in time, so the path loses six tenths.
pub(super) fn drain_by_time(bench: &mut Bench) -> Result<(), Stop> {
    bench.only_three("version 1 drains for as long as it takes")?;
    let mut flow = bench.flow()?;
    let start = reach(&mut flow, ModelPhase::Drain, LONG)?;
    flow.rate = Rate::mbit(4);
    let (last, next) = leave(&mut flow, LONG)?;
    check(last.in_flight > last.model.wanted, || "the volume in flight fell in time".into())?;
    let rounds = next.model.rounds - start.model.rounds;
    // The round trip in which Drain began is not a whole one.
    check((3..=4).contains(&rounds), || format!("it ends after {rounds} round trips, not 3"))?;
    check(is_probe_bw(next.model.phase), || format!("{} follows, not PROBE_BW", next.model.phase.name()))
}

pub(super) fn up_plateau(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    let start = reach(&mut flow, ModelPhase::Up, LONG)?;
    let (_, next) = leave(&mut flow, LONG)?;
    expect(&next, &[ModelPhase::Down])?;
    check(next.retransmitted == start.retransmitted, || "segments were lost".into())?;
    if bench.version() == Version::Three {
        let rounds = next.model.rounds - start.model.rounds;
        check(rounds >= 3, || format!("it ends after {rounds} round trips, before 3 without growth"))?;
    }
    near("the bandwidth in segments per second", next.model.max_bandwidth, flow.capacity(), 0.02)
}

pub(super) fn down_by_inflight(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    reach(&mut flow, ModelPhase::Up, LONG)?;
    let start = reach(&mut flow, ModelPhase::Down, LONG)?;
    let gain = match bench.version() {
        Version::One => 0.75,
        Version::Three => 0.9,
    };
    near("the pacing gain", start.model.pacing_gain, gain, 0.001)?;
    let (last, next) = leave(&mut flow, LONG)?;
    expect(&next, &[ModelPhase::Cruise])?;
    let bound = |model: &goodqueue_tcp::PathModel| model.with_headroom.map_or(model.wanted, |room| room.min(model.wanted));
    // Version 1 also ends it after a round trip, so only the end is checked.
    if bench.version() == Version::Three {
        check(last.in_flight > bound(&last.model), || format!("{:.0} segments in flight should have ended it", last.in_flight))?;
        check(next.in_flight <= bound(&next.model), || {
            format!("it ends with {:.0} segments in flight, above {:.0}", next.in_flight, bound(&next.model))
        })?;
    }
    Ok(())
}

pub(super) fn down_by_time(bench: &mut Bench) -> Result<(), Stop> {
    bench.only_three("version 1 ends the phase after a round trip")?;
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    reach(&mut flow, ModelPhase::Up, LONG)?;
    let start = reach(&mut flow, ModelPhase::Down, LONG)?;
    flow.rate = Rate::mbit(9);
    let (last, next) = leave(&mut flow, LONG)?;
    check(last.in_flight > last.model.wanted, || "the volume in flight fell in time".into())?;
    expect(&next, &[ModelPhase::Refill])?;
    let lasted = next.at.since(start.at);
    check(lasted <= Duration::ms(3_100), || format!("it ends after {lasted}, which is more than the 2 to 3 s to wait"))
}

/// Until the round-trip time is next probed, from the end of startup.
fn to_probe(flow: &mut Flow, version: Version) -> Duration {
    let interval = match version {
        Version::One => Duration::secs(10),
        Version::Three => Duration::secs(5),
    };
    interval + flow.base_rtt() * 20
}

pub(super) fn probe_rtt(bench: &mut Bench) -> Result<(), Stop> {
    let version = bench.version();
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    let limit = to_probe(&mut flow, version);
    let start = reach(&mut flow, ModelPhase::ProbeRtt, limit)?;
    let gain = match version {
        Version::One => 1.0,
        Version::Three => 0.5,
    };
    near("the window's gain", start.model.cwnd_gain, gain, 0.001)?;
    let mut least = f64::INFINITY;
    let next = flow.until(Duration::secs(2), |seen| {
        least = least.min(seen.in_flight);
        seen.model.phase != ModelPhase::ProbeRtt
    });
    let next = next.ok_or_else(|| Stop::Failed("it does not end within 2 s".into()))?;
    let most = match version {
        Version::One => 4.0,
        Version::Three => 0.5 * start.model.wanted + 1.0,
    };
    check(least <= most, || format!("{least:.0} segments stay in flight, more than {most:.0}"))?;
    let lasted = next.at.since(start.at);
    check(lasted >= Duration::ms(200), || format!("it lasts {lasted}, less than 200 ms"))?;
    check(next.model.rounds > start.model.rounds, || "it lasts less than a round trip".into())?;
    check(is_probe_bw(next.model.phase), || format!("{} follows, not PROBE_BW", next.model.phase.name()))?;
    let before = next.delivered;
    flow.run(Duration::secs(1), |_, _| {});
    let after = flow.seen().map_or(before, |seen| seen.delivered);
    near("segments delivered in the second after it", (after - before) as f64, flow.capacity(), 0.1)
}
