use super::*;
use crate::results::Labels;
use crate::scenario::plan::Plan;
use std::path::Path;

fn comparison(aqm: &[&str]) -> Comparison {
    Comparison {
        line: Line::Rate { down: "10mbit".to_owned(), up: None },
        rtt: "21 ms".to_owned(),
        overhead: None,
        buffer: "1bdp".to_owned(),
        buffer_up: None,
        traffic: Load::Mix("call-and-ping".to_owned()),
        flows: Some(16),
        flows_up: None,
        cc: vec!["cubic".to_owned()],
        aqm: aqm.iter().map(|&name| name.to_owned()).collect(),
        aqm_up: Vec::new(),
        signal: Signal::Drop,
        warmup: Some("5 s".to_owned()),
        duration: None,
        replications: 3,
        seed: 9,
    }
}

fn plan(comparison: &Comparison) -> Plan {
    let text = comparison.scenario().expect("a scenario").toml;
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
        points.iter().map(|point| point.plan.links[0].down.queue.as_ref().expect("a queue").chosen.kind.kind).collect();
    assert_eq!(kinds, Comparison::USUAL);
}

#[test]
fn a_recording_is_measured_as_a_whole_unless_told_otherwise() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let line = Line::Trace { down: file("down", "1\n40000\n"), up: Some(file("up", "1\n40500\n")) };
    let whole = Comparison { line, buffer: "99 packets".to_owned(), ..comparison(&["codel"]) };
    assert_eq!(whole.scenario().expect("a scenario").recorded, Some(Duration::ms(40_500)));
    assert_eq!(plan(&whole).point(0).expect("a point").plan.duration, Duration::ms(40_500));
    let part = Comparison { duration: Some("30 s".to_owned()), ..whole };
    assert_eq!(plan(&part).point(0).expect("a point").plan.duration, Duration::secs(30));
    let constant = comparison(&["codel"]);
    assert_eq!(constant.scenario().expect("a scenario").recorded, None);
    assert_eq!(plan(&constant).point(0).expect("a point").plan.duration, Duration::secs(30));
}

#[test]
fn parameters_follow_the_kind() {
    let plan = plan(&comparison(&["codel:target=10ms:ecn=true", "codel"]));
    let points = plan.points().expect("good points");
    let queue = points[0].plan.links[0].down.queue.as_ref().expect("a queue");
    assert_eq!(queue.chosen.params, [("target", goodqueue_aqm::spec::Value::Duration(Duration::ms(10)))]);
    assert_eq!(queue.ecn, goodqueue_aqm::EcnPolicy::Mark);
}

#[test]
fn a_control_may_have_parameters_too() {
    let old = Comparison { cc: vec!["cubic:beta=0.8:hystart=false".to_owned()], ..comparison(&["codel"]) };
    let points = plan(&old).points().expect("good points");
    let goodqueue_sim::SourceSpec::Tcp { sender, .. } = &points[0].plan.traffic[0].main.source else { panic!("bulk is TCP") };
    assert_eq!(
        sender.cc.params,
        [("beta", goodqueue_aqm::spec::Value::Number(0.8)), ("hystart", goodqueue_aqm::spec::Value::Switch(false)),]
    );
    let wrong = Comparison { cc: vec!["cubic:beta".to_owned()], ..comparison(&["codel"]) };
    assert_eq!(wrong.scenario().expect_err("wrong").to_string(), "--cc: `beta` in `cubic:beta` is not parameter=value");
}

#[test]
fn composed_queue_lists_the_inner_parameters_behind_its_own() {
    let marking = Comparison { signal: Signal::Mark, ..comparison(&["fair:flows=64:pie:target=10ms", "fair:tail-drop"]) };
    let points = plan(&marking).points().expect("good points");
    let queues: Vec<_> = points.iter().map(|point| point.plan.links[0].down.queue.clone().expect("a queue")).collect();
    assert_eq!((queues[0].name().as_str(), queues[0].ecn), ("fair:pie", goodqueue_aqm::EcnPolicy::Mark));
    assert_eq!(queues[0].chosen.params, [("flows", goodqueue_aqm::spec::Value::Number(64.0))]);
    let target = goodqueue_aqm::spec::Value::Duration(Duration::ms(10));
    assert_eq!(queues[0].chosen.of.as_ref().expect("pie").params, [("target", target)]);
    assert_eq!((queues[1].name().as_str(), queues[1].ecn), ("fair:tail-drop", goodqueue_aqm::EcnPolicy::Drop));
}

