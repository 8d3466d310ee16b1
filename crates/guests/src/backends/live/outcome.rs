//! Converts the testbed's measurements to the simulator's terms. Figures are computed from them as
//! for every host.

use goodqueue_base::units::{Duration, Instant, Rng};
use goodqueue_lab::scenario::plan::{Direction, Link, Scenario, Traffic};
use goodqueue_live::testbed::experiment::{Columns, FlowMeasured, HalfMeasured, Measured};
use goodqueue_sim::trace::{ProbesOutcome, TimeCounts};
use goodqueue_sim::{
    CallOutcome, CarriedTransfer, FlowOutcome, GroupOutcome, LinkOutcome, Outcome, RateSpec, Series, SeriesColumn, WorldSpec,
    carried_outcomes,
};
use std::sync::Arc;

/// The outcome of one run, with what this host knows: it sees the queues and the ends' sockets, but
/// not which flow a dropped or marked packet belongs to.
pub fn outcome(plan: &Scenario, world: &WorldSpec, measured: &Measured) -> Outcome {
    let link = &plan.links[0];
    let (mut groups, mut flows) = (Vec::new(), Vec::new());
    let carried: Vec<Vec<CarriedTransfer>> = measured.flows.iter().map(|flow| flow.transfers.clone()).collect();
    let mut transfers = carried_outcomes(world, &carried).into_iter();
    for (number, (traffic, own)) in (0..).zip(of_groups(plan, measured)) {
        groups.push(GroupOutcome { transfers: transfers.next().flatten(), ..group_outcome(traffic, own) });
        flows.extend(indices(traffic).zip(own).map(|(index, flow)| flow_outcome(number, index, traffic, flow)));
    }
    let events = measured.down.counters.arrived.packets.get() + measured.up.counters.arrived.packets.get();
    Outcome {
        links: halves(link, measured).map(|(heading, half)| link_outcome(link, heading, half, measured.span)).collect(),
        flows,
        groups,
        series: series(plan, measured),
        packets: Vec::new(),
        // Two runs of a real network are never the same: what they counted stands for them.
        fingerprint: Rng::stream(events, measured.down.sent_bits).next_u64(),
        events,
        complete: true,
    }
}

/// Directions with a queue, which results report.
fn halves<'a>(link: &'a Link, measured: &'a Measured) -> impl Iterator<Item = (Direction, &'a HalfMeasured)> {
    let both = [(Direction::Down, &measured.down), (Direction::Up, &measured.up)];
    both.into_iter().filter(|(heading, _)| link.direction(*heading).queue.is_some())
}

/// Each group with its flows.
fn of_groups<'a>(plan: &'a Scenario, measured: &'a Measured) -> impl Iterator<Item = (&'a Traffic, &'a [FlowMeasured])> {
    let mut rest = measured.flows.as_slice();
    plan.traffic.iter().map(move |traffic| {
        let (own, others) = rest.split_at(indices(traffic).count().min(rest.len()));
        rest = others;
        (traffic, own)
    })
}

/// The number within its group of each flow, in the order in which they run: the parts of one flow
/// together, as in the simulator.
fn indices(traffic: &Traffic) -> impl Iterator<Item = u32> + use<> {
    let (flows, parts) = (traffic.flows, traffic.parts().count() as u32);
    (0..flows).flat_map(move |index| (0..parts).map(move |part| index + part * flows))
}

fn link_outcome(link: &Link, heading: Direction, half: &HalfMeasured, span: Duration) -> LinkOutcome {
    let HalfMeasured { counters, times, sent_bits, lost_outside: _, handed_over: _, departed_whole_run } = half;
    let seconds = span.as_secs_f64();
    let mean = |area: u128| if span.is_zero() { 0.0 } else { area as f64 * 1e-9 / seconds };
    let (capacity_bits, rate_changes) = match &link.direction(heading).rate {
        RateSpec::Constant(rate) => (rate.as_bit_s() as f64 * seconds, Some(0)),
        // The measured part is not known to begin at a certain place of a rate that changes.
        RateSpec::Steps(_) | RateSpec::Recorded(_) => (0.0, None),
    };
    LinkOutcome {
        name: link.name_of(heading),
        counters: counters.clone(),
        sent_bits: *sent_bits as f64,
        capacity_bits,
        queue_packets: mean(times.packet_time),
        queue_bytes: mean(times.byte_time),
        sojourn_sum_s: times.sojourn_sum as f64 * 1e-9,
        sojourn: times.sojourn.clone(),
        departed_whole_run: *departed_whole_run,
        group_bits: Vec::new(),
        loss_events: None,
        loss_synchronization: None,
        rate_changes,
        settling: None,
    }
}

fn flow_outcome(group: u32, index: u32, traffic: &Traffic, flow: &FlowMeasured) -> FlowOutcome {
    let FlowMeasured { delivered_bytes, sent_packets, retransmitted_packets, rtt: _, probes, call, transfers: _ } = flow;
    let outcome = FlowOutcome {
        group,
        index,
        weight: traffic.weight,
        delivered_bytes: *delivered_bytes,
        sent_packets: *sent_packets,
        retransmitted_packets: *retransmitted_packets,
        dropped_packets: None,
        marked_packets: None,
        completion: None,
        timeouts: None,
        loss_runs: 0,
        longest_loss_run: 0,
        is_probe: false,
    };
    match (probes, call) {
        (None, None) => outcome,
        (None, Some(CallOutcome { lost, loss_runs, longest_loss_run, .. })) => {
            FlowOutcome { dropped_packets: Some(*lost), loss_runs: *loss_runs, longest_loss_run: *longest_loss_run, ..outcome }
        }
        (Some(ProbesOutcome { sent, answered: _, lost, loss_runs, longest_loss_run, rtt: _ }), _) => FlowOutcome {
            sent_packets: *sent,
            dropped_packets: Some(*lost),
            loss_runs: *loss_runs,
            longest_loss_run: *longest_loss_run,
            is_probe: true,
            ..outcome
        },
    }
}

