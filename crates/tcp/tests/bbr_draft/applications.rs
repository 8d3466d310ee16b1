//! Cases about applications that have too little to send.

use super::path::Application;
use super::{Bench, Stop, Version, check, expect, leave, near, reach, settle};
use goodqueue_base::units::{Duration, Rate};
use goodqueue_tcp::ModelPhase;

const LONG: Duration = Duration::secs(20);

/// Half of 100 Mbit/s over 100 ms, so that a round trip has room for six ranges of losses; 5 % are
/// lost.
pub(super) fn startup_loss(bench: &mut Bench) -> Result<(), Stop> {
    bench.only_three("version 1 leaves STARTUP on a plateau only")?;
    let mut flow = bench.flow()?;
    flow.rate = Rate::mbit(100);
    flow.delay = Duration::ms(50);
    flow.application = Application::Limited(Rate::mbit(50));
    let mut early = None;
    flow.run(Duration::secs(2), |_, seen| early = early.or((seen.model.phase != ModelPhase::Startup).then_some(*seen)));
    check(early.is_none(), || "STARTUP ends without a loss".into())?;
    flow.meet(|_, number| (number % 20 != 0).then_some(Duration::ZERO));
    let before = flow.seen().map_or(0, |seen| seen.model.rounds);
    let (_, next) = leave(&mut flow, Duration::secs(5))?;
    // With so little in flight, DRAIN and PROBE_DOWN may end with the same acknowledgement.
    expect(&next, &[ModelPhase::Drain, ModelPhase::Down, ModelPhase::Cruise])?;
    check(next.model.has_been_full, || "the pipe does not count as full".into())?;
    check(next.model.plateau_rounds < 3, || "a plateau ended it".into())?;
    let rounds = next.model.rounds - before;
    check(rounds <= 5, || format!("it takes {rounds} round trips with 5 % of losses, more than 5"))
}

/// The application falls to eight tenths of the bandwidth, and 5 % are lost.
pub(super) fn up_loss(bench: &mut Bench) -> Result<(), Stop> {
    bench.only_three("version 1 pays no attention to losses here")?;
    let mut flow = bench.flow()?;
    flow.rate = Rate::mbit(100);
    settle(&mut flow)?;
    reach(&mut flow, ModelPhase::Up, LONG)?;
    flow.application = Application::Limited(Rate::mbit(70));
    let before = flow.seen().map(|seen| seen.model);
    flow.meet(|_, number| (number % 20 != 0).then_some(Duration::ZERO));
    let (_, next) = leave(&mut flow, Duration::secs(2))?;
    // With so little in flight, PROBE_DOWN may end with the same acknowledgement.
    expect(&next, &[ModelPhase::Down, ModelPhase::Cruise])?;
    let rounds = next.model.rounds - before.map_or(0, |model| model.rounds);
    check(rounds <= 3, || format!("it takes {rounds} round trips with 5 % of losses, more than 3"))?;
    // Samples that the application limits do not set the bound; others set it to no less than this.
    let least = 0.7 * next.model.wanted.min(next.cwnd) - 1.0;
    check(next.model.inflight_long.is_none_or(|bound| bound >= least), || {
        format!("the long-term bound is {:?}, below {least:.0}", next.model.inflight_long)
    })
}

/// Half of the bandwidth for 20 s. Probes of the round-trip time are another matter.
pub(super) fn stays(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.application = Application::Limited(Rate::mbit(5));
    let mut left = None;
    flow.run(LONG, |_, seen| {
        let stays = matches!(seen.model.phase, ModelPhase::Startup | ModelPhase::ProbeRtt);
        left = left.or((!stays).then_some(*seen));
    });
    check(left.is_none(), || "STARTUP ends".into())?;
    if bench.version() == Version::One {
        // PROBE_UP of version 1 lasts one round trip.
        return Ok(());
    }
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    reach(&mut flow, ModelPhase::Up, LONG)?;
    flow.application = Application::Limited(Rate::mbit(5));
    let (_, next) = leave(&mut flow, LONG)?;
    expect(&next, &[ModelPhase::ProbeRtt])
}

pub(super) fn skips_probe_rtt(bench: &mut Bench) -> Result<(), Stop> {
    let interval = match bench.version() {
        Version::One => Duration::secs(10),
        Version::Three => Duration::secs(5),
    };
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    flow.run(Duration::secs(1), |_, _| {});
    flow.application = Application::Silent;
    flow.run(interval + Duration::secs(1), |_, _| {});
    check(flow.seen().is_some_and(|seen| seen.in_flight == 0.0), || "something is still in flight".into())?;
    flow.application = Application::Greedy;
    let probe = flow.until(Duration::secs(2), |seen| seen.model.phase == ModelPhase::ProbeRtt);
    check(probe.is_none(), || "PROBE_RTT is entered after the pause".into())?;
    let seen = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    near("the bandwidth in segments per second", seen.model.max_bandwidth, flow.capacity(), 0.05)
}

/// So slow an application that the startup outlasts the interval.
pub(super) fn probe_rtt_in_startup(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.application = Application::Limited(Rate::mbit(2));
    // A queue of other traffic keeps the smallest round-trip time from being seen again.
    flow.run(Duration::secs(1), |_, _| {});
    flow.delay = Duration::ms(22);
    let start = reach(&mut flow, ModelPhase::ProbeRtt, LONG)?;
    check(!start.model.has_been_full, || "the pipe counts as full".into())?;
    let (_, next) = leave(&mut flow, Duration::secs(2))?;
    expect(&next, &[ModelPhase::Startup])?;
    flow.application = Application::Greedy;
    flow.run(Duration::secs(3), |_, _| {});
    let seen = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    near("the bandwidth found afterward in segments per second", seen.model.max_bandwidth, flow.capacity(), 0.05)
}

pub(super) fn refill(bench: &mut Bench) -> Result<(), Stop> {
    bench.only_three("version 1 has no PROBE_REFILL")?;
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    let start = reach(&mut flow, ModelPhase::Refill, LONG)?;
    flow.application = Application::Silent;
    let round = flow.base_rtt() * 2;
    let mut least = f64::INFINITY;
    flow.run(round, |_, seen| least = least.min(seen.model.max_bandwidth));
    flow.application = Application::Limited(Rate::mbit(5));
    let up = flow.until(Duration::secs(2), |seen| {
        least = least.min(seen.model.max_bandwidth);
        seen.model.phase == ModelPhase::Up
    });
    let up = up.ok_or_else(|| Stop::Failed("PROBE_UP does not follow within 2 s".into()))?;
    check(least >= start.model.max_bandwidth, || {
        format!("the bandwidth falls from {:.1} to {least:.1} segments per second", start.model.max_bandwidth)
    })?;
    expect(&up, &[ModelPhase::Up])?;
    flow.application = Application::Greedy;
    flow.run(Duration::secs(3), |_, _| {});
    let seen = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    near("the bandwidth afterward in segments per second", seen.model.max_bandwidth, flow.capacity(), 0.02)
}
