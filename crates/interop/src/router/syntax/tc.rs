//! Command lines of `tc` and `ip`.

mod tree;

use super::{Interface, Place, Sides, header, heading_comment, redirect_commands};
use crate::router::dialect::tc::{STYLE, TC};
use crate::router::dialect::{Phrase, Refusal};
use crate::router::setup::{CakeFraming, Setup, Side};
use goodqueue_base::units::{Bytes, Cells, Duration, Rate};
use std::fmt::Write as _;

/// The lines as a shell script that may be run again.
///
/// # Errors
/// When `tc` has no words for a queue or its framing.
pub fn script(setup: &Setup, place: &Place) -> Result<String, Refusal> {
    let sides = Sides::of(setup, place.egress);
    let Place { dev, ifb, .. } = place;
    let mut text = format!("#!/bin/sh\n# {}, by gq export tc.\nset -e\n", setup.name);
    if let Some((name, side)) = sides.egress {
        let Written { lines, notes } = written(dev, side)?;
        let _ = write!(text, "\n{}{lines}", heading_comment(&format!("{name}, leaves by {dev}"), side, &notes));
    }
    if let Some((name, side)) = sides.ingress {
        let side = &side.arriving();
        let Written { lines, notes } = written(ifb, side)?;
        let _ = write!(text, "\n{}", heading_comment(&format!("{name}, arrives at {dev} and waits at {ifb}"), side, &notes));
        let _ = writeln!(text, "ip link show dev {ifb} >/dev/null 2>&1 || ip link add name {ifb} type ifb");
        let _ = writeln!(text, "ip link set dev {ifb} up");
        text.push_str(&lines);
        for line in redirect_commands(dev.as_str(), ifb.as_str()) {
            let _ = writeln!(text, "{line}");
        }
    }
    let undo_ifb =
        if sides.ingress.is_some() { format!("; tc qdisc del dev {dev} ingress; ip link del {ifb}") } else { String::new() };
    let undo_dev = if sides.egress.is_some() { format!("tc qdisc del dev {dev} root") } else { "true".to_owned() };
    let _ = writeln!(text, "\n# To undo: {undo_dev}{undo_ifb}");
    Ok(text)
}

/// The lines of a direction.
struct Written {
    lines: String,
    /// The differences from the scenario, in sentences.
    notes: Vec<String>,
}

fn written(dev: &Interface, side: &Side) -> Result<Written, Refusal> {
    if !side.chosen.classes.is_empty() {
        return tree::written(dev, side);
    }
    let phrase = side.said_in(&TC)?;
    Ok(Written { lines: queue_lines(dev, side, &phrase)?, notes: phrase.notes })
}

/// The line that takes away what is there: a root of another kind keeps its handle from a new one,
/// and htb cannot be changed in place.
fn gone(dev: &Interface) -> String {
    format!("tc qdisc del dev {dev} root 2>/dev/null || true\n")
}

fn queue_lines(dev: &Interface, side: &Side, phrase: &Phrase) -> Result<String, Refusal> {
    let queue = words(phrase);
    let gone = gone(dev);
    let Some(rate) = side.rate else {
        let framing = if phrase.word == "cake" { cake_framing(side)? } else { String::new() };
        return Ok(format!("{gone}tc qdisc add dev {dev} root handle 1: {queue}{framing}\n"));
    };
    let rate_text = STYLE.rate(rate);
    if phrase.word == "cake" {
        let [kind, rest] = queue.split_once(' ').map_or([queue.as_str(), ""], |(kind, rest)| [kind, rest]);
        let framing = cake_framing(side)?;
        return Ok(format!("{gone}tc qdisc add dev {dev} root handle 1: {kind} bandwidth {rate_text} {rest}{framing}\n"));
    }
    let burst = burst(side, rate).get();
    // There is one class, so its turn has no meaning; without a value htb warns at high rates.
    let quantum = (side.mtu.get() + header(dev.as_str())).max(1_000);
    let stab = stab(dev, side)?;
    let noted = headless(dev, side);
    Ok(format!(
        "{noted}{gone}tc qdisc add dev {dev} root handle 1: {stab}htb default 1\n\
         tc class add dev {dev} parent 1: classid 1:1 htb rate {rate_text} ceil {rate_text} burst {burst} cburst {burst} \
         quantum {quantum}\n\
         tc qdisc add dev {dev} parent 1:1 handle 10: {queue}\n"
    ))
}

