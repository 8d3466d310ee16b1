//! The routes of packets: nodes joined by links, and the path of each group of flows.

use super::link;
use super::path::{Direction, Path, Step};
use super::reader::{self, Field};
use super::traffic;
use super::tree::{Node, Value};
use crate::quantity::excerpt;
use crate::scenario::diagnostic::Fault;
use crate::scenario::flow_file::ListedPath;
use goodqueue_base::spec::nearest;
use goodqueue_base::units::{Bytes, Duration};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// More links than this on one way are a mistake.
const MAX_STEPS: usize = 200;

/// The nodes and what joins them. A single link may leave its ends unnamed.
pub(super) struct Graph<'a, 'b> {
    links: &'a [link::Draft<'b>],
    nodes: Vec<&'a str>,
    numbers: BTreeMap<&'a str, usize>,
    /// The step over the link from one node to another.
    joined: BTreeMap<(usize, usize), Step>,
    /// For each node: the node at the other end, and how to get there.
    neighbors: Vec<Vec<(usize, Step)>>,
    /// The node that ways were last looked for from, and what was found: most groups begin at the
    /// same one.
    reached: RefCell<Option<(usize, Rc<Reached>)>>,
}

/// The ways over the fewest links from one node to each other one.
struct Reached {
    /// The node before it, and the step from there; `None` for the start and what is out of reach.
    from: Vec<Option<(usize, Step)>>,
    distance: Vec<usize>,
    /// The number of ways that are equally short; zero: there is none.
    ways: Vec<u32>,
}

const PATH_HELP: &str = "write the nodes from sender to receiver, for instance path = [\"a\", \"b\"]";

