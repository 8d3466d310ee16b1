//! The scenario host `live`: points of a plan with real kernel senders, in networks of their own, reduced to the same figures.

use super::validity::{Validity, Voids};
use super::{limit, line, queue};
use goodqueue_aqm::Rng;
use goodqueue_lab::distributions::Distributions;
use goodqueue_lab::error::RunFailure;
use goodqueue_lab::metrics::{FlowFigures, GROUP_METRICS, GroupFigures, LINK_METRICS, LinkFigures, RunFigures};
use goodqueue_lab::plan::{Heading, Link, Point, Scenario, Traffic};
use goodqueue_lab::record::{RecordedRun, Recorder};
use goodqueue_lab::runner::{PointResult, Replication, RunOptions, RunReport, label};
use goodqueue_lab::statistics::jain;
use goodqueue_lab::summary::PointSummary;
use goodqueue_live::Line;
use goodqueue_live::sys::namespace;
use goodqueue_sim::{RateSpec, Series, SeriesColumn, SizeLaw, SojournHistogram, SourceSpec};
use goodqueue_tcp::EcnMode;
use goodqueue_testbed::experiment::{
    self, Arrivals, Columns, Experiment, Flow, FlowMeasured, HalfMeasured, Measured, Segments, Source, Way,
};
use goodqueue_trace::{ProbesOutcome, TimeCounts};
use goodqueue_units::{Bytes, Duration, Instant, Packets, Rate};
use std::sync::atomic::{AtomicBool, Ordering};

const MTU: Bytes = Bytes::new(1500);

/// Can this point run here? The first thing that cannot, and why.
pub fn check(point: &Point) -> Result<(), String> {
    let plan = &point.plan;
    let [link] = &plan.links[..] else { return Err("--on live: runs scenarios with one link".to_owned()) };
    let refuse = |what: &str, why: &str| Err(format!("--on live: link.{}.{what}: {why}", link.name));
    if link.mtu != MTU {
        return refuse("mtu", "is 1500 B on the live host");
    }
    if link.one_way {
        return refuse("one_way", "is not possible with kernel senders");
    }
    for direction in [&link.down, &link.up] {
        if direction.loss > 0.0 {
            return refuse("loss", "is not supported by the live host");
        }
        if direction.flow_control.is_some() {
            return refuse("flow_control", "is not supported by the live host");
        }
    }
    plan.traffic.iter().try_for_each(|traffic| source(traffic, Rng::new(0)).map(|_| ()))?;
    let ecn = |traffic: &Traffic| asks_for_ecn(traffic);
    let mut tcp = plan.traffic.iter().filter(|traffic| traffic.main.source.tcp().is_some());
    if let Some(first) = tcp.next()
        && tcp.any(|other| ecn(other) != ecn(first))
    {
        return Err("--on live: traffic.ecn: all TCP groups must have the same".to_owned());
    }
    Ok(())
}

fn asks_for_ecn(traffic: &Traffic) -> bool {
    traffic.main.source.tcp().is_some_and(|(sender, ..)| sender.ecn_mode() != EcnMode::Off)
}

/// What a flow of this group sends.
fn source(traffic: &Traffic, rng: Rng) -> Result<Source, String> {
    let udp = |rate: Rate, arrivals, packet_size: Bytes, ecn| Source::Udp {
        rate,
        arrivals,
        rng,
        packet_size: packet_size.get() as u32,
        ecn,
    };
    let refuse = |key: &str, why: &str| Err(format!("--on live: traffic `{}`: {key}: {why}", traffic.name));
    if !traffic.rtt_extra.latest().is_zero() {
        return refuse("rtt_extra", "is not supported by the live host");
    }
    match &traffic.main.source {
        SourceSpec::Tcp { sender, .. } => {
            let control = sender.cc.kind;
            if !["reno", "cubic", "bbr"].contains(&control) {
                return refuse("cc", &format!("`{control}` is not in this kernel: allowed reno, cubic, bbr"));
            }
            Ok(Source::Tcp { control: control.to_owned() })
        }
        SourceSpec::Cbr { rate, packet_size, ecn } => Ok(udp(*rate, Arrivals::Periodic, *packet_size, *ecn)),
        SourceSpec::Poisson { sizes, .. } if *sizes != SizeLaw::Fixed => {
            refuse("sizes", "is not supported by the live host: allowed \"fixed\"")
        }
        SourceSpec::Poisson { rate, packet_size, ecn, .. } => Ok(udp(*rate, Arrivals::Poisson, *packet_size, *ecn)),
        SourceSpec::OnOff { peak, mean_on, mean_off, packet_size, ecn } => {
            let (mean_on, mean_off) = (*mean_on, *mean_off);
            Ok(udp(*peak, Arrivals::OnOff { mean_on, mean_off }, *packet_size, *ecn))
        }
        SourceSpec::Echo { interval, packet_size, ecn } => {
            Ok(Source::Echo { interval: *interval, packet_size: packet_size.get() as u32, ecn: *ecn })
        }
        _ => refuse("kind", "is not supported by the live host: allowed bulk, cbr, poisson, on-off, echo"),
    }
}

