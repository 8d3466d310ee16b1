//! The algorithm of the tutorial `docs/own-algorithm.md`, in Rust as on that page, which
//! `crates/aqm/tests/tutorial.rs` checks.
//! `crates/python/tests/test_tutorial.py` runs the page's class in Python: both have the same
//! events.

// The names that the file finds around it in the place that the tutorial gives it.
use goodqueue_aqm::algo::Algorithm;
use goodqueue_aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict, spec};

#[path = "../../aqm/tests/tutorial/ramp.rs"]
mod ramp;

use goodqueue_aqm::custom::{CustomAlgorithm, CustomKind};
use goodqueue_aqm::spec::{KindSpec, LinkFacts, ParamError, ParamValues};
use goodqueue_lab::results::provenance::Provenance;
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_sim::{Continue, World};
use ramp::Ramp;
use std::path::Path;
use std::sync::Arc;

impl CustomAlgorithm for Ramp {
    fn clone_box(&self) -> Box<dyn CustomAlgorithm> {
        Box::new(self.clone())
    }
}

#[derive(Debug)]
struct RampKind;

impl CustomKind for RampKind {
    fn spec(&self) -> &'static KindSpec {
        &Ramp::KINDS[0]
    }
    fn version(&self) -> &str {
        "1"
    }
    fn build(&self, link: &LinkFacts) -> Result<Box<dyn CustomAlgorithm>, ParamError> {
        Ok(Box::new(Ramp::build(&ParamValues::new(&self.spec().base, &[])?, link)?))
    }
}

#[test]
fn has_the_events_of_the_version_in_python() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tutorial/ramp.toml");
    let plan = Plan::load_knowing(&file, vec![Arc::new(RampKind)]).unwrap_or_else(|error| panic!("{}", error.text()));
    let point = plan.points().expect("one point").remove(0);
    let run = |replication| {
        let outcome = World::new(&build::world(&point, replication)).expect("a world").run(&mut |_| Continue::Yes);
        outcome.fingerprint
    };
    let fingerprint = Provenance::new(String::new(), (0..point.plan.replications).map(run)).fingerprint;
    let text = include_str!("tutorial/ramp.toml");
    assert!(text.contains(&format!("# fingerprint {fingerprint}\n")), "{fingerprint} is not the one in tutorial/ramp.toml");
}
