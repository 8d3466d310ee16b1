//! A queue: its algorithm with parameters, marking or dropping, and its limit.

use super::link::limit_of;
use super::reader::{self, Field, Table};
use super::suggest::nearest;
use super::tree::{Node, Value as Tree};
use crate::diagnostic::{Fault, Origin};
use crate::quantity::{self, Limits, excerpt};
use goodqueue_aqm::spec::{KindSpec, LinkFacts, ParamSpec, Unit, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, SimplePacket, sched};
use goodqueue_units::{Duration, Packets, Rate, Rng};

/// What waits in front of a transmitter.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Its kind.
    pub kind: &'static KindSpec,
    /// Given parameters, already checked.
    pub params: Vec<(&'static str, Value)>,
    /// Mark or drop.
    pub ecn: EcnPolicy,
    /// Hard limit.
    pub limit: Limit,
}

/// Under which keys of the link a queue is described.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) queue: &'static str,
    pub(super) buffer: &'static str,
}

/// When a direction needs a queue with a limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// In any case.
    Always,
    /// Because traffic goes that way.
    ForTraffic,
    /// Only when the file describes one.
    IfGiven,
}

/// A queue as written, before its limit is known in packets and bytes.
pub(super) struct Draft {
    names: Names,
    kind: &'static KindSpec,
    params: Vec<(&'static str, Value)>,
    ecn: EcnPolicy,
    /// The limit, with the key it stands under and where.
    limit: Option<(quantity::Buffer, String, Origin)>,
    /// Is there a `queue` or a `buffer` at all?
    given: bool,
    node: Option<Node>,
    path: String,
}

/// More would not fit in memory.
const MOST_PACKETS: u64 = 10_000_000;
const MOST_BYTES: u64 = 16_000_000_000;

impl Draft {
    /// Reads `queue` and `buffer` (or `queue_up` and `buffer_up`) of a link.
    pub(super) fn read(link: &Table<'_>, names: Names) -> Option<Self> {
        let path = link.path_of(names.queue);
        let node = link.get(names.queue).cloned();
        let buffer_given = link.get(names.buffer).is_some();
        let buffer = link.optional(names.buffer, with_place);
        let (kind, params, ecn, limit) = match &node {
            None => (sched::kind("tail-drop")?, Vec::new(), EcnPolicy::Drop, None),
            Some(node) => read_queue(link, node, &path)?,
        };
        if buffer_given && buffer.is_none() {
            return None;
        }
        let given = node.is_some() || buffer_given;
        Some(Self { names, kind, params, ecn, limit: limit.or(buffer), given, node, path })
    }

    /// Works out the limit and lets the algorithm check its parameters against the link.
    ///
    /// The outer `None` means a fault was found.
    pub(super) fn finish(self, link: &Table<'_>, facts: &LinkFacts, base_rtt: Duration, need: Need) -> Option<Option<Queue>> {
        if !self.given && need == Need::IfGiven {
            return Some(None);
        }
        let Some((buffer, limit_path, limit_origin)) = &self.limit else {
            let message = match need {
                Need::ForTraffic => "is missing: traffic with direction = \"up\" needs a buffer in that direction",
                _ => "is missing",
            };
            let help = format!("write for instance {} = \"1 bdp\", \"30 packets\", \"45 kB\" or \"50 ms\"", self.names.buffer);
            link.fault(self.names.buffer, message.to_owned(), Some(help));
            return None;
        };
        let limit = limit_of(*buffer, facts, base_rtt);
        let too_small = limit.packets < Packets::new(1) || limit.bytes < facts.mtu;
        let unlimited = (Limit::NONE.packets, Limit::NONE.bytes);
        let too_large = (limit.packets != unlimited.0 && limit.packets.get() > MOST_PACKETS)
            || (limit.bytes != unlimited.1 && limit.bytes.get() > MOST_BYTES);
        if too_small || too_large {
            let held = if limit.bytes == unlimited.1 { limit.packets.to_string() } else { limit.bytes.to_string() };
            let message = format!(
                "holds {held}: allowed 1 packet ({}) to {MOST_PACKETS} packets or {} GB",
                facts.mtu,
                MOST_BYTES / 1_000_000_000
            );
            link.faults().add(Fault::at(limit_origin, limit_path, message, None));
            return None;
        }
        let facts = LinkFacts { limit, ..*facts };
        if let Err(error) = AnyQdisc::<SimplePacket>::build(self.kind, &self.params, &facts, self.ecn, Rng::new(0)) {
            self.refuse(link, error.param, error.message);
            return None;
        }
        Some(Some(Queue { kind: self.kind, params: self.params, ecn: self.ecn, limit }))
    }