/// Runs every replication of every point, one after the other, and says how far each attempt can be trusted.
pub fn run(
    points: &[Point],
    options: &RunOptions,
    voids: Voids,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
    say: &dyn Fn(&str),
) -> (RunReport, Vec<Validity>) {
    let mut report = RunReport { points: Vec::new(), failures: Vec::new(), complete: true, fingerprints: Vec::new(), events: 0 };
    let mut validities = Vec::new();
    let total = (points.len() * options.replications as usize).max(1);
    let mut done = 0;
    for (place, point) in points.iter().enumerate() {
        let mut drawn = Vec::new();
        let (mut figures, mut numbers, mut times) = (Vec::new(), Vec::new(), Distributions::default());
        for replication in 0..options.replications {
            if stop.load(Ordering::Relaxed) {
                report.complete = false;
                break;
            }
            match attempts(point, replication, options.sample_every, voids, stop, say, &mut validities) {
                Ok(Some(measured)) => {
                    if options.recorded.includes(replication) {
                        let series = series(&point.plan, &measured);
                        let names: Vec<String> = halves(&point.plan.links[0], &measured).into_iter().map(|half| half.0).collect();
                        recorder.record(RecordedRun { point: place, replication, links: &names, series: &series, packets: &[] });
                        if replication == 0 && place < options.drawn_points {
                            drawn = series;
                        }
                    }
                    let run = reduce(&point.plan, &measured);
                    report.fingerprints.push(run.fingerprint);
                    report.events += run.events;
                    times.add(distributions(&point.plan, &measured));
                    figures.push(run);
                    numbers.push(replication);
                }
                Ok(None) => report.complete = false,
                Err(message) => {
                    report.failures.push(RunFailure { place: label(&point.set), replication, message });
                    report.complete = false;
                }
            }
            done += 1;
            progress(f64::from(done) / total as f64);
        }
        let [cdfs, rtt_cdfs] = times.cdfs();
        report.points.push(PointResult {
            summary: PointSummary::of(point.set.clone(), &figures),
            runs: numbers.into_iter().zip(figures).map(replicated).collect(),
            cdfs,
            rtt_cdfs,
            series: drawn,
        });
    }
    (report, validities)
}

fn replicated((number, figures): (u32, RunFigures)) -> Replication {
    let goodput_bit_s = figures.flows.iter().filter_map(|flow| flow.goodput_bit_s).sum();
    Replication { number, links: figures.links, goodput_bit_s }
}

/// One replication, repeated while it is void; `None` when it was stopped.
fn attempts(
    point: &Point,
    replication: u32,
    sample_every: Option<Duration>,
    voids: Voids,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
    validities: &mut Vec<Validity>,
) -> Result<Option<Measured>, String> {
    let (base_rtt, segments) = (point.plan.base_rtt(), segments(&point.plan.links[0]));
    let mut least_late: Option<(usize, Measured)> = None;
    for attempt in 1..=voids.attempts {
        let Some(measured) = once(point, replication, sample_every, stop)? else { return Ok(None) };
        let validity = Validity::of(label(&point.set), replication, attempt, &measured, segments, base_rtt);
        let void = validity.void.clone();
        let number = validities.len();
        validities.push(validity);
        let Some(why) = void else {
            validities[number].counted = true;
            return Ok(Some(measured));
        };
        let last = attempt == voids.attempts;
        if last && !voids.keep {
            return Err(format!("void in {attempt} attempts, at last because {why}"));
        }
        say(&format!("replication {replication} is void{}: {why}", if last { "" } else { " and runs again" }));
        if least_late.as_ref().is_none_or(|(_, before)| measured.later() < before.later()) {
            least_late = Some((number, measured));
        }
    }
    Ok(least_late.map(|(number, measured)| {
        validities[number].counted = true;
        measured
    }))
}

