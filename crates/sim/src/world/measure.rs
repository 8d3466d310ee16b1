//! Figures: the start of the measured part, sampling, and the outcome at the end.

use super::figures::{FlowReading, SampledFlow};
use super::flow_ends::Flow;
use super::path::FlowEnd;
use super::state::World;
use crate::ids::{ControlId, FlowId, GroupId, IdVec};
use crate::losses::{FlowSignals, LossEvents};
use crate::outcome::{FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn};
use crate::probe::LineTable;
use crate::timers::Target;
use crate::trace::{PacketEvent, ProbesOutcome, TimeCounts};
use goodqueue_aqm::Qdisc;
use goodqueue_base::units::{Duration, Instant};
use std::sync::Arc;

/// Largest number of sampled flows, and of sampled probes: a report of more lines could not be
/// read.
const MAX_SAMPLED_FLOWS: usize = 64;

impl World {
    pub(super) fn read_flow(&self, flow: FlowId) -> FlowReading {
        let ends = &self.ends;
        let none = FlowReading::default();
        let reading = match ends.flows[flow].end {
            FlowEnd::Session(session) => return self.read_session(session),
            FlowEnd::Tcp(tcp) => none.and(ends.receivers[tcp].receiver.delivered_bytes(), ends.senders[tcp].sender.statistics()),
            FlowEnd::Udp(udp) | FlowEnd::Echo(udp) => {
                let source = &ends.sources[udp];
                FlowReading { delivered_bytes: source.delivered_bytes, sent: source.sent, ..none }
            }
            FlowEnd::Outside(outside) => {
                let ends = &ends.outside[outside];
                FlowReading { delivered_bytes: ends.delivered_bytes, sent: ends.sent, retransmitted: ends.retransmitted, ..none }
            }
            // Read with their session.
            FlowEnd::Stream(_) => none,
        };
        reading.with_signals(self.net.recorder.flows[flow])
    }

    pub(super) fn begin_measuring(&mut self) {
        self.figures.measuring = true;
        for link in self.net.links.iter_mut() {
            let saved = link.rate.saved_bits(self.clock.now);
            link.probe.restart(self.clock.now, link.view(), link.counters(), saved);
        }
        self.net.recorder.losses.iter_mut().for_each(LossEvents::restart);
        self.net.recorder.flows.iter_mut().for_each(FlowSignals::restart);
        for session in self.ends.sessions.ids() {
            self.ends.sessions[session].video_at_warmup = self.read_video(session).unwrap_or_default();
        }
        for flow in self.ends.flows.ids() {
            self.ends.flows[flow].at_warmup = self.read_flow(flow);
        }
        for source in self.ends.sources.iter_mut() {
            let next = source.sent;
            if let Some(listener) = &mut source.listener {
                listener.begin_at(next);
            }
            if let Some(probes) = &mut source.probes {
                probes.begin();
            }
        }
        for end in self.ends.senders.iter_mut() {
            end.rtt_samples = end.sender.statistics().rtt_samples;
        }
    }

    /// Prepares the series: one for each observed link, one for each sampled TCP flow,
    /// one for each sampled echo.
    pub(super) fn prepare_series(&mut self, period: Duration) {
        /// Longer series make room for themselves.
        const MAX_AT_ONCE: u64 = 4_096;
        let span = self.clock.end.since(self.clock.now);
        let samples = (span.as_nanos() / period.as_nanos().max(1)).min(MAX_AT_ONCE) as usize;
        self.figures.sampled_at.reserve(samples);
        let mut known = 0;
        for link in self.net.links.iter() {
            // One for several links that are reported as one.
            if link.probe.observed.is_none_or(|number| number < known) {
                continue;
            }
            known += 1;
            let mut names: Vec<String> = ["queue_packets", "queue_bytes", "sojourn_s", "throughput_bit_s", "drops", "marks"]
                .iter()
                .map(ToString::to_string)
                .collect();
            link.qdisc.gauges(&mut |name, _| names.push(format!("gauge:{name}")));
            self.figures.series.push(new_series(format!("link:{}", link.probe.name), names, samples));
        }
        for (flow, facts) in self.ends.flows.pairs() {
            if matches!(facts.end, FlowEnd::Tcp(_)) && self.figures.sampled.len() < MAX_SAMPLED_FLOWS {
                self.figures.sampled.push(SampledFlow { flow, delivered: 0 });
                let names = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s"];
                let subject = format!("flow:{}:{}", self.figures.group_names[facts.group], facts.index);
                self.figures.series.push(new_series(subject, names.iter().map(ToString::to_string).collect(), samples));
            }
        }
        for facts in self.ends.flows.iter() {
            if let FlowEnd::Echo(udp) = facts.end
                && self.figures.probed.len() < MAX_SAMPLED_FLOWS
            {
                self.figures.probed.push(udp);
                let subject = format!("probe:{}:{}", self.figures.group_names[facts.group], facts.index);
                self.figures.series.push(new_series(subject, vec!["rtt_s".to_owned()], samples));
            }
        }
    }