#[test]
fn queues_may_stand_within_queues() {
    let marking =
        Comparison { signal: Signal::Mark, ..comparison(&["shaper:rate=9mbit:priority:bands=2:fair:codel", "priority"]) };
    let points = plan(&marking).points().expect("good points");
    let queues: Vec<_> = points.iter().map(|point| point.plan.links[0].down.queue.clone().expect("a queue")).collect();
    assert_eq!(queues[0].name(), "shaper:priority:fair:codel");
    assert_eq!(queues[0].chosen.params, [("rate", goodqueue_aqm::spec::Value::Rate(Rate::mbit(9)))]);
    assert_eq!(queues[0].chosen.of.as_ref().expect("priority").params, [("bands", goodqueue_aqm::spec::Value::Number(2.0))]);
    assert_eq!((queues[0].ecn, queues[1].ecn), (goodqueue_aqm::EcnPolicy::Mark, goodqueue_aqm::EcnPolicy::Drop));
}

#[test]
fn marking_is_asked_of_senders_and_of_queues_that_can() {
    let text = Comparison { signal: Signal::Mark, ..comparison(&["tail-drop", "codel"]) }.scenario().expect("a scenario").toml;
    assert!(text.contains("{ kind = \"tail-drop\" }") && text.contains("{ kind = \"codel\", ecn = true }"), "{text}");
    assert!(text.contains("\necn = true\n"));
}

#[test]
fn framing_is_that_of_the_line() {
    let framed = Comparison { overhead: Some("pppoe-ptm ether-vlan".to_owned()), ..comparison(&["codel"]) };
    let framing = plan(&framed).point(0).expect("a point").plan.main_link().framing;
    assert_eq!(Ok(framing), goodqueue_base::units::Framing::named("pppoe-ptm ether-vlan"));
    let wrong = Comparison { overhead: Some("dsl".to_owned()), ..comparison(&["codel"]) }.scenario().expect("a scenario").toml;
    let error = Plan::parse("compare", &wrong, Path::new("")).expect_err("no such framing");
    let options: Vec<_> = error.faults().map(|fault| Comparison::option_of(fault.field())).collect();
    assert_eq!(options, [Some("--overhead")]);
}

#[test]
fn what_is_not_two_rates_is_refused() {
    for text in ["/5mbit", "5/1/3mbit", "50mbit/10mbit/1mbit"] {
        let error = Line::rates(text, None).expect_err("not two rates").to_string();
        assert_eq!(error, format!("--rate: `{text}` is not a rate down and a rate up: write for instance 50/10mbit"));
    }
}

#[test]
fn what_cannot_be_worked_out_names_its_option() {
    let fails = |comparison: Comparison| comparison.scenario().expect_err("wrong").to_string();
    assert!(fails(Comparison { rtt: "soon".to_owned(), ..comparison(&["codel"]) }).starts_with("--rtt: "));
    assert!(
        fails(Comparison { line: Line::Rate { down: "10".to_owned(), up: None }, ..comparison(&["codel"]) })
            .starts_with("--rate: ")
    );
    assert!(fails(comparison(&[])).starts_with("--aqm: "));
    assert_eq!(fails(comparison(&["fair"])), "--aqm: `fair` needs the algorithm it is over: write for instance fair:pie");
    assert_eq!(fails(comparison(&["fair:pie:red"])), "--aqm: `red` in `fair:pie:red` is not parameter=value");
    assert_eq!(fails(comparison(&["codel:target"])), "--aqm: `target` in `codel:target` is not parameter=value");
}

#[test]
fn hostile_text_stays_a_value() {
    let text = Comparison { cc: vec!["x\"\nflows = 9 # \\".to_owned()], ..comparison(&["codel"]) };
    let text = text.scenario().expect("a scenario").toml;
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
    let names = Labels::of_points(&points).names;
    assert_eq!(names, ["tail-drop:limit=18packets", "tail-drop:limit=45000B", "fq-codel"]);
    let limits: Vec<_> = points.iter().map(|point| point.plan.main_link().down.queue.as_ref().expect("a queue").limit).collect();
    assert_eq!((limits[0], limits[1]), (goodqueue_aqm::Limit::packets(18), goodqueue_aqm::Limit::bytes(45_000)));
}

#[test]
fn two_rates_load_both_directions() {
    for line in
        [Line::rates("50/10mbit", None), Line::rates("50mbit", Some("10mbit")), Line::rates("50 Mbit/s / 10 Mbit/s", None)]
    {
        let two = Comparison { line: line.expect("two rates"), ..comparison(&["codel", "pie"]) };
        let points = plan(&two).points().expect("good points");
        assert_eq!(points.len(), 2, "the same queue in both directions");
        let link = &points[1].plan.links[0];
        assert_eq!((link.down.nominal_rate(), link.up.nominal_rate()), (Rate::mbit(50), Rate::mbit(10)));
        let kinds = [&link.down, &link.up].map(|direction| direction.queue.as_ref().expect("a queue").chosen.kind.kind);
        assert_eq!(kinds, ["pie", "pie"]);
        let up: Vec<&str> = points[0]
            .plan
            .traffic
            .iter()
            .filter(|group| {
                group
                    .parts()
                    .any(|part| part.path.forward.iter().any(|step| step.heading == crate::scenario::plan::Direction::Up))
            })
            .map(|group| group.name.as_str())
            .collect();
        assert_eq!(up, ["uploads", "call"]);
    }
    let wrong = Line::rates("50/10mbit", Some("5mbit")).expect_err("twice").to_string();
    assert_eq!(wrong, "--rate-up: is given, and `50/10mbit` has a rate of that direction as well");
    let each = Comparison {
        line: Line::rates("50/10mbit", None).expect("two rates"),
        aqm_up: vec!["cake".to_owned(), "tail-drop".to_owned()],
        buffer_up: Some("500ms".to_owned()),
        ..comparison(&["codel", "pie"])
    };
    assert_eq!(plan(&each).points().expect("good points").len(), 4);
    let lost =
        Comparison { aqm_up: vec!["cake".to_owned()], ..comparison(&["codel"]) }.scenario().expect_err("one way").to_string();
    assert!(lost.starts_with("--aqm-up: the return direction has no rate of its own"), "{lost}");
}

