//! Groups of flows.

use super::datagrams;
use super::params::{self, Keys};
use super::path::{Direction, Path};
use super::reader::{self, Field, Table};
use super::sender;
use super::session;
use super::timing::Timing;
use super::tree::Value;
use crate::scenario::diagnostic::Fault;
use crate::scenario::files::FileStore;
use crate::scenario::flow_file::{FlowList, ListedPath};
use crate::scenario::limits::MAX_FLOWS;
use crate::scenario::schema::traffic::{COMMON, KINDS, TrafficKind, Ways as Directions};
use goodqueue_base::units::{Bytes, Class, Instant};
use goodqueue_sim::{HostNumber, SessionSpec, SourceSpec, Transfer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One group of equal flows.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The name in results.
    pub name: String,
    /// The number of flows, over all copies.
    pub flows: u32,
    /// The number of equal links that its path leads over, each of which carries as many of the
    /// flows.
    pub copies: u32,
    /// When each starts.
    pub start: Timing,
    /// When all stop offering new data.
    pub stop: Option<Instant>,
    /// The direction in which data goes along `path` as written.
    pub heading: Direction,
    /// The largest packet that every link of all its paths carries.
    pub mtu: Bytes,
    /// Round-trip time in addition to that of the links.
    pub rtt_extra: Timing,
    /// The number of consecutive flows that share one draw of `rtt_extra`; at least one.
    pub rtt_shared_by: u32,
    /// Class of the flows' packets, both ways.
    pub class: Class,
    /// The share of a link that each flow is to get relative to others, where the queue weighs
    /// flows.
    pub weight: f64,
    /// The leaf it belongs to in queues of classes.
    pub leaf: Option<Arc<str>>,
    /// The host that all the group's flows end at on the near side of the bottleneck: where it
    /// leads to.
    pub host: Option<HostNumber>,
    /// Whether nobody waits for it.
    pub is_background: bool,
    /// The main part of each flow.
    pub main: Part,
    /// The other parts of each flow at the same time, each a flow of its own: traffic of its other
    /// end, or what a list has for other paths and controls.
    pub others: Vec<Part>,
}

/// One thing that each flow of a group sends, and which way.
#[derive(Clone, Debug)]
pub struct Part {
    /// The links it crosses, data's way first.
    pub path: Path,
    /// The direction in which data goes along the path as written.
    pub heading: Direction,
    /// The source of the traffic.
    pub source: SourceSpec,
}

impl Traffic {
    /// Everything that each flow does.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.main).chain(&self.others)
    }
}

/// A group whose packet sizes still wait for the link's MTU.
pub(super) struct Draft<'a> {
    pub(super) name: String,
    pub(super) flows: u32,
    pub(super) start: Timing,
    pub(super) stop: Option<Instant>,
    pub(super) heading: Direction,
    pub(super) rtt_extra: Timing,
    both_ways: bool,
    common: Keys,
    pub(super) leaf: Option<Arc<str>>,
    source: Source,
    pub(super) table: Table<'a>,
}

enum Source {
    Tcp(Box<sender::Draft>),
    Session(SessionSpec, Box<sender::Draft>),
    List(Vec<Listed>),
    Udp(datagrams::Draft),
    /// Has a fault that is already reported.
    Wrong,
}

/// The transfers and settings that a list has for one control and one path.
struct Listed {
    path: Option<ListedPath>,
    transfers: Arc<[Transfer]>,
    settings: sender::Draft,
}

const MAX_GROUPS: usize = 20_000;

/// Reads all `[[traffic]]` tables.
pub(super) fn read<'a>(scenario: &Table<'a>, files: &FileStore) -> Vec<Draft<'a>> {
    let help = "describe the flows, for instance [[traffic]] with kind = \"bulk\" and flows = 4";
    let Some(node) = scenario.get("traffic") else {
        scenario.required("traffic", help, |_| Ok(()));
        return Vec::new();
    };
    let Value::Array(items) = &node.value else {
        scenario.fault("traffic", format!("is {}: expected a list of tables", node.kind()), Some(help.to_owned()));
        return Vec::new();
    };
    if items.is_empty() || items.len() > MAX_GROUPS {
        let message = format!("has {} groups: allowed 1 to {MAX_GROUPS}", items.len());
        scenario.fault("traffic", message, Some(help.to_owned()));
        return Vec::new();
    }
    let mut groups: Vec<Draft<'a>> = Vec::new();
    let mut names = Names::default();
    for (number, item) in items.iter().enumerate() {
        let path = format!("traffic.{number}");
        if let Some(draft) = Table::open(item, &path, scenario.faults()).and_then(|table| read_group(table, &mut names, files)) {
            groups.push(draft);
        }
    }
    check_count(scenario, &groups);
    groups
}

