//! A queue: its algorithm with parameters, marking or dropping, and its limit.

use super::Known;
use super::link::limit_of;
use super::reader::{self, Field, Table};
use super::suggest::nearest;
use super::tree::{Node, Value as Tree};
use crate::diagnostic::{Fault, Origin};
use crate::quantity::{self, Limits, excerpt};
use goodqueue_aqm::own::OwnKind;
use goodqueue_aqm::spec::{Chosen, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, SimplePacket, algo, sched};
use goodqueue_units::{Duration, Packets, Rate, Rng};
use std::sync::Arc;

/// What waits in front of a transmitter.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Its kind.
    pub kind: &'static KindSpec,
    /// Given parameters, already checked.
    pub params: Vec<(&'static str, Value)>,
    /// The algorithm or queue it puts to work, for kinds that do.
    pub of: Option<Chosen>,
    /// Builds it, when the kind is one of the program's own.
    pub own: Option<Arc<dyn OwnKind>>,
    /// Mark or drop.
    pub ecn: EcnPolicy,
    /// Hard limit.
    pub limit: Limit,
}

impl Queue {
    /// Its kind, with what it puts to work behind a colon: `codel`, `fair:pie`.
    #[must_use]
    pub fn name(&self) -> String {
        self.kind.name_over(self.of.as_ref())
    }

    /// Can it mark?
    #[must_use]
    pub fn marks(&self) -> bool {
        self.kind.marks_over(self.of.as_ref())
    }
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
    chosen: Chosen,
    own: Option<Arc<dyn OwnKind>>,
    ecn: EcnPolicy,
    /// The limit, with the key it stands under and where.
    limit: Option<(quantity::Buffer, String, Origin)>,
    /// Is there a `queue` or a `buffer` at all?
    given: bool,
    node: Option<Node>,
    path: String,
}

/// There are too many to name them in a message.
const SEE_LIST: &str = "`gq list aqm` names those there are";

/// More would not fit in memory.
const MOST_PACKETS: u64 = 10_000_000;
const MOST_BYTES: u64 = 16_000_000_000;

impl Draft {
    /// Reads `queue` and `buffer` (or `queue_up` and `buffer_up`) of a link.
    pub(super) fn read(link: &Table<'_>, names: Names, known: &Known) -> Option<Self> {
        let path = link.path_of(names.queue);
        let node = link.get(names.queue).cloned();
        let buffer_given = link.get(names.buffer).is_some();
        let buffer = link.optional(names.buffer, with_place);
        let Described { chosen, ecn, limit } = match &node {
            None => Described::plain(sched::kind("tail-drop")?),
            Some(node) => read_queue(link, node, &path, known)?,
        };
        if buffer_given && buffer.is_none() {
            return None;
        }
        let given = node.is_some() || buffer_given;
        let own = known.own(chosen.kind.kind).cloned();
        Some(Self { names, chosen, own, ecn, limit: limit.or(buffer), given, node, path })
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
        self.check(link, &facts, &self.chosen, self.node.as_ref(), &self.path)?;
        let Chosen { kind, params, of } = self.chosen;
        Some(Some(Queue { kind, params, of: of.map(|of| *of), own: self.own, ecn: self.ecn, limit }))
    }

    /// Builds what is within first, so that a fault of its own is found where it stands.
    fn check(&self, link: &Table<'_>, facts: &LinkFacts, chosen: &Chosen, table: Option<&Node>, path: &str) -> Option<()> {
        let Chosen { kind, params, of } = chosen;
        if let Some(of) = of {
            let inner = table.and_then(|node| node.entry("of")).map(|entry| &entry.node);
            self.check(link, facts, of, inner, &format!("{path}.of"))?;
        }
        if let Some(own) = &self.own {
            let built = AnyQdisc::<SimplePacket>::build_own(&**own, facts, self.ecn, Rng::new(0));
            return built.map_err(|error| self.refuse(link, table, path, error)).ok().map(|_| ());
        }
        let built = AnyQdisc::<SimplePacket>::build_over(kind, params, of.as_deref(), facts, self.ecn, Rng::new(0));
        built.map_err(|error| self.refuse(link, table, path, error)).ok().map(|_| ())
    }

