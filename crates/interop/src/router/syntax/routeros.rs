//! Commands for RouterOS 7.

use super::{Place, Sides, heading_comment};
use crate::router::dialect::routeros::{ROUTEROS, STYLE};
use crate::router::dialect::{Phrase, Refusal};
use crate::router::setup::{CakeFraming, Setup, Side};
use std::fmt::Write as _;

/// The commands: a queue type for each direction, and what puts it to work.
///
/// # Errors
/// When RouterOS has no words for a queue, or arriving packets are not to be shaped: only a limit
/// makes them wait.
pub fn commands(setup: &Setup, place: &Place) -> Result<String, Refusal> {
    let sides = Sides::of(setup, place.egress);
    let dev = &place.dev;
    let mut text = format!("# {}, by gq export routeros, for RouterOS 7.\n", setup.name);
    let mut said = |side: Option<(&'static str, &Side)>, moves: &str| -> Result<Option<[String; 2]>, Refusal> {
        let Some((name, side)) = side else { return Ok(None) };
        let phrase = side.said_in(&ROUTEROS)?;
        text.push_str(&heading_comment(&format!("{name}, {moves} {dev}"), side, &phrase.notes));
        if side.framing.is_some() && side.rate.is_some() && phrase.word != "cake" {
            text.push_str("#   RouterOS limits the rate of packets without their framing: a lower --percent makes up for it.\n");
        }
        let _ = writeln!(text, "/queue type add name=gq-{name} {}", words(&phrase, side)?);
        let limit = side.rate.map_or_else(|| "0".to_owned(), |rate| STYLE.rate(rate));
        Ok(Some([format!("gq-{name}"), limit]))
    };
    let arriving = said(sides.ingress, "arrives at")?;
    let leaving = said(sides.egress, "leaves by")?;
    let shaped = |side: Option<(&'static str, &Side)>| side.is_some_and(|(_, side)| side.rate.is_some());
    if !shaped(sides.ingress) && !shaped(sides.egress) {
        if let Some((name, side)) = sides.ingress {
            let what = format!("{name} arrives, and packets that arrive wait only where their rate is limited");
            return Err(Refusal::plain(what).at(&side.place));
        }
        let queue = leaving.map_or_else(String::new, |[queue, _]| queue);
        let _ = writeln!(text, "/queue interface set {dev} queue={queue}");
        return Ok(text);
    }
    let [in_queue, in_limit] = arriving.unwrap_or_else(unlimited);
    let [out_queue, out_limit] = leaving.unwrap_or_else(unlimited);
    let _ = write!(
        text,
        "# {dev} faces the line: what a simple queue calls the upload of its target arrives there.\n\
         /queue simple add name=gq-line target={dev} max-limit={in_limit}/{out_limit} queue={in_queue}/{out_queue}\n\
         # FastTrack bypasses queues.\n\
         /ip firewall filter disable [find action=fasttrack-connection]\n"
    );
    Ok(text)
}

/// RouterOS' own queue, without a limit.
fn unlimited() -> [String; 2] {
    ["default-small".to_owned(), "0".to_owned()]
}

/// The properties of a queue type. Only cake counts framing, and only with a rate of its own: it is
/// that of the simple queue around it, which counts less for each packet and so never holds one
/// back.
fn words(phrase: &Phrase, side: &Side) -> Result<String, Refusal> {
    let mut text = format!("kind={}", phrase.word);
    for (key, value) in &phrase.settings {
        let _ = write!(text, " {key}={value}");
    }
    if phrase.word != "cake" {
        return Ok(text);
    }
    if let Some(CakeFraming { overhead, mpu, cells }) = side.cake_framing()? {
        if let Some(rate) = side.rate {
            let _ = write!(text, " cake-bandwidth={}", STYLE.rate(rate));
        }
        let _ = write!(text, " cake-overhead={overhead}");
        if let Some(mpu) = mpu {
            let _ = write!(text, " cake-mpu={mpu}");
        }
        if let Some(cells) = cells {
            let _ = write!(text, " cake-atm={cells}");
        }
    }
    Ok(text)
}
