//! Verdicts at and around their bounds.

use super::*;

fn verdict(relation: Relation, expected: Expected, tolerance: Tolerance, value: f64) -> bool {
    match Bounds::of(relation, &expected, tolerance) {
        Bounds::Range(range) => range.margin(value) >= 0.0,
        Bounds::Truth(_) => panic!("no range"),
    }
}

const NONE: Tolerance = Tolerance { abs: None, rel: None, factor: None, below: None, above: None };

#[test]
fn equality_goes_by_its_tolerance() {
    let about = |value| verdict(Relation::Equal, Expected::Number(100.0), Tolerance { abs: Some(0.3), ..NONE }, value);
    assert!(about(99.7) && about(100.3));
    assert!(!about(99.69) && !about(100.31));
    let exact = |value| verdict(Relation::Equal, Expected::Number(0.3), NONE, value);
    assert!(exact(0.1 + 0.2) && !exact(0.3001));
    let relative = |value| verdict(Relation::Equal, Expected::Number(-10.0), Tolerance { rel: Some(0.1), ..NONE }, value);
    assert!(relative(-11.0) && relative(-9.0) && !relative(-8.9));
    let factor = |value| verdict(Relation::Equal, Expected::Number(10.0), Tolerance { factor: Some(2.0), ..NONE }, value);
    assert!(factor(5.0) && factor(20.0) && !factor(4.9) && !factor(20.1));
    let one_sided = |value| verdict(Relation::Equal, Expected::Number(30.0), Tolerance { below: Some(3.0), ..NONE }, value);
    assert!(one_sided(27.0) && one_sided(30.0) && !one_sided(30.1) && !one_sided(26.9));
}

#[test]
fn a_strict_inequality_excludes_its_end() {
    let above = |tolerance, value| verdict(Relation::Greater, Expected::Number(0.0), tolerance, value);
    assert!(!above(NONE, 0.0) && above(NONE, 1e-3));
    let slack = Tolerance { abs: Some(0.3), ..NONE };
    assert!(above(slack, -0.29) && !above(slack, -0.3));
    assert!(verdict(Relation::AtMost, Expected::Number(12.0), NONE, 12.0));
    assert!(!verdict(Relation::Less, Expected::Number(12.0), NONE, 12.0));
    assert!(verdict(Relation::AtLeast, Expected::Number(99.0), Tolerance { abs: Some(0.7), ..NONE }, 98.3));
}

#[test]
fn a_range_widens_at_either_end() {
    let within = |value| verdict(Relation::Within, Expected::Range([4.0, 12.0]), Tolerance { rel: Some(0.4), ..NONE }, value);
    assert!(within(2.4) && within(16.8) && !within(2.3) && !within(16.9));
}

#[test]
fn the_worst_of_several_decides() {
    let Bounds::Range(range) = Bounds::of(Relation::AtLeast, &Expected::Number(99.0), NONE) else { panic!("no range") };
    assert_eq!(range.worst(&[99.5, 98.0, 100.0]), Some(1));
}
