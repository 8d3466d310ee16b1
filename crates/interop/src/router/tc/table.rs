//! The table of disciplines, classes and filters that commands of `tc` leave behind, by the rules
//! of the kernel (`tc_modify_qdisc` and `tc_ctl_tclass` of net/sched/sch_api.c).

use super::framing;
use super::netem;
use super::path::major;
use super::words::{is_one_of_several, subject};
use super::{Discipline, Role};
use std::collections::BTreeSet;

/// The change that a command makes to a table, or a line that shows a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// A line of output.
    Show,
    Add,
    Replace,
    Change,
    Delete,
}

/// The end of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The kernel takes it.
    Taken,
    /// The kernel refuses it, for the reason in this clause.
    Refused(String),
    /// A change of something that the file does not set.
    Unset,
    /// Nothing is there to delete, as scripts expect that begin with it.
    Gone,
}

/// Disciplines, classes and filters, in the order in which they were made.
#[derive(Default)]
pub(super) struct Table {
    all: Vec<(Discipline, Sure)>,
    /// Interfaces without a place for arriving packets, since a command deletes it.
    cut: BTreeSet<String>,
}

/// Whether a command is run in any case; a branch of a script may never be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sure {
    Yes,
    No,
}

/// Disciplines that cannot be changed once they are there (no `change` in their `Qdisc_ops`).
const UNCHANGEABLE: &[&str] = &["htb", "mq", "drr", "qfq", "ingress", "clsact", "noqueue"];
/// Disciplines whose `change` keeps what is not named; the rest replace all options.
const KEEPING: &[&str] = &["fq_codel", "codel", "pie", "fq_pie", "cake", "dualpi2", "fq", "hhf", "pfifo", "bfifo", "sfq"];
/// Disciplines with one class, which answers to any number.
const SINGLE: &[&str] = &["tbf", "netem"];

impl Table {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn last(&mut self) -> Option<&mut Discipline> {
        self.all.last_mut().map(|(found, _)| found)
    }

    /// The state at the end, and the interfaces whose arriving packets wait nowhere any more.
    pub(super) fn at_end(self) -> (Vec<Discipline>, BTreeSet<String>) {
        (self.all.into_iter().map(|(found, _)| found).collect(), self.cut)
    }

    /// Takes what a command says.
    pub(super) fn take(&mut self, verb: Verb, mut found: Discipline, sure: Sure) -> Outcome {
        self.name_automatic(&found);
        match (verb, found.role) {
            (Verb::Show, _) => self.show(found),
            (_, Role::Filter) => return self.filter(verb, found, sure),
            (Verb::Delete, Role::Qdisc) => return self.delete(&found, sure),
            (Verb::Delete, Role::Class) => return self.delete_class(&found, sure),
            (_, Role::Class) => {
                if found.handle.starts_with(':') {
                    found.handle.insert_str(0, major(found.parent.as_deref().unwrap_or_default()));
                }
                return self.class(verb, found, sure);
            }
            (_, Role::Qdisc) => return self.discipline(verb, found, sure),
        }
        Outcome::Taken
    }

    /// Takes an interface out, with all that it has.
    pub(super) fn delete_interface(&mut self, dev: &str) {
        self.all.retain(|(found, _)| found.dev != dev);
    }

    /// The kernel gives handles from 8001: on to disciplines without one.
    fn name_automatic(&mut self, by: &Discipline) {
        let handles = [by.parent.as_deref(), Some(by.handle.as_str())];
        for wanted in handles.into_iter().flatten().map(major) {
            let is_automatic = u32::from_str_radix(wanted, 16).is_ok_and(|wanted| (0x8001..0xffff).contains(&wanted));
            if !is_automatic || self.place_of(&by.dev, wanted).is_some() {
                continue;
            }
            let is_nameless = |(found, _): &&mut (Discipline, Sure)| {
                found.role == Role::Qdisc && found.dev == by.dev && found.handle.is_empty()
            };
            if let Some((found, _)) = self.all.iter_mut().find(is_nameless) {
                found.handle = format!("{wanted}:");
            }
        }
    }

    fn place_of(&self, dev: &str, wanted: &str) -> Option<usize> {
        // Most handles differ in their first digits.
        let may_be = |handle: &str| !handle.is_empty() && (handle.starts_with(wanted) || wanted == "0");
        let is_it = |found: &Discipline| may_be(&found.handle) && major(&found.handle) == wanted && found.dev == dev;
        self.all.iter().rposition(|(found, _)| found.role == Role::Qdisc && is_it(found))
    }

    /// The discipline at the place of another.
    fn at_place(&self, of: &Discipline) -> Option<usize> {
        let owner = of.parent.as_deref().and_then(|parent| self.place_of(&of.dev, major(parent)));
        let is_single = owner.is_some_and(|at| SINGLE.contains(&self.all[at].0.kind.as_str()));
        let is_there = |found: &Discipline| match (&found.parent, &of.parent) {
            (Some(theirs), Some(ours)) => theirs == ours || (is_single && major(theirs) == major(ours)),
            (theirs, ours) => theirs == ours,
        };
        self.all.iter().rposition(|(found, _)| found.role == Role::Qdisc && is_there(found) && found.dev == of.dev)
    }

