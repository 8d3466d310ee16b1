use super::*;
use crate::scenario::plan::Plan;
use std::path::Path;

fn about(of: &str, name: &str) -> &'static Description {
    description(of, name).expect("a figure with a direction")
}

fn measured(of: &str, name: &str, values: &[f64]) -> Measured {
    let values = values.iter().map(|value| value.is_finite().then_some(*value)).collect();
    Measured { point: "codel".to_owned(), of: of.to_owned(), about: about(of, name), values }
}

fn delay(values: &[f64]) -> Measured {
    measured("link bottleneck", "sojourn_s.p95", values)
}

fn used(values: &[f64]) -> Measured {
    measured("link bottleneck", "utilization", values)
}

fn plan() -> Plan {
    let text = "goodqueue = 1\nname = \"home\"\nduration = \"2 s\"\nreplications = 4\nseed = 3\n\
                [link.bottleneck]\nrate = \"5 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"30 packets\"\nqueue = \"codel\"\n[[traffic]]\nkind = \"bulk\"\n";
    Plan::parse("home.toml", text, Path::new("")).expect("a scenario")
}

fn baseline(results: Vec<Measured>) -> Baseline {
    Baseline::new(&plan(), results)
}

fn verdicts(before: Vec<Measured>, now: &[Measured], margin: f64) -> Vec<Verdict> {
    let compared = Comparison::of(&baseline(before), now, &Choice::Main, margin).expect("the same figures");
    compared.rows.iter().map(|row| row.verdict).collect()
}

const BEFORE: [f64; 4] = [0.010, 0.020, 0.030, 0.040];

#[test]
fn pairing_finds_a_difference_that_is_smaller_than_the_spread() {
    let slower = BEFORE.map(|value| value + 0.001 + value * 1e-3);
    let faster = BEFORE.map(|value| value - 0.001 - value * 1e-3);
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&slower)], 0.0), [Verdict::Worse]);
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&faster)], 0.0), [Verdict::Better]);
    let mixed = [0.011, 0.019, 0.031, 0.039];
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&mixed)], 0.0), [Verdict::Unclear]);
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&BEFORE)], 0.0), [Verdict::Same]);
}

#[test]
fn the_direction_is_that_of_the_figure() {
    let lower = BEFORE.map(|value| value - 0.001 - value * 1e-3);
    assert_eq!(verdicts(vec![used(&BEFORE)], &[used(&lower)], 0.0), [Verdict::Worse]);
}

#[test]
fn a_margin_forgives_what_is_smaller() {
    // The mean is 25 ms, so that a difference of 1 ms is 4 %.
    let slower = BEFORE.map(|value| value + 0.001);
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&slower)], 0.03), [Verdict::Worse]);
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&slower)], 0.05), [Verdict::Unclear]);
}

#[test]
fn many_figures_need_more_evidence_than_one() {
    // 1.0 ± 0.8 ms at 95 %; with ten differing figures the interval must hold at 99.5 %.
    let slower: Vec<f64> = BEFORE.iter().zip([0.5e-3, 0.8e-3, 1.2e-3, 1.5e-3]).map(|(value, more)| value + more).collect();
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&slower)], 0.0), [Verdict::Worse]);
    let point = |number: usize, figure: Measured| Measured { point: format!("p{number}"), ..figure };
    let before = (0..10).map(|number| point(number, delay(&BEFORE))).collect();
    let now: Vec<Measured> = (0..10).map(|number| point(number, delay(&slower))).collect();
    assert_eq!(verdicts(before, &now, 0.0), [Verdict::Unclear; 10]);
}

#[test]
fn what_is_no_longer_defined_is_a_regression() {
    let some = [0.010, f64::NAN, 0.030, 0.040];
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[delay(&some)], 0.0), [Verdict::Lost]);
    assert_eq!(verdicts(vec![delay(&BEFORE)], &[], 0.0), [Verdict::Lost]);
    let compared = Comparison::of(&baseline(vec![delay(&BEFORE)]), &[], &Choice::Main, 0.0).expect("compared");
    assert!(compared.has_regressed());
    assert!(compared.sentence().ends_with("sojourn_s.p95 of link bottleneck at codel, which is no longer defined."));
}

