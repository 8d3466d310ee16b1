//! One point of a plan: typed settings with every default filled in, and how they are read from the
//! tree.

use super::known::Known;
use super::link::{self, Demand, Link, LinkDirection};
use super::params::Keys;
use super::path::{Direction, Path, Step};
use super::queue::Queue;
use super::reader::{self, Faults, Table};
use super::topology::Graph;
use super::traffic::{self, Traffic};
use super::tree::{Node, Value};
use crate::quantity::{Limits, excerpt};
use crate::scenario::diagnostic::{Fault, PlanError};
use crate::scenario::limits::MAX_FLOWS_OF_COPIES;
use crate::scenario::schema::access::ACCESS;
use crate::scenario::schema::scenario::SCENARIO;
use goodqueue_base::spec::{ParamValues, nearest};
use goodqueue_base::units::{Duration, Instant, Rate};

/// The settings of one point.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: String,
    /// The description, if the file has one.
    pub description: Option<String>,
    /// Time before measuring begins.
    pub warmup: Duration,
    /// The measured part, after the warm-up.
    pub duration: Duration,
    /// Independent repetitions.
    pub replications: u32,
    /// Root of all randomness.
    pub seed: u64,
    /// The links between nodes, in the order of the file; at least one. Alone it is the bottleneck
    /// of a dumbbell.
    pub links: Vec<Link>,
    /// The links between hosts and nodes.
    pub access: Access,
    /// Groups of flows, in the order of the file.
    pub traffic: Vec<Traffic>,
}

/// The links between hosts and the first and last node of their path, one for each flow, direction
/// and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Transmission rate.
    pub rate: Rate,
    /// One-way propagation delay of each.
    pub delay: Duration,
    /// Random extra delay of each packet, uniform from zero to this; `None`: the sending time of
    /// one full packet.
    pub jitter: Option<Duration>,
    /// At which ends they are.
    pub ends: AccessEnds,
}

/// At which ends of a path hosts have access links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessEnds {
    /// At both: a dumbbell.
    Both,
    /// At the sender's only: the last link leads straight to the receivers.
    Sender,
}

impl Access {
    /// Propagation delay of all access links on a one-way trip.
    #[must_use]
    pub fn one_way_delay(&self) -> Duration {
        match self.ends {
            AccessEnds::Both => self.delay * 2,
            AccessEnds::Sender => self.delay,
        }
    }
}

const MAX_SEED: u64 = i64::MAX as u64;

/// Reads the whole tree, the sweep already taken out of it.
///
/// # Errors
/// All faults found.
pub(super) fn resolve(root: &Node, default_name: &str, known: &Known) -> Result<Scenario, PlanError> {
    let faults = Faults::default();
    let scenario = read(root, default_name, known, &faults);
    match (scenario, PlanError::from_faults(faults.into_vec())) {
        (_, Some(error)) => Err(error),
        (Some(scenario), None) => Ok(scenario),
        // Every way to give up reports why; this is the last resort against one that does not.
        (None, None) => Err(PlanError::new(Fault::at(&root.origin, "", "cannot be understood".to_owned(), None))),
    }
}

fn read(root: &Node, default_name: &str, known: &Known, faults: &Faults) -> Option<Scenario> {
    let table = Table::open(root, "", faults)?;
    read_version(&table);
    let keys = Keys::read(&table, &SCENARIO);
    let given = keys.given();
    let name = table.optional("name", |field| reader::text(field).map(str::to_owned));
    let description = table.optional("description", |field| reader::text(field).map(str::to_owned));
    let seed = table.optional("seed", reader::count(Limits::new(0, MAX_SEED))).unwrap_or(1);
    let access = read_access(&table)?;
    let traffic = traffic::read(&table, &known.files);
    let (links, traffic) = connect(&table, super::link::read(&table, known), access, traffic);
    table.finish("a scenario");
    Some(Scenario {
        name: name.unwrap_or_else(|| default_name.to_owned()),
        description,
        warmup: given.duration("warmup")?,
        duration: given.duration("duration")?,
        replications: given.number("replications")? as u32,
        seed,
        links: links?,
        access,
        traffic: traffic?,
    })
}

/// Finds each group's path over the links, then finishes both: buffers need the paths' round-trip
/// times, packets their MTU.
fn connect(
    scenario: &Table<'_>,
    links: Option<Vec<link::Draft<'_>>>,
    access: Access,
    traffic: Vec<traffic::Draft<'_>>,
) -> (Option<Vec<Link>>, Option<Vec<Traffic>>) {
    let Some(links) = links else {
        return (None, traffic.into_iter().map(|draft| draft.finish(None)).collect());
    };
    let graph = Graph::new(&links);
    let carriers = |group: &traffic::Draft<'_>| {
        let graph = graph.as_ref()?;
        let with_mtu = |path: Path| graph.mtu(&path).map(|mtu| (path, mtu));
        let paths = graph.paths(group)?;
        let copies = graph.copies(group, &paths)?;
        Some(traffic::Ways { carriers: paths.into_iter().map(with_mtu).collect::<Option<_>>()?, copies })
    };
    let ways: Vec<Option<traffic::Ways>> = traffic.iter().map(carriers).collect();
    check_leaves(&links, traffic.iter().zip(&ways));
    let hosts = access.one_way_delay() * 2;
    let rtt = |path: &Path, group: &traffic::Draft<'_>| {
        let links = graph.as_ref().map_or(Duration::ZERO, |graph| graph.delay(path));
        links + hosts + group.rtt_extra.latest()
    };
    let carriers = ways.iter().zip(&traffic).filter_map(|(ways, group)| Some((&ways.as_ref()?.carriers, group)));
    let timed = carriers.flat_map(|(carriers, group)| carriers.iter().map(|(path, _)| (path, rtt(path, group))));
    let demands = Demand::on(&links, hosts, timed);
    let traffic: Vec<Option<Traffic>> = traffic.into_iter().zip(ways).map(|(draft, ways)| draft.finish(ways)).collect();
    let flows: u64 = traffic.iter().flatten().map(|group| u64::from(group.flows)).sum();
    if flows > MAX_FLOWS_OF_COPIES {
        let message = format!("has {flows} flows in all, as `count` of links has it: allowed 1 to {MAX_FLOWS_OF_COPIES}");
        scenario.fault("traffic", message, None);
    }
    let links: Vec<Option<Link>> = links.into_iter().zip(demands).map(|(draft, demand)| draft.finish(demand)).collect();
    (links.into_iter().collect(), traffic.into_iter().collect())
}

