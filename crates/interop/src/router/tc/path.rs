//! The way of packets from an interface's root to where they wait.

use super::{Discipline, Role, Setting, TcError, filter};
use crate::router::dialect::tc::TC;
use crate::router::syntax::header;
use goodqueue_base::spec::quantity::excerpt;
use std::collections::BTreeSet;

/// The way of the packets that no filter chooses, or most of them.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    /// The disciplines on the way, from the root on.
    pub disciplines: Vec<&'a Discipline>,
    /// The classes on the way, of each shaper from the leaf to its root.
    pub classes: Vec<&'a Discipline>,
    /// The place where packets wait.
    pub end: End,
    /// The default class that a shaper on the way lacks: `default class 1:9`.
    pub missing_default: Option<String>,
    /// The bytes of a link's header that the interface counts with a packet, by its name.
    pub(super) header: u64,
    /// Remarks on what is left out, in sentences.
    pub notes: Vec<String>,
}

/// The place where packets wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The last discipline.
    Queue,
    /// The fifo that a class of this handle has without a discipline below it.
    Fifo(String),
    /// The fifo of htb's packets of no class, which passes its shaper by.
    Bypass,
    /// Below a shaper whose classes are not known.
    Unknown,
    /// Among the classes of the last discipline, of which several are leaves.
    Classes,
}

/// The way that is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To one queue.
    Queue,
    /// To the first HTB with several leaves.
    Classes,
}

/// Disciplines that divide packets among classes with rates.
pub(crate) const CLASSFUL_SHAPERS: &[&str] = &["htb", "hfsc"];

/// Disciplines that hand packets on to others, besides those that gq has no queue for.
const PASSING: &[&str] = &["tbf", "cake_mq"];

/// The disciplines longest on one way; a loop in a hostile file ends, too.
const MAX_DEPTH: usize = 8;

/// The first discipline that an interface sends through.
pub(crate) fn root<'a>(all: &'a [Discipline], dev: &str) -> Option<&'a Discipline> {
    let is_root = |found: &&Discipline| {
        found.role == Role::Qdisc
            && found.dev == dev
            && found.parent.is_none()
            && !matches!(found.kind.as_str(), "ingress" | "clsact" | "noqueue")
    };
    all.iter().rfind(is_root)
}

impl<'a> Path<'a> {
    /// Follows an interface's packets; `None` where it has no queue.
    ///
    /// # Errors
    /// When classes of several interfaces cannot be told apart.
    pub fn new(all: &'a [Discipline], dev: &str) -> Result<Option<Self>, TcError> {
        Self::follow(all, dev, Reach::Queue)
    }

    /// Follows an interface's packets to an HTB with several leaves; `None` where it has none.
    pub(super) fn to_classes(all: &'a [Discipline], dev: &str) -> Result<Option<Self>, TcError> {
        Ok(Self::follow(all, dev, Reach::Classes)?.filter(|path| path.end == End::Classes))
    }

    fn follow(all: &'a [Discipline], dev: &str, reach: Reach) -> Result<Option<Self>, TcError> {
        let Some(root) = root(all, dev) else { return Ok(None) };
        // Packets arrive at an intermediate device as at the interface that sends them there.
        let source = all.iter().find(|found| !found.dev.is_empty() && found.redirects_to().as_deref() == Some(dev));
        let header = header(source.map_or(dev, |filter| &filter.dev));
        let (classes, notes) = (Vec::new(), Vec::new());
        let mut path = Self { disciplines: vec![root], classes, end: End::Queue, missing_default: None, header, notes };
        let mut last = root;
        while path.disciplines.len() < MAX_DEPTH {
            if reach == Reach::Classes && last.kind == "htb" && leaves(&self::classes(all, last)?).len() > 1 {
                path.end = End::Classes;
                break;
            }
            let next = if CLASSFUL_SHAPERS.contains(&last.kind.as_str()) {
                path.through_classes(all, last)?
            } else if PASSING.contains(&last.kind.as_str()) || TC.forms.iter().all(|form| form.word != last.kind) {
                path.through(all, last)
            } else {
                None
            };
            match next {
                Some(next) if path.disciplines.iter().all(|known| !std::ptr::eq(*known, next)) => {
                    path.disciplines.push(next);
                    last = next;
                }
                _ => break,
            }
        }
        Ok(Some(path))
    }

