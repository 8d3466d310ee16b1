use super::*;
use crate::plan::Plan;
use std::path::Path;

fn comparison(aqm: &[&str]) -> Comparison {
    Comparison {
        line: Line::Rate("10mbit".to_owned()),
        rtt: "21 ms".to_owned(),
        buffer: "1bdp".to_owned(),
        flows: 16,
        cc: "cubic".to_owned(),
        aqm: aqm.iter().map(|&name| name.to_owned()).collect(),
        signal: Signal::Drop,
        warmup: "5 s".to_owned(),
        duration: "30 s".to_owned(),
        replications: 3,
        seed: 9,
    }
}

fn plan(comparison: &Comparison) -> Plan {
    let text = comparison.scenario().expect("a scenario");
    Plan::parse("compare", &text, Path::new("")).unwrap_or_else(|error| panic!("{}\n{text}", error.text()))
}

#[test]
fn makes_a_scenario_with_the_round_trip_asked_for() {
    let plan = plan(&comparison(Comparison::USUAL));
    let points = plan.points().expect("good points");
    assert_eq!(points.len(), Comparison::USUAL.len());
    assert_eq!(points[0].plan.base_rtt(), Duration::ms(21));
    assert_eq!((plan.seed(), plan.replications()), (9, 3));
    assert_eq!(points[0].plan.traffic[0].flows, 16);
    let kinds: Vec<&str> =
        points.iter().map(|point| point.plan.links[0].down.queue.as_ref().expect("a queue").kind.kind).collect();
    assert_eq!(kinds, Comparison::USUAL);
}

#[test]
fn parameters_follow_the_kind() {
    let plan = plan(&comparison(&["codel:target=10ms:ecn=true", "codel"]));
    let points = plan.points().expect("good points");
    let queue = points[0].plan.links[0].down.queue.as_ref().expect("a queue");
    assert_eq!(queue.params, [("target", goodqueue_aqm::spec::Value::Duration(Duration::ms(10)))]);
    assert_eq!(queue.ecn, goodqueue_aqm::EcnPolicy::Mark);
}

#[test]
fn a_control_may_have_parameters_too() {
    let old = Comparison { cc: "cubic:beta=0.8:hystart=false".to_owned(), ..comparison(&["codel"]) };
    let points = plan(&old).points().expect("good points");
    let goodqueue_sim::SourceSpec::Tcp { sender, .. } = &points[0].plan.traffic[0].main.source else { panic!("bulk is TCP") };
    assert_eq!(
        sender.cc.params,
        [("beta", goodqueue_aqm::spec::Value::Number(0.8)), ("hystart", goodqueue_aqm::spec::Value::Switch(false)),]
    );
    let wrong = Comparison { cc: "cubic:beta".to_owned(), ..comparison(&["codel"]) };
    assert_eq!(wrong.scenario().expect_err("wrong").to_string(), "--cc: `beta` in `cubic:beta` is not parameter=value");
}

#[test]
fn a_queue_over_another_algorithm_names_it_and_its_parameters_behind_its_own() {
    let marking = Comparison { signal: Signal::Mark, ..comparison(&["fair:flows=64:pie:target=10ms", "fair:tail-drop"]) };
    let points = plan(&marking).points().expect("good points");
    let queues: Vec<_> = points.iter().map(|point| point.plan.links[0].down.queue.clone().expect("a queue")).collect();
    assert_eq!((queues[0].name().as_str(), queues[0].ecn), ("fair:pie", goodqueue_aqm::EcnPolicy::Mark));
    assert_eq!(queues[0].params, [("flows", goodqueue_aqm::spec::Value::Number(64.0))]);
    let target = goodqueue_aqm::spec::Value::Duration(Duration::ms(10));
    assert_eq!(queues[0].of.as_ref().expect("pie").params, [("target", target)]);
    assert_eq!((queues[1].name().as_str(), queues[1].ecn), ("fair:tail-drop", goodqueue_aqm::EcnPolicy::Drop));
}

#[test]
fn queues_may_stand_within_queues() {
    let marking =
        Comparison { signal: Signal::Mark, ..comparison(&["shaper:rate=9mbit:priority:bands=2:fair:codel", "priority"]) };
    let points = plan(&marking).points().expect("good points");
    let queues: Vec<_> = points.iter().map(|point| point.plan.links[0].down.queue.clone().expect("a queue")).collect();
    assert_eq!(queues[0].name(), "shaper:priority:fair:codel");
    assert_eq!(queues[0].params, [("rate", goodqueue_aqm::spec::Value::Rate(Rate::mbit(9)))]);
    assert_eq!(queues[0].of.as_ref().expect("priority").params, [("bands", goodqueue_aqm::spec::Value::Number(2.0))]);
    assert_eq!((queues[0].ecn, queues[1].ecn), (goodqueue_aqm::EcnPolicy::Mark, goodqueue_aqm::EcnPolicy::Drop));
}

#[test]
fn marking_is_asked_of_senders_and_of_queues_that_can() {
    let text = Comparison { signal: Signal::Mark, ..comparison(&["tail-drop", "codel"]) }.scenario().expect("a scenario");
    assert!(text.contains("{ kind = \"tail-drop\" }") && text.contains("{ kind = \"codel\", ecn = true }"), "{text}");
    assert!(text.contains("\necn = true\n"));
}

#[test]
fn what_cannot_be_worked_out_names_its_option() {
    let fails = |comparison: Comparison| comparison.scenario().expect_err("wrong").to_string();
    assert!(fails(Comparison { rtt: "soon".to_owned(), ..comparison(&["codel"]) }).starts_with("--rtt: "));
    assert!(fails(Comparison { line: Line::Rate("10".to_owned()), ..comparison(&["codel"]) }).starts_with("--rate: "));
    assert!(fails(comparison(&[])).starts_with("--aqm: "));
    assert_eq!(fails(comparison(&["fair"])), "--aqm: `fair` needs the algorithm it is over: write for instance fair:pie");
    assert_eq!(fails(comparison(&["fair:pie:red"])), "--aqm: `red` in `fair:pie:red` is not parameter=value");
    assert_eq!(fails(comparison(&["codel:target"])), "--aqm: `target` in `codel:target` is not parameter=value");
}

#[test]
fn hostile_text_stays_a_value() {
    let text = Comparison { cc: "x\"\nflows = 9 # \\".to_owned(), ..comparison(&["codel"]) }.scenario().expect("a scenario");
    let error = Plan::parse("compare", &text, Path::new("")).expect_err("no such control").text();
    assert!(error.contains("traffic.0.cc"), "{error}");
}

#[test]
fn values_keep_their_type() {
    for (text, toml) in [("5", "5"), ("0.5", "0.5"), ("true", "true"), ("5ms", "\"5ms\""), ("05", "\"05\""), ("1.", "\"1.\"")] {
        assert_eq!(value_of(text), toml);
    }
}

#[test]
fn names_of_tc_are_shown_as_the_kinds_own() {
    let plan = plan(&comparison(&["pfifo", "bfifo:limit=45000", "FQ-CoDel"]));
    let points = plan.points().expect("points");
    let sets: Vec<_> = points.iter().map(|point| point.set.as_slice()).collect();
    let names = Labels::new(&sets, "").names;
    assert_eq!(names, ["tail-drop limit=18 packets", "tail-drop limit=45000 B", "fq-codel"]);
    let limits: Vec<_> = points.iter().map(|point| point.plan.main_link().down.queue.as_ref().expect("a queue").limit).collect();
    assert_eq!((limits[0], limits[1]), (goodqueue_aqm::Limit::packets(18), goodqueue_aqm::Limit::bytes(45_000)));
}