    fn class_at(&self, class: &Discipline) -> Option<usize> {
        // Handles differ more often than interfaces.
        let is_it = |found: &Discipline| found.role == Role::Class && found.handle == class.handle && found.dev == class.dev;
        self.all.iter().rposition(|(found, _)| is_it(found))
    }

    /// A line of output is the state of its place; where no interface is named, nothing is known of
    /// the place.
    fn show(&mut self, found: Discipline) {
        if !found.dev.is_empty() && found.role != Role::Filter {
            let is_it = |(other, _): &(Discipline, Sure)| {
                let is_there = (other.role, &other.dev, &other.parent) == (found.role, &found.dev, &found.parent);
                is_there && (found.role == Role::Qdisc || other.handle == found.handle)
            };
            if let Some(at) = self.all.iter().position(is_it) {
                self.all.remove(at);
            }
        }
        self.all.push((found, Sure::Yes));
    }

    fn discipline(&mut self, verb: Verb, found: Discipline, sure: Sure) -> Outcome {
        // A default of the kernel's, which has no handle of its own, gives way to any other.
        let there = self.at_place(&found).filter(|at| major(&self.all[*at].0.handle) != "0" || self.all[*at].0.handle.is_empty());
        if sure == Sure::No && verb != Verb::Change {
            return self.create(found, sure);
        }
        if !found.is_placed {
            return match self.place_of(&found.dev, major(&found.handle)) {
                _ if found.handle.is_empty() => Outcome::Refused("neither root, a parent nor a handle is named".to_owned()),
                Some(at) => self.change(verb, at, found),
                None => self.unset(verb, found, sure),
            };
        }
        let is_same_handle = |at: usize| {
            let handle = &self.all[at].0.handle;
            found.handle.is_empty() || major(handle) == major(&found.handle)
        };
        match there {
            Some(at) if is_same_handle(at) => {
                let is_other = self.all[at].0.kind != found.kind;
                if verb == Verb::Replace && is_other && found.handle.is_empty() {
                    return self.create(found, sure);
                }
                self.change(verb, at, found)
            }
            Some(at) if verb != Verb::Replace => Outcome::Refused(format!("{} is there", self.all[at].0.name())),
            None if verb == Verb::Change => self.unset(verb, found, sure),
            Some(_) | None => match self.place_of(&found.dev, major(&found.handle)).filter(|_| !found.handle.is_empty()) {
                Some(other) if verb == Verb::Add || self.all[other].0.kind != found.kind => {
                    Outcome::Refused(format!("{} has this handle", self.all[other].0.name()))
                }
                Some(other) => {
                    let (moved, was) = self.all.remove(other);
                    self.create(Discipline { parent: found.parent, ..moved }, was)
                }
                None => self.create(found, sure),
            },
        }
    }

    /// Puts a discipline at its place, from which the one before goes with all below it.
    fn create(&mut self, found: Discipline, sure: Sure) -> Outcome {
        if let Some(at) = self.at_place(&found) {
            self.remove_with_all_below(at);
        }
        if found.is_ingress() {
            self.cut.remove(&found.dev);
        }
        self.all.push((found, sure));
        Outcome::Taken
    }

    fn change(&mut self, verb: Verb, at: usize, to: Discipline) -> Outcome {
        let (found, _) = &mut self.all[at];
        if verb == Verb::Add {
            return Outcome::Refused(format!("{} is there", found.name()));
        }
        if found.kind != to.kind {
            return Outcome::Refused(format!("{} is there, which is no {}", found.name(), to.kind));
        }
        if to.options.is_empty() {
            return Outcome::Taken;
        }
        if UNCHANGEABLE.contains(&to.kind.as_str()) {
            return Outcome::Refused(format!("{} cannot be changed", found.name()));
        }
        let sizes = |found: &Discipline| found.options.iter().any(|(key, _)| key.starts_with("stab "));
        if to.kind == "netem" {
            found.options.retain(|(key, _)| netem::stays(key));
        } else if !KEEPING.contains(&to.kind.as_str()) {
            found.options.retain(|(key, _)| key.starts_with("stab "));
        }
        if sizes(&to) {
            found.options.retain(|(key, _)| !key.starts_with("stab "));
        }
        found.line = to.line;
        if to.kind.starts_with("cake") {
            found.options = framing::changed(std::mem::take(&mut found.options), &to.options);
        }
        found.extend(to.options);
        Outcome::Taken
    }

    /// A change of what the file does not set is all that is known of it.
    fn unset(&mut self, verb: Verb, found: Discipline, sure: Sure) -> Outcome {
        if verb != Verb::Change {
            return Outcome::Refused(format!("no queue has the handle {}", found.handle));
        }
        self.create(found, sure);
        Outcome::Unset
    }