/// Refuses leaves that no queue on the way of their group has.
fn check_leaves<'a>(
    links: &[link::Draft<'_>],
    groups: impl Iterator<Item = (&'a traffic::Draft<'a>, &'a Option<traffic::Ways>)>,
) {
    let leaves: Vec<_> = links.iter().map(link::Draft::leaves).collect();
    for (group, ways) in groups {
        let (Some(leaf), Some(ways)) = (&group.leaf, ways) else { continue };
        let steps = || ways.carriers.iter().flat_map(|(path, _)| path.steps());
        let on_way = || steps().map(|step| &leaves[step.link][usize::from(step.heading == Direction::Up)]);
        if on_way().any(|leaves| leaves.contains(&**leaf)) {
            continue;
        }
        let near = nearest(leaf, on_way().flatten().copied());
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let help = help.or_else(|| Some("give a queue there `class.NAME`, without others below it".to_owned()));
        group.table.fault("leaf", format!("no queue on the way has the leaf `{}`", excerpt(leaf)), help);
    }
}

fn read_version(table: &Table<'_>) {
    table.required("goodqueue", "begin the file with goodqueue = 1, the version of the format", |field| match field.node.value {
        Value::Integer(1) => Ok(()),
        _ => Err(field.fault(format!("`{}` is not a version of the format: allowed 1", field.node.shown()), None)),
    });
}

fn read_access(table: &Table<'_>) -> Option<Access> {
    let access = table.get("access").and_then(|node| Table::open(node, "access", table.faults()));
    let keys = access.as_ref().map(|access| Keys::read(access, &ACCESS));
    let given = keys.as_ref().map_or_else(|| ParamValues::new(&ACCESS, &[]).expect("no values"), Keys::given);
    let settings = Access {
        rate: given.rate("rate")?,
        delay: given.duration("delay")?,
        jitter: given.duration("jitter"),
        ends: if given.choice("ends") == Some("sender") { AccessEnds::Sender } else { AccessEnds::Both },
    };
    if let Some(access) = access {
        access.finish("[access]");
    }
    Some(settings)
}

impl Scenario {
    /// The link that results show first.
    ///
    /// # Panics
    /// Never: a scenario that was read has a link.
    #[must_use]
    pub fn main_link(&self) -> &Link {
        &self.links[0]
    }

    /// The direction of a link that has this name in results.
    #[must_use]
    pub fn direction_called(&self, name: &str) -> Option<&LinkDirection> {
        let both = |link: &'_ Link| [Direction::Down, Direction::Up].map(|heading| (link.name_of(heading), heading));
        self.links.iter().find_map(|link| {
            let (_, heading) = both(link).into_iter().find(|(known, _)| known == name)?;
            Some(link.direction(heading))
        })
    }

    /// The kind of queue at the link that results show first, followed by a colon and the algorithm
    /// that it contains; empty without a queue.
    #[must_use]
    pub fn main_queue(&self) -> String {
        self.main_link().down.queue.as_ref().map_or_else(String::new, Queue::name)
    }

    /// Start and end of the measured part, s.
    #[must_use]
    pub fn measured_s(&self) -> (f64, f64) {
        (self.warmup.as_secs_f64(), (self.warmup + self.duration).as_secs_f64())
    }

    /// The round-trip time of a group's flows without queueing or transmission, the largest of
    /// them.
    #[must_use]
    pub fn rtt_of(&self, group: &Traffic) -> Duration {
        let delay = |step: &Step| self.links[step.link].direction(step.heading).delay;
        let links = group.parts().map(|part| part.path.steps().fold(Duration::ZERO, |sum, step| sum + delay(step)));
        links.max().unwrap_or_default() + self.access.one_way_delay() * 2 + group.rtt_extra.latest()
    }

    /// The round-trip time of each group's flows without queueing or transmission, the largest of
    /// them, in the order of the groups.
    #[must_use]
    pub fn base_rtts(&self) -> Vec<Duration> {
        self.traffic.iter().map(|group| self.rtt_of(group)).collect()
    }

    /// The round-trip time without queueing or transmission, the largest over all flows.
    #[must_use]
    pub fn base_rtt(&self) -> Duration {
        self.base_rtts().into_iter().max().unwrap_or_default()
    }

    /// When the run ends.
    #[must_use]
    pub fn end(&self) -> Instant {
        Instant::ZERO + self.warmup + self.duration
    }
}
