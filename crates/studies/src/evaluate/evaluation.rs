//! Figures of all points, comparisons with the baseline, and the scorecard: `evaluation.json`.

use crate::evaluate::measure::{Aspect, Measure, Scale};
use crate::evaluate::question::{Question, Slot};
use crate::evaluate::suite::{Family, Suite};
use crate::gallery::samples::Measured;
use goodqueue_lab::results::metrics::Better;
use goodqueue_lab::results::provenance::{Provenance, SOURCES};
use goodqueue_lab::results::statistics::Figure;
use goodqueue_lab::run::backend::{Backend, Simulator};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Name and version of the form of [`Evaluation`] as JSON.
pub const SCHEMA: &str = "goodqueue.evaluation/1";

/// Differences below this part of the baseline's value are none, however certain (our choice: what
/// nobody would change a queue for).
const MIN_PART: f64 = 0.02;

/// All that an evaluation found.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// Name and version of this form.
    pub schema: &'static str,
    /// The suite that the subjects were evaluated by.
    #[serde(serialize_with = "suite_id")]
    pub suite: &'static Suite,
    /// The document.
    pub document: &'static str,
    /// `quick` or `full`.
    pub mode: &'static str,
    /// Whether every run finished.
    pub complete: bool,
    /// The host of the runs.
    pub host: &'static str,
    /// Facts about the build of its kernel, by name; empty for the simulator.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub host_notes: BTreeMap<String, String>,
    /// Root of all randomness; `None`: the scenarios' own.
    pub seed: Option<u64>,
    /// Version of the program.
    pub version: String,
    /// Commit it was built from.
    pub commit: String,
    /// Hash of the sources that decide what runs give.
    pub sources: &'static str,
    /// The subjects under test, and those they were compared with.
    pub subjects: Vec<SubjectEntry>,
    /// The results, family by family.
    pub families: Vec<FamilyResult>,
    /// One line for each subject.
    pub scorecard: Vec<Score>,
    /// Finished runs.
    pub runs: usize,
    /// Seconds of processor time of all runs, also of those from before; without that of guests.
    pub cpu_s: f64,
}

/// One subject.
#[derive(Debug, Serialize)]
pub struct SubjectEntry {
    /// The name in tables.
    pub name: String,
    /// As a scenario has it.
    pub settings: String,
    /// Whether it is under test.
    pub under_test: bool,
    /// Whether the others are compared with it.
    pub is_baseline: bool,
    /// Hash of the fingerprints of all its runs.
    pub fingerprint: String,
    /// Seconds of processor time of its runs.
    pub cpu_s: f64,
}

/// One family.
#[derive(Debug, Serialize)]
pub struct FamilyResult {
    /// The family itself.
    pub family: &'static Family,
    /// The columns of its table.
    pub measures: &'static [Measure],
    /// Placements times points, in that order.
    pub points: Vec<PointResult>,
}

/// One point in one placement.
#[derive(Debug, Serialize)]
pub struct PointResult {
    /// The placement of the subject; empty where there is one place only.
    pub placement: &'static str,
    /// The name of the point; empty where there is one only.
    pub point: &'static str,
    /// The number of the point.
    pub number: usize,
    /// One line for each subject, in their order.
    pub lines: Vec<Line>,
}

/// One subject at one point.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The name of the subject.
    pub subject: String,
    /// Why it does not take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_applicable: Option<String>,
    /// SHA-256 of its settings.
    pub scenario_sha256: String,
    /// Hash of each run's events.
    pub fingerprints: Vec<String>,
    /// The errors that kept runs from finishing.
    pub failures: Vec<String>,
    /// The command that runs it by itself.
    pub command: String,
    /// One for each measure.
    pub values: Vec<MeasuredValue>,
}

/// A measure's value.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MeasuredValue {
    /// Mean and interval.
    #[serde(flatten)]
    pub figure: Figure,
    /// The value in each replication.
    pub samples: Vec<Option<f64>>,
    /// The comparison with the baseline; `None` where nothing is compared.
    pub against_baseline: Option<Standing>,
}

