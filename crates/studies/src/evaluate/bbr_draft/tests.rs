use super::*;

/// The verdicts that docs/judged.md shows. Version 1 loses 6.1 % behind the policer, where 5 % are
/// allowed: it trusts the rate it has found for 48 round trips and then fills the bucket again.
#[test]
fn both_versions_are_held_to_all_cases() {
    assert_eq!(CASES.len(), 22, "as many as in the draft");
    for (control, failing) in [("bbr3", vec![]), ("bbr", vec!["Handling Token Bucket Policers"])] {
        let verdicts = judge(control).expect("known");
        let failed: Vec<_> = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Fails(_))).collect();
        let titles: Vec<&str> = failed.iter().map(|(case, _)| case.title).collect();
        assert_eq!(titles, failing, "{control}: {:?}", failed.iter().map(|(_, verdict)| verdict).collect::<Vec<_>>());
    }
}

#[test]
fn a_control_without_a_model_does_not_take_part() {
    for (_, verdict) in judge("cubic").expect("known") {
        assert!(matches!(verdict, Verdict::DoesNotApply(_)), "{verdict:?}");
    }
}

/// The cases tell a control that never leaves STARTUP by losses from one that does.
#[test]
fn cases_can_fail() {
    let mut bench = Bench { control: "bbr" };
    let Ok(mut flow) = bench.flow() else { panic!("known") };
    flow.rate = goodqueue_base::units::Rate::mbit(100);
    assert!(matches!(near("x", 1.2, 1.0, 0.1), Err(Stop::Failed(_))));
    assert!(matches!(reach(&mut flow, ModelPhase::Refill, Duration::secs(3)), Err(Stop::Failed(_))));
    assert!(matches!(applications::refill(&mut bench), Err(Stop::NotApplicable(_))));
}
