//! A queue: its algorithm with parameters, marking or dropping, and its limit.

use super::known::Known;
use super::params;
use super::reader::{self, Faults, Field, Table, is_name};
use super::tree::{Entry, Node, Value as Tree};
use crate::quantity::{self, excerpt};
use crate::scenario::diagnostic::{Fault, Origin};
use crate::scenario::schema::link::key;
use goodqueue_aqm::algo::tail_drop::Counting;
use goodqueue_aqm::custom::CustomKind;
use goodqueue_aqm::spec::{
    ClassAndParams, ClassFault, Kind, KindAndParams, KindSpec, LinkFacts, ParamError, ParamFault, Size, Value,
};
use goodqueue_aqm::{EcnPolicy, Limit, algo, sched};
use goodqueue_base::units::{Direction, Duration, Packets, Rate};
use goodqueue_sim::QueueSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The queue in front of a transmitter.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The kind of queue with given parameters, already checked, and what it contains.
    pub chosen: KindAndParams,
    /// Builds it, when the kind is one of the program's own.
    pub own: Option<Arc<dyn CustomKind>>,
    /// Mark or drop.
    pub ecn: EcnPolicy,
    /// Hard limit.
    pub limit: Limit,
    /// Whether the limit is the queue's own setting, as against the link's buffer.
    pub limit_is_own: bool,
}

/// The rate that a class may always use.
pub(crate) fn rate_of_class(class: &ClassAndParams) -> Rate {
    rate_given(class, "rate").unwrap_or(Rate::ZERO)
}

/// The rate that a class may use with what its parent has left.
pub(crate) fn ceil_of_class(class: &ClassAndParams) -> Rate {
    rate_given(class, "ceil").unwrap_or_else(|| rate_of_class(class))
}

fn rate_given(class: &ClassAndParams, name: &str) -> Option<Rate> {
    match class.params.iter().find(|(known, _)| *known == name) {
        Some((_, Value::Rate(rate))) => Some(*rate),
        _ => None,
    }
}

impl Queue {
    /// The kind, followed by a colon and the algorithm or queue that it contains: `codel`,
    /// `fair:pie`.
    #[must_use]
    pub fn name(&self) -> String {
        self.chosen.name()
    }

    /// The rate that its classes may send at together; `None` without classes.
    #[must_use]
    pub fn rate_of_classes(&self) -> Option<Rate> {
        let roots = self.chosen.classes.iter().filter(|class| class.parent.is_none());
        roots.map(ceil_of_class).reduce(|sum, rate| Rate::bit_s(sum.as_bit_s().saturating_add(rate.as_bit_s())))
    }

    /// Whether the queue can mark.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.chosen.marks()
    }
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
    /// The direction of the link, which decides the keys of the queue.
    heading: Direction,
    chosen: KindAndParams,
    own: Option<Arc<dyn CustomKind>>,
    ecn: EcnPolicy,
    /// The limit, with the key it stands under and where.
    limit: Option<(quantity::Buffer, String, Origin)>,
    limit_is_own: bool,
    /// The unit that the limit counts, where the name of the kind gives it.
    counting: Option<Counting>,
    /// Whether the file gives a `queue` or a `buffer`.
    given: bool,
    node: Option<Node>,
    path: String,
}

/// There are too many to name them in a message.
const SEE_LIST: &str = "`gq list aqm` names those there are";

/// More would not fit in memory.
const MAX_PACKETS: u64 = 10_000_000;
const MAX_BYTES: u64 = 16_000_000_000;

impl Draft {
    /// Reads `queue` and `buffer` (or `queue_up` and `buffer_up`) of a link.
    pub(super) fn read(link: &Table<'_>, heading: Direction, known: &Known) -> Option<Self> {
        let (queue_key, buffer_key) = (key("queue", heading), key("buffer", heading));
        let path = link.path_of(queue_key);
        let node = link.get(queue_key).cloned();
        let buffer_given = link.get(buffer_key).is_some();
        let buffer = link.optional(buffer_key, with_place);
        let Described { chosen, ecn, limit, counting } = match &node {
            None => {
                let chosen = KindAndParams::new(sched::TAIL_DROP, Vec::new());
                Described { ecn: policy(None, &chosen), chosen, limit: None, counting: None }
            }
            Some(node) => read_queue(link, node, &path, known)?,
        };
        if buffer_given && buffer.is_none() {
            return None;
        }
        let given = node.is_some() || buffer_given;
        let own = known.own(chosen.kind.kind).cloned();
        let limit_is_own = limit.is_some();
        Some(Self { heading, chosen, own, ecn, limit: limit.or(buffer), limit_is_own, counting, given, node, path })
    }

