//! Links: rates, delays, buffers and queues of both directions.

use super::Known;
use super::queue::{self, Queue};
use super::reader::{self, Field, Table};
use super::scenario::{LONGEST, LONGEST_DELAY};
use super::topology::Path;
use super::traffic::Heading;
use super::tree::{Entry, Node, Value};
use crate::diagnostic::Fault;
use crate::quantity::{self, Limits};
use goodqueue_aqm::spec::{LinkFacts, Size};
use goodqueue_sim::RateSpec;
use goodqueue_units::{Bytes, Duration, Instant, Packets, Rate};

/// Fastest link.
pub(super) const FASTEST: Rate = Rate::gbit(10_000);
/// Smallest MTU that carries a TCP header with options and some data.
const SMALLEST_MTU: Bytes = Bytes::new(128);
/// Largest IP packet.
const LARGEST_MTU: Bytes = Bytes::new(65_535);
const MOST_OVERHEAD: Bytes = Bytes::new(10_000);
const MOST_BURST: Bytes = Bytes::new(1_000_000_000);
const MOST_STEPS: usize = 100_000;

const MOST_LINKS: usize = 1_000;

/// A link between two nodes.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name in the file and in results.
    pub name: String,
    /// The nodes it leads from and to; `None` for a single link that names none.
    pub ends: Option<[String; 2]>,
    /// Has it only the direction that the file describes?
    pub one_way: bool,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
    /// The direction that the file describes.
    pub down: Direction,
    /// The return direction.
    pub up: Direction,
}

impl Link {
    /// One of its directions.
    #[must_use]
    pub fn direction(&self, heading: Heading) -> &Direction {
        match heading {
            Heading::Down => &self.down,
            Heading::Up => &self.up,
        }
    }

    /// What results call one of its directions.
    #[must_use]
    pub fn name_of(&self, heading: Heading) -> String {
        match heading {
            Heading::Down => self.name.clone(),
            Heading::Up => format!("{}.up", self.name),
        }
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Direction {
    /// Transmission rate over time.
    pub rate: RateSpec,
    /// One-way propagation delay.
    pub delay: Duration,
    /// What waits in front of the transmitter; `None`: a FIFO without limit, not reported in results.
    pub queue: Option<Queue>,
    /// Probability that a packet is lost on the wire, in [0, 1).
    pub loss: f64,
    /// Bytes that take no time after a pause, framing included; zero for a wire.
    pub burst: Bytes,
    /// While this much waits here, links that lead here do not send; `None`: they never hear of it.
    pub flow_control: Option<goodqueue_aqm::Limit>,
}

impl Direction {
    /// The rate that buffers and algorithms are sized by: the constant one, the first step, or the mean of a recording.
    #[must_use]
    pub fn nominal_rate(&self) -> Rate {
        nominal_rate(&self.rate)
    }
}

fn nominal_rate(rate: &RateSpec) -> Rate {
    match rate {
        RateSpec::Constant(rate) => *rate,
        RateSpec::Steps(steps) => steps.first().map_or(Rate::ZERO, |step| step.1),
        RateSpec::Trace(trace) => {
            let bytes: Bytes = trace.opportunities.iter().map(|opportunity| opportunity.1).sum();
            let bits = u128::from(bytes.get()) * 8 * 1_000_000_000 / u128::from(trace.period.as_nanos().max(1));
            Rate::bit_s(u64::try_from(bits).unwrap_or(u64::MAX))
        }
    }
}

/// A link whose buffers still wait for the round-trip times of the paths that cross it.
pub(super) struct Draft<'a> {
    pub(super) name: String,
    pub(super) ends: Option<[String; 2]>,
    pub(super) one_way: bool,
    pub(super) mtu: Bytes,
    pub(super) table: Table<'a>,
    overhead: Bytes,
    down: DirectionDraft,
    up: DirectionDraft,
}

struct DirectionDraft {
    rate: RateSpec,
    burst: Bytes,
    delay: Duration,
    loss: f64,
    queue: queue::Draft,
    flow_control: Option<Size>,
}

/// Reads all `[link.NAME]`. The return direction of the whole is `None` when a fault was found.
pub(super) fn read<'a>(scenario: &Table<'a>, known: &Known) -> Option<Vec<Draft<'a>>> {
    let help = "describe the bottleneck, for instance [link.bottleneck] with rate, delay and buffer";
    let Some(node) = scenario.get("link") else {
        scenario.required("link", help, |_| Ok(()));
        return None;
    };
    let links = Table::open(node, "link", scenario.faults())?;
    if links.entries().is_empty() || links.entries().len() > MOST_LINKS {
        let message = match links.entries().len() {
            0 => "has no link in it".to_owned(),
            many => format!("has {many} links: allowed 1 to {MOST_LINKS}"),
        };
        scenario.fault("link", message, Some(help.to_owned()));
        return None;
    }
    // All are read, so that one look shows all faults.
    let drafts: Vec<Option<Draft<'a>>> = links.entries().iter().map(|entry| read_entry(&links, entry, help, known)).collect();
    drafts.into_iter().collect()
}