fn check_count(scenario: &Table<'_>, groups: &[Draft<'_>]) {
    let total: u64 = groups.iter().map(|group| u64::from(group.flows)).sum();
    if !scenario.faults().any() && !(1..=MAX_FLOWS).contains(&total) {
        scenario.fault("traffic", format!("has {total} flows in all: allowed 1 to {MAX_FLOWS}"), None);
    }
}

fn read_group<'a>(table: Table<'a>, used: &mut Names, files: &FileStore) -> Option<Draft<'a>> {
    let help = format!("write one of {}", names().collect::<Vec<_>>().join(", "));
    let kind = table.required("kind", &help, read_kind)?;
    let spec = kind.spec();
    let keys = Keys::read(&table, &COMMON);
    let given = keys.given();
    let name = used.read(&table, spec.kind);
    let start = params::timing(&table, &COMMON, "start");
    let stop = given.duration("stop");
    if stop.is_some_and(|stop| stop <= start.latest()) {
        table.optional::<()>("stop", |field| {
            let message = format!("`{}` is not after the latest start, {}", field.node.shown(), start.latest());
            Err(field.fault(message, None))
        });
    }
    let headings = match spec.ways {
        Directions::One => &["down", "up"][..],
        Directions::Both => &["down", "up", "both"],
    };
    let heading = table.optional("direction", reader::choice(headings));
    let leaf = table.optional("leaf", |field| reader::text(field).map(Arc::from));
    let source = read_source(&table, kind, files).unwrap_or(Source::Wrong);
    Some(Draft {
        name,
        flows: given.number("flows").unwrap_or_default() as u32,
        start,
        stop: stop.map(|stop| Instant::ZERO + stop),
        heading: if heading == Some("up") { Direction::Up } else { Direction::Down },
        both_ways: heading == Some("both"),
        rtt_extra: params::timing(&table, &COMMON, "rtt_extra"),
        common: keys,
        leaf,
        source,
        table,
    })
}

/// Reads the source of a group of `kind`; `None` when it has a fault, which is reported.
fn read_source(table: &Table<'_>, kind: TrafficKind, files: &FileStore) -> Option<Source> {
    let spec = kind.spec();
    let keys = Keys::read(table, &spec.base);
    let own = keys.given();
    let session = |model: Option<SessionSpec>| {
        let settings = sender::Draft::read(table);
        Some(Source::Session(model?, Box::new(settings?)))
    };
    match kind {
        TrafficKind::Bulk => Some(Source::Tcp(Box::new(sender::Draft::read(table)?.with_size(own.whole_bytes("size"))))),
        TrafficKind::FlowList => {
            let list = table.required("file", "name the file of the list, for instance file = \"flows.csv\"", |field| {
                files.flow_list(reader::text(field)?).map_err(|error| field.fault(error.to_string(), None))
            });
            let settings = sender::Draft::read(table);
            list.zip(settings).map(|(list, draft)| Source::List(listed(&list, &draft)))
        }
        TrafficKind::BulkWithPauses => session(session::bulk_with_pauses(table, &spec.base, &own)),
        TrafficKind::Short => session(session::short(&own)),
        TrafficKind::Web => session(session::web(table, &own)),
        TrafficKind::Page => session(session::page(table, &spec.base, &own)),
        TrafficKind::Video => session(session::video(table, &own)),
        TrafficKind::Udp(udp) => {
            let settings = Keys::read(table, kind.transport_keys());
            Some(Source::Udp(datagrams::Draft::new(udp, keys, &settings.given())))
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|spec| spec.kind)
}

fn read_kind(field: Field<'_>) -> Result<TrafficKind, Fault> {
    let name = reader::text(field)?;
    let known = || names().collect::<Vec<_>>();
    KINDS.iter().find(|spec| spec.is_called(name)).map(|spec| spec.of).ok_or_else(|| reader::not_one_of(field, name, &known()))
}

/// The names of groups that were read.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    /// Where the search for the number of the next group of a kind without name begins.
    next: BTreeMap<&'static str, u32>,
}

impl Names {
    /// The given name, else the kind, with a number where that is taken.
    fn read(&mut self, table: &Table<'_>, kind: &'static str) -> String {
        let given = table.optional("name", |field| {
            let name = reader::text(field)?;
            if self.taken.contains(name) {
                return Err(field.fault(format!("`{}` is the name of another group", field.node.shown()), None));
            }
            if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
                return Err(field.fault(format!("`{}` is not a name: allowed 1 to 64 bytes", field.node.shown()), None));
            }
            Ok(name.to_owned())
        });
        let name = given.unwrap_or_else(|| self.unused(kind));
        self.taken.insert(name.clone());
        name
    }

    fn unused(&mut self, kind: &'static str) -> String {
        if !self.taken.contains(kind) {
            return kind.to_owned();
        }
        let number = self.next.entry(kind).or_insert(2);
        loop {
            let name = format!("{kind}-{number}");
            if !self.taken.contains(&name) {
                return name;
            }
            *number += 1;
        }
    }
}