    fn class(&mut self, verb: Verb, found: Discipline, sure: Sure) -> Outcome {
        match self.class_at(&found) {
            Some(at) if verb == Verb::Add && sure == Sure::Yes => {
                Outcome::Refused(format!("class {} is there", self.all[at].0.handle))
            }
            Some(at) => {
                let (class, _) = &mut self.all[at];
                if found.kind == "hfsc" && sure == Sure::Yes {
                    // Curves that are not named stay.
                    let curve = |key: &str| key.split(' ').next().unwrap_or_default().to_owned();
                    let named: Vec<String> = found.options.iter().map(|(key, _)| curve(key)).collect();
                    class.options.retain(|(key, _)| !named.contains(&curve(key)));
                    class.options.extend(found.options);
                } else {
                    class.options = found.options;
                }
                class.line = found.line;
                Outcome::Taken
            }
            None => {
                // A class with others below it has no queue.
                let leaf = found.parent.clone().filter(|_| matches!(found.kind.as_str(), "htb" | "hfsc"));
                let inner = Discipline { role: Role::Qdisc, parent: leaf, ..found.clone() };
                if let Some(at) = inner.parent.as_ref().and_then(|_| self.at_place(&inner)) {
                    self.remove_with_all_below(at);
                }
                self.all.push((found, sure));
                if verb == Verb::Change { Outcome::Unset } else { Outcome::Taken }
            }
        }
    }

    fn delete(&mut self, gone: &Discipline, sure: Sure) -> Outcome {
        if !gone.is_placed {
            return Outcome::Refused("neither root nor a parent is named".to_owned());
        }
        let Some(at) = self.at_place(gone) else { return Outcome::Gone };
        let (found, _) = &self.all[at];
        let has_other_handle = !gone.handle.is_empty() && !found.handle.is_empty() && gone.handle != found.handle;
        if has_other_handle || (!gone.kind.is_empty() && gone.kind != found.kind) {
            return Outcome::Refused(format!("{} is there", found.name()));
        }
        if sure == Sure::Yes {
            if found.is_ingress() {
                self.cut.insert(gone.dev.clone());
            }
            self.remove_with_all_below(at);
        }
        Outcome::Taken
    }

    fn delete_class(&mut self, gone: &Discipline, sure: Sure) -> Outcome {
        let Some(at) = self.class_at(gone) else { return Outcome::Gone };
        let is_below = |(other, _): &(Discipline, Sure)| {
            other.role == Role::Class && other.dev == gone.dev && other.parent.as_ref() == Some(&gone.handle)
        };
        if self.all.iter().any(is_below) {
            return Outcome::Refused(format!("class {} has classes below it", gone.handle));
        }
        if sure == Sure::Yes {
            self.all.remove(at);
            let leaf = Discipline { role: Role::Qdisc, parent: Some(gone.handle.clone()), ..gone.clone() };
            if let Some(at) = self.at_place(&leaf) {
                self.remove_with_all_below(at);
            }
        }
        Outcome::Taken
    }

    fn filter(&mut self, verb: Verb, found: Discipline, sure: Sure) -> Outcome {
        if verb != Verb::Delete {
            self.all.push((found, sure));
        } else if sure == Sure::Yes {
            let priority = found.option("pref").cloned();
            self.all.retain(|(other, _)| {
                let is_there = other.role == Role::Filter && other.dev == found.dev && other.parent == found.parent;
                !is_there || (priority.is_some() && other.option("pref") != priority.as_ref())
            });
        }
        Outcome::Taken
    }

    fn remove_with_all_below(&mut self, at: usize) {
        let (gone, _) = self.all.remove(at);
        let is_of_gone = |filter: &Discipline| match filter.parent.as_deref() {
            None | Some("egress") => gone.is_ingress(),
            Some("root") => gone.parent.is_none(),
            Some(_) => false,
        };
        self.all.retain(|(found, _)| found.role != Role::Filter || found.dev != gone.dev || !is_of_gone(found));
        if gone.handle.is_empty() || major(&gone.handle) == "0" {
            return;
        }
        let mut majors = vec![major(&gone.handle).to_owned()];
        loop {
            let before = self.all.len();
            self.all.retain(|(found, _)| {
                let by = match found.role {
                    Role::Class => Some(found.handle.as_str()),
                    Role::Qdisc | Role::Filter => found.parent.as_deref(),
                };
                let is_below = found.dev == gone.dev && by.is_some_and(|by| majors.iter().any(|known| known == major(by)));
                if is_below && found.role == Role::Qdisc && !found.handle.is_empty() {
                    majors.push(major(&found.handle).to_owned());
                }
                !is_below
            });
            if before == self.all.len() {
                return;
            }
        }
    }
}

impl Discipline {
    /// Adds options, each of which takes the place of one with the same subject.
    pub(super) fn extend(&mut self, options: impl IntoIterator<Item = (String, super::Setting)>) {
        let about = |kind: &str, key: &str| (!is_one_of_several(kind, key)).then(|| subject(kind, key).to_owned());
        let mut seen = BTreeSet::new();
        let all: Vec<_> = std::mem::take(&mut self.options).into_iter().chain(options).collect();
        let mut kept: Vec<_> =
            all.into_iter().rev().filter(|(key, _)| about(&self.kind, key).is_none_or(|about| seen.insert(about))).collect();
        kept.reverse();
        self.options = kept;
    }
}
