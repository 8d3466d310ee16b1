//! The network in which candidates are tried, as a scenario: the provider's line with its own
//! buffers, and the router with the queue in question between it and the home.
//!
//! ```text
//!  servers ──▶ isp ═══ line: measured rate, plain buffer ═══ router ─── shaper over the queue ─── home
//! ```
//!
//! Toward the user packets meet the provider's buffer first and the router's shaper behind it;
//! from the user it is the other way round. A shaped rate above what the line carries at a time
//! therefore fills the provider's or the modem's buffer, as it does in a house.

use crate::run::recommend::candidates::{Candidate, Choice};
use crate::run::recommend::corners::{Corner, Line};
use crate::run::recommend::question::Effort;
use crate::scenario::mix::{self, Mix, Pace, Traffic};
use crate::scenario::toml_text::quoted;
use goodqueue_base::units::{Duration, Rate};
use std::fmt::Write as _;

/// Name of the provider's line in scenarios.
pub const LINE: &str = "line";
/// Name of the link that the router's queues stand at.
pub const ROUTER: &str = "router";
/// The network's own links are this many times faster than the line.
const FASTER: u64 = 20;
const MIN_INSIDE: Rate = Rate::gbit(1);
/// Runs on faster lines are shorter. Our choice.
const FAST: Rate = Rate::mbit(100);

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Time before measuring begins.
    pub warmup: Duration,
    /// The measured part.
    pub duration: Duration,
}

impl Length {
    /// For a mix on a line. With people who come and go, the mix's own lengths, and half of the
    /// measured part on fast lines, where more replications hold as many sessions; without, some
    /// packets at the faster rate. Fifty round trips at least.
    #[must_use]
    pub fn of(line: &Line, mix: &Mix, effort: Effort) -> Self {
        let faster = line.down.max(line.up);
        let own = match effort {
            Effort::Quick => mix.quick_lengths(),
            Effort::Thorough => mix.lengths(),
        };
        let round_trips = (line.rtt.high * 50).min(Duration::secs(60));
        let duration = match mix.pace {
            Pace::Sessions if faster > FAST => Duration::ns(own.duration.as_nanos() / 2),
            Pace::Sessions => own.duration,
            Pace::Steady => {
                let (packets, longest) = effort.length();
                let enough = Duration::from_secs_f64(packets as f64 * 12_000.0 / faster.as_bit_s().max(1) as f64);
                enough.max(Duration::secs(5)).min(Duration::secs(longest))
            }
        };
        let warmup = if mix.pace == Pace::Sessions { own.warmup } else { Duration::secs(3).max(line.rtt.high * 10) };
        Self { warmup: warmup.min(Duration::secs(30)), duration: duration.max(round_trips) }
    }
}

/// Text of the scenario of one candidate at one corner.
#[must_use]
pub fn text(line: &Line, mix: &Mix, candidate: &Candidate, corner: &Corner, length: Length, seed: u64) -> String {
    let at = |rate: Rate| Rate::bit_s(((rate.as_bit_s() as f64 * corner.rate).round() as u64).max(1));
    let inside = Rate::bit_s(line.down.max(line.up).as_bit_s().saturating_mul(FASTER)).max(MIN_INSIDE);
    let back = Duration::ns(corner.rtt.as_nanos() / 2);
    let there = corner.rtt.saturating_sub(back);
    let mut text = String::from("# Made by gq recommend.\ngoodqueue = 1\n");
    let _ = writeln!(text, "name = \"{candidate}\"");
    let _ = writeln!(text, "warmup = \"{}\"\nduration = \"{}\"\nseed = {seed}\n", length.warmup, length.duration);
    let _ = writeln!(text, "[access]\nrate = \"{inside}\"\ndelay = \"0 s\"\n");
    let _ = writeln!(text, "[link.{LINE}]\nfrom = \"isp\"\nto = \"router\"");
    let _ = writeln!(text, "rate = \"{}\"\nrate_up = \"{}\"", at(line.down), at(line.up));
    let _ = writeln!(text, "delay = \"{there}\"\ndelay_up = \"{back}\"");
    let _ = writeln!(text, "buffer = \"{0}\"\nbuffer_up = \"{0}\"\n", corner.buffer);
    let _ = writeln!(text, "[link.{ROUTER}]\nfrom = \"router\"\nto = \"home\"\nrate = \"{inside}\"\ndelay = \"0 s\"");
    let _ = writeln!(text, "buffer = \"{LIMIT} packets\"\nbuffer_up = \"{LIMIT} packets\"");
    let _ = writeln!(text, "queue = {}", queue(&candidate.down, candidate.shaped_rate(line.down)));
    let _ = writeln!(text, "queue_up = {}\n", queue(&candidate.up, candidate.shaped_rate(line.up)));
    text.push_str(&traffic(line, mix, corner, length).toml);
    text
}

/// The groups of a mix on the line, and what is left out of it.
#[must_use]
pub fn traffic(line: &Line, mix: &Mix, corner: &Corner, length: Length) -> Traffic {
    let controls = [(corner.control.to_owned(), quoted(corner.control))];
    let start = format!("\"uniform 0 s .. {}\"", Duration::ns(length.warmup.as_nanos() / 2));
    mix.on(&mix::Line {
        down: Some(line.down),
        up: Some(line.up),
        flows: corner.flows,
        flows_up: corner.flows,
        controls: &controls,
        tcp: "",
        start: &start,
        path: &["isp", "home"],
    })
}

/// The limit that Linux' `fq_codel` and `cake` have, about: 10,240 packets.
const LIMIT: u32 = 10_240;

/// A queue on the router: under a shaper, or bare where nothing is shaped.
fn queue(choice: &Choice, shaped: Option<Rate>) -> String {
    match shaped {
        Some(rate) => format!("{{ kind = \"shaper\", rate = \"{rate}\", of = {} }}", choice.toml()),
        None => choice.toml(),
    }
}