    /// A fault at the parameter in `table`, which stands at `path`, or at the table where the parameter has its default.
    fn refuse(&self, link: &Table<'_>, table: Option<&Node>, path: &str, error: ParamError) {
        let Some(node) = table else {
            link.fault(self.names.queue, error.message, None);
            return;
        };
        let origin = node.entry(error.param).map_or(&node.origin, |entry| &entry.node.origin);
        link.faults().add(Fault::at(origin, &format!("{path}.{}", error.param), error.message, None));
    }
}

/// What a file says of a queue.
struct Described {
    chosen: Chosen,
    ecn: EcnPolicy,
    limit: Option<(quantity::Buffer, String, Origin)>,
}

impl Described {
    fn plain(kind: &'static KindSpec) -> Self {
        let chosen = Chosen::new(kind, Vec::new());
        Self { ecn: policy(None, &chosen), chosen, limit: None }
    }
}

/// Reads `"codel"` or `{ kind = "codel", … }`.
fn read_queue(link: &Table<'_>, node: &Node, path: &str, known: &Known) -> Option<Described> {
    let faults = link.faults();
    if let Tree::String(name) = &node.value {
        let field = Field { node, path };
        let kind = find_first(field, name, known).map_err(|fault| faults.add(fault)).ok()?;
        if kind.needs_another() {
            faults.add(Fault::at(&node.origin, &format!("{path}.of"), "is missing".to_owned(), Some(name_inner(kind))));
            return None;
        }
        return Some(Described::plain(kind));
    }
    if !matches!(node.value, Tree::Table(_)) {
        faults.add(Field { node, path }.expected("a name like \"codel\" or a table like { kind = \"codel\" }"));
        return None;
    }
    let table = Table::open(node, path, faults)?;
    let kind = table.required("kind", NAME_IT, |field| find_first(field, reader::text(field)?, known))?;
    let ecn = table.optional("ecn", reader::switch);
    let limit = table.optional("limit", with_place);
    let whole = limit.is_some() == node.entry("limit").is_some() && ecn.is_some() == node.entry("ecn").is_some();
    let of = read_inner(&table, kind);
    let params = read_params(&table, kind);
    table.finish(&format!("`{}`", kind.kind));
    let chosen = Chosen { kind, params: params?, of: of? };
    Some(Described { ecn: policy(ecn, &chosen), chosen, limit }).filter(|_| whole)
}

/// What the file says of marking, else what the kind does unasked.
fn policy(ecn: Option<bool>, chosen: &Chosen) -> EcnPolicy {
    if ecn.unwrap_or_else(|| chosen.marks_unasked()) { EcnPolicy::Mark } else { EcnPolicy::Drop }
}

const NAME_IT: &str = "name the algorithm, for instance { kind = \"codel\" }";

fn name_inner(kind: &KindSpec) -> String {
    format!("name the algorithm it is over, for instance {{ kind = \"{}\", of = {{ kind = \"pie\" }} }}", kind.kind)
}

/// Reads the algorithm or queue that a queue puts to work: `of = "pie"` or `of = { kind = "pie", … }`. The outer `None` means a fault
/// was found.
fn read_inner(queue: &Table<'_>, outer: &'static KindSpec) -> Option<Option<Box<Chosen>>> {
    if !outer.is_over_another() {
        return Some(None);
    }
    match queue.get("of") {
        Some(node) => read_named(queue, node, outer).map(|chosen| Some(Box::new(chosen))),
        None if outer.needs_another() => {
            queue.fault("of", "is missing".to_owned(), Some(name_inner(outer)));
            None
        }
        None => Some(None),
    }
}

