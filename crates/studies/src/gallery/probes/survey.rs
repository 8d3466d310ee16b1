//! The survey's schemes one by one, its sources and its network: the rows without an experiment.

mod table;

use super::probe::{Probe, handle_timers};
use crate::gallery::expr::Fault;
use goodqueue_aqm::algo::blue::{Blue, BlueParams};
use goodqueue_aqm::algo::pi::PiDesign;
use goodqueue_aqm::algo::red::{Facts, Red, RedParams};
use goodqueue_aqm::algo::rem::{Rem, RemParams};
use goodqueue_aqm::spec::{LinkFacts, ParamValues, Size};
use goodqueue_aqm::{Aqm, Limit, ManagedQueue, NoSink, Qdisc, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_sim::trace::PacketEventKind;
use goodqueue_sim::{Continue, Outcome as RunOutcome, Recording, SourceSpec, World, WorldSpec};
use std::path::Path;

/// The study's link, in IP packets of 1000 and of 100 bytes.
const RATE: Rate = Rate::mbit(45);
const PACKET: u32 = 1000;
const SMALL: u32 = 100;
const BUFFER: u64 = 100_000;
/// The very experiment, so that what is said of its network is said of what was run.
const SCENARIO: &str = include_str!("../../../data/gallery/survey/ko-1.toml");

pub(super) const PROBES: &[Probe] = &[
    Probe::number("blue_steps", 0, |_| blue_steps()),
    Probe::number("blue_rise_s", 0, |_| blue_rise_s()),
    Probe::trial("red_violations", 0, |_| red_violations()),
    Probe::number("rem_error", 0, |_| rem_error()),
    Probe::number("pi_gain_a", 0, |_| printed_design().a),
    Probe::number("pi_gain_b", 0, |_| printed_design().b),
    Probe::trial("source_rate_bit_s", 0, |_| Ok(source()?.0)),
    Probe::trial("source_burst_s", 0, |_| Ok(source()?.1)),
    Probe::trial("shortest_rtt_ms", 0, |_| Ok(round_trips_ms()?.into_iter().fold(f64::INFINITY, f64::min))),
    Probe::trial("longest_rtt_ms", 0, |_| Ok(round_trips_ms()?.into_iter().fold(0.0, f64::max))),
    Probe::trial("backlog_violations", 0, |_| backlog_violations()),
    Probe::trial("scheme_avoids", 1, table::avoids),
    Probe::trial("scheme_threshold", 1, table::threshold),
    Probe::trial("scheme_state", 1, table::state),
];

/// Reason why a probe shows nothing.
fn nothing(reason: impl ToString) -> Fault {
    Fault::NoValue(reason.to_string())
}

fn blue(limit: u64) -> ManagedQueue<SimplePacket, Blue> {
    ManagedQueue::new(Blue::new(BlueParams::default(), Some(RATE)), Limit::bytes(limit))
}

fn arrive<A: Aqm>(queue: &mut ManagedQueue<SimplePacket, A>, now: Instant) {
    queue.enqueue(now, SimplePacket::new(PACKET), &mut NoSink);
}

/// BLUE's step up at an overflow over its step down in the idle time that follows.
fn blue_steps() -> f64 {
    let mut queue = blue(1000);
    let start = Instant::from_nanos(1);
    (0..2).for_each(|_| arrive(&mut queue, start));
    let up = queue.aqm().probability();
    let later = start + BlueParams::default().freeze_time + Duration::ms(1);
    while queue.dequeue(later, &mut NoSink).is_some() {}
    up / (up - queue.aqm().probability())
}

/// From the first overflow of a queue that nothing leaves until BLUE's probability is one.
fn blue_rise_s() -> f64 {
    let mut queue = blue(1000);
    let start = Instant::from_nanos(1);
    let mut now = start;
    while queue.aqm().probability() < 1.0 {
        arrive(&mut queue, now);
        now += Duration::us(100);
    }
    now.since(start).as_secs_f64()
}

/// RED with the study's settings under packets of both sizes, now less and now more than the link
/// carries: decisions to drop with the average below `min_th`, and not to with it at `max_th` or
/// above.
fn red_violations() -> Result<f64, Fault> {
    let (min_th, max_th) = (20_000.0, 80_000.0);
    let link = LinkFacts {
        rate: Some(RATE),
        delay: Duration::ms(10),
        mtu: Bytes::new(u64::from(PACKET)),
        overhead: Bytes::ZERO,
        limit: Limit::NONE,
    };
    let kind = goodqueue_aqm::sched::kind("red").ok_or_else(|| nothing("there is no red"))?;
    let given = ParamValues::new(kind, &[]).map_err(nothing)?;
    let defaults = RedParams::build(&given, &link).map_err(nothing)?;
    let params = RedParams {
        min_th: Some(Size::Bytes(min_th)),
        max_th: Some(Size::Bytes(max_th)),
        max_p: 0.1,
        w_q: Some(0.002),
        gentle: false,
        bytes: true,
        queue_in_bytes: true,
        mean_pktsize: Bytes::new(u64::from(PACKET)),
        use_mark_p: false,
        ..defaults
    };
    let facts = Facts { rate: link.rate, delay: link.delay, mtu: link.mtu };
    let mut queue: ManagedQueue<SimplePacket, _> = ManagedQueue::new(Red::new(params, facts), Limit::NONE);
    let mut rng = Rng::new(1);
    let (mut now, mut free_at) = (Instant::from_nanos(1), Instant::from_nanos(1));
    let (mut wrong, mut certain, mut free) = (0.0, 0_u32, 0_u32);
    for step in 0..200_000 {
        while free_at <= now {
            let Some(departure) = queue.dequeue(free_at, &mut NoSink) else { break };
            free_at += RATE.transmission_time(Bytes::new(u64::from(departure.packet.len)));
        }
        free_at = free_at.max(now);
        let len = if rng.uniform() < 0.5 { PACKET } else { SMALL };
        let before = queue.counters().dropped_total().packets;
        let waiting = queue.view().packets.get();
        queue.enqueue(now, SimplePacket::new(len), &mut NoSink);
        let dropped = queue.counters().dropped_total().packets > before;
        let average = queue.aqm().average();
        certain += u32::from(average >= max_th);
        free += u32::from(average < min_th);
        // With one packet waiting or none RED lets all pass, whatever the average was.
        if average < min_th && dropped || average >= max_th && !dropped && waiting > 1 {
            wrong += 1.0;
        }
        let load = if step % 40_000 < 30_000 { 2.0 } else { 0.5 };
        let size = f64::from(PACKET + SMALL) / 2.0;
        now += Duration::from_secs_f64(-goodqueue_aqm::math::log(1.0 - rng.uniform()) * size / RATE.as_bytes_s_f64() / load);
    }
    // Where one of the regions was never visited, nothing was shown.
    if certain == 0 || free == 0 { Err(nothing("a region was never visited")) } else { Ok(wrong) }
}

/// REM over two seconds of overload: the largest difference between its probability and what its
/// price says.
fn rem_error() -> f64 {
    let mut queue = ManagedQueue::new(Rem::new(RemParams::default(), Some(RATE)), Limit::bytes(BUFFER));
    let gap = RATE.transmission_time(Bytes::new(u64::from(PACKET)));
    let start = Instant::from_nanos(1);
    let (mut now, mut free_at, mut worst, mut highest) = (start, start, 0.0_f64, 0.0_f64);
    while now.since(start) < Duration::secs(2) {
        handle_timers(&mut queue, now);
        if free_at <= now && queue.dequeue(now, &mut NoSink).is_some() {
            free_at = now + gap;
        }
        arrive(&mut queue, now);
        let price = queue.aqm().price();
        worst = worst.max((queue.aqm().probability() - (1.0 - goodqueue_aqm::math::pow(1.001, -price))).abs());
        highest = highest.max(price);
        now += gap.mul_f64(0.7);
    }
    if highest > 0.0 { worst } else { f64::INFINITY }
}

/// The published design rule for the numbers that give the printed gains.
fn printed_design() -> goodqueue_aqm::algo::pi::Gains {
    PiDesign { flows: 60.0, rtt: Duration::ms(180), crossover: None }.gains(2500.0, 160.0)
}

/// Returns the points of the experiment with `nodes` edge nodes, at least one; the first is under
/// tail drop.
fn points(nodes: u64) -> Result<Vec<Point>, Fault> {
    let plan = Plan::parse("ko-1.toml", SCENARIO, Path::new("")).map_err(nothing)?;
    let mut points = plan.points().map_err(nothing)?;
    let wanted = |point: &Point| point.set.iter().any(|(key, value)| key == "traffic.1.flows" && value.as_u64() == Some(nodes));
    points.retain(wanted);
    if points.is_empty() { Err(nothing(format!("ko-1.toml has no point with {nodes} edge nodes"))) } else { Ok(points) }
}

fn run(world: &WorldSpec) -> Result<RunOutcome, Fault> {
    Ok(World::new(world).map_err(nothing)?.run(&mut |_| Continue::Yes))
}

/// Mean rate and mean burst of an on-off source of the experiment, from when its packets arrive at
/// the core link.
fn source() -> Result<(f64, f64), Fault> {
    const SECONDS: u64 = 50;
    let mut world = build::world(&points(10)?[0], 0);
    world.flows.retain(|flow| matches!(flow.source, SourceSpec::OnOff { .. }));
    world.duration = Duration::secs(SECONDS);
    world.recording = Recording { packets: true, ..Recording::default() };
    let flows = world.flows.len() as u32;
    let outcome = run(&world)?;
    // Within a burst packets are one sending time at the peak apart; jitter of the hosts is a tenth
    // of that.
    let gap_s = f64::from(SMALL) * 8.0 / 1e6;
    let (mut bytes, mut bursts) = (0.0, 0.0);
    for flow in 0..flows {
        let mut last: Option<Instant> = None;
        for event in outcome.packets.iter().filter(|event| event.flow == flow) {
            if !matches!(event.kind, PacketEventKind::Departed { .. }) {
                continue;
            }
            bytes += f64::from(event.len);
            if last.is_none_or(|last| event.at.since(last).as_secs_f64() > 1.5 * gap_s) {
                bursts += 1.0;
            }
            last = Some(event.at);
        }
    }
    let packets = bytes / f64::from(SMALL);
    Ok((bytes * 8.0 / f64::from(flows) / SECONDS as f64, packets * gap_s / bursts))
}

/// Round trips of the TCP flows without queueing: all delays of their routes.
fn round_trips_ms() -> Result<Vec<f64>, Fault> {
    let world = build::world(&points(100)?[0], 0);
    let delay =
        |route: &[goodqueue_sim::LinkId]| route.iter().map(|link| world.links[*link as usize].delay.as_secs_f64()).sum::<f64>();
    let tcp = world.flows.iter().filter(|flow| flow.source.tcp().is_some());
    Ok(tcp.map(|flow| (delay(&flow.forward) + delay(&flow.reverse)) * 1000.0).collect())
}

/// The arrival and departure curves of the packets that waited, for all schemes at 80 edge nodes:
/// how often they are further apart than the buffer.
fn backlog_violations() -> Result<f64, Fault> {
    let (mut wrong, mut schemes) = (0.0, 0);
    for point in &points(80)? {
        let mut world = build::world(point, 0);
        world.duration = Duration::secs(3);
        world.recording = Recording { packets: true, ..Recording::default() };
        let mut steps: Vec<(u64, i64)> = Vec::new();
        for event in &run(&world)?.packets {
            let PacketEventKind::Departed { sojourn } = event.kind else { continue };
            let (left, len) = (event.at.as_nanos(), i64::from(event.len));
            steps.push((left - sojourn.as_nanos(), len));
            steps.push((left, -len));
        }
        // At one instant what leaves makes room for what comes.
        steps.sort_unstable();
        let (mut waiting, mut fullest) = (0_i64, 0_i64);
        for (_, len) in &steps {
            waiting += len;
            fullest = fullest.max(waiting);
            wrong += f64::from(u8::from(waiting > BUFFER as i64));
        }
        if fullest == 0 {
            return Err(nothing("nothing was recorded"));
        }
        schemes += 1;
    }
    if schemes == 6 { Ok(wrong) } else { Err(nothing(format!("{schemes} schemes, not six"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemes_keep_their_laws() {
        assert!((blue_steps() - 10.0).abs() < 1e-9);
        assert!(blue_rise_s() >= 4.9);
        assert_eq!(red_violations(), Ok(0.0));
        assert!(rem_error() <= 1e-9);
    }

    #[test]
    fn the_network_is_what_the_study_says() {
        let (rate, burst) = source().unwrap();
        assert!((rate / 200e3 - 1.0).abs() < 0.1 && (burst / 0.02 - 1.0).abs() < 0.1, "{rate} {burst}");
        assert!(round_trips_ms().unwrap().iter().all(|rtt| (40.0..=100.0).contains(rtt)));
        assert_eq!(backlog_violations(), Ok(0.0));
    }
}
