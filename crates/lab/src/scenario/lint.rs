//! Warnings about settings that are allowed but probably not meant: under them the queue never
//! acts, or figures say little.

mod classes;

use crate::scenario::plan::{Direction, Link, LinkDirection, Part, Point, Queue, Scenario, Step, Traffic};
use goodqueue_aqm::EcnPolicy;
use goodqueue_aqm::spec::{Marking, Role, Unit, Value};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_sim::{Datagrams, RateSpec, SessionSpec, SourceSpec};
use goodqueue_tcp::{AckPolicy, Data, EcnMode};
use std::collections::BTreeMap;
use std::fmt;

/// Something that is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The setting, as a dotted key.
    pub field: String,
    /// A description of what is odd about the setting.
    pub message: String,
    /// The advice on what to do about it.
    pub help: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.field, self.message, self.help)
    }
}

/// The remarks on a sweep's points, each once, with the number of points where it is not true of
/// all.
#[must_use]
pub fn warnings_of_points(points: &[Point]) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for point in points {
        for warning in warnings(point) {
            let text = warning.to_string();
            match found.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => found.push((text, 1)),
            }
        }
    }
    let all = points.len();
    let line = |(text, count)| if count == all { text } else { format!("{text} (at {count} of {all} points)") };
    found.into_iter().map(line).collect()
}

/// Everything that is probably not meant at this point.
#[must_use]
pub fn warnings(point: &Point) -> Vec<Warning> {
    let mut lint = Lint::new(&point.plan);
    lint.times();
    for (number, link) in point.plan.links.iter().enumerate() {
        for heading in [Direction::Down, Direction::Up] {
            let step = Step { link: number, heading };
            let direction = link.direction(heading);
            if let Some(queue) = &direction.queue {
                lint.load(step, direction);
                lint.hidden(step, direction, queue);
                lint.buffer(step, direction, queue);
                lint.ecn(step, queue);
                lint.unanswered(step, queue);
                lint.parameters(step, direction, queue);
                lint.classes(step, queue);
            } else {
                lint.endless(step);
            }
        }
        lint.acknowledgements(number);
    }
    lint.weights();
    lint.found
}

struct Lint<'a> {
    plan: &'a Scenario,
    /// The groups whose data crosses each link, downward and upward, with the part that does.
    crossing: Vec<[Vec<(&'a Traffic, &'a Part)>; 2]>,
    /// The longest round-trip time of all groups.
    base_rtt: Duration,
    found: Vec<Warning>,
}

impl<'a> Lint<'a> {
    fn new(plan: &'a Scenario) -> Self {
        let mut crossing = vec![[Vec::new(), Vec::new()]; plan.links.len()];
        for group in plan.traffic.iter().filter(|group| group.flows > 0) {
            for part in group.parts() {
                for step in &part.path.forward {
                    crossing[step.link][usize::from(step.heading == Direction::Up)].push((group, part));
                }
            }
        }
        Self { plan, crossing, base_rtt: plan.base_rtt(), found: Vec::new() }
    }

