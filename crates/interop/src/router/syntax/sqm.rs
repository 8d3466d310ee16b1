//! `/etc/config/sqm` of OpenWrt (sqm-scripts 1.6).

use super::tc::{Stab, TABLE, words};
use super::{Place, Sides, heading_comment};
use crate::router::dialect::tc::TC;
use crate::router::dialect::{Phrase, Refusal};
use crate::router::setup::{Setup, Side};
use goodqueue_aqm::spec::Value;
use goodqueue_base::units::Cells;
use goodqueue_lab::scenario::plan::Direction;
use std::fmt::Write as _;

/// Queues that the scripts put below their shaper.
const KINDS: [&str; 4] = ["cake", "fq_codel", "codel", "pie"];

/// The section for an interface that faces the line.
///
/// # Errors
/// When sqm has no such queue, the directions have unlike ones, or nothing is shaped.
pub fn section(setup: &Setup, place: &Place) -> Result<String, Refusal> {
    let sides = Sides::of(setup, Some(place.egress.unwrap_or(Direction::Up)));
    let egress = sides.egress.map(said).transpose()?;
    let arriving = sides.ingress.map(|(name, side)| (name, side.arriving()));
    let ingress = arriving.as_ref().map(|(name, side)| said((name, side))).transpose()?;
    let both = [&ingress, &egress];
    let mut kinds = both.into_iter().flatten();
    let first = kinds.next().map_or("", |said| said.phrase.word);
    if let Some(other) = kinds.find(|said| said.phrase.word != first) {
        let what = format!("{first} down and {} up have no counterpart in sqm: it has one queue for both", other.phrase.word);
        return Err(Refusal::plain(what).instead(format!("{first} for both")));
    }
    if let [Some(down), Some(up)] = both
        && down.side.framing != up.side.framing
    {
        let what = "framings that differ down and up have no counterpart in sqm: it has one for both".to_owned();
        return Err(Refusal::plain(what).instead("that of the link"));
    }
    let dev = &place.dev;
    let mut text = format!("# {}, by gq export sqm: a section of /etc/config/sqm.\n", setup.name);
    for said in both.into_iter().flatten() {
        text.push_str(&heading_comment(said.name, said.side, &said.phrase.notes));
    }
    let rate = |said: &Option<Said<'_>>| {
        let bits = said.as_ref().and_then(|said| said.side.rate).map_or(0, |rate| rate.as_bit_s());
        (bits / 1000).to_string()
    };
    let _ = writeln!(text, "config queue '{}'", dev.as_str().replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    let mut option = |key: &str, value: &str| {
        let _ = writeln!(text, "\toption {key} '{value}'");
    };
    option("enabled", "1");
    option("interface", dev.as_str());
    option("download", &rate(&ingress));
    option("upload", &rate(&egress));
    option("qdisc", first);
    option("script", script(first, both.into_iter().flatten()));
    option("qdisc_advanced", "1");
    option("squash_dscp", "0");
    option("squash_ingress", "0");
    option("qdisc_really_really_advanced", "1");
    for (said, letter, direction) in [(&ingress, "i", "ingress"), (&egress, "e", "egress")] {
        let Some(said) = said else { continue };
        option(&format!("{direction}_ecn"), if said.side.marks { "ECN" } else { "NOECN" });
        if let Some(target) = &said.target {
            option(&format!("{letter}target"), target);
        }
        if let Some(limit) = &said.limit {
            option(&format!("{letter}limit"), limit);
        }
        if !said.rest.is_empty() {
            option(&format!("{letter}qdisc_opts"), &said.rest);
        }
    }
    let Some(side) = both.into_iter().flatten().map(|said| said.side).find(|side| side.framing.is_some()) else {
        option("linklayer", "none");
        return Ok(text);
    };
    if first == "cake" {
        let framing = side.framing.unwrap_or_default();
        // The other words of cake's framing are among the options that the script hands on.
        option("linklayer", if framing.cells == Cells::Atm { "atm" } else { "ethernet" });
        option("overhead", &framing.overhead.get().to_string());
    } else if let Some(stab) = Stab::of(dev, side, "sqm")? {
        option("linklayer", stab.linklayer);
        option("overhead", &stab.overhead.to_string());
        if stab.mpu > 0 {
            option("linklayer_advanced", "1");
            option("tcMPU", &stab.mpu.to_string());
            if stab.is_exact_only_in_bytes() {
                option("tcTSIZE", TABLE);
            }
        }
    }
    Ok(text)
}

/// A direction in sqm's words.
struct Said<'a> {
    name: &'static str,
    side: &'a Side,
    phrase: Phrase,
    /// Settings that sqm has options for.
    target: Option<String>,
    limit: Option<String>,
    /// The others, which it hands on to tc.
    rest: String,
}

fn said<'a>((name, side): (&'static str, &'a Side)) -> Result<Said<'a>, Refusal> {
    side.refuse_classes("sqm")?;
    if side.rate.is_none() {
        return Err(Refusal::plain("a queue without a shaper has no counterpart in sqm".to_owned()).at(&side.place));
    }
    let mut phrase = side.said_in(&TC)?;
    if !KINDS.contains(&phrase.word) {
        let what = format!("`{}` has no counterpart in sqm", side.chosen.kind.kind);
        return Err(Refusal::plain(what).instead("fq-codel").at(&side.place));
    }
    let mut target = None;
    let mut limit = None;
    let mut rest = Phrase { settings: Vec::new(), ..phrase.clone() };
    let is_cake = phrase.word == "cake";
    if !is_cake {
        phrase.notes.extend(side.lost_bucket("sqm-scripts"));
    }
    for (key, value) in &phrase.settings {
        match *key {
            "target" if !is_cake => target = Some(value.clone()),
            "limit" => limit = Some(value.clone()),
            "ecn" | "noecn" => {}
            // The scripts' default.
            "egress" => {}
            key => rest.settings.push((key, value.clone())),
        }
    }
    if is_cake && let Some(framing) = side.cake_framing()? {
        // The script itself says `overhead` and `atm`.
        rest.settings.extend(framing.mpu.map(|mpu| ("mpu", mpu.to_string())));
        rest.settings.extend(framing.cells.filter(|cells| *cells == "ptm").map(|cells| (cells, String::new())));
    }
    if is_cake && side.chosen.params.contains(&("nat", Value::Switch(false))) {
        // The scripts themselves say `nat`.
        rest.settings.push(("nonat", String::new()));
    }
    let rest = words(&rest);
    let rest = rest.split_once(' ').map_or(String::new(), |(_, rest)| rest.to_owned());
    Ok(Said { name, side, phrase, target, limit, rest })
}

/// The script that sets this queue and no more.
fn script<'a>(kind: &str, said: impl Iterator<Item = &'a Said<'a>>) -> &'static str {
    if kind != "cake" {
        return "simplest.qos";
    }
    let is_plain = |said: &Said<'_>| said.phrase.settings.iter().any(|(key, _)| *key == "besteffort");
    if said.into_iter().all(is_plain) { "piece_of_cake.qos" } else { "layer_cake.qos" }
}
