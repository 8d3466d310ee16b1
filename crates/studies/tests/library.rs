//! The crate as a program with an algorithm of its own uses it.

use goodqueue_aqm::custom::{CustomAlgorithm, CustomKind};
use goodqueue_aqm::spec::{Kind, KindSpec, LinkFacts, Marking, Param, ParamError};
use goodqueue_aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use goodqueue_lab::run::backend::{Backend, HostRun, Refusal, Simulator, Task};
use goodqueue_lab::scenario::plan::{CustomKinds, Point};
use goodqueue_studies::evaluate::evaluation::Standing;
use goodqueue_studies::evaluate::{self, Question, RFC7928, Subject, Suite};
use goodqueue_studies::gallery::experiment::Mode;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const NO_PARAMS: &[Param] = &[];
static SHORT: KindSpec = KindSpec::own(Kind {
    kind: "short-queue",
    aliases: &[],
    title: "Short",
    summary: "At most ten packets.",
    params: NO_PARAMS,
    source: "-",
})
.marking(Marking::Never);

/// Drops what would wait behind ten packets.
#[derive(Clone, Debug)]
struct Short;

impl Aqm for Short {
    fn on_arrival(&mut self, _: &mut Env<'_>, _: PacketView, queue: QueueView) -> Verdict {
        if queue.packets.get() < 10 { Verdict::Pass } else { Verdict::Drop(Reason::Early) }
    }
}

impl CustomAlgorithm for Short {
    fn clone_box(&self) -> Box<dyn CustomAlgorithm> {
        Box::new(self.clone())
    }
}

#[derive(Debug)]
struct ShortKind;

impl CustomKind for ShortKind {
    fn spec(&self) -> &'static KindSpec {
        &SHORT
    }
    fn version(&self) -> &str {
        "1"
    }
    fn build(&self, _: &LinkFacts) -> Result<Box<dyn CustomAlgorithm>, ParamError> {
        Ok(Box::new(Short))
    }
}

fn question(own: CustomKinds) -> Question {
    let suite: &'static Suite = &RFC7928;
    let read = |text| Subject::read(suite.judges, text, &own).unwrap_or_else(|error| panic!("{error}"));
    Question {
        suite,
        subjects: vec![read("short-queue"), read(&suite.baseline)],
        under_test: 1,
        baseline: 1,
        mode: Mode::Quick,
        families: vec!["aggressive".to_owned(), "scheduling".to_owned()],
        seed: Some(7),
        own,
    }
}

#[test]
fn an_algorithm_of_the_program_takes_part() {
    let out = tempfile::tempdir().unwrap();
    let question = question(vec![Arc::new(ShortKind)]);
    let end = evaluate::run(
        &question,
        question.experiments().unwrap(),
        &Simulator,
        out.path(),
        2,
        &AtomicBool::new(false),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!((end.evaluation.complete, end.evaluation.seed), (true, Some(7)));
    let [scheduling, aggressive] = &end.evaluation.families[..] else { panic!("two families") };
    let own = &scheduling.points[0].lines[0];
    assert_eq!(own.not_applicable.as_deref(), Some("is of the program's own kinds"));
    let line = &aggressive.points[0].lines[0];
    let p95 = line.values[2].figure.mean.expect("a delay");
    // Ten packets of 1500 bytes take 12 ms at 10 Mbit/s.
    assert!(p95 < 0.013, "{p95}");
    assert_eq!(line.values[2].against_baseline, Some(Standing::Better));
    assert_eq!(line.values[0].against_baseline, Some(Standing::Worse), "a short queue costs goodput");
}

#[test]
fn what_is_stopped_is_incomplete_and_valid() {
    let out = tempfile::tempdir().unwrap();
    let question = question(vec![Arc::new(ShortKind)]);
    let end =
        evaluate::run(&question, question.experiments().unwrap(), &Simulator, out.path(), 2, &AtomicBool::new(true), &mut |_| {})
            .unwrap();
    assert_eq!((end.run, end.reused, end.evaluation.complete), (0, 0, false));
    let page = evaluate::report::html(&end.evaluation, "gq evaluate");
    assert!(page.contains("Not all runs finished"));
    let values: serde_json::Value = serde_json::from_str(&end.evaluation.to_json()).unwrap();
    assert_eq!(values["families"][1]["points"][0]["lines"][0]["values"][0]["mean"], serde_json::Value::Null);
}

/// The simulator under another name, with a kernel of its own.
struct OtherKernel;

impl Backend for OtherKernel {
    fn name(&self) -> &'static str {
        "other"
    }
    fn check(&self, _: &Point) -> Result<(), Refusal> {
        Ok(())
    }
    fn notes(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("kernel".to_owned(), "Other 1.0".to_owned())])
    }
    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        Simulator.run(task, progress)
    }
}

#[test]
fn points_of_another_host_are_run_again() {
    let out = tempfile::tempdir().unwrap();
    let question = question(vec![Arc::new(ShortKind)]);
    let run = |host: &dyn Backend| {
        evaluate::run(&question, question.experiments().unwrap(), host, out.path(), 2, &AtomicBool::new(false), &mut |_| {})
            .unwrap()
    };
    let (first, other, again) = (run(&Simulator), run(&OtherKernel), run(&OtherKernel));
    assert_eq!((first.reused, other.reused, again.reused), (0, 0, first.run));
    let evaluation = &other.evaluation;
    assert!(evaluation.families[1].points[0].lines[0].command.ends_with(" --on other"));
    let page = evaluate::markdown::markdown(evaluation, "gq evaluate");
    assert!(page.contains("runs on other (Other 1.0), seed 7") && !page.contains("processor time"), "{page}");
}
