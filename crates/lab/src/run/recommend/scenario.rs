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

use crate::run::recommend::access::{Modem, Senders};
use crate::run::recommend::candidates::{Candidate, FULL_PACKET};
use crate::run::recommend::corners::{Corner, Line};
use crate::run::recommend::question::Effort;
use crate::scenario::mix::{self, Mix, Pace, Traffic};
use crate::scenario::toml_text::quoted;
use goodqueue_base::units::{Cells, Duration, Framing, Rate};
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
/// Runs on faster lines than this hold as many packets. Our choice.
const FASTEST: Rate = Rate::mbit(500);

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
        let part = (faster.as_bit_s() / FASTEST.as_bit_s()).max(1);
        let shorter = |whole: Duration| Duration::ns(whole.as_nanos() / part);
        let round_trips = |count: u64| (line.rtt.high * count).min(Duration::secs(60));
        let duration = match mix.pace {
            Pace::Sessions if faster > FAST => shorter(Duration::ns(own.duration.as_nanos() / 2)),
            Pace::Sessions => own.duration,
            Pace::Steady => {
                let (packets, longest) = effort.length();
                let enough = Duration::from_secs_f64(packets as f64 * 12_000.0 / faster.as_bit_s().max(1) as f64);
                enough.max(shorter(Duration::secs(5))).min(Duration::secs(longest))
            }
        };
        let warmup = shorter(if mix.pace == Pace::Sessions { own.warmup } else { Duration::secs(3) });
        Self { warmup: warmup.max(round_trips(20)), duration: duration.max(round_trips(50)) }
    }
}

/// Text of the scenario of one candidate at one corner.
#[must_use]
pub fn text(line: &Line, mix: &Mix, candidate: &Candidate, corner: &Corner, length: Length, seed: u64) -> String {
    let at = |rate: Rate| rate_text(line, rate, corner, length);
    let framing = framing_keys(line.access.framing);
    let [shaped_down, shaped_up] = candidate.shaped_rates(line);
    let inside = Rate::bit_s(line.down.max(line.up).as_bit_s().saturating_mul(FASTER)).max(MIN_INSIDE);
    let back = Duration::ns(corner.rtt.as_nanos() / 2);
    let there = corner.rtt.saturating_sub(back);
    let mut text = String::from("# Made by gq recommend.\ngoodqueue = 1\n");
    let _ = writeln!(text, "name = \"{candidate}\"");
    let _ = writeln!(text, "warmup = \"{}\"\nduration = \"{}\"\nseed = {seed}\n", length.warmup, length.duration);
    let _ = writeln!(text, "[access]\nrate = \"{inside}\"\ndelay = \"0 s\"\n");
    let _ = writeln!(text, "[link.{LINE}]\nfrom = \"isp\"\nto = \"router\"");
    let _ = writeln!(text, "rate = {}\nrate_up = {}", at(line.down), at(line.up));
    let _ = writeln!(text, "delay = \"{there}\"\ndelay_up = \"{back}\"");
    let _ = writeln!(text, "buffer = \"{}\"\nbuffer_up = \"{}\"", buffer(line, line.down, corner), buffer(line, line.up, corner));
    text.extend(framing.iter().map(|key| format!("{key}\n")));
    if line.access.modem == Modem::Pie {
        text.push_str("queue_up = \"docsis-pie\"\n");
    }
    text.push('\n');
    let _ = writeln!(text, "[link.{ROUTER}]\nfrom = \"router\"\nto = \"home\"\nrate = \"{inside}\"\ndelay = \"0 s\"");
    let _ = writeln!(text, "buffer = \"{LIMIT} packets\"\nbuffer_up = \"{LIMIT} packets\"");
    let _ = writeln!(text, "queue = {}", candidate.down.toml(shaped_down, &framing));
    let _ = writeln!(text, "queue_up = {}\n", candidate.up.toml(shaped_up, &framing));
    text.push_str(&traffic(line, mix, corner, length).toml);
    text
}

/// The groups of a mix on the line, and what is left out of it.
#[must_use]
pub fn traffic(line: &Line, mix: &Mix, corner: &Corner, length: Length) -> Traffic {
    let mut controls = vec![corner.control];
    if line.access.senders == Senders::WithPrague && corner.control != PRAGUE {
        controls.push(PRAGUE);
    }
    let controls: Vec<(String, String)> = controls.into_iter().map(|name| (name.to_owned(), quoted(name))).collect();
    let start = format!("\"uniform 0 s .. {}\"", Duration::ns(length.warmup.as_nanos() / 2));
    let mut traffic = mix.on(&mix::Line {
        down: Some(line.down),
        up: Some(line.up),
        flows: corner.flows,
        flows_up: corner.flows,
        controls: &controls,
        tcp: "",
        start: &start,
        path: &["isp", "home"],
    });
    traffic.toml = spread(&traffic.toml, line.access.hosts);
    traffic
}

/// The congestion control of L4S.
const PRAGUE: &str = "prague";
const TABLE: &str = "\n[[traffic]]\n";