    fn warn(&mut self, field: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Warning { field: field.into(), message: message.into(), help: help.into() });
    }

    fn link(&self, step: Step) -> &'a Link {
        &self.plan.links[step.link]
    }

    fn direction(&self, step: Step) -> &'a LinkDirection {
        self.link(step).direction(step.heading)
    }

    /// Key of a setting of a link in one direction.
    fn key(&self, step: Step, name: &str) -> String {
        let suffix = if step.heading == Direction::Up { "_up" } else { "" };
        format!("link.{}.{name}{suffix}", self.link(step).name)
    }

    /// The groups whose data crosses a link in one direction, with the part that does.
    fn groups(&self, step: Step) -> impl Iterator<Item = (&'a Traffic, &'a Part)> {
        self.crossing[step.link][usize::from(step.heading == Direction::Up)].iter().copied()
    }

    /// The longest round-trip time of the groups whose data crosses a link.
    fn base_rtt(&self, step: Step) -> Duration {
        self.groups(step).map(|(group, _)| self.plan.rtt_of(group)).max().unwrap_or(self.base_rtt)
    }

    fn times(&mut self) {
        let plan = self.plan;
        let end = plan.end();
        for (number, group) in plan.traffic.iter().enumerate() {
            let latest = Instant::ZERO + group.start.latest();
            if latest >= end {
                let message = format!("flows may start at {latest}, but the run ends at {end}");
                self.warn(format!("traffic.{number}.start"), message, "lengthen the duration or start earlier");
            } else if latest > Instant::ZERO + plan.warmup && group.stop.is_none() {
                let message = format!("{} ends before the last flow may start, at {latest}", plan.warmup);
                self.warn("warmup", message, "lengthen the warm-up, or the figures mix the start with the rest");
            }
            self.listed_too_late(number, group);
        }
        let rtt = self.base_rtt;
        if plan.duration < rtt * 100 {
            let message =
                format!("{} is {} round trips of {rtt}", plan.duration, plan.duration.as_nanos() / rtt.as_nanos().max(1));
            self.warn("duration", message, "measure at least 100 round trips");
        }
        if plan.replications == 1 {
            self.warn("replications", "one replication gives no confidence interval", "ask for 5 or more");
        }
        for link in 0..plan.links.len() {
            let step = Step { link, heading: Direction::Down };
            if let RateSpec::Steps(steps) = &self.direction(step).rate
                && let Some(late) = steps.iter().find(|step| step.0 >= end)
            {
                let message = format!("the step at {} never happens: the run ends at {end}", late.0);
                self.warn(self.key(step, "rate"), message, "lengthen the duration");
            }
        }
    }

    /// Remarks on a list that has entries after the end of the run.
    fn listed_too_late(&mut self, number: usize, group: &Traffic) {
        let lists = group.parts().filter_map(|part| match &part.source {
            SourceSpec::Session { model: SessionSpec::List { transfers }, .. } => Some(transfers),
            _ => None,
        });
        let run = self.plan.end().since(Instant::ZERO).saturating_sub(group.start.latest());
        let (late, all) = lists.fold((0, 0), |(late, all), list| {
            (late + list.iter().filter(|transfer| transfer.at >= run).count(), all + list.len())
        });
        if late > 0 {
            let message = format!("{late} of its {all} flows never begin: the run ends at {}", self.plan.end());
            self.warn(format!("traffic.{number}.file"), message, "lengthen the duration");
        }
    }

    /// Remarks on a direction that can never be the bottleneck.
    fn load(&mut self, step: Step, direction: &LinkDirection) {
        let nominal = direction.nominal_rate();
        let rate = direction.queue.as_ref().and_then(shaped).map_or(nominal, |shaped| shaped.min(nominal));
        let all: u64 = self.groups(step).map(|(group, _)| u64::from(group.flows)).sum();
        // Those of one of the links that this one stands for.
        let flows = all.div_ceil(u64::from(self.link(step).count));
        if flows == 0 {
            let message = "no data goes in this direction, so its queue stays empty";
            self.warn(self.key(step, "queue"), message, "add traffic with that direction");
            return;
        }
        let access = Rate::bit_s(self.plan.access.rate.as_bit_s().saturating_mul(flows));
        if access <= rate {
            let message = format!(
                "{flows} access links of {} are not faster than the bottleneck's {rate}: no queue forms there",
                self.plan.access.rate
            );
            self.warn("access.rate", message, "raise it above the bottleneck's rate");
        }
        let through: Option<Vec<Step>> = self.groups(step).map(|(_, part)| self.slower_before(part, step, rate)).collect();
        if let Some([first, ..]) = through.as_deref() {
            let message = format!(
                "all that comes here has passed a slower link, `{}`: no lasting queue forms",
                self.link(*first).name_of(first.heading)
            );
            self.warn(self.key(step, "rate"), message, "lower the rate, or take the other link for the bottleneck");
        }
        let offered: Option<f64> =
            self.groups(step).map(|(group, part)| self.offered_bit_s(group, part, self.link(step).overhead())).sum();
        if let Some(offered) = offered.map(|offered| offered / f64::from(self.link(step).count))
            && offered < direction.rate.slowest().min(rate).as_bit_s() as f64
        {
            let message =
                format!("at most {} is offered to a link of {rate}: no lasting queue forms", Rate::bit_s(offered as u64));
            self.warn(self.key(step, "rate"), message, "lower the rate or add traffic");
        }
    }

    /// A link that data crosses before it comes to `step`, and that is slower than `rate`.
    fn slower_before(&self, part: &Part, step: Step, rate: Rate) -> Option<Step> {
        let mut before = part.path.forward.iter().take_while(|other| **other != step);
        before.find(|other| self.direction(**other).nominal_rate() < rate).copied()
    }

    /// A link that data crosses after `step`, that is slower and holds nobody back.
    fn slower_after(&self, part: &Part, step: Step) -> Option<Step> {
        let rate = self.direction(step).nominal_rate();
        let after = part.path.forward.iter().skip_while(|other| **other != step).skip(1);
        let hides = |other: &&Step| {
            let other = self.direction(**other);
            other.nominal_rate() < rate && other.flow_control.is_none()
        };
        after.copied().find(|other| hides(&other))
    }

    /// Remarks on a slower link behind an algorithm: the queue then forms where the algorithm does
    /// not see it.
    fn hidden(&mut self, step: Step, direction: &LinkDirection, queue: &Queue) {
        if direction.flow_control.is_some() {
            let mut before =
                self.plan.traffic.iter().flat_map(Traffic::parts).flat_map(|part| [&part.path.forward, &part.path.reverse]);
            let heard = before.any(|way| way.windows(2).any(|pair| pair[1] == step && self.direction(pair[0]).queue.is_some()));
            if !heard {
                let message = "no link with a buffer leads here, so it holds nobody back";
                self.warn(self.key(step, "flow_control"), message, "take it out, or give the link before a buffer");
            }
        }
        if ["tail-drop", "shaper"].contains(&queue.chosen.kind.kind) {
            return;
        }
        let slower: Option<Vec<Step>> = self.groups(step).map(|(_, part)| self.slower_after(part, step)).collect();
        if let Some([first, ..]) = slower.as_deref() {
            let behind = self.link(*first).name_of(first.heading);
            let message =
                format!("the slower link `{behind}` comes behind it, so packets wait there and `{}` sees no queue", queue.name());
            let help =
                format!("put it there, shape this link to a lower rate (kind = \"shaper\"), or give `{behind}` flow_control");
            self.warn(self.key(step, "queue"), message, help);
        }
    }

    /// The most a part of a group can put on the wire on average; `None`: as much as there is room
    /// for.
    fn offered_bit_s(&self, group: &Traffic, part: &Part, overhead: Bytes) -> Option<f64> {
        if let Some(Datagrams { mean_bit_s, packet_size, .. }) = part.source.datagrams() {
            let on_wire = (packet_size + overhead).get() as f64 / packet_size.get().max(1) as f64;
            return Some(mean_bit_s * on_wire * f64::from(group.flows));
        }
        // The load that sessions offer depends on how much the network lets them finish.
        let SourceSpec::Tcp { sender, header, .. } = &part.source else { return None };
        let segment = (sender.mss + *header + overhead).get() as f64 / sender.mss.get().max(1) as f64;
        let by_data = match sender.data {
            Data::Unlimited | Data::Messages => None,
            Data::Bytes(bytes) => Some(bytes.get() as f64 * 8.0 / self.plan.duration.as_secs_f64()),
        };
        let rtt = self.plan.rtt_of(group).as_secs_f64();
        let by_window = (sender.max_window != Bytes::MAX && rtt > 0.0).then(|| sender.max_window.get() as f64 * 8.0 / rtt);
        let limit = match (by_data, by_window) {
            (Some(data), Some(window)) => data.min(window),
            (limit, None) | (None, limit) => limit?,
        };
        Some(limit * segment * f64::from(group.flows))
    }

    fn buffer(&mut self, step: Step, direction: &LinkDirection, queue: &Queue) {
        // Leaves hold packets for rates of their own.
        let Some(held) = held(queue, self.link(step).mtu).filter(|_| queue.chosen.kind.class.is_none()) else { return };
        // A slower link that holds this one back takes its place.
        let slowest = |(_, part): (&Traffic, &Part)| {
            let after = part.path.forward.iter().skip_while(|other| **other != step);
            after.map(|other| self.direction(*other).nominal_rate()).min()
        };
        let rate = self.groups(step).filter_map(slowest).max().unwrap_or_else(|| direction.nominal_rate());
        let bdp = rate.bytes_in(self.base_rtt(step));
        let filled = |(_, part): (&Traffic, &Part)| part.source.tcp().is_some() && self.slower_after(part, step).is_none();
        if held < bdp && self.groups(step).any(filled) {
            let message = format!("holds {held}, less than one bandwidth-delay product ({bdp})");
            self.warn(self.key(step, "buffer"), message, "with few flows the link may run empty; \"1 bdp\" is the usual least");
        }
    }

    fn ecn(&mut self, step: Step, queue: &Queue) {
        let sends_ecn = |(_, part): (&Traffic, &Part)| match part.source.datagrams() {
            Some(datagrams) => datagrams.ecn != Ecn::NotEct,
            None => part.source.tcp().is_some_and(|(sender, ..)| sender.ecn_mode() != EcnMode::Off),
        };
        let any = self.groups(step).any(sends_ecn);
        let key = self.key(step, "queue");
        match queue.ecn {
            EcnPolicy::Mark if !queue.marks() => {
                let message = format!("ecn is asked for, but `{}` never marks", queue.name());
                self.warn(format!("{key}.ecn"), message, "take it out or choose another algorithm");
            }
            EcnPolicy::Mark if projection(queue) == Some(false) => {
                let message = "ecn is asked for, but `jobs` marks by projection only";
                self.warn(format!("{key}.ecn"), message, "add projection = true to the queue");
            }
            EcnPolicy::Mark if !any && is_asked_to_mark(queue) => {
                let message = format!("`{}` is asked for ecn, but no sender uses it", queue.name());
                self.warn(format!("{key}.ecn"), message, "add ecn = true to the traffic");
            }
            EcnPolicy::Drop if marks_only(queue) => {
                let message = format!("`{}` only marks: without ecn it is a tail drop", queue.name());
                self.warn(key, message, "add ecn = true to the queue and to the traffic");
            }
            EcnPolicy::Drop if projection(queue) == Some(true) => {
                let message = "`jobs` only marks by projection: without ecn it does nothing";
                self.warn(format!("{key}.projection"), message, "add ecn = true to the queue and to the traffic");
            }
            EcnPolicy::Drop if any && queue.marks() => {
                let message = format!("senders use ecn, but `{}` does not mark", queue.name());
                self.warn(format!("{key}.ecn"), message, "add ecn = true to the queue");
            }
            EcnPolicy::Drop if any => {
                let message = format!("senders use ecn, but `{}` cannot mark", queue.name());
                self.warn(key, message, "its drops are what they get");
            }
            _ => {}
        }
    }

    /// Remarks on senders that no mark slows, at a queue that marks.
    fn unanswered(&mut self, step: Step, queue: &Queue) {
        if queue.ecn != EcnPolicy::Mark || !queue.marks() {
            return;
        }
        let deaf = |(group, part): (&Traffic, &Part)| {
            let (sender, ..) = part.source.tcp()?;
            sender.ignores_marks().then(|| (group.name.clone(), sender.cc.kind))
        };
        let found: BTreeMap<_, _> = self.groups(step).filter_map(deaf).collect();
        for (name, control) in found {
            let message = format!("`{control}` ({name}) does not respond to marks, so `{}` does not slow it", queue.name());
            self.warn(
                format!("{}.ecn", self.key(step, "queue")),
                message,
                "take ecn = true out of that traffic: it is dropped then",
            );
        }
    }

    fn parameters(&mut self, step: Step, direction: &LinkDirection, queue: &Queue) {
        let rate = direction.nominal_rate();
        let mtu = self.link(step).mtu;
        let held = held(queue, mtu);
        let key = self.key(step, "queue");
        let own = queue.chosen.kind.params.iter().map(|param| (queue.chosen.kind, param, &queue.chosen.params, key.clone()));
        let inner = queue
            .chosen
            .of
            .iter()
            .flat_map(|of| of.kind.params.iter().map(|param| (of.kind, param, &of.params, format!("{key}.of"))));
        for (kind, param, values, table) in own.chain(inner) {
            let whose = format!("{}'s {} of", kind.kind, param.name);
            let given = values.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            let Some(value) = given.or(param.default_value()) else { continue };
            let field = format!("{table}.{}", param.name);
            match value {
                Value::Size(size) if param.role == Role::Threshold => {
                    let Some((bytes, held)) = size.bytes(mtu, Some(rate)).zip(held) else { continue };
                    if bytes >= held {
                        let message = format!("{whose} {bytes} is not below the buffer ({held}): it is never exceeded");
                        self.warn(field, message, "lower it or enlarge the buffer");
                    }
                }
                Value::Duration(target) if ["target", "threshold"].contains(&param.name) && param.unit == Unit::Duration => {
                    let one = rate.transmission_time(mtu + self.link(step).overhead());
                    let drain = held.map(|held| rate.transmission_time(held));
                    if target < one && !SPARE_THE_LAST_PACKET.contains(&kind.kind) {
                        let message = format!("{whose} {target} is shorter than one full packet takes at {rate} ({one})");
                        self.warn(field, message, "raise it to at least that, or the queue signals without cause");
                    } else if let Some(drain) = drain.filter(|drain| *drain <= target) {
                        let message = format!(
                            "{whose} {target} is not below the time a full buffer drains in ({drain}): only the buffer drops"
                        );
                        self.warn(field, message, "lower it or enlarge the buffer");
                    }
                }
                _ => {}
            }
        }
    }

    /// Weights are for queues that weigh flows.
    fn weights(&mut self) {
        let uses_weights = |step: &Step| self.direction(*step).queue.as_ref().is_some_and(|queue| queue.chosen.weighs_flows());
        let idle = |group: &Traffic| group.weight != 1.0 && !group.parts().any(|part| part.path.steps().any(uses_weights));
        if let Some(number) = self.plan.traffic.iter().position(idle) {
            let message = format!("{} has no effect: no queue on the path weighs flows", self.plan.traffic[number].weight);
            let help = "take a queue that does, such as `nfq-codel`, or leave it out";
            self.warn(format!("traffic.{number}.weight"), message, help);
        }
    }

    /// Without a buffer a direction has an endless queue that nobody looks at.
    fn endless(&mut self, step: Step) {
        let rate = self.direction(step).nominal_rate();
        // Datagrams that fit through leave no queue behind.
        let fills = |group: &Traffic, part: &Part| {
            let offered = self.offered_bit_s(group, part, self.link(step).overhead());
            part.source.tcp().is_some() || offered.is_none_or(|offered| offered >= rate.as_bit_s() as f64)
        };
        let slowest = |(group, part): &(&Traffic, &Part)| {
            fills(group, part) && part.path.forward.iter().all(|other| self.direction(*other).nominal_rate() >= rate)
        };
        let slowest = self.groups(step).find(slowest);
        if let Some((group, _)) = slowest {
            let message = format!(
                "no link on the path of `{}` is slower, but here is no buffer: the queue is endless and not reported",
                group.name
            );
            self.warn(self.key(step, "buffer"), message, "give it a buffer");
        }
    }

    /// Acknowledgements of a full link must fit through the other direction.
    fn acknowledgements(&mut self, link: usize) {
        for (heading, back) in [(Direction::Down, Direction::Up), (Direction::Up, Direction::Down)] {
            let (step, back) = (Step { link, heading }, Step { link, heading: back });
            let rate = self.direction(step).nominal_rate().as_bit_s() as f64;
            let overhead = self.link(step).overhead();
            let comes_back = |(_, part): &(&Traffic, &Part)| part.path.reverse.contains(&back);
            let needed = self.groups(step).filter(comes_back).filter_map(|(_, part)| {
                let (sender, receiver, header) = part.source.tcp()?;
                let segments = match receiver.ack_policy {
                    AckPolicy::EveryPacket => 1,
                    AckPolicy::Delayed => 2,
                    AckPolicy::EveryWindow { segments } => u64::from(segments),
                };
                let data = (sender.mss + header + overhead).get() * segments;
                Some(rate * (header + overhead).get() as f64 / data as f64)
            });
            let needed = needed.fold(0.0, f64::max);
            let there = self.direction(back).nominal_rate();
            if needed > there.as_bit_s() as f64 {
                let message =
                    format!("{there} is too slow for the acknowledgements of a full link ({})", Rate::bit_s(needed as u64));
                self.warn(self.key(back, "rate"), message, "raise it, or the return direction is the bottleneck");
            }
        }
    }
}