impl<'a, 'b> Graph<'a, 'b> {
    /// The graph of all links. Faults (missing ends, a link back to its own start, two links
    /// between the same nodes) are reported where they stand.
    pub(super) fn new(links: &'a [link::Draft<'b>]) -> Option<Self> {
        let mut graph = Graph {
            links,
            nodes: Vec::new(),
            numbers: BTreeMap::new(),
            joined: BTreeMap::new(),
            neighbors: Vec::new(),
            reached: RefCell::default(),
        };
        if let [only] = links
            && only.ends.is_none()
        {
            return Some(graph);
        }
        let mut sound = true;
        for (number, link) in links.iter().enumerate() {
            sound &= graph.add(number, link);
        }
        sound.then_some(graph)
    }

    fn add(&mut self, number: usize, link: &'a link::Draft<'b>) -> bool {
        let Some([from, to]) = &link.ends else {
            let help = "with several links each says which nodes it joins: from = \"a\", to = \"b\"";
            link.table.fault("from", "is missing".to_owned(), Some(help.to_owned()));
            return false;
        };
        if from == to {
            link.table.fault("to", format!("`{to}` is where the link begins: a link joins two nodes"), None);
            return false;
        }
        let ends = (self.node(from), self.node(to));
        let back = (ends.1, ends.0);
        // Two one-way links may join two nodes, one for each direction.
        let same = self.joined.get(&ends).or_else(|| self.joined.get(&back).filter(|_| !link.one_way));
        if let Some(other) = same {
            let message = format!("joins `{from}` and `{to}`, which link `{}` joins already", self.links[other.link].name);
            let help = "a link has one queue in each direction; for queues in a row put a node between them";
            link.table.fault("from", message, Some(help.to_owned()));
            return false;
        }
        self.join(ends, Step { link: number, heading: Direction::Down });
        if !link.one_way {
            self.join(back, Step { link: number, heading: Direction::Up });
        }
        true
    }

    fn join(&mut self, (from, to): (usize, usize), step: Step) {
        self.joined.insert((from, to), step);
        self.neighbors[from].push((to, step));
    }

    fn node(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.nodes.push(name);
            self.neighbors.push(Vec::new());
            self.nodes.len() - 1
        })
    }

    /// The paths of a group, one for each of its parts; `None` when a fault was found.
    pub(super) fn paths(&self, group: &traffic::Draft<'_>) -> Option<Vec<Path>> {
        let mut common = None;
        let path = |listed: Option<&ListedPath>| match (listed, &common) {
            (Some(listed), _) => self.path(group, self.listed_way(group, listed)?),
            (None, Some(path)) => Some(Path::clone(path)),
            (None, None) => common.insert(self.path(group, self.way(group, "path")?)?).clone().into(),
        };
        group.paths().into_iter().map(path).collect()
    }

    /// The number of equal links that a group's paths lead over, each copy of its flows over one;
    /// `None` when a fault was found.
    pub(super) fn copies(&self, group: &traffic::Draft<'_>, paths: &[Path]) -> Option<u32> {
        let mut copied = paths.iter().flat_map(Path::steps).map(|step| &self.links[step.link]).filter(|link| link.count > 1);
        let Some(first) = copied.next() else { return Some(1) };
        if let Some(other) = copied.find(|link| link.count != first.count) {
            let message = format!(
                "crosses `{}`, which stands for {} links, and `{}`, which stands for {}",
                first.name, first.count, other.name, other.count
            );
            group.table.fault("path", message, Some("give both links the same `count`".to_owned()));
            return None;
        }
        Some(first.count)
    }

    /// The path of a group that goes one way as it was written.
    fn path(&self, group: &traffic::Draft<'_>, there: Way) -> Option<Path> {
        let back = if group.table.get("return_path").is_some() {
            let back = self.way(group, "return_path")?;
            self.check_return(group, &there, &back)?;
            Some(back.steps)
        } else {
            let one_way = there.steps.iter().find(|step| self.links[step.link].one_way);
            if let Some(step) = one_way
                && (group.needs_return() || group.heading == Direction::Up)
            {
                let name = &self.links[step.link].name;
                let message = format!("crosses link `{name}`, which is one-way");
                let help = "say which way packets come back, for instance return_path = [\"b\", \"c\", \"a\"]";
                group.table.fault("path", message, Some(help.to_owned()));
                return None;
            }
            one_way.is_none().then(|| there.steps.iter().rev().map(|step| back_over(*step)).collect())
        };
        let (there, back) = (there.steps, back.unwrap_or_default());
        Some(match group.heading {
            Direction::Down => Path { forward: there, reverse: back },
            Direction::Up => Path { forward: back, reverse: there },
        })
    }

    fn way(&self, group: &traffic::Draft<'_>, key: &'static str) -> Option<Way> {
        let given = group.table.get(key).is_some();
        if self.links.len() == 1 && !given {
            return Some(Way { ends: None, steps: vec![Step { link: 0, heading: Direction::Down }] });
        }
        if self.nodes.is_empty() {
            let help = "give the link both ends: from = \"a\", to = \"b\"";
            group.table.fault(key, "names nodes, but the link has none".to_owned(), Some(help.to_owned()));
            return None;
        }
        group.table.required(key, PATH_HELP, |field| self.read_way(field))
    }

    /// A path of a list of flows: as in a scenario file, but the message says where in the other
    /// file it stands.
    fn listed_way(&self, group: &traffic::Draft<'_>, listed: &ListedPath) -> Option<Way> {
        if self.nodes.is_empty() {
            let help = "give the link both ends: from = \"a\", to = \"b\"";
            group.table.fault(
                "file",
                format!("{}: path: names nodes, but the link has none", listed.place),
                Some(help.to_owned()),
            );
            return None;
        }
        group.table.optional("file", |field| {
            let node = |value| Node { value, origin: field.node.origin.clone() };
            let nodes = listed.nodes.iter().map(|name| node(Value::String(name.clone()))).collect();
            let path = format!("{}: {}: path", field.path, listed.place);
            self.read_way(Field { node: &node(Value::Array(nodes)), path: &path })
        })
    }

    fn read_way(&self, field: Field<'_>) -> Result<Way, Fault> {
        let help = || Some(PATH_HELP.to_owned());
        let Value::Array(items) = &field.node.value else {
            return Err(
                field.fault(format!("`{}` is {}: expected a list of nodes", field.node.shown(), field.node.kind()), help())
            );
        };
        if items.len() < 2 || items.len() > MAX_STEPS {
            return Err(field.fault(format!("has {} nodes: allowed 2 to {MAX_STEPS}", items.len()), help()));
        }
        let mut visited: Vec<usize> = Vec::new();
        let mut steps = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let path = format!("{}.{number}", field.path);
            let here = Field { node: item, path: &path };
            let node = self.known_node(here)?;
            let leg = match visited.last() {
                None => vec![(node, None)],
                Some(&last) if last == node => return Err(self.loop_at(here, node)),
                Some(&last) => self.leg(here, last, node)?,
            };
            for (node, step) in leg {
                if visited.contains(&node) {
                    return Err(self.loop_at(here, node));
                }
                visited.push(node);
                steps.extend(step);
            }
        }
        if steps.len() > MAX_STEPS {
            return Err(field.fault(format!("crosses {} links: allowed up to {MAX_STEPS}", steps.len()), None));
        }
        Ok(Way { ends: Some((visited[0], visited[visited.len() - 1])), steps })
    }

    fn loop_at(&self, field: Field<'_>, node: usize) -> Fault {
        field.fault(format!("comes to `{}` a second time: a path has no loop", self.nodes[node]), None)
    }

    fn known_node(&self, field: Field<'_>) -> Result<usize, Fault> {
        let name = reader::text(field)?;
        self.numbers.get(name).copied().ok_or_else(|| {
            let nodes = self.nodes.iter().take(20).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let help = nearest(name, self.nodes.iter().copied()).map(|name| format!("did you mean `{name}`?"));
            field.fault(format!("`{}` is not a node: the links join {nodes}", excerpt(name)), help)
        })
    }

    /// The way over fewest links from `from` to `to`, which lies at the end; the start is left out.
    fn leg(&self, field: Field<'_>, from: usize, to: usize) -> Result<Vec<(usize, Option<Step>)>, Fault> {
        if let Some(&step) = self.joined.get(&(from, to)) {
            return Ok(vec![(to, Some(step))]);
        }
        let Reached { from: reached, distance, ways } = &*self.reached_from(from);
        let (start, end) = (self.nodes[from], self.nodes[to]);
        if ways[to] == 0 {
            return Err(field.fault(format!("no link leads from `{start}` to `{end}`, not even over others"), None));
        }
        if ways[to] > 1 {
            let message = format!("{} ways of {} links lead from `{start}` to `{end}`", ways[to], distance[to]);
            return Err(field.fault(message, Some("name the nodes between".to_owned())));
        }
        let mut leg = Vec::new();
        let mut node = to;
        while let Some((before, step)) = reached[node] {
            leg.push((node, Some(step)));
            node = before;
        }
        leg.reverse();
        Ok(leg)
    }

    fn reached_from(&self, start: usize) -> Rc<Reached> {
        let mut latest = self.reached.borrow_mut();
        match &*latest {
            Some((known, reached)) if *known == start => Rc::clone(reached),
            _ => Rc::clone(&latest.insert((start, Rc::new(self.search(start)))).1),
        }
    }

    fn search(&self, start: usize) -> Reached {
        let count = self.nodes.len();
        let mut reached = Reached { from: vec![None; count], distance: vec![usize::MAX; count], ways: vec![0; count] };
        let Reached { from, distance, ways } = &mut reached;
        (distance[start], ways[start]) = (0, 1);
        let mut waiting = VecDeque::from([start]);
        while let Some(node) = waiting.pop_front() {
            for &(next, step) in &self.neighbors[node] {
                if distance[next] == usize::MAX {
                    distance[next] = distance[node] + 1;
                    from[next] = Some((node, step));
                    waiting.push_back(next);
                }
                if distance[next] == distance[node] + 1 {
                    ways[next] = ways[next].saturating_add(ways[node]);
                }
            }
        }
        reached
    }

    fn check_return(&self, group: &traffic::Draft<'_>, there: &Way, back: &Way) -> Option<()> {
        let name = |node: usize| self.nodes[node];
        match (there.ends, back.ends) {
            (Some((from, to)), Some((back_from, back_to))) if (from, to) != (back_to, back_from) => {
                let message = format!(
                    "leads from `{}` to `{}`, but packets come back from `{}` to `{}`",
                    name(back_from),
                    name(back_to),
                    name(to),
                    name(from)
                );
                group.table.fault("return_path", message, None);
                None
            }
            _ => Some(()),
        }
    }

    /// Propagation delay of a path both ways, without access links.
    pub(super) fn delay(&self, path: &Path) -> Duration {
        path.steps().fold(Duration::ZERO, |sum, step| sum + self.links[step.link].delay_of(step.heading))
    }

    /// The largest packet that every link of a path carries.
    pub(super) fn mtu(&self, path: &Path) -> Option<Bytes> {
        path.steps().map(|step| self.links[step.link].mtu).min()
    }
}

/// A way as it was written.
struct Way {
    /// First and last node; `None` on the one link that names none.
    ends: Option<(usize, usize)>,
    steps: Vec<Step>,
}

fn back_over(step: Step) -> Step {
    Step { heading: step.heading.opposite(), ..step }
}
