use super::*;
use crate::evaluate::measure::description;
use goodqueue_lab::scenario::plan::Plan;
use std::collections::BTreeSet;
use std::path::Path;

fn plan(suite: &Suite, family: &Family, mode: Mode) -> Plan {
    let plan =
        Plan::parse(&family.id, family.scenario_text, Path::new("")).unwrap_or_else(|error| panic!("{}: {error}", family.id));
    plan.with_overrides(&family.settings(suite, mode)).unwrap_or_else(|error| panic!("{}: {error}", family.id))
}

fn each(mut check: impl FnMut(&Suite, &Family)) {
    for suite in [&RFC7928, &RFC9743] {
        suite.families.iter().for_each(|family| check(suite, family));
    }
}

#[test]
fn every_scenario_can_be_read_and_every_point_has_a_name() {
    each(|suite, family| {
        for mode in [Mode::Quick, Mode::Full] {
            let plan = plan(suite, family, mode);
            assert_eq!(plan.point_count(), family.cases.len().max(1), "{}", family.id);
            assert!(plan.replications() >= 3, "{}", family.id);
        }
        let (quick, full) = (plan(suite, family, Mode::Quick), plan(suite, family, Mode::Full));
        assert!(quick.replications() <= full.replications(), "{}", family.id);
    });
}

#[test]
fn measures_name_figures_of_present_links_or_groups() {
    each(|suite, family| {
        let scenario = plan(suite, family, Mode::Quick).point(0).unwrap().plan;
        let subjects =
            scenario.links.iter().flat_map(|link| [format!("links.{}.", link.name), format!("links.{}.up.", link.name)]);
        let subjects: Vec<String> =
            subjects.chain(scenario.traffic.iter().map(|group| format!("groups.{}.", group.name))).collect();
        for measure in &family.measures {
            for path in &measure.paths {
                let known = path.starts_with("jain.") || subjects.iter().any(|subject| path.starts_with(subject));
                assert!(known && description(path).is_some(), "{}: {path}", family.id);
            }
            // A measure that reads no figure reads samples.
            assert!(!measure.paths.is_empty() || family.sample.is_some(), "{}: {}", family.id, measure.head);
        }
    });
}

#[test]
fn cases_of_a_curve_begin_with_their_value() {
    each(|_, family| {
        if let Picture::Curve { .. } = family.picture {
            let values = family.cases.iter().filter_map(|case| value_of(case));
            assert_eq!(values.count(), family.cases.len(), "{}", family.id);
        }
    });
}

#[test]
fn names_are_unlike_and_those_that_count_have_a_better_end() {
    for suite in [&RFC7928, &RFC9743] {
        let ids: BTreeSet<&str> = suite.families.iter().map(|family| family.id.as_str()).collect();
        assert_eq!(ids.len(), suite.families.len());
    }
    each(|_, family| {
        let heads: BTreeSet<&str> = family.measures.iter().map(|measure| measure.head.as_str()).collect();
        assert_eq!(heads.len(), family.measures.len(), "{}", family.id);
        for measure in family.measures.iter().filter(|measure| measure.aspect.is_some()) {
            assert_ne!(measure.scale.better, goodqueue_lab::results::metrics::Better::Neither, "{}: {}", family.id, measure.head);
        }
    });
}
