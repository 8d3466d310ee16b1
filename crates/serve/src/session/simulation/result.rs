//! The end of a session: figures, a verdict in words, and the files that `gq run` would write.

use super::verdict::Findings;
use super::{Environment, Session, kind_of};
use crate::session::scenario::Scenario;
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::provenance::Provenance;
use goodqueue_lab::results::report::{self, ReportInput};
use goodqueue_lab::results::summary::Summary;
use goodqueue_lab::run::backend::{self, Backend as _, Simulator};
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
    pub result: Option<SessionResult>,
}

impl<S: Environment> Session<S> {
    /// Computes the results, and tells that the session is over.
    pub fn conclude(self) -> Option<SessionResult> {
        self.tell_state(&self.why);
        let (complete, until_s) = (self.now >= self.end, self.now.as_secs_f64());
        let Self { scenario, changed, variants, environment, .. } = self;
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
        environment.publish("done", &ending.done);
        ending.result
    }
}

impl Ending {
    /// Builds the end of a session that was stopped before measuring began.
    pub fn without_result(changed: bool) -> Self {
        Self::without_figures("It was stopped before measuring began, so there is nothing to say.", changed)
    }

    fn without_figures(verdict: &str, changed: bool) -> Self {
        let done = json!({ "verdict": verdict, "fingerprint": "", "fingerprints": [], "changed": changed });
        Self { done, result: None }
    }

    /// Builds the end of a session with these results; `until_s` is the simulated time that it
    /// reached.
    pub fn new(scenario: &Scenario, report: &RunReport, changed: bool, until_s: f64) -> Self {
        let (plan, text) = match scenario.plan() {
            Ok(whole) => whole,
            Err(error) => return Self::without_figures(error.message(), changed),
        };
        let headline = headline(scenario, report);
        let summary = Summary { headline: Some(headline.clone()), ..report.summary(&plan) };
        let figures = json!(summary);
        let verdict = verdict(scenario, report, changed, &headline, &figures);
        let fingerprint = |runs: &[u64]| Provenance::new(String::new(), runs.iter().copied()).fingerprint;
        let warnings = [
            (changed, "Something was changed while this ran: the scenario shows the last settings of the queues only."),
            (!report.complete, "This run was stopped before its end."),
        ];
        let measured_s = (scenario.variants[0].point.plan.warmup.as_secs_f64(), until_s);
        let points = report.points.iter().zip(&scenario.variants);
        let contents = report::Contents::new(&ReportInput {
            title: plan.name(),
            sentence: &verdict,
            warnings: &warnings.iter().filter(|(applies, _)| *applies).map(|(_, text)| (*text).to_owned()).collect::<Vec<_>>(),
            scenario_toml: &text,
            command_line: None,
            summary: &figures,
            provenance: &[],
            main_link: &scenario.link,
            measured_s: Some(measured_s),
            points: points
                .map(|(result, variant)| result.drawn(variant.label.clone(), kind_of(&variant.point, &scenario.link)))
                .collect(),
        });
        let done = json!({
            "verdict": verdict,
            "fingerprint": fingerprint(&report.fingerprints),
            "fingerprints": report.fingerprints.chunks(1).map(fingerprint).collect::<Vec<_>>(),
            "changed": changed,
            "measured_s": measured_s,
            "summary": figures,
            "host": report.host,
            "validity": report.attempts,
        });
        Self { done, result: Some(SessionResult { summary_json: summary.to_json(), report: contents, verdict }) }
    }
}

fn headline(scenario: &Scenario, report: &RunReport) -> Headline {
    let points: Vec<&Point> = scenario.variants.iter().map(|variant| &variant.point).collect();
    let sets: Vec<&[(String, Value)]> = scenario.variants.iter().map(|variant| variant.point.set.as_slice()).collect();
    let mut labels = Labels::new(&sets, "this queue");
    // Several queues are called what the page calls them, there and in the report.
    if scenario.variants.len() > 1 {
        labels.names = scenario.variants.iter().map(|variant| variant.label.clone()).collect();
    }
    Headline::new(&points, &report.points, &labels, &scenario.link, &Criteria::default())
}

fn verdict(scenario: &Scenario, report: &RunReport, changed: bool, headline: &Headline, summary: &Value) -> String {
    let mut words = Findings { scenario, summary }.words(headline);
    if !report.attempts.is_empty() {
        words.push(' ');
        words.push_str(&backend::sentence(&report.attempts));
    }
    if changed {
        words.push_str(" Things were changed on the way, so no file repeats this run.");
    }
    if !report.complete {
        words.push_str(" It was stopped before its end.");
    }
    words
}