fn read_entry<'a>(links: &Table<'a>, entry: &'a Entry, help: &str, known: &Known) -> Option<Draft<'a>> {
    let key = &entry.key;
    if !matches!(entry.node.value, Value::Table(_)) {
        links.fault(key, "is not a table".to_owned(), Some(help.to_owned()));
        return None;
    }
    if !is_name(key) {
        links.fault(key, "is not a name: allowed 1 to 64 letters, digits, `-` and `_`".to_owned(), None);
        return None;
    }
    let table = Table::open(&entry.node, &links.path_of(key), links.faults())?;
    read_link(table, key, known)
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn read_node(field: Field<'_>) -> Result<String, Fault> {
    let name = reader::text(field)?;
    if is_name(name) {
        return Ok(name.to_owned());
    }
    let message = format!("`{}` is not a name of a node: allowed 1 to 64 letters, digits, `-` and `_`", field.node.shown());
    Err(field.fault(message, None))
}

fn read_ends(table: &Table<'_>) -> Option<Option<[String; 2]>> {
    if table.get("from").is_none() && table.get("to").is_none() {
        return Some(None);
    }
    let help = "a link that names one of its nodes names both: from = \"a\", to = \"b\"";
    let from = table.required("from", help, read_node);
    let to = table.required("to", help, read_node);
    Some(Some([from?, to?]))
}

/// Keys of the return direction, which a one-way link does not have.
const UP_KEYS: [&str; 7] = ["rate_up", "burst_up", "delay_up", "loss_up", "queue_up", "buffer_up", "flow_control_up"];

fn read_link<'a>(table: Table<'a>, name: &str, known: &Known) -> Option<Draft<'a>> {
    let rate = table.required("rate", "write for instance rate = \"10 Mbit/s\"", |field| read_rate(field, known));
    let rate_up = table.optional("rate_up", |field| read_rate(field, known));
    let delays = Limits::new(Duration::ZERO, LONGEST_DELAY);
    let delay = table.required("delay", "write the one-way delay, for instance delay = \"5 ms\"", reader::duration(delays));
    let delay_up = table.optional("delay_up", reader::duration(delays));
    let overhead = table.optional("overhead", reader::bytes(Limits::new(Bytes::ZERO, MOST_OVERHEAD)));
    let mtu = table.optional("mtu", reader::bytes(Limits::new(SMALLEST_MTU, LARGEST_MTU)));
    let loss = table.optional("loss", read_loss).unwrap_or(0.0);
    let loss_up = table.optional("loss_up", read_loss).unwrap_or(0.0);
    let burst = read_burst(&table, "burst", rate.as_ref());
    let burst_up = read_burst(&table, "burst_up", rate_up.as_ref().or(rate.as_ref()));
    let ends = read_ends(&table);
    let one_way = table.optional("one_way", reader::switch).unwrap_or(false);
    let flow_control = table.optional("flow_control", read_flow_control).flatten();
    let flow_control_up = table.optional("flow_control_up", read_flow_control).flatten();
    if one_way && let Some(key) = UP_KEYS.into_iter().find(|key| table.get(key).is_some()) {
        table.fault(key, "describes a direction that a one-way link does not have".to_owned(), None);
    }
    let down_queue = queue::Draft::read(&table, queue::Names { queue: "queue", buffer: "buffer" }, known);
    let up_queue = queue::Draft::read(&table, queue::Names { queue: "queue_up", buffer: "buffer_up" }, known);
    let complete = (rate, delay, ends, down_queue, up_queue);
    let (Some(rate), Some(delay), Some(ends), Some(down_queue), Some(up_queue)) = complete else {
        table.finish(&format!("[link.{name}]"));
        return None;
    };
    let rate_up = rate_up.unwrap_or_else(|| default_return_rate(&rate));
    let delay_up = delay_up.unwrap_or(delay);
    Some(Draft {
        name: name.to_owned(),
        ends,
        one_way,
        mtu: mtu.unwrap_or(Bytes::new(1500)),
        overhead: overhead.unwrap_or(Bytes::ZERO),
        down: DirectionDraft { rate, burst, delay, loss, queue: down_queue, flow_control },
        up: DirectionDraft {
            rate: rate_up,
            burst: burst_up,
            delay: delay_up,
            loss: loss_up,
            queue: up_queue,
            flow_control: flow_control_up,
        },
        table,
    })
}