    pub(super) fn sample(&mut self, control: ControlId) {
        let Some(period) = self.figures.recording.sample_every else { return };
        let (now, seconds) = (self.clock.now, period.as_secs_f64());
        self.figures.sampled_at.push(now);
        let mut sums: Vec<SampledLink> = Vec::new();
        for link in self.net.links.iter_mut() {
            let Some(observed) = link.probe.observed else { continue };
            let (view, counters) = (link.view(), link.counters());
            if sums.len() <= observed as usize {
                sums.push(SampledLink::default());
            }
            let sum = &mut sums[observed as usize];
            sum.links += 1.0;
            sum.packets += view.packets.get();
            sum.bytes += view.backlog.get();
            sum.departures += std::mem::take(&mut link.probe.recent_departures);
            sum.sojourn_nanos += std::mem::take(&mut link.probe.recent_sojourn_nanos);
            sum.sent_bytes += std::mem::take(&mut link.probe.recent_sent_bytes);
            sum.dropped += counters.dropped_total().packets.get();
            sum.marked += counters.marked.packets.get();
            let mut place = 0;
            link.qdisc.gauges(&mut |_, value| {
                match sum.gauges.get_mut(place) {
                    Some(gauge) => *gauge += value,
                    None => sum.gauges.push(value),
                }
                place += 1;
            });
        }
        let mut series = self.figures.series.iter_mut();
        for sum in sums {
            let Some(line) = series.next() else { break };
            push(line, &sum.values(seconds));
        }
        for SampledFlow { flow, delivered: before } in &mut self.figures.sampled {
            let (Some(line), Some(tcp)) = (series.next(), self.ends.flows[*flow].end.tcp()) else { break };
            let sender = &self.ends.senders[tcp].sender;
            let delivered = self.ends.receivers[tcp].receiver.delivered_bytes();
            let goodput = (delivered - *before) as f64 * 8.0 / seconds;
            *before = delivered;
            let srtt = sender.srtt().map_or(f64::NAN, Duration::as_secs_f64);
            push(line, &[sender.cwnd().get() as f64, sender.in_flight().get() as f64, srtt, goodput]);
        }
        for udp in &self.figures.probed {
            let (Some(line), Some(probes)) = (series.next(), &mut self.ends.sources[*udp].probes) else { break };
            push(line, &[probes.take_recent().map_or(f64::NAN, Duration::as_secs_f64)]);
        }
        let next = now + period;
        if next <= self.clock.end {
            self.set_timer(next, Target::Control(control));
        }
    }

    fn flow_outcome(&self, flow: FlowId) -> FlowOutcome {
        let facts = &self.ends.flows[flow];
        let (end, start) = (self.read_flow(flow), facts.at_warmup);
        let outcome = FlowOutcome {
            group: u32::from(facts.group.get()),
            index: facts.index,
            weight: facts.weight,
            delivered_bytes: end.delivered_bytes - start.delivered_bytes,
            sent_packets: end.sent - start.sent,
            retransmitted_packets: end.retransmitted - start.retransmitted,
            dropped_packets: Some(end.signals.dropped - start.signals.dropped),
            marked_packets: Some(end.signals.marked - start.signals.marked),
            completion: facts.completed_at.map(|at| at.since(facts.start)),
            timeouts: Some(end.timeouts - start.timeouts),
            loss_runs: end.signals.loss_runs - start.signals.loss_runs,
            longest_loss_run: end.signals.longest_run,
            is_probe: matches!(facts.end, FlowEnd::Echo(_)),
        };
        match self.probes(facts) {
            // Probes that never came back, wherever they were lost.
            Some(ProbesOutcome { sent, lost, loss_runs, longest_loss_run, .. }) => {
                FlowOutcome { sent_packets: sent, dropped_packets: Some(lost), loss_runs, longest_loss_run, ..outcome }
            }
            None => outcome,
        }
    }