/// Tables of traffic with the groups at that many devices: bulk flows at the first one, which takes
/// what it can get, and the others in turn at the rest.
fn spread(toml: &str, hosts: u32) -> String {
    if hosts < 2 {
        return toml.to_owned();
    }
    let mut parts = toml.split(TABLE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut others = (2..=hosts).cycle();
    for part in parts {
        let host = if part.contains("kind = \"bulk\"\n") { Some(1) } else { others.next() };
        let _ = write!(text, "{TABLE}host = {}\n{part}", host.unwrap_or(1));
    }
    text
}

/// The buffer at a corner; it holds one packet at least.
fn buffer(line: &Line, rate: Rate, corner: &Corner) -> String {
    let least = rate.as_bit_s() as f64 * corner.rate * (1.0 - line.varies) * corner.buffer.as_secs_f64() / 8.0;
    if least < FULL_PACKET.get() as f64 { "1 packets".to_owned() } else { corner.buffer.to_string() }
}

/// A rate of the line at a corner: constant, or in steps below and above.
fn rate_text(line: &Line, rate: Rate, corner: &Corner, length: Length) -> String {
    let at = |part: f64| Rate::bit_s(((rate.as_bit_s() as f64 * corner.rate * part).round() as u64).max(1));
    let Some(step) = line.access.step().filter(|_| line.varies > 0.0) else { return format!("\"{}\"", at(1.0)) };
    // The first step is the rate that buffers are sized by; the mean over all is the measured one.
    let parts = [1.0, 1.0 - line.varies, 1.0 + line.varies];
    let steps = (length.warmup + length.duration).as_nanos().div_ceil(step.as_nanos().max(1)).max(1);
    let one = |(number, part): (u64, f64)| format!("[\"{}\", \"{}\"]", Duration::ns(step.as_nanos() * number), at(part));
    let steps: Vec<String> = (0..steps).zip(parts.into_iter().cycle()).map(one).collect();
    format!("{{ steps = [{}] }}", steps.join(", "))
}

/// Framing as keys of a link or a shaper.
fn framing_keys(framing: Framing) -> Vec<String> {
    if framing == Framing::NONE {
        return Vec::new();
    }
    let mut keys = vec![format!("overhead = \"{} B\"", framing.overhead.get())];
    if !framing.mpu.is_zero() {
        keys.push(format!("mpu = \"{} B\"", framing.mpu.get()));
    }
    let word = Cells::WORDS.iter().find(|(_, cells)| *cells == framing.cells && *cells != Cells::None);
    keys.extend(word.map(|(word, _)| format!("cells = \"{word}\"")));
    keys
}

/// The limit that Linux' `fq_codel` and `cake` have, about: 10,240 packets.
const LIMIT: u32 = 10_240;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::recommend::Asked;
    use crate::scenario::plan::Plan;
    use std::path::Path;

    /// Text of a candidate at the first corner, which is a scenario without faults.
    fn made(asked: Asked<'_>, pick: impl Fn(&Candidate) -> bool) -> String {
        let asked = Asked { down: "16mbit", up: "2mbit", mix: "call-and-ping", ..asked };
        let question = asked.question().expect("a question");
        let candidates = question.all_candidates();
        let candidate = candidates.iter().find(|one| pick(one)).expect("a candidate");
        let length = Length { warmup: Duration::secs(5), duration: Duration::secs(30) };
        let text = text(&question.line, question.mixes[0], candidate, &question.line.corners(3)[0], length, 1);
        let plan = Plan::parse("made", &text, Path::new(""));
        assert!(plan.is_ok(), "{}\n{text}", plan.err().map(|error| error.text()).unwrap_or_default());
        text
    }

    #[test]
    fn framing_is_on_the_line_and_in_the_shaper() {
        let text = made(Asked { line: "adsl", ..Asked::default() }, Candidate::is_shaped);
        assert!(text.contains("\noverhead = \"44 B\"\ncells = \"atm\"\n"), "{text}");
        assert!(text.contains("rate = \"15.2 Mbit/s\", overhead = \"44 B\", cells = \"atm\", of = "), "{text}");
        let cable = made(Asked { line: "cable", modem: "pie", ..Asked::default() }, |one| !one.is_shaped());
        assert!(cable.contains("mpu = \"64 B\"\nqueue_up = \"docsis-pie\"\n"), "{cable}");
    }

    #[test]
    fn rates_of_low_orbits_change_in_steps() {
        let text = made(Asked { line: "leo", ..Asked::default() }, Candidate::is_shaped);
        let steps = r#"rate = { steps = [["0 s", "16 Mbit/s"], ["15 s", "9.6 Mbit/s"], ["30 s", "22.4 Mbit/s"]] }"#;
        assert!(text.contains(steps), "{text}");
    }

    #[test]
    fn one_of_several_devices_has_the_large_transfers() {
        let text = made(Asked { hosts: "3", ..Asked::default() }, Candidate::is_shaped);
        assert!(text.contains("\n[[traffic]]\nhost = 1\nname = \"bulk\"\n"), "{text}");
        assert!(text.contains("host = 2\nname = \"call\"\n") && text.contains("host = 3\nname = \"ping\"\n"), "{text}");
        assert!(text.contains("isolation = \"dual-dsthost\", nat = true"), "{text}");
        assert!(!made(Asked::default(), Candidate::is_shaped).contains("host = "));
    }

    #[test]
    fn every_aim_makes_scenarios_without_faults() {
        let l4s = made(Asked { want: "l4s", ..Asked::default() }, |one| one.kind() == "dualpi2");
        assert!(l4s.contains("cc = \"prague\"") && l4s.contains("cc = \"cubic\""), "{l4s}");
        let deep = made(Asked { want: "throughput", ..Asked::default() }, Candidate::is_shaped);
        assert!(deep.contains("limit = \"160 packets\", of = { kind = \"tail-drop\" }"), "{deep}");
        let slow = made(Asked { cpu: "3mbit", ..Asked::default() }, Candidate::is_shaped);
        assert!(slow.contains("queue = { kind = \"tail-drop\" }\nqueue_up = { kind = \"shaper\""), "{slow}");
    }
}