/// Above this rate the kernel's TCP cannot fill a line segment by segment here, so its frames are taken joined and judged by segments.
const SINGLE_UP_TO: Rate = Rate::gbit(1);

fn segments(link: &Link) -> Segments {
    let fastest = link.down.nominal_rate().max(link.up.nominal_rate());
    if fastest > SINGLE_UP_TO { Segments::Joined } else { Segments::Single }
}

fn once(point: &Point, replication: u32, sample_every: Option<Duration>, stop: &AtomicBool) -> Result<Option<Measured>, String> {
    let plan = &point.plan;
    let link = &plan.links[0];
    let seed = Rng::stream(plan.seed, u64::from(replication)).next_u64();
    // Access links of the plan only delay.
    let longer = |line: Line| Line { delay: line.delay + plan.access.one_way_delay(), ..line };
    let mut flows = Vec::new();
    for (group, traffic) in plan.traffic.iter().enumerate() {
        for index in 0..traffic.flows {
            let mut rng = Rng::stream(seed ^ 0x5354_4152 << 32, (group as u64) << 32 | u64::from(index));
            flows.push(Flow {
                source: source(traffic, Rng::stream(seed ^ 0x4741_5053 << 32, (group as u64) << 32 | u64::from(index)))?,
                way: if traffic.heading == Heading::Up { Way::Up } else { Way::Down },
                start: traffic.start.draw(&mut rng),
                stop: traffic.stop.map(|stop| stop.since(Instant::ZERO)),
                dscp: traffic.class.number() << 3,
            });
        }
    }
    let experiment = Experiment {
        down: longer(line(link, &link.down, Instant::ZERO)),
        up: longer(line(link, &link.up, Instant::ZERO)),
        limits: (limit(&link.down), limit(&link.up)),
        flows,
        ecn: plan.traffic.iter().any(asks_for_ecn),
        segments: segments(link),
        warmup: plan.warmup,
        duration: plan.duration,
        sample_every,
    };
    let queues = (queue(link, &link.down, Rng::stream(seed, 1))?, queue(link, &link.up, Rng::stream(seed, 2))?);
    experiment::run(&experiment, queues, stop).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            format!("{error}: networks need root; as another user: unshare -Urn gq run --on live …")
        }
        _ => error.to_string(),
    })
}

/// Directions with a queue, as results name them.
fn halves<'a>(link: &Link, measured: &'a Measured) -> Vec<(String, Heading, &'a HalfMeasured)> {
    [(Heading::Down, &measured.down), (Heading::Up, &measured.up)]
        .into_iter()
        .filter(|(heading, _)| link.direction(*heading).queue.is_some())
        .map(|(heading, half)| (link.name_of(heading), heading, half))
        .collect()
}

/// Each group with its flows.
fn groups<'a>(plan: &'a Scenario, measured: &'a Measured) -> impl Iterator<Item = (&'a Traffic, &'a [FlowMeasured])> {
    let mut rest = measured.flows.as_slice();
    plan.traffic.iter().map(move |traffic| {
        let (own, others) = rest.split_at((traffic.flows as usize).min(rest.len()));
        rest = others;
        (traffic, own)
    })
}

/// Times in the queue, and round trips of probes.
fn distributions(plan: &Scenario, measured: &Measured) -> Distributions {
    let probed = groups(plan, measured).filter(|(_, flows)| flows.iter().any(|flow| flow.probes.is_some()));
    Distributions {
        sojourn: halves(&plan.links[0], measured)
            .into_iter()
            .map(|(name, _, half)| (name, half.times.sojourn.histogram()))
            .collect(),
        round_trips: probed.map(|(traffic, flows)| (traffic.name.clone(), round_trips(flows))).collect(),
    }
}

