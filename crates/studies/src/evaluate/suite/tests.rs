use super::*;
use crate::evaluate::measure::{Of, description};
use crate::evaluate::{rfc7928, rfc9743};
use goodqueue_lab::scenario::plan::Plan;
use std::collections::BTreeSet;
use std::path::Path;

const SUITES: [&Suite; 2] = [&rfc7928::SUITE, &rfc9743::SUITE];

fn plan(suite: &Suite, family: &Family, mode: Mode) -> Plan {
    let plan = Plan::parse(family.id, family.scenario, Path::new("")).unwrap_or_else(|error| panic!("{}: {error}", family.id));
    plan.with_overrides(&family.settings(suite, mode)).unwrap_or_else(|error| panic!("{}: {error}", family.id))
}

fn each(mut check: impl FnMut(&Suite, &Family)) {
    for suite in SUITES {
        suite.families.iter().for_each(|family| check(suite, family));
    }
}

#[test]
fn every_scenario_can_be_read_and_every_point_has_a_name() {
    each(|suite, family| {
        for mode in [Mode::Quick, Mode::Full] {
            let plan = plan(suite, family, mode);
            assert_eq!(plan.point_count(), family.points.len().max(1), "{}", family.id);
            assert!(plan.replications() >= 3, "{}", family.id);
        }
        let (quick, full) = (plan(suite, family, Mode::Quick), plan(suite, family, Mode::Full));
        assert!(quick.replications() <= full.replications(), "{}", family.id);
    });
}

#[test]
fn every_measure_names_a_figure_of_a_link_or_group_that_is_there() {
    each(|suite, family| {
        let scenario = plan(suite, family, Mode::Quick).point(0).unwrap().plan;
        let subjects =
            scenario.links.iter().flat_map(|link| [format!("links.{}.", link.name), format!("links.{}.up.", link.name)]);
        let subjects: Vec<String> =
            subjects.chain(scenario.traffic.iter().map(|group| format!("groups.{}.", group.name))).collect();
        for measure in family.measures {
            for path in measure.paths() {
                let known = path.starts_with("jain.") || subjects.iter().any(|subject| path.starts_with(subject));
                assert!(known && description(path).is_some(), "{}: {path}", family.id);
            }
            if let Of::Phase { .. } = measure.of {
                assert!(family.sample.is_some(), "{}: {}", family.id, measure.head);
            }
        }
    });
}

#[test]
fn pictures_name_measures_and_points_that_are_there() {
    each(|_, family| {
        let measures = match family.picture {
            Picture::Nothing => Vec::new(),
            Picture::Ellipses { delay, goodput } | Picture::Knob { delay, goodput } => vec![delay, goodput],
            Picture::Curve { at, of, .. } => {
                assert_eq!(at.len(), family.points.len(), "{}", family.id);
                of.to_vec()
            }
            Picture::Bars(of) => of.to_vec(),
        };
        assert!(measures.iter().all(|number| *number < family.measures.len()), "{}", family.id);
    });
}

#[test]
fn names_are_unlike_and_those_that_count_have_a_better_end() {
    for suite in SUITES {
        let ids: BTreeSet<&str> = suite.families.iter().map(|family| family.id).collect();
        assert_eq!(ids.len(), suite.families.len());
    }
    each(|_, family| {
        let heads: BTreeSet<&str> = family.measures.iter().map(|measure| measure.head).collect();
        assert_eq!(heads.len(), family.measures.len(), "{}", family.id);
        for measure in family.measures.iter().filter(|measure| measure.aspect.is_some()) {
            assert_ne!(
                measure.scale().better,
                goodqueue_lab::results::metrics::Better::Neither,
                "{}: {}",
                family.id,
                measure.head
            );
        }
    });
}