fn read_named(queue: &Table<'_>, node: &Node, outer: &'static KindSpec) -> Option<Chosen> {
    let find = if outer.needs_another() { find_algorithm } else { find_kind };
    let (path, faults) = (queue.path_of("of"), queue.faults());
    if let Tree::String(name) = &node.value {
        let kind = find(Field { node, path: &path }, name).map_err(|fault| faults.add(fault)).ok()?;
        if kind.needs_another() {
            faults.add(Fault::at(&node.origin, &format!("{path}.of"), "is missing".to_owned(), Some(name_inner(kind))));
            return None;
        }
        return Some(Chosen::new(kind, Vec::new()));
    }
    if !matches!(node.value, Tree::Table(_)) {
        faults.add(Field { node, path: &path }.expected("a name like \"pie\" or a table like { kind = \"pie\" }"));
        return None;
    }
    let table = Table::open(node, &path, faults)?;
    let kind = table.required("kind", NAME_IT, |field| find(field, reader::text(field)?))?;
    let of = read_inner(&table, kind);
    let params = read_params(&table, kind);
    for outside in ["ecn", "limit"] {
        if node.entry(outside).is_some() {
            let help = format!("write it beside the outermost `of`, not in it: all of `{}` shares it", outer.kind);
            table.get(outside);
            table.fault(outside, "belongs to the queue".to_owned(), Some(help));
        }
    }
    table.finish(&format!("`{}`", kind.kind));
    Some(Chosen { kind, params: params?, of: of? })
}

/// The given parameters of `kind`; `None` when one is wrong.
fn read_params(table: &Table<'_>, kind: &'static KindSpec) -> Option<Vec<(&'static str, Value)>> {
    let mut whole = true;
    let mut params = Vec::new();
    for param in kind.params.iter().filter(|param| !param.unit.is_another()) {
        if table.get(param.name).is_none() {
            continue;
        }
        match table.optional(param.name, |field| read_param(param, field)) {
            Some(value) => params.push((param.name, value)),
            None => whole = false,
        }
    }
    whole.then_some(params)
}

fn with_place(field: Field<'_>) -> Result<(quantity::Buffer, String, Origin), Fault> {
    Ok((reader::buffer(field)?, field.path.to_owned(), field.node.origin.clone()))
}

/// The outermost kind may be one of the program's own.
fn find_first(field: Field<'_>, name: &str, known: &Known) -> Result<&'static KindSpec, Fault> {
    known.own(name).map_or_else(|| find_kind(field, name), |own| Ok(own.spec()))
}

fn find_kind(field: Field<'_>, name: &str) -> Result<&'static KindSpec, Fault> {
    let known: Vec<&'static KindSpec> = sched::kinds().collect();
    find(field, name, &known)
}

/// A kind that judges the packets of one queue, as against one of several queues.
fn find_algorithm(field: Field<'_>, name: &str) -> Result<&'static KindSpec, Fault> {
    let known: Vec<&'static KindSpec> = algo::KINDS.iter().flat_map(|kinds| kinds.iter()).collect();
    if sched::kind(name).is_some() && known.iter().all(|spec| spec.kind != name) {
        let message = format!("`{name}` is a discipline of several queues, not the algorithm of one");
        return Err(field.fault(message, Some(SEE_LIST.to_owned())));
    }
    find(field, name, &known)
}

fn find(field: Field<'_>, name: &str, known: &[&'static KindSpec]) -> Result<&'static KindSpec, Fault> {
    known.iter().find(|spec| spec.kind == name).copied().ok_or_else(|| {
        let help = match nearest(name, known.iter().map(|spec| spec.kind)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => SEE_LIST.to_owned(),
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
        Unit::Algorithm | Unit::Queue => return Err(field.expected("an algorithm like { kind = \"pie\" }")),
    };
    param.check(value).map_err(|error| field.fault(error.message, None))?;
    Ok(value)
}