/// Values over time of one run, named as the simulator names them.
fn series(plan: &Scenario, measured: &Measured) -> Vec<Series> {
    let link = &plan.links[0];
    let samples = &measured.samples;
    let times: Vec<Instant> = samples.times.iter().map(|time| Instant::ZERO + *time).collect();
    let of = |subject: String, columns: &Columns| Series {
        subject,
        times: times.clone(),
        columns: columns.iter().map(|(name, values)| SeriesColumn { name: name.clone(), values: values.clone() }).collect(),
    };
    let halves = halves(link, measured)
        .into_iter()
        .map(|(name, heading, _)| of(format!("link:{name}"), &samples.halves[usize::from(heading == Heading::Up)]));
    let groups = plan.traffic.iter().flat_map(|traffic| (0..traffic.flows).map(|index| format!("flow:{}:{index}", traffic.name)));
    let flows = groups.zip(&samples.flows).map(|(subject, columns)| of(subject, columns));
    halves.chain(flows).collect()
}

/// The figures of one run.
fn reduce(plan: &Scenario, measured: &Measured) -> RunFigures {
    let link = &plan.links[0];
    let seconds = measured.span.as_secs_f64();
    let links = halves(link, measured)
        .into_iter()
        .map(|(name, heading, half)| {
            let sojourn = half.times.sojourn.histogram();
            let value = |name| link_value(name, link, heading, half, &sojourn, measured.span);
            let values = LINK_METRICS.iter().map(|metric| value(metric.name)).collect();
            LinkFigures { name, values, group_share: vec![None; plan.traffic.len()] }
        })
        .collect();
    let (mut figures, mut flows, mut loads) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (traffic, own)) in groups(plan, measured).enumerate() {
        let values = GROUP_METRICS.iter().map(|metric| group_value(metric.name, own, seconds)).collect();
        figures.push(GroupFigures { name: traffic.name.clone(), flows: traffic.flows, values });
        for (index, flow) in own.iter().enumerate() {
            let goodput_bit_s = (seconds > 0.0).then(|| flow.delivered_bytes as f64 * 8.0 / seconds);
            flows.push(FlowFigures { group: number as u32, index: index as u32, goodput_bit_s });
            // As in the simulator, probes want no share.
            if flow.probes.is_none() {
                loads.push((flow.delivered_bytes as f64, traffic.weight));
            }
        }
    }
    let events = measured.down.counters.arrived.packets.get() + measured.up.counters.arrived.packets.get();
    RunFigures {
        links,
        groups: figures,
        flows,
        jain_goodput: jain(loads.iter().map(|(bytes, _)| *bytes)),
        jain_drop_share: None,
        jain_weighted: jain(loads.iter().map(|(bytes, weight)| bytes / weight)),
        // Two runs of a real network are never the same: what they counted stands for them.
        fingerprint: Rng::stream(events, measured.down.sent_bits).next_u64(),
        events,
    }
}

/// Bits that a direction could carry in the measured part.
fn capacity(link: &Link, heading: Heading, span: Duration) -> Option<f64> {
    match &link.direction(heading).rate {
        RateSpec::Constant(rate) => Some(rate.as_bit_s() as f64 * span.as_secs_f64()),
        // The measured part is not known to begin at a certain place of a rate that changes.
        _ => None,
    }
}