    /// The names of the leaves among its classes.
    pub(super) fn leaves(&self) -> BTreeSet<&str> {
        self.chosen.leaves()
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
            let key = key("buffer", self.heading);
            let help = format!("write for instance {key} = \"1 bdp\", \"30 packets\", \"45 kB\" or \"50 ms\"");
            link.fault(key, message.to_owned(), Some(help));
            return None;
        };
        let limit = limit_of(*buffer, facts, base_rtt);
        let limit = self.counting.map_or(limit, |counting| counting.count(limit, facts.mtu));
        let too_small = limit.packets < Packets::new(1) || limit.bytes < facts.mtu;
        let unlimited = (Limit::NONE.packets, Limit::NONE.bytes);
        let too_large = (limit.packets != unlimited.0 && limit.packets.get() > MAX_PACKETS)
            || (limit.bytes != unlimited.1 && limit.bytes.get() > MAX_BYTES);
        if too_small || too_large {
            let held = if limit.bytes == unlimited.1 { limit.packets.to_string() } else { limit.bytes.to_string() };
            let message = format!(
                "holds {held}: allowed 1 packet ({}) to {MAX_PACKETS} packets or {} GB",
                facts.mtu,
                MAX_BYTES / 1_000_000_000
            );
            link.faults().add(Fault::at(limit_origin, limit_path, message, None));
            return None;
        }
        let facts = LinkFacts { limit, ..*facts };
        self.check(link, &facts, &self.chosen, self.node.as_ref(), &self.path)?;
        Some(Some(Queue { chosen: self.chosen, own: self.own, ecn: self.ecn, limit, limit_is_own: self.limit_is_own }))
    }

    /// Builds what is within first, so that a fault of its own is found where it stands.
    fn check(&self, link: &Table<'_>, facts: &LinkFacts, chosen: &KindAndParams, table: Option<&Node>, path: &str) -> Option<()> {
        if let Some(of) = &chosen.of {
            let inner = table.and_then(|node| node.entry("of")).map(|entry| &entry.node);
            self.check(link, facts, of, inner, &format!("{path}.of"))?;
        }
        let (ecn, limit) = (self.ecn, facts.limit);
        let queue = match &self.own {
            Some(own) => QueueSpec::Own { kind: own.clone(), ecn, limit },
            None => QueueSpec::Discipline { queue: chosen.clone(), ecn, limit },
        };
        queue.check(facts).map_err(|error| self.refuse(link, table, path, error)).ok()
    }

    /// A fault at the parameter in `table`, which stands at `path`, or at the table where the
    /// parameter has its default.
    fn refuse(&self, link: &Table<'_>, table: Option<&Node>, path: &str, error: ParamError) {
        let Some(node) = table else {
            link.fault(key("queue", self.heading), error.fault.to_string(), None);
            return;
        };
        let (node, path, fault) = match &error.fault {
            ParamFault::InClass(of_class) => {
                let ClassFault { class, fault } = &**of_class;
                let inner = node.entry("class").and_then(|classes| classes.node.entry(class)).map(|entry| &entry.node);
                (inner.unwrap_or(node), format!("{path}.class.{class}"), fault)
            }
            fault => (node, path.to_owned(), fault),
        };
        let origin = node.entry(error.param).map_or(&node.origin, |entry| &entry.node.origin);
        link.faults().add(Fault::at(origin, &format!("{path}.{}", error.param), fault.to_string(), None));
    }
}

/// A queue's settings in a file.
struct Described {
    chosen: KindAndParams,
    ecn: EcnPolicy,
    limit: Option<(quantity::Buffer, String, Origin)>,
    counting: Option<Counting>,
}

/// Reads `"codel"` or `{ kind = "codel", … }`.
fn read_queue(link: &Table<'_>, node: &Node, path: &str, known: &Known) -> Option<Described> {
    let find = |field: Field<'_>, name: &str| known.own(name).map_or_else(|| find_kind(field, name), |own| Ok(own.spec()));
    let (mut ecn, mut limit) = (None, None);
    let (chosen, name) = read_named(link.faults(), Field { node, path }, "codel", &find, &mut |table, name| {
        ecn = table.optional("ecn", reader::switch);
        limit = table.optional("limit", |field| read_limit(field, Counting::of(name)));
    })?;
    let whole = limit.is_some() == node.entry("limit").is_some() && ecn.is_some() == node.entry("ecn").is_some();
    whole.then(|| Described { ecn: policy(ecn, &chosen), chosen, limit, counting: Counting::of(name) })
}

