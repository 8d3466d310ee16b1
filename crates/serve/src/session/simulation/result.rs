//! The end of a session: figures, a verdict in words, and the files that `gq run` would write.

use super::verdict::Findings;
use super::{Environment, Session, kind_of, time};
use crate::session::scenario::Scenario;
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::provenance::Provenance;
use goodqueue_lab::results::report::{self, ReportInput};
use goodqueue_lab::results::summary::Summary;
use goodqueue_lab::run::hosts::{self, Backend as _, Simulator};
use goodqueue_lab::run::runner::{PointResult, RunReport};
use goodqueue_lab::scenario::plan::Point;
use goodqueue_lab::verdict::{Criteria, Headline};
use serde_json::{Value, json};

/// Results of a session that has ended.
#[derive(Clone, Debug)]
pub struct SessionResult {
    /// `summary.json`.
    pub summary_json: String,
    /// Contents of `report.html`.
    pub report: report::Contents,
    /// Verdict on the results, in sentences.
    pub verdict: String,
}

/// The end of a session: the event published, and the results kept.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The data of the event `done`.
    pub done: Value,
    /// Files of the session; none when it was stopped before measuring began.
    pub leavings: Option<SessionResult>,
}

impl<S: Environment> Session<S> {
    /// Computes the results, and tells that the session is over.
    pub fn conclude(self) -> Option<SessionResult> {
        self.tell_state(&self.why);
        let (complete, until_s) = (self.now >= self.end, time(self.now));
        let Self { scenario, changed, variants, surroundings, .. } = self;
        let finished: Option<Vec<(PointResult, u64)>> =
            variants.into_iter().enumerate().map(|(number, variant)| variant.finish(&scenario, number)).collect();
        let ending = match finished {
            None => Ending::without_result(changed),
            Some(finished) => {
                let (points, fingerprints): (Vec<PointResult>, Vec<u64>) = finished.into_iter().unzip();
                let report = RunReport { points, complete, fingerprints, ..RunReport::begun(Simulator.name()) };
                Ending::new(&scenario, &report, changed, until_s)
            }
        };
        surroundings.publish("done", &ending.done);
        ending.leavings
    }
}

impl Ending {
    /// Builds the end of a session that was stopped before measuring began.
    pub fn without_result(changed: bool) -> Self {
        let verdict = "It was stopped before measuring began, so there is nothing to say.";
        let done = json!({ "verdict": verdict, "fingerprint": "", "fingerprints": [], "changed": changed });
        Self { done, leavings: None }
    }

    /// Builds the end of a session with these results; `until_s` is the simulated time that it
    /// reached.
    pub fn new(scenario: &Scenario, report: &RunReport, changed: bool, until_s: f64) -> Self {
        let one = |fingerprint: &u64| Provenance::new(String::new(), [*fingerprint]).fingerprint;
        let each: Vec<String> = report.fingerprints.iter().map(one).collect();
        let outcome = Reckoning { scenario, report, changed, warmup_s: warmup_s(scenario), until_s };
        let headline = outcome.headline();
        let whole = Provenance::new(String::new(), report.fingerprints.iter().copied()).fingerprint;
        let plan = scenario.plan().ok();
        let summary = plan.as_ref().map(|plan| Summary { headline: Some(headline.clone()), ..report.summary(plan) });
        let figures = summary.as_ref().and_then(|summary| serde_json::to_value(summary).ok());
        let verdict = outcome.verdict(&headline, figures.as_ref().unwrap_or(&Value::Null));
        let done = json!({
            "verdict": verdict,
            "fingerprint": whole,
            "fingerprints": each,
            "changed": changed,
            "measured_s": [outcome.warmup_s, outcome.until_s],
            "summary": figures,
            "host": report.host,
            "validity": report.attempts,
        });
        let leavings = plan
            .zip(summary)
            .zip(figures)
            .and_then(|((plan, summary), figures)| outcome.leavings(verdict, plan.name(), summary.to_json(), &figures));
        Self { done, leavings }
    }
}

fn warmup_s(scenario: &Scenario) -> f64 {
    scenario.variants[0].point.plan.warmup.as_secs_f64()
}

/// Facts that the end is written from.
struct Reckoning<'a> {
    scenario: &'a Scenario,
    report: &'a RunReport,
    changed: bool,
    warmup_s: f64,
    until_s: f64,
}

impl Reckoning<'_> {
    fn headline(&self) -> Headline {
        let points: Vec<&Point> = self.scenario.variants.iter().map(|variant| &variant.point).collect();
        let sets: Vec<&[(String, Value)]> = self.scenario.variants.iter().map(|variant| variant.point.set.as_slice()).collect();
        let mut labels = Labels::new(&sets, "this queue");
        // Several queues are called what the page calls them, there and in the report.
        if self.scenario.variants.len() > 1 {
            labels.names = self.scenario.variants.iter().map(|variant| variant.label.clone()).collect();
        }
        Headline::new(&points, &self.report.points, &labels, &self.scenario.link, &Criteria::default())
    }

    fn verdict(&self, headline: &Headline, summary: &Value) -> String {
        let mut words = Findings { scenario: self.scenario, summary }.words(headline);
        if !self.report.attempts.is_empty() {
            words.push(' ');
            words.push_str(&hosts::sentence(&self.report.attempts));
        }
        if self.changed {
            words.push_str(" Things were changed on the way, so no file repeats this run.");
        }
        if !self.report.complete {
            words.push_str(" It was stopped before its end.");
        }
        words
    }

    /// `None` when the scenario cannot be put together again, which no scenario that ran has shown.
    fn leavings(&self, verdict: String, title: &str, summary_json: String, summary: &Value) -> Option<SessionResult> {
        let text = self.scenario.text(None).ok()?;
        let mut warnings = Vec::new();
        if self.changed {
            warnings.push(
                "Something was changed while this ran: the scenario shows the last settings of the queues only.".to_owned(),
            );
        }
        if !self.report.complete {
            warnings.push("This run was stopped before its end.".to_owned());
        }
        let points = self
            .report
            .points
            .iter()
            .zip(&self.scenario.variants)
            .map(|(result, variant)| result.drawn(variant.label.clone(), kind_of(&variant.point, &self.scenario.link)));
        let report = report::Contents::new(&ReportInput {
            title,
            sentence: &verdict,
            warnings: &warnings,
            scenario_toml: &text,
            command_line: None,
            summary,
            provenance: &[],
            main_link: &self.scenario.link,
            measured_s: Some((self.warmup_s, self.until_s)),
            points: points.collect(),
        });
        Some(SessionResult { summary_json, report, verdict })
    }
}