fn group_outcome(traffic: &Traffic, flows: &[FlowMeasured]) -> GroupOutcome {
    GroupOutcome {
        name: traffic.name.clone(),
        rtt: round_trips(flows),
        // This host measures neither.
        sojourn: TimeCounts::new(),
        transfers: None,
        videos: Vec::new(),
        one_way_delay: TimeCounts::new(),
        calls: flows.iter().filter_map(|flow| flow.call.clone()).collect(),
    }
}

/// Round-trip times of all flows of a group.
fn round_trips(flows: &[FlowMeasured]) -> TimeCounts {
    let mut all = TimeCounts::new();
    flows.iter().for_each(|flow| all.merge(flow.probes.as_ref().map_or(&flow.rtt, |probes| &probes.rtt)));
    all
}

/// Values over time of one run, named as the simulator names them.
fn series(plan: &Scenario, measured: &Measured) -> Vec<Series> {
    let link = &plan.links[0];
    let samples = &measured.samples;
    let times = Arc::new(samples.times.iter().map(|time| Instant::ZERO + *time).collect());
    let of = |subject: String, columns: &Columns| Series {
        subject,
        times: Arc::clone(&times),
        columns: columns.iter().map(|(name, values)| SeriesColumn { name: name.clone(), values: values.clone() }).collect(),
    };
    let of_half = |(heading, _)| {
        let number = match heading {
            Direction::Down => 0,
            Direction::Up => 1,
        };
        of(format!("link:{}", link.name_of(heading)), &samples.halves[number])
    };
    let groups = plan.traffic.iter().flat_map(|traffic| indices(traffic).map(|index| format!("flow:{}:{index}", traffic.name)));
    let flows = groups.zip(&samples.flows).map(|(subject, columns)| of(subject, columns));
    halves(link, measured).map(of_half).chain(flows).collect()
}

#[cfg(test)]
mod tests {
    use crate::backends::described::{HEAD, LINK_TABLE};
    use crate::backends::live::backend::Live;
    use crate::backends::{AfterRetries, ProcessOwner, Settings, VoidRunPolicy};
    use goodqueue_base::units::Duration;
    use goodqueue_lab::run::backend::{Backend, Ended, Packets, Samples, Simulator, Task};
    use goodqueue_lab::scenario::plan::Plan;
    use goodqueue_sim::Outcome;
    use goodqueue_sim::trace::TimeCounts;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    fn run(host: &dyn Backend, task: &Task<'_>) -> Outcome {
        match host.run(task, &mut |_| {}).ended {
            Ended::Finished { outcome, .. } => *outcome,
            ended => panic!("{}: {ended:?}", host.name()),
        }
    }

    /// Runs in real time, where this process may make networks.
    #[test]
    fn calls_and_transfers_have_the_figures_of_the_simulator() {
        let voids = VoidRunPolicy { attempts: 1, rest: AfterRetries::LeastLate };
        let live = Live::new(&Settings { itself: Vec::new(), process: ProcessOwner::Foreign, voids, say: |_| {} });
        if let Err(reason) = live.prepare() {
            return println!("skipped: {reason:?}");
        }
        let traffic = "[[traffic]]\nkind = \"voip\"\ndirection = \"both\"\n\
                       [[traffic]]\nkind = \"short\"\nsize = \"20 kB\"\ninterval = \"100 ms\"\narrivals = \"poisson\"\n";
        let scenario = format!("{HEAD}{LINK_TABLE}{traffic}").replace("1 s", "5 s");
        let points = Plan::parse("test", &scenario, Path::new("")).expect("a scenario").points().expect("one point");
        let (samples, packets, stop) = (Samples::Off, Packets::Off, AtomicBool::new(false));
        let task = Task { point: &points[0], replication: 0, samples, packets, stop: &stop };
        let [real, simulated] = [run(&live, &task), run(&Simulator, &task)];
        let names = |outcome: &Outcome| outcome.flows.iter().map(|flow| (flow.group, flow.index)).collect::<Vec<_>>();
        assert_eq!(names(&real), names(&simulated));
        assert_eq!((real.groups[0].calls.len(), simulated.groups[0].calls.len()), (2, 2));
        for call in &real.groups[0].calls {
            let heard = call.heard.as_ref().expect("speech is heard");
            assert!(call.received > 150 && !heard.windows.is_empty(), "{call:?}");
        }
        let [real, simulated] = [&real, &simulated].map(|outcome| outcome.groups[1].transfers.as_ref().expect("transfers"));
        // The parts of a real run do not begin and end at exact times.
        assert!(real.begun.abs_diff(simulated.begun) <= 3, "{} instead of {}", real.begun, simulated.begun);
        let least = |times: &TimeCounts| times.shortest().expect("some");
        assert!(real.complete + 3 >= real.begun && least(&real.completion) >= Duration::ms(30), "{real:?}");
        assert!(least(&real.slowdown_millionths) >= Duration::ns(950_000), "{real:?}");
    }
}
