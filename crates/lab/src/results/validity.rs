//! The validity of runs in real time: how far they can be trusted.

use serde::Serialize;

/// One attempt at a run in real time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validity {
    /// The point of the sweep.
    pub set: String,
    /// The replication of the point, from zero.
    pub replication: u32,
    /// The attempt, from one.
    pub attempt: u32,
    /// Why nothing can be concluded from it; `None` when it is good.
    pub void: Option<String>,
    /// Whether it is among the runs of the result.
    pub counted: bool,
    /// Lateness of the direction that the scenario describes.
    pub down: Lateness,
    /// Lateness of the return direction.
    pub up: Lateness,
    /// Time that a hypervisor reported as taken from this machine's processors meanwhile, all of
    /// them together, s.
    pub stolen_s: f64,
    /// Whether real-time scheduling was granted.
    pub real_time: bool,
    /// The use of the senders' segmentation offloads, in words.
    pub offloads: &'static str,
}

/// The lateness with which one direction handed its packets over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lateness {
    /// Median.
    pub late_p50_s: f64,
    /// 99th percentile.
    pub late_p99_s: f64,
    /// 99.9th percentile.
    pub late_p999_s: f64,
    /// Maximum.
    pub late_max_s: f64,
    /// Packets that were late by more than a millisecond.
    pub stalled: u64,
    /// Packets lost outside of the queue.
    pub lost_outside: u64,
}

impl Validity {
    /// Names the attempt by its point, replication and number.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}: replication {}, attempt {}", self.set, self.replication, self.attempt)
    }

    /// The figures of the attempt in one line.
    #[must_use]
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

/// Sums up the attempts behind a result in a sentence.
#[must_use]
pub fn sentence(attempts: &[Validity]) -> String {
    let void = attempts.iter().filter(|attempt| attempt.void.is_some()).count();
    let kept = attempts.iter().filter(|attempt| attempt.void.is_some() && attempt.counted).count();
    let counted = attempts.iter().filter(|attempt| attempt.counted).count();
    let late = attempts.iter().filter(|attempt| attempt.counted).map(|attempt| attempt.down.late_p99_s).fold(0.0, f64::max);
    let mut text = format!("{} runs in real time, {void} of them void", attempts.len());
    if kept > 0 {
        text += &format!(", {kept} void ones counted all the same");
    }
    text + &format!("; 99 of 100 packets were late by less than {:.0} us in each of the {counted} that count.", late * 1e6)
}