/// What the paths over a link ask of it.
#[derive(Clone, Copy)]
pub(super) struct Demand {
    /// Longest round-trip time of the paths that cross it, without queueing and transmission.
    pub(super) base_rtt: Duration,
    /// Does data go up?
    pub(super) data_up: bool,
    /// Is it the only link? Then it is the bottleneck, and needs a buffer.
    pub(super) only: bool,
}

impl Demand {
    /// Of the given paths, each with its round-trip time, on link `number`.
    pub(super) fn of<'p>(
        number: usize,
        only: bool,
        own_rtt: Duration,
        paths: impl Iterator<Item = (&'p Path, Duration)>,
    ) -> Self {
        let mut demand = Self { base_rtt: Duration::ZERO, data_up: false, only };
        for (path, rtt) in paths.filter(|(path, _)| path.steps().any(|step| step.link == number)) {
            demand.base_rtt = demand.base_rtt.max(rtt);
            demand.data_up |= path.forward.iter().any(|step| step.link == number && step.heading == Heading::Up);
        }
        if demand.base_rtt.is_zero() {
            demand.base_rtt = own_rtt;
        }
        demand
    }
}

impl Draft<'_> {
    /// One-way propagation delay.
    pub(super) fn delay_of(&self, heading: Heading) -> Duration {
        match heading {
            Heading::Down => self.down.delay,
            Heading::Up => self.up.delay,
        }
    }

    /// Works out buffers and lets algorithms check their parameters. `None` when a fault was found.
    pub(super) fn finish(self, demand: Demand) -> Option<Link> {
        let Self { name, ends, one_way, mtu, overhead, table, down, up } = self;
        let facts = |draft: &DirectionDraft| LinkFacts {
            rate: Some(nominal_rate(&draft.rate)),
            delay: draft.delay,
            mtu,
            overhead,
            limit: goodqueue_aqm::Limit::NONE,
        };
        let (down_facts, up_facts) = (facts(&down), facts(&up));
        let need_down = if demand.only { queue::Need::Always } else { queue::Need::IfGiven };
        let need_up = if demand.data_up && demand.only { queue::Need::ForTraffic } else { queue::Need::IfGiven };
        let finished = down
            .finish(&table, "flow_control", &down_facts, demand.base_rtt, need_down)
            .and_then(|down| Some((down, up.finish(&table, "flow_control_up", &up_facts, demand.base_rtt, need_up)?)));
        table.finish(&format!("[link.{name}]"));
        let (down, up) = finished?;
        Some(Link { name, ends, one_way, mtu, overhead, down, up })
    }
}

impl DirectionDraft {
    fn finish(self, table: &Table<'_>, key: &str, facts: &LinkFacts, base_rtt: Duration, need: queue::Need) -> Option<Direction> {
        let queue = self.queue.finish(table, facts, base_rtt, need)?;
        let flow_control = self.flow_control.map(|size| limit_of(quantity::Buffer::Size(size), facts, base_rtt));
        if let Some(most) = flow_control {
            let fault = |message: &str, help: &str| table.fault(key, message.to_owned(), Some(help.to_owned()));
            let Some(queue) = &queue else {
                fault("needs a queue here that can fill", "give this direction a buffer");
                return None;
            };
            if most.packets < Packets::new(1) || most.bytes < Bytes::new(1) {
                fault("stops everything: allowed 1 packet and more", "write for instance \"2 packets\" or \"10 ms\"");
                return None;
            }
            if most.packets >= queue.limit.packets && most.bytes >= queue.limit.bytes {
                fault("is not below the buffer: it drops before others are stopped", "lower it or enlarge the buffer");
                return None;
            }
        }
        Some(Direction { rate: self.rate, burst: self.burst, delay: self.delay, queue, loss: self.loss, flow_control })
    }
}

/// The return direction is as fast as the link itself; where that is a recording, as its mean.
fn default_return_rate(rate: &RateSpec) -> RateSpec {
    match rate {
        RateSpec::Trace(_) => RateSpec::Constant(nominal_rate(rate)),
        other => other.clone(),
    }
}

/// A token bucket needs one rate.
fn read_burst(table: &Table<'_>, key: &'static str, rate: Option<&RateSpec>) -> Bytes {
    let burst = table.optional(key, reader::bytes(Limits::new(Bytes::ZERO, MOST_BURST))).unwrap_or(Bytes::ZERO);
    if !burst.is_zero() && rate.is_some_and(|rate| !matches!(rate, RateSpec::Constant(_))) {
        let help = "take it out, or put a queue of kind \"shaper\" before the link";
        table.fault(key, "is for links of constant rate only".to_owned(), Some(help.to_owned()));
    }
    burst
}