/// Reads a queue or an algorithm by its name or by a table, and returns the name in the file.
/// `more` reads keys of the table that are no parameters.
fn read_named<'a>(
    faults: &'a Faults,
    field: Field<'a>,
    example: &str,
    find: &dyn Fn(Field<'_>, &str) -> Result<&'static KindSpec, Fault>,
    more: &mut dyn FnMut(&Table<'_>, &str),
) -> Option<(KindAndParams, &'a str)> {
    let Field { node, path } = field;
    match &node.value {
        Tree::String(name) => {
            let kind = find(field, name).map_err(|fault| faults.add(fault)).ok()?;
            if kind.needs_another() {
                faults.add(Fault::at(&node.origin, &format!("{path}.of"), "is missing".to_owned(), Some(name_inner(kind))));
                return None;
            }
            Some((KindAndParams::new(kind, Vec::new()), name))
        }
        Tree::Table(_) => {
            let table = Table::open(node, path, faults)?;
            let kind = table.required("kind", NAME_IT, |field| find(field, reader::text(field)?))?;
            let name = reader::text(Field { node: table.get("kind")?, path }).ok()?;
            more(&table, name);
            let of = read_inner(&table, kind);
            let classes = read_classes(&table, kind);
            let params = params::read_given(&table, kind.params);
            table.finish(&format!("`{}`", kind.kind));
            Some((KindAndParams { kind, params: params?, of: of?, classes: classes? }, name))
        }
        _ => {
            faults.add(field.expected(&format!("a name like \"{example}\" or a table like {{ kind = \"{example}\" }}")));
            None
        }
    }
}

/// The file's setting of marking, else the kind's default.
fn policy(ecn: Option<bool>, chosen: &KindAndParams) -> EcnPolicy {
    if ecn.unwrap_or_else(|| chosen.marks_unasked()) { EcnPolicy::Mark } else { EcnPolicy::Drop }
}

const NAME_IT: &str = "name the algorithm, for instance { kind = \"codel\" }";

fn name_inner(kind: &KindSpec) -> String {
    format!("name the algorithm it is over, for instance {{ kind = \"{}\", of = {{ kind = \"pie\" }} }}", kind.kind)
}

/// Reads the algorithm or queue that a queue contains: `of = "pie"` or `of = { kind = "pie", … }`.
/// The outer `None` means a fault was found.
fn read_inner(queue: &Table<'_>, outer: &'static KindSpec) -> Option<Option<Box<KindAndParams>>> {
    if !outer.is_over_another() {
        return Some(None);
    }
    match queue.get("of") {
        Some(node) => {
            let find = if outer.needs_another() { find_algorithm } else { find_kind };
            let field = Field { node, path: &queue.path_of("of") };
            let (chosen, _) = read_named(queue.faults(), field, "pie", &find, &mut |table, _| refuse_outside(table, outer))?;
            Some(Some(Box::new(chosen)))
        }
        None if outer.needs_another() => {
            queue.fault("of", "is missing".to_owned(), Some(name_inner(outer)));
            None
        }
        None => Some(None),
    }
}

/// Reads `class.NAME`, the classes of a kind that has them; `None` means a fault was found.
fn read_classes(queue: &Table<'_>, kind: &'static KindSpec) -> Option<Vec<ClassAndParams>> {
    let Some(settings) = kind.class else { return Some(Vec::new()) };
    let Some(node) = queue.get("class") else { return Some(Vec::new()) };
    let table = Table::open(node, &queue.path_of("class"), queue.faults())?;
    let numbers: BTreeMap<&str, u32> = (0..).zip(table.entries()).map(|(number, entry)| (entry.key.as_str(), number)).collect();
    // All are read, so that one look shows all faults.
    let classes: Vec<Option<ClassAndParams>> =
        table.entries().iter().map(|entry| read_class(&table, entry, settings, kind, &numbers)).collect();
    classes.into_iter().collect()
}

fn read_class(
    classes: &Table<'_>,
    entry: &Entry,
    settings: &'static Kind,
    kind: &'static KindSpec,
    numbers: &BTreeMap<&str, u32>,
) -> Option<ClassAndParams> {
    let Entry { key, node, .. } = entry;
    if !is_name(key) {
        let message = "is not a name: allowed 1 to 64 letters, digits, `-` and `_`".to_owned();
        classes.faults().add(Fault::at(&entry.key_origin, &classes.path_of(&excerpt(key)), message, None));
        return None;
    }
    let table = Table::open(node, &classes.path_of(key), classes.faults())?;
    let above = |field: Field<'_>| {
        let name = reader::text(field)?;
        let help = || Some("write the name of the class above, or leave `parent` out for one at the root".to_owned());
        numbers.get(name).copied().ok_or_else(|| field.fault(format!("there is no class `{}`", excerpt(name)), help()))
    };
    let is_root = table.get("parent").is_none();
    let parent = table.optional("parent", above);
    let of = table.get("of").map(|node| {
        let field = Field { node, path: &table.path_of("of") };
        read_named(table.faults(), field, "fq-codel", &find_kind, &mut |table, _| refuse_outside(table, kind)).map(|(of, _)| of)
    });
    let params = params::read_given(&table, settings.params);
    table.finish("a class");
    let of = of.map_or(Some(None), |of| of.map(Some));
    (is_root || parent.is_some()).then_some(())?;
    Some(ClassAndParams { name: key.clone(), parent, params: params?, of: of? })
}