#[test]
fn every_mix_makes_a_scenario_on_slow_and_fast_lines() {
    for mix in mix::MIXES {
        for line in ["64kbit", "20mbit", "50/10mbit", "10gbit"] {
            let line = Line::rates(line, None).expect("a rate");
            let traffic = Load::Mix(mix.name.to_owned());
            let buffer = "30 packets".to_owned();
            let made = Comparison { line, traffic, buffer, flows: None, flows_up: None, ..comparison(&["codel"]) };
            assert!(!plan(&made).points().expect("good points").is_empty(), "{}", mix.name);
        }
    }
}

#[test]
fn bulk_flows_of_several_controls_are_groups_called_by_them() {
    let two = Comparison { cc: vec!["cubic".to_owned(), "bbr".to_owned()], ..comparison(&["codel"]) };
    let points = plan(&two).points().expect("good points");
    let names: Vec<&str> = points[0].plan.traffic.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["cubic", "bbr", "call", "ping"]);
}

#[test]
fn bulk_flows_are_refused_for_mixes_without_any() {
    let fails = |comparison: Comparison| comparison.scenario().expect_err("no bulk flows").to_string();
    let backup =
        Comparison { line: Line::rates("50/10mbit", None).expect("rates"), traffic: Load::Usual, ..comparison(&["codel"]) };
    let why = "choose another with --traffic, as call-and-ping";
    assert_eq!(fails(backup.clone()), format!("--flows: the mix `backup` has no bulk flows down: {why}"));
    let evening = Comparison {
        flows: None,
        cc: vec!["cubic".to_owned(), "bbr".to_owned()],
        traffic: Load::Mix("evening".to_owned()),
        ..comparison(&["codel"])
    };
    assert_eq!(fails(evening), format!("--cc: the mix `evening` has no bulk flows for several congestion controls: {why}"));
    assert!(Comparison { flows: None, flows_up: Some(2), ..backup }.scenario().is_ok());
}

#[test]
fn own_traffic_is_tables_of_traffic_and_nothing_else() {
    let with = |text: &str| Comparison { traffic: Load::Toml(text.to_owned()), ..comparison(&["codel"]) };
    let points = plan(&with("[[traffic]]\nkind = \"video\"\n")).points().expect("good points");
    assert_eq!(points[0].plan.traffic[0].name, "video");
    let fails = |text: &str| with(text).scenario().expect_err("wrong").to_string();
    assert_eq!(fails("seed = 3"), "--traffic: has the key `seed`: allowed [[traffic]] tables only");
    assert_eq!(fails(""), "--traffic: has no [[traffic]] table");
    assert!(fails("[[traffic]").starts_with("--traffic: is not TOML: "));
    let unknown = Comparison { traffic: Load::Mix("hom".to_owned()), ..comparison(&["codel"]) }.scenario().expect_err("unknown");
    assert!(
        unknown
            .to_string()
            .starts_with("--traffic: `hom` is neither a mix nor a file: allowed evening, work, gaming, alone, download,")
    );
}

#[test]
fn the_file_has_units_that_people_read() {
    let toml = comparison(&["codel"]).scenario().expect("a scenario").toml;
    for line in [
        "delay = \"10.5 ms\"",
        "rate = \"1 Gbit/s\"",
        "start = \"uniform 0 s .. 2.5 s\"",
        "name = \"10 Mbit/s, RTT 21 ms, buffer 1 bdp, 16 cubic flows, call-and-ping\"",
    ] {
        assert!(toml.contains(line), "{line} is not in\n{toml}");
    }
}

#[test]
fn a_lone_point_is_called_by_its_queue() {
    let text = r#"
goodqueue = 1
name = "A line at home"
duration = "1 s"

[link.line]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "9 packets"
queue = "codel"

[[traffic]]
kind = "bulk"
"#;
    let plan = Plan::parse("run", text, Path::new("")).expect("a scenario");
    assert_eq!(Labels::of_points(&plan.points().expect("points")).names, ["codel"]);
}
