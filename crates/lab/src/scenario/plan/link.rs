//! Links: rates, delays, buffers and queues of both directions.

use super::known::Known;
use super::params::Keys;
use super::path::{Direction, Path};
use super::queue::{self, Queue};
use super::reader::{self, Field, Table, is_name};
use super::tree::{Entry, Node, Value};
use crate::quantity::{self, Limits, excerpt};
use crate::scenario::diagnostic::Fault;
use crate::scenario::limits::{MAX, MAX_LINKS, MAX_RATE};
use crate::scenario::schema::link::{self as schema, LINK, MAX_FRAMING, UP};
use goodqueue_aqm::spec::{LinkFacts, Size};
use goodqueue_base::spec::ParamValues;
use goodqueue_base::units::{Bytes, Cells, Duration, Framing, Instant, Packets, Rate};
use goodqueue_sim::RateSpec;
use std::collections::BTreeSet;

const MAX_STEPS: usize = 100_000;

/// A link between two nodes.
#[derive(Clone, Debug)]
pub struct Link {
    /// The name in the file and in results.
    pub name: String,
    /// The nodes it leads from and to; `None` for a single link that names none.
    pub ends: Option<[String; 2]>,
    /// Whether the link has only the direction that the file describes.
    pub one_way: bool,
    /// The number of equal links that it stands for.
    pub count: u32,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// The framing that the link adds to each packet.
    pub framing: Framing,
    /// The direction that the file describes.
    pub down: LinkDirection,
    /// The return direction.
    pub up: LinkDirection,
}

impl Link {
    /// Bytes that it adds to a full packet.
    #[must_use]
    pub fn overhead(&self) -> Bytes {
        self.framing.added(self.mtu)
    }