#[test]
fn the_sentence_counts_and_names_the_worst() {
    let slower = BEFORE.map(|value| value + 0.001);
    let before = vec![used(&BEFORE), delay(&BEFORE)];
    let compared = Comparison::of(&baseline(before.clone()), &[used(&BEFORE), delay(&slower)], &Choice::Main, 0.0);
    assert_eq!(
        compared.expect("compared").sentence(),
        "Regression: 1 of 2 figures over 4 replications significantly worse, 1 the same; the worst is sojourn_s.p95 of link \
         bottleneck at codel, by 4.0 %."
    );
    let same = Comparison::of(&baseline(before.clone()), &before, &Choice::Main, 0.0).expect("compared");
    assert_eq!(same.sentence(), "No regression: 2 figures over 4 replications have the same values.");
    let zero = Comparison::of(&baseline(vec![delay(&[0.0; 4])]), &[delay(&BEFORE)], &Choice::Main, 0.0).expect("compared");
    assert!(zero.sentence().contains("No significant") || zero.sentence().ends_with("which was zero."), "{}", zero.sentence());
}

#[test]
fn a_file_reads_as_what_was_written() {
    let odd = Measured { point: "a \"b\"\n[c]".to_owned(), ..delay(&[0.1 + 0.2, 1e-9, f64::NAN, 12.0]) };
    let written = baseline(vec![odd, measured("group bulk", "goodput_bit_s", &[1.0, 2.0, 3.0, 4e9])]);
    assert_eq!(Baseline::parse(&written.to_toml()).expect("a baseline"), written);
    let empty = baseline(Vec::new());
    assert_eq!(Baseline::parse(&empty.to_toml()).expect("a baseline"), empty);
}

#[test]
fn a_changed_scenario_is_refused_by_what_changed() {
    let stored = baseline(vec![delay(&BEFORE)]);
    let refusal = |key: &str, value: &str| {
        let plan = plan().with_overrides(&[(key.to_owned(), value.to_owned())]).expect("a scenario");
        stored.check(&plan).expect_err("another scenario").to_string()
    };
    assert_eq!(stored.check(&plan()), Ok(()));
    assert_eq!(refusal("seed", "4"), "is of `home` with seed 3, not 4; --write stores new results");
    assert_eq!(refusal("replications", "5"), "is of `home` with 4 replications, not 5; --write stores new results");
    assert_eq!(refusal("name", "work"), "is of the scenario `home`, not of `work`; --write stores new results");
    assert_eq!(
        refusal("link.bottleneck.rate", "6 Mbit/s"),
        "`home` has other settings than when it was written; --write stores new results"
    );
}

#[test]
fn damaged_files_are_refused_in_one_line() {
    let good = baseline(vec![delay(&BEFORE)]).to_toml();
    let refusal = |text: &str| Baseline::parse(text).expect_err("damaged").to_string();
    assert_eq!(
        refusal(&good.replace("baseline/1", "baseline/9")),
        "schema: `goodqueue.baseline/9` is not known: allowed goodqueue.baseline/1"
    );
    assert!(refusal(&good.replace("0.01,", "")).contains("3 values, but there are 4 replications"));
    assert!(refusal(&good.replace("sojourn_s.p95", "sojourn_s.p96")).contains("this version has no figure `sojourn_s.p96`"));
    for damaged in ["", "schema = ", &good[..good.len() / 2], &good.replace("seed = 3", "seed = -3"), &"[".repeat(100_000)] {
        let message = refusal(damaged);
        assert!(!message.contains('\n') && message.starts_with("line "), "{message}");
    }
}

#[test]
fn figures_without_a_direction_are_no_choice() {
    assert_eq!(Choice::of(&[]), Ok(Choice::Main));
    assert!(Choice::of(&["utilization".to_owned()]).is_ok());
    assert!(
        Choice::of(&["utilizatoin".to_owned()]).expect_err("misspelled").to_string().ends_with("did you mean `utilization`?")
    );
    assert!(Choice::of(&["mark_ratio".to_owned()]).expect_err("no direction").to_string().contains("one direction is better"));
    let named = Choice::of(&["drop_ratio".to_owned()]).expect("a figure");
    let missing = Comparison::of(&baseline(vec![delay(&BEFORE)]), &[], &named, 0.0).expect_err("it is not there");
    assert_eq!(missing.to_string(), "has no figure `drop_ratio`; --write stores new results");
}
