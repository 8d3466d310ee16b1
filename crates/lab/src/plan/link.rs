//! The bottleneck: rates, delays, buffers and queues of both directions.

use super::queue::{self, Queue};
use super::reader::{self, Field, Table};
use super::scenario::{Access, LONGEST, LONGEST_DELAY};
use super::traffic::{Draft, Heading};
use super::tree::{Node, Value};
use crate::diagnostic::Fault;
use crate::quantity::{self, Limits};
use crate::trace_file::TraceStore;
use goodqueue_aqm::spec::LinkFacts;
use goodqueue_sim::RateSpec;
use goodqueue_units::{Bytes, Duration, Instant, Rate};

/// Fastest link.
pub(super) const FASTEST: Rate = Rate::gbit(10_000);
/// Smallest MTU that carries a TCP header with options and some data.
const SMALLEST_MTU: Bytes = Bytes::new(128);
/// Largest IP packet.
const LARGEST_MTU: Bytes = Bytes::new(65_535);
const MOST_OVERHEAD: Bytes = Bytes::new(10_000);
const MOST_STEPS: usize = 100_000;

/// The bottleneck.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name in the file and in results.
    pub name: String,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
    /// The direction that the file describes.
    pub down: Direction,
    /// The return direction.
    pub up: Direction,
}

/// One direction of the bottleneck.
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

/// Reads `[link.NAME]`.
pub(super) fn read(
    scenario: &Table<'_>,
    access: Access,
    rtt_extra: Duration,
    traffic: &[Draft<'_>],
    traces: &TraceStore,
) -> Option<Link> {
    let help = "describe the bottleneck, for instance [link.bottleneck] with rate, delay and buffer";
    let links = scenario.required("link", help, |field| Ok(field.node.clone()))?;
    let links = Table::open(&links, "link", scenario.faults())?;
    let Some((first, others)) = links.entries().split_first() else {
        scenario.fault("link", "has no link in it".to_owned(), Some(help.to_owned()));
        return None;
    };
    if !matches!(first.node.value, Value::Table(_)) {
        let key = first.key.clone();
        links.fault(&key, "is not a table".to_owned(), Some(help.to_owned()));
        return None;
    }
    for other in others {
        let message = "more than one link is not supported yet by this version".to_owned();
        links.fault(&other.key, message, Some(format!("keep [link.{}] only", first.key)));
    }
    if !others.is_empty() {
        return None;
    }
    let well_named = !first.key.is_empty() && first.key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !well_named || first.key.len() > 64 {
        let message = "is not a name: allowed 1 to 64 letters, digits, `-` and `_`".to_owned();
        links.fault(&first.key, message, None);
        return None;
    }
    let path = links.path_of(&first.key);
    let table = Table::open(&first.node, &path, links.faults())?;
    let link = read_link(&table, &first.key, access, rtt_extra, traffic, traces);
    table.finish(&format!("[{path}]"));
    link
}

fn read_link(
    table: &Table<'_>,
    name: &str,
    access: Access,
    rtt_extra: Duration,
    traffic: &[Draft<'_>],
    traces: &TraceStore,
) -> Option<Link> {
    let rate = table.required("rate", "write for instance rate = \"10 Mbit/s\"", |field| read_rate(field, traces));
    let rate_up = table.optional("rate_up", |field| read_rate(field, traces));
    let delays = Limits::new(Duration::ZERO, LONGEST_DELAY);
    let delay = table.required("delay", "write the one-way delay, for instance delay = \"5 ms\"", reader::duration(delays));
    let delay_up = table.optional("delay_up", reader::duration(delays));
    let overhead = table.optional("overhead", reader::bytes(Limits::new(Bytes::ZERO, MOST_OVERHEAD)));
    let mtu = table.optional("mtu", reader::bytes(Limits::new(SMALLEST_MTU, LARGEST_MTU)));
    let loss = table.optional("loss", read_loss).unwrap_or(0.0);
    let loss_up = table.optional("loss_up", read_loss).unwrap_or(0.0);
    table.not_supported("from");
    table.not_supported("to");
    let mtu = mtu.unwrap_or(Bytes::new(1500));
    let overhead = overhead.unwrap_or(Bytes::ZERO);

    let names_down = queue::Names { queue: "queue", buffer: "buffer" };
    let names_up = queue::Names { queue: "queue_up", buffer: "buffer_up" };
    let draft_down = queue::Draft::read(table, names_down);
    let draft_up = queue::Draft::read(table, names_up);
    // Everything below is sized by rate and delay.
    let (rate, delay) = (rate?, delay?);
    let delay_up = delay_up.unwrap_or(delay);
    let base_rtt = delay + delay_up + access.one_way_delay() * 2 + rtt_extra;
    let rate_up = rate_up.unwrap_or_else(|| default_return_rate(&rate));
    let facts = |rate: &RateSpec, delay| LinkFacts {
        rate: Some(nominal_rate(rate)),
        delay,
        mtu,
        overhead,
        limit: goodqueue_aqm::Limit::NONE,
    };
    let down = draft_down?.finish(table, &facts(&rate, delay), base_rtt, queue::Need::Always)?;
    let need =
        if traffic.iter().any(|group| group.heading == Heading::Up) { queue::Need::ForTraffic } else { queue::Need::IfGiven };
    let up = draft_up?.finish(table, &facts(&rate_up, delay_up), base_rtt, need)?;
    Some(Link {
        name: name.to_owned(),
        mtu,
        overhead,
        down: Direction { rate, delay, queue: down, loss },
        up: Direction { rate: rate_up, delay: delay_up, queue: up, loss: loss_up },
    })
}

/// The return direction is as fast as the link itself; where that is a recording, as its mean.
fn default_return_rate(rate: &RateSpec) -> RateSpec {
    match rate {
        RateSpec::Trace(_) => RateSpec::Constant(nominal_rate(rate)),
        other => other.clone(),
    }
}

fn read_loss(field: Field<'_>) -> Result<f64, Fault> {
    let loss = reader::ratio(field)?;
    // A link that loses everything would keep senders waiting for ever.
    if loss > 0.99 {
        return Err(field.fault(format!("`{}` is out of range: allowed 0 to 99 %", field.node.shown()), None));
    }
    Ok(loss)
}

fn read_rate(field: Field<'_>, traces: &TraceStore) -> Result<RateSpec, Fault> {
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
            let trace = traces.load(reader::text(field)?).map_err(|error| field.fault(error.to_string(), None))?;
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
    use goodqueue_aqm::spec::Size;
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