    /// The discipline where packets wait.
    #[must_use]
    pub fn last(&self) -> &'a Discipline {
        // A path has its root.
        self.disciplines[self.disciplines.len() - 1]
    }

    /// The child of a discipline without classes that have settings.
    fn through(&mut self, all: &'a [Discipline], outer: &'a Discipline) -> Option<&'a Discipline> {
        let children = children(all, outer);
        let first = *children.first()?;
        let Some(class) = class_of_all(all, outer).or_else(|| usual_class(outer)) else {
            self.mention_others(outer, &children, first);
            return Some(first);
        };
        let is_there = |child: &&&Discipline| child.parent.as_deref().map(minor) == Some(minor(&class));
        let Some(chosen) = children.iter().find(is_there).copied() else {
            let others: Vec<String> = children.iter().map(|child| child.name()).collect();
            self.notes.push(format!(
                "{} has {} in other classes; this is class {class}, where packets without a priority wait.",
                outer.name(),
                excerpt(&others.join(", "))
            ));
            self.end = End::Fifo(class);
            return None;
        };
        self.mention_others(outer, &children, chosen);
        Some(chosen)
    }

    fn mention_others(&mut self, outer: &Discipline, children: &[&Discipline], chosen: &Discipline) {
        if children.len() > 1 {
            let count = children.len();
            self.notes.push(format!("{} has {count} queues; this is {}.", outer.name(), chosen.name()));
        }
    }

    /// The child of the class that packets go to which no filter chooses.
    fn through_classes(&mut self, all: &'a [Discipline], outer: &'a Discipline) -> Result<Option<&'a Discipline>, TcError> {
        let classes = classes(all, outer)?;
        let children = children(all, outer);
        let Some(class) = self.leaf(all, outer, &classes, &children) else {
            return Ok(match (&self.end, classes.is_empty()) {
                (End::Queue, true) => self.without_classes(outer, &children),
                _ => None,
            });
        };
        let mut above = Some(class);
        for _ in 0..MAX_DEPTH {
            let Some(class) = above else { break };
            self.classes.push(class);
            above = class.parent.as_ref().and_then(|parent| classes.iter().find(|other| other.handle == *parent)).copied();
        }
        let child = children.iter().find(|child| child.parent.as_ref() == Some(&class.handle)).copied();
        match child {
            Some(child) => self.mention_others(outer, &children, child),
            None => self.end = End::Fifo(class.handle.clone()),
        }
        Ok(child)
    }

    /// The class that packets go to; `None`, and the end of the way, where they pass classes by.
    fn leaf(
        &mut self,
        all: &[Discipline],
        outer: &Discipline,
        classes: &[&'a Discipline],
        children: &[&Discipline],
    ) -> Option<&'a Discipline> {
        let leaves = leaves(classes);
        let has_queue = |class: &Discipline| children.iter().any(|child| child.parent.as_ref() == Some(&class.handle));
        let (of_default, note) = default_leaf(outer, &leaves, children);
        self.notes.extend(note);
        let first = *leaves.iter().find(|class| has_queue(class)).or(leaves.first())?;
        let of_all = leaf_of_all(all, outer, &leaves);
        if let Some(default) = of_default {
            return of_all.or(Some(default));
        }
        let missing = missing_default(outer);
        let to_class = || {
            let its =
                all.iter().filter(|filter| filter.role == Role::Filter && (filter.dev.is_empty() || filter.dev == outer.dev));
            its.filter_map(|filter| filter.option(filter::FLOW))
                .find_map(|to| leaves.iter().find(|class| class.handle == to.text()))
        };
        let chosen = of_all.or_else(|| to_class().copied());
        self.missing_default = Some(missing.clone());
        let passed = outer.option("direct_packets_stat").and_then(Setting::number);
        if outer.kind == "htb" && chosen.is_none() && passed != Some(0.0) {
            self.end = End::Bypass;
            return None;
        }
        let chosen = chosen.unwrap_or(first);
        self.notes.push(format!("{} has no {missing}; this is class {}.", outer.name(), chosen.handle));
        Some(chosen)
    }

    /// Where no class of a shaper is known, its default names the queue.
    fn without_classes(&mut self, outer: &Discipline, children: &[&'a Discipline]) -> Option<&'a Discipline> {
        let wanted = default_minors(outer);
        let is_default = |child: &&&Discipline| child.parent.as_deref().is_some_and(|parent| wanted.contains(&minor(parent)));
        let chosen = children.iter().find(is_default).or(children.first()).copied();
        match chosen {
            Some(chosen) => self.mention_others(outer, children, chosen),
            None => self.end = End::Unknown,
        }
        chosen
    }
}

/// Classes without others below them.
pub(super) fn leaves<'a>(classes: &[&'a Discipline]) -> Vec<&'a Discipline> {
    let parents: BTreeSet<&str> = classes.iter().filter_map(|class| class.parent.as_deref()).collect();
    let is_leaf = |class: &&Discipline| !parents.contains(class.handle.as_str()) && !class.handle.ends_with(':');
    classes.iter().copied().filter(is_leaf).collect()
}

/// The leaf that `default` names, with a remark where versions of `tc` print two of them alike: the
/// one with a queue is taken.
pub(super) fn default_leaf<'a>(
    outer: &Discipline,
    leaves: &[&'a Discipline],
    children: &[&Discipline],
) -> (Option<&'a Discipline>, Option<String>) {
    let candidates = default_minors(outer);
    let mut found: Vec<&'a Discipline> =
        candidates.iter().filter_map(|wanted| leaves.iter().find(|class| minor(&class.handle) == *wanted).copied()).collect();
    found.sort_by_key(|class| children.iter().all(|child| child.parent.as_ref() != Some(&class.handle)));
    let [one, other, ..] = found.as_slice() else { return (found.first().copied(), None) };
    let default = outer.option("default").map(Setting::text).unwrap_or_default();
    let note = format!(
        "default {default} of {} {} is class {} or {}, as versions of tc print it; this is {}.",
        outer.kind, outer.handle, one.handle, other.handle, one.handle
    );
    (Some(one), Some(note))
}