    /// The outcome of an echo flow's probes.
    fn probes(&self, facts: &Flow) -> Option<ProbesOutcome> {
        let FlowEnd::Echo(udp) = facts.end else { return None };
        self.ends.sources[udp].probes.as_ref().map(|probes| probes.outcome(self.clock.end))
    }

    /// Adds the round-trip times of probes to those of their groups.
    fn add_round_trips_of_probes(&mut self) {
        for facts in self.ends.flows.iter() {
            if let Some(probes) = self.probes(facts) {
                self.figures.group_rtt[facts.group].merge(&probes.rtt);
            }
        }
    }

    /// Counts the plain flows of limited data that are complete.
    fn count_plain_transfers(&mut self) {
        for (flow, ideal) in std::mem::take(&mut self.figures.limited) {
            let Flow { completed_at: Some(at), start, group, .. } = self.ends.flows[flow] else { continue };
            let bytes = self.read_flow(flow).delivered_bytes;
            self.figures.completions[group].add(bytes, at.since(start), ideal.time(start, bytes, 2));
        }
    }

    /// The outcomes of groups.
    fn group_outcomes(&mut self) -> IdVec<GroupId, GroupOutcome> {
        let outcome = |(group, name): (GroupId, &String)| {
            let mut sojourn = TimeCounts::new();
            self.net.recorder.tables.iter().for_each(|table| table.add_group(group.get(), &mut sojourn));
            GroupOutcome {
                name: name.clone(),
                rtt: self.figures.group_rtt[group].clone(),
                sojourn,
                transfers: self.figures.completions[group].outcome(),
                videos: Vec::new(),
                one_way_delay: self.figures.group_delay[group].clone(),
                calls: Vec::new(),
            }
        };
        let mut groups: IdVec<GroupId, GroupOutcome> = self.figures.group_names.pairs().map(outcome).collect();
        for session in self.ends.sessions.ids() {
            if let Some(end) = self.read_video(session) {
                let source = &self.ends.sessions[session];
                groups[source.group].videos.push(end.since(&source.video_at_warmup));
            }
        }
        for facts in self.ends.flows.iter() {
            if let FlowEnd::Udp(udp) = facts.end {
                let source = &self.ends.sources[udp];
                groups[facts.group].calls.extend(source.listener.as_ref().map(|listener| listener.outcome(source.sent)));
            }
        }
        groups
    }

    /// The log of packet events, with the flows of the specification.
    pub(super) fn take_packets(&mut self) -> Vec<PacketEvent> {
        let mut log = self.net.recorder.log.as_mut().map(std::mem::take).unwrap_or_default();
        if !self.ends.sessions.is_empty() && !log.is_empty() {
            // Flow numbers of sessions' connections between those of flows do not count.
            let mut place = 0;
            let places: IdVec<FlowId, u32> = self
                .ends
                .flows
                .iter()
                .map(|facts| {
                    let here = place;
                    place += u32::from(facts.end.is_listed());
                    here
                })
                .collect();
            for event in &mut log {
                event.flow = places[self.flow_of_specification(FlowId::new(event.flow))];
            }
        }
        log
    }
}

/// The state of a link at a sample, or the sum of several that are reported as one.
#[derive(Default)]
struct SampledLink {
    links: f64,
    packets: u64,
    bytes: u64,
    /// Since the last sample.
    departures: u64,
    sojourn_nanos: u64,
    sent_bytes: u64,
    dropped: u64,
    marked: u64,
    gauges: Vec<f64>,
}

