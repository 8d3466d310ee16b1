//! The start of the measured part, sampling, and the figures at the end.

use super::{FlowFacts, HostKind, World};
use crate::losses::{FlowSignals, LossEvents};
use crate::outcome::{CallOutcome, FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn, VideoOutcome};
use crate::timers::Target;
use goodqueue_aqm::Qdisc;
use goodqueue_tcp::SenderStatistics;
use goodqueue_trace::{ProbesOutcome, empty_histogram};
use goodqueue_units::Duration;

/// Flows beyond this number are not sampled: a report of more lines could not be read.
const MAX_SAMPLED_FLOWS: usize = 64;

/// Cumulative counters of a flow at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowReading {
    pub(super) delivered_bytes: u64,
    sent: u64,
    retransmitted: u64,
    dropped: u64,
    marked: u64,
    timeouts: u64,
    loss_runs: u64,
    longest_loss_run: u64,
}

impl FlowReading {
    pub(super) fn add_delivered(&mut self, bytes: u64) {
        self.delivered_bytes += bytes;
    }

    /// This and what a connection did, `delivered` bytes among it.
    pub(super) fn and(&self, delivered: u64, statistics: &SenderStatistics) -> Self {
        Self {
            delivered_bytes: self.delivered_bytes + delivered,
            sent: self.sent + statistics.sent_segments,
            retransmitted: self.retransmitted + statistics.retransmitted_segments,
            timeouts: self.timeouts + statistics.timeouts,
            ..*self
        }
    }

    pub(super) fn with_signals(self, signals: FlowSignals) -> Self {
        Self {
            dropped: signals.dropped,
            marked: signals.marked,
            loss_runs: signals.loss_runs,
            longest_loss_run: signals.longest_run,
            ..self
        }
    }

    pub(super) fn without_delivered(self) -> Self {
        Self { delivered_bytes: 0, ..self }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.delivered_bytes += other.delivered_bytes;
        self.sent += other.sent;
        self.retransmitted += other.retransmitted;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.timeouts += other.timeouts;
        self.loss_runs += other.loss_runs;
        self.longest_loss_run = self.longest_loss_run.max(other.longest_loss_run);
    }
}

/// Which flows are sampled, and what they had delivered at the last sample.
#[derive(Clone, Debug, Default)]
pub(super) struct SampledFlows {
    flows: Vec<(u32, u64)>,
}

impl World {
    pub(super) fn read_flow(&self, flow: usize) -> FlowReading {
        let facts = &self.flows[flow];
        if facts.kind == HostKind::Session {
            return self.read_session(facts.slot);
        }
        let signals = self.tap.flows[flow];
        let slot = facts.slot as usize;
        let (delivered_bytes, sent, retransmitted, timeouts) = match facts.kind {
            HostKind::Tcp => {
                let statistics = self.senders[slot].sender.statistics();
                (
                    self.receivers[slot].receiver.delivered_bytes(),
                    statistics.sent_segments,
                    statistics.retransmitted_segments,
                    statistics.timeouts,
                )
            }
            HostKind::Udp | HostKind::Echo => (self.sources[slot].delivered_bytes, self.sources[slot].sent, 0, 0),
            HostKind::Outside => {
                let ends = &self.outside[slot];
                (ends.delivered_bytes, ends.sent, ends.retransmitted, 0)
            }
            // Read with their session.
            HostKind::Session | HostKind::Stream => (0, 0, 0, 0),
        };
        FlowReading {
            delivered_bytes,
            sent,
            retransmitted,
            dropped: signals.dropped,
            marked: signals.marked,
            timeouts,
            loss_runs: signals.loss_runs,
            longest_loss_run: signals.longest_run,
        }
    }