    /// A fault at the parameter, or at the queue where the parameter has its default.
    fn refuse(&self, link: &Table<'_>, param: &str, message: String) {
        let Some(node) = &self.node else {
            link.fault(self.names.queue, message, None);
            return;
        };
        let origin = node.entry(param).map_or(&node.origin, |entry| &entry.node.origin);
        link.faults().add(Fault::at(origin, &format!("{}.{param}", self.path), message, None));
    }
}

type Described = (&'static KindSpec, Vec<(&'static str, Value)>, EcnPolicy, Option<(quantity::Buffer, String, Origin)>);

/// Reads `"codel"` or `{ kind = "codel", … }`.
fn read_queue(link: &Table<'_>, node: &Node, path: &str) -> Option<Described> {
    let faults = link.faults();
    if let Tree::String(name) = &node.value {
        let kind = find_kind(Field { node, path }, name).map_err(|fault| faults.add(fault)).ok()?;
        return Some((kind, Vec::new(), EcnPolicy::Drop, None));
    }
    if !matches!(node.value, Tree::Table(_)) {
        faults.add(Field { node, path }.expected("a name like \"codel\" or a table like { kind = \"codel\" }"));
        return None;
    }
    let table = Table::open(node, path, faults)?;
    let help = "name the algorithm, for instance { kind = \"codel\" }";
    let kind = table.required("kind", help, |field| find_kind(field, reader::text(field)?))?;
    let ecn = table.optional("ecn", reader::switch);
    let limit = table.optional("limit", with_place);
    let mut whole = limit.is_some() == node.entry("limit").is_some() && ecn.is_some() == node.entry("ecn").is_some();
    let mut params = Vec::new();
    for param in kind.params {
        if table.get(param.name).is_none() {
            continue;
        }
        match table.optional(param.name, |field| read_param(param, field)) {
            Some(value) => params.push((param.name, value)),
            None => whole = false,
        }
    }
    table.finish(&format!("`{}`", kind.kind));
    let ecn = if ecn == Some(true) { EcnPolicy::Mark } else { EcnPolicy::Drop };
    whole.then_some((kind, params, ecn, limit))
}

fn with_place(field: Field<'_>) -> Result<(quantity::Buffer, String, Origin), Fault> {
    Ok((reader::buffer(field)?, field.path.to_owned(), field.node.origin.clone()))
}

fn find_kind(field: Field<'_>, name: &str) -> Result<&'static KindSpec, Fault> {
    if name == "fair" {
        let message = "`fair` is not supported yet by this version".to_owned();
        return Err(field.fault(message, Some("use fq-codel".to_owned())));
    }
    sched::kind(name).ok_or_else(|| {
        let known: Vec<&str> = sched::kinds().map(|spec| spec.kind).collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("this version has {}", known.join(", ")),
        };
        field.fault(format!("`{}` is not a queue algorithm of this version", excerpt(name)), Some(help))
    })
}

/// Reads a parameter according to its unit and checks its range.
fn read_param(param: &ParamSpec, field: Field<'_>) -> Result<Value, Fault> {
    let (low, high) = param.range;
    let value = match param.unit {
        Unit::Duration => {
            let limits = Limits::new(Duration::from_secs_f64(low), Duration::from_secs_f64(high));
            Value::Duration(reader::duration(limits)(field)?)
        }
        Unit::Size => Value::Size(reader::size(field)?),
        Unit::Rate => Value::Rate(reader::rate(Limits::new(Rate::bit_s(low as u64), Rate::bit_s(high as u64)))(field)?),
        Unit::Number | Unit::Count => Value::Number(reader::number(field)?),
        Unit::Ratio => Value::Number(reader::ratio(field)?),
        Unit::Switch => Value::Switch(reader::switch(field)?),
        Unit::Choice(words) => Value::Choice(reader::choice(words)(field)?),
    };
    param.check(value).map_err(|error| field.fault(error.message, None))?;
    Ok(value)
}
