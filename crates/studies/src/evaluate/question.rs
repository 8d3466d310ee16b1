//! A question: what is judged by what, and the experiments that answer it.

use crate::evaluate::subject::{NoForm, Subject};
use crate::evaluate::suite::{Family, Suite};
use crate::gallery::experiment::{Experiment, Mode};
use crate::gallery::samples::Measured;
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
pub(crate) struct Slot {
    pub(crate) family: &'static Family,
    pub(crate) placement: usize,
    pub(crate) subject: usize,
    /// The points, or the reason why the subject does not take part.
    pub(crate) measured: Result<Measured, NoForm>,
}

impl Question {
    /// The families that are asked for, in the suite's order.
    pub fn families(&self) -> impl Iterator<Item = &'static Family> + '_ {
        self.suite.families.iter().filter(|family| self.families.is_empty() || self.families.iter().any(|id| id == family.id))
    }

    /// All experiments, and the subjects that do not take part in some.
    pub(crate) fn experiments(&self) -> Result<Vec<Planned>, PlanError> {
        let mut all = Vec::new();
        for family in self.families() {
            let mut settings = family.settings(self.suite, self.mode);
            settings.extend(self.seed.map(|seed| ("seed".to_owned(), seed.to_string())));
            let name = format!("{}.toml", family.id);
            let plan = Plan::parse_knowing(&name, family.scenario, Path::new(""), self.own.clone())?;
            for (placement, place) in family.placements.iter().enumerate() {
                for (number, subject) in self.subjects.iter().enumerate() {
                    let set = |text: String| {
                        let keys = place.keys.iter().map(|key| ((*key).to_owned(), text.clone()));
                        let overrides: Vec<(String, String)> = settings.iter().cloned().chain(keys).collect();
                        self.experiment(family, placement, subject, &plan, overrides)
                    };
                    let what = match subject.in_form(place.form) {
                        Ok(text) => Ok(set(text)?),
                        Err(reason) => Err(reason),
                    };
                    all.push(Planned { family, placement, subject: number, what });
                }
            }
        }
        Ok(all)
    }

    fn experiment(
        &self,
        family: &Family,
        placement: usize,
        subject: &Subject,
        plan: &Plan,
        overrides: Vec<(String, String)>,
    ) -> Result<Experiment, PlanError> {
        let plan = plan.with_overrides(&overrides)?;
        Ok(Experiment {
            paper: self.suite.id.to_owned(),
            id: format!("{}-{placement}-{}", family.id, subject.slug()),
            about: family.title.to_owned(),
            file: format!("scenarios/{}.toml", family.id),
            overrides,
            points: plan.points()?,
            plan,
            axes: Vec::new(),
            series: family.sample.map(Some),
        })
    }
}

/// A slot with the experiment that measures it.
pub(crate) struct Planned {
    pub(crate) family: &'static Family,
    pub(crate) placement: usize,
    pub(crate) subject: usize,
    pub(crate) what: Result<Experiment, NoForm>,
}
