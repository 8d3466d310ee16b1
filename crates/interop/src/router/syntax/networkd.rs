//! Files of systemd-networkd.

use super::tc::{burst, headless};
use super::{Interface, Place, Sides, header, heading_comment, redirect_commands};
use crate::router::dialect::networkd::{NETWORKD, STYLE};
use crate::router::dialect::{Phrase, Refusal};
use crate::router::setup::{CakeFraming, Setup, Side};
use goodqueue_base::units::{Framing, Rate};
use std::fmt::Write as _;

/// The files one below the other, each under a comment with its path.
///
/// networkd cannot send arriving packets through another interface: what must be run for that
/// stands in a comment.
///
/// # Errors
/// When networkd has no words for a queue or its framing.
pub fn files(setup: &Setup, place: &Place) -> Result<String, Refusal> {
    let sides = Sides::of(setup, place.egress);
    let Place { dev, ifb, .. } = place;
    let mut text = format!("# {}, by gq export networkd.\n", setup.name);
    if let Some((name, side)) = sides.egress {
        let phrase = side.said_in(&NETWORKD)?;
        text.push_str(&heading_comment(&format!("{name}, leaves by {dev}"), side, &phrase.notes));
        let _ = writeln!(
            text,
            "# If {dev} has a .network file already, put the sections below [Match] into NAME.network.d/queue.conf."
        );
        text.push_str(&network(dev, side, &phrase)?);
    }
    if let Some((name, side)) = sides.ingress {
        let phrase = side.said_in(&NETWORKD)?;
        let _ =
            write!(text, "\n{}", heading_comment(&format!("{name}, arrives at {dev} and waits at {ifb}"), side, &phrase.notes));
        text.push_str("# networkd cannot redirect arriving packets; run this when the interfaces are up:\n");
        for line in redirect_commands(dev.as_str(), ifb.as_str()) {
            let _ = writeln!(text, "#   {line}");
        }
        let _ = write!(text, "# /etc/systemd/network/50-{ifb}.netdev\n[NetDev]\nName={ifb}\nKind=ifb\n\n");
        text.push_str(&network(ifb, side, &phrase)?);
    }
    Ok(text)
}

fn network(dev: &Interface, side: &Side, phrase: &Phrase) -> Result<String, Refusal> {
    let mut text = format!("# /etc/systemd/network/50-{dev}.network\n[Match]\nName={dev}\n\n");
    let is_cake = phrase.word == "CAKE";
    let parent = match side.rate {
        Some(rate) if !is_cake => {
            text.push_str(&headless(dev, side));
            shaper(&mut text, dev, side, rate)?;
            "0001:0001"
        }
        Some(_) | None => "root",
    };
    let _ = writeln!(text, "[{}]\nParent={parent}", phrase.word);
    if is_cake {
        if let Some(rate) = side.rate {
            let _ = writeln!(text, "Bandwidth={}", STYLE.rate(rate));
        }
        if let Some(CakeFraming { overhead, mpu, cells }) = side.cake_framing()? {
            let _ = writeln!(text, "OverheadBytes={overhead}");
            if let Some(mpu) = mpu {
                let _ = writeln!(text, "MPUBytes={mpu}");
            }
            let _ = writeln!(text, "CompensationMode={}", cells.unwrap_or("none"));
        }
    }
    for (key, value) in &phrase.settings {
        let _ = writeln!(text, "{key}={value}");
    }
    Ok(text)
}

fn shaper(text: &mut String, dev: &Interface, side: &Side, rate: Rate) -> Result<(), Refusal> {
    let (rate_text, burst) = (STYLE.rate(rate), burst(side, rate).get());
    let _ = write!(
        text,
        "[HierarchyTokenBucket]\nParent=root\nHandle=0001\nDefaultClass=1\n\n\
         [HierarchyTokenBucketClass]\nParent=root\nClassId=0001:0001\nRate={rate_text}\nCeilRate={rate_text}\n\
         BufferBytes={burst}\nCeilBufferBytes={burst}\n"
    );
    if let Some(framing) = side.framing {
        let refused = |what: String| {
            Refusal::plain(format!("framing {what} has no counterpart in networkd")).instead("cake").at(&side.place)
        };
        if framing != Framing::header(framing.overhead) {
            return Err(refused(format!("with a least size or cells around {}", side.chosen.kind.kind)));
        }
        let overhead = framing.overhead.get();
        let least = header(dev.as_str());
        let more = overhead.checked_sub(least);
        let more = more.ok_or_else(|| refused(format!("of {overhead} B, less than Ethernet's {least} B,")))?;
        let _ = writeln!(text, "OverheadBytes={more}");
    }
    text.push('\n');
    Ok(())
}