    pub(super) fn begin_measuring(&mut self) {
        self.measuring = true;
        for link in &mut self.links {
            link.probe.restart(self.now, link.qdisc.view(), link.qdisc.counters());
        }
        self.tap.losses.iter_mut().for_each(LossEvents::restart);
        self.tap.flows.iter_mut().for_each(FlowSignals::restart);
        for session in 0..self.sessions.len() {
            self.sessions[session].video_at_warmup = self.read_video(session).unwrap_or_default();
        }
        for flow in 0..self.flows.len() {
            self.flows[flow].at_warmup = self.read_flow(flow);
        }
        for source in &mut self.sources {
            let next = source.sent;
            if let Some(listener) = &mut source.listener {
                listener.begin_at(next);
            }
            if let Some(probes) = &mut source.probes {
                probes.begin();
            }
        }
        for host in &mut self.senders {
            host.rtt_samples = host.sender.statistics().rtt_samples;
        }
    }

    /// Prepares the series: one for each observed link, one for each sampled TCP flow.
    pub(super) fn prepare_series(&mut self) {
        for link in self.links.iter().filter(|link| link.probe.observed.is_some()) {
            let mut names: Vec<String> = ["queue_packets", "queue_bytes", "sojourn_s", "throughput_bit_s", "drops", "marks"]
                .iter()
                .map(ToString::to_string)
                .collect();
            link.qdisc.gauges(&mut |name, _| names.push(format!("gauge:{name}")));
            self.series.push(new_series(format!("link:{}", link.probe.name), names));
        }
        for (flow, facts) in self.flows.iter().enumerate() {
            if facts.kind == HostKind::Tcp && self.sampled.flows.len() < MAX_SAMPLED_FLOWS {
                self.sampled.flows.push((flow as u32, 0));
                let names = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s"];
                let subject = format!("flow:{}:{}", self.group_names[facts.group as usize], facts.index);
                self.series.push(new_series(subject, names.iter().map(ToString::to_string).collect()));
            }
        }
    }

    pub(super) fn sample(&mut self, control: u32) {
        let Some(period) = self.recording.sample_every else { return };
        let now = self.now;
        let mut series = self.series.iter_mut();
        for link in self.links.iter_mut().filter(|link| link.probe.observed.is_some()) {
            let Some(line) = series.next() else { break };
            let view = link.qdisc.view();
            let counters = link.qdisc.counters();
            let probe = &mut link.probe;
            let departures = std::mem::take(&mut probe.recent_departures);
            let sojourn_nanos = std::mem::take(&mut probe.recent_sojourn_nanos);
            let sent_bytes = std::mem::take(&mut probe.recent_sent_bytes);
            let mut values = vec![
                view.packets.get() as f64,
                view.backlog.get() as f64,
                if departures == 0 { f64::NAN } else { sojourn_nanos as f64 * 1e-9 / departures as f64 },
                sent_bytes as f64 * 8.0 / period.as_secs_f64(),
                counters.dropped_total().packets.get() as f64,
                counters.marked.packets.get() as f64,
            ];
            link.qdisc.gauges(&mut |_, value| values.push(value));
            push(line, now, &values);
        }
        for (flow, before) in &mut self.sampled.flows {
            let Some(line) = series.next() else { break };
            let slot = self.flows[*flow as usize].slot as usize;
            let sender = &self.senders[slot].sender;
            let delivered = self.receivers[slot].receiver.delivered_bytes();
            let goodput = (delivered - *before) as f64 * 8.0 / period.as_secs_f64();
            *before = delivered;
            let srtt = sender.srtt().map_or(f64::NAN, Duration::as_secs_f64);
            push(line, now, &[sender.cwnd().get() as f64, sender.in_flight().get() as f64, srtt, goodput]);
        }
        let next = now + period;
        if next <= self.end {
            self.set_timer(next, Target::Control(control));
        }
    }

