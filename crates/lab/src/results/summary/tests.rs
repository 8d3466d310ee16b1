use super::*;
use crate::results::record::sample;
use goodqueue_base::units::Duration;
use goodqueue_sim::GroupOutcome;
use serde_json::{Value, json};

fn summary(replications: u32) -> Summary {
    let runs: Vec<RunFigures> =
        (1..=u64::from(replications)).map(|run| RunFigures::of(&sample::outcome(run), Duration::secs(10), &[])).collect();
    let set = vec![("link.bottleneck.queue.c_max".to_owned(), json!(1.2)), ("a first".to_owned(), json!("5 ms"))];
    Summary {
        schema: SCHEMA,
        scenario: "home uplink".to_owned(),
        host: "sim",
        seed: 1,
        replications,
        complete: true,
        headline: None,
        provenance: Provenance {
            version: "0.1.0".to_owned(),
            commit: "0000000".to_owned(),
            scenario_sha256: "ab".repeat(32),
            fingerprint: "0123456789abcdef".to_owned(),
        },
        points: vec![PointSummary::of(set, &runs).expect("there are runs")],
    }
}

#[test]
fn the_whole_file_from_three_runs_made_by_hand() {
    insta::assert_snapshot!(summary(3).to_json());
}

#[test]
fn one_replication_has_no_interval_and_keys_keep_their_order() {
    let text = summary(1).to_json();
    let value: Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(value["points"][0]["links"]["bottleneck"]["utilization"], json!({"mean": 0.972, "ci95": null, "n": 1}));
    assert!(text.find("c_max") < text.find("a first"), "the order of the sweep, not of the alphabet");
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn a_point_without_runs_has_no_summary() {
    assert!(PointSummary::of(Vec::new(), &[]).is_none());
}

#[test]
fn of_many_groups_a_link_lists_those_that_sent() {
    let listed = |groups: usize| {
        let mut outcome = sample::outcome(1);
        outcome.groups = (0..groups).map(|group| GroupOutcome { name: group.to_string(), ..outcome.groups[0].clone() }).collect();
        let point = PointSummary::of(Vec::new(), &[RunFigures::of(&outcome, Duration::secs(10), &[])]).expect("a run");
        point.links[0].1.group_share.iter().map(|(group, _)| group.clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed(MAX_FEW_GROUPS).len(), MAX_FEW_GROUPS);
    assert_eq!(listed(MAX_FEW_GROUPS + 1), ["0", "1"]);
}

/// Every key of a figure in the file, with dots between nested keys.
fn figure_keys(value: &Value, path: &str, keys: &mut Vec<String>) {
    let Value::Object(fields) = value else { return };
    for (key, value) in fields {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value.get("ci95") {
            Some(_) => keys.push(path),
            None => figure_keys(value, &path, keys),
        }
    }
}

#[test]
fn the_file_has_what_the_lists_of_metrics_have() {
    let value: Value = serde_json::from_str(&summary(1).to_json()).expect("valid JSON");
    let point = &value["points"][0];
    let links = LINK_METRICS.iter().map(|metric| &metric.about).collect::<Vec<_>>();
    let groups = GROUP_METRICS.iter().map(|metric| &metric.about).collect::<Vec<_>>();
    let fairness = JAIN_METRICS.iter().map(|metric| &metric.about).collect::<Vec<_>>();
    for (part, metrics) in
        [(&point["links"]["bottleneck"], links), (&point["groups"]["bulk"], groups), (&point["jain"], fairness)]
    {
        let mut keys = Vec::new();
        figure_keys(part, "", &mut keys);
        // One for each group, so it cannot stand in a list.
        keys.retain(|key| !key.starts_with("group_share."));
        keys.sort();
        // Those of other kinds of traffic are left out where there is none.
        let always = metrics.iter().filter(|about| about.presence == Presence::Always);
        let mut names: Vec<&str> = always.map(|about| about.name).collect();
        names.sort_unstable();
        assert_eq!(keys, names);
    }
}

#[test]
fn a_file_that_is_read_back_has_every_figure() {
    let written = summary(3);
    let got = read(&written.to_json()).expect("a summary");
    assert_eq!((got.scenario.as_str(), got.host.as_str(), got.complete), ("home uplink", "sim", true));
    let again = Summary { points: got.points, ..written.clone() };
    assert_eq!(again.to_json(), written.to_json());
    let later = written.to_json().replace("goodqueue.summary/1", "goodqueue.summary/2");
    assert_eq!(
        read(&later).expect_err("another format").to_string(),
        "schema: is `goodqueue.summary/2`: allowed goodqueue.summary/1"
    );
}
