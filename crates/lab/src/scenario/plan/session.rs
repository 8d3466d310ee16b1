//! Transfers, pages and video: what they do with their connections.

use super::params;
use super::reader::{self, Field, Table};
use super::timing::Timing;
use super::tree::Value;
use crate::quantity::Limits;
use crate::scenario::diagnostic::Fault;
use crate::scenario::limits::MAX_RATE;
use crate::scenario::schema::traffic::LADDER;
use goodqueue_base::spec::{Kind, ParamValues};
use goodqueue_base::units::{Duration, Rate};
use goodqueue_sim::{Arrivals, ConnectionUse, HttpVersion, PageSpec, SessionSpec, VideoSpec, WebSpec};

const MAX_RUNGS: usize = 64;

/// The key `pause`: a time, or a range of times to draw from.
fn pause(table: &Table<'_>, kind: &'static Kind) -> (Duration, Duration) {
    match params::timing(table, kind, "pause") {
        Timing::Fixed(span) => (span, span),
        Timing::Uniform(low, high) => (low, high),
        Timing::Triangular(low, high) => {
            let help = "write a time or a range like \"uniform 5 s .. 15 s\"".to_owned();
            table.fault("pause", "pauses are drawn from a uniform range".to_owned(), Some(help));
            (low, high)
        }
    }
}

pub(super) fn bulk_with_pauses(table: &Table<'_>, kind: &'static Kind, own: &ParamValues<'_>) -> Option<SessionSpec> {
    let connection = if own.switch("keep_connection")? { ConnectionUse::Kept } else { ConnectionUse::Fresh };
    Some(SessionSpec::BulkWithPauses { size: own.whole_bytes("size")?, pause: pause(table, kind), connection })
}

pub(super) fn short(own: &ParamValues<'_>) -> Option<SessionSpec> {
    let arrivals = if own.choice("arrivals") == Some("poisson") { Arrivals::Poisson } else { Arrivals::Periodic };
    let connections = own.number("connections")? as u32;
    Some(SessionSpec::Short { size: own.whole_bytes("size")?, interval: own.duration("interval")?, arrivals, connections })
}

pub(super) fn web(table: &Table<'_>, own: &ParamValues<'_>) -> Option<SessionSpec> {
    let connections_per_s = own.number("rate")?;
    if connections_per_s == 0.0 {
        table.fault("rate", "is zero: allowed above 0 new connections per second".to_owned(), None);
        return None;
    }
    Some(SessionSpec::Web(WebSpec {
        connections_per_s,
        version: if own.choice("http") == Some("1.1") { HttpVersion::Http11 } else { HttpVersion::Http10 },
        server_delay_scale: own.duration("server_delay_scale")?,
    }))
}

pub(super) fn page(table: &Table<'_>, kind: &'static Kind, own: &ParamValues<'_>) -> Option<SessionSpec> {
    Some(SessionSpec::Page(PageSpec {
        objects: own.number("objects")? as u32,
        object: own.whole_bytes("size")?,
        connections: own.number("connections")? as u32,
        request: own.whole_bytes("request_size")?,
        server_delay: own.duration("server_delay")?,
        pause: pause(table, kind),
    }))
}

pub(super) fn video(table: &Table<'_>, own: &ParamValues<'_>) -> Option<SessionSpec> {
    let ladder = match table.get("ladder") {
        None => Some(LADDER.to_vec()),
        Some(_) => table.optional("ladder", read_ladder),
    };
    let (segment, mut buffer) = (own.duration("segment")?, own.duration("buffer")?);
    if buffer < segment {
        if own.is_given("buffer") {
            table.fault("buffer", format!("{buffer} is out of range: allowed from one segment, {segment}"), None);
        }
        buffer = segment;
    }
    let (request, gives_up) = (own.whole_bytes("request_size")?, own.switch("abandon")?);
    Some(SessionSpec::Video(VideoSpec { ladder: ladder?, segment, buffer, request, gives_up }))
}

/// Bitrates, rising.
fn read_ladder(field: Field<'_>) -> Result<Vec<Rate>, Fault> {
    let help = || Some("write rising bitrates, for instance [\"1 Mbit/s\", \"3 Mbit/s\"]".to_owned());
    let Value::Array(items) = &field.node.value else {
        return Err(field.fault(format!("is {}: expected a list of rates", field.node.kind()), help()));
    };
    if items.is_empty() || items.len() > MAX_RUNGS {
        return Err(field.fault(format!("has {} bitrates: allowed 1 to {MAX_RUNGS}", items.len()), help()));
    }
    let mut ladder: Vec<Rate> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let path = format!("{}.{number}", field.path);
        let at = Field { node: item, path: &path };
        let rate = reader::rate(Limits::new(Rate::kbit(1), MAX_RATE))(at)?;
        if ladder.last().is_some_and(|last| *last >= rate) {
            return Err(at.fault(format!("`{}` is not above the bitrate before it", item.shown()), help()));
        }
        ladder.push(rate);
    }
    Ok(ladder)
}