    fn flow_outcome(&self, flow: usize) -> FlowOutcome {
        let facts = &self.flows[flow];
        let (end, start) = (self.read_flow(flow), facts.at_warmup);
        let outcome = FlowOutcome {
            group: facts.group,
            index: facts.index,
            weight: facts.weight,
            delivered_bytes: end.delivered_bytes - start.delivered_bytes,
            sent_packets: end.sent - start.sent,
            retransmitted_packets: end.retransmitted - start.retransmitted,
            dropped_packets: end.dropped - start.dropped,
            marked_packets: end.marked - start.marked,
            completion: facts.completed_at.map(|at| at.since(facts.start)),
            timeouts: end.timeouts - start.timeouts,
            loss_runs: end.loss_runs - start.loss_runs,
            longest_loss_run: end.longest_loss_run,
            is_probe: facts.kind == HostKind::Echo,
        };
        match self.probes(facts) {
            // What never came back, wherever it was lost.
            Some(ProbesOutcome { sent, lost, loss_runs, longest_loss_run, .. }) => {
                FlowOutcome { sent_packets: sent, dropped_packets: lost, loss_runs, longest_loss_run, ..outcome }
            }
            None => outcome,
        }
    }

    /// What became of an echo flow's probes.
    fn probes(&self, facts: &FlowFacts) -> Option<ProbesOutcome> {
        let is_echo = facts.kind == HostKind::Echo;
        is_echo.then(|| self.sources[facts.slot as usize].probes.as_ref())?.map(|probes| probes.outcome(self.end))
    }

    /// Round-trip times of each group's probes.
    fn round_trips_of_probes(&mut self) {
        for facts in &self.flows {
            if let Some(probes) = self.probes(facts) {
                self.group_rtt[facts.group as usize].merge(&probes.rtt);
            }
        }
    }
}

fn new_series(subject: String, names: Vec<String>) -> Series {
    let columns = names.into_iter().map(|name| SeriesColumn { name, values: Vec::new() }).collect();
    Series { subject, times: Vec::new(), columns }
}

fn push(line: &mut Series, now: goodqueue_units::Instant, values: &[f64]) {
    line.times.push(now);
    for (column, value) in line.columns.iter_mut().zip(values) {
        column.values.push(*value);
    }
}

/// The figures of a run that has reached its end or was stopped.
pub(super) fn outcome(mut world: World, complete: bool) -> Outcome {
    world.check_conservation();
    let from = goodqueue_units::Instant::ZERO + world.warmup;
    let span = world.end.since(from);
    world.count_plain_transfers();
    let mut videos = world.videos();
    let mut calls = world.calls();
    world.round_trips_of_probes();
    let packets = world.take_packets();
    let flows = (0..world.flows.len())
        .filter(|&flow| world.flows[flow].kind != HostKind::Stream)
        .map(|flow| world.flow_outcome(flow))
        .collect();
    let groups = std::mem::take(&mut world.group_names)
        .into_iter()
        .zip(std::mem::take(&mut world.group_rtt))
        .zip(0..)
        .map(|((name, rtt), group)| {
            let mut sojourn = empty_histogram();
            world.links.iter().for_each(|link| link.probe.sojourn.add_group(group, &mut sojourn));
            let mut round_trips = empty_histogram();
            rtt.add_to(&mut round_trips);
            let transfers = world.completions[usize::from(group)].outcome();
            let videos = std::mem::take(&mut videos[usize::from(group)]);
            let mut one_way_delay = empty_histogram();
            if let Some(counts) = &world.group_delay[usize::from(group)] {
                counts.add_to(&mut one_way_delay);
            }
            let calls = std::mem::take(&mut calls[usize::from(group)]);
            GroupOutcome { name, rtt: round_trips, sojourn, transfers, videos, one_way_delay, calls }
        })
        .collect();
    let mut links = Vec::new();
    for (mut link, mut losses) in std::mem::take(&mut world.links).into_iter().zip(std::mem::take(&mut world.tap.losses)) {
        if link.probe.observed.is_none() {
            continue;
        }
        link.probe.integral.advance(world.end, link.qdisc.view());
        let (queue_packets, queue_bytes) = link.probe.integral.mean(span);
        links.push(LinkOutcome {
            counters: link.qdisc.counters().since(&link.probe.at_warmup),
            sent_bits: link.probe.sent_bytes as f64 * 8.0,
            capacity_bits: link.rate.capacity_bits(from, world.end),
            queue_packets,
            queue_bytes,
            sojourn_sum_s: link.probe.sojourn_nanos as f64 * 1e-9,
            sojourn: link.probe.sojourn.total(),
            group_bits: link.probe.line_bytes.chunks(2).map(|ways| ways.iter().sum::<u64>() as f64 * 8.0).collect(),
            loss_synchronization: losses.finish(),
            loss_events: losses.events,
            settling: link.probe.extras.as_ref().and_then(|extras| extras.settle.as_ref()?.finish(from, world.end)),
            departed_whole_run: link.qdisc.counters().departed.packets.get(),
            name: link.probe.name,
        });
    }
    Outcome {
        links,
        flows,
        groups,
        series: world.series,
        packets,
        fingerprint: world.tap.fingerprint,
        events: world.handled,
        complete,
    }
}