fn read_loss(field: Field<'_>) -> Result<f64, Fault> {
    let loss = reader::ratio(field)?;
    // A link that loses everything would keep senders waiting for ever.
    if loss > 0.99 {
        return Err(field.fault(format!("`{}` is out of range: allowed 0 to 99 %", field.node.shown()), None));
    }
    Ok(loss)
}

fn read_flow_control(field: Field<'_>) -> Result<Option<Size>, Fault> {
    match &field.node.value {
        Value::String(text) if text == "none" => Ok(None),
        _ => reader::size(field).map(Some),
    }
}

fn read_rate(field: Field<'_>, known: &Known) -> Result<RateSpec, Fault> {
    let Value::Table(entries) = &field.node.value else {
        return reader::rate(Limits::new(Rate::bit_s(1), FASTEST))(field).map(RateSpec::Constant);
    };
    let inner = |key: &str| format!("{}.{key}", field.path);
    match entries.as_slice() {
        [entry] if entry.key == "steps" => {
            let path = inner("steps");
            read_steps(Field { node: &entry.node, path: &path }).map(RateSpec::Steps)
        }
        [entry] if entry.key == "trace" => {
            let path = inner("trace");
            let field = Field { node: &entry.node, path: &path };
            let trace = known.files.trace(reader::text(field)?).map_err(|error| field.fault(error.to_string(), None))?;
            Ok(RateSpec::Trace(trace))
        }
        _ => {
            let help = "write { steps = [[\"0 s\", \"100 Mbit/s\"], [\"50 s\", \"10 Mbit/s\"]] } or { trace = \"FILE\" }";
            Err(field.fault("is not a rate over time".to_owned(), Some(help.to_owned())))
        }
    }
}

fn read_steps(field: Field<'_>) -> Result<Vec<(Instant, Rate)>, Fault> {
    let help = || Some("write [[\"0 s\", \"100 Mbit/s\"], [\"50 s\", \"10 Mbit/s\"]]".to_owned());
    let Value::Array(items) = &field.node.value else {
        return Err(field.fault(format!("{} is not a list of steps", field.node.kind()), help()));
    };
    if items.is_empty() || items.len() > MOST_STEPS {
        return Err(field.fault(format!("has {} steps: allowed 1 to {MOST_STEPS}", items.len()), help()));
    }
    let mut steps: Vec<(Instant, Rate)> = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let path = format!("{}.{number}", field.path);
        let step = Field { node: item, path: &path };
        let (at, rate) = read_step(step)?;
        match steps.last() {
            None if at > Instant::ZERO => {
                return Err(step.fault("the first step must be at \"0 s\"".to_owned(), None));
            }
            Some(&(before, _)) if at <= before => {
                return Err(step.fault(format!("a step at {at} is not later than the one before, at {before}"), None));
            }
            _ => steps.push((at, rate)),
        }
    }
    if steps[0].1.is_zero() {
        let path = format!("{}.0", field.path);
        let message = "the first rate must be above zero: buffers and algorithms are sized by it".to_owned();
        return Err(Field { node: &items[0], path: &path }.fault(message, None));
    }
    Ok(steps)
}

fn read_step(step: Field<'_>) -> Result<(Instant, Rate), Fault> {
    match &step.node.value {
        Value::Array(pair) if pair.len() == 2 => {
            let at = reader::duration(Limits::new(Duration::ZERO, LONGEST))(part(step, &pair[0]))?;
            let rate = reader::rate(Limits::new(Rate::ZERO, FASTEST))(part(step, &pair[1]))?;
            Ok((Instant::ZERO + at, rate))
        }
        _ => Err(step.fault("is not a pair of time and rate".to_owned(), Some("write [\"50 s\", \"10 Mbit/s\"]".to_owned()))),
    }
}

fn part<'a>(step: Field<'a>, node: &'a Node) -> Field<'a> {
    Field { node, path: step.path }
}

/// What `buffer` holds on this link.
pub(super) fn limit_of(buffer: quantity::Buffer, facts: &LinkFacts, base_rtt: Duration) -> goodqueue_aqm::Limit {
    use goodqueue_aqm::Limit;
    let rate = facts.rate.unwrap_or(Rate::ZERO);
    match buffer {
        quantity::Buffer::Bdp(multiple) => {
            // `as` saturates.
            let bytes = rate.as_bytes_s_f64() * base_rtt.as_secs_f64() * multiple;
            Limit::bytes((bytes + 0.5) as u64)
        }
        quantity::Buffer::Size(Size::Packets(packets)) => Limit::packets((packets + 0.5) as u64),
        quantity::Buffer::Size(Size::Bytes(bytes)) => Limit::bytes((bytes + 0.5) as u64),
        quantity::Buffer::Size(Size::Time(span)) => Limit::bytes(rate.bytes_in(span).get()),
    }
}