/// cake counts framing from the IP header, as the scenario does.
pub(super) fn cake_framing(side: &Side) -> Result<String, Refusal> {
    let Some(CakeFraming { overhead, mpu, cells }) = side.cake_framing()? else { return Ok(String::new()) };
    let mpu = mpu.map_or_else(String::new, |mpu| format!(" mpu {mpu}"));
    let cells = cells.map_or_else(String::new, |cells| format!(" {cells}"));
    Ok(format!(" overhead {overhead}{mpu}{cells}"))
}

/// Entries of a size table with one for each byte of a frame; `tc` takes 512 untold, one for four.
pub(super) const TABLE: &str = "2048";

/// The framing in a table of sizes, as [`stab`] and sqm write it.
pub(super) struct Stab {
    /// Bytes besides those that Linux counts.
    pub overhead: i64,
    /// Least size, overhead included; 0 for none.
    pub mpu: u64,
    /// `ethernet` or `atm`.
    pub linklayer: &'static str,
}

impl Stab {
    /// The framing of a direction; `None` where it has none.
    ///
    /// # Errors
    /// When it is of PTM cells, which tables of sizes lack.
    pub(super) fn of(dev: &Interface, side: &Side, title: &str) -> Result<Option<Self>, Refusal> {
        let Some(framing) = side.framing else { return Ok(None) };
        let linklayer = match framing.cells {
            Cells::None => "ethernet",
            Cells::Atm => "atm",
            Cells::Ptm => {
                let what = format!("framing in ptm cells around {} has no counterpart in {title}", side.chosen.kind.kind);
                return Err(Refusal::plain(what).instead("cake").at(&side.place));
            }
        };
        let overhead = framing.overhead.get() as i64 - header(dev.as_str()) as i64;
        Ok(Some(Self { overhead, mpu: framing.mpu.get(), linklayer }))
    }

    /// Whether the table must have an entry for each byte: steps of four fit into cells, and a
    /// header needs no table.
    pub(super) fn is_exact_only_in_bytes(&self) -> bool {
        self.mpu > 0 && self.linklayer == "ethernet"
    }
}

/// A comment on an interface whose name tells that it counts no header.
pub(super) fn headless(dev: &Interface, side: &Side) -> String {
    match (header(dev.as_str()), side.framing) {
        (0, Some(_)) => format!("#   {dev} is taken, by its name, for an interface without an Ethernet header.\n"),
        _ => String::new(),
    }
}

fn stab(dev: &Interface, side: &Side) -> Result<String, Refusal> {
    let Some(stab) = Stab::of(dev, side, TC.title)? else { return Ok(String::new()) };
    let mpu = if stab.mpu > 0 { format!("mpu {} ", stab.mpu) } else { String::new() };
    let table = if stab.is_exact_only_in_bytes() { format!("mtu 2047 tsize {TABLE} ") } else { String::new() };
    Ok(format!("stab {table}{mpu}overhead {} linklayer {} ", stab.overhead, stab.linklayer))
}

/// Returns the bytes that a shaper may send at once: a millisecond at its rate, so that timers of
/// that precision lose nothing, and a full packet with room for framing at least.
pub(super) fn burst(side: &Side, rate: Rate) -> Bytes {
    let packet = Bytes::new(side.mtu.get() + 100);
    side.burst.unwrap_or_else(|| rate.bytes_in(Duration::ms(1)).max(packet))
}

/// The kind and its settings on one line.
pub(super) fn words(phrase: &Phrase) -> String {
    let mut text = phrase.word.to_owned();
    for (key, value) in &phrase.settings {
        let _ = write!(text, " {key}");
        if !value.is_empty() {
            let _ = write!(text, " {value}");
        }
    }
    text
}