/// The entries of a list for each control and path, with the group's settings where the list has
/// none of its own.
fn listed(list: &FlowList, settings: &sender::Draft) -> Vec<Listed> {
    let parts = list.parts.iter().map(|part| Listed {
        path: part.path.clone(),
        transfers: part.transfers.clone(),
        settings: part.control.map_or_else(|| settings.clone(), |kind| settings.clone().with_control(kind)),
    });
    parts.collect()
}

/// A path and the largest packet that every link of it carries.
pub(super) type Carrier = (Path, Bytes);

/// The ways of a group's packets.
pub(super) struct Ways {
    /// A path for each of its parts.
    pub(super) carriers: Vec<Carrier>,
    /// The number of equal links that each of them stands for.
    pub(super) copies: u32,
}

impl Draft<'_> {
    /// Whether anything must come back to the senders.
    pub(super) fn needs_return(&self) -> bool {
        self.both_ways
            || match &self.source {
                Source::Tcp(_) | Source::Session(..) | Source::List(_) => true,
                Source::Udp(draft) => draft.is_answered(),
                Source::Wrong => false,
            }
    }

    /// The paths it takes, one for each of its parts; `None`: the one that its table gives.
    pub(super) fn paths(&self) -> Vec<Option<&ListedPath>> {
        match &self.source {
            Source::List(parts) => parts.iter().map(|part| part.path.as_ref()).collect(),
            _ => vec![None],
        }
    }

    /// Fills in sizes that follow the MTU of each of its [`Self::paths`], and ends reading. `None`
    /// when the group or a link has a fault.
    pub(super) fn finish(self, ways: Option<Ways>) -> Option<Traffic> {
        let copies = ways.as_ref().map_or(1, |ways| ways.copies);
        let ways = ways.map(|ways| ways.carriers);
        let mtu = ways.iter().flatten().map(|(_, mtu)| *mtu).min();
        let parts = ways.and_then(|ways| self.source.parts(&self.table, self.heading, self.both_ways, ways));
        let kind = self.table.get("kind").map(super::tree::Node::shown).unwrap_or_default();
        let each = parts.as_ref().map_or(0, |parts| parts.len() as u64);
        if u64::from(self.flows) * each > 2 * MAX_FLOWS {
            let message = format!("{} of {each} parts each are too many: allowed {} in all", self.flows, 2 * MAX_FLOWS);
            let help = "each pair of control and path in a list is a part of its own".to_owned();
            self.table.fault("flows", message, Some(help));
        }
        self.table.finish(&format!("traffic of kind `{kind}`"));
        let mut parts = parts?.into_iter();
        let main = parts.next()?;
        let given = self.common.given();
        let count = |name| given.number(name).unwrap_or_default();
        Some(Traffic {
            name: self.name,
            flows: self.flows.saturating_mul(copies),
            copies,
            start: self.start,
            stop: self.stop,
            heading: self.heading,
            mtu: mtu?,
            rtt_extra: self.rtt_extra,
            rtt_shared_by: count("rtt_shared_by") as u32,
            class: Class::new(count("class") as u8),
            weight: count("weight"),
            leaf: self.leaf,
            host: given.number("host").and_then(|number| HostNumber::new(number as u16)),
            is_background: given.switch("background").unwrap_or_default(),
            main,
            others: parts.collect(),
        })
    }
}

impl Source {
    /// The parts of each flow with their paths; `None` when there is a fault.
    fn parts(self, table: &Table<'_>, heading: Direction, both_ways: bool, ways: Vec<Carrier>) -> Option<Vec<Part>> {
        let session = |model: SessionSpec, settings: sender::Draft, mtu: Bytes| match settings.finish(table, mtu)? {
            SourceSpec::Tcp { sender, receiver, header } => Some(SourceSpec::Session { model, sender, receiver, header }),
            other => Some(other),
        };
        let mut ways = ways.into_iter();
        if let Self::List(listed) = self {
            let part = |(listed, (path, mtu)): (Listed, Carrier)| {
                let source = session(SessionSpec::List { transfers: listed.transfers }, listed.settings, mtu)?;
                Some(Part { path, heading, source })
            };
            return listed.into_iter().zip(ways).map(part).collect();
        }
        let (path, mtu) = ways.next()?;
        let (source, back) = match self {
            Self::Tcp(draft) => (draft.finish(table, mtu)?, None),
            Self::Session(model, draft) => (session(model, *draft, mtu)?, None),
            Self::Udp(draft) => {
                let (there, other) = draft.finish(table, mtu)?;
                (there, both_ways.then_some(other))
            }
            Self::List(_) | Self::Wrong => return None,
        };
        let back = back.map(|source| {
            let path = Path { forward: path.reverse.clone(), reverse: path.forward.clone() };
            Part { path, heading: heading.opposite(), source }
        });
        Some([Some(Part { path, heading, source }), back].into_iter().flatten().collect())
    }
}