    /// One of its directions.
    #[must_use]
    pub fn direction(&self, heading: Direction) -> &LinkDirection {
        match heading {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// The name of one of its directions in results.
    #[must_use]
    pub fn name_of(&self, heading: Direction) -> String {
        match heading {
            Direction::Down => self.name.clone(),
            Direction::Up => format!("{}.up", self.name),
        }
    }
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkDirection {
    /// Transmission rate over time.
    pub rate: RateSpec,
    /// One-way propagation delay.
    pub delay: Duration,
    /// The queue in front of the transmitter; `None`: a FIFO without limit, not reported in
    /// results.
    pub queue: Option<Queue>,
    /// Probability that a packet is lost on the wire, in [0, 1).
    pub loss: f64,
    /// Bytes that take no time after a pause, framing included; zero for a wire.
    pub burst: Bytes,
    /// While this much waits here, links that lead here do not send; `None`: they never hear of it.
    pub flow_control: Option<goodqueue_aqm::Limit>,
}

impl LinkDirection {
    /// The rate that buffers and algorithms are sized by: the constant one, the first step, or the
    /// mean of a recording.
    #[must_use]
    pub fn nominal_rate(&self) -> Rate {
        self.rate.nominal()
    }
}

/// A link whose buffers still wait for the round-trip times of the paths that cross it.
pub(super) struct Draft<'a> {
    pub(super) name: String,
    pub(super) ends: Option<[String; 2]>,
    pub(super) one_way: bool,
    pub(super) count: u32,
    pub(super) mtu: Bytes,
    pub(super) table: Table<'a>,
    framing: Framing,
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
    if links.entries().is_empty() || links.entries().len() > MAX_LINKS as usize {
        let message = match links.entries().len() {
            0 => "has no link in it".to_owned(),
            many => format!("has {many} links: allowed 1 to {MAX_LINKS}"),
        };
        scenario.fault("link", message, Some(help.to_owned()));
        return None;
    }
    // All are read, so that one look shows all faults.
    let drafts: Vec<Option<Draft<'a>>> = links.entries().iter().map(|entry| read_entry(&links, entry, help, known)).collect();
    let drafts: Vec<Draft<'a>> = drafts.into_iter().collect::<Option<_>>()?;
    let all: u64 = drafts.iter().map(|draft| u64::from(draft.count)).sum();
    if all > u64::from(MAX_LINKS) {
        scenario.fault("link", format!("has {all} links, as `count` has it: allowed 1 to {MAX_LINKS}"), None);
        return None;
    }
    Some(drafts)
}

fn read_entry<'a>(links: &Table<'a>, entry: &'a Entry, help: &str, known: &Known) -> Option<Draft<'a>> {
    let key = &entry.key;
    if !matches!(entry.node.value, Value::Table(_)) {
        links.fault(key, "is not a table".to_owned(), Some(help.to_owned()));
        return None;
    }
    if !is_name(key) {
        let message = "is not a name: allowed 1 to 64 letters, digits, `-` and `_`".to_owned();
        links.faults().add(Fault::at(&entry.node.origin, &links.path_of(&excerpt(key)), message, None));
        return None;
    }
    let table = Table::open(&entry.node, &links.path_of(key), links.faults())?;
    read_link(table, key, known)
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

fn read_link<'a>(table: Table<'a>, name: &str, known: &Known) -> Option<Draft<'a>> {
    let rate = table.required("rate", "write for instance rate = \"10 Mbit/s\"", |field| read_rate(field, known));
    let rate_up = table.optional("rate_up", |field| read_rate(field, known)).or_else(|| rate.as_ref().map(default_return_rate));
    let keys = Keys::read(&table, &LINK);
    let given = keys.given();
    let delay = given.duration("delay");
    let delay_up = given.duration("delay_up").or(delay);
    let down = DirectionDraft::read(&table, &given, Direction::Down, (rate, delay), known);
    let up = DirectionDraft::read(&table, &given, Direction::Up, (rate_up, delay_up), known);
    let ends = read_ends(&table);
    let one_way = given.switch("one_way")?;
    let of_return = || LINK.params.iter().map(|param| param.name).filter(|key| key.ends_with(UP));
    if one_way && let Some(key) = of_return().find(|key| table.get(key).is_some()) {
        table.fault(key, "describes a direction that a one-way link does not have".to_owned(), None);
    }
    let framing = read_framing(&table, &given);
    let (Some(down), Some(up), Some(ends), Some(framing)) = (down, up, ends, framing) else {
        table.finish(&format!("[link.{name}]"));
        return None;
    };
    let mtu = given.whole_bytes("mtu")?;
    let count = given.number("count")? as u32;
    Some(Draft { name: name.to_owned(), ends, one_way, count, mtu, framing, down, up, table })
}

/// Reads the framing that the link adds to each packet; `None` when a fault was found.
fn read_framing(table: &Table<'_>, given: &ParamValues<'_>) -> Option<Framing> {
    let read = |field: Field<'_>| match &field.node.value {
        Value::String(text) if text.trim_start().starts_with(|letter: char| letter.is_ascii_alphabetic()) => {
            Framing::named(text).map_err(|unknown| reader::not_one_of(field, unknown.0, &Framing::KEYWORDS.map(|(name, _)| name)))
        }
        _ => reader::bytes(Limits::new(Bytes::ZERO, Bytes::new(MAX_FRAMING as u64)))(field).map(Framing::header),
    };
    let is_given = table.get("overhead").is_some();
    let named = table.optional("overhead", read).or_else(|| (!is_given).then_some(Framing::NONE))?;
    let cells = given.choice("cells").and_then(|word| Cells::WORDS.iter().find(|(name, _)| *name == word));
    Some(Framing {
        mpu: given.whole_bytes("mpu").unwrap_or(named.mpu),
        cells: cells.map_or(named.cells, |(_, cells)| *cells),
        ..named
    })
}

impl DirectionDraft {
    /// Reads the other keys of one direction; `None` when a fault was found.
    fn read(
        table: &Table<'_>,
        given: &ParamValues<'_>,
        heading: Direction,
        (rate, delay): (Option<RateSpec>, Option<Duration>),
        known: &Known,
    ) -> Option<Self> {
        let key = |name| schema::key(name, heading);
        let burst = given.whole_bytes(key("burst")).unwrap_or(Bytes::ZERO);
        check_burst(table, key("burst"), burst, rate.as_ref());
        let flow_control = table.optional(key("flow_control"), read_flow_control).flatten();
        let queue = queue::Draft::read(table, heading, known);
        let loss = given.number(key("loss"))?;
        Some(Self { rate: rate?, burst, delay: delay?, loss, queue: queue?, flow_control })
    }
}

/// The demands that the paths over a link make on it.
#[derive(Clone, Copy)]
pub(super) struct Demand {
    /// Longest round-trip time of the paths that cross it, without queueing and transmission.
    pub(super) base_rtt: Duration,
    /// Whether data goes up.
    pub(super) data_up: bool,
    /// Whether this is the only link, which then is the bottleneck and needs a buffer.
    pub(super) only: bool,
}

