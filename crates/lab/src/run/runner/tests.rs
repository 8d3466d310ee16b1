use super::*;
use crate::results::record::NoRecorder;
use crate::run::backend::sampling_period;
use crate::scenario::plan::Plan;
use std::path::Path;

const SCENARIO: &str = r#"
goodqueue = 1
name = "two queues"
warmup = "1 s"
duration = "4 s"
replications = 3
seed = 7

[link.bottleneck]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "40 packets"

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 2
start = "uniform 0 s .. 500 ms"

[sweep]
"link.bottleneck.queue" = ["tail-drop", "codel"]
"#;

fn points() -> Vec<Point> {
    Plan::parse("two.toml", SCENARIO, Path::new("")).expect("a good scenario").points().expect("good points")
}

fn options(jobs: usize) -> RunOptions {
    RunOptions { jobs, replications: 3, recorded: Recorded::First, sample_every: None, packets: true, drawn_points: 1 }
}

/// Remembers what was recorded, in order.
#[derive(Default)]
struct Log(Vec<(usize, u32, usize, usize)>);

impl Recorder for Log {
    fn record(&mut self, run: RecordedRun<'_>) {
        self.0.push((run.point, run.replication, run.series.len(), run.packets.len()));
    }
}

fn all(jobs: usize) -> (RunReport, Log) {
    let mut log = Log::default();
    let report = run(&points(), &options(jobs), &AtomicBool::new(false), &mut |_| {}, &mut log);
    (report, log)
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let (one, log_one) = all(1);
    let (three, log_three) = all(3);
    assert!(one.complete && one.failures.is_empty());
    assert_eq!(one.fingerprints, three.fingerprints);
    assert_eq!(log_one.0, log_three.0);
    for (a, b) in one.points.iter().zip(&three.points) {
        assert_eq!(serde_json::to_string(&a.summary).unwrap(), serde_json::to_string(&b.summary).unwrap());
        assert_eq!(a.cdfs, b.cdfs);
    }
}

#[test]
fn replications_differ_and_points_share_their_random_numbers() {
    let (report, _) = all(2);
    let runs = &report.points[0].runs;
    assert_eq!(runs.len(), 3);
    assert_ne!(runs[0].links[0].value("sojourn_s.mean"), runs[1].links[0].value("sojourn_s.mean"));
    let summary = report.points[1].summary.as_ref().expect("runs finished");
    let utilization = summary.link("bottleneck").expect("the link is observed").figure("utilization");
    assert!(utilization.n == 3 && utilization.ci95.is_some() && utilization.mean.unwrap() > 0.5, "{utilization:?}");
}

#[test]
fn only_the_first_replication_is_recorded_and_only_some_points_are_kept_for_drawing() {
    let (report, log) = all(2);
    let recorded: Vec<bool> = log.0.iter().map(|&(_, _, series, packets)| series > 0 && packets > 0).collect();
    assert_eq!(recorded, [true, false, false, true, false, false]);
    assert!(!report.points[0].series.is_empty() && !report.points[0].cdfs.is_empty());
    assert!(report.points[1].series.is_empty() && report.points[1].cdfs.is_empty());
}

#[test]
fn stopped_before_it_began_it_has_no_runs_and_says_so() {
    let report = run(&points(), &options(2), &AtomicBool::new(true), &mut |_| {}, &mut NoRecorder);
    assert!(!report.complete && report.failures.is_empty());
    assert_eq!(report.points.len(), 2);
    assert!(report.points.iter().all(|point| point.summary.is_none()));
}

#[test]
fn stopped_on_the_way_it_keeps_what_was_finished() {
    let stop = AtomicBool::new(false);
    struct StopAfterOne<'a>(&'a AtomicBool);
    impl Recorder for StopAfterOne<'_> {
        fn record(&mut self, _: RecordedRun<'_>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let report = run(&points(), &options(1), &stop, &mut |_| {}, &mut StopAfterOne(&stop));
    let finished: usize = report.points.iter().map(|point| point.runs.len()).sum();
    assert!(!report.complete && (1..6).contains(&finished), "{finished} runs");
    assert!(report.points[0].summary.is_some());
}

#[test]
fn a_world_that_cannot_be_built_fails_alone() {
    let mut points = points();
    points[0].plan.access.rate = goodqueue_base::units::Rate::ZERO;
    let report = run(&points, &options(2), &AtomicBool::new(false), &mut |_| {}, &mut NoRecorder);
    assert_eq!(report.failures.len(), 3, "{:?}", report.failures);
    assert!(report.failures[0].to_string().starts_with("link.bottleneck.queue = tail-drop, replication 0: "));
    assert!(report.points[0].summary.is_none() && report.points[1].summary.is_some() && !report.complete);
    assert!(try_build(&points[0]).is_err() && try_build(&points[1]).is_ok());
}

#[test]
fn progress_ends_at_the_whole() {
    let mut last = 0.0;
    run(&points(), &options(2), &AtomicBool::new(false), &mut |part| last = part, &mut NoRecorder);
    assert_eq!(last, 1.0);
}

#[test]
fn sampling_gives_a_bounded_number_of_samples() {
    for (span, period) in [(Duration::secs(110), 44), (Duration::ms(10), 1), (Duration::secs(10_000), 4000)] {
        assert_eq!(sampling_period(span), Duration::ms(period));
    }
}
