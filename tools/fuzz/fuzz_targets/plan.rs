//! Any text is a plan with points and worlds, or gets messages that say where.
#![no_main]

use goodqueue_lab::scenario::plan::Plan;
use goodqueue_lab::scenario::{build, lint};
use libfuzzer_sys::fuzz_target;

/// Worlds of more flows take memory for good reasons.
const FEW_FLOWS: u32 = 1_000;
/// Large grids take time for good reasons.
const FEW_POINTS: usize = 64;

fuzz_target!(|text: &str| {
    // What follows a line break and `--` goes to `--set`, so that one input exercises both.
    let (text, argument) = text.split_once("\n--").unwrap_or((text, ""));
    match Plan::parse_without_files("fuzz.toml", text) {
        Ok(plan) => check(&plan, argument),
        Err(error) => {
            assert!(error.faults().count() > 0);
            assert!(error.faults().all(|fault| fault.place().starts_with("fuzz.toml:")), "{}", error.text());
        }
    }
});

fn check(plan: &Plan, argument: &str) {
    assert_eq!(plan.sha256().len(), 64);
    if plan.point_count() > FEW_POINTS {
        return;
    }
    if let Ok(points) = plan.points() {
        assert_eq!(points.len(), plan.point_count());
        for point in &points {
            let _ = lint::warnings(point);
            if point.plan.traffic.iter().all(|group| group.flows <= FEW_FLOWS) {
                let world = build::world(point, 0);
                assert!(world.flows.iter().all(|flow| flow.forward.iter().all(|link| (*link as usize) < world.links.len())));
            }
        }
    }
    if let Some((key, value)) = argument.split_once('=') {
        let _ = plan.with_overrides(&[(key.to_owned(), value.to_owned())]);
    }
}