impl SampledLink {
    /// The values of its series: queues and gauges are the mean of one link.
    fn values(&self, seconds: f64) -> Vec<f64> {
        let mut values = vec![
            self.packets as f64 / self.links,
            self.bytes as f64 / self.links,
            if self.departures == 0 { f64::NAN } else { self.sojourn_nanos as f64 * 1e-9 / self.departures as f64 },
            self.sent_bytes as f64 * 8.0 / seconds,
            self.dropped as f64,
            self.marked as f64,
        ];
        values.extend(self.gauges.iter().map(|gauge| gauge / self.links));
        values
    }
}

/// A series with room for `samples` samples.
fn new_series(subject: String, names: Vec<String>, samples: usize) -> Series {
    let columns = names.into_iter().map(|name| SeriesColumn { name, values: Vec::with_capacity(samples) }).collect();
    Series { subject, times: Arc::default(), columns }
}

fn push(line: &mut Series, values: &[f64]) {
    for (column, value) in line.columns.iter_mut().zip(values) {
        column.values.push(*value);
    }
}

/// The figures of a run that has reached its end or was stopped.
pub(super) fn outcome(mut world: World, complete: bool) -> Outcome {
    world.net.check_conservation();
    let from = Instant::ZERO + world.clock.warmup;
    world.count_plain_transfers();
    world.add_round_trips_of_probes();
    let groups = world.group_outcomes().into_iter().collect();
    let packets = world.take_packets();
    let listed = world.ends.flows.pairs().filter(|(_, facts)| facts.end.is_listed());
    let flows = listed.map(|(flow, _)| world.flow_outcome(flow)).collect();
    let sampled_at = Arc::new(std::mem::take(&mut world.figures.sampled_at));
    for series in &mut world.figures.series {
        series.times = Arc::clone(&sampled_at);
    }
    Outcome {
        links: link_outcomes(&mut world, from),
        flows,
        groups,
        series: world.figures.series,
        packets,
        fingerprint: world.net.recorder.fingerprint,
        events: world.clock.events,
        complete,
    }
}

/// The outcomes of observed links over the part from `from` on.
fn link_outcomes(world: &mut World, from: Instant) -> Vec<LinkOutcome> {
    let end = world.clock.end;
    let mut outcomes: Vec<(LinkOutcome, u32)> = Vec::new();
    let (links, losses) = (std::mem::take(&mut world.net.links), std::mem::take(&mut world.net.recorder.losses));
    for (mut link, mut losses) in links.into_iter().zip(losses) {
        let Some(observed) = link.probe.observed else { continue };
        link.probe.integral.advance(end, link.view());
        let (queue_packets, queue_bytes) = link.probe.integral.mean(end.since(from));
        let settling = link.probe.extras.as_ref().and_then(|extras| extras.settle.as_ref()?.finish(from, end));
        let outcome = LinkOutcome {
            counters: link.counters().since(&link.probe.at_warmup),
            sent_bits: link.probe.sent_bytes as f64 * 8.0,
            capacity_bits: link.rate.capacity_bits(from, end) + link.probe.saved_bits,
            queue_packets,
            queue_bytes,
            sojourn_sum_s: link.probe.sojourn_nanos as f64 * 1e-9,
            sojourn: TimeCounts::new(),
            group_bits: Vec::new(),
            loss_synchronization: losses.finish(),
            loss_events: Some(losses.events),
            rate_changes: Some(settling.map_or(0, |settling| settling.changes)),
            settling,
            departed_whole_run: link.counters().departed.packets.get(),
            name: link.probe.name,
        };
        match outcomes.get_mut(observed as usize) {
            Some((sum, links)) => {
                sum.add(outcome, *links);
                *links += 1;
            }
            None => outcomes.push((outcome, 1)),
        }
    }
    let with_packets = |((outcome, _), table): ((LinkOutcome, u32), &LineTable)| LinkOutcome {
        sojourn: table.total(),
        group_bits: table.group_bits(),
        ..outcome
    };
    outcomes.into_iter().zip(&world.net.recorder.tables).map(with_packets).collect()
}