/// Kinds that a target shorter than the time of a packet does not harm: CoDel does not signal while
/// at most one packet waits (RFC 8289 §5), and COBALT takes the time of one and a half packets as
/// the least target.
const SPARE_THE_LAST_PACKET: &[&str] = &["codel", "codel-as", "cobalt", "cake", "cake-mq", "fq-codel", "nfq-codel", "sfq-codel"];

/// Bytes of full packets that fit; `None` without a limit.
fn held(queue: &Queue, mtu: Bytes) -> Option<Bytes> {
    let by_packets = queue.limit.packets.get().saturating_mul(mtu.get());
    let held = by_packets.min(queue.limit.bytes.get());
    (held != u64::MAX).then_some(Bytes::new(held))
}

/// Whether the file asks for marks, as against a kind that marks unless told otherwise.
fn is_asked_to_mark(queue: &Queue) -> bool {
    !queue.chosen.marks_unasked() || queue.chosen.params.iter().any(|(name, _)| *name == "ecn")
}

/// Whether the algorithm in front of the only queue never drops.
fn marks_only(queue: &Queue) -> bool {
    queue.chosen.of.as_ref().map_or(queue.chosen.kind, |of| of.kind).marks == Marking::Only
}

/// The rate that a shaper lets pass.
fn shaped(queue: &Queue) -> Option<Rate> {
    let rate = queue.chosen.params.iter().find(|(name, _)| queue.chosen.kind.kind == "shaper" && *name == "rate");
    match rate {
        Some((_, Value::Rate(rate))) => Some(*rate),
        _ => None,
    }
}

/// Whether a queue that can look ahead does so; `None` when it cannot.
fn projection(queue: &Queue) -> Option<bool> {
    let is_on = || queue.chosen.params.iter().any(|(name, value)| *name == "projection" && *value == Value::Switch(true));
    queue.chosen.kind.param("projection").map(|_| is_on())
}

#[cfg(test)]
mod tests;
