//! A question: what is judged by what, and the experiments that answer it.

use crate::evaluate::subject::{NoForm, Subject};
use crate::evaluate::suite::{Family, Placement, Suite};
use crate::gallery::experiment::{Experiment, Mode};
use goodqueue_lab::scenario::plan::{CustomKinds, Plan, PlanError};
use std::path::Path;

/// The evaluation that is asked for.
#[derive(Debug)]
pub struct Question {
    /// The suite that judges the subjects.
    pub suite: &'static Suite,
    /// The subjects, those under test first.
    pub subjects: Vec<Subject>,
    /// The number of subjects under test.
    pub under_test: usize,
    /// The place of the subject that the others are compared with.
    pub baseline: usize,
    /// The mode, which decides how much is run.
    pub mode: Mode,
    /// Families to run; empty: all.
    pub families: Vec<String>,
    /// Root of all randomness; `None`: the scenarios' own.
    pub seed: Option<u64>,
    /// Algorithms of the program's own that subjects may name.
    pub own: CustomKinds,
}

/// A subject in one placement of one family.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) family: &'static Family,
    pub(crate) placement: usize,
    pub(crate) subject: &'a Subject,
}

impl Slot<'_> {
    /// The name of its experiment.
    pub(crate) fn id(&self) -> String {
        format!("{}-{}-{}", self.family.id, self.placement, self.subject.slug())
    }

    fn place(&self) -> &'static Placement {
        &self.family.placements[self.placement]
    }

    /// The subject as its keys have it.
    pub(crate) fn value(&self) -> Result<String, NoForm> {
        self.subject.in_form(&self.place().form)
    }
}

impl Question {
    /// The families that are asked for, in the suite's order.
    pub fn families(&self) -> impl Iterator<Item = &'static Family> + '_ {
        self.suite.families.iter().filter(|family| self.families.is_empty() || self.families.contains(&family.id))
    }

    /// All subjects in all placements of a family.
    pub(crate) fn slots(&self, family: &'static Family) -> impl Iterator<Item = Slot<'_>> {
        let placements = 0..family.placements.len();
        placements.flat_map(move |placement| self.subjects.iter().map(move |subject| Slot { family, placement, subject }))
    }

    /// All experiments; subjects do not take part in some.
    ///
    /// # Errors
    /// When a subject cannot stand in a scenario.
    pub fn experiments(&self) -> Result<Vec<Experiment>, PlanError> {
        let mut all = Vec::new();
        for family in self.families() {
            let mut settings = family.settings(self.suite, self.mode);
            settings.extend(self.seed.map(|seed| ("seed".to_owned(), seed.to_string())));
            let name = format!("{}.toml", family.id);
            let plan = Plan::parse_knowing(&name, family.scenario_text, Path::new(""), self.own.clone())?;
            for slot in self.slots(family) {
                let Ok(value) = slot.value() else { continue };
                let keys = slot.place().keys.iter().map(|key| (key.clone(), value.clone()));
                let overrides: Vec<(String, String)> = settings.iter().cloned().chain(keys).collect();
                let plan = plan.with_overrides(&overrides)?;
                all.push(Experiment {
                    paper: self.suite.id.to_owned(),
                    id: slot.id(),
                    about: family.title.clone(),
                    file: format!("scenarios/{name}"),
                    overrides,
                    points: plan.points()?,
                    plan,
                    axes: Vec::new(),
                    series: family.sample.map(Some),
                });
            }
        }
        Ok(all)
    }
}
