//! Cases about losses, real and mistaken.

use super::path::{Flow, Policer, Seen};
use super::{Bench, Stop, Version, check, expect, is_probe_bw, leave, reach, settle};
use goodqueue_base::units::{Bytes, Duration, Rate};
use goodqueue_tcp::ModelPhase;

const LONG: Duration = Duration::secs(20);

/// 10 Mbit/s with a burst of 100 kB on a path of 100 Mbit/s.
pub(super) fn policer(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    flow.rate = Rate::mbit(100);
    flow.policer = Some(Policer::new(Rate::mbit(10), Bytes::new(100_000)));
    settle(&mut flow)?;
    let mut bounded = false;
    flow.run(Duration::secs(10), |_, seen| {
        bounded |=
            seen.model.bandwidth_short.is_some() && (seen.model.inflight_short.is_some() || bench.version() == Version::One);
    });
    check(bounded, || "no bound follows the losses within 10 s".into())?;
    let (lost, before) = (flow.lost, flow.seen().map_or(0, |seen| seen.delivered));
    flow.run(LONG, |_, _| {});
    let delivered = (flow.seen().map_or(before, |seen| seen.delivered) - before) as f64;
    let token_rate = flow.capacity() / 10.0;
    let share = delivered / LONG.as_secs_f64() / token_rate;
    check((0.7..=1.02).contains(&share), || format!("{:.0} % of the token rate are used, not 70 to 100 %", share * 100.0))?;
    let lost = (flow.lost - lost) as f64 / delivered;
    check(lost <= 0.05, || format!("{:.1} % are lost in the long run, more than 5 %", lost * 100.0))
}

/// Fails unless everything that losses lower is back.
fn restored(before: &Seen, after: &Seen) -> Result<(), Stop> {
    let lower = |now: Option<f64>, then: Option<f64>| now.is_some_and(|now| now < then.unwrap_or(f64::INFINITY) - 0.5);
    check(!lower(after.model.bandwidth_short, before.model.bandwidth_short), || {
        format!("the short-term bound on the bandwidth stays at {:.1?}", after.model.bandwidth_short)
    })?;
    check(!lower(after.model.inflight_short, before.model.inflight_short), || {
        format!("the short-term bound on the volume stays at {:.1?}", after.model.inflight_short)
    })?;
    check(!lower(after.model.inflight_long, before.model.inflight_long), || {
        format!("the long-term bound stays at {:.1?}", after.model.inflight_long)
    })?;
    // The window may have fallen to what its gain calls for, in a phase with a smaller one.
    let wanted = after.model.min_rtt.map_or(0.0, |rtt| after.model.cwnd_gain * after.model.max_bandwidth * rtt.as_secs_f64());
    let least = before.cwnd.min(wanted) - 1.0;
    check(after.cwnd >= least, || format!("the window stays at {:.0} segments, below {least:.0}", after.cwnd))
}

/// Waits until the sender finds its mistake.
fn undo(flow: &mut Flow, before: &Seen) -> Result<Seen, Stop> {
    let found = flow.until(Duration::secs(5), |seen| seen.undone > before.undone);
    found.ok_or_else(|| Stop::Failed("the sender does not find its mistake within 5 s".into()))
}

/// One segment is late by one and a half round trips.
pub(super) fn spurious_recovery(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    let phase = match bench.version() {
        Version::One => ModelPhase::Cruise,
        Version::Three => ModelPhase::Up,
    };
    reach(&mut flow, phase, LONG)?;
    flow.run(flow.base_rtt(), |_, _| {});
    let before = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    expect(&before, &[phase])?;
    flow.meet(|_, number| Some(if number == 0 { Duration::ms(60) } else { Duration::ZERO }));
    let after = undo(&mut flow, &before)?;
    check(after.retransmitted > before.retransmitted, || "nothing was sent again".into())?;
    restored(&before, &after)?;
    match bench.version() {
        Version::One => check(is_probe_bw(after.model.phase), || format!("{} follows", after.model.phase.name())),
        // The draft's pseudocode goes back to a probe by way of filling the pipe again.
        Version::Three => expect(&after, &[ModelPhase::Up, ModelPhase::Refill]),
    }
}

/// Everything sent within 50 ms is late by 800 ms.
pub(super) fn spurious_timeout(bench: &mut Bench) -> Result<(), Stop> {
    let mut flow = bench.flow()?;
    settle(&mut flow)?;
    reach(&mut flow, ModelPhase::Cruise, LONG)?;
    let before = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    let until = before.at + Duration::ms(50);
    let arrive = until + Duration::ms(800);
    // In order: what is sent after the stall waits for its end, too.
    flow.meet(move |now, _| Some(if now < arrive { arrive.since(now).min(Duration::ms(800)) } else { Duration::ZERO }));
    let after = undo(&mut flow, &before)?;
    check(after.timeouts > before.timeouts, || "the timer did not expire".into())?;
    restored(&before, &after)?;
    check(is_probe_bw(after.model.phase), || format!("{} follows, not PROBE_BW", after.model.phase.name()))
}

/// A short buffer sets the bound; then it is large, and 5 % are lost from the start of a probe on.
pub(super) fn loss_during_up(bench: &mut Bench) -> Result<(), Stop> {
    bench.only_three("version 1 has no long-term bound")?;
    let mut flow = bench.flow()?;
    flow.rate = Rate::mbit(100);
    flow.buffer = 100;
    settle(&mut flow)?;
    let bounded = flow.until(LONG, |seen| seen.model.inflight_long.is_some() && seen.model.phase == ModelPhase::Cruise);
    check(bounded.is_some(), || "a buffer of 100 segments sets no long-term bound".into())?;
    flow.buffer = 10_000;
    reach(&mut flow, ModelPhase::Up, LONG)?;
    let start = flow.seen().ok_or(Stop::NotApplicable("the control has no model of the path"))?;
    flow.meet(|_, number| (number % 20 != 0).then_some(Duration::ZERO));
    let (last, next) = leave(&mut flow, Duration::secs(2))?;
    expect(&next, &[ModelPhase::Down])?;
    let rounds = next.model.rounds - start.model.rounds;
    check(rounds <= 3, || format!("it takes {rounds} round trips with 5 % of losses, more than 3"))?;
    let (was, is) = (last.model.inflight_long.unwrap_or(f64::INFINITY), next.model.inflight_long.unwrap_or(f64::INFINITY));
    check(is <= was, || format!("the long-term bound rises from {was:.0} to {is:.0}"))?;
    let least = 0.7 * next.model.wanted.min(next.cwnd) - 1.0;
    check(is >= least, || format!("the long-term bound falls to {is:.0}, below {least:.0}"))
}
