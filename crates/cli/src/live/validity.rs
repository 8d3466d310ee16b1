//! How far runs in real time can be trusted.

use goodqueue_testbed::experiment::{HalfMeasured, Measured, Segments};
use goodqueue_units::Duration;
use serde::Serialize;

/// What becomes of runs that are void.
#[derive(Clone, Copy, Debug)]
pub struct Voids {
    /// A void run is repeated until there are so many.
    pub attempts: u32,
    /// Does the least late of them count, when all are void? Otherwise the run has failed.
    pub keep: bool,
}

impl Default for Voids {
    fn default() -> Self {
        Self { attempts: 3, keep: false }
    }
}

/// One attempt at a run.
#[derive(Clone, Debug, Serialize)]
pub struct Validity {
    /// The point of the sweep.
    pub set: String,
    pub replication: u32,
    /// From one.
    pub attempt: u32,
    /// Why nothing can be concluded from it; nothing when it is good.
    pub void: Option<String>,
    /// Is it among the runs of the result?
    pub counted: bool,
    down: Lateness,
    up: Lateness,
    /// What a hypervisor said it took from this machine's processors meanwhile, of all of them together.
    stolen_s: f64,
    real_time: bool,
    offloads: &'static str,
}

/// How late one direction handed its packets over.
#[derive(Clone, Copy, Debug, Serialize)]
struct Lateness {
    late_p50_s: f64,
    late_p99_s: f64,
    late_p999_s: f64,
    late_max_s: f64,
    /// Packets that were late by more than a millisecond.
    stalled: u64,
    lost_outside: u64,
}

impl Lateness {
    fn of(half: &HalfMeasured) -> Self {
        let late = half.lateness();
        Self {
            late_p50_s: late.p50_s,
            late_p99_s: late.p99_s,
            late_p999_s: half.late(0.999).as_secs_f64(),
            late_max_s: late.max_s,
            stalled: half.times.stalls,
            lost_outside: half.lost_outside,
        }
    }
}

impl Validity {
    /// Of one attempt, which does not count until [`Self::counted`] says so.
    pub fn of(set: String, replication: u32, attempt: u32, measured: &Measured, segments: Segments, base_rtt: Duration) -> Self {
        Self {
            set,
            replication,
            attempt,
            void: measured.void(base_rtt),
            counted: false,
            down: Lateness::of(&measured.down),
            up: Lateness::of(&measured.up),
            stolen_s: measured.stolen.as_secs_f64(),
            real_time: measured.real_time,
            offloads: match segments {
                Segments::Single => "off",
                Segments::Joined => "on, judged segment by segment",
            },
        }
    }

    /// Which one it is.
    pub fn name(&self) -> String {
        format!("{}: replication {}, attempt {}", self.set, self.replication, self.attempt)
    }

    /// In a line.
    pub fn sentence(&self) -> String {
        let Self { down, up, .. } = self;
        let us = |seconds: f64| seconds * 1e6;
        let mut text = format!(
            "late p50 {:.0} us, p99 {:.0} us, longest {:.0} us; {} stalls; {} lost outside of the queue; {:.2} s stolen; offloads {}",
            us(down.late_p50_s),
            us(down.late_p99_s),
            us(down.late_max_s.max(up.late_max_s)),
            down.stalled + up.stalled,
            down.lost_outside + up.lost_outside,
            self.stolen_s,
            self.offloads,
        );
        if !self.real_time {
            text += "; no real-time scheduling";
        }
        if let Some(why) = &self.void {
            text += &format!("; void{}: {why}", if self.counted { ", but counted" } else { "" });
        }
        text
    }
}

/// What all attempts together say of a result.
pub fn sentence(runs: &[Validity]) -> String {
    let void = runs.iter().filter(|run| run.void.is_some()).count();
    let kept = runs.iter().filter(|run| run.void.is_some() && run.counted).count();
    let counted = runs.iter().filter(|run| run.counted).count();
    let late = runs.iter().filter(|run| run.counted).map(|run| run.down.late_p99_s).fold(0.0, f64::max);
    let mut text = format!("{} runs in real time, {void} of them void", runs.len());
    if kept > 0 {
        text += &format!(", {kept} void ones counted all the same");
    }
    text + &format!("; 99 of 100 packets were late by less than {:.0} us in each of the {counted} that count.", late * 1e6)
}