impl World {
    /// Plain flows of limited data that are complete.
    fn count_plain_transfers(&mut self) {
        for (flow, ideal) in std::mem::take(&mut self.limited) {
            let FlowFacts { completed_at: Some(at), start, group, .. } = self.flows[flow as usize] else { continue };
            let bytes = self.read_flow(flow as usize).delivered_bytes;
            self.completions[group as usize].add(bytes, at.since(start), ideal.time(bytes, 2));
        }
    }

    /// What each group's videos played in the measured part.
    fn videos(&mut self) -> Vec<Vec<VideoOutcome>> {
        let mut videos = vec![Vec::new(); self.completions.len()];
        for session in 0..self.sessions.len() {
            let Some(end) = self.read_video(session) else { continue };
            let start = self.sessions[session].video_at_warmup;
            videos[self.group_of_session(session) as usize].push(VideoOutcome {
                media_bits: end.media_bits - start.media_bits,
                media: end.media.saturating_sub(start.media),
                played: end.played.saturating_sub(start.played),
                stalled: end.stalled.saturating_sub(start.stalled),
                stalls: end.stalls - start.stalls,
                switches: end.switches - start.switches,
            });
        }
        videos
    }

    /// What each group's listeners heard.
    fn calls(&self) -> Vec<Vec<CallOutcome>> {
        let mut calls = vec![Vec::new(); self.group_names.len()];
        for facts in self.flows.iter().filter(|facts| facts.kind == HostKind::Udp) {
            if let Some(listener) = &self.sources[facts.slot as usize].listener {
                calls[facts.group as usize].push(listener.outcome());
            }
        }
        calls
    }

    /// The log of packet events, with the flows of the specification.
    pub(super) fn take_packets(&mut self) -> Vec<goodqueue_trace::PacketEvent> {
        let mut log = self.tap.log.as_mut().map(std::mem::take).unwrap_or_default();
        if !self.sessions.is_empty() && !log.is_empty() {
            // Numbers that connections have taken between those of flows do not count.
            let mut place = 0;
            let places: Vec<u32> = self
                .flows
                .iter()
                .map(|facts| {
                    let here = place;
                    place += u32::from(facts.kind != HostKind::Stream);
                    here
                })
                .collect();
            log.iter_mut().for_each(|event| event.flow = places[self.flow_of_specification(event.flow) as usize]);
        }
        log
    }

    /// Every queue's books must balance, and every packet must be somewhere.
    fn check_conservation(&self) {
        let mut elsewhere = self.ended + self.wire_losses;
        for link in &self.links {
            let (counters, waiting) = (link.qdisc.counters(), link.qdisc.view());
            assert!(
                counters.conserves(waiting),
                "link {}: arrived packets must be departed, dropped or waiting",
                link.probe.name
            );
            elsewhere += counters.dropped_total().packets.get() + waiting.packets.get() + u64::from(link.transit.is_some());
        }
        elsewhere += self.lanes.iter().map(|lane| lane.len() as u64).sum::<u64>();
        assert_eq!(self.launched, elsewhere, "every packet sent must have arrived, be lost, or be under way");
    }
}
