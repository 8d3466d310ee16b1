//! Packets of a link (`pcap` and `pcapng`): its rate, round-trip times, sizes and beginnings of
//! transfers.

mod clocks;
mod file;
mod flows;
mod link;
mod packet;
mod seen;
mod sides;

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

/// A round trip is measured when it is this many times the disorder of packets.
const MIN_ROUND_TRIP: f64 = 4.0;

/// Kinds of headers that a note names.
const MAX_NAMED: usize = 3;

/// A line from a recording of packets, read as it comes; of `input` the name is used. With
/// `list`, the name of the flow list, its transfers are the traffic.
///
/// Down is toward the side of those that opened connections; see `sides`.
///
/// # Errors
/// When the file is no recording of packets, has none of IP, or has times out of range.
pub fn import(input: &Input, from: impl Read + Send, list: Option<&str>) -> Result<Captured, ImportError> {
    let mut flows = Flows::default();
    let kept = file::each_packet(input, from, |packet| flows.take(packet))?;
    flows.finish();
    if flows.is_empty() && flows.looped() > 0 {
        return Err(input.fault("has packets of the loopback alone, which is no line"));
    }
    if flows.is_empty() {
        let unread = kept.unread.first_key_value().map(|(link, _)| file::unread(input, *link));
        let encrypted = || (kept.encrypted > 0).then(|| input.fault("has encrypted frames of 802.11 only: decrypt them first"));
        return Err(unread.or_else(encrypted).unwrap_or_else(|| input.fault("has no packets of IP")));
    }
    if let Some((earlier, packets)) = flows.clocks().disorder() {
        let fault =
            format!("has no order: {earlier} of {packets} packets are earlier than the one before: reordercap sorts them");
        return Err(input.fault(fault));
    }
    let seconds = flows.clocks().seconds();
    if seconds < flows::MIN_SECONDS {
        let (packets, ms, allowed) = (flows.packets(), seconds * 1e3, flows::MIN_SECONDS * 1e3);
        let fault = format!("its {packets} packets span {ms:.3} ms: too short for a rate: allowed {allowed} ms and more");
        return Err(input.fault(fault));
    }
    let transfers = flows.transfers();
    let mut text = String::from("# start and size of what went toward clients\nstart, size\n");
    for (start, bytes) in &transfers {
        let _ = writeln!(text, "{} us, {bytes} B", (start * 1e6).round());
    }
    let (down, up) = (line_rate(flows.rate(0)), line_rate(flows.rate(1)));
    let delay = delay(&flows);
    let notes = notes(&kept, &flows);
    let traffic = list.filter(|_| !transfers.is_empty()).map(|list| {
        format!("\n[[traffic]]                              # measured: transfers of the recording\nname = \"transfers\"\nkind = \"flow-list\"\nfile = {}\n", quoted(list))
    });
    let span = if seconds < 1.0 { format!("all {seconds:.2} s of it") } else { "the busiest second".to_owned() };
    let [toward, from] = match flows.sides().guessed() {
        Some(user) => [format!("toward {user}"), format!("from {user}")],
        None => ["toward clients", "toward servers"].map(str::to_owned),
    };
    let way = |rate: Rate, heading: &str| {
        let held = buffer(Duration::ms(100), rate, Origin::Assumed("a recording of packets does not tell the buffer".to_owned()));
        let line = Cited::bit_s(rate, Origin::Estimated(format!("{span} {heading}, IP bytes")));
        Way::unmanaged(line, rate, held, "a recording of packets does not tell the queue")
    };
    let ways = Way::of_line(down.map(|down| way(down, &toward)), up.map(|up| way(up, &from)));
    let ways = ways.ok_or_else(|| input.fault("has too few bytes for a rate: allowed 1 kbit/s and more"))?;
    let draft = Draft::new(format!("packets of {}", input.file_name()), "pcap", input, delay, ways);
    let duration = traffic.as_ref().map(|_| {
        let why = format!("the recording lasts {seconds:.1} s");
        Cited::quantity(format!("{} s", seconds.ceil().clamp(10.0, MAX_RUN)), Origin::Measured(why))
    });
    Ok(Captured { draft: Draft { notes, duration, traffic, ..draft }, list: text })
}

/// Half of the median round-trip time each way.
fn delay(flows: &Flows) -> [Cited; 2] {
    let rtts = flows.round_trips();
    let Some(rtt) = median(rtts.clone()) else { return usual_delay("no connection shows a round trip") };
    let (lowest, highest) = rtts.iter().fold((f64::INFINITY, 0.0f64), |(low, high), rtt| (low.min(*rtt), high.max(*rtt)));
    let [half, low, high] = [rtt, lowest, highest].map(|seconds| seconds * 1e3);
    let why = format!("half of {half:.1} ms, the median over {} connections, {low:.1} to {high:.1} ms", rtts.len());
    let late = flows.clocks().late();
    let origin = if late * MIN_ROUND_TRIP > rtt {
        Origin::Estimated(format!("{why}; packets are not in order by up to {:.1} ms", late * 1e3))
    } else {
        Origin::Measured(why)
    };
    halves(Duration::us((rtt * 1e6).round() as u64), &origin)
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
    if !kept.unknown.is_empty() {
        let frames: u64 = kept.unknown.values().sum();
        let kinds: Vec<String> = kept.unknown.keys().take(MAX_NAMED).map(ToString::to_string).collect();
        notes.push(format!("{frames} frames were not read ({}).", kinds.join("; ")));
    }
    let repeated = (flows.repeated(), "bytes toward clients were sent again: they count for the rate and not for the transfers.");
    for (count, rest) in [
        (kept.encrypted, "encrypted frames of 802.11 were not read."),
        (kept.untimed, "packets without a time were not read."),
        (kept.undescribed, "packets of interfaces that the file does not describe before them were not read."),
        (kept.broken, "packets are cut or wrong within their first header: they were not read."),
    ]
    .into_iter()
    .chain(flows.counts())
    .chain([repeated])
    {
        if count > 0 {
            notes.push(format!("{count} {rest}"));
        }
    }
    notes.extend(flows.sides().notes());
    notes.extend(flows.clocks().notes());
    if flows.is_full() {
        notes.push(format!("Connections after the first {} were counted as bytes and not as transfers.", flows::MAX));
    }
    notes
}

#[cfg(test)]
mod tests;