/// Refuses keys of the whole queue in a table of what it contains.
fn refuse_outside(table: &Table<'_>, outer: &'static KindSpec) {
    for outside in ["ecn", "limit"] {
        if table.get(outside).is_some() {
            let help = format!("write it next to the outermost `of`, not in it: all of `{}` shares it", outer.kind);
            table.fault(outside, "belongs to the queue".to_owned(), Some(help));
        }
    }
}

fn with_place(field: Field<'_>) -> Result<(quantity::Buffer, String, Origin), Fault> {
    Ok((reader::buffer(field)?, field.path.to_owned(), field.node.origin.clone()))
}

/// A limit; by a name that says what it counts, as tc's do, it may be a bare number.
fn read_limit(field: Field<'_>, counting: Option<Counting>) -> Result<(quantity::Buffer, String, Origin), Fault> {
    let (Some(counting), Tree::Integer(number @ 1..)) = (counting, &field.node.value) else {
        return with_place(field);
    };
    let size = match counting {
        Counting::Packets => Size::Packets(*number as f64),
        Counting::Bytes => Size::Bytes(*number as f64),
    };
    Ok((quantity::Buffer::Size(size), field.path.to_owned(), field.node.origin.clone()))
}

fn find_kind(field: Field<'_>, name: &str) -> Result<&'static KindSpec, Fault> {
    sched::find(name).map_err(|unknown| field.fault(unknown.message(), Some(unknown.help())))
}

/// A kind that judges the packets of one queue, as against one of several queues.
fn find_algorithm(field: Field<'_>, name: &str) -> Result<&'static KindSpec, Fault> {
    let known = algo::KINDS.iter().flat_map(|kinds| kinds.iter());
    if sched::kind(name).is_some() && known.clone().all(|spec| !spec.is_called(name)) {
        let message = format!("`{name}` is a discipline of several queues, not the algorithm of one");
        return Err(field.fault(message, Some(SEE_LIST.to_owned())));
    }
    params::find(field, name, known, "queue algorithm", SEE_LIST)
}

/// The nearest whole number. One that is too large stays below the largest, which stands for no
/// limit.
fn whole(amount: f64) -> u64 {
    // `as` saturates.
    ((amount + 0.5) as u64).min(u64::MAX - 1)
}

/// The limit that `buffer` sets on this link.
pub(super) fn limit_of(buffer: quantity::Buffer, facts: &LinkFacts, base_rtt: Duration) -> Limit {
    let rate = facts.rate.unwrap_or(Rate::ZERO);
    match buffer {
        quantity::Buffer::Bdp(multiple) => Limit::bytes(whole(rate.as_bytes_s_f64() * base_rtt.as_secs_f64() * multiple)),
        quantity::Buffer::Size(Size::Packets(packets)) => Limit::packets(whole(packets)),
        quantity::Buffer::Size(Size::Bytes(bytes)) => Limit::bytes(whole(bytes)),
        quantity::Buffer::Size(Size::Time(span)) => Limit::bytes(rate.bytes_in(span).get().min(u64::MAX - 1)),
    }
}
