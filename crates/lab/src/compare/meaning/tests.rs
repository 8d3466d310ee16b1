use super::*;
use crate::metrics::LINK_METRICS;
use crate::runner::Replication;
use serde_json::{Value, json};

/// A link's figures with only utilization and the 95th percentile defined.
fn link(used: f64, p95: f64) -> Vec<LinkFigures> {
    let values = LINK_METRICS
        .iter()
        .map(|metric| match metric.about.name {
            UTILIZATION => Some(used),
            SOJOURN => Some(p95),
            _ => None,
        })
        .collect();
    vec![LinkFigures { name: "bottleneck".to_owned(), values, group_share: vec![Some(1.0)] }]
}

fn point(runs: &[(f64, f64)]) -> PointResult {
    let run = |(number, &(used, p95)): (usize, &(f64, f64))| Replication {
        number: number as u32,
        links: link(used, p95),
        goodput_bit_s: 0.0,
    };
    let runs = runs.iter().enumerate().map(run).collect();
    PointResult { summary: None, runs, cdfs: Vec::new(), rtt_cdfs: Vec::new(), series: Vec::new() }
}

fn labels(sets: &[Vec<(&str, Value)>]) -> Labels {
    let sets: Vec<Vec<(String, Value)>> =
        sets.iter().map(|set| set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()).collect();
    let sets: Vec<&[(String, Value)]> = sets.iter().map(Vec::as_slice).collect();
    Labels::new(&sets, "home")
}

fn queues(names: &[&str]) -> Labels {
    labels(&names.iter().map(|name| vec![("link.bottleneck.queue", json!(name))]).collect::<Vec<_>>())
}

#[test]
fn names_the_shortest_its_cost_and_those_like_it() {
    let points = [
        point(&[(0.999, 0.2), (0.999, 0.21), (0.999, 0.19)]),
        point(&[(0.98, 0.012), (0.981, 0.013), (0.979, 0.011)]),
        // Differs from the one before by 0, +1 and -0.4 ms: not significant.
        point(&[(0.99, 0.012), (0.99, 0.014), (0.99, 0.0106)]),
    ];
    assert_eq!(
        meaning(&points, &queues(&["tail-drop", "codel", "pie"]), "bottleneck"),
        "codel has the shortest 95th percentile of sojourn times, 12.0 ± 2.5 ms, at 98.0 % utilization, 1.90 ± 0.25 \
         percentage points below tail-drop; not significantly different: pie (paired 95 % intervals, 3 replications)."
    );
}

#[test]
fn pairs_show_what_overlapping_intervals_hide() {
    // Both swing widely with the replication, but one is always 1 ms longer.
    let points = [point(&[(0.9, 0.010), (0.9, 0.030), (0.9, 0.020)]), point(&[(0.9, 0.011), (0.9, 0.031), (0.9, 0.021)])];
    let text = meaning(&points, &queues(&["codel", "pie"]), "bottleneck");
    assert!(text.contains("it differs from every other significantly"), "{text}");
}

#[test]
fn one_replication_proves_nothing() {
    let points = [point(&[(0.999, 0.2)]), point(&[(0.98, 0.012)])];
    let text = meaning(&points, &queues(&["tail-drop", "codel"]), "bottleneck");
    assert!(text.ends_with("; with one replication no difference can be told from chance."), "{text}");
}

#[test]
fn different_loads_are_not_ranked() {
    let labels = labels(&[vec![("traffic.0.flows", json!(1))], vec![("traffic.0.flows", json!(16))]]);
    assert_eq!(
        meaning(&[point(&[(0.9, 0.01)]), point(&[(0.99, 0.03)])], &labels, "bottleneck"),
        "The 95th percentile of sojourn times goes from 10.0 ms (flows=1) to 30.0 ms (flows=16), at utilizations from 90.0 % \
         to 99.0 %."
    );
}

#[test]
fn queues_over_several_loads_are_counted() {
    let set = |queue, flows| vec![("link.bottleneck.queue", json!(queue)), ("traffic.0.flows", json!(flows))];
    let labels = labels(&[set("pie", 1), set("pie", 2), set("codel", 1), set("codel", 2)]);
    let points = [
        point(&[(0.9, 0.010), (0.9, 0.011)]),
        point(&[(0.9, 0.030), (0.9, 0.031)]),
        point(&[(0.9, 0.020), (0.9, 0.021)]),
        point(&[(0.9, 0.029), (0.9, 0.035)]),
    ];
    assert_eq!(
        meaning(&points, &labels, "bottleneck"),
        "The shortest 95th percentile of sojourn times, over 2 settings: pie in 2 (significantly in 1)."
    );
}

#[test]
fn nothing_finished_and_a_single_point() {
    let none = PointResult { summary: None, runs: Vec::new(), cdfs: Vec::new(), rtt_cdfs: Vec::new(), series: Vec::new() };
    assert!(meaning(&[none], &queues(&["codel"]), "bottleneck").starts_with("No run finished"));
    let text = meaning(&[point(&[(0.9, 0.0005)])], &labels(&[Vec::new()]), "bottleneck");
    assert_eq!(
        text,
        "At bottleneck, 95 % of the packets waited at most 500 µs, and the link was 90.0 % used; one replication gives \
         no confidence interval."
    );
}
