use super::*;
use goodqueue_aqm::spec::KindSpec;
use std::collections::BTreeSet;

const DIALECTS: [&Dialect; 4] = [&tc::TC, &networkd::NETWORKD, &routeros::ROUTEROS, &libreqos::LIBREQOS];

#[test]
fn the_tables_name_what_exists() {
    for dialect in DIALECTS {
        for form in dialect.forms {
            let kind = sched::kind(form.kind).unwrap_or_else(|| panic!("{}: no kind `{}`", dialect.title, form.kind));
            for word in form.rows() {
                // Kinds gain and lose parameters; one that is gone must leave the tables, too.
                let known = kind.param(word.param).is_some();
                assert!(known, "{}: `{}` has no parameter `{}`", dialect.title, form.kind, word.param);
            }
        }
    }
}

#[test]
fn each_parameter_of_a_kind_in_a_table_has_its_row() {
    for dialect in DIALECTS {
        for form in dialect.forms {
            let missing: Vec<&str> = kind(form.kind)
                .params
                .iter()
                .filter(|param| param.name != "ecn" && !param.unit.is_another())
                .map(|param| param.name)
                .filter(|name| form.rows().all(|word| word.param != *name))
                .collect();
            assert!(missing.is_empty(), "{}: {} has no row for {missing:?}", dialect.title, form.kind);
        }
    }
}

#[test]
fn each_kind_has_a_nearest_in_each_dialect() {
    let listed: BTreeSet<&str> = NEAREST.iter().map(|(kind, _)| *kind).collect();
    let all: BTreeSet<&str> = sched::kinds().map(|kind: &'static KindSpec| kind.kind).collect();
    assert_eq!(listed, all);
    for dialect in DIALECTS {
        for kind in &all {
            assert!(dialect.has(kind) || dialect.nearest(kind).is_some(), "{}: nothing near {kind}", dialect.title);
        }
    }
}
