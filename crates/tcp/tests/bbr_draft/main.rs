//! The example test cases of draft-ietf-ccwg-bbr (appendix "BBR Example Test Cases"), for any
//! control that models its path.
//!
//! Each case is one connection over a path that changes as the draft says, and checks of what the
//! control believes and sends. The draft leaves numbers open; those chosen here stand in the cases.
//!
//! `docs/bbr-draft.md` has the verdicts. To regenerate them:
//! `cargo test -p goodqueue-tcp --test bbr_draft -- --ignored` (`make docs`).

mod applications;
mod losses;
mod path;
mod phases;
mod rates;

use goodqueue_base::units::Duration;
use goodqueue_tcp::{CcError, ModelPhase};
use path::{Flow, Seen};

/// The verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every check holds.
    Passes,
    /// The first check that does not hold.
    Fails(String),
    /// The control has nothing of the kind.
    DoesNotApply(&'static str),
}

/// A case.
#[derive(Clone, Copy)]
pub struct Case {
    /// The draft's heading.
    pub title: &'static str,
    check: fn(&mut Bench) -> Result<(), Stop>,
}

/// Why a case ends before its last check.
enum Stop {
    Failed(String),
    NotApplicable(&'static str),
}

/// All cases, in the order of the draft.
pub const CASES: &[Case] = &[
    Case { title: "Exiting STARTUP on Bandwidth Plateau", check: phases::startup_plateau },
    Case { title: "Exiting STARTUP on Loss When Application-Limited", check: applications::startup_loss },
    Case { title: "Exiting DRAIN Based on Inflight", check: phases::drain_by_inflight },
    Case { title: "Exiting DRAIN Based on Time", check: phases::drain_by_time },
    Case { title: "Exiting PROBE_UP on Bandwidth Plateau", check: phases::up_plateau },
    Case { title: "Exiting PROBE_UP on Loss When Application-Limited", check: applications::up_loss },
    Case { title: "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss", check: applications::stays },
    Case { title: "Exiting PROBE_DOWN on Inflight", check: phases::down_by_inflight },
    Case { title: "Exiting PROBE_DOWN After Max Time", check: phases::down_by_time },
    Case { title: "Entering and Exiting PROBE_RTT", check: phases::probe_rtt },
    Case { title: "Skipping PROBE_RTT Due to Application-Limited Sending", check: applications::skips_probe_rtt },
    Case { title: "Achieving Expected STARTUP Bandwidth on a Link With Aggregation", check: rates::startup_aggregation },
    Case { title: "Achieving Expected Cruise Bandwidth on a Link With Aggregation", check: rates::cruise_aggregation },
    Case { title: "Correctly Managing Sub-Packet BDPs", check: rates::sub_packet },
    Case { title: "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached", check: rates::tenfold },
    Case { title: "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down", check: rates::tenth },
    Case { title: "Handling Token Bucket Policers", check: losses::policer },
    Case { title: "Handling Spurious Fast Recovery", check: losses::spurious_recovery },
    Case { title: "Handling Spurious RTO Recovery", check: losses::spurious_timeout },
    Case { title: "Entering and Exiting PROBE_RTT During STARTUP", check: applications::probe_rtt_in_startup },
    Case { title: "Handling Loss During PROBE_UP After inflight_longterm is Set", check: losses::loss_during_up },
    Case { title: "Handling Application-Limited Sending During PROBE_REFILL", check: applications::refill },
];

/// Holds a control to all cases.
///
/// # Errors
/// When the control is unknown, or one that only kernels have.
pub fn judge(control: &'static str) -> Result<Vec<(Case, Verdict)>, CcError> {
    let verdict = |case: &Case| {
        let mut bench = Bench { control };
        Ok(match (case.check)(&mut bench) {
            Ok(()) => Verdict::Passes,
            Err(Stop::Failed(what)) => Verdict::Fails(what),
            Err(Stop::NotApplicable(why)) => Verdict::DoesNotApply(why),
        })
    };
    Flow::new(control)?;
    CASES.iter().map(|case| verdict(case).map(|verdict| (*case, verdict))).collect()
}

/// The versions of BBR differ in numbers and in what they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// The version of 2016.
    One,
    /// The version of the draft.
    Three,
}

/// The bench of a case, which opens connections under the control.
struct Bench {
    control: &'static str,
}

impl Bench {
    /// A new connection.
    fn flow(&self) -> Result<Flow, Stop> {
        let flow = Flow::new(self.control).map_err(|error| Stop::Failed(error.to_string()))?;
        match flow.seen() {
            Some(_) => Ok(flow),
            None => Err(Stop::NotApplicable("the control has no model of the path")),
        }
    }

    fn version(&self) -> Version {
        if self.control == "bbr" { Version::One } else { Version::Three }
    }

    /// For cases about what came after version 1.
    fn only_three(&self, why: &'static str) -> Result<(), Stop> {
        match self.version() {
            Version::One => Err(Stop::NotApplicable(why)),
            Version::Three => Ok(()),
        }
    }
}

/// Fails with the text unless the condition holds.
fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::Failed(what())) }
}

/// Fails unless a value is within this share of what is expected.
fn near(name: &str, value: f64, expected: f64, share: f64) -> Result<(), Stop> {
    check((value - expected).abs() <= share * expected, || {
        format!("{name} is {value:.1}, which is more than {:.0} % from {expected:.1}", share * 100.0)
    })
}

/// Waits for a phase.
fn reach(flow: &mut Flow, phase: ModelPhase, limit: Duration) -> Result<Seen, Stop> {
    let met = flow.until(limit, |seen| seen.model.phase == phase);
    met.ok_or_else(|| Stop::Failed(format!("{} is not reached within {limit}", phase.name())))
}

/// Waits for the end of the present phase: the last state in it and the first in the next.
fn leave(flow: &mut Flow, limit: Duration) -> Result<(Seen, Seen), Stop> {
    let Some(mut last) = flow.seen() else { return Err(Stop::NotApplicable("the control has no model of the path")) };
    let phase = last.model.phase;
    let next = flow.until(limit, |seen| {
        let left = seen.model.phase != phase;
        if !left {
            last = *seen;
        }
        left
    });
    next.map(|next| (last, next)).ok_or_else(|| Stop::Failed(format!("{} does not end within {limit}", phase.name())))
}

/// Whether this is one of the phases that follow each other once the bandwidth is known.
fn is_probe_bw(phase: ModelPhase) -> bool {
    matches!(phase, ModelPhase::Down | ModelPhase::Cruise | ModelPhase::Refill | ModelPhase::Up)
}

/// Fails unless this is the phase.
fn expect(seen: &Seen, phases: &[ModelPhase]) -> Result<(), Stop> {
    check(phases.contains(&seen.model.phase), || {
        let names: Vec<&str> = phases.iter().map(|phase| phase.name()).collect();
        format!("{} follows, not {}", seen.model.phase.name(), names.join(" or "))
    })
}

/// Runs the connection until it has found the bandwidth and settled.
fn settle(flow: &mut Flow) -> Result<Seen, Stop> {
    let limit = Duration::secs(20);
    let met = flow.until(limit, |seen| is_probe_bw(seen.model.phase));
    met.ok_or_else(|| Stop::Failed(format!("PROBE_BW is not reached within {limit}")))
}

mod tests;
