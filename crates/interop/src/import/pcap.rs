//! Packets of a link (`pcap` and `pcapng`): its rate, round-trip times, sizes and beginnings of
//! transfers.

mod file;
mod flows;
mod link;
mod packet;
mod seen;

use crate::import::draft::{buffer, halves, line_rate, usual_delay};
use crate::import::steps::median;
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use flows::Flows;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_lab::scenario::toml_text::quoted;
use std::fmt::Write as _;
use std::io::Read;

/// A line and its transfers.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The line.
    pub draft: Draft,
    /// Transfers toward clients as a flow list: beginning and size of each.
    pub list: String,
}

/// The longest that a scenario made of a recording lasts, in seconds.
const MAX_RUN: f64 = 86_400.0;

/// A line from a recording of packets, read as it comes; of `input` the name is used. With
/// `list`, the name of the flow list, its transfers are the traffic.
///
/// Down is toward those that opened connections.
///
/// # Errors
/// When the file is no recording of packets, has none of IP, or has times out of range.
pub fn import(input: &Input, from: impl Read + Send, list: Option<&str>) -> Result<Captured, ImportError> {
    let mut flows = Flows::default();
    let kept = file::each_packet(input, from, |packet| flows.take(packet))?;
    if flows.is_empty() {
        let unread = kept.unread.first_key_value().map(|(link, _)| file::unread(input, *link));
        let encrypted = || (kept.encrypted > 0).then(|| input.fault("has encrypted frames of 802.11 only: decrypt them first"));
        return Err(unread.or_else(encrypted).unwrap_or_else(|| input.fault("has no packets of IP")));
    }
    let (earlier, packets) = (flows.clock().earlier(), flows.clock().entries());
    if earlier > packets / 2 {
        let fault =
            format!("has no order: {earlier} of {packets} packets are earlier than the one before: reordercap sorts them");
        return Err(input.fault(fault));
    }
    let transfers = flows.transfers();
    let mut text = String::from("# start and size of what went to those who opened the connections\nstart, size\n");
    for (start, bytes) in &transfers {
        let _ = writeln!(text, "{} us, {bytes} B", (start * 1e6).round());
    }
    let seconds = flows.clock().seconds();
    let (down, up) = (line_rate(flows.rate(0)), line_rate(flows.rate(1)));
    let rtts = flows.round_trips();
    let (lowest, highest) = rtts.iter().fold((f64::INFINITY, 0.0f64), |(low, high), rtt| (low.min(*rtt), high.max(*rtt)));
    let delay = match median(rtts.clone()) {
        Some(rtt) => {
            let why = format!(
                "half of {:.1} ms, the median over {} connections, {:.1} to {:.1} ms",
                rtt * 1e3,
                rtts.len(),
                lowest * 1e3,
                highest * 1e3
            );
            halves(Duration::us((rtt * 1e6).round() as u64), &Origin::Measured(why))
        }
        None => usual_delay("no connection shows a round trip"),
    };
    let notes = notes(&kept, &flows);
    let traffic = list.filter(|_| !transfers.is_empty()).map(|list| {
        format!("\n[[traffic]]                              # measured: transfers of the recording\nname = \"transfers\"\nkind = \"flow-list\"\nfile = {}\n", quoted(list))
    });
    let way = |rate: Rate, heading: &str| {
        let held = buffer(Duration::ms(100), rate, Origin::Assumed("a recording of packets does not tell the buffer".to_owned()));
        let line = Cited::bit_s(rate, Origin::Estimated(format!("the busiest second {heading}, IP bytes")));
        Way::unmanaged(line, rate, held, "a recording of packets does not tell the queue")
    };
    let ways = Way::of_line(down.map(|down| way(down, "toward clients")), up.map(|up| way(up, "toward servers")));
    let ways = ways.ok_or_else(|| input.fault("has too few bytes for a rate: allowed 1 kbit/s and more"))?;
    let draft = Draft::new(format!("packets of {}", input.file_name()), "pcap", input, delay, ways);
    let duration = traffic.as_ref().map(|_| {
        let why = format!("the recording lasts {seconds:.1} s");
        Cited::quantity(format!("{} s", seconds.ceil().clamp(10.0, MAX_RUN)), Origin::Measured(why))
    });
    Ok(Captured { draft: Draft { notes, duration, traffic, ..draft }, list: text })
}

/// Remarks on the recording, and on what of it was not counted.
fn notes(kept: &file::Kept, flows: &Flows) -> Vec<String> {
    let mut notes =
        vec!["The line may carry more than it did in its busiest second: it is as fast as written here or faster.".to_owned()];
    if kept.is_cut {
        notes.push("The recording ends within a packet; what is before was read.".to_owned());
    }
    for (link, packets) in &kept.unread {
        notes.push(format!("{packets} packets of {} were not read.", link::name(*link)));
    }
    for (count, rest) in [
        (kept.encrypted, "encrypted frames of 802.11 were not read."),
        (kept.untimed, "packets without a time were not read."),
        (flows.again(), "packets were recorded more than once and count once."),
        (flows.tunneled(), "packets were in tunnels: they count without the tunnel's headers."),
        (flows.repeated(), "bytes toward clients were sent again: they count for the rate and not for the transfers."),
    ] {
        if count > 0 {
            notes.push(format!("{count} {rest}"));
        }
    }
    notes.extend(flows.clock().notes("packets"));
    if flows.is_full() {
        notes.push(format!("Connections after the first {} were counted as bytes and not as transfers.", flows::MAX));
    }
    notes
}

#[cfg(test)]
mod tests;