/// The result of comparing a value with that of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Better, with 95 % confidence and by more than 2 % of the baseline.
    Better,
    /// Neither.
    Level,
    /// Worse, likewise.
    Worse,
}

/// The number of values in which a subject is better than the baseline, level with it, and worse.
#[derive(Debug, Serialize)]
pub struct Score {
    /// The name of the subject.
    pub subject: String,
    /// One entry for each aspect that was measured.
    pub aspects: BTreeMap<Aspect, Counts>,
}

/// Counts of comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Better.
    pub better: u32,
    /// Level.
    pub level: u32,
    /// Worse.
    pub worse: u32,
}

impl Counts {
    fn add(&mut self, standing: Standing) {
        match standing {
            Standing::Better => self.better += 1,
            Standing::Level => self.level += 1,
            Standing::Worse => self.worse += 1,
        }
    }
}

impl Evaluation {
    /// The file's text.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Plain values with string keys always serialize.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn suite_id<S: Serializer>(suite: &&'static Suite, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(suite.id)
}

/// Puts everything together.
pub(crate) fn evaluate(question: &Question, host: &dyn Backend, measured: &Rc<[Measured]>, complete: bool) -> Evaluation {
    let mut families: Vec<FamilyResult> = question.families().map(|family| family_result(question, family, measured)).collect();
    if host.name() != Simulator.name() {
        let lines = families.iter_mut().flat_map(|family| &mut family.points).flat_map(|point| &mut point.lines);
        lines.filter(|line| !line.command.is_empty()).for_each(|line| line.command += &format!(" --on {}", host.name()));
    }
    let subject = |(number, subject): (usize, &crate::evaluate::Subject)| {
        let ids: Vec<String> = question
            .families()
            .flat_map(|family| question.slots(family))
            .filter(|slot| slot.subject == subject)
            .map(|slot| slot.id())
            .collect();
        let own = || measured.iter().filter(|one| ids.contains(&one.experiment.id)).flat_map(|one| &one.points).flatten();
        let prints = own().flat_map(|data| &data.fingerprints).filter_map(|print| u64::from_str_radix(print, 16).ok());
        SubjectEntry {
            name: subject.name.clone(),
            settings: subject.toml(),
            under_test: number < question.under_test,
            is_baseline: number == question.baseline,
            fingerprint: Provenance::new(String::new(), prints).fingerprint,
            cpu_s: own().flat_map(|data| &data.cpu_s).sum::<f64>() + 0.0,
        }
    };
    let Provenance { version, commit, .. } = Provenance::new(String::new(), []);
    let finished = || measured.iter().flat_map(|one| &one.points).flatten();
    Evaluation {
        schema: SCHEMA,
        suite: question.suite,
        document: &question.suite.document,
        mode: question.mode.name(),
        complete,
        host: host.name(),
        host_notes: host.notes(),
        seed: question.seed,
        version,
        commit,
        sources: SOURCES,
        subjects: question.subjects.iter().enumerate().map(subject).collect(),
        scorecard: scorecard(question, &families),
        families,
        runs: finished().map(|data| data.fingerprints.len()).sum(),
        cpu_s: finished().flat_map(|data| &data.cpu_s).sum::<f64>() + 0.0,
    }
}

fn family_result(question: &Question, family: &'static Family, measured: &Rc<[Measured]>) -> FamilyResult {
    let slots: Vec<Slot<'_>> = question.slots(family).collect();
    let mut points = Vec::new();
    for (placement, slots) in family.placements.iter().zip(slots.chunks(question.subjects.len())) {
        for number in 0..family.cases.len().max(1) {
            let mut lines: Vec<Line> = slots.iter().map(|slot| line(slot, measured, number)).collect();
            compare(family, &mut lines, question.baseline);
            points.push(PointResult { placement: &placement.name, point: family.case(number), number, lines });
        }
    }
    FamilyResult { family, measures: &family.measures, points }
}