impl Demand {
    /// The demand on each of `links`, in their order, of the given paths, each with its round-trip
    /// time. `hosts` is the part of a round trip that is no link's.
    pub(super) fn on<'p>(links: &[Draft<'_>], hosts: Duration, paths: impl Iterator<Item = (&'p Path, Duration)>) -> Vec<Self> {
        let idle = Self { base_rtt: Duration::ZERO, data_up: false, only: links.len() == 1 };
        let mut demands = vec![idle; links.len()];
        for (path, rtt) in paths {
            for step in path.steps() {
                let demand = &mut demands[step.link];
                demand.base_rtt = demand.base_rtt.max(rtt);
            }
            for step in path.forward.iter().filter(|step| step.heading == Direction::Up) {
                demands[step.link].data_up = true;
            }
        }
        for (demand, link) in demands.iter_mut().zip(links).filter(|(demand, _)| demand.base_rtt.is_zero()) {
            demand.base_rtt = link.delay_of(Direction::Down) + link.delay_of(Direction::Up) + hosts;
        }
        demands
    }
}

impl Draft<'_> {
    /// The names of the leaves of its queues, downward and upward.
    pub(super) fn leaves(&self) -> [BTreeSet<&str>; 2] {
        [&self.down, &self.up].map(|direction| direction.queue.leaves())
    }

    /// One-way propagation delay.
    pub(super) fn delay_of(&self, heading: Direction) -> Duration {
        match heading {
            Direction::Down => self.down.delay,
            Direction::Up => self.up.delay,
        }
    }

    /// Works out buffers and lets algorithms check their parameters. `None` when a fault was found.
    pub(super) fn finish(self, demand: Demand) -> Option<Link> {
        let Self { name, ends, one_way, count, mtu, framing, table, down, up } = self;
        let overhead = framing.added(mtu);
        let facts = |draft: &DirectionDraft| LinkFacts {
            rate: Some(draft.rate.nominal()),
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
        Some(Link { name, ends, one_way, count, mtu, framing, down, up })
    }
}

impl DirectionDraft {
    fn finish(
        self,
        table: &Table<'_>,
        key: &str,
        facts: &LinkFacts,
        base_rtt: Duration,
        need: queue::Need,
    ) -> Option<LinkDirection> {
        let queue = self.queue.finish(table, facts, base_rtt, need)?;
        let flow_control = self.flow_control.map(|size| queue::limit_of(quantity::Buffer::Size(size), facts, base_rtt));
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
        Some(LinkDirection { rate: self.rate, burst: self.burst, delay: self.delay, queue, loss: self.loss, flow_control })
    }
}

/// The return direction is as fast as the link itself; where that is a recording, as its mean.
fn default_return_rate(rate: &RateSpec) -> RateSpec {
    match rate {
        RateSpec::Recorded(recording) => RateSpec::Constant(recording.mean_rate()),
        other => other.clone(),
    }
}

/// A token bucket needs one rate.
fn check_burst(table: &Table<'_>, key: &'static str, burst: Bytes, rate: Option<&RateSpec>) {
    if !burst.is_zero() && rate.is_some_and(|rate| !matches!(rate, RateSpec::Constant(_))) {
        let help = "take it out, or put a queue of kind \"shaper\" before the link";
        table.fault(key, "is for links of constant rate only".to_owned(), Some(help.to_owned()));
    }
}

fn read_flow_control(field: Field<'_>) -> Result<Option<Size>, Fault> {
    match &field.node.value {
        Value::String(text) if text == "none" => Ok(None),
        _ => reader::size(field).map(Some),
    }
}

fn read_rate(field: Field<'_>, known: &Known) -> Result<RateSpec, Fault> {
    let Value::Table(entries) = &field.node.value else {
        return reader::rate(Limits::new(Rate::bit_s(1), MAX_RATE))(field).map(RateSpec::Constant);
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
            Ok(RateSpec::Recorded(trace))
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
    if items.is_empty() || items.len() > MAX_STEPS {
        return Err(field.fault(format!("has {} steps: allowed 1 to {MAX_STEPS}", items.len()), help()));
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
            let at = reader::duration(Limits::new(Duration::ZERO, MAX))(part(step, &pair[0]))?;
            let rate = reader::rate(Limits::new(Rate::ZERO, MAX_RATE))(part(step, &pair[1]))?;
            Ok((Instant::ZERO + at, rate))
        }
        _ => Err(step.fault("is not a pair of time and rate".to_owned(), Some("write [\"50 s\", \"10 Mbit/s\"]".to_owned()))),
    }
}

fn part<'a>(step: Field<'a>, node: &'a Node) -> Field<'a> {
    Field { node, path: step.path }
}
