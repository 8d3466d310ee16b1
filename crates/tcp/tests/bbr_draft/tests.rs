use super::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- made by crates/tcp/tests/bbr_draft: begin -->\n";
const END: &str = "<!-- end -->\n";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bbr-draft.md")
}

fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Passes => "passes".to_owned(),
        Verdict::Fails(what) => format!("fails: {what}"),
        Verdict::DoesNotApply(why) => format!("does not apply: {why}"),
    }
}

fn page(written: &str) -> String {
    let (head, rest) = written.split_once(BEGIN).expect("the marker where the table begins");
    let (_, tail) = rest.split_once(END).expect("the marker where it ends");
    let [three, one] = ["bbr3", "bbr"].map(|control| judge(control).expect("known"));
    let mut table = "| case | `bbr3` | `bbr` |\n|---|---|---|\n".to_owned();
    for ((case, three), (_, one)) in three.iter().zip(&one) {
        let _ = writeln!(table, "| {} | {} | {} |", case.title, words(three), words(one));
    }
    format!("{head}{BEGIN}{table}{END}{tail}")
}

#[test]
fn the_page_has_the_verdicts() {
    let written = std::fs::read_to_string(path()).expect("docs/bbr-draft.md");
    assert!(written == page(&written), "docs/bbr-draft.md is stale: make docs");
}

#[test]
#[ignore = "writes docs/bbr-draft.md"]
fn writes_the_page() {
    let written = std::fs::read_to_string(path()).expect("docs/bbr-draft.md");
    std::fs::write(path(), page(&written)).expect("docs/bbr-draft.md");
}

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