fn line(slot: &Slot<'_>, measured: &Rc<[Measured]>, point: usize) -> Line {
    let (measures, id) = (&slot.family.measures, slot.id());
    let mut line = Line {
        subject: slot.subject.name.clone(),
        not_applicable: slot.value().err().map(|reason| reason.to_string()),
        scenario_sha256: String::new(),
        fingerprints: Vec::new(),
        failures: Vec::new(),
        command: String::new(),
        values: vec![MeasuredValue::default(); measures.len()],
    };
    let Some(one) = measured.iter().find(|one| one.experiment.id == id) else { return line };
    line.scenario_sha256 = one.experiment.plan.point_sha256(point);
    line.command = one.experiment.command(point);
    let Some(data) = &one.points[point] else { return line };
    line.fingerprints.clone_from(&data.fingerprints);
    line.failures.clone_from(&data.failures);
    let value = |measure: &Measure| {
        let samples = measure.samples(measured, &id, point);
        MeasuredValue { figure: Figure::of(samples.iter().copied()), samples, against_baseline: None }
    };
    line.values = measures.iter().map(value).collect();
    line
}

/// Says of each line how it stands to the baseline's.
fn compare(family: &Family, lines: &mut [Line], baseline: usize) {
    let Some(theirs) = lines.get(baseline).map(|line| line.values.clone()) else { return };
    for (_, line) in lines.iter_mut().enumerate().filter(|(number, _)| *number != baseline) {
        for ((measure, own), other) in family.measures.iter().zip(&mut line.values).zip(&theirs) {
            own.against_baseline = measure.aspect.and_then(|_| standing(measure.scale, &own.samples, &other.samples));
        }
    }
}

/// Compares paired samples; `None` with fewer than two pairs, or where neither direction is better.
fn standing(scale: Scale, own: &[Option<f64>], baseline: &[Option<f64>]) -> Option<Standing> {
    let pairs = || own.iter().zip(baseline).filter_map(|(own, other)| Some(((*own)?, (*other)?)));
    let difference = Figure::of(pairs().map(|(own, other)| Some(own - other)));
    let base = Figure::of(pairs().map(|(_, other)| Some(other))).mean?;
    let mean = difference.mean?;
    let is_clear = difference.excludes_zero()? && mean.abs() > MIN_PART * base.abs();
    let better = match scale.better {
        Better::Higher => mean > 0.0,
        Better::Lower => mean < 0.0,
        Better::Neither => return None,
    };
    Some(match (is_clear, better) {
        (false, _) => Standing::Level,
        (true, true) => Standing::Better,
        (true, false) => Standing::Worse,
    })
}

fn scorecard(question: &Question, families: &[FamilyResult]) -> Vec<Score> {
    let score = |(number, subject): (usize, &crate::evaluate::Subject)| {
        let mut aspects: BTreeMap<Aspect, Counts> = BTreeMap::new();
        for family in families {
            let lines = family.points.iter().filter_map(|point| point.lines.get(number));
            for (measure, value) in lines.flat_map(|line| family.measures.iter().zip(&line.values)) {
                let Some(aspect) = measure.aspect else { continue };
                let counts = aspects.entry(aspect).or_default();
                value.against_baseline.into_iter().for_each(|standing| counts.add(standing));
            }
        }
        Score { subject: subject.name.clone(), aspects }
    };
    question.subjects.iter().enumerate().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOWER: Scale = Scale { factor: 1.0, unit: "", better: Better::Lower };

    #[test]
    fn only_clear_differences_count() {
        let base = [Some(10.0), Some(11.0), Some(12.0)];
        let of = |own: [f64; 3]| standing(LOWER, &own.map(Some), &base);
        assert_eq!(of([5.0, 5.5, 6.5]), Some(Standing::Better));
        assert_eq!(of([20.0, 21.0, 22.5]), Some(Standing::Worse));
        assert_eq!(of([5.0, 20.0, 9.0]), Some(Standing::Level), "not certain");
        assert_eq!(of([10.1, 11.1, 12.1]), Some(Standing::Level), "certain, and one per cent");
        let higher = Scale { better: Better::Higher, ..LOWER };
        assert_eq!(standing(higher, &[Some(5.0), Some(5.5), Some(6.5)], &base), Some(Standing::Worse));
        assert_eq!(standing(LOWER, &[Some(1.0)], &[Some(2.0)]), None, "one pair has no interval");
        assert_eq!(standing(LOWER, &[None, Some(1.0), None], &base), None);
    }
}
