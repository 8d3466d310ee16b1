//! A short golden subset of each paper: its files are sound, its arithmetic holds, and a few points
//! give the known figures in seconds.

use goodqueue_lab::run::backend::Simulator;
use goodqueue_studies::gallery::catalogue;
use goodqueue_studies::gallery::evaluate::{self, Verdict};
use goodqueue_studies::gallery::experiment::{Experiment, Mode};
use goodqueue_studies::gallery::expr::{self, Value};
use goodqueue_studies::gallery::files::{Gallery, Grade};
use goodqueue_studies::gallery::run;
use goodqueue_studies::gallery::samples::{self, Points, PointsEnv, View};
use goodqueue_studies::gallery::store::Store;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

fn gallery() -> Gallery {
    Gallery { root: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery") }
}

#[test]
fn every_paper_and_every_scenario_can_be_read_in_both_modes() {
    let gallery = gallery();
    assert!(gallery.papers().contains(&"cp-aqm"));
    assert_eq!(gallery.read("beyond").unwrap().id, "extensions", "its name before");
    for name in gallery.papers() {
        let paper = gallery.read(name).unwrap_or_else(|error| panic!("{error}"));
        for spec in &paper.experiments {
            for mode in [Mode::Quick, Mode::Full] {
                let experiment = Experiment::load(&paper, spec, mode, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(!experiment.points.is_empty());
            }
        }
    }
}

/// Names and types of every row, table and figure, in both modes.
#[test]
fn every_expression_is_sound() {
    for name in gallery().papers() {
        let paper = gallery().read(name).unwrap();
        for mode in [Mode::Quick, Mode::Full] {
            let load = |spec| Experiment::load(&paper, spec, mode, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            let experiments: Vec<Experiment> = paper.experiments.iter().map(load).collect();
            catalogue::check(&paper, experiments).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

/// Rows of grade U that need no run.
#[test]
fn arithmetic_rows_hold() {
    for name in gallery().papers() {
        let paper = gallery().read(name).unwrap();
        for row in paper.rows.iter().filter(|row| row.experiments.is_empty() && row.grade == Grade::U && !row.report_only) {
            let evaluated = evaluate::evaluate(&paper, row, &Rc::from([]));
            // A row with a known mechanism is allowed to fail; one without is not.
            assert!(
                evaluated.verdict == Verdict::Holds || row.why.is_some(),
                "{}: {:?} {:?}",
                row.id.get_ref(),
                evaluated.value,
                evaluated.reason
            );
        }
    }
}

/// Runs the points that these settings leave of an experiment, and checks that an expression on
/// them lies within bounds.
fn golden(paper: &str, experiment: &str, set: &[(&str, &str)], measure: &str, low: f64, high: f64) {
    let paper = gallery().read(paper).unwrap();
    let spec = paper.experiment(experiment).unwrap();
    let set: Vec<(String, String)> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let experiment = Experiment::load(&paper, spec, Mode::Quick, &set).unwrap();
    let out = tempfile::tempdir().unwrap();
    let end =
        run::run(vec![experiment], &Simulator, &Store::new(out.path(), Mode::Quick), 2, &AtomicBool::new(false), &mut |_| {})
            .unwrap();
    assert!(end.complete);
    let replications = samples::replications(&end.measured, std::iter::once(spec.id.get_ref().as_str()));
    let source = Rc::new(Points { measured: end.measured.into(), paper: paper.id });
    let env = Rc::new(PointsEnv { source, replications, view: View::Mean, here: None });
    match expr::evaluate(&expr::parse(measure, &[]).unwrap(), &[], env) {
        Ok(Value::Number(value)) => assert!((low..=high).contains(&value), "{measure} gives {value}, not {low} to {high}"),
        other => panic!("{measure} gives {other:?}"),
    }
}

const SHORT: (&str, &str) = ("duration", "30 s");

#[test]
fn cp_aqm_tail_drop_fills_the_buffer_under_udp() {
    let set = [
        SHORT,
        ("replications", "1"),
        ("traffic.0", "{ kind = \"cbr\", rate = \"14.930325 Mbit/s\", packet_size = \"1500 B\" }"),
    ];
    golden("cp-aqm", "cp-1", &set, r#"min(pick("cp-1", "links.bottleneck.queue_packets"))"#, 29.3, 30.0);
}

#[test]
fn cp_aqm_holds_periodic_udp_at_its_threshold() {
    let set = [SHORT, ("replications", "1"), ("link.bottleneck.queue.c_max", "1.2")];
    let offset = r#"max(abs(pick("cp-2", "links.bottleneck.queue_packets") - axis("cp-2", "threshold") - 1))"#;
    golden("cp-aqm", "cp-2", &set, offset, 0.0, 1.0);
}

#[test]
fn cp_aqm_keeps_the_queue_short_and_the_link_full_for_16_flows() {
    let set = [SHORT, ("replications", "2"), ("link.bottleneck.queue.c_max", "1.2"), ("traffic.0.flows", "16")];
    let five = [set.as_slice(), &[("link.bottleneck.delay", "5 ms")]].concat();
    golden("cp-aqm", "cp-8", &five, r#"min(pick("cp-8", "links.bottleneck.utilization")) * 100"#, 98.3, 100.0);
    golden("cp-aqm", "cp-8", &five, r#"max(pick("cp-8", "links.bottleneck.queue_packets"))"#, 6.0, 13.5);
}

#[test]
fn steering_fills_the_link_and_keeps_the_queue_short() {
    let set = [("duration", "10 s"), ("warmup", "10 s"), ("replications", "1"), ("traffic.0.flows", "9")];
    let steered = (
        "link.bottleneck.queue",
        "{ kind = \"gsp-as\", u_low = 0.99, target_max = \"30 ms\", mem_delta = \"10 s\", mem_rate = \"5 s\" }",
    );
    let set = [set.as_slice(), &[steered]].concat();
    golden("steering", "as-7", &set, r#"one("as-7", #{}, "links.bottleneck.utilization") * 100"#, 96.0, 100.01);
    golden("steering", "as-7", &set, r#"one("as-7", #{}, "links.bottleneck.sojourn_s.p95") * 1000"#, 0.2, 30.0);
}

#[test]
fn codel_a_fixed_window_leaves_a_standing_queue() {
    let queue = r#"mean(each_run(|run| mean(values(between(series("cd-1", #{load: "window-25"}, "bottleneck.queue_packets"), 0.8, 4.9)))))"#;
    golden("codel", "cd-1", &[], queue, 4.0, 6.0);
    let waits = r#"one("cd-1", #{load: "window-3"}, "links.bottleneck.sojourn_s.max") * 1000"#;
    golden("codel", "cd-1", &[], waits, 17.99, 18.01);
}

#[test]
fn codel_cutting_off_a_burst_costs_utilization() {
    let lost = r#"(one("cd-2", #{buffer: "10 packets"}, "links.bottleneck.utilization") - one("cd-2", #{buffer: "100 packets"}, "links.bottleneck.utilization")) * 100"#;
    golden("codel", "cd-2", &[], lost, -60.0, -2.0);
}

#[test]
fn survey_tail_drop_and_red_at_a_short_run() {
    let set = [("duration", "5 s"), ("replications", "1")];
    golden("survey", "ko-3", &set, r#"one("ko-3", #{aqm: "tail-drop"}, "links.core.sojourn_s.max") * 1000"#, 17.0, 18.0);
    let red =
        r#"one("ko-3", #{aqm: "red"}, "links.core.queue_bytes") / one("ko-3", #{aqm: "tail-drop"}, "links.core.queue_bytes")"#;
    golden("survey", "ko-3", &set, red, 0.1, 0.8);
}

#[test]
fn nfq_codel_is_fair_to_packets_of_two_sizes() {
    let queue = ("link.bottleneck.queue", "{ kind = \"nfq-codel\", adaptive = false }");
    // Two segments at first and a slow start that ends at 1000 packets: the flows need seconds to
    // fill their shares.
    let cap = ("traffic.*.cc.initial_ssthresh", "1000");
    let set = [("duration", "10 s"), ("replications", "1"), queue, cap];
    golden("nfq-codel", "nf-4", &set, r#"one("nf-4", #{}, "jain.goodput")"#, 0.95, 1.0);
    golden("nfq-codel", "nf-4", &set, r#"one("nf-4", #{}, "links.bottleneck.utilization") * 100"#, 60.0, 100.01);
}

#[test]
fn extensions_steer_codel() {
    let set = [
        ("duration", "5 s"),
        ("warmup", "5 s"),
        ("replications", "1"),
        ("traffic.0.flows", "9"),
        ("link.bottleneck.queue", "codel-as"),
    ];
    golden(
        "extensions",
        "steering-kinds",
        &set,
        r#"one("steering-kinds", #{}, "links.bottleneck.utilization") * 100"#,
        90.0,
        100.01,
    );
}

#[test]
fn dualpi2_divides_a_link_between_prague_and_cubic() {
    let set = [
        ("warmup", "10 s"),
        ("duration", "20 s"),
        ("replications", "1"),
        ("traffic.0.rtt_extra", "5 ms"),
        ("traffic.1.rtt_extra", "5 ms"),
    ];
    let share = r#"one("pc-dualpi2", #{}, "groups.first.goodput_bit_s") / (one("pc-dualpi2", #{}, "groups.first.goodput_bit_s") + one("pc-dualpi2", #{}, "groups.second.goodput_bit_s"))"#;
    golden("dualpi2", "pc-dualpi2", &set, share, 0.35, 0.6);
    golden("dualpi2", "pc-dualpi2", &set, r#"one("pc-dualpi2", #{}, "groups.first.sojourn_s.mean") * 1000"#, 0.05, 1.0);
}

#[test]
fn red_carries_as_many_packets_as_in_ns2() {
    let set = [("replications", "2")];
    golden("ns2", "red1", &set, r#"one("red1", #{}, "links.bottleneck.departed_packets")"#, 1700.0, 1900.0);
}