fn link_value(
    name: &str,
    link: &Link,
    heading: Heading,
    half: &HalfMeasured,
    sojourn: &SojournHistogram,
    span: Duration,
) -> Option<f64> {
    let HalfMeasured { counters, times, sent_bits, .. } = half;
    let seconds = span.as_secs_f64();
    let packets = |count: Packets| count.get() as f64;
    let arrived = packets(counters.arrived.packets);
    let (departed, marked) = (packets(counters.departed.packets), packets(counters.marked.packets));
    let (early, dropped) = (packets(counters.early().packets), packets(counters.dropped_total().packets));
    let part = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let quantile = |q: f64| (!sojourn.is_empty()).then(|| sojourn.value_at_quantile(q) as f64 * 1e-9);
    let mean = |area: u128| (seconds > 0.0).then(|| area as f64 * 1e-9 / seconds);
    match name {
        "utilization" => part(*sent_bits as f64, capacity(link, heading, span)?),
        "throughput_bit_s" => part(*sent_bits as f64, seconds),
        "queue_packets" => mean(times.packet_time),
        "queue_bytes" => mean(times.byte_time),
        "sojourn_s.mean" => part(times.sojourn_sum as f64 * 1e-9, departed),
        "sojourn_s.p25" => quantile(0.25),
        "sojourn_s.p50" => quantile(0.5),
        "sojourn_s.p75" => quantile(0.75),
        "sojourn_s.p95" => quantile(0.95),
        "sojourn_s.p99" => quantile(0.99),
        "sojourn_s.max" => quantile(1.0),
        "drop_ratio" => part(dropped, arrived),
        "drop_ratio_bytes" => part(counters.dropped_total().bytes.get() as f64, counters.arrived.bytes.get() as f64),
        "mark_ratio" => part(marked, packets(counters.arrived_ect.packets)),
        "signal_ratio" => part(early + marked, arrived),
        "drops.overflow" => Some(packets(counters.overflow().packets)),
        "drops.early" => Some(early),
        "arrived_packets" => Some(arrived),
        "departed_packets" => Some(departed),
        "marked_packets" => Some(marked),
        // What would need every event of every flow is not measured live.
        _ => None,
    }
}

fn group_value(name: &str, flows: &[FlowMeasured], seconds: f64) -> Option<f64> {
    let sum = |count: fn(&FlowMeasured) -> u64| flows.iter().map(count).sum::<u64>() as f64;
    let sent = sum(|flow| flow.sent_packets);
    let rtt = |value: &dyn Fn(&SojournHistogram) -> f64| {
        let all = round_trips(flows);
        (!all.is_empty()).then(|| value(&all) * 1e-9)
    };
    match name {
        "goodput_bit_s" => (seconds > 0.0).then(|| sum(|flow| flow.delivered_bytes) * 8.0 / seconds),
        "rtt_s.mean" => rtt(&|times| times.mean()),
        "rtt_s.p50" => rtt(&|times| times.value_at_quantile(0.5) as f64),
        "rtt_s.p95" => rtt(&|times| times.value_at_quantile(0.95) as f64),
        "rtt_s.p99" => rtt(&|times| times.value_at_quantile(0.99) as f64),
        "retransmitted_ratio" => (sent > 0.0).then(|| sum(|flow| flow.retransmitted_packets) / sent),
        "sent_packets" => Some(sent),
        _ => probe_value(name, flows),
    }
}

/// Round-trip times of all flows of a group.
fn round_trips(flows: &[FlowMeasured]) -> SojournHistogram {
    let mut all = TimeCounts::new();
    flows.iter().for_each(|flow| all.merge(flow.probes.as_ref().map_or(&flow.rtt, |probes| &probes.rtt)));
    all.histogram()
}

/// What is known of probes alone: which of them never came back.
fn probe_value(name: &str, flows: &[FlowMeasured]) -> Option<f64> {
    let probes = || flows.iter().filter_map(|flow| flow.probes.as_ref());
    let sum = |count: fn(&ProbesOutcome) -> u64| probes().map(count).sum::<u64>() as f64;
    let (sent, lost, runs) = (sum(|probes| probes.sent), sum(|probes| probes.lost), sum(|probes| probes.loss_runs));
    let part = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    match name {
        "loss_ratio" => part(lost, sent),
        "loss_run_packets.mean" => part(lost, runs),
        "loss_run_packets.max" => {
            probes().map(|probes| probes.longest_loss_run).max().filter(|longest| *longest > 0).map(|longest| longest as f64)
        }
        "loss_gap_packets" => part(sent - lost, runs),
        _ => None,
    }
}

/// As an ordinary user: becomes root of networks of its own. Only before this process has threads.
pub fn prepare() -> Result<(), String> {
    if namespace::is_root() {
        return Ok(());
    }
    namespace::become_root().map_err(|error| format!("--on live: needs root, or a kernel that lets users make networks: {error}"))
}