/// The name of a default class that is not there: `default class 1:9`.
pub(super) fn missing_default(outer: &Discipline) -> String {
    match default_minors(outer).first() {
        Some(minor) if *minor > 0 => format!("default class {}:{minor:x}", major(&outer.handle)),
        _ => "default class".to_owned(),
    }
}

/// The leaf that a filter puts all packets into.
pub(super) fn leaf_of_all<'a>(all: &[Discipline], outer: &Discipline, leaves: &[&'a Discipline]) -> Option<&'a Discipline> {
    let to = class_of_all(all, outer)?;
    leaves.iter().find(|class| class.handle == to).copied()
}

/// The class that a filter puts all packets into.
fn class_of_all(all: &[Discipline], outer: &Discipline) -> Option<String> {
    let is_its = |filter: &&Discipline| {
        filter.role == Role::Filter
            && filter.dev == outer.dev
            && filter.parent.as_deref().is_some_and(|parent| match parent {
                "root" => outer.parent.is_none(),
                parent => major(parent) == major(&outer.handle),
            })
            && filter.option(filter::ALL).is_some()
    };
    all.iter().filter(is_its).find_map(|filter| filter.option(filter::FLOW)).map(Setting::text)
}

/// The class of packets without a priority: of prio the band that the map names first, which is the
/// second one untold (tc/q_prio.c), and of ets the last band untold (net/sched/sch_ets.c).
fn usual_class(outer: &Discipline) -> Option<String> {
    let map = outer.option("priomap").map(Setting::text);
    let named = map.as_deref().and_then(|map| map.split_whitespace().next()?.parse::<u32>().ok());
    let bands = outer.option("bands").and_then(Setting::number).map(|bands| bands as u32);
    let band = match outer.kind.as_str() {
        "prio" | "pfifo_fast" => named.unwrap_or(1),
        "ets" => named.or(bands?.checked_sub(1))?,
        _ => named?,
    };
    Some(format!("{}:{:x}", major(&outer.handle), band.saturating_add(1)))
}

/// The disciplines right below another.
pub(super) fn children<'a>(all: &'a [Discipline], outer: &Discipline) -> Vec<&'a Discipline> {
    let major = major(&outer.handle);
    // Of disciplines that the kernel made only mq has others below it.
    if major == "0" && !outer.kind.starts_with("mq") {
        return Vec::new();
    }
    let is_below = |found: &&Discipline| {
        found.role == Role::Qdisc
            && found.dev == outer.dev
            && !matches!(found.kind.as_str(), "ingress" | "clsact")
            && found.parent.as_deref().is_some_and(|parent| self::major(parent) == major)
    };
    all.iter().filter(is_below).collect()
}

/// The classes of a discipline.
pub(crate) fn classes<'a>(all: &'a [Discipline], outer: &Discipline) -> Result<Vec<&'a Discipline>, TcError> {
    let is_its = |class: &&Discipline| {
        class.role == Role::Class
            && class.kind == outer.kind
            && (class.dev.is_empty() || class.dev == outer.dev)
            && major(&class.handle) == major(&outer.handle)
    };
    let mut found: Vec<&Discipline> = all.iter().filter(is_its).collect();
    if found.iter().any(|class| class.dev == outer.dev) {
        found.retain(|class| class.dev == outer.dev);
    }
    let differs = |class: &&&Discipline| {
        let is_other = |other: &&Discipline| (&other.parent, &other.options) != (&class.parent, &class.options);
        class.dev.is_empty() && class.is_whole && found.iter().any(|other| other.handle == class.handle && is_other(other))
    };
    match found.iter().find(differs) {
        Some(class) => Err(TcError::Classes { handle: excerpt(&class.handle) }),
        None => Ok(found),
    }
}

/// The classes that a discipline's `default` may name: one, but for htb as iproute2 prints it
/// without `0x`: in base 10 (4.15 to 4.17) or 16 (before, and 4.18 to 4.20).
fn default_minors(outer: &Discipline) -> Vec<u32> {
    match outer.option("default") {
        // 0 has no class of its own.
        None => vec![0],
        Some(Setting::Number(number)) => vec![*number as u32],
        Some(setting) => {
            let text = setting.text();
            let mut found = vec![minor(&text)];
            let decimal = text.parse::<u32>().ok().filter(|_| outer.is_whole && outer.kind == "htb");
            found.extend(decimal.filter(|decimal| *decimal != found[0]));
            found
        }
    }
}

/// The major number of a handle; `tc` leaves out that of disciplines that the kernel made, which
/// is 0.
pub(crate) fn major(handle: &str) -> &str {
    handle.split(':').next().filter(|major| !major.is_empty()).unwrap_or("0")
}

/// The minor number of a class; `tc` writes them in base 16.
pub(super) fn minor(text: &str) -> u32 {
    let text = text.split_once(':').map_or(text, |(_, minor)| minor);
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default()
}
